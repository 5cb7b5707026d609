#compdef mayfly
# Completion of mayfly for zsh.
_mayfly() {
    local program="${words[1]/#\~/$HOME}" line="${(j: :)words[1,CURRENT-1]} $PREFIX" entry word
    local -a entries open openshown closed closedshown
    entries=("${(@f)$("$program" __complete zsh "$line" 2>/dev/null)}")
    for entry in $entries; do
        [[ -z $entry ]] && continue
        word="${entry%%$'\t'*}"
        local shown="$word"
        [[ $entry == *$'\t'* ]] && shown="$word  -- ${entry#*$'\t'}"
        # What ends in an equals sign goes on with a value.
        if [[ $word == *= ]]; then
            open+=("$word"); openshown+=("$shown")
        else
            closed+=("$word"); closedshown+=("$shown")
        fi
    done
    if (( $#open + $#closed == 0 )); then
        compset -P '*='
        _files
        return
    fi
    local result=1
    (( $#open )) && compadd -l -S '' -d openshown -a open && result=0
    (( $#closed )) && compadd -l -d closedshown -a closed && result=0
    return result
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _mayfly mayfly

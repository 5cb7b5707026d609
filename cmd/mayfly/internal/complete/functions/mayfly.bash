# Completion of mayfly for bash, from version 3.2 on.
_mayfly_complete() {
    local program="${1/#\~/$HOME}" word
    COMPREPLY=()
    while IFS= read -r word; do
        COMPREPLY+=("$word")
    done < <("$program" __complete bash "$COMP_LINE" "$COMP_POINT" 2>/dev/null)
    # What ends in an equals sign goes on with a value.
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && type compopt >/dev/null 2>&1; then
        compopt -o nospace 2>/dev/null
    fi
    return 0
}
complete -o bashdefault -o default -F _mayfly_complete mayfly

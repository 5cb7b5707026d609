# Completion of mayfly for fish, from version 3.0 on.
function __mayfly_complete
    set -l line (commandline -cp | string collect)
    set -l tokens (commandline -opc)
    set -l program (string replace -r '^~' $HOME -- $tokens[1])
    set -l words ($program __complete fish "$line" 2>/dev/null)
    if test (count $words) -gt 0
        printf '%s\n' $words
        return
    end
    # Nothing of ours fits: it may be a file, perhaps as the value of an option.
    set -l token (commandline -ct)
    set -l option (string match -r -- '^--?[a-z-]+=' "$token")
    for path in (__fish_complete_path (string replace -r -- '^--?[a-z-]+=' '' "$token"))
        printf '%s%s\n' "$option" $path
    end
end
complete -c mayfly -f -a '(__mayfly_complete)'

# bash completion for cairn.                                -*- shell-script -*-
# SPDX-License-Identifier: MIT
# Made by scripts/update-completions from what `--help` says: change cairn.bash.in, or the command.

# What the help of a command has: its commands, its options, and what its arguments are, with * behind one that
# may be repeated.
_cairn_describe()
{
    commands='' options='' arguments=''
    case $1 in
        '')
            commands='run enable disable stats status doctor why dashboard top metrics ls clear rm compress control convert pack warm push pull remote key path version help'
            options='-h --help -V --version'
            ;;
        'run')
            options='-h --help --json --trace --dir --limit --record --keep-sources --private -q --quiet'
            ;;
        'enable')
            options='-h --help --dir -q --quiet'
            arguments='program*'
            ;;
        'disable')
            options='-h --help -q --quiet'
            arguments='program*'
            ;;
        'stats')
            options='-h --help --application --by-generation --json --forget -y --yes --dir -q --quiet'
            arguments='=today,week,all'
            ;;
        'status')
            options='-h --help --json --dir'
            ;;
        'doctor')
            options='-h --help --json --strict --no-driver --dir'
            arguments='application'
            ;;
        'why')
            options='-h --help --last --run --programs --json --dir'
            arguments='application'
            ;;
        'dashboard')
            options='-h --help --no-open --port --idle --dir'
            ;;
        'top')
            options='-h --help --once --interval --dir'
            ;;
        'metrics')
            options='-h --help --output --dir -q --quiet'
            ;;
        'ls')
            options='-h --help --sort -r --reverse --json --full-keys --no-header --dir -q --quiet'
            arguments='cache'
            ;;
        'clear')
            options='-h --help --application --all --dir -q --quiet -y --yes --since --until'
            arguments='cache*'
            ;;
        'rm')
            options='-h --help --application --all --dir -q --quiet -y --yes'
            arguments='cache*'
            ;;
        'compress')
            options='-h --help --application --all --dir -q --quiet'
            arguments='cache*'
            ;;
        'control')
            options='-h --help --kind --disable --enable --clear --dir'
            ;;
        'convert')
            options='-h --help --converter -O --option --list -v --verbose --dir'
            arguments='file file'
            ;;
        'pack')
            commands='create inspect verify merge diff install remove ls'
            options='-h --help'
            ;;
        'pack create')
            options='-h --help --application --all --dir -q --quiet --starts --recipes --only-recipes --max-bytes --about --sign --no-compress --no-driver-files'
            arguments='file cache*'
            ;;
        'pack inspect')
            options='-h --help --json'
            arguments='file'
            ;;
        'pack verify')
            options='-h --help -q --quiet'
            arguments='file*'
            ;;
        'pack merge')
            options='-h --help --max-bytes --about --sign --no-compress -q --quiet'
            arguments='file file*'
            ;;
        'pack diff')
            options='-h --help --keys --json'
            arguments='file file'
            ;;
        'pack install')
            options='-h --help --unsigned --system --dir -q --quiet'
            arguments='file'
            ;;
        'pack remove')
            options='-h --help --system --dir -q --quiet'
            arguments='pack'
            ;;
        'pack ls')
            options='-h --help --dir'
            arguments='file'
            ;;
        'warm')
            options='-h --help --all --executable --jobs --if-needed --again --json-progress --dir -q --quiet'
            arguments='recorded*'
            ;;
        'push')
            options='-h --help --all --remote --namespace --trust --sign --recipes --dir -q --quiet'
            arguments='application*'
            ;;
        'pull')
            options='-h --help --all --remote --namespace --trust --all-drivers --executable --max-bytes --dir -q --quiet'
            arguments='application*'
            ;;
        'remote')
            commands='status gc'
            options='-h --help'
            ;;
        'remote status')
            options='-h --help --remote --namespace --json --dir'
            arguments='application*'
            ;;
        'remote gc')
            options='-h --help --remote --namespace --max-age --max-bytes --dry-run --dir -q --quiet'
            ;;
        'key')
            commands='create trust revoke ls export'
            options='-h --help'
            ;;
        'key create')
            options='-h --help -q --quiet'
            arguments='-'
            ;;
        'key trust')
            options='-h --help --name -q --quiet'
            arguments='file'
            ;;
        'key revoke')
            options='-h --help --dir -q --quiet'
            arguments='key'
            ;;
        'key ls')
            options='-h --help --json'
            ;;
        'key export')
            options='-h --help'
            arguments='key'
            ;;
        'path')
            options='-h --help --dir'
            ;;
        'version')
            options='-h --help'
            ;;
        'help')
            options='-h --help'
            arguments='command*'
            ;;
    esac
}

# What the value of an option is: fails for an option that takes none.
_cairn_value_of()
{
    value=''
    case "$1 $2" in
        'run --json' | \
            'run --trace' | \
            'metrics --output' | \
            'warm --executable' | \
            'pull --executable')
            value='file' ;;
        'run --dir' | \
            'enable --dir' | \
            'stats --dir' | \
            'status --dir' | \
            'doctor --dir' | \
            'why --dir' | \
            'dashboard --dir' | \
            'top --dir' | \
            'metrics --dir' | \
            'ls --dir' | \
            'clear --dir' | \
            'rm --dir' | \
            'compress --dir' | \
            'control --dir' | \
            'convert --dir' | \
            'pack create --dir' | \
            'pack install --dir' | \
            'pack remove --dir' | \
            'pack ls --dir' | \
            'warm --dir' | \
            'push --dir' | \
            'pull --dir' | \
            'remote status --dir' | \
            'remote gc --dir' | \
            'key revoke --dir' | \
            'path --dir')
            value='folder' ;;
        'run --limit' | \
            'why --run' | \
            'why --programs' | \
            'dashboard --port' | \
            'dashboard --idle' | \
            'top --interval' | \
            'clear --since' | \
            'clear --until' | \
            'convert -O' | \
            'convert --option' | \
            'pack create --starts' | \
            'pack create --max-bytes' | \
            'pack create --about' | \
            'pack merge --max-bytes' | \
            'pack merge --about' | \
            'warm --jobs' | \
            'push --namespace' | \
            'pull --namespace' | \
            'pull --max-bytes' | \
            'remote status --namespace' | \
            'remote gc --namespace' | \
            'remote gc --max-age' | \
            'remote gc --max-bytes' | \
            'key trust --name')
            value='' ;;
        'stats --application' | \
            'clear --application' | \
            'rm --application' | \
            'compress --application' | \
            'pack create --application')
            value='application' ;;
        'ls --sort')
            value='=name,application,entries,size,used,key,cost,stored' ;;
        'control --kind')
            value='=cache-for-driver,conversions,driver-managed,application-managed,all' ;;
        'convert --converter')
            value='=glslang,spirv-cross,vkd3d-shader' ;;
        'pack create --sign' | \
            'pack merge --sign' | \
            'push --trust' | \
            'push --sign' | \
            'pull --trust')
            value='key' ;;
        'push --remote' | \
            'pull --remote' | \
            'remote status --remote' | \
            'remote gc --remote')
            value='remote' ;;
        *) return 1 ;;
    esac
}

# The program's answer. It says nothing here when it fails, and has two seconds.
_cairn_ask()
{
    local folder=()
    [[ -z $dir ]] || folder=(--dir "$dir")
    command timeout 2 cairn "$@" "${folder[@]}" 2>/dev/null
}

# What a column of it has. Only names that mean nothing to a shell are taken: they come from names of files.
_cairn_column()
{
    _cairn_ask "${@:2}" |
        LC_ALL=C command awk -v column="$1" '$column ~ /^[A-Za-z0-9._][A-Za-z0-9._-]*$/ { print $column }'
}

_cairn_names()
{
    case $1 in
        cache) _cairn_column 1 ls --no-header --quiet ;;
        application | recorded) _cairn_column 2 ls --no-header --quiet ;;
        pack) _cairn_ask pack ls | command sed -nE 's,^/.*/([A-Za-z0-9._][A-Za-z0-9._-]*\.pack)  .*,\1,p' ;;
        key) dir='' _cairn_column 1 key ls | command grep -vx KEY ;;
        remote)
            command sed -nE 's/^[[:space:]]*\[([A-Za-z0-9._-]+)\][[:space:]]*$/\1/p' \
                "${XDG_CONFIG_HOME:-$HOME/.config}/cairn/remotes" 2>/dev/null
            ;;
    esac
}

# Words that the present one begins.
_cairn_reply()
{
    local word
    while IFS= read -r word; do
        [[ -z $word || $word != "$present"* ]] || COMPREPLY+=("$word")
    done
}

_cairn_kind()
{
    local kind=$1 commands options arguments
    case $kind in
        '' | -) ;;
        =*) _cairn_reply < <(tr ',' '\n' <<<"${kind#=}") ;;
        command)
            _cairn_describe ''
            _cairn_reply < <(printf '%s\n' $commands)
            ;;
        file | folder)
            local action=file
            [[ $kind == file ]] || action=directory
            compopt -o filenames 2>/dev/null
            _cairn_reply < <(compgen -A "$action" -- "$present")
            ;;
        program) _cairn_reply < <(compgen -A command -- "$present" | command sort -u) ;;
        *)
            _cairn_reply < <(_cairn_names "$kind" | command sort -u)
            if [[ $kind == recorded ]]; then
                compopt -o filenames 2>/dev/null
                _cairn_reply < <(compgen -A file -X '!*.pack' -- "$present"; compgen -A directory -- "$present")
            fi
            ;;
    esac
}

# The application that `cairn run` starts, and its arguments, from the word of this number on.
_cairn_of_application()
{
    local first=$1
    if ((first == COMP_CWORD)); then
        compopt -o filenames 2>/dev/null
        _cairn_reply < <(compgen -A command -- "$present" | command sort -u; compgen -A directory -- "$present")
    elif declare -F _command_offset >/dev/null; then
        _command_offset "$first"
    else
        _cairn_kind file
    fi
}

_cairn()
{
    local present=${COMP_WORDS[COMP_CWORD]} dir='' command='' number=0 options_end='' i
    local commands options arguments value word
    COMPREPLY=()
    _cairn_describe ''
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $command == run && $word == -- ]]; then
            _cairn_of_application $((i + 1))
            return
        elif [[ $word == -- ]]; then
            options_end=1
        elif [[ -z $options_end && $word == -* ]]; then
            _cairn_value_of "$command" "$word" || continue
            # `--option=value` is three words here.
            if [[ ${COMP_WORDS[i + 1]} == = && $((i + 1)) -lt $COMP_CWORD ]]; then ((i++)); fi
            if ((++i >= COMP_CWORD)); then
                [[ $present != = ]] || present=''
                _cairn_kind "$value"
                return
            fi
            [[ $word != --dir ]] || dir=${COMP_WORDS[i]/#\~\//${HOME-}/}
        elif [[ -n $commands ]]; then
            command=${command:+$command }$word
            _cairn_describe "$command"
        elif [[ $command == run ]]; then
            _cairn_of_application "$i"
            return
        else
            number=$((number + 1))
        fi
    done
    if [[ -z $options_end && $present == -* ]]; then
        _cairn_reply < <(printf '%s\n' $options)
    elif [[ -n $commands ]]; then
        _cairn_reply < <(printf '%s\n' $commands)
    elif [[ $command == run ]]; then
        _cairn_of_application "$COMP_CWORD"
    else
        local kinds kind
        read -ra kinds <<<"$arguments"
        local last=$((${#kinds[@]} - 1))
        if ((last >= 0 && number > last)) && [[ ${kinds[last]} == *\* ]]; then number=$last; fi
        kind=${kinds[number]-}
        _cairn_kind "${kind%\*}"
    fi
}

complete -F _cairn cairn

# fish completion for cairn.
# SPDX-License-Identifier: MIT
# Made by scripts/update-completions from what `--help` says: change cairn.fish.in, or the command.

# The words that `cairn` was given, without its options: those that name a command, such as "pack create", and "run APP"
# once there is an application, with what follows that.
function __cairn_words
    set -l words (commandline -opc)
    set -e words[1]
    set -l found
    while set -q words[1]
        set -l word $words[1]
        set -e words[1]
        if string match -q -- '-*' $word
            test "$found" = run
            and contains -- $word --json --trace --dir --limit
            and set -e words[1]
            continue
        end
        set -a found $word
        if test "$found[1]" = run
            if test (count $found) -eq 2
                set -a found $words
                break
            end
        else if not contains -- $found[1] pack remote key; or test (count $found) -eq 2
            break
        end
    end
    printf '%s\n' $found
end

function __cairn_is
    set -l words (__cairn_words)
    test "$words" = "$argv"
end

# What the program prints in a first column, or in another one. It says nothing here when it fails, and has two seconds.
# Only names that mean nothing to a shell are taken: they come from names of files.
function __cairn_column
    set -l words (commandline -opc)
    set -l folder
    set -l at (contains -i -- --dir $words)
    and test $at -lt (count $words); and set folder --dir (string replace -r '^~/' "$HOME/" -- $words[(math $at + 1)])
    command timeout 2 cairn $argv[2..] $folder 2>/dev/null |
        LC_ALL=C command awk -v column=$argv[1] '$column ~ /^[A-Za-z0-9._][A-Za-z0-9._-]*$/ { print $column }'
end

function __cairn_caches
    __cairn_column 1 ls --no-header --quiet
end
function __cairn_applications
    __cairn_column 2 ls --no-header --quiet
end
function __cairn_packs
    command timeout 2 cairn pack ls 2>/dev/null | string replace -r -f '^/.*/([A-Za-z0-9._][A-Za-z0-9._-]*\.pack)  .*' '$1'
end
function __cairn_keys
    command timeout 2 cairn key ls 2>/dev/null | string match -v -r '^KEY ' | string match -r '^[A-Za-z0-9._-]+'
end
function __cairn_remotes
    set -l folder $XDG_CONFIG_HOME
    test -n "$folder"; or set folder $HOME/.config
    string replace -r -f '^\s*\[([A-Za-z0-9._-]+)\]\s*$' '$1' <$folder/cairn/remotes 2>/dev/null
end
function __cairn_commands
    complete -C 'cairn '
end
function __cairn_has_application
    set -l words (__cairn_words)
    test "$words[1]" = run; and test (count $words) -ge 2
end
function __cairn_application_words
    set -l words (__cairn_words)
    complete -C (string join ' ' -- (string escape -- $words[2..]) (commandline -ct))
end

complete -c cairn -f
complete -c cairn -n '__cairn_is' -a run -d 'Run an application; its GPU programs are compiled once only'
complete -c cairn -n '__cairn_is' -a enable -d 'Use Cairn for all GL programs of your sessions'
complete -c cairn -n '__cairn_is' -a disable -d 'Undo `cairn enable`, or switch an application off'
complete -c cairn -n '__cairn_is' -a stats -d 'Show what the caches hold, and what was counted over time'
complete -c cairn -n '__cairn_is' -a status -d 'Show whether the session uses Cairn, and why'
complete -c cairn -n '__cairn_is' -a doctor -d 'Find what keeps programs from being served'
complete -c cairn -n '__cairn_is' -a why -d 'Show why programs of an application were compiled'
complete -c cairn -n '__cairn_is' -a dashboard -d 'Show the caches in a browser'
complete -c cairn -n '__cairn_is' -a top -d 'Show live what applications look up and compile'
complete -c cairn -n '__cairn_is' -a metrics -d 'Print numbers for Prometheus'
complete -c cairn -n '__cairn_is' -a ls -d 'List the caches, or the entries of one'
complete -c cairn -n '__cairn_is' -a clear -d 'Remove the entries of caches, of an application\'s, or of all'
complete -c cairn -n '__cairn_is' -a rm -d 'Remove caches with their directories, or entries'
complete -c cairn -n '__cairn_is' -a compress -d 'Make caches smaller, an application\'s, or all'
complete -c cairn -n '__cairn_is' -a control -d 'Switch kinds of caches off and on, and empty them'
complete -c cairn -n '__cairn_is' -a convert -d 'Convert a shader into another language, once'
complete -c cairn -n '__cairn_is' -a pack -d 'Pack programs for other machines, and install such packs'
complete -c cairn -n '__cairn_is' -a warm -d 'Make an application\'s programs before it is started'
complete -c cairn -n '__cairn_is' -a push -d 'Publish what this machine has compiled'
complete -c cairn -n '__cairn_is' -a pull -d 'Fetch what other machines have compiled'
complete -c cairn -n '__cairn_is' -a remote -d 'See and tidy up the storage that machines share'
complete -c cairn -n '__cairn_is' -a key -d 'Keys that sign packs, and those that you trust'
complete -c cairn -n '__cairn_is' -a path -d 'Print the directory that holds the caches'
complete -c cairn -n '__cairn_is' -a version -d 'Print the version'
complete -c cairn -n '__cairn_is' -a help -d 'Explain a command, or the program'
complete -c cairn -n '__cairn_is' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is' -s V -l version -d 'Print the version and exit'
complete -c cairn -n '__cairn_is run' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is run' -l json -r -F -d 'Write what was saved to FILE as JSON; - is standard output'
complete -c cairn -n '__cairn_is run' -l trace -r -F -d 'Write a line KEY SIZE COST to FILE for each entry that is looked up; - is standard output'
complete -c cairn -n '__cairn_is run' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is run' -l limit -x -d 'The room on disk that APP\'s caches may take; 1G where nothing else is said'
complete -c cairn -n '__cairn_is run' -l record -d 'Have the driver keep what it makes for APP by itself, for `cairn pack create`'
complete -c cairn -n '__cairn_is run' -l keep-sources -d 'Keep the first lines of sources that are compiled, for `cairn why`'
complete -c cairn -n '__cairn_is run' -l private -d 'Keep nothing of what APP compiles, and find nothing that was kept'
complete -c cairn -n '__cairn_is run' -s q -l quiet -d 'Say nothing, except when APP cannot be started'
complete -c cairn -n '__cairn_is run' -a '(__fish_complete_command)'
complete -c cairn -n '__cairn_has_application' -a '(__cairn_application_words)'
complete -c cairn -n '__cairn_is enable' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is enable' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is enable' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is enable' -a '(__fish_complete_command)'
complete -c cairn -n '__cairn_is disable' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is disable' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is disable' -a '(__fish_complete_command)'
complete -c cairn -n '__cairn_is stats' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is stats' -l application -x -a '(__cairn_applications)' -d 'Only of this application'
complete -c cairn -n '__cairn_is stats' -l by-generation -d 'Show numbers by generation, too'
complete -c cairn -n '__cairn_is stats' -l json -d 'Print JSON'
complete -c cairn -n '__cairn_is stats' -l forget -d 'Forget what was counted; the caches stay'
complete -c cairn -n '__cairn_is stats' -s y -l yes -d 'Do not ask'
complete -c cairn -n '__cairn_is stats' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is stats' -s q -l quiet -d 'Do not show how far it is'
complete -c cairn -n '__cairn_is stats' -a 'today week all'
complete -c cairn -n '__cairn_is status' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is status' -l json -d 'Print JSON'
complete -c cairn -n '__cairn_is status' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is doctor' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is doctor' -l json -d 'Print JSON'
complete -c cairn -n '__cairn_is doctor' -l strict -d 'Warnings count as wrong'
complete -c cairn -n '__cairn_is doctor' -l no-driver -d 'Do not ask the driver what it offers'
complete -c cairn -n '__cairn_is doctor' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is doctor' -a '(__cairn_applications)'
complete -c cairn -n '__cairn_is why' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is why' -l last -d 'Only the last run, without the list'
complete -c cairn -n '__cairn_is why' -l run -x -d 'Only this run, counted from the last'
complete -c cairn -n '__cairn_is why' -l programs -x -d 'How many programs are shown (5)'
complete -c cairn -n '__cairn_is why' -l json -d 'Print JSON'
complete -c cairn -n '__cairn_is why' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is why' -a '(__cairn_applications)'
complete -c cairn -n '__cairn_is dashboard' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is dashboard' -l no-open -d 'Print the address, and open no browser'
complete -c cairn -n '__cairn_is dashboard' -l port -x -d 'Listen on this port; any free one where none is given'
complete -c cairn -n '__cairn_is dashboard' -l idle -x -d 'End when no page has asked anything for so long; 0: never'
complete -c cairn -n '__cairn_is dashboard' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is top' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is top' -l once -d 'Print one sample and end, for pipes'
complete -c cairn -n '__cairn_is top' -l interval -x -d 'Seconds between two looks (1)'
complete -c cairn -n '__cairn_is top' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is metrics' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is metrics' -l output -r -F -d 'Replace this file in one step, in place of standard output'
complete -c cairn -n '__cairn_is metrics' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is metrics' -s q -l quiet -d 'Do not show how far it is'
complete -c cairn -n '__cairn_is ls' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is ls' -l sort -x -a 'name application entries size used key cost stored' -d 'The order of the lines'
complete -c cairn -n '__cairn_is ls' -s r -l reverse -d 'In the opposite order'
complete -c cairn -n '__cairn_is ls' -l json -d 'Print JSON, with exact numbers and whole keys'
complete -c cairn -n '__cairn_is ls' -l full-keys -d 'Print whole keys'
complete -c cairn -n '__cairn_is ls' -l no-header -d 'Do not print the names of the columns'
complete -c cairn -n '__cairn_is ls' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is ls' -s q -l quiet -d 'Do not show how far it is'
complete -c cairn -n '__cairn_is ls' -a '(__cairn_caches)'
complete -c cairn -n '__cairn_is clear' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is clear' -l application -x -a '(__cairn_applications)' -d 'Every program cache of an application, as `cairn ls` shows its name'
complete -c cairn -n '__cairn_is clear' -l all -d 'Every cache in the directory'
complete -c cairn -n '__cairn_is clear' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is clear' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is clear' -s y -l yes -d 'With --all: do not ask (without a terminal nobody is asked)'
complete -c cairn -n '__cairn_is clear' -l since -x -d 'Only what was stored at this time or later'
complete -c cairn -n '__cairn_is clear' -l until -x -d 'Only what was stored before this time'
complete -c cairn -n '__cairn_is clear' -a '(__cairn_caches)'
complete -c cairn -n '__cairn_is rm' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is rm' -l application -x -a '(__cairn_applications)' -d 'Every program cache of an application, as `cairn ls` shows its name'
complete -c cairn -n '__cairn_is rm' -l all -d 'Every cache in the directory'
complete -c cairn -n '__cairn_is rm' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is rm' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is rm' -s y -l yes -d 'With --all: do not ask (without a terminal nobody is asked)'
complete -c cairn -n '__cairn_is rm' -a '(__cairn_caches)'
complete -c cairn -n '__cairn_is compress' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is compress' -l application -x -a '(__cairn_applications)' -d 'Every program cache of an application, as `cairn ls` shows its name'
complete -c cairn -n '__cairn_is compress' -l all -d 'Every cache in the directory'
complete -c cairn -n '__cairn_is compress' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is compress' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is compress' -a '(__cairn_caches)'
complete -c cairn -n '__cairn_is control' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is control' -l kind -x -a 'cache-for-driver conversions driver-managed application-managed all' -d 'The kind; may be given more than once'
complete -c cairn -n '__cairn_is control' -l disable -d 'Neither look up nor store any more'
complete -c cairn -n '__cairn_is control' -l enable -d 'Use them again'
complete -c cairn -n '__cairn_is control' -l clear -d 'Delete what they hold'
complete -c cairn -n '__cairn_is control' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is convert' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is convert' -l converter -x -a 'glslang spirv-cross vkd3d-shader' -d 'glslang, spirv-cross or vkd3d-shader'
complete -c cairn -n '__cairn_is convert' -s O -l option -x -d 'An option of the converter; may be given more than once'
complete -c cairn -n '__cairn_is convert' -l list -d 'The converters, their versions and options'
complete -c cairn -n '__cairn_is convert' -s v -l verbose -d 'Say where the output came from'
complete -c cairn -n '__cairn_is convert' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is convert' -F
complete -c cairn -n '__cairn_is pack' -a create -d 'Write the entries of caches to a pack'
complete -c cairn -n '__cairn_is pack' -a inspect -d 'Say what is in a pack'
complete -c cairn -n '__cairn_is pack' -a verify -d 'Check all that is in packs'
complete -c cairn -n '__cairn_is pack' -a merge -d 'Make one pack of several'
complete -c cairn -n '__cairn_is pack' -a diff -d 'Say what one pack has and another has not'
complete -c cairn -n '__cairn_is pack' -a install -d 'Install a pack, so that starts find it'
complete -c cairn -n '__cairn_is pack' -a remove -d 'Remove installed packs'
complete -c cairn -n '__cairn_is pack' -a ls -d 'List installed packs, or the entries of one'
complete -c cairn -n '__cairn_is pack' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack create' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack create' -l application -x -a '(__cairn_applications)' -d 'Every program cache of an application, as `cairn ls` shows its name'
complete -c cairn -n '__cairn_is pack create' -l all -d 'Every cache in the directory'
complete -c cairn -n '__cairn_is pack create' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is pack create' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is pack create' -l starts -x -d 'Only what the last N recorded starts used'
complete -c cairn -n '__cairn_is pack create' -l recipes -d 'Pack recipes, too, from which programs are made on any driver'
complete -c cairn -n '__cairn_is pack create' -l only-recipes -d 'Pack recipes, and nothing else'
complete -c cairn -n '__cairn_is pack create' -l max-bytes -x -d 'Only what saves most time for its bytes, up to so many; recipes stay whole'
complete -c cairn -n '__cairn_is pack create' -l about -x -d 'What the pack is, for people'
complete -c cairn -n '__cairn_is pack create' -l sign -x -a '(__cairn_keys)' -d 'Sign it with this key of yours (`cairn key create`)'
complete -c cairn -n '__cairn_is pack create' -l no-compress -d 'Leave values as they are'
complete -c cairn -n '__cairn_is pack create' -l no-driver-files -d 'Leave out the machine code that drivers have made (see `cairn run --record`)'
complete -c cairn -n '__cairn_is pack create' -F
complete -c cairn -n '__cairn_is pack create' -a '(__cairn_caches)'
complete -c cairn -n '__cairn_is pack inspect' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack inspect' -l json -d 'For programs'
complete -c cairn -n '__cairn_is pack inspect' -F
complete -c cairn -n '__cairn_is pack verify' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack verify' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is pack verify' -F
complete -c cairn -n '__cairn_is pack merge' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack merge' -l max-bytes -x -d 'Only what saves most time for its bytes, up to so many; recipes stay whole'
complete -c cairn -n '__cairn_is pack merge' -l about -x -d 'What the pack is, for people'
complete -c cairn -n '__cairn_is pack merge' -l sign -x -a '(__cairn_keys)' -d 'Sign it with this key of yours (`cairn key create`)'
complete -c cairn -n '__cairn_is pack merge' -l no-compress -d 'Leave values as they are'
complete -c cairn -n '__cairn_is pack merge' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is pack merge' -F
complete -c cairn -n '__cairn_is pack diff' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack diff' -l keys -d 'Say which entries differ'
complete -c cairn -n '__cairn_is pack diff' -l json -d 'For programs'
complete -c cairn -n '__cairn_is pack diff' -F
complete -c cairn -n '__cairn_is pack install' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack install' -l unsigned -d 'Install it without a signature of a key that you trust'
complete -c cairn -n '__cairn_is pack install' -l system -d 'For all users of this machine'
complete -c cairn -n '__cairn_is pack install' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is pack install' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is pack install' -F
complete -c cairn -n '__cairn_is pack remove' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack remove' -l system -d 'Those that are for all users of this machine'
complete -c cairn -n '__cairn_is pack remove' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is pack remove' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is pack remove' -a '(__cairn_packs)'
complete -c cairn -n '__cairn_is pack ls' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pack ls' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is pack ls' -F
complete -c cairn -n '__cairn_is warm' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is warm' -l all -d 'All applications with recipes'
complete -c cairn -n '__cairn_is warm' -l executable -r -F -d 'The file that the application runs, where it was never recorded here'
complete -c cairn -n '__cairn_is warm' -l jobs -x -d 'So many players at once; 1 where nothing is said'
complete -c cairn -n '__cairn_is warm' -l if-needed -d 'Nobody waits: say nothing where nothing is to be done, and rest on battery, and where memory is short'
complete -c cairn -n '__cairn_is warm' -l again -d 'Make all of them, also those that were made'
complete -c cairn -n '__cairn_is warm' -l json-progress -d 'Say how far it is in lines of JSON'
complete -c cairn -n '__cairn_is warm' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is warm' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is warm' -a '(__cairn_applications; __fish_complete_suffix .pack)'
complete -c cairn -n '__cairn_is push' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is push' -l all -d 'All applications that have caches'
complete -c cairn -n '__cairn_is push' -l remote -x -a '(__cairn_remotes)' -d 'A remote of ~/.config/cairn/remotes, or a URL; default: all of the file'
complete -c cairn -n '__cairn_is push' -l namespace -x -d 'Which project\'s programs there'
complete -c cairn -n '__cairn_is push' -l trust -x -a '(__cairn_keys)' -d 'Take only what this trusted key has signed (more than once: these keys)'
complete -c cairn -n '__cairn_is push' -l sign -x -a '(__cairn_keys)' -d 'Sign with this key of yours (`cairn key create`)'
complete -c cairn -n '__cairn_is push' -l recipes -d 'Also recipes, which have the text of shaders (`cairn run --record`)'
complete -c cairn -n '__cairn_is push' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is push' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is push' -a '(__cairn_applications)'
complete -c cairn -n '__cairn_is pull' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is pull' -l all -d 'All applications that the remotes have'
complete -c cairn -n '__cairn_is pull' -l remote -x -a '(__cairn_remotes)' -d 'A remote of ~/.config/cairn/remotes, or a URL; default: all of the file'
complete -c cairn -n '__cairn_is pull' -l namespace -x -d 'Which project\'s programs there'
complete -c cairn -n '__cairn_is pull' -l trust -x -a '(__cairn_keys)' -d 'Take only what this trusted key has signed (more than once: these keys)'
complete -c cairn -n '__cairn_is pull' -l all-drivers -d 'For all drivers, not only this machine\'s'
complete -c cairn -n '__cairn_is pull' -l executable -r -F -d 'The application\'s program, where a driver has settings for it and it was never started'
complete -c cairn -n '__cairn_is pull' -l max-bytes -x -d 'Of what is kept for an application and a driver; default 1G'
complete -c cairn -n '__cairn_is pull' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is pull' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is pull' -a '(__cairn_applications)'
complete -c cairn -n '__cairn_is remote' -a status -d 'Say what remotes have for this machine'
complete -c cairn -n '__cairn_is remote' -a gc -d 'Remove from remotes what nobody needs'
complete -c cairn -n '__cairn_is remote' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is remote status' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is remote status' -l remote -x -a '(__cairn_remotes)' -d 'A remote of ~/.config/cairn/remotes, or a URL; default: all of the file'
complete -c cairn -n '__cairn_is remote status' -l namespace -x -d 'Which project\'s programs there'
complete -c cairn -n '__cairn_is remote status' -l json -d 'Print JSON'
complete -c cairn -n '__cairn_is remote status' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is remote status' -a '(__cairn_applications)'
complete -c cairn -n '__cairn_is remote gc' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is remote gc' -l remote -x -a '(__cairn_remotes)' -d 'A remote of ~/.config/cairn/remotes, or a URL; default: all of the file'
complete -c cairn -n '__cairn_is remote gc' -l namespace -x -d 'Which project\'s programs there'
complete -c cairn -n '__cairn_is remote gc' -l max-age -x -d 'Days that a manifest may be old; default 90'
complete -c cairn -n '__cairn_is remote gc' -l max-bytes -x -d 'What all packs that are listed may take; default: the remote\'s `limit`'
complete -c cairn -n '__cairn_is remote gc' -l dry-run -d 'Say what would go, and remove nothing'
complete -c cairn -n '__cairn_is remote gc' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is remote gc' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is key' -a create -d 'Make a key of your own'
complete -c cairn -n '__cairn_is key' -a trust -d 'Let what a key signed be installed'
complete -c cairn -n '__cairn_is key' -a revoke -d 'Trust a key no more, and remove what it signed'
complete -c cairn -n '__cairn_is key' -a ls -d 'List the keys'
complete -c cairn -n '__cairn_is key' -a export -d 'Print a public key'
complete -c cairn -n '__cairn_is key' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is key create' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is key create' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is key trust' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is key trust' -l name -x -d 'Keep it by this name'
complete -c cairn -n '__cairn_is key trust' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is key trust' -F
complete -c cairn -n '__cairn_is key revoke' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is key revoke' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is key revoke' -s q -l quiet -d 'Say nothing but what fails'
complete -c cairn -n '__cairn_is key revoke' -a '(__cairn_keys)'
complete -c cairn -n '__cairn_is key ls' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is key ls' -l json -d 'Print JSON'
complete -c cairn -n '__cairn_is key export' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is key export' -a '(__cairn_keys)'
complete -c cairn -n '__cairn_is path' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is path' -l dir -x -a '(__fish_complete_directories)' -d 'The directory that holds the caches, instead of $CAIRN_DIR or ~/.cache/cairn'
complete -c cairn -n '__cairn_is version' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is help' -s h -l help -d 'Print this help message and exit'
complete -c cairn -n '__cairn_is help' -a '(__cairn_commands)'

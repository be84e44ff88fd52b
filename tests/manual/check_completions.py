#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the completions are those of the commands, and completes words in real shells.

Usage: check_completions.py BUILD WORK LIBRARY
"""
import ctypes
import functools
import os
import pathlib
import sys

from checks import ROOT, Skip, expect, expect_same, fresh_folder, need, quiet_environment, run, run_checks

import command_help

BUILD = pathlib.Path(sys.argv[1]).resolve()
WORK = fresh_folder(sys.argv[2])
LIBRARY = os.path.abspath(sys.argv[3])
FILES = ROOT / "packaging/completions"


class Options(ctypes.Structure):
    """cairn_program_cache_options."""
    _fields_ = [("size", ctypes.c_size_t), ("root", ctypes.c_char_p), ("application", ctypes.c_char_p),
                ("build", ctypes.c_char_p), ("identity", ctypes.c_char_p), ("version", ctypes.c_uint64),
                ("flags", ctypes.c_uint32), ("unused_days", ctypes.c_uint32), ("limit_bytes", ctypes.c_uint64),
                ("memory_bytes", ctypes.c_uint64), ("queue_bytes", ctypes.c_uint64), ("total_bytes", ctypes.c_uint64),
                ("log", ctypes.c_void_p), ("log_user", ctypes.c_void_p),
                ("limit_percent", ctypes.c_uint32), ("layers", ctypes.c_void_p), ("layer_count", ctypes.c_size_t)]


def make_cache(root, application):
    """Makes a program cache of an application, and returns its name."""
    library = ctypes.CDLL(LIBRARY)
    library.cairn_program_cache_identifier.restype = ctypes.c_char_p
    options = Options(size=ctypes.sizeof(Options), root=str(root).encode(), application=application.encode(),
                      identity=b"a driver", version=2)
    cache = ctypes.c_void_p()
    result = library.cairn_program_cache_open(ctypes.byref(options), ctypes.byref(cache))
    expect(result == 0, f"the cache of {application} cannot be made: {result}")
    name = library.cairn_program_cache_identifier(cache).decode()
    library.cairn_close(cache)
    return name


def make_home():
    home = WORK / "home"
    caches = [make_cache(home / ".cache/cairn", name) for name in ("gl-game", "gl-demo")]
    caches.append(make_cache(home / "elsewhere", "gl-far"))
    # Names that a shell would take for something else are in no completion.
    for name in ("$(touch stepped_in)", "`touch stepped_in`", "x;touch stepped_in"):
        (home / ".cache/cairn" / name).mkdir()
    (home / ".config/cairn").mkdir(parents=True)
    (home / ".config/cairn/remotes").write_text("[studio]\nurl = file:///nowhere\n\n[$(touch stepped_in)]\n")
    (home / "files").mkdir()
    (home / "files/sky.frag").write_text("")
    (home / "files/my game.pack").write_text("")
    programs = WORK / "bin"
    programs.mkdir()
    (programs / "cairn").symlink_to(BUILD / "apps/cli/cairn")
    game = programs / "gamewithalongname"
    game.write_text("#!/bin/sh\n")
    game.chmod(0o755)
    environment = {**quiet_environment(home), "PATH": f"{programs}:{os.environ['PATH']}"}
    result = run([programs / "cairn", "key", "create", "tester"], env=environment)
    expect(result.returncode == 0, result.stderr)
    return home, environment, caches


HOME, ENVIRONMENT, (CACHE, OTHER, FAR) = make_home()


@functools.cache
def commands():
    try:
        return command_help.describe(BUILD)
    except command_help.Missing as missing:
        raise Skip(str(missing)) from missing


def top_level():
    return command_help.parse("cairn", command_help.help_of(BUILD / "apps/cli/cairn", [])).subcommands


# What must be offered, exactly, for a line whose last word is to be completed, in every shell.
def wanted():
    return {
        "cairn ": top_level(),
        "cairn stat": ["stats", "status"],
        "cairn pack ": commands()["cairn pack"].subcommands,
        "cairn key ": commands()["cairn key"].subcommands,
        "cairn remote g": ["gc"],
        "cairn run --": [name for option in commands()["cairn run"].options for name in option.names
                         if name.startswith("--")],
        "cairn pack create --o": ["--only-recipes"],
        "cairn run gamewitha": ["gamewithalongname"],
        "cairn run -- gamewitha": ["gamewithalongname"],
        "cairn run --json out -- gamewithalongname files/s": ["files/sky.frag"],
        "cairn run gamewithalongname --js": [],
        "cairn enable gamewitha": ["gamewithalongname"],
        "cairn ls ": [CACHE, OTHER],
        f"cairn clear {CACHE} gl-d": [OTHER],
        "cairn ls --dir elsewhere ": [FAR],
        "cairn clear --application ": ["game", "demo"],
        "cairn why ": ["game", "demo"],
        "cairn ls --sort s": ["size", "stored"],
        "cairn stats ": ["today", "week", "all"],
        "cairn control --kind d": ["driver-managed"],
        "cairn help re": ["remote"],
        "cairn push --remote ": ["studio"],
        "cairn pack create x.pack --sign ": ["tester"],
        "cairn key revoke t": ["tester"],
        "cairn pack remove ": [],
        "cairn convert files/": ["files/sky.frag", "files/my game.pack"],
    }


def bash_answers(lines, begin=""):
    script = """
        set -u
        complete_line() {
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*" COMP_POINT=$((${#COMP_LINE})) COMPREPLY=()
            _cairn
            printf '%s\\n' "${COMPREPLY[@]}" ==
        }
    """
    for line in lines:
        script += "complete_line " + " ".join(f"'{word}'" for word in line.split(" ")) + "\n"
    result = run(["bash", "--norc", "-c", f"{begin}\nsource {FILES / 'cairn.bash'}\n{script}"], cwd=HOME, env=ENVIRONMENT)
    expect(result.stderr == "", f"bash says {result.stderr}")
    answers = [part.split("\n") for part in result.stdout.split("==\n")]
    return {line: [word for word in words if word] for line, words in zip(lines, answers)}


def compare(answers, shell):
    problems = []
    for line, words in wanted().items():
        # What is offered of files may end with a slash or a space, and have a backslash before a blank.
        found = {word.rstrip("/ ").replace("\\ ", " ") for word in answers[line]}
        if shell == "zsh":  # which keeps the folder for itself
            words = [word.split("/")[-1] for word in words]
        if found != set(words):
            problems.append(f"`{line}`: {sorted(found)}, not {sorted(words)}")
    expect(not problems, f"{shell}: " + "; ".join(problems))
    expect(not list(WORK.rglob("stepped_in")), f"{shell} ran a name of a cache")


def check_that_they_are_fresh():
    commands()
    folder = WORK / "fresh"
    folder.mkdir()
    result = run([ROOT / "scripts/update-completions", BUILD, folder])
    expect(result.returncode == 0, result.stdout + result.stderr)
    for name in ("cairn.bash", "_cairn", "cairn.fish"):
        expect((folder / name).read_bytes() == (FILES / name).read_bytes(),
               f"{name} is not what the commands say; run scripts/update-completions")


def check_in_bash():
    compare(bash_answers(list(wanted())), "bash")


def check_in_bash_with_its_completions():
    package = pathlib.Path("/usr/share/bash-completion/bash_completion")
    if not package.exists():
        raise Skip("bash-completion is not installed")
    lines = ["cairn run -- git --vers", "cairn run --json out git --vers"]
    begin = f"source {package}; _cairn_test() {{ COMPREPLY=(--of-git); }}; complete -F _cairn_test git"
    for line, words in bash_answers(lines, begin).items():
        expect_same(words, ["--of-git"], f"bash, `{line}`")


def check_that_bash_takes_values_with_equals():
    answers = bash_answers(["cairn control --kind = d", "cairn control --kind =", "cairn ls --dir = elsewhere gl-"])
    expect_same(answers["cairn control --kind = d"], ["driver-managed"], "behind =")
    expect(len(answers["cairn control --kind ="]) == 5, f"all kinds: {answers}")
    expect_same(answers["cairn ls --dir = elsewhere gl-"], [FAR], "in another folder")


def check_that_bash_bears_a_strict_shell():
    lines = ["cairn status ", "cairn doctor game ", "cairn ls --dir ~/x ", "cairn pack verify x y "]
    answers = bash_answers(lines, "set -eu; unset HOME; compopt() { :; }")
    expect(answers["cairn status "] == answers["cairn doctor game "] == [], f"offered: {answers}")


def check_that_bash_is_silent_where_the_program_fails():
    broken = fresh_folder(WORK / "broken")
    for body in ("echo gl-wrong; echo no >&2; exit 1", "exec sleep 60"):
        program = broken / "cairn"
        program.write_text(f"#!/bin/sh\n{body}\n")
        program.chmod(0o755)
        answers = bash_answers(["cairn key revoke x"], f"PATH={broken}:$PATH")
        expect(answers == {"cairn key revoke x": []}, f"with a broken program: {answers}")


def check_that_names_with_signs_of_the_shell_are_left_out():
    program = fresh_folder(WORK / "hostile") / "cairn"
    program.write_text("#!/bin/sh\n"
                       "printf '%s  %s  1\\n' '$(touch${IFS}stepped_in)' '`touch${IFS}stepped_in`' good game '-rf' '--all' ';x' '&x'\n")
    program.chmod(0o755)
    answers = bash_answers(["cairn ls ", "cairn why "], f"PATH={program.parent}:$PATH")
    expect(answers == {"cairn ls ": ["good"], "cairn why ": ["game"]}, f"offered: {answers}")
    expect(not list(WORK.rglob("stepped_in")), "bash ran a name of a cache")


def check_in_fish():
    fish = need("fish")
    lines = list(wanted())
    result = run([fish, "--no-config", "-c",
                  f"source {FILES / 'cairn.fish'}; for line in $argv; complete -C $line; echo ==; end", "--", *lines],
                 cwd=HOME, env=ENVIRONMENT)
    expect(result.stderr == "", f"fish says {result.stderr}")
    parts = [part.split("\n") for part in result.stdout.split("==\n")]
    answers = {line: [word.split("\t")[0] for word in words if word] for line, words in zip(lines, parts)}
    compare(answers, "fish")


# What would be offered is written to a file, and not shown.
ZSH_SHELL = r"""
PS1= RPS1= PROMPT_EOL_MARK= zle_highlight=() LISTMAX=1000
stty rows 1000 columns 200
fpath=(@FILES@ $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
    local -a offered
    if (( ! ${argv[(I)-[OAD]]} )); then
        builtin compadd -O offered "$@"
        print -rl -- "${offered[@]}" >>@WORK@/zsh_answer
    fi
    builtin compadd "$@"
}
answer() {
    local line
    for line in "${(@f)$(<@WORK@/zsh_lines)}"; do
        BUFFER=$line CURSOR=$#line
        zle list-choices
        print '==' >>@WORK@/zsh_answer
    done
    BUFFER=
    print the-end >>@WORK@/zsh_answer
}
zle -N answer
bindkey '^Xa' answer
print REA''DY
"""
ZSH_ASKING = r"""
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'source @WORK@/shell.zsh'
zpty -r -m shell seen '*READY*'
zpty -w -n shell $'\C-Xa'
for ((i = 0; i < 3000; i++)); do
    grep -qx the-end @WORK@/zsh_answer && break
    while zpty -r -t shell seen; do print -r -- $seen; done
    sleep 0.02
done
zpty -d shell
"""


def check_in_zsh():
    zsh = need("zsh")
    expect(run([zsh, "-n", FILES / "_cairn"]).stderr == "", "_cairn is no zsh")
    lines = list(wanted())
    (WORK / "zsh_answer").write_text("")
    (WORK / "zsh_lines").write_text("\n".join(lines) + "\n")
    for name, text in (("shell.zsh", ZSH_SHELL), ("ask.zsh", ZSH_ASKING)):
        (WORK / name).write_text(text.replace("@FILES@", str(FILES)).replace("@WORK@", str(WORK)))
    result = run([zsh, "-f", WORK / "ask.zsh"], cwd=HOME, env={**ENVIRONMENT, "TERM": "vt100"})
    parts = [part.split("\n") for part in (WORK / "zsh_answer").read_text().split("==\n")]
    expect(len(parts) == len(lines) + 1, f"zsh answered {len(parts) - 1} of {len(lines)} lines: {result.stdout}")
    compare({line: [word for word in words if word] for line, words in zip(lines, parts)}, "zsh")


def check_that_zsh_takes_folders_for_no_patterns():
    zsh = need("zsh")
    script = f"""
        source {FILES / '_cairn'} 2>/dev/null
        typeset -A opt_args
        opt_args[--dir]="'*(e:touch stepped_in:)'"; _cairn_ask ls
        opt_args[--dir]='~/elsewhere'; _cairn_ask ls --no-header
    """
    result = run([zsh, "-f", "-c", script], cwd=HOME, env=ENVIRONMENT)
    expect(FAR in result.stdout, f"in a folder below the home: {result.stdout}{result.stderr}")
    expect(not list(WORK.rglob("stepped_in")), "zsh ran what was typed as a folder")


run_checks({name: check for name, check in list(globals().items()) if name.startswith("check_")})

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that what is shipped is compiled and linked so that mistakes are harder to use.

Usage: check_hardening.py BUILD FILE...       BUILD: a build tree of Ninja's; FILE: programs and libraries in it
       check_hardening.py --linked FILE...    only how they are linked, of programs and libraries from anywhere

Linked: position-independent, relocations read-only and bound at the start, no executable stack, no text relocations, no
search path. Compiled, each object that the files are linked from: optimised, with -fstack-protector-strong and
_FORTIFY_SOURCE=2 or more.
"""
import os
import re
import shlex
import subprocess
import sys


def run(*command):
    environment = {"LC_ALL": "C", "PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def linked_problems(file):
    header = run("readelf", "--wide", "--file-header", file)
    segments = run("readelf", "--wide", "--segments", file)
    dynamic = run("readelf", "--wide", "--dynamic", file)
    if not re.search(r"Type:\s+DYN ", header):
        yield "is not position-independent"
    if "GNU_RELRO" not in segments:
        yield "has no RELRO segment"
    if not re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*\bNOW\b|\(BIND_NOW\)", dynamic):
        yield "is not bound at the start (BIND_NOW)"
    stack = re.search(r"GNU_STACK\s+\S+\s+\S+\s+\S+\s+\S+\s+\S+\s+(\S+)", segments)
    if stack is None or "E" in stack.group(1):
        yield "may execute its stack"
    if "(TEXTREL)" in dynamic:
        yield "has text relocations"
    if re.search(r"\((RPATH|RUNPATH)\)", dynamic):
        yield "has a search path (RPATH)"


def last(flags, beginnings):
    """The last of the flags that begin so: the one that counts."""
    return next((flag for flag in reversed(flags) if flag.startswith(beginnings)), "")


def compiled_problems(command):
    flags = shlex.split(command)
    if last(flags, "-O") in ("", "-O0"):
        yield "is not optimised"
    if last(flags, ("-fstack-protector", "-fno-stack-protector")) != "-fstack-protector-strong":
        yield "has no -fstack-protector-strong"
    if not re.fullmatch(r"-D_FORTIFY_SOURCE=[23]", last(flags, ("-D_FORTIFY_SOURCE", "-U_FORTIFY_SOURCE"))):
        yield "has no -D_FORTIFY_SOURCE=2"


def compile_commands(build, files):
    """Pairs of object and command, for all that the files are linked from."""
    targets = [os.path.relpath(os.path.realpath(file), os.path.realpath(build)) for file in files]
    for command in run("ninja", "-C", build, "-t", "commands", *targets).splitlines():
        output = re.search(r" -o (\S+\.o) -c ", command)
        if output:
            yield output.group(1), command


def main():
    build, files = sys.argv[1], sys.argv[2:]
    problems = [f"{file}: {problem}" for file in files for problem in linked_problems(file)]
    if build == "--linked":
        print(f"{len(files)} files", *problems, sep="\n")
        return 1 if problems else 0
    objects = dict(compile_commands(build, files))
    problems += [f"{name}: {problem}" for name, command in objects.items() for problem in compiled_problems(command)]
    print(f"{len(files)} files of {len(objects)} objects", *problems, sep="\n")
    return 1 if problems or not objects else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what a shared library shows to and wants from the process that loads it.

Usage: check_symbols.py LIBRARY --header FILE... [--prefix PREFIX] [--soname NAME]
                                              exports are exactly the functions that the FILEs mark with CAIRN_API,
                                              those whose name begins with PREFIX
       check_symbols.py LIBRARY --only NAME     NAME is the only export

In both cases: only libraries that every C++ program has may be needed, no symbol may come from anywhere else, no search
path may be built in, and functions that would change the process as a whole may not be used.
"""
import argparse
import re
import subprocess
import sys

NEEDED = re.compile(r"(libc|libm|libstdc\+\+|libgcc_s|ld-linux[a-z0-9-]*)\.so\.\d+")
# Symbol versions that those libraries define.
VERSIONS = re.compile(r"(GLIBC|GLIBCXX|CXXABI|GCC)_[0-9.]+")
# Without a version only what the loader may leave out: hooks of profilers and of transactional memory.
HOOKS = {"__gmon_start__", "_ITM_deregisterTMCloneTable", "_ITM_registerTMCloneTable"}
# Settings of the whole process, output of our own accord, and exceptions on their way through foreign frames.
FORBIDDEN = re.compile(
    r"(sigaction|signal|sigprocmask|setenv|putenv|unsetenv|clearenv|umask|chdir|setlocale|srand|exit"
    r"|system|popen|printf|puts|putchar|__printf_chk|_ZSt4c(out|err|log)|_ZSt4cerr|__cxa_throw|__cxa_allocate_exception"
    r"|__dynamic_cast)"
)


def run(*command):
    environment = {"LC_ALL": "C", "PATH": "/usr/bin:/bin"}
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


def dynamic_symbols(library, kind):
    """Pairs of name and version ('' for none), without the symbols that stand for versions."""
    for line in run("nm", "--dynamic", kind, "--with-symbol-versions", library).splitlines():
        kind_letter, name = line.split()[-2:]
        if kind_letter != "A":
            name, _, version = name.partition("@")
            yield name, version.lstrip("@")


def exported_problems(library, expected):
    exported = {name for name, _ in dynamic_symbols(library, "--defined-only")}
    for name in sorted(exported - expected):
        yield f"{name}: exported but not declared"
    for name in sorted(expected - exported):
        yield f"{name}: declared but not exported"


def imported_problems(library):
    for name, version in dynamic_symbols(library, "--undefined-only"):
        if FORBIDDEN.fullmatch(name):
            yield f"{name}: may not be used in other people's processes"
        if not VERSIONS.fullmatch(version) and not (version == "" and name in HOOKS):
            yield f"{name}@{version}: comes from an unexpected library"


def dynamic_section_problems(library, soname):
    for line in run("readelf", "--dynamic", "--wide", library).splitlines():
        match = re.search(r"\((\w+)\)\s+(?:.*\[(.*)\])?", line)
        tag, value = match.groups() if match else ("", None)
        if tag == "NEEDED" and not NEEDED.fullmatch(value):
            yield f"{value}: needed, but not a library that every C++ program has"
        if tag == "SONAME" and soname not in (None, value):
            yield f"{value}: is the SONAME, and not {soname}"
        if tag in ("RPATH", "RUNPATH", "TEXTREL"):
            yield f"{tag}: must not be there ({value})"


def declared_in(header):
    with open(header, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.DOTALL)
    names = re.findall(r"^CAIRN_API\b[^;(]*?\b(\w+)\(", text, flags=re.MULTILINE)
    if not names:
        raise SystemExit(f"{header}: no CAIRN_API declaration found")
    return set(names)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    group = parser.add_mutually_exclusive_group(required=True)
    group.add_argument("--header", nargs="+")
    group.add_argument("--only", nargs="+")
    parser.add_argument("--prefix", default="")
    parser.add_argument("--soname")
    arguments = parser.parse_args()
    expected = set().union(*map(declared_in, arguments.header)) if arguments.header else set(arguments.only)
    expected = {name for name in expected if name.startswith(arguments.prefix)}
    problems = [
        *exported_problems(arguments.library, expected),
        *imported_problems(arguments.library),
        *dynamic_section_problems(arguments.library, arguments.soname),
    ]
    if arguments.header:
        problems += [f"{name}: not named cairn_*" for name in sorted(expected) if not name.startswith("cairn_")]
    print("\n".join(problems + [f"{arguments.library}: {len(expected)} exports, {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

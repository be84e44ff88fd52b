#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Guards the binary interface of libcairn: it may grow, and nothing in it may go away or change.

Usage: check_abi.py                     the public headers declare what the description says
       check_abi.py --update [--force]  adds to the description what is new
       check_abi.py --self-test         each kind of change is found

The description is in two files: libcairn.abi, functions and structs as abidw (Debian's abigail-tools) writes them, and
libcairn.constants, enumerators and macros. It is taken from the headers, compiled as C, so it is the same with each
compiler and set of flags; check_symbols.py sees that the library exports just these functions. --update refuses a change
that breaks programs; --force has it written all the same, which a new SONAME has to follow.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
ABI = FOLDER / "libcairn.abi"
# Those for D3D12 are of other libraries.
HEADERS = sorted(set((FOLDER.parents[1] / "include/cairn").glob("cairn*.h")) - set(FOLDER.parents[1].glob("include/cairn/*d3d12*.h")))

# Members at the end of a struct that begins with `size` are growth: programs say by it which they know. abidiff forgives
# structs that grow so for their other changes as well, but tells of them.
GROWTH = "[suppress_type]\n  type_kind = struct\n  name_regexp = ^(%s)$\n  has_data_member_inserted_at = end\n"
SIZED = re.compile(r"^typedef struct (\w+) \{\s*size_t size;", re.M)
NO_GROWTH = re.compile(r"data member (change|deletion)|type name changed")
FUNCTION = re.compile(r"^[A-Z]*_?API\b[^;(]*?\b(\w+)\(", re.M)
CONSTANT = re.compile(
    r"^\s*#define[ ]+(?P<macro>[A-Z]\w*)[ ]+(?P<text>\S.*?)\s*$|^(?P<enumerator>[A-Z]\w*) = (?P<value>[^,}\n]+)", re.M
)
# Of the release, and of compilers.
NOT_CONSTANT = re.compile(r"CAIRN_VERSION_\w+|CAIRN_API|CAIRN_\w*(_H|_HPP)")


def run(*command):
    environment = {"LC_ALL": "C", "PATH": os.environ["PATH"]}
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment)


def without_comments(header):
    return re.sub(r"/\*.*?\*/", "", pathlib.Path(header).read_text(encoding="utf-8"), flags=re.DOTALL)


def describe(headers, abi):
    """Compiles a pointer to each function, whose type leads abidw to all that the function takes."""
    names = [name for header in headers for name in FUNCTION.findall(without_comments(header))]
    lines = [f'#include "{pathlib.Path(header).resolve()}"' for header in headers]
    lines += [f"__typeof__({name}) *pointer_to_{name};" for name in names]
    with tempfile.TemporaryDirectory() as folder:
        source, library = pathlib.Path(folder) / "interface.c", pathlib.Path(folder) / "interface.so"
        source.write_text("\n".join(lines) + "\n")
        include = pathlib.Path(headers[0]).resolve().parent.parent
        compiled = run("gcc", "-std=c11", "-g", "-shared", "-fPIC", f"-I{include}", "-o", str(library), str(source))
        options = ["--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-architecture", "--no-elf-needed"]
        done = run("abidw", *options, "--out-file", str(abi), str(library))
    if compiled.returncode != 0 or done.returncode != 0:
        raise SystemExit(f"the headers cannot be described\n{compiled.stdout}{done.stdout}")
    # The name of the temporary folder is no part of the interface.
    abi.write_text(re.sub(r" path='[^']*'", "", abi.read_text()))


def constants_of(headers):
    found = {}
    for header in headers:
        # One enumerator a line.
        text = re.sub(r"[{,]\s*(?=[A-Z]\w* = )", "\n", without_comments(header))
        for match in CONSTANT.finditer(text):
            name = match["macro"] or match["enumerator"]
            if not NOT_CONSTANT.fullmatch(name):
                found[name] = (match["text"] or match["value"]).strip()
    return found


def without_value(headers):
    """Enumerators that count on from the one before: CONSTANT does not find them."""
    enums = [body for header in headers for body in re.findall(r"\benum\b[^{};]*\{([^}]*)\}", without_comments(header))]
    return [one.strip() for body in enums for one in body.split(",") if one.strip() and "=" not in one]


def constants_file(abi):
    return pathlib.Path(abi).with_suffix(".constants")


def read_constants(abi):
    lines = constants_file(abi).read_text(encoding="utf-8").splitlines()
    return dict(line.split(" = ", 1) for line in lines)


def compare_constants(before, now):
    """Lines that tell of breaks, and of growth."""
    breaks = [f"{name} = {value}: is {now.get(name, 'gone')} now" for name, value in before.items() if now.get(name) != value]
    return breaks, [f"{name} = {value}: is new" for name, value in now.items() if name not in before]


def compare(headers, abi, fresh):
    """Text that tells of what breaks programs, and of growth; empty where there is none."""
    breaks, growth = compare_constants(read_constants(abi), constants_of(headers))
    breaks += [f"{name}: has to say its value" for name in without_value(headers)]
    with tempfile.NamedTemporaryFile("w", suffix=".abignore") as suppressions:
        sized = [name for header in headers for name in SIZED.findall(without_comments(header))]
        suppressions.write(GROWTH % "|".join(sized))
        suppressions.flush()
        grown = run("abidiff", "--no-added-syms", "--suppressions", suppressions.name, str(abi), str(fresh))
    exact = run("abidiff", "--harmless", str(abi), str(fresh))
    if exact.returncode != 0:
        is_growth = grown.returncode == 0 and not NO_GROWTH.search(exact.stdout)
        (growth if is_growth else breaks).append(exact.stdout)
    return "\n".join(breaks), "\n".join(growth)


def check(headers, abi, update=False, force=False):
    with tempfile.TemporaryDirectory() as folder:
        fresh = pathlib.Path(folder) / "fresh.abi"
        describe(headers, fresh)
        is_first = update and not abi.exists()
        breaks, growth = ("", "") if is_first else compare(headers, abi, fresh)
        if breaks and not force:
            print(f"{breaks}\nPrograms that were built before would break: see CONTRIBUTING.md, The interface only grows.")
            return 1
        if update:
            abi.write_text(fresh.read_text())
            lines = [f"{name} = {value}\n" for name, value in sorted(constants_of(headers).items())]
            constants_file(abi).write_text("".join(lines))
        elif growth:
            print(f"{growth}\nThe interface has grown. If it was meant to, run scripts/update-abi and commit the files.")
            return 2
    return 0


HEADER = """
#include <stddef.h>
typedef struct thing { size_t size; %(members)s } thing;
typedef struct place { int first; size_t size; %(place)s } place;
enum { THING_ONE = 1, THING_TWO = %(two)s };
#define THING_LIMIT %(limit)s
THING_API int thing_get(const thing *from, const place *places);
%(function)s
"""
USUAL = {
    "members": "int first; int second;",
    "place": "",
    "two": "2",
    "limit": "7u /* bytes */",
    "function": "THING_API int thing_put(int value);",
}
CHANGES = {  # the part that differs, how, and the exit code
    "nothing": ({}, 0),
    "a comment": ({"limit": "7u /* of bytes */"}, 0),
    "a member at the end": ({"members": "int first; int second; long third;"}, 2),
    "a function more": ({"function": USUAL["function"] + "\nTHING_API int thing_new(void);"}, 2),
    "a constant more": ({"two": "2, THING_NEW = 3"}, 2),
    "a member of another type": ({"members": "int first; float second;"}, 1),
    "a member of another name": ({"members": "int first; int other;"}, 1),
    "a member at the end of a struct without its size": ({"place": "long third;"}, 1),
    "a member in between": ({"members": "int first; int between; int second;"}, 1),
    "a member that is gone": ({"members": "int first;"}, 1),
    "a member at the end and one of another type": ({"members": "int first; float second; long third;"}, 1),
    "an argument of another type": ({"function": "THING_API int thing_put(long value);"}, 1),
    "an argument more": ({"function": "THING_API int thing_put(int value, int other);"}, 1),
    "another result": ({"function": "THING_API void thing_put(int value);"}, 1),
    "a function that is gone": ({"function": ""}, 1),
    "an enumerator of another value": ({"two": "3"}, 1),
    "an enumerator without a value": ({"two": "2, THING_NEW"}, 1),
    "a macro of another value": ({"limit": "8u"}, 1),
}


def self_test():
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        header, abi = pathlib.Path(name) / "thing.h", pathlib.Path(name) / "thing.abi"

        def check_with(differs, **how):
            header.write_text("#define THING_API\n" + HEADER % {**USUAL, **differs})
            return check([str(header)], abi, **how)

        check_with({}, update=True)
        for change, (differs, expected) in CHANGES.items():
            result = check_with(differs)
            failures += result != expected
            print(f"self-test: {change}: {result}, {'as it should' if result == expected else f'and not {expected}'}")
        before = abi.read_text()
        failures += check_with({"function": ""}, update=True) != 1 or abi.read_text() != before
        failures += check_with({"two": "2, THING_NEW = 3"}, update=True) != 0 or check_with({}) != 1
    print(f"self-test: {failures} failures")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    for flag in ("--update", "--force", "--self-test"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse_args()
    if arguments.self_test:
        return self_test()
    return check(HEADERS, ABI, arguments.update, arguments.force)


if __name__ == "__main__":
    sys.exit(main())

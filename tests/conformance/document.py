#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that a document has every row of a conformance program, and no other.

Usage: document.py PROGRAM DOCUMENT      the program lists its rows with --list
"""
import pathlib
import re
import subprocess
import sys


def main():
    program, path = sys.argv[1:]
    listed = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    written = re.findall(r"^\| `([a-z0-9.-]+)` \|", pathlib.Path(path).read_text(encoding="utf-8"), flags=re.MULTILINE)
    problems = [f"not in the document: {name}" for name in listed if name not in written]
    problems += [f"no such row: {name}" for name in written if name not in listed]
    problems += [f"more than once: {name}" for name in set(written) if written.count(name) > 1]
    print("\n".join(problems + [f"{len(written)} rows in the document, {len(listed)} in the program"]))
    return 1 if problems or not listed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks that the man pages say what the programs, the headers and the code say, and that they are pages.

Usage: check_pages.py BUILD WORK
"""
import functools
import pathlib
import re
import sys

from checks import ROOT, Skip, expect, expect_same, fresh_folder, need, run, run_checks
import sources

import command_help

BUILD = pathlib.Path(sys.argv[1]).resolve()
WORK = fresh_folder(sys.argv[2])
PAGES = ROOT / "docs/man"
HEADERS = ROOT / "include/cairn"
# What the head of a page says of the sections that it needs.
SECTIONS = {"1": ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXAMPLES", "EXIT STATUS", "SEE ALSO"],
            "3": ["NAME", "SYNOPSIS", "DESCRIPTION", "SEE ALSO"],
            "5": ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "SEE ALSO"],
            "7": ["NAME", "DESCRIPTION", "SEE ALSO"]}


def pages(section="*"):
    return sorted(PAGES.glob(f"*.{section}.scd"))


def name_of(path):
    return path.name.removesuffix(".scd").rsplit(".", 1)[0]


def plain(text):
    """A page's text without what is there for scdoc only."""
    return re.sub(r"\\(.)", r"\1", text)


def parts(text):
    """The text below each heading of the first level."""
    found = {}
    title = ""
    for line in text.splitlines():
        if line.startswith("# "):
            title = line[2:]
        found[title] = found.get(title, "") + line + "\n"
    return found


def tags(text):
    """The first lines of definitions: what a page explains."""
    lines = text.splitlines()
    return [line for line, following in zip(lines, lines[1:]) if following.startswith("\t") and line[:1] in "*_"]


def names_of(path):
    """All names that the page goes by."""
    head = re.search(r"# NAME\n\n(.*?) - ", path.read_text()).group(1)
    return [name.strip() for name in head.split(",")]


def commands_of(program):
    """Those that this build can tell of."""
    try:
        return command_help.describe(BUILD, program)
    except command_help.Missing as missing:
        raise Skip(str(missing)) from missing


def programs():
    return {**commands_of("cairn"), **commands_of("cairn-agent"), **commands_of("cairnd")}


def page_of(command):
    """The page of a command, and the part that is about it."""
    words = command.split()
    name = words[0] if len(words) == 1 or words[0] == "cairn-agent" else "-".join(words[:2])
    path = PAGES / f"{name}.1.scd"
    expect(path.exists(), f"`{command}` has no page: write docs/man/{path.name}")
    text = path.read_text()
    if len(words) == 3 or words[0] == "cairn-agent" and len(words) == 2:
        match = re.search(rf"^## {command}\n(.*?)(?=^##? )", text, re.S | re.M)
        expect(match, f"{path.name} has no part `## {command}`")
        return path, match.group(1)
    return path, parts(text).get("OPTIONS", "")


def options_of_help(command):
    found = set()
    for option in command.options:
        kind = option.type.split(":")[0]
        found.add(", ".join(option.names) + (f" {kind}" if kind else ""))
    return found


def check_that_each_option_is_in_its_page_and_in_help():
    for name, command in programs().items():
        path, text = page_of(name)
        found = {re.sub(r"[*_]", "", line) for line in tags(text) if line.startswith("*-")}
        wanted = options_of_help(command)
        if "# " not in text:  # a part of a group's page, which explains --help once
            wanted -= {"-h, --help"}
        expect_same(found, wanted, f"{path.name}, `{name}`")


def check_that_each_argument_is_in_its_page_and_in_help():
    for name, command in programs().items():
        path, text = page_of(name)
        found = {line.strip("_.").split("_")[0] for line in tags(text) if line.startswith("_")}
        expect_same(found, {argument.names[0] for argument in command.arguments}, f"{path.name}, `{name}`")


def check_that_each_page_of_a_command_has_one():
    known = {"-".join(name.split()[:2]) if name.startswith("cairn ") else name.split()[0] for name in programs()}
    expect_same({name_of(path) for path in pages("1")}, known, "docs/man/*.1.scd")


def check_that_cairn_lists_all_commands():
    text = parts((PAGES / "cairn.1.scd").read_text())["COMMANDS"]
    found = dict(re.findall(r"^\*cairn-(\w+)\*\(1\)\n\t(.*)$", text, re.M))
    wanted = command_help.parse("cairn", command_help.help_of(BUILD / "apps/cli/cairn", [])).subcommands
    expect_same(found, wanted, "cairn.1.scd")
    for name, about in wanted.items():
        said = plain(found[name]).replace("*", "`")
        expect(said == about.rstrip(".") + ".", f"cairn.1.scd says of {name}: {said} The help says: {about}")


def check_exit_codes_and_examples():
    for name, command in programs().items():
        path, text = page_of(name)
        whole = path.read_text()
        if "# OPTIONS" in text:
            codes = parts(whole).get("EXIT STATUS", "")
            found = {int(number) for line in tags(codes) for number in re.findall(r"\d+", line)}
        else:
            codes = re.search(r"Exit status:(.*?)\n\n", text, re.S)
            expect(codes, f"{path.name} has no exit codes of `{name}`")
            found = {int(number) for number in re.findall(r"(?:^|[,;])\s*(\d+)\s", codes.group(1))}
        expect_same(found, command.exit_codes(), f"{path.name}, exit codes of `{name}`")
        for example in command.examples():
            expect(example in plain(whole), f"{path.name} lacks the example `{example}`")


def check_sections_of_pages():
    for path in pages():
        section = path.name.split(".")[-2]
        expect(section in SECTIONS, f"{path.name} is of no section that pages are made for")
        text = path.read_text()
        expect(text.startswith(f"{name_of(path)}({section})\n"), f"{path.name} begins with another name")
        found = parts(text)
        for title in SECTIONS[section]:
            # A sentence at least.
            expect(len(found.get(title, "").split()) > 3, f"{path.name} has nothing below # {title}")
        expect(names_of(path)[0] == name_of(path), f"{path.name}: its NAME begins with another one")


def check_that_references_lead_to_pages():
    known = {f"{name}({path.name.split('.')[-2]})" for path in pages() for name in names_of(path)}
    for path in pages():
        for name, section in re.findall(r"\*([A-Za-z][\w-]*)\*\((\d)\)", path.read_text()):
            if name.lower().startswith(("cairn", "egl")):
                expect(f"{name}({section})" in known, f"{path.name} refers to {name}({section}), which is no page")
        for document in re.findall(r"\b(?:docs|examples)/[\w./-]+\.\w+", plain(path.read_text())):
            expect((ROOT / document).exists(), f"{path.name} refers to {document}, which is not there")


def check_environment():
    read = sources.read_variables()
    page = plain((PAGES / "cairn-environment.7.scd").read_text())
    told = set(re.findall(r"\*([A-Z_][A-Z0-9_]+)\*", page))
    expect_same(told, read, "cairn-environment(7) and what the code reads")
    ours = {name for name in read if name.startswith("CAIRN_")}
    expect_same(sources.doctors_variables(), ours, "what doctor knows and what the code reads")


def check_configuration():
    for page, keys in (("cairn-config", sources.configuration_keys()), ("cairn-remotes", sources.remotes_keys())):
        text = parts((PAGES / f"{page}.5.scd").read_text())["SETTINGS"]
        expect_same({re.match(r"\*(\w+)\*", line).group(1) for line in tags(text)}, keys, page)


def public_calls():
    """The functions of installed headers that C can call."""
    found = {}
    for header in sorted(HEADERS.glob("*.h")):
        text = re.sub(r"(?m)^#.*$", "", sources.without_comments(header.read_text()))
        calls = re.findall(r"\bCAIRN_API\s[^;(]*?\b(\w+)\(", text) + re.findall(r"\bEGLAPIENTRY (\w+)\(", text)
        found.update({name: header.name for name in calls})
    return found


def check_that_each_call_is_in_one_page():
    calls = public_calls()
    expect(len(calls) > 80, f"only {len(calls)} calls were found")
    told = {}
    for path in pages("3"):
        for name in names_of(path):
            expect(name not in told, f"{name} is in {path.name} and {told.get(name)}")
            told[name] = path.name
    expect_same(set(told) - {"cairn", "EGL_ANGLE_program_cache_control"}, calls, "names of pages of section 3")
    for path in pages("3"):
        lines = re.findall(r"^@(?:synopsis|describe) (\S+) (.*)$", path.read_text(), re.M)
        for kind in ("synopsis", "describe"):
            shown = [name for line in re.findall(rf"^@{kind} \S+ (.*)$", path.read_text(), re.M) for name in line.split()]
            for name in names_of(path):
                if calls.get(name, "").startswith("cairn"):
                    expect(name in shown, f"{path.name}: {name} is in no line @{kind}")
        for header, names in lines:
            for name in names.split():
                expect(calls.get(name, header) == header, f"{path.name}: {name} is not of {header}")


def make(folder, pages_folder=PAGES):
    scdoc = need("scdoc")
    return run([ROOT / "cmake/make-man-pages.sh", scdoc, pages_folder, ROOT / "include", "1.2.3", folder, "1", "3", "5", "7"],
               env={"SOURCE_DATE_EPOCH": "1700000000", "PATH": "/usr/bin:/bin"})


@functools.cache
def made():
    folder = WORK / "man"
    result = make(folder)
    expect(result.returncode == 0 and result.stderr == "", f"scdoc: {result.stderr}")
    return folder


def check_that_all_pages_can_be_made():
    folder = made()
    for path in pages():
        section = path.name.split(".")[-2]
        for name in names_of(path):
            page = folder / f"man{section}" / f"{name}.{section}"
            expect(page.exists(), f"there is no page {page.name}")
            expect("2023-11-14" in page.read_text() and "Cairn 1.2.3" in page.read_text(), f"{page.name}: date or version")
    again = WORK / "again"
    expect(make(again).returncode == 0, "making pages again")
    for path in folder.rglob("*.?"):
        expect(path.read_bytes() == (again / path.relative_to(folder)).read_bytes(), f"{path.name} is another one each time")


def check_that_a_wrong_page_ends_the_build():
    for text in ("@describe cairn.h cairn_no_such_call\n", "@describe no_such.h cairn_open\n", "@nothing\n", "*bold _and more_*\n"):
        folder = fresh_folder(WORK / "wrong")
        (folder / "wrong.3.scd").write_text(f"wrong(3)\n\n# NAME\n\nwrong - is wrong\n\n# SYNOPSIS\n\n{text}")
        for section in "157":
            (folder / f"right.{section}.scd").write_text(f"right({section})\n\n# NAME\n\nright - is right\n")
        result = make(WORK / "of_wrong", folder)
        expect(result.returncode != 0 and "wrong.3.scd" in result.stderr, f"made {text!r}: {result.stderr}")


def check_that_every_awk_makes_the_same():
    page = PAGES / "cairn_control_open.3.scd"
    tools = [tool for tool in (["mawk"], ["gawk"], ["original-awk"], ["busybox", "awk"])
             if run(["sh", "-c", f"command -v {tool[0]}"]).returncode == 0]
    answers = {" ".join(tool): run([*tool, "-v", f"headers={ROOT / 'include'}", "-f", ROOT / "cmake/expand-page.awk", page])
               for tool in tools}
    for tool, answer in answers.items():
        expect(answer.returncode == 0 and "cairn_control_apply" in answer.stdout, f"{tool}: {answer.stderr}")
    expect(len({answer.stdout for answer in answers.values()}) <= 1, f"they differ: {list(answers)}")


def check_that_man_and_mandoc_find_nothing():
    folder = made()
    tools = []
    if run(["sh", "-c", "command -v mandoc"]).returncode == 0:
        tools.append(["mandoc", "-T", "lint", "-W", "warning"])
    if run(["sh", "-c", "command -v groff"]).returncode == 0:
        tools.append(["groff", "-man", "-t", "-ww", "-Tutf8", "-z", "-K", "utf8"])
    if not tools:
        raise Skip("neither mandoc nor groff is installed")
    files = sorted(path for path in folder.rglob("*.?") if not path.is_symlink())
    for tool in tools:
        result = run([*tool, *files])
        # scdoc writes a paragraph before each list and each block.
        said = [line for line in (result.stdout + result.stderr).splitlines() if "skipping paragraph macro" not in line]
        expect(not said, "\n".join(said))


def check_that_every_page_can_be_read():
    """What stands in the sources stands in the pages: nothing is swallowed as markup."""
    need("mandoc")
    folder = made()
    for name, words in {
            "man1/cairn-run.1": ["--keep-sources", "-q, --quiet", "cairn run --json saved.json -- APP", "128 + n"],
            "man3/cairn_blob_size.3": ["size_t cairn_blob_size(const cairn_blob *blob);", "CAIRN_TOO_SMALL"],
            "man3/cairn_open.3": ["CAIRN_ERROR_NOT_FOUND", "const char *const *layers;", "*cache is NULL on any error"],
            "man7/cairn-environment.7": ["__EGL_VENDOR_LIBRARY_DIRS", "__GL_SHADER_DISK_CACHE", "CAIRN_DIR"]}.items():
        text = run(["mandoc", "-T", "utf8", "-O", "width=200", folder / name]).stdout
        text = re.sub(".\b", "", text)
        for word in words:
            expect(word in text, f"{name} does not show `{word}`")


run_checks({name: check for name, check in list(globals().items()) if name.startswith("check_")})

# SPDX-License-Identifier: MIT
"""What the programs of a build tree say of themselves: each command with its arguments and options.

There is one description of a command, its definition in apps/, and `--help` prints it. Completions are made from that,
and man pages are compared with it.
"""
import dataclasses
import os
import pathlib
import re
import subprocess

COLUMN = 30  # where explanations begin, see kHelpColumn in apps/cli/command_line.cc


@dataclasses.dataclass
class Option:
    names: list  # "-q", "--quiet"; of an argument, its name alone
    type: str  # "" of an option that takes no value
    about: str
    repeats: bool


@dataclasses.dataclass
class Command:
    name: str  # "cairn pack create"
    summary: str
    usage: str
    arguments: list
    options: list
    subcommands: dict  # name to summary
    footer: str
    runs_application: bool

    def exit_codes(self):
        """The numbers that the last part of the help gives exit codes by."""
        text = self.footer[self.footer.find("Exit codes:"):].split("\n\n")[0]
        return {int(number) for number in re.findall(r"(?<![\w.+-])\d+(?![\w.])", text)}

    def examples(self):
        """The command lines, without what is said of them."""
        lines = []
        for part in self.footer.split("\n\n"):
            if re.match(r"Examples?:\n", part):
                lines += [re.split(r"\s{3,}", line.strip())[0] for line in part.splitlines()[1:]
                          if re.match(r"  \S", line)]
        return lines


def rows(lines):
    """The pairs (left, right) of a list in a help text."""
    found = []
    for line, following in zip(lines, [*lines[1:], ""]):
        if line.startswith(" " * COLUMN):
            found[-1][1] = line.strip()
        elif following.startswith(" " * COLUMN):  # the left part reaches into the right column, and stands alone
            found.append([line.strip(), ""])
        else:
            found.append([line[:COLUMN].strip(), line[COLUMN:].strip()])
    return found


def option(left, right):
    left = re.sub(r"\s*Excludes:.*", "", left)
    left = re.sub(r"\s*REQUIRED", "", left)
    names, _, kind = left.partition(" ")
    repeats = kind.endswith("...")
    return Option(names.split(","), kind.removesuffix("...").strip(), right, repeats)


def parse(name, text):
    sections = {"": []}
    current = ""
    for line in text.split("\n"):
        if line in ("Positionals:", "Options:", "Subcommands:"):
            current = line[:-1]
            sections[current] = []
        elif current and not line:
            current = "footer" if current == "Subcommands" or "footer" in sections else "between"
            sections.setdefault(current, [])
        elif current == "between":
            current = "footer"
            sections.setdefault(current, []).append(line)
            continue
        if current == "footer" or (current and line.startswith("  ")) or not current:
            sections[current].append(line)
    head = [line for line in sections[""] if line]
    usage = next(line for line in head if line.startswith("Usage:")).removeprefix("Usage: ")
    return Command(
        name=name,
        summary=head[0],
        usage=usage,
        arguments=[option(*row) for row in rows(sections.get("Positionals", []))],
        options=[option(*row) for row in rows(sections.get("Options", []))],
        subcommands=dict(rows(sections.get("Subcommands", []))),
        footer="\n".join(sections.get("footer", [])).strip("\n"),
        runs_application="[--] APP" in usage)


class Missing(Exception):
    """A program of the build tree is not there, so that its commands cannot be described."""


def help_of(program, words):
    if not program.exists():
        raise Missing(f"{program} is not built")
    environment = {**os.environ, "LC_ALL": "C"}
    result = subprocess.run([program, *words, "--help"], capture_output=True, text=True, env=environment,
                            timeout=60, check=False)
    if result.returncode != 0:
        raise Missing(f"{program.name} {' '.join(words)} --help: {result.stderr.strip()}")
    return result.stdout


def program(build, name, words):
    """What describes the command `name words...`; cairn hands some over."""
    apps = pathlib.Path(build) / "apps"
    others = {"push": "agent/cairn-agent", "pull": "agent/cairn-agent", "remote": "agent/cairn-agent",
              "convert": "convert/cairn-convert", "dashboard": "dashboard/cairn-dashboard"}
    if name == "cairn":
        return apps / others.get(words[0] if words else "", "cli/cairn")
    return apps / {"cairnd": "broker/cairnd", "cairn-agent": "agent/cairn-agent"}[name]


def describe(build, name="cairn"):
    """All commands of a program by their full names, groups of commands among them."""
    found = {}

    def add(words):
        runs = program(build, name, words)
        # What describes one command only takes no name of it.
        own = [] if runs.name in ("cairn-convert", "cairn-dashboard") else words
        full = " ".join([name, *words])
        command = found[full] = parse(full, help_of(runs, own))
        for subcommand in command.subcommands:
            add([*words, subcommand])

    add([])
    return found

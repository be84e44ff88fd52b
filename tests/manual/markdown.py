# SPDX-License-Identifier: MIT
"""Links of pages of Markdown, and whether they lead somewhere."""
import os
import re

LINK = re.compile(r"\]\(([^()\s]+)\)")


def without_code(text):
    text = re.sub(r"(?m)^(```|~~~).*?^\1[^\n]*$", "", text, flags=re.S | re.M)
    text = re.sub(r"(?m)^(?: {4}|\t).*$", "", text)
    return re.sub(r"`[^`\n]*`", lambda match: "`" + re.sub(r"[][]", "", match.group(0)[1:-1]) + "`", text)


def anchors(path):
    """What a page's headings are called in links."""
    found = set()
    text = re.sub(r"(?m)^(```|~~~).*?^\1[^\n]*$", "", path.read_text(), flags=re.S | re.M)
    for heading in re.findall(r"(?m)^#{1,6} +(.*?) *#*$", text):
        name = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        name = re.sub(r"[^\w\- ]", "", name).replace(" ", "-")
        number = 0
        while (name if number == 0 else f"{name}-{number}") in found:
            number += 1
        found.add(name if number == 0 else f"{name}-{number}")
    return found


def links(path):
    return LINK.findall(without_code(path.read_text()))


def broken(root, page):
    """The relative links of a page below `root` that lead nowhere, or out of it."""
    found = []
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        there = page.parent / name if name else page
        if not there.exists():
            found.append(f"{page.relative_to(root)}: {target} is not there")
        elif os.path.relpath(there.resolve(), root.resolve()).startswith(".."):
            found.append(f"{page.relative_to(root)}: {target} leads out of the tree")
        elif anchor and there.suffix == ".md" and anchor not in anchors(there):
            found.append(f"{page.relative_to(root)}: there is no heading for {target}")
    return found

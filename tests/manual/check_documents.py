#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks the links of the documents here and as they are installed, and that all licences are passed on.

Usage: check_documents.py BUILD WORK [PREFIX]    with PREFIX also what is installed there
"""
import os
import pathlib
import re
import sys

from checks import ROOT, Skip, expect, expect_same, fresh_folder, need, run, run_checks
import markdown

BUILD = pathlib.Path(sys.argv[1]).resolve()
WORK = fresh_folder(sys.argv[2])
PREFIX = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
# Packages of which headers only declare what is in shared libraries, in the system, or is nobody's text.
DECLARATIONS = {
    "libbrotli-dev", "libc6-dev", "libcurl4-openssl-dev", "libegl-dev", "libexpat1-dev", "libgcc-dev", "libgl-dev",
    "libgles-dev", "libglvnd-core-dev", "libglx-dev", "libhiredis-dev", "libspirv-cross-c-shared-dev", "libssl-dev",
    "libstdc++-dev", "libvkd3d-dev", "libvkd3d-headers", "libx11-dev", "linux-libc-dev", "x11proto-dev", "zlib1g-dev"}


def repository_pages():
    listed = run(["git", "-C", ROOT, "ls-files", "*.md"])
    names = listed.stdout.split() if listed.returncode == 0 else \
        [str(path.relative_to(ROOT)) for path in ROOT.rglob("*.md") if BUILD not in path.parents]
    return [ROOT / name for name in names if (ROOT / name).exists()]


def pages_below(folder):
    return sorted(folder.rglob("*.md"))


def make(source, folder):
    result = run([ROOT / "cmake/make-documents.sh", source, folder])
    expect(result.returncode == 0 and result.stderr == "", f"make-documents.sh: {result.stderr}")
    return folder


def check_links_here():
    found = [text for page in repository_pages() for text in markdown.broken(ROOT, page)]
    expect(len(repository_pages()) > 20, "there are hardly any pages")
    expect(not found, "\n".join(found))


def check_links_of_the_copy():
    copy = make(ROOT, WORK / "copy")
    found = [text for page in pages_below(copy) for text in markdown.broken(copy, page)]
    expect(not found, "\n".join(found))
    # Links to what is there stay, and nothing else changes.
    count = 0
    for page in pages_below(copy):
        original = ROOT / page.relative_to(copy)
        kept = [target for target in markdown.links(original)
                if re.match(r"[a-z]+:|#", target) or (page.parent / target.partition("#")[0]).exists()]
        expect(markdown.links(page) == kept, f"{page}: other links than {kept}")
        count += len(kept)
        text = re.sub(r"\]\([^()\s]+\)", "", original.read_text())
        expect(re.sub(r"[][!]", "", re.sub(r"\]\([^()\s]+\)", "", page.read_text())) == re.sub(r"[][!]", "", text),
               f"{page}: other words")
    expect(count > 200, f"only {count} links")
    for name in ("docs/images/dashboard.png", "examples/program_cache.c", "CHANGELOG.md"):
        expect((copy / name).read_bytes() == (ROOT / name).read_bytes(), f"{name} is another one")


def check_what_becomes_of_links():
    source = fresh_folder(WORK / "source")
    (source / "docs/deep").mkdir(parents=True)
    (source / "examples").mkdir()
    (source / "src").mkdir()
    (source / "src/code.h").write_text("")
    (source / "examples/a.c").write_text("")
    (source / "docs/x.md").write_text("# X y\n")
    (source / "CHANGELOG.md").write_text("")
    (source / "README.md").write_text("no links, [x] and (y)\n")
    for before, after in {
            "[x](../x.md#x-y)": "[x](../x.md#x-y)",
            "[code](../../src/code.h)": "code",
            "[`a [b] c`](../../src/code.h) [x](../x.md)": "`a [b] c` [x](../x.md)",
            "[over a\nline](../../src/code.h#L3)": "over a\nline",
            "[all](../../examples/) [a](../../examples/a.c)": "[all](../../examples/) [a](../../examples/a.c)",
            "![picture](../../src/p.png) [web](https://example.org/x.md) [here](#y)":
                "picture [web](https://example.org/x.md) [here](#y)",
            "[out](../../../etc/passwd) [gone](gone.md)": "out gone",
            "a \\& b & c": "a \\& b & c"}.items():
        (source / "docs/deep/page.md").write_text(before + "\n")
        copy = make(source, WORK / "copy_of_source")
        found = (copy / "docs/deep/page.md").read_text()
        expect(found == after + "\n", f"{before!r} became {found!r}")


def check_that_broken_links_are_found():
    folder = fresh_folder(WORK / "broken")
    (folder / "other.md").write_text("# A heading: with `code`\n\n## Twice\n\n## Twice\n")
    for link, is_broken in {"other.md": 0, "other.md#a-heading-with-code": 0, "other.md#twice-1": 0, "other.md#none": 1,
                            "none.md": 1, "../": 1, "#here": 0, "#there": 1, "https://example.org/none": 0}.items():
        (folder / "page.md").write_text(f"# Here\n\n[link]({link})\n")
        expect(len(markdown.broken(folder, folder / "page.md")) == is_broken, f"`{link}`")


def packages_of(files):
    # Where /lib is a link, packages know one of the two names.
    owners = set()
    for line in run(["dpkg", "-S", *files]).stdout.splitlines():
        owners.update(name.strip().split(":")[0] for name in line.rsplit(": ", 1)[0].split(","))
    # The compiler's packages have its version in their names.
    return {re.sub(r"-\d+-dev$", "-dev", name) for name in owners}


def check_licences_of_what_is_linked_in():
    need("dpkg")
    need("ninja")
    if not (BUILD / "build.ninja").exists():
        raise Skip("not built by ninja")
    inputs = run(["ninja", "-C", BUILD, "-t", "inputs", "ship"]).stdout.split()
    objects = [name for name in inputs if name.endswith(".o")]
    headers = re.findall(r"/usr/include/\S+", run(["ninja", "-C", BUILD, "-t", "deps", *objects]).stdout)
    archives = [name for name in inputs if re.match(r"/usr/.*\.a$", name)]
    expect(len(headers) > 100 and archives, "what the programs are made of is not understood")
    used = packages_of({os.path.normpath(name) for name in headers + archives}) - DECLARATIONS
    told = set(re.findall(r"(?m)^  ([a-z0-9.+-]+): ", (ROOT / "COPYRIGHT").read_text()))
    expect(used <= told, f"COPYRIGHT does not name {sorted(used - told)}, of which there are parts in what is shipped")
    if all((BUILD / "apps" / name).exists() for name in ("convert/cairn-convert", "dashboard/cairn-dashboard",
                                                         "warm/cairn-warm", "agent/cairn-agent")):
        expect_same(told, used, "COPYRIGHT")


def check_that_the_licence_is_the_same_in_both_files():
    licence = (ROOT / "LICENSE").read_text().split("\n\n", 2)
    text = re.search(r"\nLicense: MIT\n( .*)", (ROOT / "COPYRIGHT").read_text(), re.S).group(1)
    expect(licence[2].split() == [word for word in text.split() if word != "."], "COPYRIGHT has another text than LICENSE")
    expect(licence[1].removeprefix("Copyright (c) ") in (ROOT / "COPYRIGHT").read_text(), "COPYRIGHT names others")


def check_what_is_installed():
    if not PREFIX:
        raise Skip("nothing was installed")
    documents = PREFIX / "share/doc/cairn"
    found = [text for page in pages_below(documents) for text in markdown.broken(documents, page)]
    expect(not found, "\n".join(found))
    copy = make(ROOT, WORK / "to_compare")
    for path in copy.rglob("*"):
        expect((documents / path.relative_to(copy)).exists(), f"{path.relative_to(copy)} is not installed")
    expect((documents / "copyright").read_bytes() == (ROOT / "COPYRIGHT").read_bytes(), "copyright")
    expect((documents / "copyright.libzstd-dev").stat().st_size > 1000, "copyright.libzstd-dev")
    for name in ("bash-completion/completions/cairn", "zsh/site-functions/_cairn", "fish/vendor_completions.d/cairn.fish"):
        expect((PREFIX / "share" / name).stat().st_size > 1000, name)


def check_that_installed_pages_are_found():
    if not PREFIX:
        raise Skip("nothing was installed")
    need("scdoc")
    for name in ("man1/cairn-run.1", "man3/cairn_blob_size.3", "man5/cairn-config.5", "man7/cairn-environment.7"):
        page = PREFIX / "share/man" / name
        expect(page.exists() and ".TH" in page.read_text(), f"{name} is not installed")
    for page in (PREFIX / "share/man").rglob("*.3"):
        expect(page.exists(), f"{page.name} is a link to nothing")


run_checks({name: check for name, check in list(globals().items()) if name.startswith("check_")})

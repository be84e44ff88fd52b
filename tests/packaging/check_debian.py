#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks what debian/ says against what it speaks of.

Usage: check_debian.py versions       the changelog, CMakeLists.txt and the names of packages agree
       check_debian.py needs          Build-Depends are what `make install` installs
       check_debian.py symbols        debian/*.symbols have the calls that the headers declare
       check_debian.py files TREE     each file of an installed tree is in one package, or in debian/not-installed; and
                                      each line of debian/*.install has files
       check_debian.py self-test      each kind of mistake is found
"""
import fnmatch
import pathlib
import re
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
# The triplet stands for any.
TRIPLET = "x86_64-linux-gnu"


def read(path):
    return pathlib.Path(path).read_text(encoding="utf-8")


def versions(top):
    """What disagrees about versions."""
    project = re.search(r"project\(cairn VERSION ([0-9.]+)", read(top / "CMakeLists.txt")).group(1)
    package = re.match(r"cairn \(([^)]+)\)", read(top / "debian/changelog")).group(1)
    if package.split("~")[0].split("+")[0] != project:
        yield f"debian/changelog: is at {package}, CMakeLists.txt at {project}"
    # Packages of libraries have their SOVERSION in their name.
    for package, listing, build in (
        ("libcairn1", "src/CMakeLists.txt", r"SOVERSION (\d+)"),
        ("libcairn-d3d12-1", "frontends/d3d12/CMakeLists.txt", r"SOVERSION (\d+)"),
        ("libegl-cairn0", "frontends/gl/CMakeLists.txt", r"SOVERSION (\d+)"),
        ("libglx-cairn0", "frontends/gl/CMakeLists.txt", r"SOVERSION (\d+)"),
    ):
        number = re.search(build, read(top / listing)).group(1)
        if not package.endswith(number):
            yield f"{package}: the library's SOVERSION is {number}"
        if f"Package: {package}\n" not in read(top / "debian/control"):
            yield f"{package}: debian/control does not have it"


def needs(top):
    """What disagrees between Build-Depends and the packages that `make install` installs."""
    listed, section = set(), "all"
    for line in read(top / "scripts/packages.txt").splitlines():
        if match := re.match(r"# \[(\w+)\]", line):
            section = match.group(1)
        elif line and not line.startswith("#") and section in ("all", "convert"):
            listed.add(line)
    field = re.search(r"^Build-Depends:\n((?: .*\n)+)", read(top / "debian/control"), re.MULTILINE).group(1)
    depends = set(re.findall(r"^ ([a-z0-9.+-]+)", field, re.MULTILINE))
    # What every package is built with is not named there; debhelper makes packages, and nothing else.
    for name in sorted((listed - {"build-essential"}) ^ (depends - {"debhelper-compat"})):
        yield f"{name}: is in only one of debian/control and scripts/packages.txt"


def declared(header):
    text = re.sub(r"/\*.*?\*/", "", read(header), flags=re.DOTALL)
    return re.findall(r"^CAIRN_API\b[^;(]*?\b(\w+)\(", text, flags=re.MULTILINE)


def symbols_in(path):
    """The symbols of each library, without those that stand for versions."""
    found, library = {}, None
    for line in read(path).splitlines():
        if match := re.match(r"(\S+\.so\.\d+) ", line):
            library = match.group(1)
            found[library] = set()
        elif match := re.match(r" (\w+)@(\w+) ", line):
            if match.group(1) != match.group(2):
                found[library].add(match.group(1))
    return found


def symbols(top):
    """What disagrees between debian/*.symbols and the headers."""
    calls = {call for header in (top / "include/cairn").glob("cairn*.h") for call in declared(header)}
    expected = {
        "libcairn_d3d12.so.1": {call for call in calls if call.startswith("cairn_d3d12_")},
        "libcairn_vkd3d.so.1": {call for call in calls if call.startswith("cairn_vkd3d_")},
    }
    expected["libcairn.so.1"] = calls - set().union(*expected.values())
    found = {}
    for path in (top / "debian").glob("*.symbols"):
        found.update(symbols_in(path))
    for library in sorted(expected.keys() | found.keys()):
        for name in sorted(expected.get(library, set()) - found.get(library, set())):
            yield f"{library}: {name} is declared and in no debian/*.symbols"
        for name in sorted(found.get(library, set()) - expected.get(library, set())):
            yield f"{library}: {name} is in debian/*.symbols and not declared"


def patterns(path):
    lines = (line.split("#")[0].strip() for line in read(path).splitlines())
    return [line for line in lines if line]


def covers(pattern, name):
    """As dh_install understands it: a pattern without its last folders stands for all that is below."""
    parts, wanted = name.split("/"), pattern.strip("/").split("/")
    return len(parts) >= len(wanted) and all(map(fnmatch.fnmatchcase, parts, wanted))


def names_in(tree):
    """The files of an installed tree, with the names that they have in a package."""
    libraries = next(pathlib.Path(tree).rglob("pkgconfig")).parent
    for path in sorted(pathlib.Path(tree).rglob("*")):
        if path.is_dir() and not path.is_symlink():
            continue
        inside = libraries in path.parents and "systemd" not in path.parts
        name = path.relative_to(libraries if inside else tree)
        name = str(name).replace("zsh/site-functions", "zsh/vendor-completions")  # as debian/rules says
        yield f"usr/lib/{TRIPLET}/{name}" if inside else f"usr/{name}"


def files(top, names):
    """Files that are in no package or in two, and lines without a file."""
    lines = [(path.name, pattern) for path in (top / "debian").glob("*.install") for pattern in patterns(path)]
    left_out = [("not-installed", pattern) for pattern in patterns(top / "debian/not-installed")]
    used = set()
    for name in names:
        left = [line for line in left_out if covers(line[1], name)]
        taken = [line for line in lines if covers(line[1], name)]
        used.update(taken)
        owners = {owner for owner, _ in taken}
        if not taken and not left:
            yield f"{name}: is in no package, add it to debian/*.install"
        elif len(owners) > 1:
            yield f"{name}: is in more than one package, {', '.join(sorted(owners))}"
    for owner, pattern in lines:
        if (owner, pattern) not in used:
            yield f"debian/{owner}: {pattern} has no file"


def self_test():
    """Changes a copy of debian/ in each way that must be found."""
    names = ["usr/bin/cairn", f"usr/lib/{TRIPLET}/libcairn.so.1", "usr/include/cairn/cairn.h"]
    problems = []

    def expect(what, found, word):
        if not any(word in problem for problem in found):
            problems.append(f"not found: {what}")

    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        for name in ["debian", "scripts", "src", "frontends/d3d12", "frontends/gl", "include/cairn"]:
            (top / name).mkdir(parents=True)
        for name in ["CMakeLists.txt", "src/CMakeLists.txt", "frontends/d3d12/CMakeLists.txt", "frontends/gl/CMakeLists.txt",
                     "debian/control", "debian/changelog", "scripts/packages.txt", "debian/libcairn1.symbols", "debian/libcairn-d3d12-1.symbols",
                     *[f"include/cairn/{header.name}" for header in (TOP / "include/cairn").glob("*.h")]]:
            (top / name).write_text(read(TOP / name), encoding="utf-8")

        (top / "debian/a.install").write_text("usr/bin\n# not this\nusr/lib/*/libcairn.so.*\n")
        (top / "debian/b.install").write_text("usr/include/cairn/cairn.h\nusr/share/gone\n")
        (top / "debian/not-installed").write_text("usr/share/doc/LICENSE*\n")
        expect("a line without a file", files(top, names), "usr/share/gone has no file")
        expect("a file in no package", files(top, [*names, "usr/sbin/new"]), "usr/sbin/new: is in no package")
        (top / "debian/b.install").write_text("usr/include/cairn/cairn.h\nusr/bin/cairn\n")
        expect("a file in two packages", files(top, names), "in more than one package")
        (top / "debian/b.install").write_text("usr/include/cairn/cairn.h\n")
        problems += files(top, [*names, "usr/share/doc/LICENSE.x"])

        header = top / "include/cairn/cairn.h"
        header.write_text(read(header) + "\nCAIRN_API int cairn_new(void);\n")
        expect("a call without a symbol", symbols(top), "cairn_new is declared")
        listing = top / "debian/libcairn1.symbols"
        listing.write_text(read(listing) + " cairn_gone@CAIRN_1 0.1\n")
        expect("a symbol without a call", symbols(top), "cairn_gone is in")

        problems += needs(top)
        packages = top / "scripts/packages.txt"
        packages.write_text(read(packages).replace("libseccomp-dev\n", ""))
        expect("a package that make install lacks", needs(top), "libseccomp-dev: is in only one")

        changelog = top / "debian/changelog"
        changelog.write_text("cairn (99.1) unstable; urgency=low\n")
        expect("another version", versions(top), "is at 99.1")
        control = top / "debian/control"
        control.write_text(read(control).replace("Package: libcairn1\n", "Package: libcairn2\n"))
        expect("another name", versions(top), "debian/control does not have it")
    return problems


def main():
    what = sys.argv[1] if len(sys.argv) > 1 else ""
    if what == "files" and len(sys.argv) == 3:
        problems = list(files(TOP, list(names_in(sys.argv[2]))))
    elif what in ("needs", "versions", "symbols") and len(sys.argv) == 2:
        problems = list({"needs": needs, "versions": versions, "symbols": symbols}[what](TOP))
    elif what == "self-test":
        problems = self_test()
    else:
        print(__doc__, file=sys.stderr)
        return 2
    print("\n".join([*problems, f"{what}: {len(problems)} problems"]))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

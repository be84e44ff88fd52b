#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the conformance program on Mesa behind the front end, and on ANGLE by itself.

Usage: run.py rows PROGRAM MANIFEST
       run.py angle PROGRAM MANIFEST FETCH_ANGLE
       run.py differential PROGRAM MANIFEST FETCH_ANGLE
       run.py behind PROGRAM MANIFEST FETCH_ANGLE VENDOR      ANGLE behind the front end

Exit code 77: skipped, because ANGLE cannot be had.
"""
import os
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = 77
# Sequences that are compared; odd ones have links. CAIRN_SEEDS="FIRST COUNT" plays others.
SEEDS = (1, 40)
STEPS = 120
OURS = ("CAIRN_", "MESA_", "__EGL_", "EGL_", "LIBGL_", "VK_", "LD_LIBRARY_PATH", "XDG_CACHE_HOME")


def environment(**more):
    plain = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    return plain | more


def cairn(manifest, work):
    """The environment in which the system's libEGL has the front end behind it."""
    return environment(
        __EGL_VENDOR_LIBRARY_FILENAMES=manifest,
        CAIRN_DIR=f"{work}/cache",
        MESA_SHADER_CACHE_DIR=f"{work}/mesa",
        LIBGL_ALWAYS_SOFTWARE="1",
    )


def fetch_angle(script):
    """ANGLE's folder, or None with the reason said."""
    result = subprocess.run([script], stdout=subprocess.PIPE, text=True, check=False)
    if result.returncode != 0:
        print("skipped: ANGLE cannot be had (see above); everything else of the suite was run without it")
        return None
    return pathlib.Path(result.stdout.strip())


def angle(folder, plain=None):
    """ANGLE's environment; with `plain`, what it adds to that."""
    return (environment() if plain is None else plain) | dict(
        LD_LIBRARY_PATH=str(folder),
        VK_ICD_FILENAMES=str(folder / "vk_swiftshader_icd.json"),
        VK_DRIVER_FILES=str(folder / "vk_swiftshader_icd.json"),
    )


def rows(program, manifest, work):
    return subprocess.run([program, "cairn", "libEGL.so.1"], env=cairn(manifest, work), check=False).returncode


def rows_on_angle(program, fetch):
    folder = fetch_angle(fetch)
    if folder is None:
        return SKIPPED
    return subprocess.run([program, "angle", folder / "libEGL.so"], env=angle(folder), check=False).returncode


def rows_behind(program, manifest, fetch, vendor, work):
    folder = fetch_angle(fetch)
    if folder is None:
        return SKIPPED
    vendor_manifest = pathlib.Path(work) / "angle.json"
    vendor_manifest.write_text(
        '{ "file_format_version" : "1.0.0", "ICD" : { "library_path" : "%s" } }\n' % vendor, encoding="utf-8"
    )
    variables = cairn(manifest, work) | angle(folder, {})
    variables |= {"CAIRN_EGL_VENDORS": str(vendor_manifest), "EGL_TEST_ANGLE": str(folder / "libEGL.so")}
    return subprocess.run([program, "cairn", "libEGL.so.1"], env=variables, check=False).returncode


def play(program, seed, subject, library, variables):
    command = [program, "--sequence", str(seed), str(STEPS), subject, str(library)]
    result = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=False)
    return result.stdout.splitlines() + [f"exit code {result.returncode}"]


def first_difference(ours, reference):
    for step, (one, other) in enumerate(zip(ours, reference)):
        if one != other:
            before = ours[step - 1] if step else "the start"
            return f"step {step}, after: {before}\n  Cairn: {one}\n  ANGLE: {other}"
    return None if len(ours) == len(reference) else "one sequence is longer than the other"


def differential(program, manifest, fetch, work):
    folder = fetch_angle(fetch)
    if folder is None:
        return SKIPPED
    first, count = map(int, os.environ.get("CAIRN_SEEDS", "%d %d" % SEEDS).split())
    wrong = 0
    steps = 0
    for seed in range(first, first + count):
        ours = play(program, seed, "cairn", "libEGL.so.1", cairn(manifest, f"{work}/{seed}"))
        reference = play(program, seed, "angle", folder / "libEGL.so", angle(folder))
        difference = first_difference(ours, reference)
        steps += len(ours)
        if difference or len(ours) <= STEPS or ours[-1] != "exit code 0":
            wrong += 1
            print(f"seed {seed}: {difference or 'the sequence broke off: ' + ours[-1]}")
    print(f"row {'WRONG' if wrong else 'right':9} egl differential: seeds {first} to {first + count - 1}, {steps} steps")
    print(f"rows egl differential: {count - wrong} right, 0 decided departures, 0 absent, {wrong} wrong")
    return 1 if wrong else 0


def main():
    mode, program, manifest, *rest = sys.argv[1:]
    # Kept for this run only; the programs put their caches there.
    with tempfile.TemporaryDirectory(prefix="cairn-conformance-") as work:
        if mode == "rows":
            return rows(program, manifest, work)
        if mode == "angle":
            return rows_on_angle(program, rest[0])
        if mode == "behind":
            return rows_behind(program, manifest, rest[0], rest[1], work)
        return differential(program, manifest, rest[0], work)


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts Debian's Chromium on a local WebGL page three times: without Cairn, with an empty cache, with the cache so filled. The
page must come out the same, and the last time its programs must have come from the cache.

Usage: run_chromium.py CAIRN
Exits with 77, which ctest shows as skipped, when Debian's package `chromium` is not installed.
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile

PAGE = pathlib.Path(__file__).resolve().with_name("chromium_page.html")
PROGRAMS = 6  # of the page
BY_CHANCE = 2  # that Chromium may draw itself with at one start and not at another
OPTIONS = [
    "--headless=new", "--no-sandbox", "--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist",
    # Else its GPU process, where root starts it, gives up capabilities, and may no longer count in what root shares.
    "--disable-gpu-sandbox",
    # Every start compiles: what Chromium itself keeps is not asked.
    "--disable-gpu-shader-disk-cache",
    # Nobody is called.
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-breakpad",
    "--host-resolver-rules=MAP * ~NOTFOUND",
]
TIMEOUT_S = 90


class Failure(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failure(what)


def environment(folder):
    """One in which nothing of an earlier start is found."""
    names = {"HOME": "home", "XDG_RUNTIME_DIR": "runtime", "MESA_SHADER_CACHE_DIR": "mesa", "TMPDIR": "tmp"}
    for name in names.values():
        os.makedirs(folder / name, mode=0o700)
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("CAIRN_", "MESA_", "__EGL_", "EGL_", "DISPLAY", "WAYLAND_", "XDG_"))}
    return kept | {name: str(folder / value) for name, value in names.items()} | {
        "LIBGL_ALWAYS_SOFTWARE": "1", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}


def run(command, variables):
    """What it wrote; its processes have ended then."""
    with subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        try:
            out, err = (text.decode(errors="replace") for text in process.communicate(timeout=TIMEOUT_S))
        except subprocess.TimeoutExpired as late:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise Failure(f"no end after {TIMEOUT_S} s: {' '.join(command)}") from late
    check(process.returncode == 0, f"exit code {process.returncode}:\n{err}")
    return out, err


def start(chromium, folder, before=()):
    """The result that the page wrote into itself."""
    folder.mkdir()
    out, err = run([*before, chromium, *OPTIONS, f"--user-data-dir={folder}/profile", "--dump-dom", PAGE.as_uri()],
                   environment(folder))
    result = re.search(r'<pre id="result">(.*?)</pre>', out, re.DOTALL)
    check(result is not None, f"the page has no result:\n{out}\n{err}")
    return result.group(1)


def start_cached(chromium, folder, cairn, root):
    """The same under Cairn, with the report."""
    report = folder.with_suffix(".json")
    result = start(chromium, folder, [cairn, "run", "--dir", root, "--json", str(report), "--"])
    told = json.loads(report.read_text())
    check(told["problem"] is None, told["problem"])
    return result, told["report"]


def entries(cairn, root):
    told = json.loads(run([cairn, "stats", "--json", "--dir", root], dict(os.environ))[0])
    return sum(cache["entries"] for cache in told["caches"])


def examine(chromium, cairn, folder):
    root = str(folder / "cache")
    plain = start(chromium, folder / "plain")
    check(plain.count("pixel ") == PROGRAMS and "error 0" in plain and "SwiftShader" not in plain,
          f"no WebGL on the system's EGL without Cairn:\n{plain}")
    cold_result, cold = start_cached(chromium, folder / "cold", cairn, root)
    stored = entries(cairn, root)
    warm_result, warm = start_cached(chromium, folder / "warm", cairn, root)
    print(f"{plain}\nfirst start: {cold['link_calls']} links, {cold['hits']} from the cache, {stored} entries stored; "
          f"second: {warm['link_calls']} links, {warm['hits']} from the cache, {warm['driver_links']} by the driver")
    check(cold_result == plain, f"another result with an empty cache:\n{cold_result}")
    check(warm_result == plain, f"another result from the cache:\n{warm_result}")
    check(cold["driver_links"] >= PROGRAMS and stored >= PROGRAMS, "the first start stored nothing")
    check(warm["hits"] >= PROGRAMS, "the second start did not hit")
    check(warm["driver_links"] <= BY_CHANCE, "the second start linked programs again")
    check(warm["rejected"] == 0, "the driver refused binaries")


def main():
    cairn = sys.argv[1]
    chromium = shutil.which("chromium")
    if chromium is None:
        print("skipped: Chromium is not installed (Debian package chromium)")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        try:
            examine(chromium, cairn, pathlib.Path(folder))
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

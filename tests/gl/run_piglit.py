#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs piglit's programs about shaders, programs and program binaries three times: without Cairn, with an empty cache, with
the cache so filled. The results must be the same, and the last time programs must have come from the cache.

Usage: run_piglit.py MANIFEST [PATTERN...]     patterns replace the list below
Exits with 77, which ctest shows as skipped, when Debian's package `piglit` is not installed.
"""
import concurrent.futures
import fcntl
import glob
import os
import re
import struct
import subprocess
import sys
import tempfile

FOLDERS = glob.glob("/usr/lib/*/piglit/bin")
PATTERNS = [
    "arb_get_program_binary-*",
    "khr_parallel_shader_compile-*",
    "arb_separate_shader_object-*",
    "arb_program_interface_query-*",
    "arb_compute_shader-api_errors",
    "arb_shader_objects-*",
    "arb_uniform_buffer_object-[gulr]*",
    "ext_transform_feedback-api-errors",
    "ext_transform_feedback-get-buffer-state",
    "gl-2.0-*",
    "gles-es3-transform-feedback-uniform-buffer-object",
    "glsl-binduniform*",
    "glsl-getactive*",
    "glsl-getattriblocation",
    "glsl-link-*",
    "glsl-reload-source",
    "glsl-unused-varying",
    "attribute0",
    "createteximage",
    "detach*",
    "getactiveattrib*",
    "shader-source-*",
]
# Programs that test several things, one for each of these arguments.
ARGUMENTS = {
    "arb_get_program_binary-overrun": [["shader"], ["program"]],
    "arb_get_program_binary-api-errors": [[]],
    "ext_transform_feedback-api-errors": [["link_current_active"], ["link_current_paused"],
                                          ["link_other_active"], ["link_other_paused"],
                                          ["useprogstage_noactive"], ["not_enough_varyings"]],
}
# Not about the front end: they take long, or ask for a window.
LEFT_OUT = re.compile(r"mix-and-match|400-combinations|rendezvous_by_location$|ProgramUniform-coverage|dlist")
# The order of the numbers in RunReport.
FIELDS = ["layout", "processes", "contexts", "compile_calls", "compile_ns", "link_calls", "link_ns", "driver_compiles",
          "driver_links", "hits", "misses", "rejected"]


class Report:
    """Counters in memory, as `cairn run` makes them for its children."""

    def __init__(self):
        self.fd = os.memfd_create("piglit-report", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.write(self.fd, struct.pack("<64Q", 1, *[0] * 63))
        fcntl.fcntl(self.fd, 1033, 7)  # F_ADD_SEALS: no sealing, shrinking, growing

    def path(self):
        return f"/proc/{os.getpid()}/fd/{self.fd}"

    def read(self):
        return dict(zip(FIELDS, struct.unpack("<64Q", os.pread(self.fd, 512, 0))))


def programs(patterns):
    found = []
    for pattern in patterns:
        for path in sorted(glob.glob(f"{FOLDERS[0]}/{pattern}")):
            if not LEFT_OUT.search(path):
                found += [[path, *more] for more in ARGUMENTS.get(os.path.basename(path), [[]])]
    return found


def play(command, environment, folder):
    """What piglit says of one program, and how that ended."""
    with tempfile.TemporaryDirectory(dir=folder) as mesa:
        try:
            run = subprocess.run(command + ["-auto", "-fbo"], env=environment | {"MESA_SHADER_CACHE_DIR": mesa},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=120)
        except subprocess.TimeoutExpired:
            return "timeout"
    results = re.findall(r'PIGLIT: (\{.*?\})', run.stdout.decode(errors="replace"))
    return f"{run.returncode} {sorted(results)}"


def main():
    manifest, patterns = sys.argv[1], sys.argv[2:] or PATTERNS
    if not FOLDERS:
        print("skipped: piglit is not installed (Debian package piglit)")
        return 77
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith(("CAIRN_", "MESA_", "__EGL_", "EGL_", "DISPLAY"))}
    plain |= {"PIGLIT_PLATFORM": "surfaceless_egl", "LIBGL_ALWAYS_SOFTWARE": "1", "PIGLIT_NO_WINDOW": "1"}
    commands = programs(patterns)
    reports = {"cold": Report(), "warm": Report()}
    results = {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for how in ["plain", "cold", "warm"]:
            environment = dict(plain)
            if how != "plain":
                environment |= {"__EGL_VENDOR_LIBRARY_FILENAMES": manifest, "CAIRN_DIR": f"{folder}/cache",
                                "CAIRN_REPORT": reports[how].path()}
            results[how] = list(pool.map(lambda command: play(command, environment, folder), commands))
    differences = 0
    for command, plain_result, cold, warm in zip(commands, results["plain"], results["cold"], results["warm"]):
        if not plain_result == cold == warm:
            differences += 1
            print(f"{' '.join(command)}:\n  plain {plain_result}\n  cold  {cold}\n  warm  {warm}")
    passed = sum('"pass"' in result for result in results["plain"])
    warm = reports["warm"].read()
    print(f"{len(commands)} programs, {passed} pass without Cairn, {differences} differ under it; "
          f"warm: {warm['hits']} of {warm['link_calls']} links from the cache, {warm['rejected']} refused")
    return 0 if differences == 0 and passed > 0 and warm["hits"] > 0 and warm["rejected"] == 0 else 1


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs piglit's programs about shaders, programs and program binaries three times: without Cairn, with an empty cache, with
the cache so filled. The results must be the same, and the last time programs must have come from the cache.

Usage: run_piglit.py egl MANIFEST [PATTERN...]     without windows; patterns replace the list below
       run_piglit.py glx FOLDER [PATTERN...]       on an X server of its own; FOLDER has libGLX_cairn.so.0
Exits with 77, which ctest shows as skipped, when Debian's package `piglit` is not installed, or for GLX `xvfb`.
"""
import concurrent.futures
import contextlib
import fcntl
import glob
import os
import re
import shutil
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
# Contexts, connections and threads of GLX, with what they share.
GLX_PATTERNS = [
    "arb_fragment_program-*",
    "arb_vertex_program-*",
    "glx-*",
]
# Programs that test several things, one for each of these arguments.
ARGUMENTS = {
    "arb_get_program_binary-overrun": [["shader"], ["program"]],
    "arb_get_program_binary-api-errors": [[]],
    "ext_transform_feedback-api-errors": [["link_current_active"], ["link_current_paused"],
                                          ["link_other_active"], ["link_other_paused"],
                                          ["useprogstage_noactive"], ["not_enough_varyings"]],
}
# Not about the front end: they take long, measure time, ask for a window, or end in one way or another.
LEFT_OUT = re.compile(r"glx-oml-sync-control-timing|glx-make-current-multi-process|mix-and-match|400-combinations|rendezvous_by_location$|ProgramUniform-coverage|dlist")
# The order of the numbers in RunReport.
FIELDS = ["layout", "processes", "contexts", "compile_calls", "compile_ns", "link_calls", "link_ns", "driver_compiles",
          "driver_links", "hits", "misses", "rejected"]


class Report:
    """Counters in memory, as `cairn run` makes them for its children."""

    def __init__(self):
        self.fd = os.memfd_create("piglit-report", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.write(self.fd, struct.pack("<96Q", 2, *[0] * 95))
        fcntl.fcntl(self.fd, 1033, 7)  # F_ADD_SEALS: no sealing, shrinking, growing

    def path(self):
        return f"/proc/{os.getpid()}/fd/{self.fd}"

    def read(self):
        return dict(zip(FIELDS, struct.unpack("<96Q", os.pread(self.fd, 768, 0))))


def programs(patterns):
    found = []
    for pattern in patterns:
        for path in sorted(glob.glob(f"{FOLDERS[0]}/{pattern}")):
            if not LEFT_OUT.search(path):
                found += [[path, *more] for more in ARGUMENTS.get(os.path.basename(path), [[]])]
    return found


def part(patterns, first):
    """Every third program from that one on; all where CAIRN_TEST_LONG is set."""
    found = programs(patterns)
    return found if "CAIRN_TEST_LONG" in os.environ else found[first::3]


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


def compare(commands, plain, under_cairn):
    """Runs these programs with the environment `plain`, and with what puts Cairn in front of the driver."""
    reports = {"cold": Report(), "warm": Report()}
    results = {}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for how in ["plain", "cold", "warm"]:
            environment = plain | {"XDG_CONFIG_HOME": folder}
            if how != "plain":
                environment |= under_cairn | {"CAIRN_DIR": f"{folder}/cache", "CAIRN_REPORT": reports[how].path()}
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


@contextlib.contextmanager
def x_server():
    """The display of an X server that ends with the block."""
    reading, writing = os.pipe()
    server = subprocess.Popen(["Xvfb", "-displayfd", str(writing), "-screen", "0", "640x480x24", "-nolisten", "tcp",
                               "-noreset"], pass_fds=[writing], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              env=os.environ | {"LIBGL_ALWAYS_SOFTWARE": "1"})
    try:
        os.close(writing)
        with os.fdopen(reading) as number:
            yield ":" + number.readline().strip()
    finally:
        server.terminate()
        server.wait()


def main():
    window_system, front_end, *patterns = sys.argv[1:]
    if not FOLDERS:
        print("skipped: piglit is not installed (Debian package piglit)")
        return 77
    plain = {name: value for name, value in os.environ.items()
             if not name.startswith(("CAIRN_", "MESA_", "__EGL_", "EGL_", "__GLX_", "DISPLAY", "LD_LIBRARY_PATH"))}
    plain |= {"LIBGL_ALWAYS_SOFTWARE": "1", "PIGLIT_NO_WINDOW": "1"}
    if window_system == "egl":
        plain["PIGLIT_PLATFORM"] = "surfaceless_egl"
        return compare(programs(patterns) if patterns else part(PATTERNS, 0), plain, {"__EGL_VENDOR_LIBRARY_FILENAMES": front_end})
    if shutil.which("Xvfb") is None:
        print("skipped: there is no X server (Debian package xvfb)")
        return 77
    with x_server() as display:
        plain |= {"PIGLIT_PLATFORM": "glx", "DISPLAY": display}
        return compare(programs(patterns) if patterns else part(PATTERNS, 1) + programs(GLX_PATTERNS), plain,
                       {"__GLX_VENDOR_LIBRARY_NAME": "cairn", "LD_LIBRARY_PATH": front_end})


if __name__ == "__main__":
    sys.exit(main())

# SPDX-License-Identifier: MIT
"""Starts X applications and ends them with all that they left, for scripts/compatibility and bench/start_bench."""
import ctypes
import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

# A program that has not ended by then, after it was asked to, is killed.
END_S = 5


class Processes:
    """Starts processes, each in a group of its own, and ends these groups and what left them."""

    def __init__(self):
        # What a program leaves behind becomes our child, so that it can be ended too.
        PR_SET_CHILD_SUBREAPER = 36
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        self.servers = []

    def server(self, command, environment, log, **options):
        with open(log, "wb") as stderr:
            process = subprocess.Popen(command, env=environment, stderr=stderr, start_new_session=True, **options)
        self.servers.append(process)
        return process

    def end(self, process):
        """Ends the process and its group; returns its exit code, or None where it had to be ended."""
        code = process.poll()
        for number in (signal.SIGTERM, signal.SIGKILL):
            self._signal(process.pid, number)
            try:
                process.wait(END_S)
            except subprocess.TimeoutExpired:
                continue
            break
        self._signal(process.pid, signal.SIGKILL)
        self._end_strays()
        return code

    @staticmethod
    def _signal(group, number):
        try:
            os.killpg(group, number)
        except ProcessLookupError:
            pass

    def _strays(self):
        mine = {server.pid for server in self.servers}
        children = pathlib.Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
        return [int(child) for child in children if int(child) not in mine]

    def _end_strays(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            end = time.monotonic() + END_S
            for child in self._strays():
                os.kill(child, number)
            while self._strays() and time.monotonic() < end:
                for child in self._strays():
                    os.waitpid(child, os.WNOHANG)
                time.sleep(0.05)

    def end_servers(self):
        for process in reversed(self.servers):
            self._signal(process.pid, signal.SIGTERM)
            process.wait()
        self.servers = []


def start_x_server(processes, log):
    """The name, as in DISPLAY, of an X server of our own. LookupError: there is none, and why."""
    if not shutil.which("Xvfb"):
        raise LookupError("Xvfb is not installed")
    command = ["Xvfb", "-displayfd", "1", "-screen", "0", "800x600x24", "-nolisten", "tcp"]
    server = processes.server(command, base_environment(), log, stdout=subprocess.PIPE)
    number = server.stdout.readline().decode().strip()
    if not number:
        raise LookupError("Xvfb does not start")
    return f":{number}"


def wait_until(condition, limit_s):
    end = time.monotonic() + limit_s
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)
    return condition()


def base_environment():
    """The environment without what belongs to a session, to Cairn or to drivers."""
    left_out = re.compile(r"CAIRN_|MESA_|__EGL_|__GLX_|XDG_|DISPLAY$|WAYLAND_|DBUS_|XAUTHORITY|LD_LIBRARY_PATH")
    return {name: value for name, value in os.environ.items() if not left_out.match(name)}

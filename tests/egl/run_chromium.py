#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Starts Debian's Chromium as people start it, on a WebGL page, without Cairn, with an empty cache and with the cache so
filled. The page must come out the same, and the last time hardly a link may reach the driver.

Usage: run_chromium.py WAY CAIRN CAIRND
Each WAY is a test of its own:
  unsandboxed   without Chromium's sandboxes, as root has to start it; the profile is Chromium's own
  sandboxed     with its sandboxes, as another user where root runs this; its own profile, then a temporary one
  window        the same in a window, with Chromium's own cache of programs and without
  gpu_sandbox   with a driver that lets the GPU process close its sandbox, too: uncached without a broker, cached with one,
                first in a session that `cairn enable` has set up
  private       an incognito window under `cairn run`, which keeps its programs, and under `cairn run --private`, which
                keeps, changes and finds nothing

Exits with 77, which ctest shows as skipped, where this machine lacks what the way needs.
"""
import http.server
import json
import os
import pathlib
import pwd
import queue
import shutil
import signal
import subprocess
import sys
import tempfile
import threading

PAGE = pathlib.Path(__file__).resolve().with_name("chromium_page.html")
PROGRAMS = 30  # of the page
ALLOWED_PERCENT = 5  # of all links: what Chromium draws itself with differs from start to start
OPTIONS = [
    # A machine without a GPU: the system's EGL, although its driver is a software one.
    "--use-gl=angle", "--use-angle=gl-egl", "--ignore-gpu-blocklist",
    # Nobody is called, and nothing is asked.
    "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-breakpad", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
    # Says which processes have closed their sandboxes.
    "--enable-logging=stderr", "--vmodule=sandbox_linux=1",
]
# Every start compiles: what Chromium itself keeps is not asked.
NO_OWN_CACHE = "--disable-gpu-shader-disk-cache"
# No thread runs in the GPU process when it is about to close its sandbox, which it does not do beside threads: llvmpipe
# draws on the caller's, and Mesa's own cache has no place for files.
NO_DRIVER_THREADS = {"LP_NUM_THREADS": "0", "MESA_SHADER_CACHE_DIR": "/dev/null/none"}
TIMEOUT_S = 90


class Failure(Exception):
    pass


class Skip(Exception):
    pass


def check(condition, what):
    if not condition:
        raise Failure(what)


def closed_sandbox(kind, log):
    return f"Activated seccomp-bpf sandbox for process type: {kind}" in log


class Site:
    """Serves the page, and takes what it found."""

    def __init__(self):
        self.results = results = queue.Queue()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                page = PAGE.read_bytes() if self.path == "/" else b""
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def do_POST(self):
                text = self.rfile.read(int(self.headers["Content-Length"])).decode()
                self.send_response(204)
                self.end_headers()
                results.put(text)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_address[1]}/"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


class Person:
    """A user with a home of their own, who starts programs."""

    def __init__(self, folder, user=None):
        self.folder = folder
        self.user = {} if user is None else {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
        folder.mkdir()
        self.variables = {name: value for name, value in os.environ.items()
                          if not name.startswith(("CAIRN_", "MESA_", "__EGL_", "EGL_", "DISPLAY", "WAYLAND_", "XDG_"))}
        self.variables |= {"LIBGL_ALWAYS_SOFTWARE": "1", "DBUS_SESSION_BUS_ADDRESS": "disabled:"}
        places = {"HOME": "home", "XDG_RUNTIME_DIR": "runtime", "TMPDIR": "tmp"}
        for name, value in places.items():
            (folder / value).mkdir(mode=0o700)
            self.variables[name] = str(folder / value)
        if user is not None:
            for path in (folder, *folder.iterdir()):
                os.chown(path, user.pw_uid, user.pw_gid)

    def start(self, command, variables, **streams):
        return subprocess.Popen(command, env=self.variables | variables, start_new_session=True, cwd=self.folder,
                                stdin=subprocess.DEVNULL, **self.user, **streams)

    def output_of(self, command):
        with self.start(command, {}, stdout=subprocess.PIPE) as process:
            text = process.stdout.read().decode()
            check(process.wait() == 0, f"failed: {' '.join(command)}")
            return text

    def can(self, command):
        try:
            with self.start(command, {}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                return process.wait() == 0
        except OSError:
            return False


class Browser:
    """Chromium, started by a person who closes it once the page has drawn."""

    def __init__(self, machine, person, *options, variables=None, has_profile=True):
        self.machine, self.person, self.options, self.variables = machine, person, options, variables or {}
        self.has_profile = has_profile  # else each start has a new one
        self.root = str(person.folder / "cache")
        self.log = self.found = ""
        self.starts = 0

    def start(self, before, variables):
        """What the page found. All processes have ended then."""
        self.starts += 1
        own = [] if self.has_profile else [f"--user-data-dir={self.person.folder}/tmp/profile{self.starts}"]
        command = [*before, self.machine.chromium, *self.options, *own, *OPTIONS, self.machine.site.address]
        # Mesa's own cache is empty each time.
        variables = {"MESA_SHADER_CACHE_DIR": str(self.mesa_cache())} | self.variables | variables
        process = self.person.start(command, variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        results = self.machine.site.results

        def read_to_the_end():
            # It comes when the last process has ended.
            self.log = process.stdout.read().decode(errors="replace")
            results.put(None)

        reader = threading.Thread(target=read_to_the_end)
        reader.start()
        try:
            found = results.get(timeout=TIMEOUT_S)
            process.send_signal(signal.SIGTERM)
            ended = found is None or results.get(timeout=TIMEOUT_S) is None
        except queue.Empty as late:
            raise Failure(f"no end after {TIMEOUT_S} s: {' '.join(command)}") from late
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            reader.join()
        check(ended, "the page has drawn twice")
        check(found is not None, f"Chromium ended before the page had drawn:\n{self.log}")
        check("GPU process exited unexpectedly" not in self.log, f"the GPU process crashed:\n{self.log}")
        check(found.count("pixel ") == PROGRAMS and "error 0" in found and "SwiftShader" not in found,
              f"no WebGL on the system's EGL:\n{found}\n{self.log}")
        return found

    def start_plain(self):
        return self.start([], {})

    def start_cached(self, plain, variables=None, options=()):
        """The report; the page is as `plain`, where that is given."""
        report = self.person.folder / "report.json"
        run = [self.machine.cairn, "run", *options, "--dir", self.root, "--json", str(report), "--"]
        found = self.start(run, variables or {})
        check(plain in (None, found), f"another result with Cairn:\n{found}\nbefore:\n{plain}")
        self.found = found
        told = json.loads(report.read_text())
        check(told["problem"] is None, told["problem"])
        check(told["report"]["rejected"] == 0, "the driver refused binaries")
        return told["report"]

    def mesa_cache(self):
        """That of the last start."""
        return self.person.folder / f"mesa{self.starts}"

    def caches(self):
        return [path.name for path in pathlib.Path(self.root).iterdir() if path.is_dir()]

    def expect_warm(self, plain, way, variables=None):
        """The second of two starts is warm, and they have one cache."""
        cold = self.start_cached(plain, variables)
        warm = self.start_cached(plain, variables)
        print(f"{way}: first start: {cold['link_calls']} links, {cold['driver_links']} by the driver; second: "
              f"{warm['link_calls']} links, {warm['driver_links']} by the driver", flush=True)
        check(cold["driver_links"] >= PROGRAMS and cold["stored"] >= PROGRAMS, f"the first start stored nothing: {cold}")
        check(warm["processes"] > 0, "the second start was not counted")
        check(warm["driver_links"] * 100 <= cold["link_calls"] * ALLOWED_PERCENT,
              f"the second start linked again: {warm}")
        check(len(self.caches()) == 1 and self.caches()[0].startswith("gl-chromium"),
              f"not one cache named after Chromium: {self.caches()}")
        return warm


class Machine:
    """What the ways have in common."""

    def __init__(self, cairn, cairnd, folder):
        self.cairn, self.cairnd, self.folder = cairn, cairnd, folder
        self.chromium = shutil.which("chromium")
        if self.chromium is None:
            raise Skip("Chromium is not installed (Debian package chromium)")
        self.site = Site()

    def person(self, name):
        """One who may use Chromium's sandboxes."""
        user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        person = Person(self.folder / name, user)
        if not person.can([self.cairn, "version"]):
            raise Skip("another user may not read the build folder")
        if not person.can(["unshare", "--user", "true"]):
            raise Skip("users may not make user namespaces, which Chromium's sandbox is made of")
        return person

    def unsandboxed(self):
        options = ["--headless=new", "--no-sandbox"]
        browser = Browser(self, Person(self.folder / "root"), *options, NO_OWN_CACHE)
        plain = browser.start_plain()
        warm = browser.expect_warm(plain, "headless, no sandbox")
        check(warm["hits"] >= PROGRAMS, f"the second start did not hit: {warm}")
        Browser(self, Person(self.folder / "own"), *options).expect_warm(plain, "headless, no sandbox, Chromium's own cache")

    def sandboxed(self):
        browser = Browser(self, self.person("one"), "--headless=new", NO_OWN_CACHE)
        plain = browser.start_plain()
        warm = browser.expect_warm(plain, "headless, sandboxes")
        check(closed_sandbox("renderer", browser.log), f"no sandbox was closed:\n{browser.log}")
        check(warm["hits"] >= PROGRAMS, f"the second start did not hit: {warm}")
        fresh = Browser(self, self.person("two"), "--headless=new", NO_OWN_CACHE, has_profile=False)
        fresh.expect_warm(plain, "headless, sandboxes, a temporary profile each time")

    def window(self):
        server = shutil.which("Xvfb")
        if server is None:
            raise Skip("Xvfb is not installed (Debian package xvfb)")
        command = [server, "-displayfd", "1", "-screen", "0", "1024x768x24", "-nolisten", "tcp", "-ac"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as screen:
            try:
                display = {"DISPLAY": ":" + screen.stdout.readline().decode().strip()}
                browser = Browser(self, self.person("one"), NO_OWN_CACHE, variables=display)
                plain = browser.start_plain()
                warm = browser.expect_warm(plain, "window")
                check(warm["hits"] >= PROGRAMS, f"the second start did not hit: {warm}")
                Browser(self, self.person("two"), variables=display).expect_warm(plain, "window, Chromium's own cache")
                Browser(self, self.person("three"), variables=display, has_profile=False).expect_warm(
                    plain, "window, a temporary profile each time")
            finally:
                screen.terminate()

    def gpu_sandbox(self):
        person = self.person("one")
        browser = Browser(self, person, "--headless=new", NO_OWN_CACHE, variables=NO_DRIVER_THREADS)
        plain = browser.start_plain()
        if not closed_sandbox("gpu-process", browser.log):
            raise Skip("Chromium's GPU process does not close its sandbox beside this driver")
        alone = browser.start_cached(plain)
        check(closed_sandbox("gpu-process", browser.log), "the GPU process left its sandbox open because of Cairn")
        print(f"GPU sandbox, no broker: {alone['link_calls']} links, {alone['driver_links']} by the driver")
        # All where people have it: what the units start, and what a session has after `cairn enable`.
        home = pathlib.Path(person.variables["HOME"])
        browser.root = str(home / ".cache/cairn")
        with person.start([self.cairnd, "--log"], {}, stderr=subprocess.PIPE) as broker:
            try:
                check(b"serving" in broker.stderr.readline(), "the broker does not serve")
                self.behind_broker(browser, plain, home)
            finally:
                broker.terminate()

    def behind_broker(self, browser, plain, home):
        def listed():
            listing = browser.person.output_of([self.cairn, "ls", "--json", "--dir", browser.root])
            return [(each["application"], each["entries"]) for each in json.loads(listing)["caches"]]

        browser.person.output_of([self.cairn, "enable", "--quiet"])
        lines = (home / ".config/environment.d/50-cairn.conf").read_text().splitlines()
        session = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
        broker = {"CAIRN_EGL_BROKER": "1"}
        check(browser.start([], session | broker) == plain, "another result in a session with Cairn")
        check(closed_sandbox("gpu-process", browser.log), "the GPU process left its sandbox open because of Cairn")
        check(browser.caches() == ["gl-chromium"], f"not the cache of the broker: {browser.caches()}")
        check(listed()[0][0] == "chromium" and listed()[0][1] >= PROGRAMS, f"the first start stored nothing: {listed()}")
        warm = browser.start_cached(plain, broker)
        check(closed_sandbox("gpu-process", browser.log), "the GPU process left its sandbox open because of Cairn")
        print(f"GPU sandbox, broker, second start: {warm['link_calls']} links, {warm['driver_links']} by the driver")
        check(warm["hits"] >= PROGRAMS and warm["driver_links"] * 100 <= warm["link_calls"] * ALLOWED_PERCENT,
              f"the second start linked again: {warm}")
        browser.person.output_of([self.cairn, "clear", "--dir", browser.root, "--application", "chromium"])
        check(listed() == [("chromium", 0)], f"not cleared: {listed()}")

    def private(self):
        browser = Browser(self, self.person("one"), "--headless=new", "--incognito", NO_OWN_CACHE)
        kept = browser.start_cached(None)
        check(kept["stored"] >= PROGRAMS and any(browser.mesa_cache().rglob("*")), f"incognito keeps nothing: {kept}")
        before = tree_of(browser.root)
        alone = browser.start_cached(browser.found, options=["--private"])
        print(f"--private: {alone['link_calls']} links, {alone['driver_links']} by the driver")
        check(alone["processes"] > 0 and alone["driver_links"] >= PROGRAMS, f"something was found: {alone}")
        check(tree_of(browser.root) == before, "something was changed")
        check(not browser.mesa_cache().exists(), "the driver has kept something")


def tree_of(folder):
    """Every file with its bytes."""
    return {path: path.read_bytes() if path.is_file() else b"" for path in pathlib.Path(folder).rglob("*")}


def main():
    way, cairn, cairnd = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o711)
        try:
            getattr(Machine(cairn, cairnd, pathlib.Path(folder)), way)()
        except Skip as reason:
            print(f"skipped: {reason}")
            return 77
        except Failure as failure:
            print(f"FAILED: {failure}")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

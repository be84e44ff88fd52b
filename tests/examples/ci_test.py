#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the shell steps of examples/ci for real, on machines and with a storage that are folders.

Usage: ci_test.py github|gitlab BUILD_TREE. Exit code 77: PyYAML, git or a C compiler is missing.

A runner is emulated as far as the files use it: variables, secrets, caches and artifacts. What is not known here is an
error, so that nothing in the files goes untested unnoticed. `apt-get` is a stand-in that writes down what it is told.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("skipped: python3-yaml is missing")
    sys.exit(77)

TOP = pathlib.Path(__file__).resolve().parents[2]
REMOTE_FOLDER = "remote"
PROGRAMS = 8  # of the game


def check(holds, what):
    if not holds:
        sys.exit(f"FAILED: {what}")


def only(mapping, *known):
    """What this test does not know would go untested."""
    unknown = set(mapping) - set(known)
    check(not unknown, f"unknown in the file: {sorted(unknown)}")


class Team:
    """What a team has set up: a repository, a key, a storage and machines."""

    def __init__(self, folder, build):
        self.folder, self.build = folder, build
        self.log = ""
        (folder / REMOTE_FOLDER).mkdir()
        (folder / "bin").mkdir()
        (folder / "bin/cairn").symlink_to(build / "apps/cli/cairn")
        for name in "apt-get", "sudo":
            stand_in = folder / "bin" / name
            stand_in.write_text('#!/bin/sh\n[ "${0##*/}" = sudo ] && exec "$@"\necho "$@" >>"$APT_LOG"\n')
            stand_in.chmod(0o755)
        self.repository = folder / "repository"
        shutil.copytree(TOP / "examples/packed_game", self.repository)
        (self.repository / "packages").mkdir()
        (self.repository / "packages/cairn.deb").touch()
        # As README.md has it: the public half is in the repository, the other one a secret of the CI.
        admin = self.environment("admin")
        self.run(["cairn", "key", "create", "ci"], admin, self.folder)
        (self.repository / "ci.key").write_text(self.run(["cairn", "key", "export", "ci"], admin, self.folder))
        self.secret = (folder / "admin/.config/cairn/keys/ci.secret").read_text().strip()

    def environment(self, machine):
        home = self.folder / machine
        home.mkdir(exist_ok=True)
        return {"HOME": str(home), "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin", "TMPDIR": tempfile.gettempdir(),
                "LIBGL_ALWAYS_SOFTWARE": "1", "APT_LOG": str(self.folder / "apt.log"), "LANG": "C.UTF-8",
                "CAIRN_EGL_MANIFEST": str(self.build / "frontends/egl/cairn_egl.json")}

    def run(self, command, environment, folder):
        done = subprocess.run(command, env=environment, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, timeout=120, check=False)
        self.log += done.stdout + done.stderr
        check(done.returncode == 0, f"{command} ended with {done.returncode}\n{self.log}")
        return done.stdout

    def checkout(self, machine):
        workspace = self.folder / machine / "workspace"
        shutil.copytree(self.repository, workspace)
        return workspace


class GitHub:
    """As actions/runner and the actions that the file uses."""

    def __init__(self, team):
        self.team = team
        self.file = yaml.safe_load((TOP / "examples/ci/github.yml").read_text())
        only(self.file, "name", True, "env", "jobs")  # PyYAML reads `on` as true
        self.caches = {}

    def expand(self, value, run):
        known = {"github.workspace": run["workspace"], "github.run_id": run["id"], "github.ref": "refs/heads/main",
                 "secrets.CAIRN_KEY": self.team.secret, "secrets.AWS_ACCESS_KEY_ID": "",
                 "secrets.AWS_SECRET_ACCESS_KEY": "",
                 "vars.CAIRN_REMOTE": f"file://{self.team.folder / REMOTE_FOLDER}"}
        return re.sub(r"\$\{\{ *([^ }]+) *\}\}", lambda found: str(known[found[1]]), str(value))

    def job(self, name, machine):
        """Runs a job on a new machine, and returns its workspace and its environment."""
        job = self.file["jobs"][name]
        only(job, "runs-on", "steps", "if", "needs")
        workspace = self.team.folder / machine / "workspace"
        run = {"workspace": workspace, "id": machine}
        environment = self.team.environment(machine) | {
            key: self.expand(value, run) for key, value in self.file["env"].items()}
        save = None
        for step in job["steps"]:
            only(step, "name", "uses", "with", "run", "env")
            options = {key: self.expand(value, run) for key, value in step.get("with", {}).items()}
            action = step.get("uses", "").split("@")[0]
            if action == "actions/checkout":
                self.team.checkout(machine)
            elif action == "actions/cache":
                save = (options["key"], options["path"])
                found = [key for key in self.caches if key.startswith(options["restore-keys"])]
                if found:
                    self.unpack(self.caches[found[-1]], workspace)
            elif action == "actions/upload-artifact":
                check((workspace / options["path"]).is_file(), f"there is no artifact {options['path']}")
            else:
                check(not action, f"unknown action {action}")
                own = {key: self.expand(value, run) for key, value in step.get("env", {}).items()}
                # What GitHub runs where no shell is named.
                self.team.run(["bash", "-e", "-c", step["run"]], environment | own, workspace)
        if save:
            self.caches[save[0]] = self.pack(save[1], workspace)
        return workspace, environment

    def pack(self, path, workspace):
        archive = self.team.folder / f"cache{len(self.caches)}.tar"
        self.team.run(["tar", "-cf", archive, path], os.environ, workspace)
        return archive

    def unpack(self, archive, workspace):
        self.team.run(["tar", "-xf", archive], os.environ, workspace)


class GitLab:
    """As a runner in a container: it unpacks a cache with rights for everybody."""

    def __init__(self, team):
        self.team = team
        self.file = yaml.safe_load((TOP / "examples/ci/gitlab.yml").read_text())
        only(self.file, "variables", "default", "tests", "publish")
        only(self.file["default"], "tags", "before_script")
        self.caches = {}
        self.key_file = team.folder / "secret-file"
        self.key_file.write_text(team.secret)

    def job(self, name, machine):
        job = self.file[name]
        only(job, "cache", "script", "rules", "needs", "artifacts")
        workspace = self.team.checkout(machine)
        environment = self.team.environment(machine) | {
            "CI_PROJECT_DIR": str(workspace), "CI_COMMIT_SHORT_SHA": "abc123", "CAIRN_KEY": str(self.key_file),
            "CAIRN_REMOTE": f"file://{self.team.folder / REMOTE_FOLDER}"}
        for key, value in self.file["variables"].items():
            environment[key] = value.replace("$CI_PROJECT_DIR", str(workspace))
        cache = job.get("cache", {})
        only(cache, "key", "paths")
        archive = self.team.folder / f"cache-{cache.get('key')}.tar"
        if archive.exists():
            self.team.run(["tar", "-xf", archive], os.environ, workspace)
            self.team.run(["chmod", "-R", "a+w", *cache["paths"]], os.environ, workspace)
        lines = self.file["default"]["before_script"] + job["script"]
        self.team.run(["bash", "-e", "-o", "pipefail", "-c", "\n".join(lines)], environment, workspace)
        if cache:
            self.team.run(["tar", "-cf", archive, *cache["paths"]], os.environ, workspace)
        for path in job.get("artifacts", {}).get("paths", []):
            check((workspace / path).is_file(), f"there is no artifact {path}")
        return workspace, environment


def report(workspace):
    return json.loads((workspace / "cairn.json").read_text())["report"]


def check_is_warm(found, what):
    check(found["link_calls"] == PROGRAMS and found["hits"] == PROGRAMS and found["driver_links"] == 0
          and found["driver_compiles"] == 0, f"{what} is not warm: {found}")


def check_nothing_has_the_secret(team):
    seed = team.secret.split()[1]
    check(len(seed) > 20 and seed not in team.log, "what the steps print has the secret key")
    allowed = {team.folder / "admin/.config/cairn/keys/ci.secret", team.folder / "secret-file"}
    for path in team.folder.rglob("*"):
        if path.is_file() and not path.is_symlink() and path not in allowed:
            check(seed.encode() not in path.read_bytes(), f"the secret key stays in {path}")


def main(which, build):
    with tempfile.TemporaryDirectory(prefix="cairn-ci-") as folder:
        team = Team(pathlib.Path(folder), pathlib.Path(build).resolve())
        system = {"github": GitHub, "gitlab": GitLab}[which](team)

        # The first run compiles, and the next one, on another machine, finds it.
        first, _ = system.job("tests", "runner1")
        check(report(first)["driver_links"] == PROGRAMS, f"the first run is no cold one: {report(first)}")
        second, _ = system.job("tests", "runner2")
        check_is_warm(report(second), "the second run")

        # What `publish` shares makes another machine warm that trusts the key; one that does not gets nothing.
        workspace, _ = system.job("publish", "runner3")
        for machine, key in ("player1", workspace / "ci.key"), ("player2", workspace / "ci.key"), ("stranger", None):
            environment = team.environment(machine)
            if key:
                team.run(["cairn", "key", "trust", key], environment, workspace)
            if machine == "player2":
                team.run(["cairn", "pack", "install", "game.pack"], environment, workspace)
            else:
                subprocess.run(["cairn", "pull", "--remote", f"file://{team.folder / REMOTE_FOLDER}", "--namespace",
                                "packed_game", "packed_game"], env=environment, check=bool(key), timeout=120)
            team.run(["cairn", "run", "--json", "cairn.json", "--", "build/packed_game"], environment, workspace)
            if key:
                check_is_warm(report(workspace), machine)
            else:
                check(report(workspace)["driver_links"] == PROGRAMS, "a machine without the key took programs")

        asked = (team.folder / "apt.log").read_text()
        check(asked == "install -y ./packages/cairn.deb\n" * 3, f"apt-get was asked for: {asked}")
        check_nothing_has_the_secret(team)


if __name__ == "__main__":
    if not shutil.which("cc") or not shutil.which("cmake"):
        sys.exit(77)
    main(*sys.argv[1:])

# SPDX-License-Identifier: MIT
"""What the checks of this folder have in common: each is a function named check_..., and all of them run."""
import os
import pathlib
import shutil
import subprocess
import sys
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))


class Skip(Exception):
    """This check needs something that is not here."""


def need(tool):
    found = shutil.which(tool)
    if not found:
        raise Skip(f"{tool} is not installed")
    return found


def expect(is_so, text):
    if not is_so:
        raise AssertionError(text)


def expect_same(found, wanted, what):
    found, wanted = set(found), set(wanted)
    expect(found == wanted, f"{what}: too much: {sorted(found - wanted)}, missing: {sorted(wanted - found)}")


def fresh_folder(path):
    path = pathlib.Path(path)
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def run(words, **options):
    return subprocess.run(words, capture_output=True, text=True, timeout=120, check=False, **options)


def run_checks(checks):
    """Runs functions by their names; ends the process: 0, 1, or 77 where none of them could be run."""
    failed = ran = 0
    for name, check in checks.items():
        begin = time.monotonic()
        try:
            check()
            ran += 1
            print(f"ok      {name} ({time.monotonic() - begin:.1f} s)")
        except Skip as skip:
            print(f"skipped {name}: {skip}")
        except AssertionError as error:
            failed += 1
            print(f"FAILED  {name}: {error}")
        except Exception:  # pylint: disable=broad-except
            failed += 1
            print(f"FAILED  {name}")
            traceback.print_exc(file=sys.stdout)
    sys.exit(1 if failed else 0 if ran else 77)


def quiet_environment(home):
    """An environment of nobody's, in which `cairn` looks at nothing but `home`."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("CAIRN_", "XDG_", "__EGL", "__GLX", "AWS_"))}
    return {**kept, "HOME": str(home), "LC_ALL": "C.UTF-8", "TERM": "dumb"}

# SPDX-License-Identifier: MIT
"""What the shipped code reads: variables of the environment, and keys of files of configuration."""
import re

from checks import ROOT, expect

FOLDERS = ("src", "frontends", "apps", "remotes", "conversions", "include")
# What reads a variable by its name.
READERS = {"environment_variable", "path_from_environment", "xdg_directory", "getenv", "secure_getenv"}
# Functions that do so with a name that they are given.
HELPERS = {
    "frontends/common/permission.cc": {"switch_of_environment"},
    "frontends/gl/settings.cc": {"text_of", "is_on", "number_of"},
    "apps/warm/display.cc": {"is_set"},
    "apps/warm/sandbox.cc": {"variable", "add"},
    "apps/cli/warm_command.cc": {"number_from", "milliseconds_of"},
    "remotes/credentials.cc": {"from_environment", "aws_file"},
    "src/cache/driver_files.cc": {"absolute_path"},
}
# Files that look at all variables, with what they look for.
LOOK_AT_ALL = {
    "frontends/gl/driver_cache.cc": "kUsers",
    "frontends/gl/settings.cc": None,  # drivers' options, by their first letters
    "src/cache/warm_process.cc": None,  # hands all of them on
    "apps/cli/warm/environment.cc": None,  # hands all of them on
}
# It looks at what the others read.
DOCTOR = "apps/cli/doctor/"
NAME = re.compile(r"[A-Z_][A-Z0-9_]+")


def shipped_files():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            name = str(path.relative_to(ROOT))
            if path.suffix in (".h", ".cc", ".c", ".hpp") and not path.name.endswith("_test.cc") and "/testing/" not in name:
                yield name, path.read_text(errors="replace")


def without_comments(text):
    return re.sub(r"(?m)//.*$", "", re.sub(r"/\*.*?\*/", "", text, flags=re.S))


def constants(texts):
    """Names in the code that stand for a text."""
    found = {}
    for text in texts.values():
        for name, value in re.findall(r'\b(\w+)\s*(?:\[\])?\s*=\s*"([A-Z_][A-Z0-9_]+)"', text):
            found[name] = value
        for name, value in re.findall(r'#define\s+(\w+)\s+"([A-Z_][A-Z0-9_]+)"', text):
            found[name] = value
    return found


def read_variables():
    """The variables that are read, each with a file that reads it."""
    texts = {name: without_comments(text) for name, text in shipped_files() if not name.startswith(DOCTOR)}
    known = constants(texts)
    found = {}
    for file, text in texts.items():
        helpers = HELPERS.get(file, set())
        for function, argument in re.findall(r"\b(\w+)\(\s*([^,()]*)[,)]", text):
            if function not in READERS | helpers:
                continue
            argument = argument.strip().split("::")[-1]
            if argument.startswith('"'):
                found[argument.strip('"')] = file
            elif argument in known:
                found[known[argument]] = file
            elif re.fullmatch(r"name|variable|\w+ \*?\w+|const char \*\w+|std::string \w+", argument):
                # A function's own argument, or one of a list.
                for words in re.findall(r"for \(const char \*\w+ :\s*\{([^}]*)\}", text):
                    found.update({word: file for word in re.findall(r'"([A-Z_][A-Z0-9_]+)"', words)})
            elif argument and function in READERS:
                expect(False, f"{file}: which variable is {function}({argument})? Teach tests/manual/sources.py")
        if "environment_variables()" in text and not file.startswith("src/os/environment"):
            expect(file in LOOK_AT_ALL, f"{file} looks at all variables: for which? Teach tests/manual/sources.py")
            if LOOK_AT_ALL[file]:
                words = re.search(LOOK_AT_ALL[file] + r"\[\] = \{(.*?)\};", text, re.S).group(1)
                found.update({word: file for word in re.findall(r'"([A-Z_][A-Z0-9_]+[A-Z])"', words)})
        # Variables of ours are named so, whatever is done with them.
        found.update({word: file for word in re.findall(r'"(CAIRN_[A-Z0-9_]+)"', text)})
        # So is what is set.
        found.update({word: file for word in re.findall(r'setenv\(\s*"([A-Z_][A-Z0-9_]+)"', text)})
    return {name: file for name, file in found.items() if NAME.fullmatch(name)}


def doctors_variables():
    """Those of ours that `cairn doctor` takes for known."""
    text = (ROOT / DOCTOR / "environment.cc").read_text()
    return set(re.findall(r'\{"(CAIRN_\w+)", (?:true|false)\}', text))


def configuration_keys():
    """The settings of cairn-config(5)."""
    text = (ROOT / "src/os/configuration.cc").read_text()
    names = dict(re.findall(r'constexpr std::string_view (k\w+) = "([a-z0-9_]+)";', text))
    table = re.search(r"kKnown\[\] = \{(.*?)\};", text, re.S).group(1)
    keys = [names[name] for name in re.findall(r"\{[^,]*, (k\w+),", table)]
    expect(len(keys) >= 12, f"the table of settings is not understood: {keys}")
    return set(keys)


def remotes_keys():
    """Those of cairn-remotes(5)."""
    text = (ROOT / "apps/agent/remote_settings.cc").read_text()
    keys = re.findall(r'\bname == "([a-z_]+)"', text)
    expect(len(keys) >= 6, f"the settings of remotes are not understood: {keys}")
    return set(keys)

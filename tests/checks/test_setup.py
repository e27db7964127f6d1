"""Which of a user's settings reach the pip that fills the environment, and what apt is asked for.

The script runs whole, in a small tree whose `.venv/bin/python` is a program that writes down what
it was started with, and for apt with such a program in front of all others; nothing is installed.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "requirements" / "setup.sh"
RECORDER = """#!/bin/sh
case "$*" in *"pip install"*) env >>"$RECORD" ;; esac
"""
# What the script itself is written with.
NEEDED = ("bash", "cat", "dirname", "env", "flock", "grep", "mkdir", "mktemp", "rm", "sha256sum")
DROPPED = {
    "PIP_TARGET": "elsewhere",
    "PIP_PREFIX": "elsewhere",
    "PIP_ROOT": "elsewhere",
    "PIP_CONSTRAINT": "other.txt",
    "PIP_NO_BINARY": ":all:",
    "PIP_ONLY_BINARY": ":none:",
    "PIP_REPORT": "report.json",
    "PIP_PLATFORM": "win32",
    "PIP_PYTHON": "/usr/bin/python3",
    "PIP_REQUIREMENT": "other.txt",
    "PYTHONPATH": "elsewhere",
}
OVERRIDDEN = {
    "PIP_DRY_RUN": "1",
    "PIP_USER": "1",
    "PIP_NO_DEPS": "1",
    "PIP_IGNORE_INSTALLED": "1",
    "PIP_REQUIRE_VIRTUALENV": "1",
}
KEPT = {
    "PIP_INDEX_URL": "https://packages.example/simple",
    "PIP_CERT": "own.pem",
    "PIP_PROXY": "http://proxy.example:3128",
    "PIP_CACHE_DIR": "cache",
    "PIP_CONFIG_FILE": "pip.conf",
}


@pytest.fixture
def tree(tmp_path):
    """A small tree with the script and an environment that only writes down."""
    for name in ("run.lock", "build.lock", "dev.lock"):
        (tmp_path / "requirements").mkdir(exist_ok=True)
        (tmp_path / "requirements" / name).write_text("a==1\n", encoding="utf-8")
    shutil.copy(SCRIPT, tmp_path / "requirements")
    (tmp_path / "src" / "consentry").mkdir(parents=True)
    (tmp_path / "src" / "consentry" / "__init__.py").touch()
    (tmp_path / "pyproject.toml").touch()
    program(tmp_path / ".venv" / "bin" / "python", RECORDER)
    return tmp_path


def program(path, text="#!/bin/sh\n"):
    """Makes a program."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    path.chmod(0o755)


@pytest.fixture
def reached(tree):
    """Runs the script with settings added; returns the environments that pip was started with."""
    record = tree / "record"

    def run(settings):
        environment = {"PATH": os.environ["PATH"], "RECORD": str(record), **settings}
        command = ["bash", str(tree / "requirements" / "setup.sh"), "run"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return record.read_text(encoding="utf-8").splitlines()

    return run


@pytest.fixture
def asked(tree):
    """Runs the script where only these programs exist; returns what it said and asked of apt."""
    record = tree / "record"

    def run(*present, user="0", **settings):
        folder = tree / "bin"
        for name in NEEDED:
            folder.mkdir(exist_ok=True)
            (folder / name).symlink_to(shutil.which(name))
        for name in present:
            program(folder / name)
        program(folder / "apt-get", '#!/bin/sh\necho "apt $*" >>"$RECORD"\n')
        program(folder / "id", f"#!/bin/sh\necho {user}\n")
        environment = {"PATH": str(folder), "RECORD": str(record), **settings}
        command = [str(folder / "bash"), str(tree / "requirements" / "setup.sh"), "test"]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
        lines = record.read_text(encoding="utf-8").splitlines()
        return done.stdout, [line.split()[5:] for line in lines if line.startswith("apt ")]

    return run


def values(lines, name):
    """What a variable was, in each start of pip that had it."""
    return [line.partition("=")[2] for line in lines if line.startswith(f"{name}=")]


@pytest.mark.parametrize("name", DROPPED)
def test_a_setting_that_changes_what_is_installed_does_not_reach_pip(reached, name):
    """Both installs, of the locks and of the project, run without it."""
    lines = reached({name: DROPPED[name]})
    assert len(values(lines, "PIP_NO_INPUT")) == 2
    assert values(lines, name) == []


@pytest.mark.parametrize("name", OVERRIDDEN)
def test_a_switch_that_makes_an_install_other_is_off(reached, name):
    """It is set to off, and not only removed: a configuration file may have it on."""
    assert values(reached({name: OVERRIDDEN[name]}), name) == ["0", "0"]


@pytest.mark.parametrize("name", KEPT)
def test_where_packages_come_from_is_the_users_choice(reached, name):
    """Index, proxy, certificates and cache reach pip as they were set."""
    assert values(reached({name: KEPT[name]}), name) == [KEPT[name]] * 2


DOCKER = "docker.io"  # the Debian package
LATEX = "texlive-latex-base"


def test_what_the_tests_start_is_installed_where_it_is_missing(asked, tree):
    """Each is looked for on its own; the server's programs are in a folder that is not on PATH."""
    said, installed = asked("git", "zsh", POSTGRES_BIN=str(tree / "none"))
    missing = [
        *(LATEX, DOCKER, "curl", "tmux", "fish", "openssl", "strace", "postgresql"),
        *("bubblewrap", "firejail", "podman", "chromium", "npm"),
    ]
    assert installed == [missing]
    assert f"installing system packages: {' '.join(missing)}" in said


def test_a_server_that_is_there_is_not_installed_again(asked, tree):
    """Wherever it is, when the folder is named."""
    program(tree / "server" / "initdb")
    _, installed = asked("git", "tmux", "zsh", "fish", POSTGRES_BIN=str(tree / "server"))
    engines = ("bubblewrap", "firejail", "podman")
    assert installed == [[LATEX, DOCKER, "curl", "openssl", "strace", *engines, "chromium", "npm"]]


def test_without_the_right_to_install_the_tests_go_on(asked, tree):
    """What is missing is named, and said to be skipped."""
    said, installed = asked("git", "tmux", user="1000", POSTGRES_BIN=str(tree / "none"))
    assert installed == []
    missing = f"{LATEX} {DOCKER} curl zsh fish openssl strace postgresql bubblewrap firejail podman chromium npm"
    assert f"not installed: {missing}; what starts them is left out" in said

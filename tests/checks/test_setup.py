"""Which of a user's settings reach the pip that fills the environment.

The script runs whole, in a small tree whose `.venv/bin/python` is a program that writes down what
it was started with; nothing is installed.
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
def reached(tmp_path):
    """Runs the script with settings added; returns the environments that pip was started with."""
    for name in ("run.lock", "build.lock"):
        (tmp_path / "requirements").mkdir(exist_ok=True)
        (tmp_path / "requirements" / name).write_text("a==1\n", encoding="utf-8")
    shutil.copy(SCRIPT, tmp_path / "requirements")
    (tmp_path / "src" / "consentry").mkdir(parents=True)
    (tmp_path / "src" / "consentry" / "__init__.py").touch()
    (tmp_path / "pyproject.toml").touch()
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(RECORDER, encoding="utf-8")
    python.chmod(0o755)
    record = tmp_path / "record"

    def run(settings):
        environment = {"PATH": os.environ["PATH"], "RECORD": str(record), **settings}
        command = ["bash", str(tmp_path / "requirements" / "setup.sh"), "run"]
        subprocess.run(command, env=environment, check=True, capture_output=True)
        return record.read_text(encoding="utf-8").splitlines()

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

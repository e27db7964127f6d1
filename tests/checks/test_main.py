"""`python -m checks` as a person runs it."""

import subprocess
import sys
from pathlib import Path

import pytest

from checks.registry import CHECKS

ROOT = Path(__file__).parents[2]


def run(*words):
    """The command with these words, started at the top of the repository."""
    command = [sys.executable, "-m", "checks", *map(str, words)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_a_finding_fails_the_run_and_is_printed_with_its_place(plant):
    """Status 1, and `file:line message` on a line of its own."""
    tree = plant({"docs/a.md": "[x](gone.md)"})
    done = run("links", "--root", tree.root)
    assert done.returncode == 1
    assert "links: 1 found\n  docs/a.md:1 link to `gone.md`: no such file\n" in done.stdout


def test_a_warning_is_printed_and_does_not_fail(plant):
    """Status 0 with a warning."""
    done = run("length", "--root", plant({"a.py": "x = 1\n" * 301}).root)
    assert done.returncode == 0
    assert "a.py:301 warning: " in done.stdout


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_runs_alone_on_an_almost_empty_tree(plant, name):
    """A check does not fall over where there is nothing to look at."""
    done = run(name, "--root", plant({"README.md": "# Nothing\n"}).root)
    assert done.returncode in {0, 1}, done.stderr
    assert done.stdout.startswith(f"{name}: ")


def test_an_unknown_name_is_wrong_usage():
    """Status 2, and the names there are."""
    done = run("linsk")
    assert done.returncode == 2
    assert "no check named `linsk`; there are length, " in done.stderr

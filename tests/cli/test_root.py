"""The root command: its page, its version, and options on both sides of the command word."""

import json
import platform
import subprocess
import sys
from pathlib import Path

import pytest

from consentry import __version__
from tests.cli.conftest import CommandLine

WORDS = ("status", "explain", "completion")


def test_version(consentry: CommandLine) -> None:
    """One line."""
    ended = consentry("--version")
    assert (ended.status, ended.out, ended.err) == (0, f"consentry {__version__}\n", "")


@pytest.mark.parametrize("words", [["--version", "--json"], ["--json", "--version"]])
def test_version_in_json(consentry: CommandLine, words: list[str]) -> None:
    """In either order, with what it runs on."""
    document = json.loads(consentry(*words).out)
    assert document == {
        "schema_version": 1,
        "kind": "version",
        "consentry": __version__,
        "python": platform.python_version(),
        "system": platform.system(),
        "machine": platform.machine(),
    }


def test_version_with_more(consentry: CommandLine) -> None:
    """`--verbose` adds what it runs on."""
    assert f"python {platform.python_version()}\n" in consentry("--verbose", "--version").out


def test_installed_program_is_the_same_command() -> None:
    """The script beside the interpreter and `python -m consentry` answer alike."""
    program = Path(sys.executable).with_name("consentry")
    if not program.exists():
        pytest.skip(f"{program} is not installed")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"consentry {__version__}\n"


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("word", ["", *WORDS])
def test_help(consentry: CommandLine, word: str, option: str) -> None:
    """Every page says how to write it, its options, examples and exit statuses."""
    ended = consentry(*filter(None, [word, option]))
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith(f"Usage: consentry {word or '[OPTIONS]'}")
    for part in ("Options", "Examples:", "Exit status:", "--json", "--quiet", "--verbose"):
        assert part in ended.out


@pytest.mark.parametrize("word", ["", *WORDS])
@pytest.mark.parametrize("columns", [80, 60])
def test_help_fits_the_width(consentry: CommandLine, word: str, columns: int) -> None:
    """No line is wider than the terminal, and no line ends in blanks."""
    lines = consentry(*filter(None, [word, "-h"]), COLUMNS=str(columns)).out.splitlines()
    commands = ("  consentry ", "  eval ")
    for line in lines:
        assert line == line.rstrip()
        # The words of an example are not broken, so that they can be copied.
        assert len(line) <= columns or line.startswith(commands)


def test_root_page_lists_every_command_under_a_heading(consentry: CommandLine) -> None:
    """One line each."""
    lines = consentry("--help").out.splitlines()
    for word in WORDS:
        assert sum(line.startswith(f"  {word} ") for line in lines) == 1


def test_root_page_says_what_this_version_does_not_do(consentry: CommandLine) -> None:
    """A page that promises more than the program does would be a lie."""
    assert "not built yet" in " ".join(consentry("--help").out.split())


@pytest.mark.parametrize("option", ["--json", "--quiet", "--verbose", "-q", "-v"])
def test_options_work_on_both_sides_of_the_command_word(
    consentry: CommandLine, option: str
) -> None:
    """The same answer, wherever the option stands; and another one than without it."""
    before, after = consentry(option, "status"), consentry("status", option)
    assert before == after
    assert before != consentry("status")


def test_examples_of_the_pages_work(consentry: CommandLine, home: Path) -> None:
    """What a page shows can be typed; each example ends without an error."""
    (home / "src/app").mkdir(parents=True)
    (consentry.cwd / "script.py").touch()
    examples = [
        line.strip().split("  ")[0]
        for word in ("", *WORDS)
        for line in consentry(*filter(None, [word, "-h"]))
        .out.partition("Examples:")[2]
        .splitlines()
        if line.startswith("  ") and "consentry " in line and "`" not in line
    ]
    assert len(examples) >= 12
    for example in examples:
        ended = consentry.in_shell(_for_bash(example))
        assert (ended.status, ended.err) == (0, ""), example


def _for_bash(example: str) -> str:
    """Lines for another shell's start-up file, reduced to the command in them."""
    if "fish" in example or "zsh" in example:
        return example.partition("|")[0].removeprefix('eval "$(').removesuffix(')"')
    return example

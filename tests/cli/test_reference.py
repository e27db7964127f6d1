"""The reference page and the command say the same."""

import re
from pathlib import Path

import click
import pytest

from consentry.base.codes import Code, ExitStatus
from consentry.cli.command import PlainCommand
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.root import make_root
from tests.cli.conftest import CommandLine

PAGE = Path(__file__).parents[2] / "docs/reference/cli.md"


@pytest.fixture
def page() -> str:
    """The reference of the command."""
    return PAGE.read_text(encoding="utf-8")


def _named_commands() -> dict[str, PlainCommand]:
    """Every command with the words that call it."""
    root = make_root()
    context = click.Context(root)
    named: dict[str, PlainCommand] = {}
    for name in root.rows:
        command = root.get_command(context, name)
        inner = list(command.rows) if isinstance(command, LazyGroup) else []
        for word in inner:
            below = command.get_command(context, word) if isinstance(command, LazyGroup) else None
            if isinstance(below, PlainCommand):
                named[f"{name} {word}"] = below
        if isinstance(command, PlainCommand):
            named[name] = command
    return named


def test_every_command_has_a_section_with_its_options_and_statuses(page: str) -> None:
    """Options by their names, statuses in the very words of the command's own page."""
    for words, command in _named_commands().items():
        section = page.partition(f"\n## consentry {words}\n")[2].partition("\n## ")[0]
        assert section, f"no section for {words}"
        for status, meaning in command.page.statuses:
            assert f"| {status} | {meaning} |" in section
        for param in command.params:
            if isinstance(param, click.Option):
                assert all(f"`{name}`" in page for name in param.opts)


def test_codes_that_the_page_names_exist(page: str) -> None:
    """A code in the text is one of the table."""
    codes = {str(code) for code in Code}
    named = set(re.findall(r"`((?:workspace|state|setting|config)-[a-z-]+)`", page))
    assert named
    assert named <= codes | {"consent-config"}


def test_statuses_of_the_page_are_known(page: str) -> None:
    """The table of exit statuses has only statuses that exist."""
    section = page.partition("\n## Exit statuses\n")[2].partition("\n## ")[0]
    shown = [int(status) for status in re.findall(r"^\| (\d+) \|", section, re.MULTILINE)]
    assert shown == sorted(shown)
    assert set(shown) <= {int(status) for status in ExitStatus}


def test_error_of_the_page_is_what_the_command_prints(page: str, consentry: CommandLine) -> None:
    """The example of an error, as text and as JSON, letter for letter."""
    assert consentry("status", "--workspace", "nowhere").err in page
    assert consentry("status", "--workspace", "nowhere", "--json").out in page


def test_engines_and_features_of_the_page_are_what_the_command_prints(
    page: str, consentry: CommandLine
) -> None:
    """The fixed lines of the example of `status`."""
    out = consentry("status", PATH="/nowhere").out
    for line in out.splitlines():
        if line.startswith(("  firejail ", "  nsjail ", "  podman ", "  deno ", "engines ")):
            assert line in page

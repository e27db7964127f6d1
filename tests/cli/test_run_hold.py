"""`consentry run --hold`: the tool's level decides as ever, and an answer meanwhile is for that run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import write_consent
from tests.cli.tooling import tool
from tests.elsewhere import folder_elsewhere

TALL = (200, 80)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder that no tool here may touch."""
    with folder_elsewhere() as folder:
        (folder / "secret.txt").write_text("blue\n")
        yield folder


def held(line: CommandLine) -> list[tuple[str, str, str]]:
    """What the last run was held for, and how it was answered."""
    found = last_record(line)["impact"]["held"]
    return [(each["operation"], each["resource"], each["answer"]) for each in found]


def test_a_tool_is_asked_about_first_and_then_what_it_is_refused(
    consentry: CommandLine, outside: Path
) -> None:
    """The first yes is the tool's as ever; the second opens one file, and no consent is widened."""
    secret = outside / "secret.txt"
    tool(consentry, "work", f"read word < {secret}; echo it says $word; echo done > out/file")
    with at_terminal(consentry, "run", "--hold", "work", size=TALL) as terminal:
        first = terminal.see("\n> ")
        assert str(secret) not in first.replace(f"< {secret}", "")
        terminal.type("a\n")
        second = terminal.see("\n> ")
        assert "it wants to read" in second
        assert "tool:work" in second
        terminal.type("a\n")
        terminal.see("it says blue")
        assert terminal.ended() == 0, terminal.screen
    assert held(consentry) == [("read", str(secret), "granted")]
    assert (consentry.cwd / "out/file").read_text() == "done\n"
    with at_terminal(consentry, "run", "--hold", "work", size=TALL) as terminal:
        terminal.answer("", "a")
        terminal.answer("it wants to read", "d")
        terminal.ended()
    assert held(consentry) == [("read", str(secret), "refused")]


def test_at_level_strict_a_write_to_the_host_is_refused_and_nobody_is_asked(
    consentry: CommandLine, outside: Path
) -> None:
    """What cannot be held back for the second yes is not held for an answer either."""
    new = outside / "new.txt"
    script = f"echo x > {new}; echo went on; echo done > out/file"
    tool(consentry, "work", script)
    write_consent(consentry, {"strict": {"allowedTools": ["work"]}})
    with at_terminal(consentry, "run", "--hold", "work", size=TALL) as terminal:
        terminal.answer("", "a")
        terminal.answer("why?", "to see it refused")
        terminal.answer("type work to approve", "work")
        terminal.see("went on")
        shown = terminal.see("\n> ")
        assert "commit exactly this?" in shown
        terminal.type("d\n")
        terminal.ended()
    assert not new.exists()
    assert held(consentry) == []

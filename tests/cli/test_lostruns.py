"""A run whose process is killed is on record at the next start (CONSENT §audit-1, SC-5)."""

import signal
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.toolhomes import entries_of, write_consent, write_tool

REPOSITORY = Path(__file__).parents[2]
WRITES = "import pathlib\npathlib.Path('made.txt').write_text('made')\n"
MADE = [{"pattern": "made.txt", "purpose": "what it makes"}]


def killed_at(line: CommandLine, step: str, *words: str) -> None:
    """The real command, which ends itself there as `kill -9` would."""
    program = (sys.executable, "-m", "tests.cli.killedcommand", step)
    killed = CommandLine(line.cwd, {**line.environ, "PYTHONPATH": str(REPOSITORY)}, {}, program)
    assert killed(*words).status == -signal.SIGKILL


@pytest.fixture
def maker(consentry: CommandLine) -> CommandLine:
    """A tool that makes a file, and needs no consent."""
    write_tool(consentry, "make", WRITES, fileWrite=MADE, auditConfig={"logLevel": "standard"})
    write_consent(consentry, {"none": {"allowedTools": ["make"]}})
    return consentry


@pytest.mark.parametrize(
    ("step", "is_committed"),
    [("permit spent", False), ("program ended", False), ("effect taken over", True)],
)
def test_a_killed_run_has_its_entry_at_the_next_start(
    maker: CommandLine,
    step: str,
    is_committed: bool,  # noqa: FBT001 - of a table
) -> None:
    """Once, with the tool, the method and what was committed; the rest is said to be unknown."""
    killed_at(maker, step, "run", "make")
    assert entries_of(maker) == []
    assert maker("exec", "--", "true").status == 0
    [entry, _] = entries_of(maker)
    assert (entry["tool"]["name"], entry["tool"]["version"]) == ("make", "1.0.0")
    assert entry["tool"]["auditConfig"]["logLevel"] == "standard"
    assert (entry["user"]["consentMethod"], entry["user"]["consentGiven"]) == ("none", True)
    assert (entry["execution"]["status"], entry["execution"]["endTime"]) == ("killed", None)
    assert entry["impact"]["committed"] == is_committed == (maker.cwd / "made.txt").exists()
    assert not entry["sandbox"]["violationsComplete"]
    assert maker("audit", "verify").status == 0
    maker("exec", "--", "true")
    assert len(entries_of(maker)) == 3


def test_what_a_killed_run_changed_can_be_told_and_undone(maker: CommandLine) -> None:
    """The entry leads to what is kept for undo."""
    killed_at(maker, "effect taken over", "run", "make")
    maker("exec", "--", "true")
    run = entries_of(maker)[0]["id"]
    assert "killed" in maker("why", run).out
    assert maker("audit", "show", run).status == 0
    assert maker("report").status == 0
    ended = maker("undo", run)
    assert ended.status == 0, ended
    assert not (maker.cwd / "made.txt").exists()


def test_a_program_of_a_command_line_is_recorded_as_well(consentry: CommandLine) -> None:
    """Whatever decided it."""
    killed_at(consentry, "permit spent", "exec", "--", "true")
    consentry("exec", "--", "true")
    lost, _ = entries_of(consentry)
    assert (lost["tool"]["name"], lost["user"]["consentMethod"]) == ("true", "command_line")
    assert lost["execution"]["status"] == "killed"


def test_what_was_killed_before_its_permit_was_no_run(maker: CommandLine) -> None:
    """There is nothing to put on record."""
    killed_at(maker, "ready", "run", "make")
    maker("exec", "--", "true")
    assert [each["tool"]["name"] for each in entries_of(maker)] == ["true"]

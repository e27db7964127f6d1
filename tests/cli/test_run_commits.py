"""Who commits what a tool wrote: its runner at the end, unless the level is strict (CONTRACTS §12)."""

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import entries_of, write_consent, write_tool

WRITES = "import pathlib\npathlib.Path('made.txt').write_text('made')\nraise SystemExit(STATUS)\n"
MADE = [{"pattern": "made.txt", "purpose": "what it makes"}]


@pytest.mark.parametrize("status", [0, 7])
@pytest.mark.parametrize("level", ["none", "implicit", "explicit"])
def test_the_runner_commits_at_the_end_whatever_the_status(
    consentry: CommandLine, level: str, status: int
) -> None:
    """At levels none, implicit and explicit, also where the tool failed by its own word."""
    write_tool(consentry, "make", WRITES.replace("STATUS", str(status)), fileWrite=MADE)
    write_consent(consentry, {level: {"allowedTools": ["make"]}})
    with at_terminal(consentry, "run", "make", size=(100, 60)) as terminal:
        if level == "explicit":
            terminal.answer("make", "a")
        assert terminal.ended() == status
    assert (consentry.cwd / "made.txt").read_text() == "made"
    [entry] = entries_of(consentry)
    assert entry["impact"]["committed"]


def test_what_a_limit_ended_is_discarded_unless_asked_for(consentry: CommandLine) -> None:
    """Time, limits and signals leave nothing; `--keep-partial` is the exception, the status stays."""
    code = "import pathlib, time\npathlib.Path('made.txt').write_text('made')\nwhile True: pass\n"
    requirements = {"limitCPU": "1s"}
    write_tool(consentry, "loop", code, fileWrite=MADE, sandboxRequirements=requirements)
    write_consent(consentry, {"none": {"allowedTools": ["loop"]}})
    assert consentry("run", "loop").status == 137
    assert not (consentry.cwd / "made.txt").exists()
    assert consentry("run", "--keep-partial", "loop").status == 137
    assert (consentry.cwd / "made.txt").read_text() == "made"
    assert [each["execution"]["status"] for each in entries_of(consentry)] == ["limit", "limit"]

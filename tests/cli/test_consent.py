"""`consentry consent`: listing, history, revoking, and ending what goes on under a consent."""

import json
import time
from pathlib import Path

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import last_record
from tests.cli.terminals import AtTerminal, at_terminal
from tests.cli.tooling import tool

TALL = (100, 100)


def agreed(terminal: AtTerminal, *, remembers: bool = False) -> None:
    """Says yes, for the session where that is asked."""
    if remembers:
        terminal.answer("", "r")
    terminal.answer("", "a")


def standing(line: CommandLine) -> list[str]:
    """The ids of what stands."""
    return line("consent", "list", "--quiet").out.split()


def test_a_yes_can_be_taken_back_and_asked_for_again(consentry: CommandLine) -> None:
    """CONSENT SC-6: remembered, used without asking, revoked, and asked again with why."""
    tool(consentry, "once-more", "true")
    script = " ".join(consentry.program)
    with at_terminal(
        consentry,
        "-c",
        f"{script} run once-more; {script} run once-more; {script} consent revoke --tool once-more; {script} run once-more",
        program=["/bin/sh"],
        size=TALL,
    ) as terminal:
        agreed(terminal, remembers=True)
        terminal.see("revoked")
        assert terminal.see("a approve").count("Tool Execution Request") == 1
        terminal.answer("", "d")
        assert terminal.ended() == 126, terminal.screen
    assert terminal.screen.count("Tool Execution Request") == 3  # `r` drew it once more
    assert "the consent was revoked" in " ".join(terminal.screen.replace("│", " ").split())


def test_list_show_and_history_tell_the_same(consentry: CommandLine) -> None:
    """CONSENT §api-4: what was asked in the session of a terminal, oldest first."""
    tool(consentry, "twice", "true")
    script = " ".join(consentry.program)
    words = f"{script} run twice; {script} run twice; {script} consent history --json > history"
    with at_terminal(consentry, "-c", words, program=["/bin/sh"], size=TALL) as terminal:
        agreed(terminal)
        terminal.see("Tool Execution Request")
        terminal.answer("", "d")
        assert terminal.ended() == 0, terminal.screen
    records = json.loads((consentry.cwd / "history").read_text())["records"]
    assert [(each["tool"], each["decision"]) for each in records] == [
        ("twice", "approved"),
        ("twice", "denied"),
    ]
    consent_id = records[0]["consent"]["consentId"]
    assert standing(consentry) == []  # it was for once, and was used
    assert consent_id in consentry("consent", "list", "--all", "--tool", "twice").out
    shown = consentry("consent", "show", consent_id).out
    for part in (records[0]["digest"], records[0]["requestId"], "may write `out/`"):
        assert part in shown
    assert_error(consentry("consent", "show", "ffffffff-ffff"), Code.ID_UNKNOWN)


def test_revoking_with_kill_ends_the_run_and_discards_its_work(consentry: CommandLine) -> None:
    """The run goes on under the consent; afterwards it is on record as killed, and left nothing."""
    tool(consentry, "endless", "echo partial > out/file; echo begun; exec sleep 300")
    with at_terminal(consentry, "run", "endless", size=TALL) as terminal:
        agreed(terminal, remembers=True)
        terminal.see("begun")
        (consent_id,) = standing(consentry)
        assert consentry("consent", "revoke", consent_id).status == 0
        time.sleep(1.5)
        assert terminal.process.poll() is None  # revoking alone lets it go on
        ended = consentry("consent", "revoke", consent_id, "--kill", "--json")
        assert json.loads(ended.out)["ended"] == 1
        assert terminal.ended() == 137, terminal.screen
    assert not (consentry.cwd / "out/file").exists()
    record = last_record(consentry)
    assert record["execution"]["status"] == "killed"
    state = Path(consentry.environ["HOME"]) / ".local/state/consentry/running"
    assert list(state.iterdir()) == []


def test_a_run_under_a_yes_for_once_is_ended_by_its_tool(consentry: CommandLine) -> None:
    """That consent is used up and listed nowhere; the run still goes on under it."""
    tool(consentry, "endless", "echo begun; exec sleep 300")
    with at_terminal(consentry, "run", "endless", size=TALL) as terminal:
        agreed(terminal)
        terminal.see("begun")
        assert standing(consentry) == []
        ended = consentry("consent", "revoke", "--tool", "endless", "--kill", "--json")
        assert json.loads(ended.out)["ended"] == 1
        assert terminal.ended() == 137, terminal.screen


def test_a_killed_process_leaves_no_run_behind(consentry: CommandLine) -> None:
    """What it noted is told apart by its lock; the next start puts the run on record and removes it."""
    tool(consentry, "endless", "echo begun; exec sleep 300")
    with at_terminal(consentry, "run", "endless", size=TALL) as terminal:
        agreed(terminal, remembers=True)
        terminal.see("begun")
        terminal.process.kill()
        terminal.ended()
    state = Path(consentry.environ["HOME"]) / ".local/state/consentry/running"
    assert len(list(state.iterdir())) == 1
    ended = consentry("consent", "revoke", "--tool", "endless", "--kill", "--json")
    assert json.loads(ended.out)["ended"] == 0
    assert consentry("exec", "--", "true").status == 0
    assert list(state.iterdir()) == []


def test_what_to_revoke_is_named_one_way(consentry: CommandLine) -> None:
    """By ids, or by a tool; a tool without a consent is nothing to revoke."""
    assert_error(consentry("consent", "revoke"), Code.USAGE)
    assert_error(consentry("consent", "revoke", "--tool", "x", "consent-0"), Code.USAGE)
    assert "nothing stood" in consentry("consent", "revoke", "--tool", "x").out
    assert consentry("consent").status == 2

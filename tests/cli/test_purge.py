"""`consentry purge`: rows that have no effect any more, and everything, if a person means it."""

import json
import os
import pty
import subprocess
from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code
from consentry.base.ids import Uuid7Ids
from consentry.decide.session import SessionKind
from consentry.service.identity import local_user
from consentry.service.ledgers import ledger_for_writing
from consentry.service.sessions import sessions_of
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import PROGRAM, CommandLine, Ended, assert_error

LONG_AGO = Instant.parse("2025-01-01T00:00:00Z")


@pytest.fixture
def state(consentry: CommandLine) -> Path:
    """The state directory of a machine on which a session was over long ago."""
    settle_a_session(consentry)
    return Path(consentry.environ["HOME"]) / ".local/state/consentry"


def settle_a_session(consentry: CommandLine, **environ: str) -> None:
    """A session that was started and ended long ago."""
    around = Surroundings({**consentry.environ, **environ}, consentry.cwd, uid=os.geteuid())
    clock = ManualClock(LONG_AGO)
    ledger = ledger_for_writing(around, clock)
    stored = sessions_of(around, ledger, clock, Uuid7Ids(clock))
    user = local_user(around, ledger.writer)
    stored.end(stored.start(user, SessionKind.LIBRARY).session_id)
    ledger.close()


def test_rows_are_counted_removed_and_recorded(consentry: CommandLine, state: Path) -> None:
    """First looked at, then gone; the events stay, and one more says how many rows went."""
    assert state.exists()
    assert consentry("purge", "--dry-run").out == "1 row would be removed\n  session  1\n"
    assert consentry("audit", "log", "--type", "ledger.purged").out == "no event fits\n"
    assert consentry("purge").out == "1 row removed\n  session  1\n"
    assert consentry("purge").out.startswith("nothing has been without effect since before ")
    assert consentry("purge", "--quiet") == Ended(0, "", "")
    [event_id] = consentry("audit", "log", "--type", "ledger.purged", "--quiet").out.split()
    event = json.loads(consentry("audit", "show", event_id, "--json").out)["event"]
    assert (event["payload"]["count"], event["payload"]["rows"]["session"]) == (1, 1)
    ended = consentry("audit", "log", "--type", "session.ended", "--quiet").out
    assert len(ended.splitlines()) == 1, "what the row said is still in the ledger"
    assert consentry("audit", "verify").status == 0


def test_how_old_is_old_enough(consentry: CommandLine, state: Path) -> None:
    """In JSON with the moment; too short or unreadable is an error."""
    assert state.exists()
    kept = json.loads(consentry("purge", "--older-than", "20000d", "--json").out)
    assert (kept["kind"], kept["removed"], kept["dry_run"]) == ("purge", 0, False)
    assert kept["before"] < "2000"
    assert_error(consentry("purge", "--older-than", "1h"), Code.USAGE)
    assert_error(consentry("purge", "--older-than", "long"), Code.UNIT_DURATION)
    gone = json.loads(consentry("purge", "--older-than", "90d", "--json").out)
    assert (gone["removed"], gone["rows"]["session"]) == (1, 1)


def test_where_nothing_was_recorded_nothing_is_purged(consentry: CommandLine) -> None:
    """And nothing is made."""
    assert consentry("purge").out.startswith("nothing has been without effect")
    assert consentry("purge", "--everything", "--yes").out == "there is nothing here to erase\n"
    assert not (Path(consentry.environ["HOME"]) / ".local").exists()


def test_everything_is_erased_only_when_it_is_confirmed(
    consentry: CommandLine, state: Path
) -> None:
    """A program has to say --yes; a look needs no confirmation."""
    assert_error(consentry("purge", "--everything"), Code.USAGE)
    looked = json.loads(consentry("purge", "--everything", "--dry-run", "--json").out)
    assert (looked["kind"], looked["dry_run"]) == ("purge-everything", True)
    assert (looked["folder"], looked["files"][0]) == (str(state), "ledger.db")
    assert state.exists()
    erased = consentry("purge", "--everything", "--yes")
    assert erased.out.startswith(f"{state} was erased\n  ledger.db\n")
    assert not state.exists()
    assert consentry("audit", "log").out == "nothing was recorded here yet\n"


def test_what_is_not_ours_is_never_erased(consentry: CommandLine, state: Path) -> None:
    """One foreign file keeps all of them."""
    (state / "diary.txt").write_text("mine")
    refused = consentry("purge", "--everything", "--yes")
    assert_error(refused, Code.STATE_REFUSED)
    assert "diary.txt" in refused.err
    assert (state / "ledger.db").exists()


def typed(consentry: CommandLine, words: str) -> Ended:
    """What happens when a person at a terminal types that."""
    master, terminal = pty.openpty()
    with os.fdopen(terminal, "rb") as keyboard:
        process = subprocess.Popen(
            [*PROGRAM, "purge", "--everything"],
            cwd=consentry.cwd,
            env=consentry.environ,
            stdin=keyboard,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        os.write(master, words.encode())
        out, err = process.communicate()
    os.close(master)
    return Ended(process.returncode, out, err)


def test_a_person_types_the_word(consentry: CommandLine, state: Path) -> None:
    """Anything else, and an end of input, leaves all as it is."""
    for words in ("yes\n", "PURGE\n", "\n", "\x04"):
        ended = typed(consentry, words)
        assert (ended.status, ended.out) == (2, "")
        assert "nothing was erased" in ended.err
    assert state.exists()
    ended = typed(consentry, "purge\n")
    assert (ended.status, f"{state} was erased" in ended.out) == (0, True)
    assert "Type purge to go on:" in ended.err
    assert not state.exists()


def test_a_shared_ledger_is_not_this_machines_to_erase(
    consentry: CommandLine, postgres_url: str
) -> None:
    """Rows are purged there as in a file; erasing removes the local files alone, and says so."""
    shared = {"CONSENTRY_STORE": postgres_url}
    settle_a_session(consentry, **shared)
    assert consentry("purge", **shared).out == "1 row removed\n  session  1\n"
    before = json.loads(consentry("audit", "verify", "--json", **shared).out)["events"]
    erased = consentry("purge", "--everything", "--yes", **shared)
    assert erased.out.endswith("the shared ledger on the server stays as it is\n")
    assert "  machine-id\n" in erased.out
    assert not (Path(consentry.environ["HOME"]) / ".local/state/consentry").exists()
    assert json.loads(consentry("audit", "verify", "--json", **shared).out)["events"] == before


def test_wrong_usage(consentry: CommandLine) -> None:
    """Options that contradict each other, or mean nothing alone."""
    assert_error(consentry("purge", "--yes"), Code.USAGE)
    assert_error(consentry("purge", "--everything", "--older-than", "30d"), Code.USAGE)

"""`consentry audit`: the real command over a real ledger in a real state directory."""

import json
import os
import sqlite3
import stat
from pathlib import Path

import pytest

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.record.envelope import Draft
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine, assert_error
from tests.record.samples import Drafts

RACES = ("--type", "FilesystemRaceDetected")
HOSTILE = "tool:\x1b[2J\u202eevil\nFAKE LINE"


@pytest.fixture
def state(consentry: CommandLine) -> Path:
    """Where the ledger is: made by the library, as a program that embeds it would.

    Its first event registers the machine; the three of the test come behind it.
    """
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    drafts = Drafts()
    events = [drafts.make("tool:a"), drafts.make("tool:b", decision="denied"), drafts.make(HOSTILE)]
    recorded(around, *events)
    return Path(consentry.environ["HOME"]) / ".local" / "state" / "consentry"


def recorded(around: Surroundings, *drafts: Draft) -> None:
    """Appends, and lets go of the file, as a program that has ended."""
    ledger = ledger_for_writing(around)
    ledger.append(*drafts)
    ledger.close()


def test_without_a_ledger_every_command_says_so(consentry: CommandLine) -> None:
    """Nothing is made by looking."""
    assert consentry("audit", "log").out == "nothing was recorded here yet\n"
    assert consentry("audit", "verify").out == "nothing was recorded here yet\n"
    assert json.loads(consentry("audit", "log", "--json").out)["events"] == []
    assert_error(consentry("audit", "show", "event-x"), Code.EVENT_UNKNOWN)
    assert not (Path(consentry.environ["HOME"]) / ".local").exists()


def test_the_state_is_for_its_owner_alone(consentry: CommandLine, state: Path) -> None:
    """The folder 0700, the files 0600."""
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in state.iterdir()} == {0o600}
    assert consentry("audit", "verify").status == 0


def test_log_lists_filters_and_counts(consentry: CommandLine, state: Path) -> None:
    """One line for each event, the latest last."""
    assert state.exists()
    lines = consentry("audit", "log", *RACES, TZ="UTC").out.splitlines()
    assert len(lines) == 3
    assert lines[0].startswith("2026-01-01 00:00:01+00:00  FilesystemRaceDetected  tool:a  event-")
    assert len(consentry("audit", "log", "--last", "1").out.splitlines()) == 1
    assert "tool:b" in consentry("audit", "log", "--subject", "tool:b").out
    assert "tool:b" in consentry("audit", "log", "--decision", "denied").out
    assert consentry("audit", "log", "--type", "PluginRejected").out == "no event fits\n"
    since = consentry("audit", "log", *RACES, "--since", "2026-01-01T00:00:03Z", "--quiet")
    assert len(since.out.splitlines()) == 1


def test_hostile_subjects_cannot_act_on_the_terminal(consentry: CommandLine, state: Path) -> None:
    """Escaped in the list and in the event; exact in JSON."""
    assert state.exists()
    listed = consentry("audit", "log", *RACES).out
    assert "\x1b" not in listed
    assert len(listed.splitlines()) == 3
    assert "\\u{1b}[2J\\u{202e}evil\\u{a}FAKE LINE" in listed
    event_id = consentry("audit", "log", *RACES, "--quiet", "--last", "1").out.strip()
    shown = consentry("audit", "show", event_id).out
    assert "\x1b" not in shown
    document = json.loads(consentry("audit", "show", event_id, "--json").out)
    assert document["event"]["subject"] == HOSTILE


def test_verify_counts_and_names_the_first_bad_event(consentry: CommandLine, state: Path) -> None:
    """A flipped byte in the file itself is found: status 5 and the event's id."""
    ended = consentry("audit", "verify")
    assert ended.out.startswith("4 events verify, in 1 chain\n")
    assert "no checkpoint was ever taken: a cut tail" in ended.out
    path = state / "ledger.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(path.read_bytes())
    content[content.index(b'"subject":"tool:b"') + 16] ^= 0x02
    path.write_bytes(bytes(content))
    broken = consentry("audit", "verify")
    assert_error(broken, Code.CHAIN_BROKEN)
    assert "event 3 (`event-00000000-0000-7000-8000-000000000002`)" in broken.err
    assert json.loads(consentry("audit", "verify", "--json").out)["error"]["exit_status"] == 5


def test_bad_input(consentry: CommandLine, state: Path) -> None:
    """A wrong time, a word too many, an unknown command: one clear error each."""
    assert state.exists()
    assert_error(consentry("audit", "log", "--since", "yesterday"), Code.TIMESTAMP)
    assert_error(consentry("audit", "log", "--last", "0"), Code.USAGE)
    assert_error(consentry("audit", "lgo"), Code.USAGE)
    assert "did you mean `log`?" in consentry("audit", "lgo").err
    assert_error(consentry("audit", "show", "event-nope"), Code.EVENT_UNKNOWN)


def test_a_ledger_that_is_no_database_is_named(consentry: CommandLine, state: Path) -> None:
    """The file, what is wrong and what to do; status 5."""
    (state / "ledger.db").write_bytes(b"not a database at all, but long enough " * 40)
    for suffix in ("-wal", "-shm"):
        (state / f"ledger.db{suffix}").unlink(missing_ok=True)
    assert_error(consentry("audit", "verify"), Code.LEDGER_CORRUPT)


def test_an_unsafe_state_directory_is_refused(consentry: CommandLine, state: Path) -> None:
    """Somebody else could have written what it holds."""
    state.chmod(0o755)
    assert_error(consentry("audit", "verify"), Code.STATE_UNSAFE)


def cut_tail(state: Path, keep: int) -> None:
    """Removes the latest events and moves the head back, so that the chain alone looks whole."""
    connection = sqlite3.connect(state / "ledger.db")
    query = "SELECT hash FROM ledger_event WHERE seq = ?"
    last = connection.execute(query, (keep,)).fetchone()[0]
    connection.execute("DELETE FROM ledger_event WHERE seq > ?", (keep,))
    connection.execute("UPDATE ledger_head SET seq = ?, hash = ?", (keep, last))
    connection.commit()
    connection.close()


def test_a_cut_tail_is_found_with_a_checkpoint_and_only_with_one(
    consentry: CommandLine, state: Path
) -> None:
    """The attack passes plain verify, and fails against a checkpoint kept from before."""
    kept = consentry.cwd / "kept.json"
    made = consentry("audit", "checkpoint", "--out", str(kept))
    assert made.out.startswith("4 events signed with ed25519:")
    holds = consentry("audit", "verify", "--checkpoint", str(kept))
    assert (holds.status, "holds: its 4 events are all there" in holds.out) == (0, True)
    cut_tail(state, 3)
    assert consentry("audit", "verify").status == 0, "the chain alone cannot show it"
    found = consentry("audit", "verify", "--checkpoint", str(kept))
    assert_error(found, Code.CHAIN_BROKEN)
    assert "event 4 of" in found.err


def test_verify_says_when_the_last_checkpoint_was_taken(
    consentry: CommandLine, state: Path
) -> None:
    """So that somebody looks for the copy; the time is in the document, too."""
    assert state.exists()
    assert json.loads(consentry("audit", "verify", "--json").out)["last_checkpoint"] is None
    made = json.loads(consentry("audit", "checkpoint", "--json").out)["checkpoint"]
    document = json.loads(consentry("audit", "verify", "--json").out)
    assert document["last_checkpoint"] >= made["timestamp_utc"]
    shown = consentry("audit", "verify").out.splitlines()[-2:]
    assert shown[0].startswith("no checkpoint was compared: a cut tail")
    last = Instant.parse(document["last_checkpoint"]).shown()
    assert shown[1] == f"the last one was taken at {last}; name its copy with --checkpoint"


def test_a_ledger_that_is_gone_or_another_is_found(consentry: CommandLine, state: Path) -> None:
    """The file removed, and another ledger put in its place."""
    kept = consentry.cwd / "kept.json"
    consentry("audit", "checkpoint", "--out", str(kept))
    for path in state.glob("ledger.db*"):
        path.unlink()
    assert_error(consentry("audit", "verify", "--checkpoint", str(kept)), Code.CHAIN_BROKEN)
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    recorded(around, Drafts().make())
    other = consentry("audit", "verify", "--checkpoint", str(kept))
    assert_error(other, Code.CHECKPOINT)
    assert "of another ledger" in other.err


def test_a_changed_checkpoint_or_another_key_is_refused(
    consentry: CommandLine, state: Path
) -> None:
    """The document is believed only as it was signed, by the key that is trusted."""
    assert state.exists()
    kept = consentry.cwd / "kept.json"
    consentry("audit", "checkpoint", "--out", str(kept))
    key = consentry.cwd / "key.pem"
    key.write_text(consentry("audit", "checkpoint", "--public-key").out)
    with_key = ("audit", "verify", "--checkpoint", str(kept), "--key", str(key))
    assert consentry(*with_key).status == 0
    document = json.loads(kept.read_text())
    document["heads"][0]["size"] = 2
    kept.write_text(json.dumps(document))
    assert_error(consentry(*with_key), Code.CHECKPOINT)
    kept.write_text("not a checkpoint")
    assert consentry(*with_key).status != 0


def test_a_checkpoint_never_overwrites_and_needs_something_to_sign(
    consentry: CommandLine,
) -> None:
    """A file in the way, a link in the way, nothing recorded, a file that is not there."""
    assert_error(consentry("audit", "checkpoint"), Code.CHECKPOINT_EMPTY)
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    recorded(around, Drafts().make())
    taken = consentry.cwd / "taken.json"
    taken.write_text("mine")
    assert_error(consentry("audit", "checkpoint", "--out", str(taken)), Code.FILE_UNUSABLE)
    assert taken.read_text() == "mine"
    link = consentry.cwd / "link.json"
    link.symlink_to(consentry.cwd / "elsewhere.json")
    assert_error(consentry("audit", "checkpoint", "--out", str(link)), Code.FILE_UNUSABLE)
    assert not (consentry.cwd / "elsewhere.json").exists()
    consentry("audit", "checkpoint", "--quiet")
    missing = consentry("audit", "verify", "--checkpoint", "nowhere.json")
    assert_error(missing, Code.FILE_UNUSABLE)
    assert_error(consentry("audit", "verify", "--key", "x.pem"), Code.USAGE)

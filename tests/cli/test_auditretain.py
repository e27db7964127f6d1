"""`consentry audit retain`, `verify --archive`, `show` and `rebuild`, over a real ledger."""

import json
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.clock import Instant, ManualClock, SystemClock
from consentry.base.codes import Code
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.record.events import EventType
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine, assert_error
from tests.record.payloads import kept_for, sample_draft
from tests.record.samples import CONTEXT

DAY = Duration.parse("1d")


@pytest.fixture
def database(consentry: CommandLine) -> Path:
    """A ledger with the machine's own record, ten old events, one for each day, and a decision."""
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    clock = ManualClock(Instant(SystemClock().now().unix_ms - 30 * DAY.milliseconds))
    ids = Uuid7Ids(SystemClock())
    with closing(ledger_for_writing(around, clock)) as ledger:
        for number in range(10):
            clock.advance(DAY)
            more = kept_for("25d") if number == 2 else {}
            ledger.append(sample_draft(EventType.TOOL_AUDIT, ids, clock, CONTEXT, **more))
        decided = EventType.PERMISSION_ESCALATION_DECIDED
        ledger.append(sample_draft(decided, ids, clock, CONTEXT, id=ids.new("escalation")))
    return Path(consentry.environ["HOME"]) / ".local/state/consentry/ledger.db"


def tampered(database: Path, statement: str) -> None:
    """Changes the file behind the command's back."""
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute(statement)


def types_of(consentry: CommandLine) -> list[str]:
    """The types of all events in the ledger, in order."""
    listed = json.loads(consentry("audit", "log", "--json", "--last", "99").out)["events"]
    return [event["type"] for event in sorted(listed, key=lambda event: event["seq"])]


def test_old_events_go_into_the_file_and_the_ledger_verifies(
    consentry: CommandLine, database: Path
) -> None:
    """Looked at first, then done; the file is the person's alone, and is the one that was sealed."""
    kept = consentry.cwd / "kept.json"
    consentry("audit", "checkpoint", "--out", str(kept))
    recorded = types_of(consentry)
    looked = consentry("audit", "retain", "--older-than", "23d", "--dry-run")
    assert looked.out.startswith("8 events would be archived\n")
    assert types_of(consentry) == recorded
    done = consentry("audit", "retain", "--older-than", "23d", "--out", "old.jsonl")
    assert done.out.startswith("8 events archived in old.jsonl as archive-")
    assert "keep the file" in done.out
    file = consentry.cwd / "old.jsonl"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert database.exists()
    assert len(file.read_bytes().splitlines()) == 10
    assert types_of(consentry) == [*recorded[8:], "ledger.archived"]
    verified = consentry("audit", "verify", "--archive", "old.jsonl", "--checkpoint", str(kept))
    assert verified.status == 0, verified.err
    assert "old.jsonl is the archive that was sealed: its 8 events" in verified.out
    assert "holds: its" in verified.out


def test_without_a_span_only_what_says_so_itself_is_archived(
    consentry: CommandLine, database: Path
) -> None:
    """The one event that is past its own retainLogs; a second time, nothing."""
    assert database.exists()
    done = json.loads(consentry("audit", "retain", "--out", "own.jsonl", "--json").out)
    assert (done["kind"], done["events"], done["more"], done["dry_run"]) == (
        "audit-retain",
        1,
        False,
        False,
    )
    [writer] = done["writers"]
    assert (writer["events"], writer["first_seq"], writer["last_seq"]) == (1, 4, 4)
    assert done["archive"]["file"] == "own.jsonl"
    verified = json.loads(consentry("audit", "verify", "--archive", "own.jsonl", "--json").out)
    assert verified["archives"] == [
        {**done["archive"], "events": 1},
    ]
    again = consentry("audit", "retain", "--out", "again.jsonl")
    assert (again.status, again.out) == (0, "no event is old enough\n")
    assert not (consentry.cwd / "again.jsonl").exists()
    quiet = consentry("audit", "retain", "--older-than", "23d", "--out", "all.jsonl", "--quiet")
    assert quiet.out.startswith("archive-")


def test_an_archived_event_is_shown_to_be_in_its_archive(
    consentry: CommandLine, database: Path
) -> None:
    """And a file that is not the archive, or not known, is refused with what to do."""
    assert database.exists()
    done = consentry("audit", "retain", "--older-than", "23d", "--out", "old.jsonl", "--quiet")
    file = consentry.cwd / "old.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    shown = consentry("audit", "show", json.loads(lines[1])["eventId"])
    assert_error(shown, Code.EVENT_UNKNOWN)
    assert f"is in the archive `{done.out.strip()}`" in shown.err
    (consentry.cwd / "cut.jsonl").write_bytes(b"".join(lines[:-1]))
    cut = consentry("audit", "verify", "--archive", "cut.jsonl")
    assert_error(cut, Code.ARCHIVE)
    assert "cut.jsonl:10" in cut.err
    nowhere = consentry("audit", "verify", "--archive", "nowhere.jsonl")
    assert_error(nowhere, Code.FILE_UNUSABLE)
    both = ("--archive", "old.jsonl", "--archive", "cut.jsonl")
    assert_error(consentry("audit", "verify", *both), Code.ARCHIVE)


def test_a_changed_list_is_found_and_named_with_the_archive(
    consentry: CommandLine, database: Path
) -> None:
    """Without the file, the part it is in; with it, the very event."""
    consentry("audit", "retain", "--older-than", "23d", "--out", "old.jsonl")
    other = "(SELECT hash FROM archived_event WHERE seq = 3)"
    tampered(database, f"UPDATE archived_event SET hash = {other} WHERE seq = 2")  # noqa: S608
    alone = consentry("audit", "verify")
    assert_error(alone, Code.CHAIN_BROKEN)
    assert "event 1 of" in alone.err
    assert "up to event 8, is not the hash that was archived" in alone.err
    with_file = consentry("audit", "verify", "--archive", "old.jsonl")
    assert_error(with_file, Code.CHAIN_BROKEN)
    assert "event 2 (`event-" in with_file.err
    refused = consentry("audit", "retain", "--older-than", "1d", "--out", "more.jsonl")
    assert_error(refused, Code.CHAIN_BROKEN)
    assert not (consentry.cwd / "more.jsonl").exists()


def test_wrong_usage_of_retain(consentry: CommandLine, database: Path) -> None:
    """Each with one clear error, and nothing changed."""
    before = types_of(consentry)
    assert database.exists()
    assert_error(consentry("audit", "retain", "--older-than", "1d"), Code.USAGE)
    both = ("--out", "x.jsonl", "--dry-run")
    assert_error(consentry("audit", "retain", "--older-than", "1d", *both), Code.USAGE)
    spans = ("--older-than", "1d", "--before", "2026-01-01T00:00:00Z", "--dry-run")
    assert_error(consentry("audit", "retain", *spans), Code.USAGE)
    assert_error(consentry("audit", "retain", "--older-than", "x", "--dry-run"), Code.UNIT_DURATION)
    assert_error(consentry("audit", "retain", "--before", "1d", "--dry-run"), Code.TIMESTAMP)
    future = ("--before", "9000-01-01T00:00:00Z", "--dry-run")
    assert_error(consentry("audit", "retain", *future), Code.USAGE)
    (consentry.cwd / "taken.jsonl").write_text("mine")
    taken = consentry("audit", "retain", "--older-than", "1d", "--out", "taken.jsonl")
    assert_error(taken, Code.FILE_UNUSABLE)
    assert (consentry.cwd / "taken.jsonl").read_text() == "mine"
    assert [kind for kind in types_of(consentry) if kind != "session.started"] == before


def test_rebuild_repairs_a_table_and_is_recorded(consentry: CommandLine, database: Path) -> None:
    """After old events were archived, too."""
    consentry("audit", "retain", "--older-than", "0s", "--out", "old.jsonl")
    tampered(database, "DELETE FROM permission_audit_log")
    done = consentry("audit", "rebuild")
    assert done.out == (
        "4 tables filled anew from 1 events\n"
        "  capability_budget  0 rows\n"
        "  capability_token  0 rows\n"
        "  permission_audit_log  1 rows\n"
        "  workflow_pattern  0 rows\n"
    )
    assert types_of(consentry)[-1] == "ledger.rebuilt"
    document = json.loads(consentry("audit", "rebuild", "--json").out)
    assert (document["kind"], document["events"]) == ("audit-rebuild", 1)
    assert {"table": "permission_audit_log", "rows": 1} in document["tables"]
    assert consentry("audit", "rebuild", "--quiet").out == ""
    assert consentry("audit", "verify", "--archive", "old.jsonl").status == 0
    tampered(database, "UPDATE ledger_event SET hash = 'x'")
    assert_error(consentry("audit", "rebuild"), Code.CHAIN_BROKEN)


def test_without_a_ledger_nothing_is_made(consentry: CommandLine) -> None:
    """Neither the state directory nor a file."""
    said = "nothing was recorded here yet\n"
    assert consentry("audit", "retain", "--older-than", "1d", "--out", "o.jsonl").out == said
    assert consentry("audit", "retain", "--dry-run").out == said
    assert consentry("audit", "rebuild").out == said
    assert json.loads(consentry("audit", "rebuild", "--json").out)["tables"] == []
    assert json.loads(consentry("audit", "retain", "--dry-run", "--json").out)["events"] == 0
    assert list(consentry.cwd.iterdir()) == [consentry.cwd / ".git"]
    assert not (Path(consentry.environ["HOME"]) / ".local").exists()

"""The ledger on a real SQLite file: durable, chained, shared, and honest about damage."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from consentry.base.errors import LedgerProblem
from consentry.record.chain import ChainFault
from consentry.store.history import EventFilter
from consentry.store.ledger import Ledger
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER, Drafts
from tests.store.ledgers import fresh_drafts, open_ledger

PROGRAM = [sys.executable, "-m", "tests.store.ledgers"]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the database is."""
    return tmp_path / "ledger.db"


def tampered(path: Path, statement: str, *values: object) -> None:
    """Changes the file behind the ledger's back."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement, values)
    connection.close()


def sound(ledger: Ledger) -> int:
    """How many events the chains have; that they verify is asserted."""
    heads = ledger.history.verify()
    assert isinstance(heads, list)
    return sum(head.seq for head in heads)


def broken(ledger: Ledger) -> ChainFault:
    """The first fault; that there is one is asserted."""
    found = ledger.history.verify()
    assert isinstance(found, ChainFault)
    return found


def test_what_is_appended_is_found_listed_and_verified(path: Path) -> None:
    """Through a second opening of the file, as another process would."""
    drafts = Drafts()
    appended = open_ledger(path).append(drafts.make("tool:a"), drafts.make("tool:b"))
    again = open_ledger(path)
    assert sound(again) == 2
    assert [row.hash for row in again.history.events()] == [event.hash for event in appended]
    [only_b] = again.history.events(EventFilter(subject="tool:b"))
    assert json.loads(only_b.body)["subject"] == "tool:b"
    found = again.history.find(appended[0].draft.event_id)
    assert found is not None
    assert found.body == appended[0].body
    assert again.history.find("event-00000000-0000-7000-8000-0000000000ff") is None


def test_filters_narrow_by_subject_type_session_and_time(path: Path) -> None:
    """Each alone and together; the end of a span is not in it."""
    ledger, drafts = open_ledger(path), Drafts()
    ledger.append(*(drafts.make(f"tool:{n % 2}") for n in range(6)))
    first = "2026-01-01T00:00:02.000Z"
    last = "2026-01-01T00:00:05.000Z"
    assert len(list(ledger.history.events(EventFilter(since=first, until=last)))) == 3
    assert len(list(ledger.history.events(EventFilter(subject="tool:1", since=first)))) == 3
    assert list(ledger.history.events(EventFilter(type="PluginRejected"))) == []
    assert list(ledger.history.events(EventFilter(session_id="s"))) == []


@pytest.mark.parametrize(
    ("statement", "seq", "why"),
    [
        (
            "UPDATE ledger_event SET body = replace(body, 'tool:', 'fool:') WHERE seq = 4",
            4,
            "changed",
        ),
        ("UPDATE ledger_event SET hash = 'sha256:00' WHERE seq = 4", 4, "changed"),
        ("DELETE FROM ledger_event WHERE seq = 4", 4, "missing"),
        ("DELETE FROM ledger_event WHERE seq = 9", 9, "missing"),
        ("DELETE FROM ledger_event", 1, "missing"),
        ("UPDATE ledger_event SET seq = 40 WHERE seq = 9", 9, "missing"),
        ("UPDATE ledger_event SET writer = 'other' WHERE seq = 1", 1, "missing"),
        ("DELETE FROM ledger_head", 1, "without a head"),
        ("UPDATE ledger_head SET hash = 'sha256:00'", 9, "head"),
    ],
)
def test_a_change_behind_its_back_is_found_and_named(
    path: Path, statement: str, seq: int, why: str
) -> None:
    """A flipped, dropped, moved or cut event, or a changed head."""
    ledger, drafts = open_ledger(path), Drafts()
    ledger.append(*(drafts.make() for _ in range(9)))
    assert sound(ledger) == 9
    tampered(path, statement)
    found = broken(ledger)
    assert (found.seq, why in found.why) == (seq, True), found


@pytest.mark.parametrize("needle", [b"tool:seven", b'"component":"a"', b'"eventId"'])
def test_one_byte_flipped_on_disk_is_found_and_named(path: Path, needle: bytes) -> None:
    """In the file itself, past every check of the database: in a value, a key or a subject."""
    ledger, drafts = open_ledger(path), Drafts()
    ledger.append(*(drafts.make("tool:seven" if n == 7 else "tool:x") for n in range(1, 10)))
    tampered(path, "PRAGMA wal_checkpoint(TRUNCATE)")
    content = bytearray(path.read_bytes())
    body_start = content.rindex(b'{"actor"', 0, content.index(b'"subject":"tool:seven"'))
    content[content.index(needle, body_start) + 2] ^= 0x01
    path.write_bytes(bytes(content))
    found = broken(open_ledger(path))
    assert found.seq == 7
    assert "was changed" in found.why


def test_a_cut_tail_with_its_head_moved_back_is_not_seen_here(path: Path) -> None:
    """What the chain alone cannot show; only a checkpoint kept elsewhere does."""
    ledger, drafts = open_ledger(path), Drafts()
    events = ledger.append(*(drafts.make() for _ in range(9)))
    tampered(path, "DELETE FROM ledger_event WHERE seq > 5")
    tampered(path, "UPDATE ledger_head SET seq = 5, hash = ?", events[4].hash)
    assert sound(ledger) == 5


def test_sixteen_threads_share_one_chain_and_few_commits(path: Path) -> None:
    """Every event once, in one unbroken chain."""
    ledger, drafts = open_ledger(path), fresh_drafts()
    waiting = [[drafts.make() for _ in range(25)] for _ in range(16)]

    def append_each(mine: list) -> None:  # type: ignore[type-arg]
        for draft in mine:
            ledger.append(draft)

    threads = [threading.Thread(target=append_each, args=(mine,)) for mine in waiting]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sound(ledger) == 400
    recorded = [json.loads(row.body)["eventId"] for row in ledger.history.events()]
    assert sorted(recorded) == sorted(d.event_id for mine in waiting for d in mine)


def test_four_processes_share_one_chain(path: Path) -> None:
    """The head moves in the same transaction, so no place is taken twice; the first makes tables."""
    children = [
        subprocess.Popen([*PROGRAM, str(path), "50"], stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    told = [child.communicate()[0].split() for child in children]
    assert [child.returncode for child in children] == [0, 0, 0, 0]
    ledger = open_ledger(path)
    assert sound(ledger) == 200
    recorded = {json.loads(row.body)["eventId"] for row in ledger.history.events()}
    assert recorded == {event_id for ids in told for event_id in ids}


def test_a_killed_process_loses_nothing_it_was_told_is_durable(path: Path) -> None:
    """Kill -9 in the middle of appending, again and again: acknowledged is recorded, once."""
    acknowledged: set[str] = set()
    for pause in range(3, 23, 4):
        child = subprocess.Popen(
            [*PROGRAM, str(path), "100000"], stdout=subprocess.PIPE, text=True, bufsize=1
        )
        assert child.stdout is not None
        for _ in range(pause):
            acknowledged.add(child.stdout.readline().strip())
        child.send_signal(signal.SIGKILL)
        rest = child.stdout.read().split()
        child.wait()
        child.stdout.close()
        acknowledged.update(line for line in rest if len(line) == len("event-") + 36)
    ledger = open_ledger(path)
    recorded = [json.loads(row.body)["eventId"] for row in ledger.history.events()]
    assert len(recorded) == len(set(recorded)) == sound(ledger)
    assert acknowledged <= set(recorded)


def test_the_same_event_cannot_be_recorded_twice(path: Path) -> None:
    """An id is used once; the second try is an error and leaves the chain as it was."""
    ledger, draft = open_ledger(path), Drafts().make()
    ledger.append(draft)
    with pytest.raises(LedgerProblem) as caught:
        ledger.append(draft)
    assert caught.value.code == "event-twice"
    assert sound(ledger) == 1


def test_a_failed_append_leaves_the_ledger_usable(path: Path) -> None:
    """Events that go together fail together, and the next one is recorded."""
    ledger, drafts = open_ledger(path), Drafts()
    draft = drafts.make()
    with pytest.raises(LedgerProblem):
        ledger.append(draft, draft)
    assert sound(ledger) == 0
    ledger.append(drafts.make())
    assert sound(ledger) == 1


def test_a_locked_database_is_an_error_with_its_own_code(path: Path) -> None:
    """After waiting, the caller is told, and nothing was recorded."""
    ledger = open_ledger(path)
    database = SqliteDatabase(path, patience=0.05)
    impatient = Ledger(database, WRITER)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    with pytest.raises(LedgerProblem) as caught:
        impatient.append(Drafts().make())
    assert caught.value.code == "ledger-busy"
    holder.execute("ROLLBACK")
    holder.close()
    assert sound(ledger) == 0


def test_a_file_that_is_no_database_is_an_error_and_kept(path: Path) -> None:
    """The content is left as it was found."""
    path.write_bytes(b"this is not a database, and it is long enough to be looked at" * 20)
    with pytest.raises(LedgerProblem) as caught:
        open_ledger(path)
    assert caught.value.code == "ledger-corrupt"
    assert path.read_bytes().startswith(b"this is not a database")


def test_a_full_disk_records_nothing_and_says_so(tmp_path: Path) -> None:
    """A real small tmpfs, filled: the append raises, the chain stays sound, room makes it work."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    small = tmp_path / "small"
    small.mkdir()
    mount, umount = "/usr/bin/mount", "/usr/bin/umount"
    subprocess.run([mount, "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)], check=True)
    try:
        ledger, drafts = open_ledger(small / "ledger.db"), fresh_drafts()
        ledger.append(drafts.make())
        filler = small / "filler"
        with pytest.raises(OSError, match="No space"):
            filler.write_bytes(b"x" * (2 << 20))
        with pytest.raises(LedgerProblem) as caught:
            ledger.append(*(drafts.make(x="y" * 20_000) for _ in range(50)))
        assert caught.value.code == "ledger-unwritable"
        before = sound(ledger)
        filler.unlink()
        ledger.append(drafts.make())
        assert sound(ledger) == before + 1
    finally:
        subprocess.run([umount, "-l", str(small)], check=True)

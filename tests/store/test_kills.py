"""Kill -9 between any two system calls, on both stores; `strace` delivers it at the very call.

The small size takes an even sample of the calls, the full size every one of them.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.record.chain import event_fields
from consentry.service.audit import require_sound
from consentry.service.checkpoints import (
    KEY_NAME,
    kept_checkpoint,
    last_taken,
    require_continues,
    take_checkpoint,
)
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import Surroundings, look_around
from consentry.store.database import Dialect
from consentry.store.history import History
from consentry.store.keyfile import load_key
from consentry.store.ledger import Ledger
from consentry.store.machine import FILE_NAME, machine_id
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.crashes import CHANGE, Said, append, kept, make_appended, require_whole
from tests.store.sizes import sampled, share
from tests.store.systemcalls import (
    CHANGING,
    TALKING,
    Call,
    Ended,
    calls_of,
    killed_at,
    require_tracing,
)

PROGRAM = (sys.executable, "-m", "tests.store.crashes")
COMMAND = (sys.executable, "-m", "consentry")
KILLED = -9
PARTS = 2


@pytest.fixture(autouse=True)
def _tracing() -> None:
    require_tracing()


def killed(call: Call, ended: Ended) -> Said:
    """What it said until it was killed."""
    assert ended.status == KILLED, f"{call}: ended with {ended.status}: {ended.err}"
    return Said.read(ended.out)


def spread(calls: list[Call], small: int, part: int) -> list[Call]:
    """This part's share of the calls; the many page writes give way to what is rare."""
    pages = [call for call in calls if call.name == "pwrite64"]
    rare = [call for call in calls if call.name != "pwrite64"]
    return share(sampled(rare, small * 2 // 3) + sampled(pages, small // 3), part, PARTS)


def copies(template: Path) -> Iterator[Path]:
    """One fresh copy of a folder after the other."""
    number = 0
    while True:
        number += 1
        yield Path(shutil.copytree(template, template.with_name(f"{template.name}-{number}")))


@pytest.mark.parametrize("part", range(PARTS))
def test_appends_killed_between_system_calls_leave_a_file_whole(tmp_path: Path, part: int) -> None:
    """Acknowledged is there, once; the rest whole or not at all; then an append works."""
    (tmp_path / "store").mkdir()
    database = SqliteDatabase(tmp_path / "store" / "store.db")
    migrate(database)
    make_appended(database)
    database.close()
    folders = copies(tmp_path / "store")
    end = [*PROGRAM, "end"]
    calls = calls_of([*end, str(next(folders) / "store.db"), CHANGE, "3"], CHANGING)
    assert {"pwrite64", "fdatasync", "write", "unlink"} <= {call.name for call in calls}
    for call, folder in zip(spread(calls, 12, part), folders, strict=False):
        path = folder / "store.db"
        said = killed(call, killed_at(call, [*end, str(path), CHANGE, "3"]))
        database = SqliteDatabase(path)
        events = require_whole(database, [said], CHANGE)
        again = append(Ledger(database, WRITER), CHANGE)
        assert len(require_whole(database, [said, again], CHANGE)) == len(events) + 3
        database.close()


def in_order(argv: list[str], **environ: str) -> str:
    """What the program says when nothing stops it."""
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env={**os.environ, **environ}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def state_of(folder: Path) -> dict[str, str]:
    """The environment of a machine that keeps its state in that folder."""
    return {"HOME": str(folder), "CONSENTRY_STATE": str(folder / "state")}


def around(folder: Path) -> Surroundings:
    """The same, for calls from here."""
    return look_around({**os.environ, **state_of(folder)})


def history_of(folder: Path) -> History:
    """What the machine with its state in that folder recorded."""
    history = ledger_for_reading(around(folder))
    assert history is not None
    return history


@pytest.mark.parametrize("part", range(PARTS))
def test_a_first_use_killed_between_system_calls_can_be_repeated(tmp_path: Path, part: int) -> None:
    """State directory, id, tables and first events: each whole or absent, and the next run goes on."""
    first = [*PROGRAM, "first", "2"]
    (tmp_path / "empty").mkdir()
    folders = copies(tmp_path / "empty")
    environ = {**os.environ, **state_of(next(folders))}
    calls = calls_of(first, CHANGING, env=environ)
    assert {"mkdir", "link", "fsync", "fdatasync"} <= {call.name for call in calls}
    for call, folder in zip(spread(calls, 6, part), folders, strict=False):
        ended = killed_at(call, first, env={**os.environ, **state_of(folder)})
        said = killed(call, ended)
        state = folder / "state"
        before = machine_id(state) if (state / FILE_NAME).exists() else None
        again = Said.read(in_order(first, **state_of(folder)))
        history = history_of(folder)
        [head] = require_sound(history)
        assert head.writer == machine_id(state) == (before or head.writer)
        recorded = {str(event_fields(row.body)["eventId"]) for row in history.events()}
        assert said.told | again.told <= recorded
        assert len(recorded) == head.seq
        assert state.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("part", range(PARTS))
def test_a_checkpoint_killed_between_system_calls_leaves_nothing_torn(
    tmp_path: Path, part: int
) -> None:
    """Key and file are whole or absent; what was written verifies; the next checkpoint works."""
    (tmp_path / "machine").mkdir()
    in_order([*PROGRAM, "first", "2"], **state_of(tmp_path / "machine"))
    folders = copies(tmp_path / "machine")
    take = [*COMMAND, "audit", "checkpoint", "--out"]

    def started_in(folder: Path) -> dict[str, object]:
        return {"cwd": folder, "env": {**os.environ, **state_of(folder)}}

    calls = calls_of([*take, "taken.json"], CHANGING, **started_in(next(folders)))
    assert {"linkat", "unlinkat", "fsync", "write"} <= {call.name for call in calls}
    for call, folder in zip(spread(calls, 18, part), folders, strict=False):
        ended = killed_at(call, [*take, "taken.json"], **started_in(folder))
        assert ended.status == KILLED, f"{call}: {ended.err}"
        taken, key = folder / "taken.json", folder / "state" / KEY_NAME
        made = load_key(key) if key.exists() else None
        assert made is not None or not taken.exists()
        assert taken.exists() or last_taken(history_of(folder)) is None
        clock = SystemClock()
        following = take_checkpoint(around(folder), clock, Uuid7Ids(clock))
        assert made is None or load_key(key) == made
        written = [kept_checkpoint(around(folder), str(taken), None)] if taken.exists() else []
        for checkpoint in (*written, following):
            require_continues(history_of(folder), checkpoint)


@pytest.mark.parametrize("store", [Dialect.POSTGRESQL], ids=str, indirect=True)
def test_appends_killed_between_messages_leave_a_server_whole(store: Store) -> None:
    """The same where the ledger is on a server, at any message to it or from it."""
    database = store.open()
    make_appended(database)
    ledger = Ledger(database, WRITER)
    everything = [append(ledger, CHANGE)]
    end = [*PROGRAM, "end", str(store.url_or_path), CHANGE, "2"]
    calls = calls_of(end, TALKING)
    everything.append(Said.of_events(kept(database).events))
    assert {call.name for call in calls} == {*TALKING}
    points = sampled(calls, 6)
    strokes = 0
    for call in points:
        ended = killed_at(call, end)
        # In how many pieces messages come is not always the same, so some calls are not made.
        strokes += ended.status == KILLED
        assert ended.status in {KILLED, 0}, ended.err
        everything.append(Said.read(ended.out))
        # The server may still be busy with the last it was told; then it holds this lock.
        with database.writing() as transaction:
            list(transaction.rows("SELECT 1 FROM ledger_head FOR UPDATE"))
        events = require_whole(database, everything, CHANGE)
        everything.append(append(ledger, CHANGE))
        assert len(require_whole(database, everything, CHANGE)) == len(events) + 3
    assert strokes > len(points) // 2

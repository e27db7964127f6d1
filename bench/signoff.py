"""What a sign-off costs: over a hundred thousand and over a million events, in one pass, in flat memory.

The yardstick is a plain loop that reads the same rows in the same order and makes JSON of each. A sign-off
reads them so, too, and besides follows every chain by hash, holds each event to the fields of its type and
keeps the state of every attempt, action and session; the ratio says what that comes to. Memory is the peak
of a fresh process each, a hundred thousand events beside ten times as many, and stays where it is although
there are ten times as many attempts to remember (`CONSENTRY_BENCH_EVENTS` for another number).
"""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import Any, Final

from bench.report import heading
from consentry.base.canonical import canonical_json
from consentry.base.clock import Instant, SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.record.envelope import GENESIS
from consentry.record.signoff import SignoffWindow
from consentry.service.signoff import signoff_answer
from consentry.store.database import Database
from consentry.store.history import History
from consentry.store.migrations import migrate
from consentry.store.sqlite import Access, SqliteDatabase
from tests.record.signoffsamples import (
    APPLIED,
    ROLLED_BACK,
    approval_of,
    capability_payload,
    ended_payload,
    step_payload,
    used_payload,
)

MANY: Final = 1_000_000
PART: Final = 10
"""The smaller ledger has a tenth."""
ROUNDS: Final = 3
FLAT: Final = 1.2

_WRITERS: Final = tuple(f"machine-{digit * 32}" for digit in "123")
_UNTIL: Final = Instant(1_767_225_600_000)
_WINDOW: Final = SignoffWindow.ending(_UNTIL, Duration.parse("7d"))
_BATCH: Final = 5_000
_ORDER: Final = "SELECT CAST(body AS BLOB) FROM ledger_event ORDER BY at, writer, seq"


def run() -> bool:
    """Prints the figures; returns whether memory is flat."""
    many = int(os.environ.get("CONSENTRY_BENCH_EVENTS", MANY))
    few = max(1_000, many // PART)
    heading(f"sign-off over {few:,} and {many:,} events on SQLite ({ROUNDS} rounds, in turns)")
    peaks: dict[int, float] = {}
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        for events in (few, many):
            path = Path(folder).resolve() / f"{events}.db"
            _fill(path, events)
            size = path.stat().st_size / 2**20
            taken: dict[str, list[float]] = {"loop": [], "signoff": []}
            for _ in range(ROUNDS):
                for work, found in taken.items():
                    seconds, peak = _measured(work, path)
                    found.append(seconds)
                    peaks[events] = peak if work == "signoff" else peaks.get(events, 0.0)
            loop, signoff = (median(found) for found in taken.values())
            print(f"{events:,} events, {size:.0f} MiB: read and parsed in {loop:.2f} s")
            print(
                f"{events:,} events: signed off in {signoff:.2f} s, {signoff / events * 1e6:.1f} us an "
                f"event, {signoff / loop:.2f} x the plain loop"
            )
    ratio = peaks[many] / peaks[few]
    met = ratio <= FLAT
    print(
        f"peak memory {peaks[few]:.1f} MiB over {few:,}, {peaks[many]:.1f} MiB over {many:,}: "
        f"{ratio:.2f} x, target <= {FLAT} x: {'met' if met else 'NOT MET'}"
    )
    return met


def _measured(work: str, path: Path) -> tuple[float, float]:
    """Seconds and MiB of a process of its own."""
    words = [sys.executable, "-m", "bench.signoff", work, str(path)]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    seconds, peak = done.stdout.split()
    return float(seconds), float(peak)


def _work(work: str, path: str) -> None:
    database = SqliteDatabase(Path(path), Access.READ)
    begun = perf_counter_ns()
    if work == "loop":
        _plain_loop(database)
    else:
        answer = signoff_answer(History(database), _WINDOW)
        if answer.integrity or answer.gates[3].numerator == 0:
            raise SystemExit(f"the sign-off did not see what was recorded: {answer.integrity[:1]}")
    seconds = (perf_counter_ns() - begun) / 1e9
    status = Path("/proc/self/status").read_text().splitlines()
    peak = next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024
    print(seconds, peak)


def _plain_loop(database: Database) -> None:
    with database.reading() as view:
        for (body,) in view.rows(_ORDER):
            json.loads(body)  # type: ignore[arg-type]


def _fill(path: Path, events: int) -> None:
    """Events of three machines in turn, spread over the window, each in its chain."""
    database = SqliteDatabase(path)
    migrate(database)
    heads = dict.fromkeys(_WRITERS, (0, str(GENESIS)))
    ids, step = Uuid7Ids(SystemClock()), (7 * 86_400_000 - 1000) / events
    drafts = islice(_drafts(ids), events)
    rows = []
    for number, (writer, kind, session, payload) in enumerate(drafts):
        at = str(Instant(_WINDOW.since.unix_ms + int(number * step)))
        rows.append(_row(heads, writer, (kind, at, session, ids.new("event")), payload))
        if len(rows) == _BATCH or number == events - 1:
            with database.writing() as transaction:
                transaction.run_many(
                    "INSERT INTO ledger_event (writer, seq, hash, body) VALUES (?, ?, ?, ?)", rows
                )
            rows.clear()
    with database.writing() as transaction:
        transaction.run_many(
            "INSERT INTO ledger_head (writer, seq, hash) VALUES (?, ?, ?)",
            [(writer, seq, found) for writer, (seq, found) in heads.items() if seq],
        )
    database.put_into_one_file()
    database.close()


def _row(
    heads: dict[str, tuple[int, str]],
    writer: str,
    about: tuple[str, str, str | None, str],
    payload: Mapping[str, Any],
) -> tuple[str, int, str, str]:
    kind, at, session, event_id = about
    seq, prev = heads[writer]
    repeated = {
        "transaction.transition": {"timestamp": at},
        "capability.escalation.approved": {"eventId": event_id, "timestampUtc": at},
    }
    tags = ("drillId", "expectedOutcome", "fixtureCaseId", "fixtureRunId")
    body = canonical_json(
        {
            "actor": "local:1000:bench@host",
            "eventId": event_id,
            "evidenceChannel": "prod_traffic",
            **dict.fromkeys(tags),
            "machineId": writer,
            "payload": {**payload, **repeated.get(kind, {})},
            "policyHash": None,
            "prev": prev,
            "schemaVersion": 1,
            "seq": seq + 1,
            "sessionId": session,
            "subject": "bench:signoff",
            "timestampUtc": at,
            "type": kind,
            "workflowId": None,
            "writer": writer,
        }
    )
    found = f"sha256:{hashlib.sha256(body).hexdigest()}"
    heads[writer] = (seq + 1, found)
    return writer, seq + 1, found, body.decode()


def _drafts(ids: Uuid7Ids) -> Iterator[tuple[str, str, str | None, Mapping[str, Any]]]:
    """An approval, then without end: transactions, uses of capabilities, and events of other kinds."""
    approved = capability_payload("approved", "user-approved-persistent", grantScope="persistent")
    yield _WRITERS[0], "capability.escalation.approved", None, approved
    number = 0
    race = {"jail": "/jail", "relative": "a/b", "component": "a"}
    while True:
        number += 1
        writer, tx_id = _WRITERS[number % 3], f"tx-{number}"
        used = {**used_payload(1), "actionRunId": ids.new("action")}
        session = f"session-{number // 5}"
        yield writer, "module.capability.used", session, used
        approval = approval_of(tx_id, decisionAt=str(_WINDOW.since), approvalTtlSeconds=604_800)
        for previous, following in ROLLED_BACK if number % 20 == 0 else APPLIED:
            bound = {"approval": approval} if following in ("APPROVED", "APPLYING") else {}
            step = step_payload(tx_id, previous, following, **bound)
            yield writer, "transaction.transition", session, step
        ended = {**ended_payload(1), "actionRunId": used["actionRunId"]}
        yield writer, "module.action.ended", session, ended
        yield writer, "FilesystemRaceDetected", None, race


if __name__ == "__main__":
    _work(*sys.argv[1:]) if len(sys.argv) > 2 else sys.exit(not run())  # noqa: PLR2004

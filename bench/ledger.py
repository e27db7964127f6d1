"""How fast the ledger is, next to a bare INSERT and COMMIT and to hashing alone.

Appending is measured against the same SQLite file settings (write-ahead log, every commit synced);
verifying against `hashlib` over the same bytes on one core. The disk decides most of it, so both
sides of a ratio are measured in turns.
"""

import hashlib
import sqlite3
import tempfile
import threading
from functools import partial
from pathlib import Path
from time import perf_counter

from bench.report import heading, interleaved, row
from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType
from consentry.store.history import EventFilter
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase

ROUNDS = 400
THREADS = 16
VERIFIED = 20_000
SINGLE_TARGET = 0.7
THREADS_TARGET = 3.0
VERIFY_TARGET = 0.2


def run() -> bool:
    """Prints the table; returns whether every target is met."""
    heading("ledger (SQLite, WAL, synchronous=FULL)")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        bench = _Bench(Path(folder))
        return all([bench.single(), bench.threads(), bench.verify(), bench.query()])


class _Bench:
    def __init__(self, folder: Path) -> None:
        self.clock = SystemClock()
        self.ids = Uuid7Ids(self.clock)
        self.context = Context("local:1000:bench@host", "machine-" + "0" * 32)
        self.folder = folder
        self.ledger = self.opened("ledger.db")
        self.number = 0

    def opened(self, name: str) -> Ledger:
        database = SqliteDatabase(self.folder / name)
        migrate(database)
        return Ledger(database, self.context.machine_id)

    def draft(self) -> Draft:
        self.number += 1
        payload: dict[str, str | int] = {
            "jail": "/jail",
            "relative": "a/b",
            "component": "a",
            "n": self.number,
        }
        subject = f"tool:t{self.number % 100}"
        event_type = EventType.FILESYSTEM_RACE_DETECTED
        return Draft(
            self.ids.new("event"), event_type, self.clock.now(), subject, self.context, payload
        )

    def single(self) -> bool:
        """One append at a time, beside a bare insert of the same bytes."""
        [event] = self.ledger.append(self.draft())
        body = event.body.decode()
        bare = sqlite3.connect(self.folder / "bare.db", isolation_level=None)
        bare.execute("PRAGMA journal_mode=WAL")
        bare.execute("PRAGMA synchronous=FULL")
        bare.execute("CREATE TABLE t (a TEXT, b INTEGER, c TEXT, d TEXT)")

        def insert() -> None:
            bare.execute("BEGIN IMMEDIATE")
            bare.execute("INSERT INTO t VALUES (?, ?, ?, ?)", (event.writer, 1, event.hash, body))
            bare.execute("COMMIT")

        samples = interleaved(
            ROUNDS, insert=insert, append=lambda: self.ledger.append(self.draft())
        )
        row("bare INSERT; COMMIT", samples["insert"])
        row("append, one at a time", samples["append"], samples["insert"])
        bare.close()
        return _rate("append", samples["insert"].p50 / samples["append"].p50, SINGLE_TARGET)

    def threads(self) -> bool:
        """Sixteen threads at once, beside one."""
        one = self._appended_per_second(1, ROUNDS)
        many = self._appended_per_second(THREADS, ROUNDS)
        print(f"appends a second: 1 thread {one:,.0f}, {THREADS} threads {many:,.0f}")
        return _rate(f"{THREADS} threads", many / one, THREADS_TARGET)

    def _appended_per_second(self, threads: int, each: int) -> float:
        waiting = [[self.draft() for _ in range(each)] for _ in range(threads)]

        def append_each(mine: list[Draft]) -> None:
            for draft in mine:
                self.ledger.append(draft)

        workers = [threading.Thread(target=append_each, args=(mine,)) for mine in waiting]
        begun = perf_counter()
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        return threads * each / (perf_counter() - begun)

    def verify(self) -> bool:
        """Following the chain, beside hashing the same bytes."""
        ledger = self.opened("verify.db")
        for _ in range(VERIFIED // 1000):
            ledger.append(*(self.draft() for _ in range(1000)))
        bodies = [event.body for event in ledger.history.events()]
        samples = interleaved(
            15,
            hashing=lambda: [hashlib.sha256(body).hexdigest() for body in bodies],
            verifying=ledger.history.verify,
        )
        row(f"hashlib over {VERIFIED:,} events", samples["hashing"])
        row("verify", samples["verifying"], samples["hashing"])
        return _rate("verify", samples["hashing"].p50 / samples["verifying"].p50, VERIFY_TARGET)

    def query(self) -> bool:
        """The latest events of one subject, as the ledger grows; no target at this size."""
        for size in (1_000, 20_000):
            ledger = self.opened(f"query{size}.db")
            for _ in range(size // 1000):
                ledger.append(*(self.draft() for _ in range(1000)))
            ledger.append(*(self._about("tool:rare") for _ in range(10)))
            sample = interleaved(50, query=partial(_rare_events, ledger))
            row(f"ten events of one subject among {size:,}", sample["query"])
        return True

    def _about(self, subject: str) -> Draft:
        draft = self.draft()
        return Draft(
            draft.event_id, draft.type, draft.timestamp, subject, draft.context, draft.payload
        )


def _rare_events(ledger: Ledger) -> int:
    return sum(1 for _ in ledger.history.events(EventFilter(subject="tool:rare")))


def _rate(name: str, ratio: float, target: float) -> bool:
    met = ratio >= target
    print(f"{name}: {ratio:.2f} x the rate, target >= {target} x: {'met' if met else 'NOT MET'}")
    return met

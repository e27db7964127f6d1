"""How fast the ledger is, next to a bare INSERT and COMMIT and to hashing alone.

Appending is measured against a bare insert into a file with write-ahead log and `synchronous=FULL`,
which is as durable; verifying against `hashlib` over the same bytes on one core. The disk decides
most of it, so both sides of a ratio are measured in turns.
"""

import hashlib
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from bench.drafts import WRITER, Drafts
from bench.report import heading, interleaved, row
from consentry.record.envelope import Draft
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase

ROUNDS = 400
THREADS = 16
PROCESSES = 4
TURNS = 5
VERIFIED = 20_000
SINGLE_TARGET = 0.7
THREADS_TARGET = 3.0
PROCESSES_TARGET = 1.5
VERIFY_TARGET = 0.2


def run() -> bool:
    """Prints the table; returns whether every target is met."""
    heading("ledger (ours: synchronous=NORMAL and our own fdatasync; bare: synchronous=FULL)")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        bench = _Bench(Path(folder))
        return all([bench.single(), bench.threads(), bench.processes(), bench.verify()])


class _Bench:
    def __init__(self, folder: Path) -> None:
        self.drafts = Drafts()
        self.folder = folder
        self.ledger = self.opened("ledger.db")

    def opened(self, name: str) -> Ledger:
        database = SqliteDatabase(self.folder / name)
        migrate(database)
        return Ledger(database, WRITER)

    def single(self) -> bool:
        """One append at a time, beside a bare insert of the same bytes."""
        [event] = self.ledger.append(self.drafts.make())
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
            ROUNDS, insert=insert, append=lambda: self.ledger.append(self.drafts.make())
        )
        row("bare INSERT; COMMIT", samples["insert"])
        row("append, one at a time", samples["append"], samples["insert"])
        bare.close()
        return _rate("append", samples["insert"].p50 / samples["append"].p50, SINGLE_TARGET)

    def threads(self) -> bool:
        """Sixteen threads at once, beside one."""
        return _many_beside_one(
            f"{THREADS} threads",
            lambda: self._appended_per_second(1, ROUNDS),
            lambda: self._appended_per_second(THREADS, ROUNDS),
            THREADS_TARGET,
        )

    def processes(self) -> bool:
        """Four processes at once, beside one."""
        return _many_beside_one(
            f"{PROCESSES} processes",
            lambda: self._appended_by_processes(1, ROUNDS),
            lambda: self._appended_by_processes(PROCESSES, ROUNDS),
            PROCESSES_TARGET,
        )

    def _appended_by_processes(self, processes: int, each: int) -> float:
        argv = [sys.executable, "-m", "bench.appender", str(self.folder / "ledger.db"), str(each)]
        children = [
            subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            for _ in range(processes)
        ]
        pipes = [(child.stdin, child.stdout) for child in children if child.stdin and child.stdout]
        for _, said in pipes:
            said.readline()
        begun = perf_counter()
        for told, _ in pipes:
            told.write(b"go\n")
            told.flush()
        for _, said in pipes:
            said.readline()
        taken = perf_counter() - begun
        for child in children:
            child.communicate()
        return processes * each / taken

    def _appended_per_second(self, threads: int, each: int) -> float:
        waiting = [[self.drafts.make() for _ in range(each)] for _ in range(threads)]

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
            ledger.append(*(self.drafts.make() for _ in range(1000)))
        bodies = [event.body for event in ledger.history.events()]
        samples = interleaved(
            15,
            hashing=lambda: [hashlib.sha256(body).hexdigest() for body in bodies],
            verifying=ledger.history.verify,
        )
        row(f"hashlib over {VERIFIED:,} events", samples["hashing"])
        row("verify", samples["verifying"], samples["hashing"])
        return _rate("verify", samples["hashing"].p50 / samples["verifying"].p50, VERIFY_TARGET)


def _many_beside_one(
    name: str, one: Callable[[], float], many: Callable[[], float], target: float
) -> bool:
    """Both in turns, so that a busy moment of the disk hits both; the median turn counts."""
    turns = [(one(), many()) for _ in range(TURNS)]
    alone, together = (median(rates) for rates in zip(*turns, strict=True))
    print(f"appends a second: alone {alone:,.0f}, {name} {together:,.0f}")
    return _rate(name, median(many / one for one, many in turns), target)


def _rate(name: str, ratio: float, target: float) -> bool:
    met = ratio >= target
    print(f"{name}: {ratio:.2f} x the rate, target >= {target} x: {'met' if met else 'NOT MET'}")
    return met

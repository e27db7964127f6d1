"""How the ledger behaves as it grows: a query by subject, and the memory of verify and export.

Two ledgers, of ten thousand and of a million events (`CONSENTRY_BENCH_EVENTS` for another number).
The query is timed in turns; memory is the peak of a fresh process each, above that of a process
which does the same with ten thousand.
"""

import os
import resource
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from bench.drafts import WRITER, Drafts
from bench.report import heading, interleaved, row
from consentry.store.history import EventFilter, History
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.sqlite import Access, SqliteDatabase

FEW = 10_000
MANY = 1_000_000
RARE = "tool:rare"
QUERY_TARGET = 2.0
MEMORY_TARGET = 1.1

_BATCH = 2_000


def run() -> bool:
    """Prints the table; returns whether every target is met."""
    many = int(os.environ.get("CONSENTRY_BENCH_EVENTS", MANY))
    heading(f"ledger at size: {FEW:,} and {many:,} events")
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        small, large = Path(folder) / "small.db", Path(folder) / "large.db"
        _fill(small, FEW)
        _fill(large, many)
        samples = interleaved(
            200, few=partial(_rare_events, small), many=partial(_rare_events, large)
        )
        row(f"ten events of one subject among {FEW:,}", samples["few"])
        met = row(
            f"ten events of one subject among {many:,}",
            samples["many"],
            samples["few"],
            QUERY_TARGET,
        )
        for work in ("verify", "export"):
            before, after = _peak(work, small), _peak(work, large)
            is_flat = after / before <= MEMORY_TARGET
            print(
                f"{work}: peak memory {before / 1024:.1f} MiB among {FEW:,}, {after / 1024:.1f} MiB "
                f"among {many:,}: {after / before:.2f} x, target <= {MEMORY_TARGET} x: "
                f"{'met' if is_flat else 'NOT MET'}"
            )
            met = met and is_flat
        return met


def _fill(path: Path, events: int) -> None:
    database = SqliteDatabase(path)
    migrate(database)
    ledger, drafts = Ledger(database, WRITER), Drafts()
    # Spread over the whole, as a tool that is used now and then would be.
    for number in range(0, events, _BATCH):
        ledger.append(*(drafts.make() for _ in range(min(_BATCH, events - number))))
        if number % (events // 10) < _BATCH:
            ledger.append(drafts.make(RARE))
    ledger.close()


def _rare_events(path: Path) -> int:
    database = SqliteDatabase(path, Access.READ)
    try:
        return sum(1 for _ in History(database).events(EventFilter(subject=RARE)))
    finally:
        database.close()


def _peak(work: str, path: Path) -> int:
    argv = [sys.executable, "-m", "bench.ledgersize", work, str(path)]
    return int(subprocess.run(argv, check=True, capture_output=True, text=True).stdout)


def _measured(work: str, path: str) -> None:
    """In a process of its own: does the work, and prints the peak of its memory in KiB."""
    from consentry.record.eventline import line_of  # noqa: PLC0415 - only the measured process needs it

    history = History(SqliteDatabase(Path(path), Access.READ))
    if work == "verify":
        history.verify()
    else:
        with Path(os.devnull).open("wb") as sink:
            sink.writelines(line_of(event) for event in history.events())
    history.database.close()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


if __name__ == "__main__":
    _measured(*sys.argv[1:])

"""What an imported module costs its host: a check, a use, a question and its answer, an import.

A check on a loaded standing looks at nothing outside. With the freshness read it asks the database for one
row first, however many grants there are; a plain read of one row from the same file stands beside it, and a
decision of Cedar among a thousand policies. What is recorded waits for the disk, so a bare append to a ledger
stands beside a use, and reading the JSON with one bare commit beside an import.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns
from typing import Final

from bench import cedar
from bench.drafts import Drafts
from bench.modulestores import CAPABILITIES, MODULE, Ground, typical
from bench.report import Sample, heading, interleaved, per_call, row, within
from consentry.decide.capabilitycheck import check
from consentry.store.migrations import migrate
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from tests.declare.modulesamples import HOST

SIZES: Final = (10, 1_000, 100_000)
ROUNDS, FEW, CALLS, REPEATS = 3_000, 200, 2_000, 21
CHECK_MS, FRESH_MS, IMPORT_MS, FLAT = 0.005, 0.04, 2.0, 1.5
NEEDED: Final = CAPABILITIES[:2]


class _Unsynced(SqliteDatabase):
    """Commits, and does not wait for the disk; only to see what the disk takes."""

    def sync(self) -> None:
        """Returns at once."""


def run() -> bool:
    """Prints the tables; returns whether every target is met."""
    with TemporaryDirectory(dir=Path.cwd()) as folder:
        place = Path(folder).resolve()
        met = [_checked(place), _imported(place), _asked(place)]
        _on_a_server()
    return all(met)


def _checked(place: Path) -> bool:
    heading(f"may a module use {len(NEEDED)} capabilities? ({ROUNDS} rounds, in turns)")
    with ExitStack() as held:
        grounds = {size: Ground(held.enter_context(_store(place / f"{size}.db"))) for size in SIZES}
        for size, ground in grounds.items():
            ground.fill(size)
        smallest = grounds[SIZES[0]]
        standing = smallest.standing()
        loaded = per_call(
            REPEATS,
            CALLS,
            lambda: check(standing, NEEDED, smallest.checks.catalog, "list"),
        )
        raw = held.enter_context(closing(_bare(place / f"{SIZES[-1]}.db")))
        fresh = {f"at {size}": partial(_fresh, ground) for size, ground in grounds.items()}
        samples = interleaved(ROUNDS, raw=partial(_row_of, raw), **fresh)
        anew = {f"at {size}": partial(_anew, ground) for size, ground in grounds.items()}
        reloaded = interleaved(FEW, **anew)
    read = samples["raw"]
    row("one row, read by bare sqlite3", read)
    row("check on a loaded standing", loaded, read)
    met = within("", loaded, CHECK_MS)
    for size in SIZES:
        row(f"with the freshness read, {size:,} grants", samples[f"at {size}"], read)
        met &= within("", samples[f"at {size}"], FRESH_MS)
    least, most = samples[f"at {SIZES[0]}"], samples[f"at {SIZES[-1]}"]
    met &= row(f"{SIZES[-1]:,} grants beside {SIZES[0]}", most, least, FLAT)
    for size in SIZES:
        row(f"loaded anew, {size:,} grants", reloaded[f"at {size}"], read)
    _beside_cedar(place, loaded, most)
    return met


def _beside_cedar(place: Path, loaded: Sample, fresh: Sample) -> None:
    try:
        version, sample = cedar.measured(place, REPEATS, CALLS)
    except cedar.Absent as reason:
        print(f"cedarpy is left out: {reason}")
        return
    name = f"{version}, {cedar.POLICIES:,} policies"
    row(f"{name}, beside the check", sample, loaded)
    row(f"{name}, and the read", sample, fresh)


def _imported(place: Path) -> bool:
    package = typical(0)
    heading(f"import of a package of {len(package):,} bytes ({FEW} rounds, in turns)")
    numbers = count(1)
    with ExitStack() as held:
        synced = Ground(held.enter_context(_store(place / "imports.db")))
        unsynced = Ground(held.enter_context(_store(place / "unsynced.db", _Unsynced)))
        bare = held.enter_context(closing(_bare(place / "bare.db")))
        bare.execute("CREATE TABLE t (a TEXT)")
        samples = interleaved(
            FEW,
            bare=lambda: _read_and_commit(bare, typical(next(numbers))),
            unsynced=lambda: unsynced.import_module(typical(next(numbers))),
            synced=lambda: synced.import_module(typical(next(numbers))),
        )
    base = samples["bare"]
    row("json.loads and one bare commit", base)
    row("import, without waiting for the disk", samples["unsynced"], base)
    met = within("", samples["unsynced"], IMPORT_MS)
    row("import", samples["synced"], base)
    return within("", samples["synced"], IMPORT_MS) and met


def _asked(place: Path) -> bool:
    heading(f"uses, questions and answers ({FEW} rounds, in turns)")
    with _store(place / "asks.db") as database:
        _recorded(Ground(database))
    return True


def _recorded(ground: Ground) -> None:
    """Prints what is recorded for a module, beside a bare append to the same ledger."""
    ground.import_module(typical(0))
    drafts, asked, answered = Drafts(), list[int](), list[int]()
    ground.grant(NEEDED)
    samples = interleaved(
        FEW,
        append=lambda: ground.journal.ledger.append(drafts.make()),
        use=lambda: ground.use(NEEDED),
    )
    for _ in range(FEW):
        begun = perf_counter_ns()
        request = ground.ask(CAPABILITIES[2:3])
        between = perf_counter_ns()
        grants = ground.answer(request)
        answered.append(perf_counter_ns() - between)
        asked.append(between - begun)
        ground.revoke(grants)
    base = samples["append"]
    row("a bare append to the ledger", base)
    row("a use on record", samples["use"], base)
    row("a question, stored", Sample("", tuple(asked)), base)
    row("its answer and the grant, stored", Sample("", tuple(answered)), base)


def _on_a_server() -> None:
    heading(f"the same on PostgreSQL, by a socket, 1,000 grants ({FEW} rounds)")
    try:
        from tests.store.postgresserver import NoServer, PostgresServer  # noqa: PLC0415 - an extra
    except ImportError:
        print("left out: the driver is not installed")
        return
    try:
        server = PostgresServer()
    except NoServer as reason:
        print(f"left out: {reason}")
        return
    with closing(server), closing(PostgresDatabase(server.url())) as database:
        migrate(database)
        ground = Ground(database)
        ground.fill(1_000)
        samples = interleaved(FEW, fresh=partial(_fresh, ground), anew=partial(_anew, ground))
        row("check with the freshness read", samples["fresh"])
        row("loaded anew", samples["anew"])
        numbers = count(1)
        imports = interleaved(FEW, one=lambda: ground.import_module(typical(next(numbers))))
        row("import", imports["one"])
        _recorded(Ground(database, "other-board"))


def _fresh(ground: Ground) -> None:
    standing = ground.standing()
    if not check(standing, NEEDED, ground.checks.catalog, "list").is_passed:
        raise RuntimeError("the bench may not use what it was granted")


def _anew(ground: Ground) -> None:
    """As whoever looks for the first time."""
    ground.forget()
    _fresh(ground)


@contextmanager
def _store(
    path: Path, kind: Callable[[Path], SqliteDatabase] = SqliteDatabase
) -> Iterator[SqliteDatabase]:
    database = kind(path)
    with closing(database):
        migrate(database)
        yield database


def _bare(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=FULL")
    return connection


def _row_of(connection: sqlite3.Connection) -> None:
    query = "SELECT revision FROM module WHERE host_id = ? AND module_id = ?"
    if connection.execute(query, (HOST.host_id, MODULE)).fetchone() is None:
        raise RuntimeError("the bench reads a row that is not there")


def _read_and_commit(connection: sqlite3.Connection, package: bytes) -> None:
    json.loads(package)
    connection.execute("BEGIN IMMEDIATE")
    connection.execute("INSERT INTO t VALUES (?)", (package.decode(),))
    connection.execute("COMMIT")

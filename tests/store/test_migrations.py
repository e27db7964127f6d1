"""Migrations: forward and back, twice, at once, killed, and refused where something would be lost."""

import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store.database import Database, Dialect
from consentry.store.history import History
from consentry.store.ledger import Ledger
from consentry.store.migrations import MIGRATIONS, NEWEST, migrate, version_of
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER, Drafts
from tests.store.archiving import all_before, taken_out
from tests.store.conftest import Store
from tests.store.ledgers import fresh_drafts
from tests.store.sizes import sampled
from tests.store.systemcalls import CHANGING, calls_of, killed_at, require_tracing

FIRST = Path(__file__).with_name("version1.sql")
EVENTS_OF_FIRST = 6
PROGRAM = """
import sys
from tests.store.crashes import opened
from consentry.store.migrations import migrate
migrate(opened(sys.argv[1]))
"""
MIGRATE = (sys.executable, "-c", PROGRAM)
_SHAPE = {
    Dialect.SQLITE: "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name",
    Dialect.POSTGRESQL: """
        SELECT 'column', table_name || '.' || column_name, coalesce(generation_expression, '')
        FROM information_schema.columns WHERE table_schema = 'public'
        UNION ALL SELECT 'index', indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
        UNION ALL SELECT 'function', proname, prosrc FROM pg_proc
        WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 2
    """,
}


def shape_of(database: Database) -> list[object]:
    """Tables, columns, indexes and functions, as the database itself tells them."""
    with database.reading() as view:
        return list(view.rows(_SHAPE[view.dialect]))


def version(database: Database) -> int:
    """As the database has it."""
    with database.reading() as view:
        return version_of(view)


def events(database: Database) -> list[object]:
    """What was recorded; in every version these are the columns."""
    query = "SELECT writer, seq, hash, body FROM ledger_event ORDER BY writer, seq"
    with database.reading() as view:
        return list(view.rows(query))


def refusal(do: Callable[[], None]) -> str:
    """Why it was refused; that it was is asserted."""
    with pytest.raises(LedgerProblem) as caught:
        do()
    assert caught.value.code == "ledger-newer"
    return caught.value.message


@pytest.fixture
def first(tmp_path: Path) -> Path:
    """A file as the first version of this program left it, with events of two machines."""
    path = tmp_path / "first.db"
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.executescript(FIRST.read_text(encoding="utf-8"))
    return path


def test_forward_back_and_forward_again(store: Store) -> None:
    """Each step can be undone alone or with others, and leaves the shape it came from."""
    database = store.open()
    shapes = {NEWEST: shape_of(database)}
    for step in reversed(range(NEWEST)):
        migrate(database, to=step)
        assert version(database) == step
        shapes[step] = shape_of(database)
    assert all("schema_version" in str(row) for row in shapes[0])
    for step in (*range(1, NEWEST + 1), 0, NEWEST, 1, 3, 2, NEWEST):
        migrate(database, to=step)
        assert (version(database), shape_of(database)) == (step, shapes[step])
    assert [step.version for step in MIGRATIONS] == list(range(1, NEWEST + 1))


def test_a_second_run_changes_nothing(store: Store) -> None:
    """Through the same opening or another one."""
    database = store.open()
    Ledger(database, WRITER).append(Drafts().make())
    before = shape_of(database), events(database)
    migrate(database)
    migrate(store.open())
    assert (shape_of(database), events(database)) == before


def test_events_stay_through_every_version_that_has_them(store: Store) -> None:
    """Back to the first version and forward again: the same bytes, verified."""
    database = store.open()
    ledger, drafts = Ledger(database, WRITER), Drafts()
    ledger.append(*(drafts.make(n=number) for number in range(5)))
    before = events(database)
    for step in (*reversed(range(1, NEWEST)), *range(2, NEWEST + 1)):
        migrate(database, to=step)
        assert events(database) == before
    ledger.append(drafts.make())
    heads = ledger.history.verify()
    assert isinstance(heads, list)
    assert heads[0].seq == 6


def test_a_file_of_the_first_version_is_taken_over(first: Path) -> None:
    """Its events verify, have the store's old id, and are gone on with."""
    with closing(SqliteDatabase(first)) as database:
        before = events(database)
        assert (version(database), len(before)) == (1, EVENTS_OF_FIRST)
        migrate(database)
        assert version(database) == NEWEST
        assert events(database) == before
        ledger = Ledger(database, WRITER)
        assert ledger.history.store_id() == "store-13bb9443b8868a357a86ce2a6b21cd0a"
        ledger.append(fresh_drafts().make())
        heads = ledger.history.verify()
        assert isinstance(heads, list)
        assert [head.seq for head in heads] == [4, 3]


def test_the_first_version_is_still_made_as_it_was(tmp_path: Path, first: Path) -> None:
    """What is run today up to version 1 gives what was made then."""
    with (
        closing(SqliteDatabase(first)) as old,
        closing(SqliteDatabase(tmp_path / "new.db")) as new,
    ):
        migrate(new, to=1)
        assert _spaceless(shape_of(new)) == _spaceless(shape_of(old))


def _spaceless(shape: list[object]) -> list[str]:
    return ["".join(str(row).replace("\\n", "").split()) for row in shape]


def test_a_newer_database_is_refused_and_not_touched(store: Store) -> None:
    """An older program does not guess, wherever it is to go."""
    database = store.open()
    with database.writing() as transaction:
        transaction.run("UPDATE schema_version SET version = ?", (NEWEST + 1,))
    before = shape_of(database)
    for to in (NEWEST, 1, 0):
        said = refusal(lambda to=to: migrate(database, to=to))  # type: ignore[misc]
        assert f"version {NEWEST + 1}" in said
    assert (version(database), shape_of(database)) == (NEWEST + 1, before)
    assert "version" in refusal(History(database).require_known_shape)


def test_going_back_is_refused_where_events_would_be_lost(store: Store) -> None:
    """Archived ones cannot be followed in version 1, and version 0 has none; nothing is undone."""
    database = store.open()
    ledger, drafts = Ledger(database, WRITER), Drafts()
    ledger.append(*(drafts.make(n=number) for number in range(5)))
    before = shape_of(database)
    assert "recorded" in refusal(lambda: migrate(database, to=0))
    taken_out(ledger, drafts, all_before(3))
    assert "archived" in refusal(lambda: migrate(database, to=1))
    assert (version(database), shape_of(database)) == (NEWEST, before)
    assert isinstance(ledger.history.verify(), list)
    migrate(database, to=2)
    migrate(database)
    assert isinstance(ledger.history.verify(), list)


def racing(place: str, count: int) -> None:
    """So many processes that migrate at once; none fails."""
    children = [
        subprocess.Popen([*MIGRATE, place], stderr=subprocess.PIPE, text=True) for _ in range(count)
    ]
    said = [child.communicate()[1] for child in children]
    assert [child.returncode for child in children] == [0] * count, said


def test_processes_that_start_at_once_migrate_once(store: Store) -> None:
    """Four of them on an empty database: each finds it done or does it."""
    database = store.open()
    newest = shape_of(database)
    migrate(database, to=0)
    racing(str(store.url_or_path), 4)
    assert (version(database), shape_of(database)) == (NEWEST, newest)
    assert isinstance(History(database).verify(), list)


def test_processes_that_start_at_once_on_an_old_file_keep_its_events(first: Path) -> None:
    """Three of them; the events are copied once."""
    racing(str(first), 3)
    with closing(SqliteDatabase(first)) as database:
        assert (version(database), len(events(database))) == (NEWEST, EVENTS_OF_FIRST)
        assert isinstance(History(database).verify(), list)


def test_a_migration_killed_between_system_calls_has_happened_or_not(
    tmp_path: Path, first: Path
) -> None:
    """The old shape or the new one, all events in it, and the next process goes on."""
    require_tracing()
    before = first.read_bytes()
    path = Path(shutil.copyfile(first, tmp_path / "counted.db"))
    calls = calls_of([*MIGRATE, str(path)], CHANGING)
    for number, call in enumerate(sampled(calls, 4)):
        path = tmp_path / f"killed-{number}.db"
        path.write_bytes(before)
        assert killed_at(call, [*MIGRATE, str(path)]).status == -9
        with closing(SqliteDatabase(path)) as database:
            assert version(database) in {1, NEWEST}
            migrate(database)
            assert len(events(database)) == EVENTS_OF_FIRST
            assert isinstance(History(database).verify(), list)

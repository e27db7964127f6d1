"""PostgreSQL as a database of ours, on a real server: what transactions and views promise."""

import subprocess
import sys
import threading
import time
import tracemalloc
from collections.abc import Iterator

import pytest
from psycopg.conninfo import conninfo_to_dict

from consentry.base.errors import LedgerProblem
from consentry.store.database import Dialect
from consentry.store.postgres import PostgresDatabase
from tests.store.postgresserver import PostgresServer

INSERT = "INSERT INTO note (name, size) VALUES (?, ?)"
NAMES = "SELECT name FROM note ORDER BY name"


@pytest.fixture
def database(postgres_url: str) -> Iterator[PostgresDatabase]:
    """A database with one small table."""
    opened = PostgresDatabase(postgres_url)
    with opened.writing() as transaction:
        transaction.run(
            'CREATE TABLE note (name TEXT COLLATE "C" PRIMARY KEY, size BIGINT, data BYTEA)'
        )
    yield opened
    opened.close()


def names(database: PostgresDatabase) -> list[object]:
    """What the table holds, for everybody to see."""
    with database.reading() as view:
        return [row[0] for row in view.rows(NAMES)]


def test_a_commit_is_seen_through_another_opening(
    database: PostgresDatabase, postgres_url: str
) -> None:
    """And only when the block has ended."""
    other = PostgresDatabase(postgres_url)
    with database.writing() as transaction:
        assert transaction.dialect is Dialect.POSTGRESQL
        assert transaction.run(INSERT, ("a", 1)) == 1
        assert names(other) == []
    assert names(other) == ["a"]
    other.close()


def test_a_block_that_raises_leaves_nothing(database: PostgresDatabase) -> None:
    """Whatever it raises; and the database goes on working."""

    def interrupted(problem: type[BaseException]) -> None:
        with database.writing() as transaction:
            transaction.run(INSERT, ("a", 1))
            raise problem

    for problem in (ValueError, KeyboardInterrupt):
        with pytest.raises(problem):
            interrupted(problem)
    with database.writing() as transaction:
        transaction.run(INSERT, ("b", 2))
    assert names(database) == ["b"]


def test_values_come_back_as_they_went_in(database: PostgresDatabase) -> None:
    """Text, whole numbers, bytes and nothing; a sum is a number, a document is text."""
    with database.writing() as transaction:
        transaction.run("INSERT INTO note VALUES (?, ?, ?)", ("é\u2028%s?", 2**53 + 1, b"\0\xff"))
        transaction.run(INSERT, ("b", None))
        [row] = transaction.rows("SELECT * FROM note WHERE size > ? AND name LIKE 'é%'", (5,))
        assert row == ("é\u2028%s?", 2**53 + 1, b"\0\xff")
        query = "SELECT sum(size), avg(2), 0.5::float8, '{\"a\": 1}'::jsonb, NULL FROM note"
        [row] = transaction.rows(query)
    assert row == (2**53 + 1, 2.0, 0.5, '{"a": 1}', None)
    assert [type(value) for value in row[:3]] == [int, float, float]


def test_many_rows_go_in_at_once_or_not_at_all(database: PostgresDatabase) -> None:
    """A repeated key among them is told as a repeated event."""
    with database.writing() as transaction:
        transaction.run_many(INSERT, [(f"n{n:03}", n) for n in range(200)])
        transaction.run_many(INSERT, [])
        assert transaction.run("DELETE FROM note WHERE size >= ?", (10,)) == 190
        [changed] = transaction.rows("UPDATE note SET size = 0 WHERE size = 9 RETURNING name")
        assert changed == ("n009",)
    with pytest.raises(LedgerProblem) as caught, database.writing() as transaction:
        transaction.run_many(INSERT, [("x", 1), ("y", 2), ("x", 3)])
    assert caught.value.code == "event-twice"
    assert len(names(database)) == 10


def test_an_error_that_was_swallowed_does_not_pass_for_a_commit(database: PostgresDatabase) -> None:
    """After one the server undoes the rest; a block that ends all the same has not recorded."""

    def careless() -> None:
        with database.writing() as transaction:
            transaction.run(INSERT, ("a", 1))
            with pytest.raises(LedgerProblem):
                transaction.run(INSERT, ("a", 1))

    with pytest.raises(LedgerProblem) as caught:
        careless()
    assert "undone" in str(caught.value)
    assert names(database) == []


def test_a_view_is_of_one_moment_and_cannot_write(database: PostgresDatabase) -> None:
    """Two queries in it agree, whatever is committed between them, and may be read in turns."""
    with database.writing() as transaction:
        transaction.run_many(INSERT, [(f"n{n:03}", n) for n in range(300)])
    with database.reading() as view:
        one = view.rows(NAMES)
        first = next(one)
        with database.writing() as transaction:
            transaction.run("DELETE FROM note")
        another = view.rows(NAMES)
        assert [first, *one] == list(another) == [(f"n{n:03}",) for n in range(300)]
    assert names(database) == []
    with pytest.raises(LedgerProblem) as caught, database.reading() as view:
        view.run(INSERT, ("a", 1))
    assert caught.value.code == "ledger-unwritable"
    assert "read-only" in str(caught.value)


def test_a_long_answer_takes_little_memory(database: PostgresDatabase) -> None:
    """Many times what is held at once passes through."""
    query = "SELECT n, repeat('x', 500) FROM generate_series(1, ?) AS n"
    with database.reading() as view:
        tracemalloc.start()
        total = sum(int(row[0] or 0) for row in view.rows(query, (100_000,)))
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert total == 100_000 * 100_001 // 2
    assert most < 5_000_000


def test_nothing_can_be_done_after_the_end(database: PostgresDatabase) -> None:
    """A statement behind its transaction would take effect by itself; a view has lost its moment."""
    with database.writing() as transaction:
        transaction.run_many(INSERT, [(f"n{n:03}", n) for n in range(300)])
    for attempt in (
        lambda: transaction.run(INSERT, ("late", 1)),
        lambda: transaction.run_many(INSERT, [("late", 1)]),
        lambda: transaction.rows(NAMES),
    ):
        with pytest.raises(LedgerProblem, match="has ended"):
            attempt()
    with database.reading() as view:
        rest = view.rows(NAMES)
        next(rest)
    with pytest.raises(LedgerProblem, match="has ended"):
        list(rest)
    assert len(names(database)) == 300


def test_threads_take_turns(database: PostgresDatabase) -> None:
    """One connection writes, and no increment is lost."""
    with database.writing() as transaction:
        transaction.run(INSERT, ("a", 0))

    def add() -> None:
        for _ in range(20):
            with database.writing() as transaction:
                [row] = transaction.rows("SELECT size FROM note WHERE name = ?", ("a",))
                transaction.run("UPDATE note SET size = ?", (int(row[0] or 0) + 1,))

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.reading() as view:
        assert list(view.rows("SELECT size FROM note")) == [(80,)]


def test_every_write_waits_for_the_disk(
    database: PostgresDatabase, postgres_server: PostgresServer, postgres_url: str
) -> None:
    """Also where the database was set up not to; and a replaced connection does too."""
    name = conninfo_to_dict(postgres_url)["dbname"]
    postgres_server.run(f"ALTER DATABASE {name} SET synchronous_commit TO off")
    postgres_server.run(f"ALTER DATABASE {name} SET default_transaction_read_only TO on")
    postgres_server.stop()
    postgres_server.start()
    with database.writing() as transaction:
        assert list(transaction.rows("SHOW synchronous_commit")) == [("on",)]
        transaction.run(INSERT, ("a", 1))
    database.sync()
    with database.reading() as view:
        assert list(view.rows("SELECT current_setting('synchronous_commit')")) == [("off",)]


def test_one_connection_writes_and_one_reads(
    database: PostgresDatabase, postgres_server: PostgresServer
) -> None:
    """However often it is used; and none is left after closing."""
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'consentry'"
    for _ in range(5):
        names(database)
        with database.writing() as transaction:
            transaction.run("DELETE FROM note")
    assert postgres_server.run(count) == [(2,)]
    database.close()
    give_up = time.monotonic() + 20
    while postgres_server.run(count) != [(0,)]:
        assert time.monotonic() < give_up
    for block in (database.reading, database.writing):
        with pytest.raises(LedgerProblem, match="closed"), block():
            pass
    database.close()


FORKS = """
import os, sys
from consentry.base.errors import LedgerProblem
from consentry.store.postgres import PostgresDatabase

database = PostgresDatabase(sys.argv[1])
for block in (database.writing, database.reading):
    with block() as begun:
        list(begun.rows("SELECT 1"))
child = os.fork()
if child == 0:
    for block in (database.writing, database.reading):
        try:
            with block():
                print("shared")
        except LedgerProblem as problem:
            print(problem.code, problem.message)
    database.close()
    sys.exit(0)  # with everything that Python does at its end
os.waitpid(child, 0)
with database.writing() as transaction:
    [[pid]] = transaction.rows("SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()")
    print("parent goes on with", pid)
database.close()
"""


def test_a_forked_child_is_refused_and_harms_nothing(postgres_url: str) -> None:
    """Two processes on one connection would read each other's answers; the parent's lives on."""
    ended = subprocess.run(
        [sys.executable, "-u", "-c", FORKS, postgres_url],
        capture_output=True,
        text=True,
        check=False,
    )
    refusal = "ledger-unwritable the ledger was opened before this process was forked"
    told = ended.stdout.splitlines()
    assert told == [refusal, refusal, "parent goes on with 2"], ended.stderr


def test_a_database_nobody_holds_is_closed(postgres_url: str) -> None:
    """Without a warning, which would fail this test."""
    database = PostgresDatabase(postgres_url)
    with database.writing() as transaction:
        assert list(transaction.rows("SELECT 1")) == [(1,)]
    del database, transaction

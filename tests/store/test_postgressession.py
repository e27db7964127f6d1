"""A PostgreSQL server that fails, for real: each failure is one error with its own code."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest
from psycopg.conninfo import conninfo_to_dict

from consentry.base.errors import LedgerProblem
from tests.store.postgresnotes import HASTE, INSERT, Opener, names, problem_of, refused, write
from tests.store.postgresserver import PostgresServer


def test_a_lock_that_another_holds_is_waited_for_and_then_told(opened: Opener) -> None:
    """The code says busy, and the waiter has recorded nothing."""
    holder, waiter = opened(), opened(HASTE)
    with holder.writing() as transaction:
        transaction.run(INSERT, ("a",))
        problem = refused(waiter, "a")
        assert problem.code == "ledger-busy"
        assert "pg_stat_activity" in problem.help_line
    write(waiter, "b")
    assert names(holder) == ["a", "b"]


def test_a_statement_that_takes_too_long_is_ended(opened: Opener) -> None:
    """By the server, which says so itself."""
    database = opened(HASTE)
    with pytest.raises(LedgerProblem) as caught, database.writing() as transaction:
        transaction.run("SELECT pg_sleep(20)")
    assert caught.value.code == "ledger-busy"
    assert "statement timeout" in str(caught.value)
    write(database, "a")


def test_who_stops_in_the_middle_does_not_keep_its_locks(opened: Opener) -> None:
    """The server ends a transaction in which nothing happens; its owner learns that."""
    idle, other = opened(HASTE), opened()

    def dawdle() -> None:
        with idle.writing() as transaction:
            transaction.run(INSERT, ("a",))
            write(other, "a")  # waits for the other's end, which comes

    problem = problem_of(dawdle)
    assert "idle-in-transaction" in str(problem)
    assert "not known" not in str(problem)
    assert names(other) == ["a"]


def test_of_two_that_wait_for_each_other_one_is_let_through(opened: Opener) -> None:
    """The server finds the deadlock; the other is told to try again."""
    met = Barrier(2)

    def cross(first: str, second: str) -> str:
        try:
            with opened().writing() as transaction:
                transaction.run(INSERT, (first,))
                met.wait()
                transaction.run(INSERT, (second,))
        except LedgerProblem as problem:
            return problem.code
        return "recorded"

    with ThreadPoolExecutor(2) as both:
        ends = list(both.map(cross, ("a", "b"), ("b", "a")))
    assert sorted(ends) == ["ledger-busy", "recorded"]
    assert names(opened()) == ["a", "b"]


def test_a_repeated_key_has_its_own_code(opened: Opener) -> None:
    """The ledger tells the writer of that event alone."""
    database = opened()
    write(database, "a")
    problem = refused(database, "a")
    assert problem.code == "event-twice"
    assert "duplicate key" in str(problem)


def test_a_damaged_page_is_told_as_damage(opened: Opener, postgres_server: PostgresServer) -> None:
    """Bytes of the table changed on disk, past the server."""
    database = opened()
    write(database, "a")
    name = str(conninfo_to_dict(opened.url)["dbname"])
    [[path]] = postgres_server.run("SELECT pg_relation_filepath('note')", name)
    postgres_server.stop()
    table = postgres_server.data / str(path)
    content = bytearray(table.read_bytes())
    content[-20:] = b"\xff" * 20
    table.write_bytes(bytes(content))
    postgres_server.start()
    with pytest.raises(LedgerProblem) as caught:
        names(database)
    assert caught.value.code == "ledger-corrupt"
    assert "restore a backup" in caught.value.help_line


def test_a_full_disk_records_nothing_and_says_so(
    opened: Opener, postgres_server: PostgresServer
) -> None:
    """A real small file system under the table: room makes it work again."""
    if os.geteuid() != 0:
        pytest.skip("mounting a small file system needs root")
    database = opened()
    small = postgres_server.folder / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["/usr/bin/mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(small)],
        check=False,
        capture_output=True,
        text=True,
    )
    if mounted.returncode != 0:
        pytest.skip(f"no small file system may be mounted here: {mounted.stderr.strip()}")
    try:
        place = small / "place"
        place.mkdir()
        postgres_server.give(place)
        postgres_server.run(f"CREATE TABLESPACE small LOCATION '{place}'")
        with database.writing() as transaction:
            transaction.run("CREATE TABLE big (data TEXT) TABLESPACE small")
            transaction.run("ALTER TABLE big ALTER data SET STORAGE EXTERNAL")
        with pytest.raises(LedgerProblem) as caught, database.writing() as transaction:
            transaction.run_many("INSERT INTO big VALUES (?)", [("x" * 20_000,)] * 100)
        assert caught.value.code == "ledger-unwritable"
        assert "No space left" in str(caught.value)
        assert "make room on the server's disk" in caught.value.help_line
        with database.writing() as transaction:
            assert list(transaction.rows("SELECT count(*) FROM big")) == [(0,)]
            transaction.run("DROP TABLE big")
        postgres_server.run("DROP TABLESPACE small")
    finally:
        subprocess.run(["/usr/bin/umount", "-l", str(small)], check=True)

"""A PostgreSQL server that goes away, comes back or freezes, for real."""

import os
import signal

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store.postgres import Patience
from tests.store.postgresnotes import (
    HASTE,
    INSERT,
    Opener,
    backend,
    names,
    problem_of,
    refused,
    write,
)
from tests.store.postgresserver import PostgresServer


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_server_that_is_gone_is_told_and_one_that_is_back_is_used(
    opened: Opener, postgres_server: PostgresServer, how: str
) -> None:
    """In good order or by a power cut: what was confirmed is there, and nothing must be reopened."""
    database = opened()
    write(database, "a")
    getattr(postgres_server, how)()
    for _ in range(2):
        problem = refused(database, "lost")
        assert problem.code == "ledger-unwritable"
        assert "server" in str(problem)
        assert "check that the server runs" in problem.help_line
    with pytest.raises(LedgerProblem):
        names(database)
    postgres_server.start()
    write(database, "b")
    assert names(database) == ["a", "b"]


def test_a_restart_between_two_writes_is_not_noticed(
    opened: Opener, postgres_server: PostgresServer
) -> None:
    """Nothing was under way, so a new connection is taken."""
    database = opened()
    write(database, "a")
    assert names(database) == ["a"]
    postgres_server.kill()
    postgres_server.start()
    assert names(database) == ["a"]
    write(database, "b")
    assert names(database) == ["a", "b"]


def test_a_server_lost_in_the_middle_has_recorded_nothing(
    opened: Opener, postgres_server: PostgresServer
) -> None:
    """The statement fails, and so does the block; afterwards all is as it was."""
    database = opened()

    def write_two() -> None:
        with database.writing() as transaction:
            transaction.run(INSERT, ("a",))
            postgres_server.kill()
            with pytest.raises(LedgerProblem):
                transaction.run(INSERT, ("b",))

    problem = problem_of(write_two)
    assert problem.code == "ledger-unwritable"
    assert "not known" not in str(problem)
    postgres_server.start()
    assert names(database) == []


def test_a_server_lost_at_the_commit_leaves_the_outcome_open(
    opened: Opener, postgres_server: PostgresServer
) -> None:
    """It is an error, so nothing runs, and the message claims nothing."""
    database = opened()

    def write_and_lose() -> None:
        with database.writing() as transaction:
            transaction.run(INSERT, ("a",))
            postgres_server.kill()

    problem = problem_of(write_and_lose)
    assert problem.code == "ledger-unwritable"
    assert "not known whether the change was recorded" in str(problem)
    postgres_server.start()
    assert names(database) == []


def test_a_commit_without_an_answer_may_have_happened(opened: Opener) -> None:
    """The frozen server wakes up later and does what it was told: the other way it can end."""
    database, other = opened(Patience(answer=3.0)), opened()
    pid = backend(database)

    def write_and_freeze() -> None:
        with database.writing() as transaction:
            transaction.run(INSERT, ("a",))
            os.kill(pid, signal.SIGSTOP)

    problem = problem_of(write_and_freeze)
    os.kill(pid, signal.SIGCONT)
    assert "not known whether the change was recorded" in str(problem)
    # Waits until the first transaction has ended, one way or the other.
    assert refused(other, "a").code == "event-twice"


@pytest.mark.parametrize("block", ["writing", "reading"])
def test_a_frozen_server_is_given_up(opened: Opener, block: str) -> None:
    """It keeps the connection and answers nothing; a new connection works."""
    database = opened(HASTE)

    def ask_frozen() -> None:
        with getattr(database, block)() as begun:
            [[pid]] = begun.rows("SELECT pg_backend_pid()")
            os.kill(pid, signal.SIGSTOP)
            try:
                list(begun.rows("SELECT 1"))
            finally:
                os.kill(pid, signal.SIGCONT)

    problem = problem_of(ask_frozen)
    assert problem.code == "ledger-unwritable"
    assert "the server did not answer for 3 s" in str(problem)
    write(database, "a")
    assert names(database) == ["a"]

"""Opening a database on PostgreSQL: what is needed, who is refused, and what is never said."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from consentry.base.errors import ConsentryError, LedgerProblem, UsageProblem
from consentry.store import postgressession
from consentry.store.postgres import PostgresDatabase
from tests.store.postgresnotes import Opener, refused
from tests.store.postgresserver import PostgresServer


def test_opening_connects_to_nothing() -> None:
    """Only what is wrong with the URL itself is told at once."""
    PostgresDatabase("postgresql://nobody@/none?host=/nonexistent").close()
    with pytest.raises(UsageProblem):
        PostgresDatabase("sqlite:///file")


def test_a_missing_driver_is_named_with_the_way_to_get_it() -> None:
    """In a process that cannot import it; the module itself needs none."""
    program = (
        "import sys; sys.modules['psycopg'] = None\n"
        "from consentry.base.errors import UsageProblem\n"
        "from consentry.store.postgres import PostgresDatabase\n"
        "try: PostgresDatabase('postgresql:///x')\n"
        "except UsageProblem as problem: print(problem.exit_status.value, problem.help_line)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout == '2 install it with: pip install "consentry[postgres]"\n'


def test_the_driver_is_not_imported_before_it_is_needed() -> None:
    """Importing our module costs nobody the driver's import."""
    program = "import sys, consentry.store.postgres; print('psycopg' in sys.modules)"
    ended = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ended.stdout == "False\n"


def test_no_password_in_what_is_said(postgres_server: PostgresServer) -> None:
    """Not when the server refuses it, not when there is no server, not in a representation."""
    postgres_server.start()
    postgres_server.run("CREATE ROLE locked LOGIN PASSWORD 'right'")
    rules = postgres_server.data / "pg_hba.conf"
    before = rules.read_text()
    rules.write_text(f"local all locked scram-sha-256\n{before}")
    postgres_server.run("SELECT pg_reload_conf()")
    base = postgres_server.url("postgres", "locked:correct-horse")
    gone = base.replace("socket", "nowhere")
    try:
        for url, words in ((base, "password authentication failed"), (gone, "no such file")):
            refused = PostgresDatabase(url)
            with pytest.raises(ConsentryError) as caught, refused.reading():
                pass
            told = f"{caught.value} {caught.value.help_line} {caught.value.__cause__} {refused!r}"
            assert words in told.lower()
            assert "`locked`" in told
            assert "correct-horse" not in told
        accepted = PostgresDatabase(base.replace("correct-horse", "right"))
        with accepted.reading() as view:
            assert list(view.rows("SELECT current_user")) == [("locked",)]
        accepted.close()
    finally:
        rules.write_text(before)
        postgres_server.run("SELECT pg_reload_conf()")
        postgres_server.run("DROP ROLE locked")


def test_a_server_that_is_too_old_is_refused(
    opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest that will do is raised above this one, which then is too old."""
    monkeypatch.setattr(postgressession, "OLDEST_SERVER", 99)
    problem = refused(opened(), "a")
    assert "and 99 or newer is needed" in str(problem)


def test_a_database_that_cannot_hold_all_text_is_refused(postgres_server: PostgresServer) -> None:
    """One of single bytes would lose or refuse names later."""
    postgres_server.start()
    postgres_server.run(
        "CREATE DATABASE narrow TEMPLATE template0 ENCODING 'SQL_ASCII' LOCALE 'C' "
        + ("LOCALE_PROVIDER libc" if postgres_server.has_icu else "")
    )
    try:
        database = PostgresDatabase(postgres_server.url("narrow"))
        with pytest.raises(LedgerProblem, match="SQL_ASCII"), database.reading():
            pass
    finally:
        postgres_server.run("DROP DATABASE narrow WITH (FORCE)")


def test_a_user_without_the_right_to_write_is_told_so(
    opened: Opener, postgres_server: PostgresServer
) -> None:
    """With what must be done about it."""
    postgres_server.run("CREATE ROLE guest LOGIN")
    try:
        guest = PostgresDatabase(opened.url.replace("consentry@", "guest@"))
        problem = refused(guest, "a")
        guest.close()
    finally:
        postgres_server.run("DROP ROLE guest")
    assert problem.code == "ledger-unwritable"
    assert "permission denied" in str(problem)
    assert "give this user the right" in problem.help_line


def test_something_that_never_answers_is_not_waited_for(tmp_path: Path) -> None:
    """A socket on which somebody listens and says nothing."""
    folder = tmp_path / "s"
    folder.mkdir()
    here = Path.cwd()
    with socket.socket(socket.AF_UNIX) as silent:
        os.chdir(folder)  # the path of a socket must be short
        try:
            silent.bind(".s.PGSQL.5432")
            silent.listen()
            link = Path("/proc/self/cwd")
            database = PostgresDatabase(f"postgresql://u@/d?host={link}&connect_timeout=2")
            with pytest.raises(LedgerProblem, match="timeout") as caught, database.reading():
                pass
        finally:
            os.chdir(here)
    assert caught.value.code == "ledger-unwritable"

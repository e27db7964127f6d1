"""What a ledger on a server does when the server is gone, killed, full or read-only, for real.

Each time: the caller is told with a code, a message and what to do; the action does not run; nothing
is half-written; and when the cause is gone, the next append works.
"""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import LedgerProblem
from consentry.store.database import Database
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.postgres import PostgresDatabase
from tests.record.samples import WRITER
from tests.store import postgresserver
from tests.store.crashes import CHANGE, Said, append, make_appended, require_whole
from tests.store.ledgers import fresh_drafts
from tests.store.postgresserver import NoServer, PostgresServer
from tests.store.sizes import IS_FULL

PROGRAM = (sys.executable, "-m", "tests.store.crashes")
MOMENTS = range(1, 60, 3) if IS_FULL else (1, 15)


@pytest.fixture
def database(postgres_url: str) -> Iterator[Database]:
    """A ledger's database with one append in it."""
    with closing(PostgresDatabase(postgres_url)) as opened:
        migrate(opened)
        make_appended(opened)
        yield opened


def record_then_act(database: Database, acted: Path) -> None:
    """What every caller does: the record first, and then the action."""
    Ledger(database, WRITER).append(*(fresh_drafts().make(x="y" * 9000) for _ in range(3)))
    acted.touch()


def require_refused(database: Database, acted: Path) -> LedgerProblem:
    """Asserts that the caller is told, and that the action did not run."""
    with pytest.raises(LedgerProblem) as caught:
        record_then_act(database, acted)
    assert not acted.exists()
    assert caught.value.exit_status is ExitStatus.LEDGER
    assert caught.value.help_line
    return caught.value


@pytest.mark.parametrize("how", ["stop", "kill"])
def test_a_server_that_is_gone_and_comes_back(
    postgres_server: PostgresServer, database: Database, tmp_path: Path, how: str
) -> None:
    """The same ledger goes on with its chain, without being opened again."""
    ledger = Ledger(database, WRITER)
    said = [append(ledger, CHANGE)]
    getattr(postgres_server, how)()
    problem = require_refused(database, tmp_path / "acted")
    assert problem.code is Code.LEDGER_UNWRITABLE
    assert "check that the server runs" in problem.help_line
    postgres_server.start()
    said.append(append(ledger, CHANGE))
    require_whole(database, said, CHANGE)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_server_killed_while_it_is_written_to(
    postgres_server: PostgresServer, postgres_url: str, database: Database, moment: int
) -> None:
    """As by a power cut, in the middle of a stream of appends; what was acknowledged is there."""
    argv = [*PROGRAM, "try", postgres_url, CHANGE, "100000"]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, bufsize=1) as program:
        assert program.stdout is not None
        out = [program.stdout.readline() for _ in range(2 * moment)]
        postgres_server.kill()
        while not out[-1].startswith("failed"):
            out.append(program.stdout.readline())
        program.kill()
    said = Said.read("".join(out))
    assert said.failed == ("ledger-unwritable",)
    assert len(said.told) >= 3 * (moment - 1)
    postgres_server.start()
    require_whole(database, [said], CHANGE)
    require_whole(database, [said, append(Ledger(database, WRITER), CHANGE)], CHANGE)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a file system needs root")
def test_a_server_whose_disk_is_full(postgres_server: PostgresServer, tmp_path: Path) -> None:
    """A database whose tables lie on a small disk: filled, and with room again."""
    place = postgres_server.folder / "tight"
    place.mkdir()
    mount = ["/usr/bin/mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", str(place)]
    subprocess.run(mount, check=True)
    try:
        postgres_server.give(place)
        postgres_server.run(f"CREATE TABLESPACE tight LOCATION '{place}'")
        postgres_server.run("CREATE DATABASE full_disk TABLESPACE tight")
        with closing(PostgresDatabase(postgres_server.url("full_disk"))) as database:
            migrate(database)
            make_appended(database)
            said = [append(Ledger(database, WRITER), CHANGE)]
            filler = place / "filler"
            with pytest.raises(OSError, match="No space"):
                filler.write_bytes(b"x" * (17 << 20))
            problem = fill_up(database, said, tmp_path / "acted")
            assert problem.code is Code.LEDGER_UNWRITABLE
            assert "make room on the server's disk" in problem.help_line
            require_whole(database, said, CHANGE)
            filler.unlink()
            said.append(append(Ledger(database, WRITER), CHANGE))
            require_whole(database, said, CHANGE)
    finally:
        postgres_server.start()
        postgres_server.run("DROP DATABASE IF EXISTS full_disk WITH (FORCE)")
        postgres_server.run("DROP TABLESPACE IF EXISTS tight")
        subprocess.run(["/usr/bin/umount", "-l", str(place)], check=True)


def fill_up(database: Database, said: list[Said], acted: Path) -> LedgerProblem:
    """Appends until the pages that are there already are full, and the caller is told."""
    for _ in range(200):
        try:
            said.append(append(Ledger(database, WRITER), CHANGE))
        except LedgerProblem:
            break
    return require_refused(database, acted)


def test_a_server_that_only_repeats_another(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A standby refuses to be written; the ledger on it can be read and verified."""
    monkeypatch.setitem(postgresserver._SETTINGS, "wal_level", "replica")
    try:
        server = PostgresServer()
    except NoServer as reason:
        pytest.skip(str(reason))
    with closing(server), closing(PostgresDatabase(server.url())) as database:
        migrate(database)
        make_appended(database)
        said = [append(Ledger(database, WRITER), CHANGE)]
        server.stop()
        signal_file = server.data / "standby.signal"
        signal_file.touch()
        server.give(signal_file)
        server.start()
        problem = require_refused(database, tmp_path / "acted")
        assert problem.code is Code.LEDGER_UNWRITABLE
        assert "name the server that may be written" in problem.help_line
        require_whole(database, said, CHANGE)
        server.stop()
        signal_file.unlink()
        server.start()
        said.append(append(Ledger(database, WRITER), CHANGE))
        require_whole(database, said, CHANGE)

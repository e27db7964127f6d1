"""Both databases for tests: a file, and a real server with a fresh database for each test."""

from collections.abc import Iterator
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from consentry.store.database import Database, Dialect
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER
from tests.store.postgresnotes import Opener
from tests.store.postgresserver import NoServer, PostgresServer

_numbers = count()


class Store:
    """A database with its tables made; every opening is like that of another process."""

    def __init__(self, url_or_path: str | Path, closing: ExitStack) -> None:
        self.url_or_path = url_or_path
        self._closing = closing
        database = self.open()
        self.dialect = database.dialect
        migrate(database)

    def open(self) -> Database:
        """Opens it once more; closed when the test ends."""
        database: Database
        if isinstance(self.url_or_path, Path):
            database = SqliteDatabase(self.url_or_path)
        else:
            database = PostgresDatabase(self.url_or_path)
        self._closing.callback(database.close)
        return database


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A server for all tests of this worker; a test that stops it need not start it again."""
    try:
        server = PostgresServer()
    except NoServer as reason:
        pytest.skip(str(reason))
    yield server
    server.close()


@pytest.fixture
def postgres_url(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a fresh, empty database."""
    name = f"test_{next(_numbers)}"
    postgres_server.start()
    postgres_server.run(f"CREATE DATABASE {name}")
    yield postgres_server.url(name)
    postgres_server.start()
    postgres_server.run(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(params=list(Dialect), ids=str)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """A database of each kind."""
    is_file = request.param is Dialect.SQLITE
    place = tmp_path / "store.db" if is_file else request.getfixturevalue("postgres_url")
    with ExitStack() as closing:
        yield Store(place, closing)


@pytest.fixture
def ledger(store: Store) -> Ledger:
    """A ledger of one machine in a database of each kind."""
    return Ledger(store.open(), WRITER)


@pytest.fixture
def opened(postgres_url: str) -> Iterator[Opener]:
    """Openings of a database with one small table."""
    with ExitStack() as closing:
        opener = Opener(postgres_url, closing)
        with opener().writing() as transaction:
            transaction.run("CREATE TABLE note (name TEXT PRIMARY KEY)")
        yield opener

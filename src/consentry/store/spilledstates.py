"""Records that a long reading keeps, of which only those that were touched last are held in memory.

The others lie in a temporary SQLite file that SQLite itself makes, unlinks and throws away: it has no name
that another program could open, and nothing of it is left when the process ends. So memory stays the same
however many records there are. It is no store: nothing in it outlives the reading, and nothing is synced.
"""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Final, Self

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.record.signoffstates import State

HELD: Final = 1024
"""How many records of one kind stay in memory."""

_CACHE_KIB: Final = 2048


class SpilledStates:
    """A temporary file, and a place in it for each kind of record."""

    def __init__(self, held: int = HELD) -> None:
        self._held = held
        self._kinds = count()
        with _told():
            # The empty name is a file of SQLite's own, unlinked as soon as it is made.
            self._connection = sqlite3.connect("", isolation_level=None)
            for setting in (
                "journal_mode = OFF",
                "synchronous = OFF",
                f"cache_size = -{_CACHE_KIB}",
            ):
                self._connection.execute(f"PRAGMA {setting}").close()

    def make(self, _name: str) -> "SpilledKind":
        """An empty place for records of one kind."""
        return SpilledKind(self._connection, f"kind_{next(self._kinds)}", self._held)

    def close(self) -> None:
        """Throws all of it away."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class SpilledKind:
    """Records of one kind, by their keys; see `record.signoffstates.States`."""

    def __init__(self, connection: sqlite3.Connection, table: str, held: int) -> None:
        self._connection = connection
        self._most = held
        self._insert = (
            f"INSERT INTO {table} (place, key, value) VALUES (?, ?, ?) "  # noqa: S608 - a name of ours
            "ON CONFLICT (key) DO UPDATE SET value = excluded.value"
        )
        self._select = f"SELECT place, value FROM {table} WHERE key = ?"  # noqa: S608 - as above
        self._select_all = f"SELECT key, value FROM {table} ORDER BY place"  # noqa: S608 - as above
        with _told():
            connection.execute(
                f"CREATE TABLE {table} "
                "(place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value TEXT NOT NULL) STRICT"
            ).close()
        # In the order in which they were touched; each with its place among all keys that came.
        self._held: dict[str, tuple[int, State]] = {}
        self._changed: set[str] = set()
        self._keys = 0
        self._spilled = False
        # Whoever asks in vain puts next: that it is not there need not be found out twice.
        self._missed: str | None = None

    def get(self, key: str) -> State | None:
        """The record of that key."""
        found = self._held.pop(key, None) or self._fetched(key)
        if found is None:
            self._missed = key
            return None
        self._hold(key, found)
        return found[1]

    def put(self, key: str, state: State) -> None:
        """Keeps it in place of the one before."""
        found = self._held.pop(key, None)
        if found is None and key != self._missed:
            found = self._fetched(key)
        if found is None:
            place, self._keys = self._keys, self._keys + 1
        else:
            place = found[0]
        self._missed = None
        self._changed.add(key)
        self._hold(key, (place, state))

    def pairs(self) -> Iterator[tuple[str, State]]:
        """All of them, the first that came first."""
        if not self._spilled:
            kept = sorted(self._held.items(), key=lambda pair: pair[1][0])
            yield from ((key, state) for key, (_, state) in kept)
            return
        self._spill(len(self._held))
        with _told():
            for key, value in self._connection.execute(self._select_all):
                yield json.loads(key), json.loads(value)

    def __len__(self) -> int:
        return self._keys

    def _hold(self, key: str, found: tuple[int, State]) -> None:
        self._held[key] = found
        if len(self._held) > self._most:
            self._spill(self._most // 2)

    def _fetched(self, key: str) -> tuple[int, State] | None:
        if not self._spilled:
            return None
        with _told():
            row = self._connection.execute(self._select, (json.dumps(key),)).fetchone()
        return None if row is None else (int(row[0]), json.loads(row[1]))

    def _spill(self, number: int) -> None:
        """Lets go of those that were not touched for longest."""
        gone = [key for key, _ in zip(self._held, range(number), strict=False)]
        rows = []
        for key in gone:
            place, state = self._held.pop(key)
            if key in self._changed:
                rows.append((place, json.dumps(key), json.dumps(state)))
                self._changed.discard(key)
        with _told():
            self._connection.execute("BEGIN").close()
            self._connection.executemany(self._insert, rows).close()
            self._connection.execute("COMMIT").close()
        self._spilled = True


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as problem:
        message = f"what is counted does not fit beside the program: {problem}"
        raise LedgerProblem(
            Code.LEDGER_UNWRITABLE,
            message,
            help_line="make room in the folder for temporary files, or name one with TMPDIR",
        ) from problem

"""What one module of one host keeps for itself (`module.storage.local`).

A `StoredModuleStorage` is made for one module, and no method takes the id of another: whoever holds it
reaches that module's keys and no others. A write is a `Change`, to be made part of the transaction that
records the use, so that both are there or neither is. Whether there is room is asked inside that
transaction, while nobody else can write for the same module: on SQLite there is one writer at a time, on
PostgreSQL a lock is held until the transaction ends.

Values are text here and never evaluated; a row that is no JSON is not believed.
"""

import hashlib
from collections.abc import Sequence
from typing import Final

from consentry.base.canonical import Json, canonical_json
from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.base.values import dataclass
from consentry.decide.modulestorage import (
    USUAL,
    StorageLimits,
    StorageUse,
    check_room,
    checked_key,
    decoded_value,
    encoded_value,
    stored_size,
)
from consentry.store.database import Database, Dialect, Row, Transaction, Value
from consentry.store.ledger import Change

# Any number will do that nobody else locks by; pairs are apart from the single number of migrations.
_LOCK_CLASS: Final = 0x4D6F6453  # "ModS"
_OWN: Final = "host_id = ? AND module_id = ?"
_ONE: Final = f"{_OWN} AND storage_key = ?"
_GET: Final = f"SELECT value, updated_at FROM module_storage WHERE {_ONE}"  # noqa: S608 - no value in it
_KEYS: Final = f"SELECT storage_key FROM module_storage WHERE {_OWN} ORDER BY storage_key"  # noqa: S608
_USE: Final = (
    "SELECT CAST(coalesce(sum(size), 0) AS BIGINT), count(*) "  # noqa: S608 - as above
    f"FROM module_storage WHERE {_OWN}"
)
_PUT: Final = (
    "INSERT INTO module_storage (host_id, module_id, storage_key, size, updated_at, value) "
    "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (host_id, module_id, storage_key) DO UPDATE "
    "SET size = excluded.size, updated_at = excluded.updated_at, value = excluded.value"
)
_REMOVE: Final = f"DELETE FROM module_storage WHERE {_ONE}"  # noqa: S608 - as above
_REMOVE_ALL: Final = f"DELETE FROM module_storage WHERE {_OWN}"  # noqa: S608 - as above


@dataclass(frozen=True, slots=True)
class StoredValue:
    """A value as it was put, frozen, and since when it is so."""

    value: Json
    updated_at: Instant


class StoredModuleStorage:
    """The keys and values of one module of one host."""

    def __init__(
        self,
        database: Database,
        clock: Clock,
        host_id: str,
        module_id: str,
        limits: StorageLimits = USUAL,
    ) -> None:
        self._database = database
        self._clock = clock
        self._own = (host_id, module_id)
        self._limits = limits

    def get(self, key: str) -> StoredValue | None:
        """What is kept under this key; None where nothing is, which a kept `null` is not."""
        found = self._rows(_GET, checked_key(key, self._limits))
        return self._believed(key, found[0]) if found else None

    def keys(self) -> tuple[str, ...]:
        """Every key, in ascending order."""
        return tuple(str(key) for (key,) in self._rows(_KEYS))

    def usage(self) -> StorageUse:
        """How much is kept."""
        return _as_use(self._rows(_USE))

    def put_change(self, key: str, value: object) -> Change:
        """Keeps the value, as it is now, under the key; raises in the transaction where it has no room."""
        name, text = checked_key(key, self._limits), encoded_value(value, self._limits)
        size, now = stored_size(name, text), str(self._clock.now())

        def change(transaction: Transaction) -> None:
            _hold(transaction, self._own)
            others = transaction.rows(f"{_USE} AND storage_key <> ?", (*self._own, name))
            check_room(self._limits, _as_use(list(others)), size)
            transaction.run(_PUT, (*self._own, name, size, now, text))

        return change

    def remove_change(self, key: str) -> Change:
        """Removes the key and its value; where there is none, nothing."""
        name = checked_key(key, self._limits)

        def change(transaction: Transaction) -> None:
            _hold(transaction, self._own)
            transaction.run(_REMOVE, (*self._own, name))

        return change

    def remove_all_change(self) -> Change:
        """Removes everything the module keeps, for when the module itself is removed."""

        def change(transaction: Transaction) -> None:
            _hold(transaction, self._own)
            transaction.run(_REMOVE_ALL, self._own)

        return change

    def _rows(self, query: str, *more: Value) -> list[Row]:
        with self._database.reading() as view:
            return list(view.rows(query, (*self._own, *more)))

    def _believed(self, key: str, row: Row) -> StoredValue:
        text, updated_at = row
        try:
            return StoredValue(decoded_value(str(text)), Instant.parse(str(updated_at)))
        except BadInput as problem:
            message = f"the row `{key}` of `module_storage` cannot be believed: {problem}"
            raise LedgerProblem(Code.LEDGER_CORRUPT, message) from problem


def _as_use(rows: Sequence[Row]) -> StorageUse:
    [(used_bytes, used_keys)] = rows
    return StorageUse(int(used_bytes or 0), int(used_keys or 0))


def _hold(transaction: Transaction, own: tuple[str, str]) -> None:
    """Nobody else writes for this module until the transaction ends.

    A lock and no row: a module that keeps nothing has none. Two modules whose numbers are the same only
    wait for each other.
    """
    if transaction.dialect is Dialect.POSTGRESQL:
        digest = hashlib.sha256(canonical_json(list(own))).digest()
        number = int.from_bytes(digest[:4], "big", signed=True)
        transaction.run(f"SELECT pg_advisory_xact_lock({_LOCK_CLASS}, {number})")

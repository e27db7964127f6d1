"""A module keeps things for itself: in its own part, up to its quota, with the record or not at all."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from time import sleep
from unittest.mock import patch

import pytest

from consentry.base.clock import Clock, Instant, ManualClock
from consentry.base.errors import LedgerProblem, Refused
from consentry.base.frozenjson import thawed
from consentry.base.units import Duration
from consentry.decide.modulestorage import StorageLimits, StorageUse
from consentry.store import modulestorage
from consentry.store.database import Database, Dialect, Transaction
from consentry.store.ledger import Change, Ledger
from consentry.store.migrations import MIGRATIONS
from consentry.store.modulestorage import StoredModuleStorage
from consentry.store.schema.modulestorage import MODULE_STORAGE
from tests.decide.samples import OTHER_MACHINE
from tests.record.samples import WRITER, Drafts
from tests.store.conftest import Store
from tests.store.keepers import events

NOW = Instant(1_767_225_600_000)
LIMITS = StorageLimits(most_bytes=40, most_value_bytes=30, most_keys=3)
ROUNDS = 6
LONG_ENOUGH_TO_COME = 0.3


class Modules:
    """Storages of several modules on one store, each opening like that of another process."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.clock = ManualClock(NOW)
        self.database = store.open()
        if MODULE_STORAGE not in MIGRATIONS:
            with self.database.writing() as transaction:
                for statement in MODULE_STORAGE.forward[store.dialect]:
                    transaction.run(statement)

    def of(
        self,
        module_id: str = "tag-notes",
        host_id: str = "board",
        limits: StorageLimits = LIMITS,
        database: Database | None = None,
    ) -> StoredModuleStorage:
        """The storage of one module."""
        clock: Clock = self.clock
        return StoredModuleStorage(database or self.database, clock, host_id, module_id, limits)

    def make(self, change: Change) -> None:
        """The change alone, in a transaction of its own."""
        with self.database.writing() as transaction:
            change(transaction)

    def put(self, storage: StoredModuleStorage, key: str, value: object) -> None:
        """Keeps a value."""
        self.make(storage.put_change(key, value))


@pytest.fixture
def modules(store: Store) -> Modules:
    """A store with the table, and nothing in it."""
    return Modules(store)


def test_what_is_put_is_there_until_it_is_put_anew_or_removed(modules: Modules) -> None:
    """Values come back frozen, with the time they were put; a kept `null` is not the same as nothing."""
    own = modules.of()
    assert (own.get("a"), own.keys(), own.usage()) == (None, (), StorageUse(0, 0))
    modules.put(own, "b", {"tags": ["x"]})
    modules.put(own, "a", None)
    found = own.get("b")
    assert found is not None
    assert (thawed(found.value), found.updated_at) == ({"tags": ["x"]}, NOW)
    assert (null := own.get("a")) is not None
    assert null.value is None
    assert own.keys() == ("a", "b")
    assert own.usage() == StorageUse(len('b{"tags":["x"]}' + "anull"), 2)
    modules.clock.advance(Duration(1000))
    modules.put(own, "b", "é\0")
    again = own.get("b")
    assert again is not None
    assert (again.value, again.updated_at) == ("é\0", modules.clock.now())
    modules.make(own.remove_change("b"))
    modules.make(own.remove_change("b"))
    assert (own.get("b"), own.keys()) == (None, ("a",))


def test_a_module_reaches_its_own_keys_and_no_others(modules: Modules) -> None:
    """MODULES §limit-storage-namespace: the same key of another module or host is another key."""
    places = [
        ("board", "tag-notes"),
        ("board", "tag-note"),
        ("board2", "tag-notes"),
        ("tag-notes", "board"),
        ("", "boardtag-notes"),
        ("board", "%"),
    ]
    storages = [modules.of(module, host) for host, module in places]
    for number, each in enumerate(storages):
        modules.put(each, "key", number)
    for number, each in enumerate(storages):
        found = each.get("key")
        assert found is not None
        assert found.value == number
        assert each.keys() == ("key",)
        assert each.usage() == StorageUse(4, 1)


@pytest.mark.parametrize(
    "key",
    [
        "tag-notes/key",
        "../tag-notes/key",
        "' OR module_id = 'tag-notes",
        "%",
        "key' --",
        "*",
        "_ey",
    ],
)
def test_no_key_leads_to_another_module(modules: Modules, key: str) -> None:
    """MODULES §limit-storage-cross: whatever a key says, another module's values are not read or written."""
    honest, attacker = modules.of("tag-notes"), modules.of("attacker")
    modules.put(honest, "key", "secret")
    assert attacker.get(key) is None
    modules.put(attacker, key, "planted")
    modules.make(attacker.remove_change(key))
    modules.put(attacker, key, "planted")
    modules.make(attacker.remove_all_change())
    assert attacker.keys() == ()
    found = honest.get("key")
    assert found is not None
    assert found.value == "secret"
    assert honest.keys() == ("key",)


def test_no_method_takes_the_id_of_a_module() -> None:
    """MODULES §limit-storage-cross: a storage is for the module it was made for; there is nothing to ask it with."""
    methods = {
        name: set(method.__annotations__) - {"return"}
        for name, method in vars(StoredModuleStorage).items()
        if not name.startswith("_")
    }
    assert methods == {
        "get": {"key"},
        "keys": set(),
        "usage": set(),
        "put_change": {"key", "value"},
        "remove_change": {"key"},
        "remove_all_change": set(),
    }


def test_a_module_that_is_removed_leaves_nothing(modules: Modules) -> None:
    """Its own rows, and no others."""
    own, other = modules.of(), modules.of("other")
    for key in ("a", "b"):
        modules.put(own, key, 1)
        modules.put(other, key, 1)
    modules.make(own.remove_all_change())
    assert (own.keys(), own.usage()) == ((), StorageUse(0, 0))
    assert other.keys() == ("a", "b")


def test_the_quota_holds_to_the_last_byte_and_key(modules: Modules) -> None:
    """Key and value count; what is put anew counts once; a refused write keeps what was there."""
    own = modules.of()
    modules.put(own, "a", "x" * 17)  # 1 + 19
    modules.put(own, "b", "x" * 17)
    assert own.usage() == StorageUse(40, 2)
    for key, value in (("c", 1), ("b", "x" * 18)):
        with pytest.raises(Refused) as caught:
            modules.put(own, key, value)
        assert caught.value.code == "module-storage-full"
    assert own.usage() == StorageUse(40, 2)
    found = own.get("b")
    assert found is not None
    assert found.value == "x" * 17
    modules.put(own, "b", "y" * 17)
    modules.put(own, "b", 1)
    modules.put(own, "c", 1)
    with pytest.raises(Refused, match="3 is the most"):
        modules.put(own, "d", 1)
    assert own.keys() == ("a", "b", "c")
    # One module's quota is not another's.
    modules.put(modules.of("other"), "a", "x" * 17)


def test_the_write_and_its_record_are_there_together_or_not(
    modules: Modules, ledger: Ledger
) -> None:
    """Made part of what records the use: where anything raises, there is neither value nor event."""
    own, drafts = modules.of(), Drafts()
    ledger.append(drafts.make(), change=own.put_change("a", 1))
    assert (own.keys(), len(events(ledger))) == (("a",), 1)
    put, remove, clear = own.put_change("b", 2), own.remove_change("a"), own.remove_all_change()

    def then_fail(*changes: Change) -> Change:
        def change(transaction: Transaction) -> None:
            for each in changes:
                each(transaction)
            raise ZeroDivisionError

        return change

    for changes in ((put,), (remove,), (clear,), (put, remove, clear)):
        with pytest.raises(ZeroDivisionError):
            ledger.append(drafts.make(), change=then_fail(*changes))
    ledger.append(drafts.make(), change=own.put_change("b", "x" * 28))
    with pytest.raises(Refused):
        ledger.append(drafts.make(), change=own.put_change("c", "x" * 28))
    assert (own.keys(), len(events(ledger))) == (("a", "b"), 2)


def test_a_value_is_kept_as_it_was_when_it_was_put(modules: Modules) -> None:
    """What the caller changes between asking and committing is not written."""
    own, value = modules.of(), [1]
    change = own.put_change("a", value)
    value.append(2)
    modules.make(change)
    modules.make(change)
    found = own.get("a")
    assert found is not None
    assert found.value == (1,)


@pytest.mark.parametrize("text", ["print(1)", "[NaN]", "", "{"])
def test_a_row_that_is_no_json_is_not_believed(modules: Modules, text: str) -> None:
    """MODULES §limit-storage-data: whoever writes the database by hand gets an error read, and nothing run."""
    own = modules.of()
    modules.put(own, "a", 1)
    with modules.database.writing() as transaction:
        transaction.run("UPDATE module_storage SET value = ?", (text,))
    with pytest.raises(LedgerProblem) as caught:
        own.get("a")
    assert caught.value.code == "ledger-corrupt"


@contextmanager
def unheld() -> Iterator[None]:
    """The lock taken away, which only a test can do."""
    with patch.object(modulestorage, "_hold", lambda _transaction, _own: None):
        yield


def second_meanwhile(modules: Modules, *, is_held: bool) -> str:
    """What a second write is told that comes while the first has not committed; both fit alone."""
    first = modules.of()
    second_database = modules.store.open()
    second = modules.of(database=second_database)

    def write() -> str:
        try:
            with second_database.writing() as transaction:
                second.put_change("b", "x" * 25)(transaction)
        except Refused as refusal:
            return refusal.code.value
        return "kept"

    with ThreadPoolExecutor(1) as pool:
        with modules.database.writing() as transaction:
            first.put_change("a", "x" * 25)(transaction)
            told = pool.submit(write)
            if not is_held:
                return told.result()
            sleep(LONG_ENOUGH_TO_COME)
        return told.result()


def test_a_write_that_comes_meanwhile_waits_and_finds_no_room(modules: Modules) -> None:
    """Two processes cannot overrun the quota together: the second sees what the first has committed."""
    assert second_meanwhile(modules, is_held=True) == "module-storage-full"
    assert modules.of().keys() == ("a",)


def test_without_the_lock_two_would_overrun_the_quota(modules: Modules) -> None:
    """What the lock holds off on PostgreSQL; SQLite has one writer at a time, lock or not."""
    is_shared = modules.store.dialect is Dialect.POSTGRESQL
    with unheld():
        told = second_meanwhile(modules, is_held=not is_shared)
    assert told == ("kept" if is_shared else "module-storage-full")
    assert (modules.of().usage().used_bytes > LIMITS.most_bytes) == is_shared


def test_of_two_at_the_last_byte_one_is_kept(modules: Modules) -> None:
    """Two machines with chains of their own, each through its ledger, all at once, again and again."""
    is_shared = modules.store.dialect is Dialect.POSTGRESQL
    writers = (WRITER, OTHER_MACHINE if is_shared else WRITER)
    ledgers = [Ledger(modules.store.open(), writer) for writer in writers]
    storages = [modules.of(database=each.database) for each in ledgers]
    for _ in range(ROUNDS):
        modules.make(storages[0].remove_all_change())
        modules.put(storages[0], "a", "x" * 17)
        both = Barrier(2)

        def attempt(which: int, both: Barrier = both) -> bool:
            change = storages[which].put_change(f"{which}", "x" * 17)
            both.wait()
            try:
                ledgers[which].append(change=change)
            except Refused:
                return False
            return True

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(attempt, range(2))) == [False, True]
        assert storages[1].usage() == StorageUse(40, 2)


def test_threads_that_share_commits_share_the_quota(modules: Modules, ledger: Ledger) -> None:
    """Of many with one ledger as many are kept as there are keys, and each other one is told."""
    own = modules.of()

    def attempt(number: int) -> bool:
        try:
            ledger.append(change=own.put_change(f"{number}", number))
        except Refused:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        kept = list(pool.map(attempt, range(24)))
    assert kept.count(True) == LIMITS.most_keys == len(own.keys())


def test_the_step_back_takes_its_own_table(modules: Modules) -> None:
    """Forward and back again leave the same shape."""
    database = modules.database
    with database.writing() as transaction:
        for statement in (
            *MODULE_STORAGE.back[database.dialect],
            *MODULE_STORAGE.forward[database.dialect],
        ):
            transaction.run(statement)
    assert modules.of().keys() == ()

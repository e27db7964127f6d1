"""What a rule of a document store is tried with: documents of its own, and what is required of them."""

from collections.abc import Callable, Mapping, Sequence
from threading import Barrier, BrokenBarrierError, Thread
from typing import Final, TypeAlias

from consentry.base.canonical import Json
from consentry.decide.documentstore import (
    Commit,
    CommitKind,
    CommitRecord,
    DocumentStore,
)
from consentry.decide.statechange import ABSENT, Absent, EntityName, EntityWrite, is_same
from consentry.decide.txpreview import revision_after

Entities: TypeAlias = Mapping[EntityName, Json]

_PATIENCE: Final = 20.0
"""Seconds for several at once to come back."""


class Broken(Exception):
    """What a store did instead of what the rule says."""


class Opened:
    """The documents of one rule."""

    def __init__(self, open_store: Callable[[str], DocumentStore], name: str) -> None:
        self._open = open_store
        self._commits = 0
        self.name = name

    def store(self, part: str = "") -> DocumentStore:
        """The document once more, as another process would open it."""
        return self._open(f"conformance {self.name} {part}".strip())

    def commit(
        self, store: DocumentStore, after: Mapping[EntityName, "Json | Absent"], key: str = ""
    ) -> Commit:
        """A commit that makes the document so, from what it is now; its key is new unless it is named."""
        now = store.read()
        writes = [
            EntityWrite(name, now.entities.get(name, ABSENT), after[name]) for name in sorted(after)
        ]
        self._commits += 1
        key = key or f"{self.name}:{self._commits}"
        revision = revision_after(now.revision, writes, key)
        return Commit(key, CommitKind.APPLY, f"tx-{key}", 1, now.revision, revision, writes)

    def made(
        self, store: DocumentStore, after: Mapping[EntityName, "Json | Absent"]
    ) -> tuple[Commit, CommitRecord]:
        """One that was committed."""
        commit = self.commit(store, after)
        return commit, store.commit(commit, go_on)


def go_on() -> None:
    """Nothing stands against it."""


def require(is_so: bool, otherwise: str) -> None:  # noqa: FBT001 - as an assert has it
    """Raises `Broken` unless it is so."""
    if not is_so:
        raise Broken(otherwise)


def require_is(
    store: DocumentStore, revision: str, entities: Mapping[EntityName, "Json | Absent"]
) -> None:
    """Raises unless the whole document is this, at this revision."""
    found = store.read()
    require(found.revision == revision, f"the revision is `{found.revision}`, not `{revision}`")
    require_same(found.entities, entities)


def require_same(found: "Entities", wanted: Mapping[EntityName, "Json | Absent"]) -> None:
    """Raises unless both have the same entities, with the same values."""
    for name in sorted({*found, *wanted}):
        one, other = found.get(name, ABSENT), wanted.get(name, ABSENT)
        if not is_same(one, other):
            raise Broken(f"`{'/'.join(name)}` is {one!r} instead of {other!r}")


def require_refused(
    store: DocumentStore,
    commit: Commit,
    kind: type[Exception],
    check: Callable[[], None] = go_on,
) -> None:
    """Raises unless the commit is refused with this very error."""
    try:
        store.commit(commit, check)
    except kind:
        return
    raise Broken(f"it committed where `{kind.__name__.strip('_')}` was due")


def only(writes: Sequence[EntityWrite]) -> EntityWrite:
    """The only one of them."""
    (only,) = writes
    return only


def at_once(*acts: Callable[[], None]) -> None:
    """All of them at the same time; raises what the first of them raised."""
    gate, problems = Barrier(len(acts)), list[BaseException]()

    def run(act: Callable[[], None]) -> None:
        try:
            gate.wait(_PATIENCE)
            act()
        except BrokenBarrierError:
            return
        except BaseException as problem:  # noqa: BLE001 - raised below, where somebody waits
            problems.append(problem)

    threads = [Thread(target=run, args=(each,), daemon=True) for each in acts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(_PATIENCE)
    if any(thread.is_alive() for thread in threads):
        raise Broken(f"several at once did not come back within {_PATIENCE:.0f} s")
    if problems:
        raise problems[0]

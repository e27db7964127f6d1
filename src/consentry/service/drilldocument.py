"""A document that is written one entity after the other, and lets a drill step in between.

The document store that comes with the product writes a commit in one transaction of its database, in the
middle of which nobody else can change anything. A host may have another one: a folder of files, a service.
This one stands for those. What it holds is gone with the process, and nobody keeps anything in it.

It keeps the rules of `decide.documentstore`: whole or not at all, once for a key, and never for a key that
was given up.
"""

from collections.abc import Callable, Iterable
from threading import RLock
from typing import Final

from consentry.base.canonical import Json
from consentry.base.frozenjson import frozen, thawed
from consentry.base.ids import IdSource
from consentry.decide.documentstore import (
    BeforeWrite,
    Commit,
    CommitRecord,
    KeyGivenUp,
    Snapshot,
    StoreConflict,
)
from consentry.decide.statechange import Absent, EntityName
from consentry.decide.txpreview import NO_REVISION
from consentry.store.documents import COMMIT_PREFIX

_GIVEN_UP: Final = None


class SteppedDocument:
    """One document in memory; `step_in` is called when the first entity of a commit was written."""

    _entities: dict[EntityName, Json]

    def __init__(
        self,
        document_id: str,
        ids: IdSource,
        step_in: Callable[[], object] = lambda: None,
    ) -> None:
        self._document_id = document_id
        self._ids = ids
        self._step_in = step_in
        self._revision = NO_REVISION
        self._entities = {}
        self._log: dict[str, CommitRecord | None] = {}
        # Whoever steps in may read it, and so may be the one who holds it.
        self._one_at_a_time = RLock()

    @property
    def document_id(self) -> str:
        """Its name."""
        return self._document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """The document, or of its entities only these."""
        wanted = None if names is None else frozenset(names)
        with self._one_at_a_time:
            found = {
                name: thawed(value)
                for name, value in self._entities.items()
                if wanted is None or name in wanted
            }
            return Snapshot(self._revision, found)

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Makes it so, entity by entity; what was written is taken back where the check says no."""
        with self._one_at_a_time:
            if commit.key in self._log:
                return self._earlier(commit.key)
            if self._revision != commit.base_revision:
                raise StoreConflict(self._document_id, self._revision, commit.base_revision)
            self._write(commit, check)
            self._revision = commit.revision
            commit_id = self._ids.new(COMMIT_PREFIX)
            record = CommitRecord(commit.key, commit.kind, commit_id, commit.revision)
            self._log[commit.key] = record
            return record

    def settle(self, commit: Commit) -> CommitRecord | None:
        """What became of the key, for good; None where it is given up from now on."""
        with self._one_at_a_time:
            return self._log.setdefault(commit.key, _GIVEN_UP)

    def _write(self, commit: Commit, check: BeforeWrite) -> None:
        before = dict(self._entities)
        try:
            for count, each in enumerate(commit.writes):
                check()
                if isinstance(each.after, Absent):
                    self._entities.pop(each.name, None)
                else:
                    self._entities[each.name] = frozen(each.after)
                if count == 0:
                    self._step_in()
            check()
        except BaseException:
            self._entities = before
            raise

    def _earlier(self, key: str) -> CommitRecord:
        record = self._log[key]
        if record is None:
            raise KeyGivenUp(key)
        return record

"""What a document store must do to be written by transactions (CONTRACTS §3).

A host may keep its documents wherever it likes, behind this protocol; `store.documents` is the one that
comes with the product. A document has a revision, which is whatever the last commit made it, and a log of
commits by their keys. The rules, which a conformance suite holds (`consentry.modules.check_document_store`):

- `read` gives one moment: a revision, and the entities as they were at it.
- `commit` takes effect whole or not at all, only if the document is still at the base revision, and durably:
  when it returns, a power cut loses nothing. A key that was committed before is answered with what it was,
  and nothing is written again; a key that was given up never commits.
- Before each write, and once more before all of it takes effect, `commit` calls `check`; whatever that raises
  leaves with nothing written.
- `settle` says for good what became of a key. Either it was committed, or it is given up from now on: what an
  unfinished commit left is taken back, and whoever comes late with that key is refused. It raises where that
  cannot be told now; nothing is decided then.

Whatever else a store raises is taken for "not known": the transaction is held until `settle` can say.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol, TypeAlias

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, field
from consentry.decide.statechange import EntityName, EntityWrite

BeforeWrite: TypeAlias = Callable[[], None]
"""Raises where the commit must not go on."""


class CommitKind(StrEnum):
    """What a commit is for."""

    APPLY = "apply"
    ROLLBACK = "rollback"


class StoreConflict(Refused):
    """The document is not at the base revision any more; nothing was written."""

    def __init__(self, document_id: str, found: str, wanted: str) -> None:
        message = (
            f"`{document_id}` is at revision `{found}`, and the change was made for `{wanted}`"
        )
        super().__init__(Code.TX_CONFLICT, message)


class KeyGivenUp(Refused):
    """The key was settled as not committed; a late writer has to stop."""

    def __init__(self, key: str) -> None:
        super().__init__(Code.TX_STATE, f"`{key}` was given up, and commits nothing any more")


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A document at one moment: entities that are not there have no key."""

    revision: str
    entities: Mapping[EntityName, Json] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Commit:
    """What is to take effect, under which key, from which revision to which."""

    key: str
    kind: CommitKind
    tx_id: str
    attempt_no: int
    base_revision: str
    revision: str
    writes: Sequence[EntityWrite] = field(repr=False)


@dataclass(frozen=True, slots=True)
class CommitRecord:
    """What the log of a store says of a commit that took effect."""

    key: str
    kind: CommitKind
    commit_id: str
    revision: str


class DocumentStore(Protocol):
    """One document that transactions write."""

    @property
    def document_id(self) -> str:
        """Its name, the same for everybody who opens it."""
        ...

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """The document, or of its entities only these."""
        ...

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Makes it so, whole and durably; raises `StoreConflict` where the base is another one."""
        ...

    def settle(self, commit: Commit) -> CommitRecord | None:
        """What the log says of the key; None where it is given up from now on."""
        ...


def as_document(snapshot: Snapshot) -> dict[str, Json]:
    """The whole document as JSON: entities by type and id."""
    document: dict[str, dict[str, Json]] = {}
    for name in sorted(snapshot.entities):
        document.setdefault(name.entity_type, {})[name.entity_id] = snapshot.entities[name]
    return dict(document)

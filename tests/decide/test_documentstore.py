"""The values that a document store is spoken to with (CONTRACTS §3-apply)."""

from consentry.base.errors import Refused
from consentry.decide.documentstore import (
    CommitKind,
    KeyGivenUp,
    Snapshot,
    StoreConflict,
    as_document,
)
from consentry.decide.statechange import EntityName


def test_a_document_is_its_entities_by_type_and_id() -> None:
    """CONTRACTS §3-entry: sorted, and null is there."""
    snapshot = Snapshot(
        "r1",
        {
            EntityName("tags", "t1"): None,
            EntityName("notes", "n2"): {"a": [1]},
            EntityName("notes", "n1"): "x",
        },
    )
    document = as_document(snapshot)
    assert document == {"notes": {"n1": "x", "n2": {"a": [1]}}, "tags": {"t1": None}}
    assert list(document) == ["notes", "tags"]
    assert as_document(Snapshot("r0", {})) == {}


def test_two_entities_are_never_one() -> None:
    """CONTRACTS §3-entry: a type and an id, whatever letters they have."""
    names = {
        EntityName("a/b", "c"),
        EntityName("a", "b/c"),
        EntityName("a", "b"),
        EntityName("b", "a"),
    }
    assert len(names) == 4


def test_a_conflict_says_both_revisions() -> None:
    """CONTRACTS §3-apply: what was found, and what was wanted."""
    conflict = StoreConflict("note-board", "r2", "r1")
    assert isinstance(conflict, Refused)
    assert conflict.code == "tx-conflict"
    assert conflict.message == "`note-board` is at revision `r2`, and the change was made for `r1`"


def test_a_key_that_was_given_up_says_so() -> None:
    """CONTRACTS §3-recovery: a late writer is refused, and told why."""
    assert KeyGivenUp("k").code == "tx-state"
    assert "given up" in KeyGivenUp("k").message
    assert {each.value for each in CommitKind} == {"apply", "rollback"}


def test_what_a_document_holds_is_not_printed() -> None:
    """CONTRACTS §3-audit: no content reaches a message by accident."""
    shown = repr(Snapshot("r1", {EntityName("notes", "n1"): "the-secret"}))
    assert "the-secret" not in shown

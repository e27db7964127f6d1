"""The built-in document store in both databases: whole commits, once, from the revision they were made for."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from consentry.base.canonical import Json
from consentry.base.errors import LedgerProblem
from consentry.decide.documentstore import Commit, CommitKind, KeyGivenUp, StoreConflict
from consentry.decide.statechange import ABSENT, Absent, EntityWrite
from consentry.decide.txpreview import NO_REVISION
from consentry.store.documents import StoredDocument
from tests.store.conftest import Store
from tests.store.keptchanges import Kept, named


@pytest.fixture
def document(store: Store) -> StoredDocument:
    """An empty one."""
    return Kept(store).document()


def put(entity_id: str, value: Json, before: "Json | Absent" = ABSENT) -> EntityWrite:
    """Writes a note."""
    return EntityWrite(named(entity_id), before, value)


def commit_of(
    *writes: EntityWrite, key: str = "key", base: str = NO_REVISION, revision: str = "r1"
) -> Commit:
    """A commit from nothing to the first revision."""
    return Commit(key, CommitKind.APPLY, "tx-1", 1, base, revision, writes)


def nothing() -> None:
    """Nothing stands against it."""


def refusing_at(number: int) -> Callable[[], None]:
    """Refuses when it is asked for the so-manieth time."""
    asked = iter(range(1, 1000))

    def check() -> None:
        if next(asked) == number:
            raise ZeroDivisionError

    return check


def test_a_document_that_nobody_wrote_is_empty(document: StoredDocument) -> None:
    """CONTRACTS §3-preview: it has a revision all the same."""
    found = document.read()
    assert (found.revision, dict(found.entities)) == (NO_REVISION, {})


def test_a_commit_is_there_when_it_returns(document: StoredDocument, store: Store) -> None:
    """CONTRACTS §3-apply: for every other connection, with its revision and its record."""
    record = document.commit(
        commit_of(put("n1", None), put("n2", {"a": ["ü", 1.5, True]})), nothing
    )
    assert (record.kind, record.key, record.revision) == (CommitKind.APPLY, "key", "r1")
    found = Kept(store).document().read()
    assert found.revision == "r1"
    assert dict(found.entities) == {named("n1"): None, named("n2"): {"a": ["ü", 1.5, True]}}
    assert document.settle(commit_of()) == record


def test_only_what_is_asked_for_is_read(document: StoredDocument) -> None:
    """CONTRACTS §3-preview: some hundred entities, of several types, those that are not there left out."""
    writes = [put(f"n{n}", n) for n in range(450)]
    document.commit(commit_of(*writes, EntityWrite(named("n1", "tags"), ABSENT, "t")), nothing)
    wanted = [named(f"n{n}") for n in range(440, 460)] + [named("n1", "tags"), named("n1", "none")]
    found = document.read(wanted)
    assert dict(found.entities) == {
        **{named(f"n{n}"): n for n in range(440, 450)},
        named("n1", "tags"): "t",
    }
    assert dict(document.read(()).entities) == {}
    assert document.read(()).revision == "r1"
    assert len(document.read(iter(writes[n].name for n in range(450))).entities) == 450


def test_another_base_is_a_conflict(document: StoredDocument) -> None:
    """CONTRACTS §3-apply: compared in the commit; nothing of it is there, its key is free."""
    document.commit(commit_of(put("n1", 1)), nothing)
    late = commit_of(put("n1", 2), put("n2", 2), key="late", revision="r2")
    with pytest.raises(StoreConflict, match=r"at revision `r1`"):
        document.commit(late, nothing)
    assert dict(document.read().entities) == {named("n1"): 1}
    again = commit_of(put("n2", 2), key="late", base="r1", revision="r2")
    assert document.commit(again, nothing).revision == "r2"


def test_a_key_commits_once(document: StoredDocument) -> None:
    """CONTRACTS §3-apply: the second time it is told what the first did, whatever it brings."""
    first = document.commit(commit_of(put("n1", 1)), nothing)
    other = commit_of(put("n1", 2), base="r1", revision="r2")
    assert document.commit(other, nothing) == first
    assert (document.read().revision, dict(document.read().entities)) == ("r1", {named("n1"): 1})


def test_what_is_written_and_taken_back_is_gone(document: StoredDocument) -> None:
    """CONTRACTS §3-rollback: an entity that was absent is absent again, and no null."""
    write = put("n1", 1)
    document.commit(commit_of(write), nothing)
    back = Commit("back", CommitKind.ROLLBACK, "tx-1", 1, "r1", "r2", (write.undone,))
    assert document.commit(back, nothing).kind is CommitKind.ROLLBACK
    assert (document.read().revision, dict(document.read().entities)) == ("r2", {})


@pytest.mark.parametrize("at", [1, 2, 3, 4])
def test_a_no_on_the_way_leaves_nothing(document: StoredDocument, at: int) -> None:
    """CONTRACTS §3-violation: before each write, and once more before all takes effect."""
    three = commit_of(*(put(f"n{n}", n) for n in range(3)))
    with pytest.raises(ZeroDivisionError):
        document.commit(three, refusing_at(at))
    assert (document.read().revision, dict(document.read().entities)) == (NO_REVISION, {})
    assert document.commit(three, refusing_at(5)).revision == "r1"


def test_a_key_that_is_given_up_never_commits(document: StoredDocument) -> None:
    """CONTRACTS §3-recovery: settled is for good, and said as often as it is asked."""
    one = commit_of(put("n1", 1))
    assert document.settle(one) is None
    assert document.settle(one) is None
    with pytest.raises(KeyGivenUp):
        document.commit(one, nothing)
    assert dict(document.read().entities) == {}


def test_a_commit_and_its_giving_up_exclude_each_other(
    document: StoredDocument, store: Store
) -> None:
    """CONTRACTS §3-recovery: at once, on connections of their own: one of the two happened, and both know which."""
    others = [Kept(store).document() for _ in range(4)]
    for turn in range(10):
        base = document.read().revision
        one = commit_of(put("n1", turn), key=f"key-{turn}", base=base, revision=f"r{turn}")

        def commit(each: StoredDocument, wanted: Commit = one) -> bool:
            try:
                each.commit(wanted, nothing)
            except KeyGivenUp:
                return False
            return True

        def settle(each: StoredDocument, wanted: Commit = one) -> bool:
            return each.settle(wanted) is not None

        with ThreadPoolExecutor(4) as pool:
            acts = [commit, settle, commit, settle]
            told = [pool.submit(act, each) for act, each in zip(acts, others, strict=True)]
            answers = {each.result() for each in told}
        assert len(answers) == 1
        assert (document.read().revision == one.revision) is answers.pop()


def test_of_two_from_one_base_one_commits(document: StoredDocument, store: Store) -> None:
    """CONTRACTS §3-apply: at once, on connections of their own."""
    others = [Kept(store).document() for _ in range(4)]

    def commit(number: int) -> bool:
        one = commit_of(put(f"n{number}", number), key=f"k{number}", revision=f"r{number}")
        try:
            others[number].commit(one, nothing)
        except StoreConflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(commit, range(4))) == 1
    assert len(document.read().entities) == 1


def test_documents_are_apart(document: StoredDocument, store: Store) -> None:
    """CONTRACTS §3-terminal-block: “that document store”: the same entity in two of them is two."""
    other = Kept(store).document("another")
    document.commit(commit_of(put("n1", 1)), nothing)
    other.commit(commit_of(put("n1", 2), key="other"), nothing)
    assert [each.read().entities[named("n1")] for each in (document, other)] == [1, 2]


@pytest.mark.parametrize("name", ["'; DROP TABLE document; --", "%", "ü" * 200, "a/b~c", "ALL"])
def test_a_name_is_a_name(document: StoredDocument, name: str) -> None:
    """CONTRACTS §3-entry: whatever letters it has."""
    document.commit(commit_of(EntityWrite(named(name, name), ABSENT, name)), nothing)
    assert dict(document.read([named(name, name)]).entities) == {named(name, name): name}


@pytest.mark.parametrize("text", ["", "{", "nul", "[" * 100_000])
def test_a_row_that_is_no_json_is_not_believed(store: Store, text: str) -> None:
    """CONTRACTS §3-recovery: it is told as a corrupt store, by every reading."""
    kept = Kept(store)
    document = kept.document()
    document.commit(commit_of(put("n1", 1)), nothing)
    kept.run("UPDATE document_entity SET value = ?", (text,))
    for names in (None, [named("n1")]):
        with pytest.raises(LedgerProblem, match="cannot be believed"):
            document.read(names)

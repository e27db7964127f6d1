"""The rules of a document store: kept by ours and by a folder of files, broken by every store with a fault."""

import sys
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from shutil import copytree

import pytest

import consentry.modules
from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.ids import Uuid7Ids
from consentry.base.values import replace
from consentry.decide.documentstore import (
    BeforeWrite,
    Commit,
    CommitKind,
    CommitRecord,
    DocumentStore,
    KeyGivenUp,
    Snapshot,
    StoreConflict,
)
from consentry.decide.statechange import ABSENT, EntityName, EntityWrite
from consentry.service.documentconformance import (
    StoreUnfit,
    check_document_store,
    document_store_verdicts,
)
from consentry.service.documentrules import RULES
from consentry.store.documents import StoredDocument
from tests.service.filestore import FileStore
from tests.service.filestorekill import AFTER, BEFORE, first_commit, next_commit
from tests.store.conftest import Store
from tests.store.sizes import IS_FULL, sampled
from tests.store.systemcalls import CHANGING, calls_of, killed_at, require_tracing

ROOT = Path(__file__).parents[2]


def test_the_store_that_comes_with_the_product_keeps_every_rule(store: Store) -> None:
    """CONTRACTS §3-apply, §3-rollback, §3-recovery: on both databases, every opening by itself."""
    clock = SystemClock()
    in_use: dict[str, ExitStack] = {}

    def opened(name: str) -> DocumentStore:
        # A server has only so many connections: those of the rule before are let go.
        rule = name.split()[1]
        if rule not in in_use:
            for before in in_use.values():
                before.close()
        database = store.open()
        in_use.setdefault(rule, ExitStack()).callback(database.close)
        return StoredDocument(database, clock, Uuid7Ids(clock), name)

    verdicts = check_document_store(opened)
    assert {each.rule for each in verdicts if each.is_kept} == set(RULES)


def test_a_folder_of_files_keeps_every_rule(tmp_path: Path) -> None:
    """CONTRACTS §3-apply: a host's own store, by the public name of the suite."""

    def opened(name: str) -> DocumentStore:
        return FileStore(tmp_path / name.replace(" ", "-"), name)

    verdicts = consentry.modules.check_document_store(opened)
    assert all(each.is_kept for each in verdicts)
    assert len(verdicts) == len(RULES)


class _Faulty:
    """A folder of files with something wrong; a fault overrides what it is wrong in."""

    def __init__(self, inner: FileStore) -> None:
        self.inner = inner

    @property
    def document_id(self) -> str:
        """Its name."""
        return self.inner.document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """As it is."""
        return self.inner.read(names)

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """As it is."""
        return self.inner.commit(commit, check)

    def settle(self, commit: Commit) -> CommitRecord | None:
        """As it is."""
        return self.inner.settle(commit)


class ForgetsKeys(_Faulty):
    """Commits a key as often as it is asked to."""

    _count = 0

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Under a key of its own making."""
        ForgetsKeys._count += 1
        now = self.inner.read(()).revision
        again = now == commit.revision
        own = replace(
            commit,
            key=f"{commit.key}#{ForgetsKeys._count}",
            base_revision=now if again else commit.base_revision,
        )
        return replace(self.inner.commit(own, check), key=commit.key)


class IgnoresTheBase(_Faulty):
    """Whoever comes last has written."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """From whatever the document is at."""
        return self.inner.commit(replace(commit, base_revision=self.inner.read(()).revision), check)


class HalfWrites(_Faulty):
    """Writes one after the other, and stops where it is refused."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Every write is a commit of its own; the last one has the key."""
        record, base = None, commit.base_revision
        if self.inner.read(()).revision != base:
            return self.inner.commit(commit, check)
        for at, write in enumerate(commit.writes):
            check()
            is_last = at == len(commit.writes) - 1
            part = replace(
                commit,
                key=commit.key if is_last else f"{commit.key}/{at}",
                base_revision=base,
                revision=commit.revision if is_last else f"{commit.revision}/{at}",
                writes=(write,),
            )
            record, base = self.inner.commit(part, lambda: None), part.revision
        check()
        assert record is not None
        return record


class SaysYesAndWritesNothing(_Faulty):
    """Lies about a commit."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Nothing happens."""
        for _ in range(len(commit.writes) + 1):
            check()
        return CommitRecord(commit.key, commit.kind, "never", commit.revision)


class SaysNoAndWrites(_Faulty):
    """Lies the other way."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """It happens, and is told as a conflict."""
        self.inner.commit(commit, check)
        raise StoreConflict(self.document_id, "something else", commit.base_revision)


class CommitsWhatWasGivenUp(_Faulty):
    """A late writer gets through."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Under another key where its own is over."""
        try:
            return self.inner.commit(commit, check)
        except KeyGivenUp:
            return self.inner.commit(replace(commit, key=f"{commit.key} late"), check)


class GivesNothingUp(_Faulty):
    """Says that a key is not there, and lets it come later."""

    def settle(self, commit: Commit) -> CommitRecord | None:
        """Looks, and decides nothing."""
        for line in self.inner._read_log():
            if line["key"] == commit.key:
                return self.inner.settle(commit)
        return None


class IgnoresTheCheck(_Faulty):
    """Writes whatever anybody says."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Never asks."""
        del check
        return self.inner.commit(commit, lambda: None)


class AsksOnlyFirst(_Faulty):
    """Asks once, and then goes through with it."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """The first call is passed on."""
        asked: list[None] = []

        def once() -> None:
            if not asked:
                asked.append(None)
                check()

        return self.inner.commit(commit, once)


class SwallowsTheRefusal(_Faulty):
    """Makes an error of its own of what the check raised."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Nobody knows any more why it stopped."""
        try:
            return self.inner.commit(commit, check)
        except Exception as problem:
            if isinstance(problem, StoreConflict | KeyGivenUp):
                raise
            raise OSError("something went wrong") from problem


class NullIsAbsent(_Faulty):
    """Drops what is null."""

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """Without them."""
        found = self.inner.read(names)
        entities = {name: value for name, value in found.entities.items() if value is not None}
        return Snapshot(found.revision, entities)


class FoldsNames(_Faulty):
    """Takes two names for one, as some file systems do."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """In small letters."""
        folded = tuple(
            replace(each, name=EntityName(each.name.entity_type, each.name.entity_id.lower()))
            for each in commit.writes
        )
        return self.inner.commit(replace(commit, writes=folded), check)


class ReadsTwoMoments(_Faulty):
    """Looks at the revision first and at the entities some time later."""

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """Whatever came between them is mixed in."""
        wanted = None if names is None else list(names)
        revision = self.inner.read(()).revision
        found = self.inner.read(wanted)
        for _ in range(20):
            if found.revision != revision:
                break
            found = self.inner.read(wanted)
        return Snapshot(revision, found.entities)


class RemembersInTheProcess(_Faulty):
    """Keeps what it read, and does not notice what others wrote."""

    _seen: Snapshot | None = None

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """As it was the first time."""
        if names is not None:
            return self.inner.read(names)
        self._seen = self._seen or self.inner.read()
        return self._seen

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Its own writes it knows of."""
        record = self.inner.commit(commit, check)
        self._seen = None
        return record


class CallsEveryKindApply(_Faulty):
    """Its log does not know a roll-back."""

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:
        """Every commit is the same to it."""
        return self.inner.commit(replace(commit, kind=CommitKind.APPLY), check)


FAULTS: dict[type[_Faulty], set[str]] = {
    ForgetsKeys: {"once-for-its-key", "settled-as-committed"},
    IgnoresTheBase: {"base-revision", "one-of-two-writers"},
    HalfWrites: {"refused-in-the-middle"},
    SaysYesAndWritesNothing: {"takes-effect", "settled-as-committed", "one-of-two-writers"},
    SaysNoAndWrites: {"takes-effect"},
    CommitsWhatWasGivenUp: {"given-up-for-good"},
    GivesNothingUp: {"given-up-for-good"},
    IgnoresTheCheck: {"asks-before-each-write", "refused-in-the-middle"},
    AsksOnlyFirst: {"asks-before-each-write", "refused-in-the-middle"},
    SwallowsTheRefusal: {"refused-in-the-middle"},
    NullIsAbsent: {"absent-or-null", "any-value"},
    FoldsNames: {"any-value"},
    ReadsTwoMoments: {"one-moment"},
    RemembersInTheProcess: {"reopened"},
    CallsEveryKindApply: {"taken-back"},
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_a_store_with_a_fault_breaks_the_rules_that_it_touches(
    tmp_path: Path, fault: Callable[[FileStore], _Faulty]
) -> None:
    """CONTRACTS §3-apply, §3-rollback, §3-recovery: and is refused, with the rules by name."""

    def opened(name: str) -> DocumentStore:
        return fault(FileStore(tmp_path / name.replace(" ", "-"), name))

    verdicts = document_store_verdicts(opened, RULES if IS_FULL else FAULTS[fault])  # type: ignore[index]
    broken = {each.rule for each in verdicts if not each.is_kept}
    assert broken >= FAULTS[fault], "\n".join(map(str, verdicts))  # type: ignore[index]


def test_a_store_that_breaks_a_rule_is_refused(tmp_path: Path) -> None:
    """CONTRACTS §3-apply: by the public name, with a code and with what was seen instead."""
    with pytest.raises(StoreUnfit, match="given-up-for-good") as caught:
        consentry.modules.check_document_store(
            lambda name: CommitsWhatWasGivenUp(FileStore(tmp_path / name.replace(" ", "-"), name))
        )
    assert caught.value.code is Code.TX_STORE
    broken = [each.rule for each in caught.value.verdicts if not each.is_kept]
    assert set(broken) <= {"given-up-for-good", "settled-while-committed"}


def test_a_store_that_raises_everywhere_is_told_rule_by_rule() -> None:
    """Nothing of the store's own words reaches a terminal unquoted."""

    def opened(_: str) -> DocumentStore:
        raise OSError("\x1b[31mno such place")

    verdicts = document_store_verdicts(opened)
    assert [each.rule for each in verdicts] == list(RULES)
    assert all("it raised OSError" in str(each) and "\x1b" not in str(each) for each in verdicts)


def test_a_folder_of_files_goes_on_after_a_torn_line(tmp_path: Path) -> None:
    """CONTRACTS §3-recovery: what was not finished did not happen; what was, is made so."""
    store = FileStore(tmp_path, "board")
    writes = (EntityWrite(EntityName("notes", "one"), ABSENT, {"text": "a"}),)
    base = store.read().revision
    store.commit(Commit("k", CommitKind.APPLY, "tx", 1, base, "r1", writes), lambda: None)
    before, log = store.read(), tmp_path / "log.jsonl"
    log.write_bytes(log.read_bytes() + b'{"key": "torn", "kind": "app')
    (tmp_path / "applied").unlink()
    for path in (tmp_path / "entities").iterdir():
        path.unlink()
    assert FileStore(tmp_path, "board").read() == before


def test_a_folder_of_files_is_whole_wherever_its_writer_is_killed(tmp_path: Path) -> None:
    """CONTRACTS §3-apply, §3-recovery: all of a commit or nothing of it, and the log knows which."""
    require_tracing()
    folder = tmp_path / "folder"
    store = FileStore(folder, "board")
    store.commit(first_commit(store), lambda: None)

    def writing(place: Path) -> list[str]:
        return [sys.executable, "-m", "tests.service.filestorekill", str(place)]

    calls = calls_of(writing(copytree(folder, tmp_path / "counted")), CHANGING, cwd=ROOT)
    outcomes = set()
    for number, call in enumerate(sampled(calls, 12)):
        place = copytree(folder, tmp_path / f"killed-{number}")
        ended = killed_at(call, writing(place), cwd=ROOT)
        assert ended.status == -9, ended.err
        left = FileStore(place, "board")
        found = left.read()
        is_there = left.settle(next_commit()) is not None
        assert dict(found.entities) == (AFTER if is_there else BEFORE), call
        assert is_there or "told" not in ended.out
        outcomes.add(is_there)
        again = replace(next_commit(), key="again", base_revision=found.revision, revision="r3")
        left.commit(again, lambda: None)
        assert dict(left.read().entities) == AFTER
    assert outcomes == {True, False}

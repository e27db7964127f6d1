"""The rules of a document store, each as something that is tried (`decide.documentstore`).

Each takes the opening of documents that belong to it alone, does what transactions do, and raises `Broken`
with what it saw instead. They know nothing of how a store works: only `read`, `commit` and `settle`.
"""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from consentry.base.canonical import Json
from consentry.base.frozenjson import thawed
from consentry.base.values import replace
from consentry.decide.documentstore import (
    Commit,
    CommitKind,
    CommitRecord,
    DocumentStore,
    KeyGivenUp,
    StoreConflict,
)
from consentry.decide.statechange import ABSENT, Absent, EntityName
from consentry.decide.txpreview import revision_after
from consentry.service.documenttrials import (
    Opened,
    at_once,
    go_on,
    only,
    require,
    require_is,
    require_refused,
    require_same,
)

ONE: Final = EntityName("notes", "one")
TWO: Final = EntityName("notes", "two")
THREE: Final = EntityName("tags", "one")
_ROUNDS: Final = 8
_WRITERS: Final = 4
_MANY: Final = 300
_VALUES: Final[Mapping[EntityName, Json]] = MappingProxyType(
    {
        EntityName("notes", "null"): None,
        EntityName("notes", "false"): False,
        EntityName("notes", "zero"): 0,
        EntityName("notes", "empty text"): "",
        EntityName("notes", "empty object"): {},
        EntityName("notes", "empty list"): [],
        EntityName("notes", "large"): 2**53 - 1,
        EntityName("notes", "small"): -1.5e-7,
        EntityName("notes", "nested"): {"b": [{"a": None}, [], {}], "a": {"": "empty key"}},
        EntityName("notes", "unicode"): "é e\u0301 ß 漢字 🗒️ \u202e \x00\x1f\u2028 \\ \" '",
        # Names that a file system, a database or a language may take for others.
        EntityName("notes", "case"): 1,
        EntityName("notes", "CASE"): 2,
        EntityName("notes", "é"): 3,
        EntityName("notes", "e\u0301"): 4,
        EntityName("notes", "../up"): 5,
        EntityName("notes", "a/b~c%2F*?'\";--"): 6,
        EntityName("notes", "."): 7,
        EntityName("notes", "__proto__"): 8,
        EntityName("notes", "x" * 200): 9,
        EntityName("漢" * 200, "字" * 200): 10,
    }
)


class Rule(NamedTuple):
    """A rule in words, and how it is tried."""

    says: str
    tried: Callable[[Opened], None]


def _new_document(opened: Opened) -> None:
    first, again = opened.store().read(), opened.store().read()
    require(not first.entities, "it has entities already")
    require(bool(first.revision), "its revision is empty")
    require(first.revision == again.revision, "its revision is another one each time")


def _takes_effect(opened: Opened) -> None:
    store = opened.store()
    before = store.read().revision
    commit, record = opened.made(store, {ONE: 1, TWO: {"text": "a"}, THREE: [1]})
    require_is(store, commit.revision, {ONE: 1, TWO: {"text": "a"}, THREE: [1]})
    require(before != commit.revision, "the revision did not move")
    wanted = (commit.key, commit.kind, commit.revision)
    told = (record.key, record.kind, record.revision)
    require(told == wanted, f"it was told as {told} instead of {wanted}")
    require(bool(record.commit_id), "it has no id of its own")
    commit, later = opened.made(store, {TWO: ABSENT, ONE: 2})
    require_is(store, commit.revision, {ONE: 2, THREE: [1]})
    require(later.commit_id != record.commit_id, "two commits have one id")


def _base_revision(opened: Opened) -> None:
    store = opened.store()
    stale = opened.commit(store, {TWO: "stale"})
    made, _ = opened.made(store, {ONE: 1})
    require_refused(store, stale, StoreConflict)
    require_is(store, made.revision, {ONE: 1})
    nowhere = replace(opened.commit(store, {TWO: 1}), base_revision="never was")
    require_refused(store, nowhere, StoreConflict)
    require_is(store, made.revision, {ONE: 1})
    require(store.settle(stale) is None, "a key that was refused counts as committed")


def _once_for_its_key(opened: Opened) -> None:
    store = opened.store()
    commit, record = opened.made(store, {ONE: 1})
    for each in (store, opened.store()):
        again = each.commit(commit, go_on)
        require(again == record, f"the second time it was {again} instead of {record}")
    require_is(store, commit.revision, {ONE: 1})
    later, _ = opened.made(store, {ONE: 2})
    again = store.commit(commit, go_on)
    require(again == record, "after another commit it was answered otherwise")
    require_is(store, later.revision, {ONE: 2})


def _settled_as_committed(opened: Opened) -> None:
    store = opened.store()
    commit, record = opened.made(store, {ONE: 1})
    later, _ = opened.made(store, {ONE: 2})
    for each in (store, opened.store(), store):
        found = each.settle(commit)
        require(found == record, f"it was settled as {found} instead of {record}")
    require_is(store, later.revision, {ONE: 2})


def _given_up_for_good(opened: Opened) -> None:
    store = opened.store()
    made, _ = opened.made(store, {ONE: 1})
    late = opened.commit(store, {ONE: 2})
    require(store.settle(late) is None, "a key that nobody committed counts as committed")
    for each in (store, opened.store()):
        require_refused(each, late, KeyGivenUp)
        require(each.settle(late) is None, "a key that was given up is committed later")
    require_is(store, made.revision, {ONE: 1})
    after = replace(late, key=f"{late.key} again")
    store.commit(after, go_on)
    require_is(store, after.revision, {ONE: 2})
    require_refused(store, late, KeyGivenUp)


def _asks_before_each_write(opened: Opened) -> None:
    store = opened.store()
    for number in (1, 3, 40):
        after = {EntityName("notes", f"{each}"): number for each in range(number)}
        calls: list[None] = []
        store.commit(opened.commit(store, after), lambda calls=calls: calls.append(None))  # type: ignore[misc]
        wanted = number + 1
        require(
            len(calls) == wanted, f"of {number} writes it asked {len(calls)}, not {wanted} times"
        )


class _No(Exception):
    """What the check raises in the middle."""


def _refused_in_the_middle(opened: Opened) -> None:
    store = opened.store()
    made, _ = opened.made(store, {ONE: 1, TWO: 1})
    after: dict[EntityName, Json | Absent] = {ONE: 2, TWO: ABSENT, THREE: 3}
    for place in range(len(after) + 1):
        commit, left = opened.commit(store, after), [place]

        def check(left: list[int] = left) -> None:
            if left[0] == 0:
                raise _No
            left[0] -= 1

        require_refused(store, commit, _No, check)
        for each in (store, opened.store()):
            require_is(each, made.revision, {ONE: 1, TWO: 1})
        require(store.settle(commit) is None, "what was refused counts as committed")
    opened.made(store, after)


def _taken_back(opened: Opened) -> None:
    store = opened.store()
    before = {ONE: {"text": "a"}, TWO: None}
    opened.made(store, before)
    applied, record = opened.made(store, {ONE: {"text": "b"}, TWO: ABSENT, THREE: 1})
    undone = tuple(each.undone for each in applied.writes)
    revision = revision_after(applied.revision, undone, "back")
    back = Commit(
        f"{applied.key}:back",
        CommitKind.ROLLBACK,
        applied.tx_id,
        1,
        applied.revision,
        revision,
        undone,
    )
    told = store.commit(back, go_on)
    require(told.kind is CommitKind.ROLLBACK, f"a roll-back was told as {told.kind}")
    require_is(store, revision, before)
    require(store.settle(back) == told, "a roll-back is settled as another one")
    require(store.settle(applied) == record, "what was taken back is settled as never committed")


def _absent_or_null(opened: Opened) -> None:
    store = opened.store()
    commit, _ = opened.made(store, {ONE: None, TWO: 1})
    require_is(store, commit.revision, {ONE: None, TWO: 1})
    commit, _ = opened.made(store, {ONE: ABSENT, TWO: None})
    require_is(store, commit.revision, {TWO: None})
    found = store.read([ONE, TWO]).entities
    require(ONE not in found and TWO in found, "what is absent has a value, or null has none")


def _any_value(opened: Opened) -> None:
    store = opened.store()
    commit, _ = opened.made(store, _VALUES)
    for each in (store, opened.store()):
        require_is(each, commit.revision, _VALUES)
    commit, _ = opened.made(store, {EntityName("notes", "CASE"): ABSENT})
    rest = {name: value for name, value in _VALUES.items() if name.entity_id != "CASE"}
    require_is(store, commit.revision, rest)


def _reads_some(opened: Opened) -> None:
    store = opened.store()
    commit, _ = opened.made(store, {ONE: 1, TWO: 2, THREE: 3})
    for names, wanted in (((), {}), ((ONE, THREE), {ONE: 1, THREE: 3})):
        found = store.read(names)
        require(found.revision == commit.revision, "the revision depends on what is read")
        require_same(found.entities, wanted)
    missing = EntityName("notes", "never was")
    require_same(store.read([missing, TWO, TWO]).entities, {TWO: 2})


def _many(opened: Opened) -> None:
    store = opened.store()
    after = {EntityName("notes", f"n{each}"): {"n": each} for each in range(_MANY)}
    commit, _ = opened.made(store, after)
    require_is(opened.store(), commit.revision, after)
    require_same(store.read(after).entities, after)


def _stays_its_own(opened: Opened) -> None:
    store = opened.store()
    given: dict[str, Any] = {"text": ["a"]}
    commit, _ = opened.made(store, {ONE: given})
    given["text"] = "changed by whoever handed it over"
    found: Any = store.read().entities[ONE]
    if isinstance(found, dict):
        found["text"] = "changed by whoever read it"
    require_is(store, commit.revision, {ONE: {"text": ["a"]}})


def _reopened(opened: Opened) -> None:
    store = opened.store()
    commit, record = opened.made(store, {ONE: {"text": "a"}, TWO: None})
    again = opened.store()
    require(again.document_id == store.document_id, "it has another name")
    require_is(again, commit.revision, {ONE: {"text": "a"}, TWO: None})
    require(again.settle(commit) == record, "its log is another one")
    store.read()
    opened.made(again, {ONE: ABSENT})
    require_same(store.read().entities, {TWO: None})


def _documents_apart(opened: Opened) -> None:
    one, two = opened.store("one"), opened.store("two")
    commit, _ = opened.made(one, {ONE: 1})
    require(one.document_id != two.document_id, "two documents have one name")
    require_same(two.read().entities, {})
    opened.made(two, {ONE: 2})
    require_is(one, commit.revision, {ONE: 1})


def _one_moment(opened: Opened) -> None:
    names = [EntityName("notes", f"{each}") for each in range(8)]
    store = opened.store()
    first, _ = opened.made(store, dict.fromkeys(names, 0))
    revisions = {first.revision: 0}

    def write() -> None:
        own = opened.store()
        for number in range(1, _ROUNDS + 1):
            commit = opened.commit(own, dict.fromkeys(names, number))
            revisions[commit.revision] = number
            own.commit(commit, go_on)

    def read() -> None:
        own = opened.store()
        for _ in range(4 * _ROUNDS):
            found = own.read()
            seen = {thawed(found.entities.get(name)) for name in names}
            wanted = {revisions.get(found.revision)}
            require(seen == wanted, f"at one revision {sorted(map(str, seen))} was read")

    at_once(write, read, read)


def _one_of_two_writers(opened: Opened) -> None:
    store, *others = (opened.store() for _ in range(_WRITERS))
    for round_ in range(_ROUNDS):
        commits = [opened.commit(store, {ONE: f"{round_}:{at}"}) for at in range(_WRITERS)]
        won: list[Commit] = []

        def write(own: DocumentStore, commit: Commit, won: list[Commit] = won) -> None:
            try:
                own.commit(commit, go_on)
            except StoreConflict:
                return
            won.append(commit)

        at_once(*map(partial, [write] * _WRITERS, [store, *others], commits))
        require(len(won) == 1, f"{len(won)} of {_WRITERS} writers from one revision were told yes")
        require_is(store, won[0].revision, {ONE: only(won[0].writes).after})


def _one_key_at_once(opened: Opened) -> None:
    stores = [opened.store() for _ in range(_WRITERS)]
    for round_ in range(_ROUNDS):
        commit = opened.commit(stores[0], {ONE: round_})
        told: list[CommitRecord] = []

        def write(own: DocumentStore, commit: Commit = commit, told: Any = told) -> None:
            told.append(own.commit(commit, go_on))

        at_once(*(partial(write, each) for each in stores))
        require(len(set(told)) == 1, "one key at once was answered with several commits")
        require_is(stores[0], commit.revision, {ONE: round_})


def _settled_while_committed(opened: Opened) -> None:
    store, other = opened.store(), opened.store()
    for round_ in range(_ROUNDS):
        before = store.read()
        commit = opened.commit(store, {ONE: round_})
        told: list[CommitRecord | None] = []
        settled: list[CommitRecord | None] = []

        def write(commit: Commit = commit, told: Any = told) -> None:
            try:
                told.append(store.commit(commit, go_on))
            except KeyGivenUp:
                told.append(None)

        def settle(commit: Commit = commit, settled: Any = settled) -> None:
            settled.append(other.settle(commit))

        at_once(write, settle)
        require(told == settled, f"the writer was told {told}, and it was settled as {settled}")
        require(store.settle(commit) == settled[0], "it was settled otherwise later")
        if settled[0] is None:
            require_is(store, before.revision, before.entities)
        else:
            require_is(store, commit.revision, {ONE: round_})


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {
        "new-document": Rule("a document that nobody wrote to is empty", _new_document),
        "takes-effect": Rule("a commit makes all its writes so, and nothing else", _takes_effect),
        "base-revision": Rule("a commit for another revision is refused", _base_revision),
        "once-for-its-key": Rule("a key is committed once, however often", _once_for_its_key),
        "settled-as-committed": Rule("what was committed stays so", _settled_as_committed),
        "given-up-for-good": Rule("a key that was given up never commits", _given_up_for_good),
        "asks-before-each-write": Rule(
            "`check` is called before each write, and once more", _asks_before_each_write
        ),
        "refused-in-the-middle": Rule(
            "what `check` raises passes, with nothing written", _refused_in_the_middle
        ),
        "taken-back": Rule("a roll-back is a commit with a kind of its own", _taken_back),
        "absent-or-null": Rule("what is absent is not null", _absent_or_null),
        "any-value": Rule("every name and every JSON value is kept as it is", _any_value),
        "reads-some": Rule("of some entities these are read, at the same revision", _reads_some),
        "many": Rule("many entities are one commit", _many),
        "stays-its-own": Rule("what was read or handed over changes nothing", _stays_its_own),
        "reopened": Rule("whoever opens it later sees the same", _reopened),
        "documents-apart": Rule("documents do not touch each other", _documents_apart),
        "one-moment": Rule("a reader sees one moment, while others write", _one_moment),
        "one-of-two-writers": Rule(
            "of writers from one revision at once one wins", _one_of_two_writers
        ),
        "one-key-at-once": Rule("one key from several at once is one commit", _one_key_at_once),
        "settled-while-committed": Rule(
            "a key is settled and committed at once: both are told the same",
            _settled_while_committed,
        ),
    }
)
"""Every rule by its name."""

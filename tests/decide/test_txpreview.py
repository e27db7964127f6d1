"""The preview of a transaction: its fields, their order, and the hash that a yes binds to (CONTRACTS §3)."""

import hashlib
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.base.values import replace
from consentry.decide.identity import Role
from consentry.decide.statechange import EntityName, read_operations, worked_out
from consentry.decide.txpreview import (
    NO_REVISION,
    PreviewTerms,
    check_preview,
    preview_hash,
    preview_of,
    revision_after,
)
from tests.decide.changestates import documents, flat, nested, operations_on
from tests.decide.samples import MINUTE, NOW

TERMS = PreviewTerms("tx-1", 1, "heavy", NO_REVISION, NOW)
THERE = {
    EntityName("notes", "n1"): {"text": "one", "tags": ["a"]},
    EntityName("notes", "n2"): "two",
    EntityName("tags", "t1"): None,
}
ASKED: list[dict[str, Any]] = [
    {"op": "replace", "path": "/notes/n1/text", "value": None},
    {"op": "remove", "path": "/notes/n2"},
    {"op": "add", "path": "/notes/n1/tags/-", "value": "b"},
    {"op": "move", "from": "/notes/n1/tags/0", "path": "/tags/t2"},
    {"op": "add", "path": "/shared/s1", "value": 1, "scope": "sync"},
]


def shown(*asked: Any, terms: PreviewTerms = TERMS, there: Any = None) -> dict[str, Any]:
    """The preview of these."""
    done = worked_out(THERE if there is None else there, read_operations(list(asked or ASKED)))
    return dict(preview_of(terms, done))


def test_a_preview_has_these_fields_in_this_order() -> None:
    """CONTRACTS §3-preview: all of them and no other."""
    preview = shown()
    assert list(preview) == [
        "schemaVersion",
        "txId",
        "attemptNo",
        "track",
        "baseRevision",
        "candidateRevision",
        "generatedAt",
        "entries",
        "summary",
        "previewHash",
    ]
    assert preview["schemaVersion"] == "tx-preview/v1"
    assert preview["summary"] == {"add": 2, "remove": 1, "replace": 1, "move": 1}
    assert list(preview["summary"]) == ["add", "remove", "replace", "move"]
    assert (preview["txId"], preview["attemptNo"], preview["track"]) == ("tx-1", 1, "heavy")
    assert (preview["baseRevision"], preview["generatedAt"]) == (NO_REVISION, str(NOW))


def test_an_entry_has_these_fields_in_this_order() -> None:
    """CONTRACTS §3-entry: all of them and no other, with a view for every role."""
    for entry in shown()["entries"]:
        assert list(entry) == [
            "seq",
            "scope",
            "entityType",
            "entityId",
            "path",
            "op",
            "before",
            "after",
            "roleViews",
        ]
        assert (
            set(entry["roleViews"])
            == {"owner", "approver", "operator", "viewer"}
            == {each.value for each in Role if each is not Role.SYSTEM}
        )
        for view in entry["roleViews"].values():
            assert list(view) == ["before", "after", "redacted"]
            assert view == {"before": entry["before"], "after": entry["after"], "redacted": False}


def test_every_entry_tells_what_was_and_what_will_be() -> None:
    """CONTRACTS §3-entry: by operation, with the way inside the entity as its path."""
    told = {
        each["seq"]: (each["path"], each["op"], each["before"], each["after"])
        for each in shown()["entries"]
    }
    assert told == {
        0: ("/text", "replace", "one", None),
        1: ("", "remove", "two", None),
        2: ("/tags/-", "add", None, "b"),
        3: (
            "",
            "move",
            {"pointer": "/notes/n1/tags/0", "value": "a"},
            {"pointer": "/tags/t2", "value": "a"},
        ),
        4: ("", "add", None, 1),
    }


def _place(entry: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(entry[key] for key in ("scope", "entityType", "entityId", "path", "op", "seq"))


@given(st.data())
def test_entries_stand_in_their_order(data: st.DataObject) -> None:
    """CONTRACTS §3-entry: “sorted by scope, entityType, entityId, path, op, seq”, every operation once."""
    entities: Any = data.draw(documents)
    asked = data.draw(operations_on(entities))
    try:
        done = worked_out(flat(nested(entities)), read_operations(asked))
    except BadInput:
        return
    entries: Any = preview_of(TERMS, done)["entries"]
    assert [_place(each) for each in entries] == sorted(_place(each) for each in entries)
    assert sorted(each["seq"] for each in entries) == list(range(len(asked)))


def test_the_order_of_the_document_is_no_matter() -> None:
    """CONTRACTS §3-hash: the same entities in another order give the same hash."""
    backwards = dict(reversed(THERE.items()))
    assert shown(there=backwards)["previewHash"] == shown()["previewHash"]


def test_the_hash_is_over_all_but_itself() -> None:
    """CONTRACTS §3-hash: SHA-256 over sorted keys and explicit nulls, without `previewHash`."""
    preview = shown()
    rest = {key: value for key, value in preview.items() if key != "previewHash"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert '"after":null' in text
    assert preview["previewHash"] == f"sha256:{hashlib.sha256(text.encode()).hexdigest()}"
    assert check_preview(preview) == preview_hash(rest) == preview["previewHash"]


@pytest.mark.parametrize(
    "changed",
    [
        {"tx_id": "tx-2"},
        {"attempt_no": 2},
        {"track": "host"},
        {"base_revision": "sha256:" + "1" * 64},
        {"generated_at": NOW.plus(MINUTE)},
    ],
)
def test_other_terms_are_another_hash(changed: dict[str, Any]) -> None:
    """CONTRACTS §3-hash: a preview is for one attempt, at one time, of one revision."""
    assert shown(terms=replace(TERMS, **changed))["previewHash"] != shown()["previewHash"]


def _parts(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    found = [way] if way else []
    for key, item in pairs:
        found += _parts(item, (*way, key))
    return found


def test_whatever_is_changed_in_it_is_found_out() -> None:
    """CONTRACTS §3-hash: every single part of it, changed or gone, is another preview."""
    preview = shown()
    ways = [way for way in _parts(preview) if way != ("previewHash",)]
    assert len(ways) > 100
    for way in ways:
        for is_gone in (True, False):
            other = json.loads(json.dumps(preview))
            holder = other
            for step in way[:-1]:
                holder = holder[step]
            if is_gone:
                del holder[way[-1]]
            else:
                holder[way[-1]] = [holder[way[-1]]]
            with pytest.raises(BadInput, match="not the one that was hashed"):
                check_preview(other)


def test_a_preview_without_its_hash_is_not_believed() -> None:
    """CONTRACTS §3-hash: nor is one whose hash is another text."""
    preview = shown()
    for wrong in (None, "", preview["previewHash"].upper(), "sha256:" + "0" * 64):
        with pytest.raises(BadInput):
            check_preview({**preview, "previewHash": wrong})
    with pytest.raises(BadInput):
        check_preview({key: value for key, value in preview.items() if key != "previewHash"})


def test_other_processes_give_the_same_hash() -> None:
    """CONTRACTS §3-hash: whatever their seed of hashes is."""
    program = (
        "import sys; from tests.decide.test_txpreview import shown; print(shown()['previewHash'])"
    )
    for seed in ("0", "4711"):
        told = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout.strip() == shown()["previewHash"]


def test_the_hash_stays_what_it_is() -> None:
    """CONTRACTS §3-hash: the value itself, so that no later version reads old previews as others."""
    assert shown()["previewHash"] == KNOWN


def test_a_revision_is_one_commit_of_one_base() -> None:
    """CONTRACTS §3-recovery: no two commits lead to the same one, so a revision tells which took effect."""
    writes = worked_out(THERE, read_operations(ASKED)).writes
    first = revision_after(NO_REVISION, writes, "tx-1:1:apply")
    assert shown()["candidateRevision"] == first
    others = {
        revision_after(NO_REVISION, writes, "tx-1:2:apply"),
        revision_after(NO_REVISION, writes[1:], "tx-1:1:apply"),
        revision_after(first, writes, "tx-1:1:apply"),
        revision_after(NO_REVISION, [each.undone for each in writes], "tx-1:1:apply"),
    }
    assert len(others | {first}) == 5


KNOWN = "sha256:ffb979d8b556188135b4e5956a4ba6487ab8b08f93de7e978950a35ec645a354"

"""Importing a package into a host: the envelope, all or nothing, and what is on record (CONTRACTS §1)."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier
from types import MappingProxyType
from typing import Any

import pytest

from consentry.base.canonical import digest_bytes
from consentry.base.errors import BadDocument
from consentry.decide.capabilityask import CapabilityAsk
from consentry.declare.modulevalues import Slot
from tests.service.modulehosting import (
    ALL,
    AUTO,
    EXPORT,
    FOR_GOOD,
    MODULE,
    READ,
    SHOW,
    STORE,
    YES,
    Board,
    graph,
    package,
)

pytestmark = pytest.mark.timeout(120)

HUGE = "n" * 7_000_000
"""Nearly all that a package can be."""


def tables(board: Board) -> dict[str, list[Any]]:
    """Everything that an import could leave behind, besides events."""
    journal = board.journal()
    try:
        with journal.database.reading() as view:
            names = (
                "module",
                "capability_grant",
                "module_storage",
                "module_block",
                "module_action",
            )
            return {each: list(view.rows(f"SELECT * FROM {each}")) for each in names}  # noqa: S608 - no value in it
    finally:
        journal.ledger.close()


# The envelope.


def test_an_import_is_told_in_one_envelope(board: Board) -> None:
    """CONTRACTS §1-envelope: exactly these five keys, and whether something was replaced."""
    assert board.take() == {
        "ok": True,
        "code": "imported",
        "moduleId": MODULE,
        "moduleVersion": "1.0.0",
        "replaced": False,
    }
    assert board.take(package(version="2.0.0"))["replaced"] is True
    assert board.take(package(module_id="other-one"))["replaced"] is False


def test_a_refusal_is_told_in_one_envelope(board: Board) -> None:
    """CONTRACTS §1-envelope: code, path and message; `detail` only where there is one."""
    plain = board.take(package(moduleVersion="one"))
    assert set(plain) == {"ok", "code", "path", "message"}
    assert (plain["ok"], plain["code"], plain["path"]) == (
        False,
        "invalid-module-version",
        "package.moduleVersion",
    )
    document = package()
    document["pluginManifest"]["ui"] = 1
    detailed = board.take(document)
    assert detailed["detail"] == {"manifestCode": "invalid-ui-array"}
    assert set(detailed) == {"ok", "code", "path", "message", "detail"}


@pytest.mark.parametrize("form", [dict, json.dumps, lambda given: json.dumps(given).encode()])
def test_bytes_text_and_values_are_one_package(board: Board, form: Any) -> None:
    """CONTRACTS §1-envelope: one reader for all, so the digest is the same."""
    board.take()
    assert board.take(form(package()))["replaced"] is True
    digests = {each["packageDigest"] for each in board.payloads("module.imported")}
    assert len(digests) == 1


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe",
        "\ud800",
        "[1]",
        '{"a": 1, "a": 2}',
        '{"a": NaN}',
        "[" * 100_000,
        {"packageAbiVersion": float("inf")},
        {"packageAbiVersion": object()},
        MappingProxyType({}),
        json.loads("[" * 500 + "]" * 500),
    ],
    ids=lambda each: f"{type(each).__name__}-{str(each)[:12]}",
)
def test_what_is_no_package_at_all_has_one_answer(board: Board, content: Any) -> None:
    """CONTRACTS §12-import-garbage, §1-envelope: the same each time; nothing is registered, and it is on record."""
    first, second = board.take(content), board.take(content)
    assert first == second
    assert (first["code"], first["path"]) == ("invalid-package-root", "package")
    rejected = board.payloads("module.import.rejected")
    assert [(each["code"], each["moduleId"]) for each in rejected] == [
        ("invalid-package-root", None)
    ] * 2
    assert not any(tables(board).values())


# All or nothing.


def test_a_refused_package_leaves_everything_as_it_was(board: Board) -> None:
    """CONTRACTS §1-atomic, MODULES §stage-import: the module, its grants, questions and storage."""
    board.take()
    board.grant(READ, STORE, decision=FOR_GOOD)
    board.call("keep", arguments="x")
    waiting = board.host.request(MODULE, [EXPORT]).request_id
    before = tables(board)
    for broken in (
        package(version="2.0.0", requested=("state.*",)),
        package(version="2.0.0", commandBindings=[]),
        package(version="two"),
        package(version="2.0.0", extensions={"y": 1}),
    ):
        assert board.take(broken)["ok"] is False
    assert tables(board) == before
    assert [each.request_id for each in board.host.pending()] == [waiting]
    assert board.call("count").ok


def test_an_unknown_capability_registers_nothing(board: Board) -> None:
    """MODULES §stage-import, §catalog-2, CONTRACTS §1-semantics: two events say so, and nothing else is there."""
    document = package(requested=(READ, "state.*", "no.such"))
    envelope = board.take(document)
    assert (envelope["code"], envelope["path"]) == (
        "capability-unknown-id",
        "package.capabilitiesRequested[2]",
    )
    assert not any(tables(board).values())
    [check], [rejected] = (
        board.payloads("capability.check.rejected"),
        board.payloads("module.import.rejected"),
    )
    assert (check["decision"], check["decisionReasonCode"], check["capabilityId"]) == (
        "rejected",
        "capability-unknown-id",
        "no.such",
    )
    assert (check["moduleId"], check["moduleVersion"], check["actionId"]) == (MODULE, "1.0.0", None)
    assert rejected == {
        "hostId": "note-board",
        "moduleId": MODULE,
        "code": "capability-unknown-id",
        "path": envelope["path"],
        "contentDigest": digest_bytes(json.dumps(document, ensure_ascii=False).encode()),
    }


@pytest.mark.parametrize("named", ["*", "state.*", "state", "State.Read", "state.read.all", "\0"])
def test_no_wildcard_prefix_or_alias_is_imported(board: Board, named: str) -> None:
    """MODULES §catalog-3: the same code every time, alone and beside what is right."""
    for requested in ((named,), (*ALL, named), (named, named)):
        assert board.take(package(requested=requested))["code"] == "capability-unknown-id"
    assert board.host.modules() == []


def test_meaning_comes_after_the_whole_shape(board: Board) -> None:
    """MODULES §source-5, CONTRACTS §1-semantics: a broken extension behind it is told first."""
    unknown = package(requested=("no.such",))
    assert board.take(unknown)["code"] == "capability-unknown-id"
    assert board.take({**unknown, "extensions": {"y": 1}})["code"] == "invalid-extension-key"
    assert board.take({**unknown, "capabilitiesRequested": ["no.such", " "]})["code"] == (
        "invalid-capability-shape"
    )


def test_what_is_asked_for_is_trimmed_sorted_and_each_once(board: Board) -> None:
    """MODULES §source-3: in the record, and for what the module can be granted."""
    board.take(package(requested=(f" {READ}\n", STORE, READ)))
    [imported] = board.payloads("module.imported")
    assert imported["capabilities"] == [STORE, READ]
    board.grant(READ, STORE)
    assert board.call("count").ok


def test_a_package_that_asks_for_nothing_can_be_granted_nothing(board: Board) -> None:
    """MODULES §source-1, §source-2: a missing list is an empty one, and no other place counts."""
    document = package(extensions={"x-capabilities": [READ]}, capabilities=None)
    del document["capabilities"], document["capabilitiesRequested"]
    assert board.take(document)["ok"]
    [imported] = board.payloads("module.imported")
    assert imported["capabilities"] == []
    assert board.host.request(MODULE, [READ]).code == "capability-not-requested"


def test_a_wrong_graph_registers_nothing(board: Board) -> None:
    """CONTRACTS §1-atomic: neither the package nor the graph, though the package alone is right."""
    for wrong in (
        b"{}",
        graph({"id": "a", "calls": ["no.such"]}),
        graph({"id": "a", "calls": ["notes.count"]}, module_id="other-one"),
    ):
        with pytest.raises(BadDocument):
            board.take(None, wrong)
    assert not any(tables(board).values())
    assert board.events("module.imported") == []


def test_imports_at_once_leave_one_whole_module(board: Board) -> None:
    """CONTRACTS §1-atomic: four versions from four threads; one is registered, and each replaced another."""
    board.take()
    board.grant(READ, decision=FOR_GOOD)
    start = Barrier(4)

    def take(number: int) -> Any:
        start.wait(60)
        return board.take(package(version=f"{number}.0.0"))

    with ThreadPoolExecutor(4) as pool:
        envelopes = list(pool.map(take, range(2, 6)))
    assert all(each["ok"] and each["replaced"] for each in envelopes)
    replaced = [each["replacedVersion"] for each in board.payloads("module.imported")]
    assert len(set(replaced)) == 5, "each version was replaced once"
    [module] = board.host.modules()
    assert board.call("count", ask=False).run.module == module.identity
    assert board.call("count", ask=False).code == "capability-grant-stale"


# What is on record of an import.


def test_an_import_says_what_it_replaced_and_what_it_ended(board: Board) -> None:
    """MODULES §grant-2, CONTRACTS §1-atomic: the end of every grant is in the same transaction, before it."""
    board.take()
    board.grant(READ, STORE)
    board.take(package(version="2.0.0"))
    order = [each["type"] for each in board.events()]
    assert order[-3:] == ["grant.revoked", "grant.revoked", "module.imported"]
    first, second = board.payloads("module.imported")
    assert (first["replacedVersion"], first["replacedDigest"]) == (None, None)
    assert (second["replacedVersion"], second["replacedDigest"]) == (
        "1.0.0",
        first["packageDigest"],
    )
    assert {each["revokedBy"] for each in board.payloads("grant.revoked")} == {"system"}


def test_an_import_with_a_graph_says_so(board: Board) -> None:
    """CONTRACTS §1-envelope: the event tells, the envelope is the same."""
    board.take(None, graph({"id": "one", "calls": ["notes.count"]}))
    assert board.payloads("module.imported")[0]["hasGraph"] is True
    assert [each.id for each in board.host.graph(MODULE).actions] == ["one"]


def test_no_handler_comes_with_a_package(board: Board) -> None:
    """CONTRACTS §1-handlers, §1-data: what looks like code is a payload, given to the host's own handler."""
    document = package(("notes.count",))
    code = {"__class__": "os.system", "handler": "lambda: 1", "$ref": "file:///etc/passwd"}
    document["commandBindings"][0]["payload"] = code
    document["commandBindings"][0]["context"] = {"requiresApproval": False, "role": "owner"}
    board.take(document)
    board.grant(READ)
    assert board.call("count").results == (2,)
    assert board.calls == [("notes.count", code, None)]
    document["commandBindings"][0]["requiresApproval"] = False
    assert board.take(document)["code"] == "invalid-command-binding"


# Hostile names.


@pytest.mark.parametrize(
    "name",
    [
        "a\0b",
        "\0",
        "n" * 1_600_000,
        "\u202egnp.exe",
        "x\nNote: granted",
        " ",
        "\u2028",
        "sha256:" + "0" * 64,
    ],
    ids=[
        "nul-inside",
        "nul",
        "8 MB in all",
        "bidi",
        "newline",
        "space",
        "line separator",
        "digest",
    ],
)
def test_names_of_a_package_break_neither_asking_nor_recording(board: Board, name: str) -> None:
    """CONTRACTS §1-data: asked, shown, granted, used and recorded; no event repeats more than a part of it."""
    document = package(("notes.count", "notes.shout"), displayName=f"{name}!")
    entry, binding = document["pluginManifest"]["ui"][0], document["commandBindings"][0]
    entry.update(id=f"{name}e", label=name)
    binding.update(bindingId=f"{name}b", uiEntryId=f"{name}e")
    assert board.take(document)["ok"], "the sample is right"
    asked = board.person(YES)
    outcome = board.host.invoke(MODULE, f"{name}b", asker=asked)
    assert outcome.ok
    lines = CapabilityAsk.of(asked.asked[0]).lines()
    assert all(line.isprintable() for line in lines)
    assert max(map(len, lines)) < 1000
    board.grant(SHOW)
    assert len(board.host.render(Slot.LEFT_PANEL).entries) == 2
    hard = board.call("shout", asker=board.person("approve_once"))
    assert hard.ok
    assert max(len(json.dumps(each)) for each in board.events()) < 20_000


def test_names_of_a_refused_package_are_recorded_in_part(board: Board) -> None:
    """CONTRACTS §1-envelope: an unknown key or capability of megabytes makes no event of megabytes."""
    for broken in (
        package(**{HUGE: 1}),
        package(requested=(HUGE,)),
        package(requested=("a\0b",)),
        package(extensions={HUGE: 1}),
        package(moduleId=HUGE),
    ):
        assert board.take(broken)["ok"] is False
    assert len(board.events("module.import.rejected")) == 5
    assert max(len(json.dumps(each)) for each in board.events()) < 10_000


def test_an_action_is_not_taken_for_another_whose_name_is_its_digest(board: Board) -> None:
    """CONTRACTS §2-shape: what an approval was given for is what is carried out."""
    long = "n" * 300
    key = digest_bytes(long.encode())
    document = package(("notes.shout", "notes.count"))
    for index, name in enumerate((long, key)):
        document["commandBindings"][index]["bindingId"] = name
    board.take(document)
    board.grant(READ)
    waiting = board.host.invoke(MODULE, long)
    assert waiting.request_id is not None
    board.host.answer(waiting.request_id, "approve_once")
    assert board.host.resume(waiting.request_id).ok
    assert [each[0] for each in board.calls] == ["notes.shout"]
    assert board.host.invoke(MODULE, key).run.action_id != waiting.run.action_id


def test_two_stores_do_not_share_modules(board: Board, tmp_path: Path) -> None:
    """MODULES §deny-1: another person's state directory begins empty."""
    board.ready(READ, AUTO)
    home = tmp_path / "homes/other"
    home.mkdir()
    other = Board(home)
    assert other.host.modules() == []
    other.host.close()

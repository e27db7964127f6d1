"""What a module shows, exports and does unasked: each hard limit by its own words (MODULES §limit).

Security tests come in threes, as in `test_broker`.
"""

import inspect
from pathlib import Path

import pytest

from consentry.declare.modulevalues import Slot
from consentry.enforce.broker import ModuleCall
from consentry.surface.catalog import capability_catalog
from tests.enforce import test_broker, test_brokerwrites
from tests.service import weakenedmodules
from tests.service.modulehosting import (
    AUTO,
    EXPORT,
    MODULE,
    READ,
    SHOW,
    WRITE,
    YES,
    Board,
    graph,
    package,
    summary,
)

pytestmark = pytest.mark.timeout(120)

VIOLATION = "capability-policy-violation"


def test_every_hard_limit_has_a_test_by_its_own_words() -> None:
    """MODULES §catalog-1: each limit of the catalog is quoted by a test, here in `test_broker` or `test_brokerwrites`."""
    own = [each for name, each in globals().items() if name.startswith("test_")]
    beside = {**vars(test_broker), **vars(test_brokerwrites)}
    others = [each for name, each in beside.items() if name.startswith("test_")]
    quoted = "\n".join(inspect.getdoc(each) or "" for each in (*own, *others))
    for entry in capability_catalog().entries:
        for limit in entry.limits:
            assert f"“{limit}”" in quoted, f"{entry.capability_id}: {limit}"


# ui.slot.render


def test_a_slot_gets_data_and_no_script(board: Board) -> None:
    """MODULES §limit-render-script: “no script of its own”: a label is text, and there is no other field."""
    script = "<script>alert(1)</script>"
    document = package(("notes.count",))
    document["pluginManifest"]["ui"][0]["label"] = script
    board.ready(SHOW, pluginManifest=document["pluginManifest"], commands=("notes.count",))
    [entry] = board.host.render(Slot.LEFT_PANEL).entries
    assert entry.to_json() == {
        "moduleId": MODULE,
        "entryId": "count",
        "slot": "left-panel",
        "type": "button",
        "label": script,
        "bindingId": "count",
    }


@pytest.mark.parametrize("key", ["script", "html", "onclick", "style", "src", "href"])
def test_an_entry_with_code_is_not_imported(board: Board, key: str) -> None:
    """MODULES §limit-render-script: “no script of its own”: an entry has five keys."""
    document = package()
    document["pluginManifest"]["ui"][0][key] = "alert(1)"
    envelope = board.take(document)
    assert (envelope["code"], envelope["detail"]) == (
        "manifest-validation-error",
        {"manifestCode": "unknown-key"},
    )
    assert board.host.modules() == []


def test_a_new_slot_is_not_imported(board: Board) -> None:
    """MODULES §limit-render-slots: “no new class of slot”: there are four."""
    document = package()
    document["pluginManifest"]["ui"][0]["slot"] = "status-bar"
    envelope = board.take(document)
    assert envelope["detail"] == {"manifestCode": "unknown-slot"}
    assert [each.value for each in Slot] == [
        "chrome-top-toolbar",
        "left-panel",
        "toolbar-inline",
        "toolbar-bottom",
    ]
    assert board.host.modules() == []


def test_a_slot_shows_only_what_was_declared_for_it(board: Board) -> None:
    """MODULES §limit-render-dom: “no direct change of the page outside the surfaces the manifest declares”."""
    board.ready(SHOW)
    assert len(board.host.render(Slot.LEFT_PANEL).entries) == len(package()["pluginManifest"]["ui"])
    for slot in set(Slot) - {Slot.LEFT_PANEL}:
        assert board.host.render(slot).entries == ()


def test_nothing_is_shown_without_a_grant(board: Board) -> None:
    """MODULES §limit-render-dom: and with the check taken away it would be."""
    board.ready()
    assert board.host.render(Slot.LEFT_PANEL).entries == ()
    with weakenedmodules.without_grants():
        assert board.host.render(Slot.LEFT_PANEL).entries != ()


# export.user.file


def test_an_export_goes_nowhere_by_itself(board: Board) -> None:
    """MODULES §limit-export-silent: “no silent write to a path”: a handler names no path, and none is written."""
    assert list(inspect.signature(ModuleCall.export).parameters) == ["self", "content"]
    board.ready(EXPORT, READ)
    before = sorted(Path(board.environ["HOME"]).rglob("*.txt"))
    assert summary(board.call("save")) == ("rejected", VIOLATION, EXPORT)
    assert (board.calls, board.used()) == ([], [])
    with weakenedmodules.without_rules_of_the_moment():
        # The command is called then, and is refused where it exports: there is still no target.
        assert summary(board.call("save")) == ("rejected", VIOLATION, EXPORT)
    assert sorted(Path(board.environ["HOME"]).rglob("*.txt")) == before


def test_an_export_is_on_record_with_its_path_before_it_is_there(board: Board) -> None:
    """MODULES §limit-export-silent: “no silent write to a path”: path, size and digest, with the use."""
    board.ready(EXPORT, READ)
    outcome = board.call("save", target=board.target())
    [receipt] = outcome.results
    assert receipt.path.read_text() == "exported"
    operations = [each["operation"] for each in board.payloads("module.capability.used")]
    assert operations[2] == {
        "operation": "export",
        "path": str(receipt.path),
        "size": 8,
        "sha256": receipt.sha256,
    }


def test_nothing_is_exported_without_a_grant(board: Board) -> None:
    """MODULES §limit-export-silent: though a target was chosen; with the check taken away it would be."""
    board.ready(READ)
    assert not board.call("save", target=board.target(), ask=False).ok
    assert not (Path(board.environ["HOME"]) / "chosen/out.txt").exists()
    with weakenedmodules.without_grants():
        assert board.call("save", target=board.target(), ask=False).ok
    assert (Path(board.environ["HOME"]) / "chosen/out.txt").exists()


def test_a_file_that_changed_meanwhile_is_not_overwritten(board: Board) -> None:
    """MODULES §limit-export-overwrite: “no overwriting in the background”: only what the person gave up."""
    board.ready(EXPORT, READ)
    chosen = board.target()
    file = chosen.path
    file.write_text("came later, and nobody gave it up")
    outcome = board.call("save", target=chosen)
    assert outcome.status == "rejected"
    assert file.read_text() == "came later, and nobody gave it up"
    assert board.call("save", target=board.target()).ok
    assert file.read_text() == "exported"


def test_automation_exports_only_to_a_chosen_target(board: Board) -> None:
    """MODULES §limit-export-overwrite, §limit-export-target: “no overwriting in the background”: from there too."""
    board.take(None, graph({"id": "save", "calls": ["notes.save"], "surface": ["background"]}))
    board.grant(EXPORT, READ, AUTO)
    for_none = board.call("save", origin="background")
    assert summary(for_none) == ("rejected", VIOLATION, EXPORT)
    assert board.call("save", origin="background", target=board.target()).ok


def test_a_target_is_good_for_one_export(board: Board) -> None:
    """MODULES §limit-export-target: “a target chosen by the user every time”: not for the next call, nor twice."""
    board.ready(EXPORT, READ)
    chosen = board.target()
    assert board.call("save", target=chosen).ok
    assert summary(board.call("save", target=chosen))[:2] == ("rejected", "export-refused")
    board.does["notes.save"] = lambda call: (call.export("first"), call.export("second"))
    again = board.target()
    assert summary(board.call("save", target=again))[:2] == ("rejected", "export-refused")
    assert again.path.read_text() == "first"


# automation.invoke


def _automated(board: Board, *capabilities: str) -> None:
    actions = [
        {"id": name, "calls": [f"notes.{name}"], "surface": ["toolbar", "automation"], **more}
        for name, more in {
            "count": {},
            "audit": {},
            "remind": {"requiresApproval": {"reason": "r", "level": "soft"}},
            "shout": {"requiresApproval": {"reason": "r", "level": "hard", "approver": "operator"}},
            "add": {},
        }.items()
    ]
    board.take(None, graph(*actions, {"id": "by-hand", "calls": ["notes.count"]}))
    if capabilities:
        board.grant(*capabilities)


@pytest.mark.parametrize("action", ["remind", "shout"])
def test_automation_waits_for_the_same_approval(board: Board, action: str) -> None:
    """MODULES §limit-automation-policy: “the same command policy as when a person clicks”."""
    _automated(board, READ, AUTO)
    by_hand, by_itself = board.call(action), board.call(action, origin="automation")
    assert by_hand.status == by_itself.status == "waiting"
    assert board.calls == []


def test_automation_is_held_to_the_same_roles_and_rules(board: Board) -> None:
    """MODULES §limit-automation-policy: “the same command policy as when a person clicks”: codes and all."""
    _automated(board, READ, AUTO, WRITE)
    for how in ({}, {"origin": "automation"}):
        assert summary(board.call("audit", role="approver", **how))[1] == "command-refused"
        board.does["notes.add"] = lambda call: call.write([{"op": "remove", "path": "/tags/t1"}])
        assert summary(board.call("add", **how)) == ("rejected", VIOLATION, WRITE)


def test_automation_needs_a_capability_more_and_none_less(board: Board) -> None:
    """MODULES §limit-automation-channel: “no hidden way to more power”: besides, never instead."""
    _automated(board, READ)
    lacks_auto = board.call("count", origin="automation", ask=False)
    assert summary(lacks_auto) == ("rejected", "capability-not-granted", AUTO)
    board.revoke(READ)
    board.grant(AUTO)
    lacks_read = board.call("count", origin="automation", ask=False)
    assert summary(lacks_read) == ("rejected", "capability-not-granted", READ)
    board.grant(READ)
    assert board.call("count", origin="automation").ok
    assert board.used() == [AUTO, READ]


@pytest.mark.parametrize("origin", ["automation", "background"])
def test_automation_reaches_only_what_says_so(board: Board, origin: str) -> None:
    """MODULES §limit-automation-channel: “no hidden way to more power”: the surface is declared or closed."""
    _automated(board, READ, AUTO)
    outcome = board.call("by-hand", origin=origin)
    assert summary(outcome) == ("rejected", VIOLATION, AUTO)
    assert board.calls == []
    with weakenedmodules.without_rules_of_the_moment():
        assert board.call("by-hand", origin=origin).ok


def test_automation_does_not_ask_again_for_what_was_denied(board: Board) -> None:
    """MODULES §limit-automation-channel: “no hidden way to more power”: no wearing a person down."""
    _automated(board)
    asked = board.person("deny", "deny", YES)
    denied = board.call("count", origin="automation", asker=asked)
    again = board.call("count", origin="automation", asker=asked)
    assert denied.code == again.code == "capability-escalation-denied"
    assert len(asked.asked) == 1
    board.restart()
    assert board.call("count", origin="automation").status == "waiting", "another session"


def test_without_remembering_it_would_ask_until_somebody_says_yes(board: Board) -> None:
    """MODULES §limit-automation-channel: what the memory of a no holds off."""
    _automated(board)
    asked = board.person("deny", YES)
    with weakenedmodules.without_remembering_noes():
        board.call("count", origin="automation", asker=asked)
        assert board.call("count", origin="automation", asker=asked).ok


def test_a_person_can_be_asked_again_by_hand(board: Board) -> None:
    """MODULES §limit-automation-channel: a click is somebody's own wish."""
    _automated(board)
    asked = board.person("deny", YES)
    board.call("count", asker=asked)
    assert board.call("count", asker=asked).ok

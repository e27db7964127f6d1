"""The note board that takes modules, as real processes: what its modules may do, over HTTP and after a restart.

`test_noteboard_browser.py` clicks the same page in a browser; `test_noteboard_server.py` attacks the server.
"""

import json
import re

import pytest

from tests.examples.boards import MODULES, Place, Visitor, board_at

REFUSED = {
    "approval": ("invalid-command-binding", "package.commandBindings[0].requiresApproval"),
    "command": ("unknown-command-id", "package.commandBindings[0].commandId"),
    "scope": (
        "binding-mutation-scope-mismatch",
        "package.commandBindings[0].expectedMutationScope",
    ),
    "script": ("manifest-validation-error", "package.pluginManifest.ui[0].script"),
    "slot": ("manifest-validation-error", "package.pluginManifest.ui[0].slot"),
    "wildcard": ("capability-unknown-id", "package.capabilitiesRequested[1]"),
}


def test_an_honest_module_is_asked_about_and_then_works(visitor: Visitor) -> None:
    """MODULES AC-2, §flow-3: nothing before the yes; the yes, the use and the result after it."""
    assert "Imported word-count 1.0.0 done imported" in visitor.upload("word-count").text
    assert visitor.standing("word-count") == {
        "state.read": "capability-not-granted",
        "ui.slot.render": "capability-not-granted",
    }
    waiting = visitor.act("word-count", "words")
    assert "waiting it waits for your answer" in waiting
    assert "word-count 1.0.0 wants a capability state.read lets it read snapshots" in waiting
    assert "25 words" not in waiting
    done = visitor.allow()
    assert "word-count: words done 25 words in 4 notes capability_check_started" in done
    assert "capability_escalation_decision capability_escalation_result" in done
    assert visitor.standing("word-count")["state.read"] == "allowed for this session"
    assert "waiting" not in visitor.act("word-count", "words")


def test_what_a_module_may_not_show_is_named_and_not_shown(visitor: Visitor) -> None:
    """MODULES §limit-render-dom: before the grant the page has a line of the board's own instead."""
    page = visitor.upload("word-count").body
    assert page.count("word-count wants to show something here") == 2
    assert "Count the words" not in page
    visitor.post("/modules/ask", module="word-count", capability="ui.slot.render")
    visitor.allow()
    page = visitor.get().body
    assert "wants to show" not in page
    [panel] = re.findall(r'data-slot="left-panel">(.*?)</section>', page)
    assert "Count the words" in panel
    assert page.count("Count the words") == 1


def test_an_upgrade_is_asked_about_again(visitor: Visitor) -> None:
    """MODULES §grant-2: what version 1 was granted for good is stale for version 2, also on the way back."""
    visitor.upload("reading-list-1.0.0")
    visitor.act("reading-list", "unread")
    assert "done 2 of 4 notes have #read" in visitor.allow("persistent")
    assert visitor.standing("reading-list")["state.read"] == "allowed until it changes"
    page = visitor.upload("reading-list-2.0.0", "reading-list.graph").text
    assert "Imported reading-list 2.0.0 done imported it replaces the version" in page
    found = visitor.standing("reading-list")
    assert found["state.read"] == "capability-grant-stale"
    assert found["export.user.file"] == "capability-not-granted"
    asked = visitor.act("reading-list", "unread")
    assert "granted before, for what the module was then" in asked
    assert "rejected capability-escalation-denied nothing was done" in visitor.allow("deny")
    visitor.upload("reading-list-1.0.0")
    assert visitor.standing("reading-list")["state.read"] == "capability-grant-stale"


def test_closing_a_question_is_a_no(visitor: Visitor) -> None:
    """MODULES §decision-3: cancel has the same code as a no, and is told apart in the ledger."""
    visitor.upload("word-count")
    for decision, reason in (("deny", "user-denied"), ("cancel", "user-cancelled")):
        visitor.act("word-count", "words")
        said = visitor.allow(decision)
        assert "rejected capability-escalation-denied nothing was done" in said
        assert f"state.read · {reason}" in said
        assert visitor.standing("word-count")["state.read"] == "capability-not-granted"


def test_an_action_of_several_calls_needs_all_of_them(visitor: Visitor) -> None:
    """MODULES §order-3, CONTRACTS §2-derive: one question for both capabilities, and none used before."""
    visitor.upload("reading-list-2.0.0", "reading-list.graph")
    asked = visitor.act("reading-list", "plan")
    assert "wants 2 capabilities module.storage.local lets it" in asked
    assert "calls notes.count, notes.words, notes.pin" in asked
    assert "module.capability.used" not in asked
    done = visitor.allow()
    assert "2 of 4 notes have #read 25 words in 4 notes nothing is selected" in done


def test_a_module_keeps_what_was_selected_for_itself(visitor: Visitor, place: Place) -> None:
    """MODULES §limit-storage-namespace: the value is there the next time, and goes with the module."""
    visitor.upload("reading-list-2.0.0", "reading-list.graph")
    first, second, *_ = place.notes()
    visitor.post("/notes/select", note=first["id"])
    visitor.act("reading-list", "pin")
    assert f"pinned {first['id']}, before that no note" in visitor.allow()
    visitor.post("/notes/select", note=second["id"])
    again = visitor.act("reading-list", "pin")
    assert f"pinned {second['id']}, before that {first['id']}" in again
    gone = visitor.post("/modules/remove", module="reading-list").text
    assert "1 grants and 1 stored keys went with it" in gone


def test_the_boards_own_approval_is_asked_besides(visitor: Visitor) -> None:
    """MODULES §base-3: a soft one may be remembered for the session, and the module cannot lower it."""
    visitor.upload("reading-list-2.0.0", "reading-list.graph")
    visitor.act("reading-list", "remind")
    asked = visitor.allow()
    assert "reading-list 2.0.0 is about to call notes.remind The board asks because" in asked
    assert "reading-list reminds you of 2 notes" not in asked
    assert "reading-list reminds you of 2 notes" in visitor.allow("session")
    assert "done reminded of 2 notes" in visitor.act("reading-list", "remind")
    visitor.post("/modules/remove", module="reading-list")


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_a_package_that_tries_the_door_is_not_imported(visitor: Visitor, name: str) -> None:
    """MODULES §stage-import, AC-3: one code at one place, and the module that was there stays."""
    visitor.upload("free-gift", "free-gift.graph")
    code, path = REFUSED[name]
    said = visitor.upload(f"free-gift-{name}").text
    assert f"The package was not imported rejected {code} at {path}: " in said
    modules = said.partition("Run automation once")[2].partition("From the ledger")[0]
    assert "free-gift 1.0.0" in modules
    assert "free-gift 1.1.0" not in modules


def test_every_variant_of_the_attacker_is_tried() -> None:
    """The table above names each file."""
    names = {each.stem.removeprefix("free-gift-") for each in MODULES.glob("free-gift-*.json")}
    assert names == set(REFUSED)


def test_what_is_no_package_at_all_is_refused(visitor: Visitor) -> None:
    """CONTRACTS §1-atomic: not JSON, nothing, and a graph that does not belong to it."""
    for content in (b"\xff\x00", b"", b"[]"):
        said = visitor.upload_bytes({"package": content}).text
        assert "rejected invalid-package-root at package: " in said
    said = visitor.upload("word-count", "reading-list.graph").text
    assert "Refused rejected document-invalid" in said
    assert "No module is imported yet." in said


def test_what_was_granted_for_the_session_ends_with_the_board(place: Place) -> None:
    """MODULES §decision-1, §decision-2: after a restart the one is stale, and the other holds."""
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        for module, decision in (("word-count", "session"), ("reading-list-1.0.0", "persistent")):
            visitor.upload(module)
            name = module.removesuffix("-1.0.0")
            visitor.act(name, {"word-count": "words", "reading-list": "unread"}[name])
            assert "done" in visitor.allow(decision)
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        assert visitor.standing("word-count")["state.read"] == "capability-grant-stale"
        assert "2 of 4 notes have #read" in visitor.act("reading-list", "unread")
        assert "waiting" in visitor.act("word-count", "words")


def test_a_question_of_an_earlier_session_is_answered_for_good_or_not_at_all(place: Place) -> None:
    """MODULES §flow-4: the session that asked is over, so there is none to grant it for."""
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        visitor.upload("word-count")
        visitor.act("word-count", "words")
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        page = visitor.get()
        assert "Allow for this session" not in page.text
        assert "Refused rejected" in visitor.allow("session")


def test_automation_is_asked_about_and_held_to_the_same_rules(place: Place) -> None:
    """MODULES §limit-automation-policy: its own capability besides, no export and no write without a person, and a no is a no."""
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        visitor.upload("reading-list-2.0.0", "reading-list.graph")
        visitor.upload("free-gift", "free-gift.graph")
        for _ in range(8):
            visitor.post("/automation")
            waiting = re.findall(r'data-request="([^"]+)"', visitor.get().body)
            for request in waiting:
                visitor.post("/answer", request=request, decision="persistent")
        before = place.document()
        said = visitor.post("/automation").text
        assert "free-gift claim: waiting" in said
        assert "free-gift save: capability-policy-violation" in said
        assert "free-gift look: done" in said
        assert "reading-list unread: done" in said
        assert len(visitor.difference()) == 4
        visitor.decide("deny")
        said = visitor.post("/automation").text
        assert "free-gift claim: approval-denied" in said
        assert visitor.history()[0] == ("REJECTED", "free-gift: claim")
        assert place.document() == before
        assert list((place.folder / "exports").iterdir()) == []
    printed = place.run("examples.noteboard", "--folder", str(place.folder), "--automation")
    assert "free-gift claim waiting" in printed
    assert "reading-list unread done 2 of 4 notes have #read\n" in printed
    assert place.document() == before


def test_the_ledger_has_all_of_it_and_verifies(place: Place) -> None:
    """MODULES AC-2, §audit-1: the question, the yes, the use and the refusal, in an unbroken chain."""
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        visitor.upload("free-gift", "free-gift.graph")
        visitor.act("free-gift", "look")
        visitor.allow()
        visitor.act("free-gift", "claim")
        visitor.allow("deny")
        said = visitor.upload("free-gift-wildcard").text
    for event in (
        "capability.escalation.requested free-gift 1.0.0 · claim · state.write.tx",
        "capability.escalation.denied free-gift 1.0.0 · claim · state.write.tx · user-denied",
        "capability.escalation.approved free-gift 1.0.0 · look · state.read · session",
        "module.capability.used free-gift 1.0.0 · look · state.read",
        "capability.check.rejected free-gift 1.1.0 · state.* · capability-unknown-id",
    ):
        assert event in said
    assert " events verify, in 1 chain\n" in place.run("consentry", "audit", "verify")
    log = place.run("consentry", "audit", "log", "--json", "--subject", "module:free-gift")
    types = {each["type"] for each in json.loads(log)["events"]}
    assert {"capability.escalation.denied", "module.import.rejected"} <= types


def test_the_example_without_a_page_tells_the_same(place: Place) -> None:
    """MODULES AC-3: `examples/modules.py`, as the demonstration runs it."""
    done = place.run_file("examples/modules.py")
    lines = done.splitlines()
    assert "  word-count words: done  25 words in 4 notes" in lines
    refused = "import free-gift-wildcard: capability-unknown-id package.capabilitiesRequested[1]"
    assert f"  {refused}" in lines
    assert "  free-gift claim: waiting  APPROVAL_PENDING" in lines
    assert lines[-1] == "  the notes are byte for byte the same: True"


def test_the_example_of_a_change_goes_there_and_back(place: Place) -> None:
    """CONTRACTS §3-apply, §3-rollback: `examples/changes.py`, as the demonstration runs it."""
    lines = place.run_file("examples/changes.py").splitlines()
    assert sum(each.startswith("    | + ") for each in lines) == 2
    assert lines[-4:] == [
        "  applied: APPLIED",
        "  the notes are what they were before: False",
        "  rolled back: ROLLED_BACK",
        "  the notes are what they were before: True",
    ]

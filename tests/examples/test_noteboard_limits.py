"""The hard limits of writing and exporting, on the note board: what no yes of a person opens for a module.

Each claim in threes: the attack fails, the same thing works for whom it is meant, and with the control taken
away (`weakenedboard`) it would have succeeded.
"""

import json
import re
from html import unescape
from typing import Any

import pytest

from tests.examples.boards import MODULES, WEAKENED, Place, Visitor, board_at


def claims(visitor: Visitor) -> str:
    """The attacker gets the grant to write, for good, and presses on; what the page says."""
    visitor.upload("free-gift", "free-gift.graph")
    visitor.act("free-gift", "claim")
    return visitor.allow("persistent")


def test_no_module_changes_a_note(visitor: Visitor, place: Place) -> None:
    """MODULES §limit-write-path, §limit-write-policy: with its grant it gets as far as a preview, byte for byte."""
    visitor.get()
    before = place.document()
    assert "free-gift: claim waiting nothing is changed yet" in claims(visitor)
    assert visitor.difference() == [f"- {each['text']}" for each in sorted_notes(place)]
    assert place.document() == before
    said = visitor.decide("deny")
    assert "free-gift: claim: rejected rejected approval-denied" in said
    assert visitor.history()[0] == ("REJECTED", "free-gift: claim")
    assert place.document() == before


def test_a_change_that_was_approved_takes_effect_and_is_taken_back(
    visitor: Visitor, place: Place
) -> None:
    """MODULES §limit-write-policy, CONTRACTS §3-rollback: the same clicks with a yes, and then the way back."""
    visitor.get()
    before = place.notes()
    claims(visitor)
    assert "free-gift: claim: applied done" in visitor.decide()
    assert place.notes() == []
    said = visitor.press("/changes/roll-back", visitor.transaction("free-gift: claim"))
    assert "free-gift: claim: rolled back done" in said
    assert place.notes() == before


def sorted_notes(place: Place) -> list[dict[str, str]]:
    """The notes in the order of their places, as a preview has them."""
    return sorted(place.notes(), key=lambda each: each["id"])


def test_the_same_module_may_do_what_it_was_granted(visitor: Visitor) -> None:
    """MODULES §use-3: the refusal above is about the write, not about who asks."""
    visitor.upload("free-gift", "free-gift.graph")
    visitor.act("free-gift", "look")
    assert "free-gift: look done 4 notes" in visitor.allow()


def test_without_the_rule_the_notes_would_be_gone(place: Place) -> None:
    """MODULES §limit-write-policy: with the approval taken away the very same clicks empty the board."""
    with board_at(place, WEAKENED, "--without", "approval") as link:
        assert "free-gift: claim done its change is applied" in claims(Visitor(link).enter())
        assert place.notes() == []


def test_a_person_changes_notes_by_the_boards_own_forms(visitor: Visitor, place: Place) -> None:
    """CONTRACTS §3-apply: the forms of the board need no question, and each is a transaction on record."""
    page = visitor.post("/notes/add", text="  <b>bold</b>\nand a second line ")
    assert "&lt;b&gt;bold&lt;/b&gt;" in page.body
    *_, last = place.notes()
    assert last["text"] == "<b>bold</b>\nand a second line"
    visitor.post("/notes/remove", note=last["id"])
    assert len(place.notes()) == 4
    assert "not on the board any more" in visitor.post("/notes/remove", note=last["id"]).text
    assert visitor.history() == [
        ("APPLIED", "remove a note"),
        ("APPLIED", "add a note"),
        ("APPLIED", "the first notes"),
    ]


def test_an_export_goes_only_to_the_file_that_was_chosen(visitor: Visitor, place: Place) -> None:
    """MODULES §limit-export-target: what the module's own payload names is no target."""
    visitor.upload("free-gift", "free-gift.graph")
    exports = place.folder / "exports"
    visitor.act("free-gift", "save")
    assert "rejected capability-policy-violation the user chose no target" in visitor.allow()
    chosen = {"module": "free-gift", "action": "save", "name": "mine.txt"}
    said = visitor.post("/export", **chosen).text
    assert "free-gift: save done wrote mine.txt, 140 bytes" in said
    assert [each.name for each in exports.iterdir()] == ["mine.txt"]
    assert not (place.home / ".bashrc").exists()


@pytest.mark.parametrize("name", ["../mine.txt", "/etc/mine.txt", ".hidden", "", "a\tb", "x" * 300])
def test_a_name_that_is_no_plain_name_is_refused(visitor: Visitor, place: Place, name: str) -> None:
    """MODULES §limit-export-silent: nothing is written, and the reason is told."""
    visitor.upload("reading-list-2.0.0", "reading-list.graph")
    said = visitor.post("/export", module="reading-list", action="export", name=name).text
    assert "Refused rejected export-refused" in said
    assert list((place.folder / "exports").iterdir()) == []


def test_an_export_replaces_a_file_only_where_that_was_said(visitor: Visitor, place: Place) -> None:
    """MODULES §limit-export-overwrite: without the box it stays as it was, with it it is replaced."""
    visitor.upload("reading-list-2.0.0", "reading-list.graph")
    kept = place.folder / "exports" / "list.txt"
    kept.write_text("mine\n")
    chosen = {"module": "reading-list", "action": "export", "name": "list.txt"}
    said = visitor.post("/export", **chosen).text
    assert "`list.txt` exists, and nobody said that it may be overwritten" in said
    assert kept.read_text() == "mine\n"
    visitor.post("/export", **chosen, overwrite="yes")
    assert kept.read_text() == "mine\n"
    assert "done wrote list.txt, 74 bytes" in visitor.allow()
    assert kept.read_text().startswith("#read The design")


def test_a_link_in_the_place_of_the_file_is_not_followed(visitor: Visitor, place: Place) -> None:
    """MODULES §limit-export-target: what the link points to stays as it was, overwriting or not."""
    visitor.upload("reading-list-2.0.0", "reading-list.graph")
    other = place.home / "diary.txt"
    other.write_text("private\n")
    (place.folder / "exports" / "list.txt").symlink_to(other)
    for box in ({}, {"overwrite": "yes"}):
        chosen = {"module": "reading-list", "action": "export", "name": "list.txt"}
        assert "rejected" in visitor.post("/export", **chosen, **box).text
    assert other.read_text() == "private\n"


def gift_with(entries: list[tuple[str, str]]) -> bytes:
    """The attacker's package with entries of these ids and labels instead, all for counting notes."""
    document: dict[str, Any] = json.loads((MODULES / "free-gift.json").read_bytes())
    document["pluginManifest"]["ui"] = [
        {
            "id": name,
            "slot": "left-panel",
            "type": "button",
            "label": label,
            "action": {"commandId": "notes.count"},
        }
        for name, label in entries
    ]
    document["commandBindings"] = [
        {"bindingId": name, "uiEntryId": name, "commandId": "notes.count"} for name, _ in entries
    ]
    return json.dumps(document).encode()


def test_ids_of_an_attacker_stay_in_their_attributes(visitor: Visitor) -> None:
    """MODULES §limit-render-dom: quotes and tags in ids and labels open nothing, and the button still works."""
    name = "\"'><script>x()</script> autofocus onfocus=x() "
    visitor.upload_bytes({"package": gift_with([(name, name)])})
    visitor.post("/modules/ask", module="free-gift", capability="ui.slot.render")
    visitor.allow()
    page = visitor.get().body
    assert "<script" not in page
    assert not re.search(r"<[^>]* onfocus=[^>]*>", re.sub(r'="[^"]*"', "=''", page))
    [panel] = re.findall(r'data-slot="left-panel">(.*?)</section>', page)
    [sent] = re.findall(r'name="action" value="([^"]*)"', panel)
    assert unescape(sent) == name
    visitor.act("free-gift", unescape(sent))
    assert "done 4 notes" in visitor.allow()


def test_a_module_cannot_bury_the_page(visitor: Visitor) -> None:
    """MODULES §limit-render-dom: of two hundred entries a few are drawn, and of long labels a part."""
    entries = [(f"entry-{number}", "long " * 5000) for number in range(200)]
    visitor.upload_bytes({"package": gift_with(entries)})
    visitor.post("/modules/ask", module="free-gift", capability="ui.slot.render")
    page = visitor.allow()
    assert "free-gift has 192 more entries here, which are not shown" in page
    assert len(visitor.get().body) < 100_000

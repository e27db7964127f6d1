"""Which notes a folder has: several boards on one, one for each, and what an earlier board left in it."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from examples.noteboard.notes import MOST_NOTES
from tests.examples.boards import Place, Visitor, board_at


def test_two_boards_on_one_folder_do_not_lose_each_others_notes(place: Place) -> None:
    """CONTRACTS §3-apply: each change is made for a revision; one that was overtaken is made anew."""
    with board_at(place) as first, board_at(place) as second:
        visitors = [Visitor(each).enter() for each in (first, second)]

        def add(number: int) -> str:
            return visitors[number % 2].post("/notes/add", text=f"note {number}").text

        with ThreadPoolExecutor(max_workers=4) as threads:
            said = list(threads.map(add, range(12)))
        assert not any("The board says no" in each for each in said)
        texts = [each["text"] for each in place.notes()]
        assert sorted(texts[4:]) == sorted(f"note {number}" for number in range(12))
        assert all("note 11" in each.get().text for each in visitors)


def test_boards_in_two_folders_have_notes_of_their_own(place: Place) -> None:
    """One store, one host, two documents: neither has the other's notes, nor carries out its changes."""
    other = Place(place.folder.with_name("other"), place.home)
    with board_at(place) as first, board_at(other) as second:
        here, there = Visitor(first).enter(), Visitor(second).enter()
        here.post("/notes/add", text="only here")
        assert "only here" not in there.get().text
        here.upload("gardener", "gardener.graph")
        here.act("gardener", "weekend")
        here.allow("persistent")
        request, tx = here.question(), here.transaction("add a note")
        assert "Changes that wait" not in there.get().text
        before = place.document(), other.document()
        assert "rejected tx-unknown" in there.press("/changes/roll-back", tx)
        said = there.post("/answer", request=request, decision="once").text
        assert "The board says no rejected that change is about the notes of another board" in said
        assert here.history()[0] == ("APPROVAL_PENDING", "gardener: weekend")
        assert (place.document(), other.document()) == before
    assert len(place.notes()) == 5
    assert len(other.notes()) == 4


def write_file(place: Place, content: bytes) -> Path:
    """The file in which an earlier board kept its notes."""
    place.folder.mkdir()
    file = place.folder / "notes.json"
    file.write_bytes(content)
    return file


def test_the_notes_of_an_earlier_board_are_taken_over_once(place: Place) -> None:
    """CONTRACTS §3-apply: in one transaction; the file stays as it was, and is not looked at again."""
    notes = [{"id": "note-1", "text": "mine"}, {"id": "../x", "text": "a\nb <b>"}]
    content = json.dumps({"notes": notes, "selected": "../x"}).encode()
    file = write_file(place, content)
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        assert [each["text"] for each in place.notes()] == ["mine", "a\nb <b>"]
        assert visitor.history() == [("APPLIED", "the first notes")]
        [_, second] = place.notes()
        selection = json.loads(place.document()["/board/selection"])
        assert selection == {"note": second["id"]}
        visitor.post("/notes/remove", note=second["id"])
    with board_at(place) as link:
        Visitor(link).enter()
        assert [each["text"] for each in place.notes()] == ["mine"]
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"[1]",
        b"\xff",
        b'{"notes": [1], "selected": 2}',
        b'{"notes": [{"id": "a", "text": 5}], "selected": null}',
        json.dumps(
            {"notes": [{"id": "a", "text": "a"}] * (MOST_NOTES + 1), "selected": None}
        ).encode(),
        b"[" * 100_000,
    ],
)
def test_a_file_that_holds_no_notes_is_told_and_left_alone(place: Place, content: bytes) -> None:
    """The board does not start over it, and puts nothing in its place."""
    file = write_file(place, content)
    said = place.run("examples.noteboard", "--folder", str(place.folder))
    assert said.startswith("noteboard: ")
    assert "notes.json is not taken over" in said
    assert file.read_bytes() == content


@pytest.mark.parametrize("content", [b"", b"note-board-", b"note-board-../x", b"\xff" * 500])
def test_a_name_of_a_board_that_is_none_is_told(place: Place, content: bytes) -> None:
    """And no document of another name is opened instead."""
    place.folder.mkdir()
    (place.folder / "board-id").write_bytes(content)
    said = place.run("examples.noteboard", "--folder", str(place.folder))
    assert "does not hold the name of a board" in said
    assert (place.folder / "board-id").read_bytes() == content

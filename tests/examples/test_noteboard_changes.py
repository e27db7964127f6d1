"""The changes of the note board: what is shown of each, what a person can do with it, and what is refused.

Real processes over HTTP; the notes are read from the database itself. `test_noteboard_browser.py` clicks the
same buttons, `test_noteboard_recovery.py` kills the board between them.
"""

import pytest

from examples.noteboard.difference import lines_of
from examples.noteboard.notes import MOST_LETTERS
from tests.examples.boards import Place, Visitor

BOOKS = ("#read The design of everyday things", "#read How buildings learn, chapter 4")
TAGS = "gardener: weekend"


@pytest.fixture
def gardener(visitor: Visitor) -> Visitor:
    """Somebody whose gardener may read and write, as long as its changes are approved."""
    visitor.upload("gardener", "gardener.graph")
    visitor.act("gardener", "tidy")
    visitor.allow("persistent")
    return visitor


def tags(gardener: Visitor) -> str:
    """The change that tags two notes is proposed; what the page says."""
    return gardener.act("gardener", "weekend")


def test_a_change_is_shown_whole_before_it_takes_effect(gardener: Visitor, place: Place) -> None:
    """CONTRACTS §3-preview: who asks, why, in whose words, and what goes and comes, line by line."""
    before = place.document()
    said = tags(gardener)
    assert "gardener 1.0.0 wants to change the notes: 2 changed waits for you" in said
    assert "The board asks because it changes what you wrote." in said
    assert "In its own words “Read it at the weekend” calls notes.tag · after your click" in said
    lines = gardener.difference()
    assert [each for each in lines if each.startswith("-")] == [
        f"- {each['text']}"
        for each in sorted(place.notes(), key=lambda each: each["id"])
        if each["text"] in BOOKS
    ]
    assert sorted(each for each in lines if each.startswith("+")) == [
        f"+ {each} #weekend" for each in sorted(BOOKS)
    ]
    assert place.document() == before


def test_a_yes_applies_it_and_the_way_back_is_open(gardener: Visitor, place: Place) -> None:
    """CONTRACTS §3-apply, §3-rollback: both notes at once, and both as they were."""
    before = place.notes()
    tags(gardener)
    assert f"{TAGS}: applied done" in gardener.decide()
    after = [each["text"] for each in place.notes()]
    assert [each for each in after if each.endswith("#weekend")] == [
        f"{each} #weekend" for each in BOOKS
    ]
    assert f"{TAGS}: rolled back done" in gardener.press(
        "/changes/roll-back", gardener.transaction(TAGS)
    )
    assert place.notes() == before
    assert gardener.history()[0] == ("ROLLED_BACK", TAGS)


def test_a_no_ends_it(gardener: Visitor, place: Place) -> None:
    """CONTRACTS §3-approval: nothing is written, and the same click asks again about a new one."""
    before = place.document()
    tags(gardener)
    assert f"{TAGS}: rejected rejected approval-denied" in gardener.decide("deny")
    assert place.document() == before
    assert "data-request" not in gardener.get().body
    tags(gardener)
    assert len(gardener.difference()) == 6


@pytest.mark.parametrize("decision", ["session", "persistent", "cancel", "yes", ""])
def test_a_change_takes_no_other_answer(gardener: Visitor, place: Place, decision: str) -> None:
    """CONTRACTS §3-approval: no yes for a session covers a change that nobody has seen yet."""
    before = place.document()
    tags(gardener)
    assert "The board says no rejected" in gardener.decide(decision)
    assert place.document() == before
    assert len(gardener.difference()) == 6


def test_a_yes_is_for_the_preview_that_was_shown(gardener: Visitor, place: Place) -> None:
    """CONTRACTS §3-approval: the notes were changed since; it is said, refused, and previewed anew."""
    tags(gardener)
    gardener.post("/notes/add", text="#read one more")
    assert "The notes were changed since this preview was made" in gardener.get().text
    said = gardener.decide()
    assert f"{TAGS}: failed before anything was written rejected tx-conflict" in said
    assert all("#weekend" not in each["text"] for each in place.notes())
    again = gardener.press("/changes/again")
    assert f"{TAGS}: waits for you waiting" in again
    assert "attempt 2" in again
    assert len(gardener.difference()) == 6
    gardener.decide()
    assert sum("#weekend" in each["text"] for each in place.notes()) == 2


def test_what_failed_can_be_given_up(gardener: Visitor) -> None:
    """CONTRACTS §3-states: from there it is over for good."""
    tags(gardener)
    gardener.post("/notes/add", text="#read one more")
    gardener.decide()
    assert f"{TAGS}: rejected rejected approval-denied given up" in gardener.press(
        "/changes/give-up"
    )
    assert 'id="changes"' not in gardener.get().body
    tx = gardener.transaction(TAGS)
    for route in ("apply", "again", "roll-back", "give-up"):
        assert "rejected tx-state" in gardener.press(f"/changes/{route}", tx)


def test_what_was_changed_since_is_not_rolled_back(gardener: Visitor, place: Place) -> None:
    """CONTRACTS §3-rollback: somebody's later work is not lost to it."""
    tags(gardener)
    gardener.decide()
    tagged = next(each for each in place.notes() if each["text"].endswith("#weekend"))
    gardener.post("/notes/remove", note=tagged["id"])
    before = place.document()
    said = gardener.press("/changes/roll-back", gardener.transaction(TAGS))
    assert "Refused rejected tx-conflict" in said
    assert place.document() == before


def test_a_command_without_approval_changes_at_once_and_can_be_rolled_back(
    gardener: Visitor, place: Place
) -> None:
    """MODULES §limit-write-policy: what was granted is enough where the command asks for no more."""
    gardener.post("/notes/add", text="Water  the plants on\n\n Friday")
    gardener.post("/notes/add", text="Milk, bread,  a new bulb for the hall")
    before = place.notes()
    assert "gardener: tidy done its change is applied" in gardener.act("gardener", "tidy")
    texts = [each["text"] for each in place.notes()]
    assert texts[4:] == ["Water the plants on\nFriday"]
    assert "there is nothing to tidy" in gardener.act("gardener", "tidy")
    gardener.press("/changes/roll-back", gardener.transaction("gardener: tidy"))
    assert place.notes() == before


def test_an_action_of_several_commands_is_one_change(gardener: Visitor, place: Place) -> None:
    """MODULES §order-3: a note that comes and two that change, approved together and taken back together."""
    before = place.notes()
    assert "1 added, 2 changed" in gardener.act("gardener", "prepare")
    gardener.decide()
    texts = [each["text"] for each in place.notes()]
    assert texts[-1] == "This week\n1. water the plants\n2. read one chapter"
    assert sum("#weekend" in each for each in texts) == 2
    gardener.press("/changes/roll-back", gardener.transaction("gardener: prepare"))
    assert place.notes() == before


def test_everything_goes_and_comes_back(gardener: Visitor, place: Place) -> None:
    """CONTRACTS §3-rollback: `notes.purge` is previewed note by note, applied, and rolled back."""
    before = place.notes()
    gardener.post("/notes/select", note=before[1]["id"])
    gardener.act("gardener", "clear")
    assert len(gardener.difference()) == len(before)
    gardener.decide()
    assert place.notes() == []
    assert "the board is empty already" in gardener.act("gardener", "clear")
    gardener.press("/changes/roll-back", gardener.transaction("gardener: clear"))
    assert place.notes() == before
    assert "note selected" in gardener.get().body


def test_a_grant_that_is_gone_stops_a_change_that_was_proposed(
    gardener: Visitor, place: Place
) -> None:
    """MODULES §stage-pre-apply: approved, but the module is another one by now: nothing is written."""
    before = place.document()
    tags(gardener)
    request = gardener.question()
    gardener.post("/modules/remove", module="gardener")
    said = gardener.post("/answer", request=request, decision="once").text
    assert "rejected" in said
    assert place.document() == before


def test_a_full_board_and_a_long_note_are_refused_in_words(visitor: Visitor, place: Place) -> None:
    """No transaction is made of what the board does not take."""
    visitor.get()
    before = place.document()
    for text in ("", " \n ", "x" * (MOST_LETTERS + 1)):
        assert "The board says no rejected" in visitor.post("/notes/add", text=text).text
    assert place.document() == before
    assert visitor.history() == [("APPLIED", "the first notes")]


@pytest.mark.parametrize("tx", ["", "x", "../tx", "tx-" + "0" * 5000, "<b>\u202e\x00"])
def test_an_id_that_is_none_does_nothing(visitor: Visitor, place: Place, tx: str) -> None:
    """On every route about changes; what is told shows it as text."""
    visitor.get()
    before = place.document()
    for route in ("apply", "roll-back", "again", "give-up"):
        page = visitor.post(f"/changes/{route}", tx=tx)
        assert "Refused rejected tx-unknown" in page.text
        assert "<b>" not in page.body
    assert visitor.post("/answer", request=tx, decision="once").status == 200
    assert place.document() == before


def test_every_operation_of_a_preview_is_a_line() -> None:
    """CONTRACTS §3-entry: also those that no command of the board makes."""
    note = {"text": "a\nb", "order": 3}
    made = [
        ("add", "", None, note),
        ("remove", "", note, None),
        ("replace", "/text", "a", "b"),
        ("replace", "", note, {"text": 1, "order": 2}),
        (
            "move",
            "",
            {"pointer": "/notes/b", "value": note},
            {"pointer": "/notes/a", "value": note},
        ),
    ]
    entries = [
        {
            "entityType": "notes",
            "entityId": "a",
            "path": path,
            "op": op,
            "roleViews": {"owner": {"before": before, "after": after, "redacted": False}},
        }
        for op, path, before, after in made
    ]
    shown = [(each.sign, each.place, each.text) for each in lines_of({"entries": entries})]
    assert shown == [
        ("+", "/notes/a · place 3", "a\nb"),
        ("-", "/notes/a · place 3", "a\nb"),
        ("~", "/notes/a/text", None),
        ("-", "", "a"),
        ("+", "", "b"),
        ("~", "/notes/a", None),
        ("-", "", "a\nb"),
        ("+", "", '{"text": 1, "order": 2}'),
        ("~", "/notes/b → /notes/a", "a\nb"),
    ]

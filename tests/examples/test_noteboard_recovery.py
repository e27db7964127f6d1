"""The note board that is killed in the middle of a change, or whose store does not answer: shown, and settled.

Real processes and a real SIGKILL. `interruptedboard` only says where the process stands when it comes; what is
started afterwards is the board as it is, and what it says is held against the database.
"""

import threading
from http.client import HTTPException

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal
from tests.examples.boards import (
    HONEST,
    INTERRUPTED,
    Place,
    Visitor,
    appears,
    board_at,
    started,
)

TAGS = "gardener: weekend"
CUT_OFF = (HTTPException, OSError)


def send_and_leave(visitor: Visitor, route: str, **fields: str) -> threading.Thread:
    """Sends a form whose answer never comes, because the board will be killed."""

    def send() -> None:
        try:
            visitor.send_form(route, **fields)
        except CUT_OFF:
            return

    fields["csrf"] = visitor.token()
    thread = threading.Thread(target=send)
    thread.start()
    return thread


def killed_at(place: Place, where: str, *, in_roll_back: bool = False) -> None:
    """A board that is killed there, in the apply of a change that a module wanted, or in its roll-back."""
    running = started(place, INTERRUPTED)
    visitor = Visitor(running.link).enter()
    visitor.upload("gardener", "gardener.graph")
    visitor.act("gardener", "weekend")
    visitor.allow("persistent")
    if in_roll_back:
        visitor.decide()
        route, fields = "/changes/roll-back", {"tx": visitor.transaction(TAGS)}
    else:
        route, fields = "/answer", {"request": visitor.question(), "decision": "once"}
    (place.folder / "stop").write_text(where)
    thread = send_and_leave(visitor, route, **fields)
    appears(place.folder / "stopped")
    running.kill()
    thread.join()


def tagged(place: Place) -> int:
    """How many notes have the tag, as the database says."""
    return sum("#weekend" in each["text"] for each in place.notes())


@pytest.mark.parametrize("where", ["before", "within"])
def test_killed_before_it_took_effect_nothing_did_and_it_can_be_applied_again(
    place: Place, where: str
) -> None:
    """CONTRACTS §3-recovery: shown as under way; looked into, approved again; applied by one more click."""
    killed_at(place, where)
    assert tagged(place) == 0
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        page = visitor.get().text
        assert "To be recovered Something was under way and is not on record as ended." in page
        assert f"{TAGS} was being applied" in page
        assert tagged(place) == 0
        said = visitor.press("/changes/recover", "")
        assert f"Looked into done {TAGS}: nothing of it had taken effect" in said
        assert "To be recovered" not in said
        assert visitor.history()[0] == ("APPROVED", TAGS)
        assert f"{TAGS}: applied done" in visitor.press("/changes/apply")
        assert tagged(place) == 2
        visitor.press("/changes/roll-back", visitor.transaction(TAGS))
        assert tagged(place) == 0


def test_killed_after_it_took_effect_it_is_found_applied(place: Place) -> None:
    """CONTRACTS §3-recovery: the commit is in the store's log, so it is applied, and can be rolled back."""
    killed_at(place, "after")
    assert tagged(place) == 2
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        assert f"{TAGS} was being applied" in visitor.get().text
        said = visitor.press("/changes/recover", "")
        assert f"Looked into done {TAGS}: it had taken effect, and is applied" in said
        assert tagged(place) == 2
        visitor.press("/changes/roll-back", visitor.transaction(TAGS))
        assert tagged(place) == 0


@pytest.mark.parametrize(("where", "left"), [("before", 2), ("within", 2), ("after", 0)])
def test_killed_in_a_roll_back_it_is_applied_or_rolled_back(
    place: Place, where: str, left: int
) -> None:
    """CONTRACTS §3-recovery: one of both, as the store's log says; and the roll-back can be asked for again."""
    killed_at(place, where, in_roll_back=True)
    assert tagged(place) == left
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        assert f"{TAGS} was being rolled back" in visitor.get().text
        visitor.press("/changes/recover", "")
        state = "APPLIED" if left else "ROLLED_BACK"
        assert visitor.history()[0] == (state, TAGS)
        assert tagged(place) == left
        if left:
            visitor.press("/changes/roll-back", visitor.transaction(TAGS))
        assert tagged(place) == 0


def test_what_is_left_under_way_stops_nobody(place: Place) -> None:
    """CONTRACTS §3-recovery: the person goes on writing; the change that was cut off fits no more, and says so."""
    killed_at(place, "before")
    with board_at(place) as link:
        visitor = Visitor(link).enter()
        visitor.post("/notes/add", text="meanwhile")
        assert len(place.notes()) == 5
        visitor.press("/changes/recover", "")
        assert "rejected tx-conflict" in visitor.press("/changes/apply")
        visitor.press("/changes/again")
        visitor.decide()
        assert tagged(place) == 2


def test_a_change_that_another_board_is_at_is_left_alone(place: Place) -> None:
    """CONTRACTS §3-recovery: who looks says that somebody works on it; once they are gone it is settled."""
    with board_at(place, HONEST) as link:
        visitor = Visitor(link).enter()
        visitor.upload("gardener", "gardener.graph")
        other = started(place, INTERRUPTED)
        stopped = Visitor(other.link).enter()
        (place.folder / "stop").write_text("before")
        thread = send_and_leave(stopped, "/notes/add", text="of the other")
        appears(place.folder / "stopped")
        said = visitor.press("/changes/recover", "")
        assert "Looked into waiting add a note: another program is applying it" in said
        assert visitor.history()[0] == ("APPLYING", "add a note")
        other.kill()
        thread.join()
        visitor.press("/changes/recover", "")
        assert visitor.history()[0] == ("APPROVED", "add a note")
        visitor.press("/changes/apply")
        assert place.notes()[-1]["text"] == "of the other"


def test_what_is_not_known_waits_until_the_store_answers(place: Place) -> None:
    """CONTRACTS §3-recovery: it took effect and nobody was told; held, shown, and settled when one can ask."""
    with board_at(place, INTERRUPTED) as link:
        visitor = Visitor(link).enter()
        unsure = place.folder / "unsure"
        unsure.touch()
        said = visitor.post("/notes/add", text="perhaps").text
        assert "The board says no rejected your change: not known yet" in said
        assert "add a note not known yet whether it took effect" in said
        again = visitor.press("/changes/recover", "")
        assert "Looked into waiting add a note: it is still not known" in again
        unsure.unlink()
        settled = visitor.press("/changes/recover", "")
        assert "add a note: it had taken effect, and is applied" in settled
        assert [each["text"] for each in place.notes()].count("perhaps") == 1


def test_what_cannot_be_settled_blocks_the_notes_until_an_operator_says_so(place: Place) -> None:
    """CONTRACTS §3-terminal-block: every change is refused, the page says what to do, and then it goes on."""
    with board_at(place, INTERRUPTED, "--limit", "0") as link:
        visitor = Visitor(link).enter()
        unsure = place.folder / "unsure"
        unsure.touch()
        said = visitor.post("/notes/add", text="lost").text
        assert "your change: could not be settled" in said
        tx = visitor.transaction("add a note")
        assert "could not be settled tx-unsettled: the disk does not answer Every change" in said
        assert f"consentry tx resolve {tx}" in said
        unsure.unlink()
        before = place.document()
        assert "rejected tx-blocked" in visitor.post("/notes/add", text="another").text
        assert place.document() == before
        line = CommandLine(place.folder, place.environ)
        with at_terminal(line, "tx", "resolve", tx, "--reason", "looked at the notes") as terminal:
            terminal.answer("", "a")
            terminal.answer("", "resolve")
            assert terminal.ended() == 0, terminal.screen
        assert "To be recovered" not in visitor.get().text
        visitor.post("/notes/add", text="a third")
        assert place.notes()[-1]["text"] == "a third"

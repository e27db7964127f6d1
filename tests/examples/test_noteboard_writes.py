"""A module that tries to write what it may not, on a note board whose commands do all that it says.

Each attack in threes: it fails, the same thing inside its bounds works, and with the rules taken away
(`carelessboard`) it succeeds. Two rules stand behind each other: `call.write`, and the watch of the
transaction; either is enough.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from consentry.base.errors import Refused
from consentry.modules import ActionOutcome, ActionStatus
from examples.noteboard.board import Board
from examples.noteboard.changepart import TOO_LONG, waiting_part
from examples.noteboard.changes import Changes
from examples.noteboard.notes import NO_NOTE
from tests.examples.carelessboard import (
    MODULE,
    CarelessBoard,
    careless_board,
    without_rules_of_the_call,
    without_the_watch,
)
from tests.service.weakenedmodules import without_ends

VIOLATION = "capability-policy-violation"
TAKEN_OVER = {"note": "taken over"}
OUTSIDE: dict[str, list[dict[str, Any]]] = {
    "beside": [{"op": "add", "path": "/board/selection", "value": TAKEN_OVER}],
    "an entity that is there": [{"op": "remove", "path": "/board/begun"}],
    "a type that begins alike": [{"op": "add", "path": "/notesx/a", "value": 1}],
    "a name with an escape": [{"op": "add", "path": "/notes~1a/b", "value": 1}],
    "dots are a name": [{"op": "add", "path": "/../board", "value": 1}],
    "moved out": [{"op": "move", "from": "/notes/mine", "path": "/board/mine"}],
    "moved in": [{"op": "move", "from": "/board/begun", "path": "/notes/theirs"}],
    "behind one that is allowed": [
        {"op": "add", "path": "/notes/mine", "value": {"text": "mine", "order": 9}},
        {"op": "add", "path": "/board/selection", "value": TAKEN_OVER},
    ],
    "another scope": [{"op": "add", "path": "/notes/mine", "value": 1, "scope": "sync"}],
}
MINE: list[Any] = [{"op": "add", "path": "/notes/mine", "value": {"text": "mine", "order": 9}}]
BESIDE = OUTSIDE["beside"]


def refused(board: CarelessBoard, name: str, wanted: Any) -> ActionOutcome:
    """Calls it; it must be rejected, and nothing of the document is another."""
    before = board.host.document.read(None)
    outcome = board.act(name, wanted)
    assert outcome.status is ActionStatus.REJECTED
    assert board.host.document.read(None) == before
    return outcome


@pytest.mark.parametrize("attack", OUTSIDE)
@pytest.mark.parametrize("name", ["patch", "swallow"])
def test_nothing_outside_of_what_the_command_changes(
    tmp_path: Path, name: str, attack: str
) -> None:
    """MODULES §limit-write-path: one code, also where the handler hides the refusal; and no part of it happens."""
    with careless_board(tmp_path) as board:
        assert refused(board, name, OUTSIDE[attack]).code == VIOLATION


def test_inside_of_it_the_same_command_writes(tmp_path: Path) -> None:
    """MODULES §limit-write-policy: what was granted and declared is applied, and can be rolled back."""
    with careless_board(tmp_path) as board:
        before = board.document()
        outcome = board.act("patch", MINE)
        assert (outcome.status, outcome.transaction_state) == (ActionStatus.DONE, "APPLIED")
        assert board.document()["notes"]["mine"] == {"text": "mine", "order": 9}
        board.host.transactions.roll_back(str(outcome.transaction_id))
        assert board.document() == before


@pytest.mark.parametrize("taken", [without_rules_of_the_call, without_the_watch])
def test_either_rule_is_enough(
    tmp_path: Path, taken: Callable[[], AbstractContextManager[None]]
) -> None:
    """MODULES §limit-write-path: one of the two may be wrong, and nothing is written outside."""
    with careless_board(tmp_path) as board, taken():
        assert refused(board, "patch", BESIDE).code == VIOLATION


def test_without_both_it_would_be_written(tmp_path: Path) -> None:
    """MODULES §limit-write-path: the same call of the same module."""
    with careless_board(tmp_path) as board, without_rules_of_the_call(), without_the_watch():
        assert board.act("patch", BESIDE).status is ActionStatus.DONE
        assert board.document()["board"]["selection"] == TAKEN_OVER


def test_a_command_that_declares_no_writing_writes_nothing(tmp_path: Path) -> None:
    """MODULES §limit-write-path: whatever its module was granted for another command."""
    with careless_board(tmp_path) as board:
        assert board.act("patch", MINE).status is ActionStatus.DONE
        outcome = refused(board, "peek", [{"op": "remove", "path": "/notes/mine"}])
        assert outcome.code == VIOLATION
        assert outcome.why == "`notes.peek` does not declare `state.write.tx`"


def test_without_both_rules_it_would_write(tmp_path: Path) -> None:
    """MODULES §limit-write-path: the declaration is what holds it."""
    with careless_board(tmp_path) as board, without_rules_of_the_call(), without_the_watch():
        assert board.act("peek", BESIDE).status is ActionStatus.DONE
        assert board.document()["board"]["selection"] == TAKEN_OVER


def test_a_call_that_is_over_writes_nothing(tmp_path: Path) -> None:
    """MODULES §limit-write-path: kept by one command it is worth nothing to the next, or to anybody later."""
    with careless_board(tmp_path) as board:
        assert refused(board, "both", MINE).why == "this call of `notes.keep` is over"
        before = board.document()
        with pytest.raises(Refused, match="is over"):
            board.careless.kept[0].write([{"op": "remove", "path": "/notes/mine"}])
        assert board.document() == before


def test_without_its_end_it_would_be_written(tmp_path: Path) -> None:
    """MODULES §limit-write-path: the same action, with calls that do not end."""
    with careless_board(tmp_path) as board, without_ends():
        assert board.act("both", MINE).status is ActionStatus.DONE
        assert "mine" in board.document()["notes"]


@pytest.mark.parametrize("name", ["patch", "peek", "swallow"])
def test_operations_in_a_payload_go_the_same_way(tmp_path: Path, name: str) -> None:
    """MODULES §limit-write-path: who wrote an operation makes no difference to what it may do."""
    with careless_board(tmp_path, {name: {"operations": BESIDE}}) as board:
        assert refused(board, name, None).code == VIOLATION


def nested(levels: int) -> Any:
    """A list in a list in a list."""
    value: Any = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        [],
        {},
        "remove everything",
        [MINE],
        [{}],
        [{"op": "test", "path": "/notes/a", "value": 1}],
        [{"op": "add", "path": "/notes/a"}],
        [{"op": "add", "path": "/notes/a", "value": 1, "and": 2}],
        [{"op": "add", "path": "/notes", "value": {}}],
        [{"op": "add", "path": "", "value": {}}],
        [{"op": "add", "path": "notes/a", "value": {}}],
        [{"op": "add", "path": "/notes/", "value": {}}],
        [{"op": "add", "path": "/notes/a\u202eb", "value": {}}],
        [{"op": "add", "path": "/notes/a\nb", "value": {}}],
        [{"op": "add", "path": "/notes/a\x1b[2J", "value": {}}],
        [{"op": "add", "path": f"/notes/{'x' * 201}", "value": {}}],
        [{"op": "add", "path": "/notes/a", "value": "x" * (9 * 1024**2)}],
        [{"op": "add", "path": "/notes/a", "value": nested(80)}],
        [{"op": "add", "path": "/notes/a", "value": float("nan")}],
        [{"op": "add", "path": "/notes/a", "value": "\ud800"}],
        [{"op": "add", "path": f"/notes/{each}", "value": 1} for each in range(20_001)],
        [*MINE, *MINE],
        [{"op": "remove", "path": "/notes/nobody"}],
        [{"op": "move", "from": "/notes/a", "path": "/notes/a/b"}],
    ],
    ids=lambda wanted: repr(wanted)[:40],
)
def test_what_is_no_change_or_too_much_is_refused_whole(tmp_path: Path, wanted: Any) -> None:
    """CONTRACTS §3-apply: huge, deep, malformed or impossible: the action is rejected, and the board goes on."""
    with careless_board(tmp_path) as board:
        assert refused(board, "patch", wanted).code in {"tx-operation", "canonical-json"}
        assert board.act("patch", MINE).status is ActionStatus.DONE


def test_what_is_no_note_is_shown_and_can_be_removed(tmp_path: Path) -> None:
    """A careless command can put anything below `/notes`: the board shows that it is none, and lives on."""
    hostile = ["~1..~1board~1selection", "<script>x()<~1script>", "' onfocus=x()"]
    wanted = [{"op": "add", "path": f"/notes/{each}", "value": [1, 2]} for each in hostile]
    with careless_board(tmp_path) as careless:
        assert careless.act("patch", wanted).status is ActionStatus.DONE
        board = Board(tmp_path / "board")
        board.open(careless.host)
        notes = board.notes().notes
        assert [each.text for each in notes].count(NO_NOTE) == 3
        for each in notes:
            board.remove(each.note_id)
        assert "notes" not in careless.document()
        assert board.notes().notes == ()


@pytest.mark.parametrize(("letters", "is_offered"), [(3000, True), (3001, False)])
def test_what_is_not_shown_whole_is_not_approved(
    tmp_path: Path,
    letters: int,
    is_offered: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """CONTRACTS §3-approval: a text that is too long for the page has no button that says yes to it."""
    long = [{"op": "add", "path": "/notes/mine", "value": {"text": "x" * letters, "order": 9}}]
    with careless_board(tmp_path, {"purge": {}}) as board:
        board.act("patch", long)
        assert board.host.invoke(MODULE, "purge").transaction_state == "APPROVAL_PENDING"
        part = waiting_part(Changes(board.host), board.host.description, "token")
        assert part is not None
        assert ("Approve and apply" in part) is is_offered
        assert (TOO_LONG in part) is not is_offered
        assert "Reject" in part


SMUGGLED = {
    "operations": BESIDE,
    "path": "/board/selection",
    "op": "remove",
    "from": "/board/begun",
    "scope": "sync",
    "mutates": ["/"],
    "requiresApproval": False,
    "id": "../board/selection",
    "order": -5,
}


@pytest.mark.parametrize(
    ("name", "payload", "changed"),
    [
        ("tag", {"tag": "weekend", "word": "#read", **SMUGGLED}, 2),
        ("tag", {"tag": "a/../../board", "word": "#read"}, 0),
        ("tag", {"tag": "x" * 21, "word": "#read"}, 0),
        ("tag", {"tag": "weekend", "word": "x" * 41}, 0),
        ("tag", {"tag": ["weekend"], "word": {"#read": 1}}, 0),
        ("tag", {"tag": "weekend", "word": nested(50)}, 0),
        ("tag", [1, 2], 0),
        ("add", {"text": "</li><script>x()</script>\u202e\x1b[2J", **SMUGGLED}, 1),
        ("add", {"text": "x" * 2001}, 0),
        ("add", {"text": " \n"}, 0),
        ("add", {"text": nested(50)}, 0),
        ("add", {}, 0),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_the_boards_own_commands_make_their_operations_themselves(
    tmp_path: Path, name: str, payload: Any, changed: int
) -> None:
    """MODULES §limit-write-path: of a payload only what is a tag, a word or a text counts, below `/notes`."""
    with careless_board(tmp_path, {name: payload}) as board:
        before = board.host.document.read(None)
        outcome = board.act(name)
        if changed:
            attempt = board.host.transactions.look(str(outcome.transaction_id))
            drawn = board.host.transactions.drawn(attempt)
            assert attempt.state == "APPROVAL_PENDING"
            assert len(drawn.operations) == changed
            assert {each.entity.entity_type for each in drawn.operations} == {"notes"}
            assert {each.scope for each in drawn.operations} == {"doc"}
        else:
            assert outcome.transaction_id is None
        assert board.host.document.read(None) == before

"""The desk of a run: one question for the same thing, one answer, and a record of all of it."""

from collections.abc import Callable
from threading import Thread

import pytest

from consentry.enforce import held
from consentry.enforce.held import (
    HeldAnswer,
    HeldDesk,
    HeldOperation,
    Operation,
    Reply,
    Verb,
)


class Keeper:
    """Answers when it is told to."""

    allows_direct = True

    def __init__(self) -> None:
        self.replies: dict[int, Reply] = {}
        self.left: list[int] = []

    def asked(self, operation: HeldOperation, answer: Reply) -> None:
        """Keeps it."""
        self.replies[operation.number] = answer

    def gone(self, number: int) -> None:
        """Keeps that."""
        self.left.append(number)


@pytest.fixture
def keeper() -> Keeper:
    """One that has said nothing yet."""
    return Keeper()


@pytest.fixture
def desk(keeper: Keeper) -> HeldDesk:
    """A run's."""
    return HeldDesk(keeper)


def _read(path: str) -> Callable[[int], HeldOperation]:
    return lambda number: HeldOperation(number, Operation.READ, path, Verb.OPEN)


def _write(path: str, *, through_layer: bool = False) -> Callable[[int], HeldOperation]:
    return lambda number: HeldOperation(
        number, Operation.WRITE, path, Verb.OPEN, through_layer=through_layer
    )


def test_whoever_asks_for_the_same_waits_for_the_same_answer(
    desk: HeldDesk, keeper: Keeper
) -> None:
    """And who asks later has it at once, be it a yes or a no."""
    heard: list[HeldAnswer] = []
    for _ in range(2):
        desk.ask("a", _read("/a"), heard.append)
    assert list(keeper.replies) == [1]
    keeper.replies[1](HeldAnswer.GRANTED, "request-7")
    desk.ask("a", _read("/a"), heard.append)
    assert heard == [HeldAnswer.GRANTED] * 3
    [record] = desk.records()
    assert (record.answer, record.request_id, record.times) == ("granted", "request-7", 3)


def test_the_first_answer_counts(desk: HeldDesk, keeper: Keeper) -> None:
    """Whatever is said after it, nothing hears it."""
    heard: list[HeldAnswer] = []
    desk.ask("a", _read("/a"), heard.append)
    keeper.replies[1](HeldAnswer.REFUSED)
    keeper.replies[1](HeldAnswer.GRANTED)
    assert heard == [HeldAnswer.REFUSED]
    assert [each.answer for each in desk.records()] == [HeldAnswer.REFUSED]


def test_a_question_goes_with_the_last_who_waits_for_it(desk: HeldDesk, keeper: Keeper) -> None:
    """It may be asked again then; an answer that comes too late is nobody's."""
    heard: list[HeldAnswer] = []
    first = desk.ask("a", _read("/a"), heard.append)
    second = desk.ask("a", _read("/a"), heard.append)
    desk.gone(first)
    assert keeper.left == []
    desk.gone(second)
    desk.gone(second)
    assert keeper.left == [1]
    keeper.replies[1](HeldAnswer.GRANTED)
    assert heard == []
    third = desk.ask("a", _read("/a"), heard.append)
    assert list(keeper.replies) == [1, third]
    assert [each.answer for each in desk.records()] == [HeldAnswer.GONE]


def test_a_yes_to_more_is_a_yes_to_less(desk: HeldDesk, keeper: Keeper) -> None:
    """A no to more is none."""
    heard: list[HeldAnswer] = []
    desk.ask("rw", _write("/a"), heard.append)
    keeper.replies[1](HeldAnswer.GRANTED)
    desk.ask("r", _read("/a"), heard.append, ["rw"])
    assert heard == [HeldAnswer.GRANTED] * 2
    desk.ask("other rw", _write("/b"), heard.append)
    keeper.replies[3](HeldAnswer.REFUSED)
    desk.ask("other r", _read("/b"), heard.append, ["other rw"])
    assert sorted(keeper.replies) == [1, 3, 4]


def test_what_came_to_be_by_a_yes_has_that_yes(desk: HeldDesk, keeper: Keeper) -> None:
    """By whatever it is known since."""
    heard: list[HeldAnswer] = []
    number = desk.ask("make", _write("/a"), heard.append)
    keeper.replies[number](HeldAnswer.GRANTED)
    desk.also(number, "made")
    desk.ask("made", _write("/a"), heard.append)
    assert heard == [HeldAnswer.GRANTED] * 2


def test_only_a_write_that_was_granted_beside_the_layer_is_direct(
    desk: HeldDesk, keeper: Keeper
) -> None:
    """Neither one that stays in the layer, nor one that was refused, nor reading."""
    asked = [_write("/a"), _write("/b", through_layer=True), _write("/c"), _read("/d")]
    for number, each in enumerate(asked, start=1):
        desk.ask(number, each, lambda _: None)
        keeper.replies[number](HeldAnswer.REFUSED if number == 3 else HeldAnswer.GRANTED)
    assert [each.direct for each in desk.records()] == [True, False, False, False]


def test_what_failed_is_told_with_the_answer(desk: HeldDesk, keeper: Keeper) -> None:
    """The person said yes, and the system no."""
    number = desk.ask("a", _read("/a"), lambda _: None)
    keeper.replies[number](HeldAnswer.GRANTED)
    desk.failed(number, "EROFS")
    desk.failed(99, "nobody's")
    assert [each.error for each in desk.records()] == ["EROFS"]


def test_when_the_run_is_over_whatever_waits_is_gone_and_nothing_is_asked(
    desk: HeldDesk, keeper: Keeper
) -> None:
    """What is asked for then is refused at once."""
    heard: list[HeldAnswer] = []
    for name in "abc":
        desk.ask(name, _read(f"/{name}"), heard.append)
    desk.close()
    assert sorted(keeper.left) == [1, 2, 3]
    desk.ask("d", _read("/d"), heard.append)
    assert heard == [HeldAnswer.UNASKED]
    assert sorted(keeper.replies) == [1, 2, 3]


def test_a_run_that_asks_too_much_is_refused(
    desk: HeldDesk, keeper: Keeper, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody is asked for ever; questions that went with their program count as well."""
    monkeypatch.setattr(held, "MOST_ASKED", 3)
    heard: list[HeldAnswer] = []
    desk.gone(desk.ask(0, _read("/0"), heard.append))
    for number in range(1, 5):
        desk.ask(number, _read(f"/{number}"), heard.append)
    assert sorted(keeper.replies) == [1, 2, 3]
    assert heard == [HeldAnswer.UNASKED] * 2
    assert len(desk.records()) == 1


def test_answers_from_many_threads_end_each_wait_once(desk: HeldDesk, keeper: Keeper) -> None:
    """Whoever is first."""
    heard: list[int] = []
    for number in range(1, 101):
        desk.ask(number, _read(f"/{number}"), lambda _, number=number: heard.append(number))  # type: ignore[misc]
    threads = [
        Thread(target=lambda: [reply(HeldAnswer.GRANTED) for reply in keeper.replies.values()])
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(heard) == list(range(1, 101))

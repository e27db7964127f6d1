"""Several things at once: all are done, none is left behind."""

import threading

import pytest

from consentry.service.drillshares import IsOver, at_once


def test_all_are_done_at_once_and_told_in_their_order() -> None:
    """Each waits for the others, which is only possible in threads of their own."""
    together = threading.Barrier(3, timeout=10)

    def share(number: int) -> int:
        together.wait()
        return number

    assert at_once([lambda _, n=n: share(n) for n in (1, 2, 3)]) == [1, 2, 3]
    assert at_once([]) == []


def test_a_problem_in_one_is_raised_when_all_have_ended() -> None:
    """And what the others did is done."""
    done: list[int] = []

    def fails(_: IsOver) -> int:
        raise KeyError("x")

    def works(_: IsOver) -> int:
        done.append(1)
        return 1

    before = threading.active_count()
    with pytest.raises(KeyError):
        at_once([fails, works, works])
    assert done == [1, 1]
    assert threading.active_count() == before


def test_an_interrupt_in_one_reaches_whoever_waits() -> None:
    """It is no ordinary problem, and is not swallowed."""

    def stops(_: IsOver) -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        at_once([stops])

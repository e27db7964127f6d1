"""Group commit: everybody is answered, once, whatever happens meanwhile."""

import threading
from collections.abc import Sequence

import pytest

from consentry.store.groupcommit import GroupCommit


def test_many_threads_need_few_commits_and_each_gets_its_own_answer() -> None:
    """Thirty-two threads behind one slow commit are committed together."""
    sizes: list[int] = []
    entered, go_on = threading.Event(), threading.Event()

    def commit(batch: Sequence[int]) -> list[int]:
        sizes.append(len(batch))
        if len(sizes) == 1:
            entered.set()
            assert go_on.wait(20)
        return [number * 2 for number in batch]

    group = GroupCommit(commit)
    answers: dict[int, int] = {}

    def submit(number: int) -> None:
        answers[number] = group.submit(number)

    first = threading.Thread(target=submit, args=(0,))
    first.start()
    assert entered.wait(20)
    others = [threading.Thread(target=submit, args=(number,)) for number in range(1, 33)]
    for thread in others:
        thread.start()
    while len(group._waiting) < 32:
        threading.Event().wait(0.001)
    go_on.set()
    for thread in [first, *others]:
        thread.join(20)
    assert answers == {number: number * 2 for number in range(33)}
    assert sizes == [1, 32]


def test_a_failed_commit_is_told_to_everybody_in_it_and_to_nobody_else() -> None:
    """The next one works."""
    fails = [True]

    def commit(batch: Sequence[int]) -> list[int]:
        if fails[0]:
            raise OSError("the disk is full")
        return list(batch)

    group = GroupCommit(commit)
    with pytest.raises(OSError, match="full"):
        group.submit(1)
    fails[0] = False
    assert group.submit(2) == 2


def test_a_waiter_that_gives_up_does_not_hold_up_the_others() -> None:
    """Its turn is handed on, so that whoever is behind it is committed."""
    entered, go_on = threading.Event(), threading.Event()

    def commit(batch: Sequence[str]) -> list[str]:
        if batch[0] == "slow":
            entered.set()
            assert go_on.wait(20)
        return list(batch)

    group = GroupCommit(commit)
    slow = threading.Thread(target=group.submit, args=("slow",))
    slow.start()
    assert entered.wait(20)
    with group._lock:
        given_up = _given_up_ticket(group)
    answered: list[str] = []
    behind = threading.Thread(target=lambda: answered.append(group.submit("behind")))
    behind.start()
    while len(group._waiting) < 2:
        threading.Event().wait(0.001)

    class GateThatIsInterrupted:
        """Stands for a signal that arrives while the thread waits at its gate."""

        def acquire(self) -> None:
            raise KeyboardInterrupt

        def locked(self) -> bool:
            return True

        def release(self) -> None:
            raise AssertionError("a ticket that gave up must not be named leader")

    given_up.gate = GateThatIsInterrupted()
    with pytest.raises(KeyboardInterrupt):
        group._wait(given_up)
    go_on.set()
    slow.join(20)
    behind.join(20)
    assert answered == ["behind"]


def _given_up_ticket(group: GroupCommit):  # type: ignore[type-arg,no-untyped-def]
    from consentry.store.groupcommit import _Ticket

    ticket = _Ticket("given up")
    group._waiting.append(ticket)
    return ticket

"""Group commit: everybody is answered, once, whatever happens meanwhile."""

import threading
from collections.abc import Sequence

import pytest

from consentry.store.groupcommit import GroupCommit


def synced() -> None:
    """A disk that is always done."""


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

    group = GroupCommit(commit, synced, lambda problem: isinstance(problem, ValueError))
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

    group = GroupCommit(commit, synced, lambda problem: isinstance(problem, ValueError))
    with pytest.raises(OSError, match="full"):
        group.submit(1)
    fails[0] = False
    assert group.submit(2) == 2


def together(group: GroupCommit, gate: threading.Event, works: list[str]) -> dict[str, object]:  # type: ignore[type-arg]
    """Submits one work that holds the commit and, behind it, the others; how each ended."""
    ended: dict[str, object] = {}

    def submit(work: str) -> None:
        try:
            ended[work] = group.submit(work)
        except BaseException as problem:  # noqa: BLE001 - what the thread was told is the point
            ended[work] = type(problem).__name__

    threads = [threading.Thread(target=submit, args=("first",))]
    threads[0].start()
    while not group._has_leader or group._waiting:
        threading.Event().wait(0.001)
    for number, work in enumerate(works, 1):
        threads.append(threading.Thread(target=submit, args=(work,)))
        threads[-1].start()
        while len(group._waiting) < number:
            threading.Event().wait(0.001)
    gate.set()
    for thread in threads:
        thread.join(20)
    return ended


def test_a_fault_of_one_is_told_to_that_one_alone() -> None:
    """Whoever shared its commit is committed all the same."""
    gate = threading.Event()

    def commit(batch: Sequence[str]) -> list[str]:
        if batch[0] == "first":
            assert gate.wait(20)
        if "bad" in batch:
            raise ValueError("repeated")
        return list(batch)

    group = GroupCommit(commit, synced, lambda problem: isinstance(problem, ValueError))
    ended = together(group, gate, ["a", "bad", "b"])
    assert ended == {"first": "first", "a": "a", "bad": "ValueError", "b": "b"}


def test_an_interrupt_is_for_the_committing_thread_alone() -> None:
    """The others are told that nothing was recorded, in our own words."""
    gate = threading.Event()

    def commit(batch: Sequence[str]) -> list[str]:
        if batch[0] == "first":
            assert gate.wait(20)
            return list(batch)
        raise KeyboardInterrupt

    group = GroupCommit(commit, synced, lambda problem: isinstance(problem, ValueError))
    ended = together(group, gate, ["leads", "follows"])
    assert ended == {"first": "first", "leads": "KeyboardInterrupt", "follows": "LedgerProblem"}


def test_a_waiter_that_gives_up_does_not_hold_up_the_others() -> None:
    """Its turn is handed on, so that whoever is behind it is committed."""
    entered, go_on = threading.Event(), threading.Event()

    def commit(batch: Sequence[str]) -> list[str]:
        if batch[0] == "slow":
            entered.set()
            assert go_on.wait(20)
        return list(batch)

    group = GroupCommit(commit, synced, lambda problem: isinstance(problem, ValueError))
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


def test_the_next_leader_commits_while_the_disk_is_busy_with_the_last() -> None:
    """And nobody is answered before the disk is done with its own."""
    committed, disk_is_free = threading.Event(), threading.Event()
    order: list[str] = []

    def commit(batch: Sequence[str]) -> list[str]:
        order.extend(f"commit {work}" for work in batch)
        if "second" in batch:
            committed.set()
        return list(batch)

    def sync() -> None:
        assert disk_is_free.wait(20)

    group = GroupCommit(commit, sync, lambda problem: isinstance(problem, ValueError))

    def submit(work: str) -> None:
        group.submit(work)
        order.append(f"answer {work}")

    threads = [threading.Thread(target=submit, args=(work,)) for work in ("first", "second")]
    for thread in threads:
        thread.start()
    assert committed.wait(20)
    assert [line for line in order if line.startswith("answer")] == []
    disk_is_free.set()
    for thread in threads:
        thread.join(20)
    assert sorted(order) == ["answer first", "answer second", "commit first", "commit second"]


def test_what_may_not_be_on_disk_is_not_acknowledged() -> None:
    """A failed sync is told to everybody who was committed, and the next one works."""
    fails = [True]

    def sync() -> None:
        if fails[0]:
            raise OSError("input/output error")

    group = GroupCommit(list, sync, lambda problem: isinstance(problem, ValueError))
    with pytest.raises(OSError, match="input/output"):
        group.submit(1)
    fails[0] = False
    assert group.submit(2) == 2

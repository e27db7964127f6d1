"""Group commit: everybody is answered, once, whatever happens meanwhile."""

import signal
import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from types import FrameType

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store import groupcommit
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
    while group._leader is None or group._waiting:
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
    answered: list[str] = []

    def come_behind_and_interrupt() -> None:
        while not group._waiting:
            threading.Event().wait(0.001)
        behind.start()
        while len(group._waiting) < 2:
            threading.Event().wait(0.001)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)

    behind = threading.Thread(target=lambda: answered.append(group.submit("behind")))
    interrupting = threading.Thread(target=come_behind_and_interrupt)
    before = signal.signal(signal.SIGUSR1, signal.default_int_handler)
    try:
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            group.submit("given up")
    finally:
        signal.signal(signal.SIGUSR1, before)
    go_on.set()
    for thread in (interrupting, slow, behind):
        thread.join(20)
    assert answered == ["behind"]


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


class Interrupted(BaseException):
    """Stands for Ctrl-C."""


def interrupted_after(number: int, act: Callable[[], object]) -> bool:
    """Acts, interrupted behind the so-manieth call that the module makes; whether it got so far.

    Behind a call is where the interpreter looks for signals.
    """
    calls = 0

    def count(frame: FrameType, event: str, _arg: object) -> None:
        nonlocal calls
        code = frame.f_code
        is_ours = code.co_filename == groupcommit.__file__ and code.co_name != "<genexpr>"
        if is_ours and event in ("call", "c_return"):
            calls += 1
            if calls == number:
                sys.setprofile(None)
                raise Interrupted

    sys.setprofile(count)
    try:
        act()
    except Interrupted:
        pass
    finally:
        sys.setprofile(None)
    return calls >= number


class Crowd:
    """A group in which, while the work 0 is committed, others come and wait."""

    def __init__(self, others: int) -> None:
        self.answered: list[int | LedgerProblem] = []
        self.threads: list[threading.Thread] = []
        self.group: GroupCommit[int, int] = GroupCommit(self._commit, synced, lambda _: False)
        self._others = others

    def come(self, work: int) -> None:
        """Somebody submits, in a thread of their own."""
        thread = threading.Thread(target=self._submit, args=(work,), daemon=True)
        self.threads.append(thread)
        thread.start()

    def _submit(self, work: int) -> None:
        try:
            self.answered.append(self.group.submit(work))
        except LedgerProblem as problem:
            self.answered.append(problem)

    def _commit(self, batch: Sequence[int]) -> list[int]:
        while 0 in batch and len(self.threads) < self._others:
            self.come(len(self.threads) + 1)
            while len(self.group._waiting) < len(self.threads):
                threading.Event().wait(0.001)
        return list(batch)


@pytest.mark.parametrize("others", [0, 2])
def test_an_interrupt_anywhere_leaves_nobody_waiting(others: int) -> None:
    """Whoever waits behind the interrupted one is answered, and so is whoever comes later."""
    got_so_far, number = True, 0
    while got_so_far:
        number += 1
        crowd = Crowd(others)
        got_so_far = interrupted_after(number, partial(crowd.group.submit, 0))
        crowd.come(99)
        for thread in crowd.threads:
            thread.join(10)
            assert not thread.is_alive(), number
        assert 99 in crowd.answered
        assert len(crowd.answered) == len(crowd.threads)
    assert number > 10

"""The queue policy of a command holds for every call of it."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier, Event, Thread
from time import sleep

import pytest

from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.declare.hostdescription import QueuePolicy
from consentry.enforce.commandlane import CommandLanes

LONG = Duration(60_000)
SHORT = Duration(20)
ALONE = (QueuePolicy.ONE_BY_ONE, QueuePolicy.REFUSE_WHEN_BUSY)


def refusal(lanes: CommandLanes, policy: QueuePolicy, wait: Duration = LONG) -> str:
    """What a call of `note.add` is told that must be refused."""
    with pytest.raises(Refused) as caught, lanes.entered("note.add", policy, wait=wait):
        pytest.fail("the block ran")
    assert caught.value.code == "command-busy"
    return caught.value.message


@contextmanager
def running(lanes: CommandLanes, policy: QueuePolicy) -> Iterator[None]:
    """Somebody else runs `note.add` meanwhile."""
    begun, may_end = Event(), Event()

    def run() -> None:
        with lanes.entered("note.add", policy, wait=LONG):
            begun.set()
            may_end.wait()

    thread = Thread(target=run)
    thread.start()
    begun.wait()
    try:
        yield
    finally:
        may_end.set()
        thread.join()


def until(holds: Callable[[], bool]) -> None:
    """Returns when it holds."""
    while not holds():
        sleep(0.001)


@pytest.mark.parametrize("policy", QueuePolicy)
def test_calls_one_after_the_other_all_run(policy: QueuePolicy) -> None:
    """Nothing is left behind by a call that has ended, also where it failed."""
    lanes = CommandLanes()
    for _ in range(3):
        with lanes.entered("note.add", policy, wait=SHORT):
            pass
        with (
            pytest.raises(ZeroDivisionError),
            lanes.entered("note.add", policy, wait=SHORT),
        ):
            raise ZeroDivisionError
    assert lanes._lanes == {}


def test_at_once_waits_for_nobody() -> None:
    """As many as come run beside each other, each of them inside the block at the same moment."""
    lanes, all_inside = CommandLanes(), Barrier(4)

    def call(_: int) -> int:
        with lanes.entered("note.add", QueuePolicy.AT_ONCE, wait=SHORT):
            return all_inside.wait()

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(call, range(4))) == [0, 1, 2, 3]


def test_refuse_when_busy_does_not_wait() -> None:
    """MODULES §limit-write-policy: who comes meanwhile is refused, and later not."""
    lanes = CommandLanes()
    with running(lanes, QueuePolicy.REFUSE_WHEN_BUSY):
        said = refusal(lanes, QueuePolicy.REFUSE_WHEN_BUSY)
        assert said == "another call of `note.add` has not ended"
    with lanes.entered("note.add", QueuePolicy.REFUSE_WHEN_BUSY, wait=SHORT):
        pass


@pytest.mark.parametrize("policy", ALONE)
def test_another_command_has_a_lane_of_its_own(policy: QueuePolicy) -> None:
    """A name that only begins the same is another command."""
    lanes = CommandLanes()
    with running(lanes, policy):
        for other in ("note.adds", "note", "note.ADD"):
            with lanes.entered(other, policy, wait=SHORT):
                pass


def test_one_by_one_goes_in_the_order_of_arrival() -> None:
    """MODULES §limit-write-policy: those who wait run one after the other, the first to come first."""
    lanes, came = CommandLanes(), []

    def call(number: int) -> None:
        with lanes.entered("note.add", QueuePolicy.ONE_BY_ONE, wait=LONG):
            came.append(number)

    with ThreadPoolExecutor(8) as pool:
        with running(lanes, QueuePolicy.ONE_BY_ONE):
            calls: list[Future[None]] = []
            for number in range(8):
                calls.append(pool.submit(call, number))
                until(lambda: lanes.waiting("note.add") == len(calls))
            assert came == []
        for each in calls:
            each.result()
    assert came == list(range(8))
    assert lanes.waiting("note.add") == 0


def test_a_wait_ends_when_its_time_is_over() -> None:
    """Who gave up is skipped: the next one runs, and the one before it was never run."""
    lanes, came = CommandLanes(), []

    def call() -> None:
        with lanes.entered("note.add", QueuePolicy.ONE_BY_ONE, wait=LONG):
            came.append("later")

    with ThreadPoolExecutor(1) as pool:
        with running(lanes, QueuePolicy.ONE_BY_ONE):
            said = refusal(lanes, QueuePolicy.ONE_BY_ONE, SHORT)
            assert said == "another call of `note.add` has not ended within 0.02s"
            assert lanes.waiting("note.add") == 0
            later = pool.submit(call)
            until(lambda: lanes.waiting("note.add") == 1)
            refusal(lanes, QueuePolicy.ONE_BY_ONE, SHORT)
            assert lanes.waiting("note.add") == 1
        later.result()
    assert came == ["later"]


@pytest.mark.parametrize("outer", ALONE)
@pytest.mark.parametrize("inner", ALONE)
def test_a_command_that_calls_itself_is_refused_and_does_not_hang(
    outer: QueuePolicy, inner: QueuePolicy
) -> None:
    """At once, whatever the time it would wait; the outer call goes on, and the lane is free after it."""
    lanes = CommandLanes()
    with lanes.entered("note.add", outer, wait=LONG):
        assert "would wait for itself" in refusal(lanes, inner)
        with lanes.entered("note.list", inner, wait=SHORT):
            assert "would wait for itself" in refusal(lanes, inner)
    assert lanes._lanes == {}


def test_a_queue_has_an_end() -> None:
    """Who would be one too many is refused at once."""
    lanes = CommandLanes(most_waiting=2)

    def call(_: int) -> None:
        with lanes.entered("note.add", QueuePolicy.ONE_BY_ONE, wait=LONG):
            pass

    with ThreadPoolExecutor(2) as pool, running(lanes, QueuePolicy.ONE_BY_ONE):
        for number in range(2):
            pool.submit(call, number)
        until(lambda: lanes.waiting("note.add") == 2)
        assert "and 2 wait already" in refusal(lanes, QueuePolicy.ONE_BY_ONE)


@pytest.mark.parametrize("policy", ALONE)
def test_never_two_at_once_however_many_try(policy: QueuePolicy) -> None:
    """Threads with little patience: whoever ran was alone, the others were refused, nobody is left."""
    lanes, inside, most, ran = CommandLanes(), 0, 0, 0

    def call(number: int) -> bool:
        nonlocal inside, most, ran
        try:
            with lanes.entered("note.add", policy, wait=Duration(number % 3)):
                inside += 1
                most = max(most, inside)
                sleep(0.0005)
                inside -= 1
                ran += 1
        except Refused:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        said = list(pool.map(call, range(400)))
    assert most == 1
    assert ran == said.count(True) > 0
    assert lanes._lanes == {}

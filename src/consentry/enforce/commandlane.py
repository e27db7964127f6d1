"""Whose turn it is to run a command of the host: its queue policy, kept (CONTRACTS §1).

The policy belongs to the command, so each of its calls brings the same one:

    at-once            runs beside others of the same command
    one-by-one         runs alone; those who come meanwhile wait, and go in the order they came
    refuse-when-busy   runs alone; who comes meanwhile is refused

Whoever is refused gets `command-busy`, and nothing of the call has run. A wait is bounded by the caller,
a queue by `most_waiting`; a call of a command from inside itself would wait for its own end, and is
refused at once.

Not promised: anything between processes. Two commands that call each other from two threads wait until
one of them is refused. A thread stands for one caller: what shares a thread shares its turn.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import TIMEOUT_MAX, Event, Lock, get_ident
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.units import Duration
from consentry.declare.hostdescription import QueuePolicy

MOST_WAITING: Final = 100


class _Turn:
    """One call: the thread it is made on, and whether it may go on."""

    __slots__ = ("has_come", "thread")

    def __init__(self) -> None:
        self.thread = get_ident()
        self.has_come = Event()


class CommandLanes:
    """The lanes of one host, one for each command that somebody runs alone or waits for."""

    def __init__(self, most_waiting: int = MOST_WAITING) -> None:
        self._most_waiting = most_waiting
        self._lock = Lock()
        # The first of a lane runs, the others wait in this order; a lane nobody is in is not there.
        self._lanes: dict[str, deque[_Turn]] = {}

    @contextmanager
    def entered(self, command_id: str, policy: QueuePolicy, *, wait: Duration) -> Iterator[None]:
        """Runs the block when it is its turn; `command-busy` where that does not come in `wait`."""
        if policy is QueuePolicy.AT_ONCE:
            yield
            return
        turn = _Turn()
        try:
            self._join(command_id, policy, turn)
            seconds = min(wait.milliseconds / 1000, TIMEOUT_MAX)
            if not turn.has_come.wait(seconds) and not turn.has_come.is_set():
                raise _busy(command_id, f"has not ended within {wait}")
            yield
        finally:
            # Whatever was under way, also an interrupt: nobody stays in a lane who has left.
            self._leave(command_id, turn)

    def waiting(self, command_id: str) -> int:
        """How many wait for their turn."""
        with self._lock:
            return max(0, len(self._lanes.get(command_id, ())) - 1)

    def _join(self, command_id: str, policy: QueuePolicy, turn: _Turn) -> None:
        with self._lock:
            lane = self._lanes.get(command_id)
            if lane is None:
                turn.has_come.set()
                self._lanes[command_id] = deque((turn,))
                return
            if any(each.thread == turn.thread for each in lane):
                raise _busy(command_id, "is what makes this call, and would wait for itself")
            if policy is not QueuePolicy.ONE_BY_ONE:
                raise _busy(command_id, "has not ended")
            if len(lane) > self._most_waiting:
                raise _busy(command_id, f"has not ended, and {self._most_waiting} wait already")
            lane.append(turn)

    def _leave(self, command_id: str, turn: _Turn) -> None:
        with self._lock:
            lane = self._lanes.get(command_id)
            if lane is None or turn not in lane:
                return
            lane.remove(turn)
            if lane:
                lane[0].has_come.set()
            else:
                del self._lanes[command_id]


def _busy(command_id: str, why: str) -> Refused:
    return Refused(Code.COMMAND_BUSY, f"another call of `{command_id}` {why}")

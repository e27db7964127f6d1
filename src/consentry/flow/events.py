"""Tells a host program what happens in its executions: by calling it, or through a stream it reads.

A listener is called in the thread of the execution that it is told about. One that raises breaks
nothing: what it raised is kept for whoever looks. A stream that is not read drops its oldest, and
counts them; an execution never waits for a reader.
"""

from collections import deque
from collections.abc import Callable, Iterator
from threading import Condition, Lock
from typing import Final, Generic, Self, TypeVar

from consentry.base.values import dataclass

Told = TypeVar("Told")

MOST_KEPT: Final = 10_000
"""So many are kept in a stream that nobody reads."""

_MOST_FAILURES: Final = 100


@dataclass(frozen=True, slots=True)
class ListenerFailure:
    """What a listener raised, and about what."""

    about: object
    error: Exception


class Stream(Generic[Told]):
    """What is told from the moment the stream was made; threads may share it.

    Iterating waits for the next one and ends when the stream is closed.
    """

    def __init__(self, close: Callable[["Stream[Told]"], None]) -> None:
        self._changed = Condition()
        self._kept: deque[Told] = deque()
        self._leave = close
        self._is_open = True
        self.dropped = 0

    def put(self, told: Told) -> None:
        """Adds one; never waits."""
        with self._changed:
            if not self._is_open:
                return
            if len(self._kept) == MOST_KEPT:
                self._kept.popleft()
                self.dropped += 1
            self._kept.append(told)
            self._changed.notify()

    def get(self, timeout: float | None = None) -> Told | None:
        """The next one; None after so many seconds, or when the stream is closed and empty."""
        with self._changed:
            self._changed.wait_for(lambda: self._kept or not self._is_open, timeout)
            return self._kept.popleft() if self._kept else None

    def close(self) -> None:
        """Ends it for whoever reads; what is in it can still be read."""
        with self._changed:
            self._is_open = False
            self._changed.notify_all()
        self._leave(self)

    def __iter__(self) -> Iterator[Told]:
        while (told := self.get()) is not None:
            yield told

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Listeners(Generic[Told]):
    """All who are told; threads may share it."""

    def __init__(self) -> None:
        self._one_at_a_time = Lock()
        self._callbacks: list[Callable[[Told], object]] = []
        self._streams: list[Stream[Told]] = []
        self._failures: deque[ListenerFailure] = deque(maxlen=_MOST_FAILURES)

    def add(self, callback: Callable[[Told], object]) -> Callable[[], None]:
        """Calls it with everything from now on; what is returned takes it off again."""
        with self._one_at_a_time:
            self._callbacks.append(callback)
        return lambda: self._remove(callback)

    def _remove(self, callback: Callable[[Told], object]) -> None:
        with self._one_at_a_time:
            if callback in self._callbacks:
                self._callbacks.remove(callback)

    def stream(self) -> Stream[Told]:
        """A stream of everything from now on, to be closed."""
        made: Stream[Told] = Stream(self._leave)
        with self._one_at_a_time:
            self._streams.append(made)
        return made

    def _leave(self, stream: Stream[Told]) -> None:
        with self._one_at_a_time:
            if stream in self._streams:
                self._streams.remove(stream)

    def tell(self, told: Told) -> None:
        """Tells all of them, in the order in which they came."""
        with self._one_at_a_time:
            callbacks, streams = tuple(self._callbacks), tuple(self._streams)
        for stream in streams:
            stream.put(told)
        for callback in callbacks:
            try:
                callback(told)
            except Exception as error:  # noqa: BLE001 - a listener's fault is not the execution's
                self._failures.append(ListenerFailure(told, error))

    @property
    def failures(self) -> tuple[ListenerFailure, ...]:
        """What listeners raised, the oldest first; the last hundred."""
        return tuple(self._failures)

    def close(self) -> None:
        """Ends every stream."""
        with self._one_at_a_time:
            streams = tuple(self._streams)
        for stream in streams:
            stream.close()

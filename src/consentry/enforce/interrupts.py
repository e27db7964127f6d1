"""Puts Ctrl-C off while something is taken or given back, and lets it through while one waits.

    with Uninterrupted() as interrupts:
        opened = os.open(...)
        try:
            with interrupts.let_through():
                wait_for_long()
        finally:
            os.close(opened)

Python raises `KeyboardInterrupt` between any two steps of the main thread, also between the one that
opens a descriptor and the one that writes its number down. An interrupt that was put off arrives when
the block, or the next wait, is reached. In other threads none ever arrives, and nothing is done.

Handlers are changed many times in a run, so without the names that `signal` puts on numbers.
"""

from _signal import SIGINT, getsignal, signal  # type: ignore[import-not-found]
from threading import current_thread, main_thread
from types import FrameType
from typing import Any, Self, TypeAlias

_Handler: TypeAlias = Any
"""What the standard library takes for a handler: a callable, a number, or None."""


class Uninterrupted:
    """One block; inside of another it is a part of that."""

    __slots__ = ("_came", "_usual")

    def __init__(self) -> None:
        self._usual: _Handler = None
        self._came: tuple[int, FrameType | None] | None = None

    def __enter__(self) -> "Uninterrupted":  # noqa: PYI034 - the one around it, if there is one
        if current_thread() is not main_thread():
            return self
        usual = getsignal(SIGINT)
        around = getattr(usual, "__self__", None)
        if isinstance(around, Uninterrupted):
            return around
        if callable(usual):
            self._put_off(usual)
        return self

    def __exit__(self, *_: object) -> None:
        self._arrive()

    def let_through(self) -> "_LetThrough":
        """A wait that may be interrupted."""
        return _LetThrough(self)

    def _put_off(self, usual: _Handler) -> None:
        self._usual = usual
        signal(SIGINT, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._came = (number, frame)

    def _arrive(self) -> _Handler:
        """The usual handler is back, and hears of what came meanwhile."""
        usual = self._usual
        if usual is None:
            return None
        signal(SIGINT, usual)
        self._usual = None
        if self._came is not None:
            came, self._came = self._came, None
            usual(*came)
        return usual


class _LetThrough:
    __slots__ = ("_around", "_is_open")

    def __init__(self, around: Uninterrupted) -> None:
        self._around = around
        self._is_open = False

    def __enter__(self) -> Self:
        around = self._around
        self._is_open = around._usual is not None  # noqa: SLF001 - the two are one
        try:
            around._arrive()  # noqa: SLF001 - as above
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_open:
            # Whoever has changed it meanwhile is heard from now on.
            self._around._put_off(getsignal(SIGINT))  # noqa: SLF001 - as above

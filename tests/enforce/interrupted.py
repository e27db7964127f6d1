"""Ctrl-C at every line: finds the lines of a call, and interrupts the call at each of them once.

An interrupt comes as a real signal, so it meets whatever handler there is at that moment; one that is
put off by the code under test arrives later, at a line where it does no harm.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

Line = tuple[str, int]


class Interrupts:
    """The lines of some files that a call runs through in this thread."""

    def __init__(self, files: Iterable[str | None]) -> None:
        self._files = frozenset(files)

    def lines_of(self, call: Callable[[], object]) -> list[Line]:
        """Every line once, in the order in which they are reached."""
        found: dict[Line, None] = {}

        def note(frame: FrameType, event: str) -> None:
            if event == "line":
                found[frame.f_code.co_filename, frame.f_lineno] = None

        self._traced(call, note)
        return list(found)

    def at(self, line: Line, call: Callable[[], object]) -> bool:
        """Whether the call was interrupted when it had reached the line."""
        is_sent = False

        def send(frame: FrameType, event: str) -> None:
            nonlocal is_sent
            here = (frame.f_code.co_filename, frame.f_lineno)
            if not is_sent and event == "line" and here == line:
                is_sent = True
                signal.raise_signal(signal.SIGINT)

        try:
            self._traced(call, send)
        except KeyboardInterrupt:
            return True
        return False

    def _traced(self, call: Callable[[], object], does: Callable[[FrameType, str], None]) -> None:
        def trace(frame: FrameType, event: str, _: Any) -> Any:
            if frame.f_code.co_filename not in self._files:
                return None
            does(frame, event)
            return trace

        before = sys.gettrace()
        sys.settrace(trace)
        try:
            call()
        finally:
            sys.settrace(before)


def open_descriptors() -> list[str]:
    """What is open here, without what changes from one look to the next."""
    found = []
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208 - by number
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}").partition("[")[0])  # noqa: PTH115
        except FileNotFoundError:
            continue  # the listing itself
    return sorted(found)

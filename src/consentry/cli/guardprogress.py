"""One line on the terminal while many files are read: how many are done, and of how many.

It stands on standard error, only where that is a terminal, and only after a moment: a change that is
read at once shows nothing. It is taken away before the answer is written.
"""

import os
import time
from typing import Final

from consentry.cli.table import PROGRAM

_STANDARD_ERROR: Final = 2
_PATIENCE: Final = 0.4
_EVERY: Final = 0.1


class ReadingLine:
    """The line; it is called with how many files are done, and of how many."""

    def __init__(self, descriptor: int = _STANDARD_ERROR) -> None:
        self._descriptor = descriptor
        self._next = time.monotonic() + _PATIENCE
        self._drawn = 0

    def __call__(self, done: int, total: int) -> None:
        """Draws the line, if it is time to."""
        now = time.monotonic()
        if now < self._next:
            return
        self._next = now + _EVERY
        text = f"{PROGRAM}: {done} of {total} files read"
        if len(text) < self._width():
            self._write(f"\r{text}{' ' * (self._drawn - len(text))}")
            self._drawn = len(text)

    def close(self) -> None:
        """Takes the line away."""
        if self._drawn:
            self._write(f"\r{' ' * self._drawn}\r")
            self._drawn = 0

    def _width(self) -> int:
        try:
            return os.get_terminal_size(self._descriptor).columns
        except OSError:
            return 0

    def _write(self, text: str) -> None:
        try:
            os.write(self._descriptor, text.encode("ascii"))
        except OSError:
            self._next = float("inf")  # nobody sees it any more

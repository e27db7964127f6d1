"""One line on the terminal while a tool runs: how long it has been, and how long it usually takes.

The terminal belongs to the program. The line is drawn only where the program has been silent for a
moment and has ended its last line, and it is taken away before the program's next output; a program
that sends escapes draws for itself, and from then on there is no line. It stands on standard error,
and only where output passes through us: a program whose standard output is a file writes to the
terminal itself, and is not disturbed.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Final

from consentry.base.safetext import safe_line
from consentry.base.units import Duration
from consentry.cli.estimatetext import clock_text, estimate_in_words
from consentry.cli.layout import columns_of
from consentry.cli.output import encoded
from consentry.cli.table import PROGRAM
from consentry.decide.previewparts import Estimate
from consentry.enforce.engines.native import Io
from consentry.enforce.streams import Curtain

Now = Callable[[], float]

_EVERY: Final = 1.0
_SILENT_FOR: Final = 1.0
_STANDARD_ERROR: Final = 2
_LONGEST_NAME: Final = 32
_ESCAPE: Final = b"\x1b"


def progress_text(tool: str, spent: Duration, estimate: Estimate | None) -> str:
    """`consentry: lint-latex runs, 0:07 (usually 30-60 seconds)`."""
    name = safe_line(tool, limit=_LONGEST_NAME)
    said = f"{PROGRAM}: {name} runs, {clock_text(spent)}"
    if estimate is None:
        return said
    usual = estimate_in_words(estimate)
    if spent > estimate.p90:
        return f"{said}, longer than usual ({usual})"
    return f"{said} (usually {usual})"


class ProgressLine:
    """The line, drawn again every second by a thread of its own until it is closed."""

    def __init__(
        self,
        tool: str,
        estimate: Estimate | None,
        descriptor: int,
        now: Now = time.monotonic,
        curtain: Curtain | None = None,
    ) -> None:
        """Behind the `curtain`, if there is one, a person is asked: nothing is drawn there then."""
        self._curtain = curtain
        self._tool = tool
        self._estimate = estimate
        self._descriptor = descriptor
        self._now = now
        self._begun = self._heard_at = now()
        self._drawn = 0
        self._is_free = True
        self._is_theirs = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._keep_drawing, daemon=True)

    def start(self) -> None:
        """Begins to draw."""
        self._thread.start()

    def close(self) -> None:
        """Takes the line away for good."""
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()
        with self._lock:
            self._erase()

    def hear(self, part: bytes) -> None:
        """What the program is about to show; the line makes room for it."""
        with self._lock:
            self._erase()
            self._heard_at = self._now()
            if part:
                self._is_free = part.endswith(b"\n")
                self._is_theirs = self._is_theirs or _ESCAPE in part

    def draw(self) -> None:
        """Draws the line, where it disturbs nobody."""
        with self._lock:
            is_silent = self._now() - self._heard_at >= _SILENT_FOR
            is_shut = self._curtain is not None and self._curtain.is_shut
            if self._is_theirs or not self._is_free or not is_silent or self._over.is_set():
                return
            if is_shut:
                return
            spent = Duration(int((self._now() - self._begun) * 1000))
            text = progress_text(self._tool, spent, self._estimate)
            if columns_of(text) < self._width():
                self._erase()
                self._write(f"\r{text}")
                self._drawn = columns_of(text)

    def _keep_drawing(self) -> None:
        while not self._over.wait(_EVERY):
            self.draw()

    def _erase(self) -> None:
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
            os.write(self._descriptor, encoded(text, "utf-8"))
        except OSError:
            self._is_theirs = True  # nobody sees it any more


OpenIo = Callable[[], AbstractContextManager[Io]]
EstimateOf = Callable[[], Estimate | None]


@contextmanager
def streams_with_progress(open_io: OpenIo, tool: str, estimate_of: EstimateOf) -> Iterator[Io]:
    """The same streams, with the line where standard error and output are a terminal."""
    with open_io() as io:
        if io.terminal is None or not os.isatty(_STANDARD_ERROR):
            yield io
            return
        line = ProgressLine(tool, estimate_of(), _STANDARD_ERROR, curtain=io.curtain)
        io.terminal.before = line.hear
        line.start()
        try:
            yield io
        finally:
            line.close()

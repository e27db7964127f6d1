"""How a program's input and output reach it: as they are, captured, or through a terminal of its own.

Output that is captured or capped passes through pipes, so that a program that prints without end
meets its limit. A program that prints to a terminal gets one of its own, whose bytes are passed on, so
that it can neither type for the user nor change the user's settings. Where only other streams are a
terminal they are the program's as they are: it cannot type there (the kernel's call for that is closed in
the box), and whoever started it puts the settings back.

A run whose questions are put to a person while it goes on has a curtain before that terminal.
"""

import errno
import fcntl
import os
import pty
import select
import struct
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Condition
from typing import Final

from consentry.base.values import dataclass, field

_PART: Final = 1 << 16
_WINDOW_SIZE: Final = struct.Struct("HHHH")
_END_OF_INPUT: Final = b"\x04"
_GONE: Final = (errno.EPIPE, errno.EIO, errno.ECONNRESET)


MOST_KEPT: Final = 16 << 20


@dataclass(slots=True)
class Pipe:
    """One end in the box, one here; what comes is kept, passed on, or both.

    Of what is kept, the first `MOST_KEPT` bytes are.
    """

    passes_to: int | None
    keeps: bool
    reader: int = -1
    writer: int = -1
    kept: bytearray = field(default_factory=bytearray)
    hears: Callable[[bytes], None] | None = None

    def __post_init__(self) -> None:
        self.reader, self.writer = os.pipe()

    def take(self, room: int = sys.maxsize) -> int:
        """Reads what is there; returns how much, and 0 at the end or when nobody wants it.

        What is beyond `room` is counted and goes nowhere.
        """
        part = os.read(self.reader, _PART)
        taken = part[:room]
        if self.keeps:
            self.kept += taken[: max(0, MOST_KEPT - len(self.kept))]
        if self.hears is not None:
            self.hears(taken)
        if self.passes_to is not None and not write_all(self.passes_to, taken):
            return 0
        return len(part)

    def close_reader(self) -> None:
        """Whoever still writes is told that nobody reads."""
        os.close(self.reader)
        self.reader = -1

    def close(self) -> None:
        """Lets go of what is still open."""
        for end in (self.reader, self.writer):
            if end >= 0:
                os.close(end)
        self.reader = self.writer = -1


def write_all(descriptor: int, content: bytes) -> bool:
    """Writes everything, however slow the reader is; false when there is no reader any more."""
    while content:
        try:
            content = content[os.write(descriptor, content) :]
        except BlockingIOError:
            select.select((), (descriptor,), ())
        except OSError as problem:
            if problem.errno not in _GONE:
                raise
            return False
    return True


@dataclass(slots=True)
class Terminal:
    """A terminal for the box, and the user's own that stands behind it.

    What the program prints goes to `outside`, whose size it has. `typed` is where keys come from,
    and None where the user's keys are not the program's. `before` is told what is about to be shown.
    """

    outside: int
    typed: int | None = None
    ours: int = -1
    its: int = -1
    hears: Callable[[bytes], None] | None = None
    before: Callable[[bytes], None] | None = None

    def __post_init__(self) -> None:
        self.ours, self.its = pty.openpty()
        self.fit()

    def fit(self) -> None:
        """Gives it the size of the user's window."""
        size = fcntl.ioctl(self.outside, termios.TIOCGWINSZ, bytes(_WINDOW_SIZE.size))
        fcntl.ioctl(self.ours, termios.TIOCSWINSZ, size)

    def take_output(self, room: int = sys.maxsize) -> int:
        """Passes on what the program printed, within `room`; 0 when all of its side is closed."""
        try:
            part = os.read(self.ours, _PART)
        except OSError:
            return 0
        if self.hears is not None:
            self.hears(part[:room])
        if self.before is not None:
            self.before(part[:room])
        write_all(self.outside, part[:room])
        return len(part)

    def take_input(self, source: int) -> int:
        """Passes on what the user typed; at the end of it, the program is told so."""
        try:
            part = os.read(source, _PART)
        except OSError:
            part = b""
        write_all(self.ours, part or _END_OF_INPUT)
        return len(part)

    def close(self) -> None:
        """Lets go of both ends."""
        for end in (self.ours, self.its):
            if end >= 0:
                os.close(end)
        self.ours = self.its = -1


class Curtain:
    """Between a program and a terminal on which a person is asked meanwhile; threads share it.

    While it is shut nothing of the program is shown there and no key reaches it. What it prints then
    stays in its pipe, which fills; nothing is lost. Whoever asks shuts and opens it, whoever stays with
    the run obeys.
    """

    def __init__(self) -> None:
        self._bell = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._change = Condition()
        self._is_wanted = False
        self._is_shut = False
        self._is_over = False
        self._interrupts = 0

    def fileno(self) -> int:
        """What becomes readable when it is to be shut or opened."""
        return self._bell

    @property
    def is_shut(self) -> bool:
        """Whether the person is being asked."""
        return self._is_shut

    @property
    def is_over(self) -> bool:
        """Whether the program has ended, and nothing that it asked for matters any more."""
        return self._is_over

    def shut(self, seconds: float) -> bool:
        """Waits so long for the terminal to be free; false where it is not, which may change yet."""
        with self._change:
            self._is_wanted = True
            self._ring()
            return self._change.wait_for(lambda: self._is_shut or self._is_over, seconds)

    def open(self) -> None:
        """The terminal is the program's again."""
        with self._change:
            self._is_wanted = self._is_shut = False
            self._interrupts = 0
            self._ring()

    def interrupt(self) -> bool:
        """An interrupt from the keyboard: true where it was meant for whoever asks."""
        is_meant = self._is_shut
        self._interrupts += is_meant
        return is_meant

    @property
    def is_interrupted(self) -> bool:
        """Whether the person turned away from the question that is on the terminal."""
        return self._interrupts > 0

    def wanted(self) -> bool:
        """For whoever obeys: takes the bell, and says whether it is to be shut now."""
        with suppress(BlockingIOError):
            os.eventfd_read(self._bell)
        return self._is_wanted

    def obeyed(self, *, is_shut: bool) -> None:
        """For whoever obeys: it is done."""
        with self._change:
            self._is_shut = is_shut
            self._change.notify_all()

    def end(self) -> None:
        """For whoever obeys: the program is over, and so is every question of it."""
        with self._change:
            self._is_over = True
            self._change.notify_all()

    def close(self) -> None:
        """Lets go of the bell; to be called when nobody asks any more."""
        with self._change:
            self._is_over = True
            bell, self._bell = self._bell, -1
            self._change.notify_all()
        os.close(bell)

    def _ring(self) -> None:
        if self._bell >= 0:
            os.eventfd_write(self._bell, 1)


@contextmanager
def typed_through(terminal: int) -> Iterator[None]:
    """The user's terminal hands every key on, and is as it was afterwards."""
    before = termios.tcgetattr(terminal)
    tty.setraw(terminal)
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)

"""The person's own terminal: what a question is drawn on, and the only place an answer is read from.

It is opened by its name, `/dev/tty`, whatever standard input and output are: what a pipe says is no
answer. Answers are whole lines, edited by the terminal itself, so that a stray key answers nothing.
What was typed before a question was drawn is thrown away, and where a question comes up while the person
may be typing to a program, so is what follows until nobody types for a moment. While a line is awaited the
store is looked at, so that an answer from elsewhere ends the wait.

    Cancelled        Ctrl-C, or the end of input (Ctrl-D): the person turned away
    TerminalGone     the terminal was closed or taken away: there is no person any more
    EndedMeanwhile   somebody else answered, or it does not matter any more

A process that runs as the same user can still type here where the kernel lets it; see SECURITY.md.
"""

import os
import select
import termios
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, TypeAlias

from consentry.cli.output import encoded

DEVICE: Final = "/dev/tty"
MARK: Final = "> "
QUIET_SECONDS: Final = 0.8
"""So long nobody types before a question that came up by itself can be answered: nobody reads faster."""

_EVERY_MS: Final = 150
_AT_ONCE: Final = 4096
_LONGEST: Final = 64 << 10
_USUAL_SIZE: Final = os.terminal_size((80, 24))
_INPUT, _OUTPUT, _LOCAL, _KEYS = 0, 1, 3, 6

# What a program may have left behind: an escape that was never ended, the other screen, a region that
# scrolls, letters that are hidden or drawn as others, a mouse that types, colours that hide.
_UNFINISHED: Final = "\x18\x1b\\"
_OTHER_SCREEN: Final = "\x1b[?47l"
_STYLE: Final = "\x1b[!p\x1b[0m\x1b(B\x0f\x1b[?25h\x1b[4l\x1b[?5l\x1b[?7h"
_REGION: Final = "\x1b7\x1b[r\x1b8"  # setting it moves the cursor
_REPORTS: Final = "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1006l\x1b[?2004l"
_COLOURS: Final = "\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\"
_SETTLED: Final = _UNFINISHED + _OTHER_SCREEN + _STYLE + _REGION + _REPORTS
_WITHOUT_ESCAPES: Final = ("", "dumb")
_WITHOUT_STRINGS: Final = ("linux",)

IsOver: TypeAlias = Callable[[], bool]


class Cancelled(Exception):
    """The person turned away from the question."""


class TerminalGone(Exception):
    """There is no terminal any more."""


class EndedMeanwhile(Exception):
    """The question ended while it was being asked here."""


class Terminal:
    """One opened terminal, in the mode that reads whole lines."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._rest = b""

    @property
    def size(self) -> os.terminal_size:
        """Columns and lines; what is unknown is taken as usual."""
        try:
            found = os.get_terminal_size(self._descriptor)
        except OSError:
            return _USUAL_SIZE
        return os.terminal_size(
            (found.columns or _USUAL_SIZE.columns, found.lines or _USUAL_SIZE.lines)
        )

    def ask(self, question: str, is_over: IsOver) -> str:
        """The line that is typed behind the mark; the mark comes when all before it was drawn."""
        if question:
            self.write(f"{question}\n")
        self.forget_typed()
        self.write(MARK)
        return self.line(is_over)

    def write(self, text: str) -> None:
        """Shows text that is safe already."""
        rest = encoded(text, "utf-8")
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            raise TerminalGone from None

    def settle(self, kind: str) -> None:
        """Shows from here on what is written, whatever was on the screen before; `kind` is TERM's.

        What can be read above stays: a program may have drawn a question of its own there, but what is
        typed to answer this one comes after this one was drawn.
        """
        if kind not in _WITHOUT_ESCAPES:
            self.write(_SETTLED + ("" if kind in _WITHOUT_STRINGS else _COLOURS))

    def forget_typed(self) -> None:
        """What was typed so far is no answer to what comes next."""
        self._rest = b""
        with suppress(termios.error):
            termios.tcdrain(self._descriptor)
            termios.tcflush(self._descriptor, termios.TCIFLUSH)

    def await_quiet(self, is_over: IsOver) -> None:
        """Until nobody types: the rest of a word that was meant for a program is no answer.

        A program chooses the moment at which it is asked about, and hears every key before.
        """
        until = time.monotonic() + QUIET_SECONDS
        with _mode(self._descriptor, echoes=False, whole_lines=False):
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            while (left := until - time.monotonic()) > 0:
                if not poll.poll(min(_EVERY_MS, 1000 * left)):
                    if is_over():
                        raise EndedMeanwhile
                elif not self._dropped():
                    return  # whoever reads the answer will find the same
                else:
                    until = time.monotonic() + QUIET_SECONDS

    def _dropped(self) -> bool:
        """Whether there was something, and the terminal is still there."""
        try:
            return bool(os.read(self._descriptor, _AT_ONCE))
        except OSError:
            return False

    def line(self, is_over: IsOver) -> str:
        """The next line that is typed; `is_over` is asked time and again while nothing is."""
        while b"\n" not in self._rest and len(self._rest) < _LONGEST:
            self._rest += self._read(is_over)
        line, _, self._rest = self._rest.partition(b"\n")
        return line.decode("utf-8", "replace").rstrip("\r")

    def _read(self, is_over: IsOver) -> bytes:
        poll = select.poll()
        poll.register(self._descriptor, select.POLLIN)
        while not (events := poll.poll(_EVERY_MS)):
            if is_over():
                raise EndedMeanwhile
        is_closed = any(event & (select.POLLHUP | select.POLLNVAL) for _, event in events)
        try:
            typed = os.read(self._descriptor, _AT_ONCE)
        except OSError:
            raise TerminalGone from None
        if typed:
            return typed
        raise TerminalGone if is_closed or _is_hung_up(poll) else Cancelled

    @contextmanager
    def unseen(self) -> Iterator[None]:
        """What is typed inside is not shown."""
        with _mode(self._descriptor, echoes=False):
            yield


@contextmanager
def open_terminal() -> Iterator[Terminal | None]:
    """The terminal of this process, or None where nobody could be asked there; an interrupt cancels."""
    descriptor = _opened()
    if descriptor is None:
        yield None
        return
    terminal = Terminal(descriptor)
    try:
        with _mode(descriptor, echoes=True):
            yield terminal
    except (Cancelled, KeyboardInterrupt):
        with suppress(TerminalGone):  # what is said next begins a line of its own
            terminal.write("\n")
        raise Cancelled from None
    finally:
        with suppress(OSError):
            os.close(descriptor)


def has_terminal() -> bool:
    """Whether a person could be asked here; in the background the terminal is another's to type on."""
    descriptor = _opened()
    if descriptor is not None:
        os.close(descriptor)
    return descriptor is not None


def _opened() -> int | None:
    try:
        descriptor = os.open(DEVICE, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None
    if _is_in_front(descriptor):
        return descriptor
    os.close(descriptor)
    return None


def _is_in_front(descriptor: int) -> bool:
    """Whether it is ours to type on; in the background we would be stopped for trying."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False


@contextmanager
def _mode(descriptor: int, *, echoes: bool, whole_lines: bool = True) -> Iterator[None]:
    """Whole lines or every key, with those that interrupt; afterwards as it was before."""
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        yield
        return
    wanted = [*before]
    wanted[_INPUT] |= termios.ICRNL
    wanted[_OUTPUT] |= termios.OPOST | termios.ONLCR
    wanted[_LOCAL] |= termios.ICANON | termios.ISIG | termios.ECHOE | termios.ECHOK
    shown = termios.ECHO
    wanted[_LOCAL] = wanted[_LOCAL] | shown if echoes else wanted[_LOCAL] & ~shown
    if not whole_lines:
        wanted[_LOCAL] &= ~termios.ICANON
        wanted[_KEYS] = [*before[_KEYS]]
        wanted[_KEYS][termios.VMIN], wanted[_KEYS][termios.VTIME] = 1, 0
    try:
        _set(descriptor, wanted)
        yield
    finally:
        _set(descriptor, before)


def _set(descriptor: int, mode: list[object]) -> None:
    with suppress(termios.error):
        termios.tcsetattr(descriptor, termios.TCSADRAIN, mode)  # type: ignore[arg-type]


def _is_hung_up(poll: "select.poll") -> bool:
    return any(event & select.POLLHUP for _, event in poll.poll(0))

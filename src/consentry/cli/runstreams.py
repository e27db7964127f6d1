"""What stands between a person and a confined program: streams, a terminal, and signals.

A program that talks to a person gets a terminal of its own, and every key is handed on. Signals that
reach this process are passed to the program, which decides what to make of them, as it would alone.

A run that holds what it is refused is asked about on the same terminal: then whatever the program has
of a terminal passes through us, so that it can neither read the answer nor draw over the question.
"""

import os
import signal
import termios
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from types import FrameType
from typing import Any

from consentry.cli.terminal import DEVICE
from consentry.enforce.engines.native import Io
from consentry.enforce.streams import Curtain, Terminal, typed_through

_PASSED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


@contextmanager
def streams(*, captured: bool, capped: bool, holds: bool = False) -> Iterator[Io]:
    """The streams of this process as a run gets them; afterwards everything is as it was.

    With `holds` there is a curtain before the terminal, to ask behind.
    """
    with ExitStack() as held:
        held.enter_context(_settings_kept())
        if captured:
            io = Io(stdin=None if os.isatty(0) else 0, keeps=True)
        elif os.isatty(1):
            io = _on_terminal(held)
        elif holds:
            io = _apart_from_terminal(held)
        else:
            io = _as_they_are(capped=capped)
        if holds:
            io.curtain = _curtain(held)
        held.enter_context(_passing_signals(io))
        yield io


@contextmanager
def streams_of_code(*, captured: bool, holds: bool = False) -> Iterator[Io]:
    """What a snippet prints goes to standard error: standard output is for its result."""
    said_to = 2 if not captured and _can_be_written(2) else None
    with ExitStack() as held:
        io = Io(stdout=said_to, stderr=said_to, keeps=captured, capped=holds)
        if holds:
            io.curtain = _curtain(held)
        held.enter_context(_passing_signals(io))
        yield io


def _curtain(held: ExitStack) -> Curtain:
    curtain = Curtain()
    held.callback(curtain.close)
    return curtain


def _can_be_written(descriptor: int) -> bool:
    try:
        os.write(descriptor, b"")
    except OSError:
        return False
    return True


def _on_terminal(held: ExitStack) -> Io:
    is_typed = os.isatty(0) and _is_in_front()
    terminal = Terminal(outside=1, typed=0 if is_typed else None)
    held.callback(terminal.close)
    if is_typed:
        held.enter_context(typed_through(0))
    stdin = None if os.isatty(0) else 0
    return Io(stdin=stdin, stderr=None if os.isatty(2) else 2, terminal=terminal)


def _apart_from_terminal(held: ExitStack) -> Io:
    """Output that leads elsewhere passes through us as well, and keys through a terminal of its own."""
    tty = _own_terminal() if os.isatty(0) and _is_in_front() else None
    if tty is None:
        return _as_they_are(capped=True)
    held.callback(os.close, tty)
    terminal = Terminal(outside=tty, typed=0)
    held.callback(terminal.close)
    held.enter_context(typed_through(0))
    return Io(stdout=1, stderr=None if os.isatty(2) else 2, capped=True, terminal=terminal)


def _as_they_are(*, capped: bool) -> Io:
    """But for a terminal on which another types.

    The program is in a session of its own: it would not be stopped for reading there, as jobs in the
    background are.
    """
    stdin = None if _is_behind(0) else 0
    return Io(stdin=stdin, stdout=1, stderr=2, capped=capped or _is_behind(2))


def _own_terminal() -> int | None:
    try:
        return os.open(DEVICE, os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return None


@contextmanager
def _settings_kept() -> Iterator[None]:
    """The user's terminal has its settings again afterwards.

    Where standard output leads elsewhere a program has the other streams as they are, and may change
    the settings of a terminal there: leave it raw, or without an echo.
    """
    shared = next((each for each in (0, 1, 2) if os.isatty(each)), None)
    before = None if shared is None else _settings(shared)
    try:
        yield
    finally:
        if shared is not None and before is not None and _settings(shared) != before:
            with suppress(termios.error):
                if _is_in_front(shared):
                    termios.tcsetattr(shared, termios.TCSADRAIN, before)


def _settings(terminal: int) -> list[Any] | None:
    try:
        return termios.tcgetattr(terminal)
    except termios.error:
        return None


def _is_in_front(terminal: int = 0) -> bool:
    """Whether the terminal is ours to type on; in the background it would stop us for trying."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False


def _is_behind(descriptor: int) -> bool:
    """Whether it is our terminal, and another's to type on now."""
    try:
        return os.isatty(descriptor) and os.tcgetpgrp(descriptor) != os.getpgrp()
    except OSError:
        return False


@contextmanager
def _passing_signals(io: Io) -> Iterator[None]:
    def handle(number: int, _frame: FrameType | None) -> None:
        if number == signal.SIGINT and io.curtain is not None and io.curtain.interrupt():
            return  # it was for the question on the terminal
        if io.supervisor is not None:
            io.supervisor.pass_signal(number)
        elif number == signal.SIGINT:
            raise KeyboardInterrupt
        else:
            raise SystemExit(128 + number)

    def fit(number: int, _frame: FrameType | None) -> None:
        if io.supervisor is not None:
            io.supervisor.pass_signal(number)

    before: dict[signal.Signals, Any] = {}
    try:
        for number in _PASSED:
            # What whoever started us told us to ignore, as `nohup` does, stays ignored.
            if signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handle)
        if io.terminal is not None:
            before[signal.SIGWINCH] = signal.signal(signal.SIGWINCH, fit)
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)

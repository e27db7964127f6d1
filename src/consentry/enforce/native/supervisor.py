"""Stays with a run until it is over: passes its output on, holds it to its time, hears its news.

One loop, one thread. What is watched here (time, output) ends the whole box, and how it ended is
told apart from what the program itself did.
"""

import os
import select
import selectors
import signal
import sys
import time
from collections.abc import Callable
from typing import Final

from consentry.base.values import dataclass, field
from consentry.enforce.interrupts import Uninterrupted
from consentry.enforce.running import Ended, RunningBox
from consentry.enforce.streams import Curtain, Pipe, Terminal

_GRACE: Final = 2.0
_MOST_WAIT: Final = 1.0
_ENDING_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


@dataclass(slots=True)
class Bounds:
    """What ends a run from outside; None is no bound."""

    wall_seconds: float | None = None
    output_bytes: int | None = None
    sample: Callable[[], str | None] | None = None
    pause: Callable[[], float] = lambda: 0.02


@dataclass(slots=True)
class Supervised:
    """How a run went, as seen from here."""

    ended: Ended
    timed_out: bool = False
    limit: str | None = None
    output_bytes: int = 0
    was_told_to_end: bool = False


@dataclass(slots=True)
class Supervisor:
    """One run and its streams."""

    running: RunningBox
    bounds: Bounds
    pipes: tuple[Pipe, ...] = ()
    terminal: Terminal | None = None
    ends: Callable[[], bool] | None = None
    curtain: Curtain | None = None
    _behind: dict[int, Callable[[], None]] = field(default_factory=dict)
    _is_shut: bool = False
    _selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    _printed: int = 0
    _timed_out: bool = False
    _limit: str | None = None
    _ending_since: float | None = None
    _is_over: bool = False
    _was_told_to_end: bool = False
    _has_let_go: bool = False

    def stay(self) -> Supervised:
        """Returns when the box and everything in it is gone."""
        with Uninterrupted() as interrupts:
            try:
                self._register()
                with interrupts.let_through():
                    self._stay()
            except BaseException:
                # Nobody would look after it any more.
                with interrupts.let_through():
                    self._end_at_once()
                raise
            else:
                return Supervised(
                    self.running.ended(),
                    self._timed_out,
                    self._limit,
                    self._printed,
                    self._was_told_to_end,
                )
            finally:
                self._let_go()

    def give_up(self) -> None:
        """Of a box that nobody stays with; returns when it is gone."""
        if self._has_let_go:
            return
        with Uninterrupted() as interrupts:
            try:
                with interrupts.let_through():
                    self._end_at_once()
            finally:
                self._let_go()

    def _end_at_once(self) -> None:
        news = select.poll()
        news.register(self.running, select.POLLIN)
        while not self._is_over:
            self.running.kill()
            news.poll()
            with Uninterrupted():
                self._is_over = not self.running.hear()

    def _let_go(self) -> None:
        self._has_let_go = True
        self._selector.close()
        self.running.close()
        for pipe in self.pipes:
            pipe.close()
        if self.terminal is not None:
            self.terminal.close()
        if self.curtain is not None:
            self.curtain.end()

    def _stay(self) -> None:
        deadline = None
        if self.bounds.wall_seconds is not None:
            deadline = time.monotonic() + self.bounds.wall_seconds
        while not self._is_over or self._has_output() or self._behind:
            for key, _ in self._selector.select(self._patience(deadline)):
                # The curtain may have come down since it was heard of.
                if key.fd not in self._behind:
                    key.data()
            self._hold(deadline)

    def _register(self) -> None:
        self._selector.register(self.running, selectors.EVENT_READ, self._hear)
        if self.curtain is not None:
            self._selector.register(self.curtain, selectors.EVENT_READ, self._draw)
        for pipe in self.pipes:
            os.close(pipe.writer)
            pipe.writer = -1
            self._selector.register(pipe.reader, selectors.EVENT_READ, lambda p=pipe: self._pass(p))
        if self.terminal is not None:
            os.close(self.terminal.its)
            self.terminal.its = -1
            self._selector.register(self.terminal.ours, selectors.EVENT_READ, self._show)
            if self.terminal.typed is not None:
                self._selector.register(self.terminal.typed, selectors.EVENT_READ, self._type)

    def _has_output(self) -> bool:
        """Whether something may still be held; once the box is over, nobody writes any more."""
        watched = self._selector.get_map()
        return any(pipe.reader >= 0 and pipe.reader in watched for pipe in self.pipes) or (
            self.terminal is not None and self.terminal.ours in watched
        )

    def _patience(self, deadline: float | None) -> float:
        waits = [_MOST_WAIT]
        if self._ending_since is not None:
            waits.append(_GRACE / 4)
        elif deadline is not None:
            waits.append(max(0.0, deadline - time.monotonic()))
        if self.bounds.sample is not None and self._ending_since is None:
            waits.append(self.bounds.pause())
        return min(waits)

    def _hear(self) -> None:
        with Uninterrupted():  # descriptors may come with it
            if not self.running.hear():
                self._selector.unregister(self.running)
                self._is_over = True
        if self._is_over and self.curtain is not None:
            self.curtain.end()

    def _draw(self) -> None:
        """Leaves the terminal to whoever asks there, or takes it back."""
        curtain = self.curtain
        if curtain is None:
            return
        is_wanted = curtain.wanted()
        if is_wanted and not self._is_shut:
            watched = self._selector.get_map()
            for each in [each for each in self._on_terminal() if each in watched]:
                self._behind[each] = watched[each].data
                self._selector.unregister(each)
        elif not is_wanted:
            for each, callback in self._behind.items():
                self._selector.register(each, selectors.EVENT_READ, callback)
            self._behind.clear()
        self._is_shut = is_wanted
        curtain.obeyed(is_shut=is_wanted)

    def _on_terminal(self) -> list[int]:
        """What is shown to the person, or typed by them; other output goes on."""
        found = [
            pipe.reader
            for pipe in self.pipes
            if pipe.reader >= 0 and pipe.passes_to is not None and os.isatty(pipe.passes_to)
        ]
        if self.terminal is not None:
            found.append(self.terminal.ours)
            if self.terminal.typed is not None:
                found.append(self.terminal.typed)
        return found

    def _pass(self, pipe: Pipe) -> None:
        count = pipe.take(self._room)
        self._printed += count
        if count == 0:
            with Uninterrupted():
                self._selector.unregister(pipe.reader)
                pipe.close_reader()
        self._hold_output()

    def _show(self) -> None:
        terminal = self.terminal
        if terminal is not None:
            count = terminal.take_output(self._room)
            self._printed += count
            if count == 0:
                self._selector.unregister(terminal.ours)
            self._hold_output()

    def _type(self) -> None:
        terminal = self.terminal
        if terminal is None or terminal.typed is None:
            return
        if terminal.take_input(terminal.typed) == 0:
            self._selector.unregister(terminal.typed)

    @property
    def _room(self) -> int:
        """How much may still be printed."""
        most = self.bounds.output_bytes
        return sys.maxsize if most is None else max(0, most - self._printed)

    def _hold_output(self) -> None:
        most = self.bounds.output_bytes
        if most is not None and self._printed > most:
            self._end("output")

    def _hold(self, deadline: float | None) -> None:
        if self._is_over:
            return
        now = time.monotonic()
        if self._ending_since is not None:
            if now - self._ending_since > _GRACE:
                self.running.kill()
            return
        if deadline is not None and now >= deadline:
            self._timed_out = True
            self._end(None)
        elif self.ends is not None and self.ends():
            self._was_told_to_end = True
            self._end(None)
        elif self.bounds.sample is not None:
            with Uninterrupted():
                exceeded = self.bounds.sample()
            if exceeded is not None:
                self._end(exceeded)

    def _end(self, limit: str | None) -> None:
        if self._ending_since is None:
            self._limit = limit
            self._ending_since = time.monotonic()
            self.running.end_now()

    def pass_signal(self, number: int) -> None:
        """From the caller's own signal handler to the program."""
        if number == signal.SIGWINCH and self.terminal is not None:
            # The program's terminal tells it of the new size by itself.
            self.terminal.fit()
            return
        self._was_told_to_end = self._was_told_to_end or number in _ENDING_SIGNALS
        self.running.pass_signal(number)

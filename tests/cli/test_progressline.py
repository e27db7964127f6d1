"""The line that is shown while a tool runs: where it disturbs nobody, and gone before anything else."""

import fcntl
import os
import pty
import select
import struct
import termios
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass

import pytest

from consentry.base.units import Duration
from consentry.cli import progressline
from consentry.cli.progressline import ProgressLine, progress_text, streams_with_progress
from consentry.decide.previewparts import Estimate
from consentry.enforce.engines.native import Io
from consentry.enforce.streams import Terminal

ESTIMATE = Estimate(Duration(30_000), Duration(60_000), 20)
LINE = "consentry: lint runs, 0:07 (usually 30-60 seconds)"


@dataclass
class Clock:
    """A clock that the test moves."""

    at: float = 0.0

    def __call__(self) -> float:
        """The time."""
        return self.at


@dataclass
class Screen:
    """Both ends of a terminal of 80 columns."""

    ours: int
    its: int

    def shown(self) -> str:
        """What came since the last look; a terminal hands it on a little later, and in parts."""
        came, until = b"", time.monotonic() + 1
        while time.monotonic() < until and select.select([self.ours], [], [], 0.1)[0]:
            came += os.read(self.ours, 65536)
        return came.decode()


@pytest.fixture
def screen() -> Iterator[Screen]:
    """A terminal that nobody else looks at."""
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    yield Screen(ours, its)
    os.close(ours)
    os.close(its)


@pytest.fixture
def clock() -> Clock:
    """At its beginning."""
    return Clock()


@pytest.fixture
def line(screen: Screen, clock: Clock) -> ProgressLine:
    """A line that the test draws by hand."""
    return ProgressLine("lint", ESTIMATE, screen.its, clock)


@pytest.mark.parametrize(
    ("spent", "estimate", "text"),
    [
        (7_000, ESTIMATE, LINE),
        (7_000, None, "consentry: lint runs, 0:07"),
        (61_000, ESTIMATE, "consentry: lint runs, 1:01, longer than usual (30-60 seconds)"),
    ],
)
def test_elapsed_against_the_estimate(spent: int, estimate: Estimate | None, text: str) -> None:
    """How long it has been, and how long it usually takes where that is known."""
    assert progress_text("lint", Duration(spent), estimate) == text


def test_a_name_with_escapes_is_made_safe() -> None:
    """What the line says of the tool is a stranger's word."""
    assert progress_text("\x1b[2J", Duration(0), None) == "consentry: \\u{1b}[2J runs, 0:00"


def test_it_is_drawn_when_the_program_is_silent(
    line: ProgressLine, clock: Clock, screen: Screen
) -> None:
    """Not before a second of silence, and in place of what it said before."""
    line.draw()
    assert screen.shown() == ""
    clock.at = 7
    line.draw()
    assert screen.shown() == f"\r{LINE}"
    clock.at = 8
    line.draw()
    assert screen.shown() == f"\r{' ' * len(LINE)}\r\r{LINE.replace('0:07', '0:08')}"


def test_it_makes_room_for_output(line: ProgressLine, clock: Clock, screen: Screen) -> None:
    """It is gone before the program's next letter, and comes back only behind a whole line."""
    clock.at = 7
    line.draw()
    screen.shown()
    line.hear(b"begun")
    assert screen.shown() == f"\r{' ' * len(LINE)}\r"
    clock.at = 20
    line.draw()
    assert screen.shown() == ""
    line.hear(b" and done\n")
    clock.at = 22
    line.draw()
    assert "0:22" in screen.shown()


def test_a_program_that_draws_for_itself_is_left_alone(
    line: ProgressLine, clock: Clock, screen: Screen
) -> None:
    """After the first escape there is no line any more."""
    line.hear(b"\x1b[2J\n")
    clock.at = 60
    line.draw()
    assert screen.shown() == ""


def test_it_is_gone_when_the_run_is_over(line: ProgressLine, clock: Clock, screen: Screen) -> None:
    """And never comes back."""
    clock.at = 7
    line.draw()
    line.close()
    line.draw()
    assert screen.shown() == f"\r{LINE}\r{' ' * len(LINE)}\r"


def test_a_line_that_does_not_fit_is_not_drawn(clock: Clock, screen: Screen) -> None:
    """A line that the terminal breaks could not be taken away again."""
    wide = ProgressLine("x" * 70, ESTIMATE, screen.its, clock)
    narrow = os.get_terminal_size(screen.its).columns
    assert narrow == 80
    clock.at = 100
    wide.draw()
    assert len(screen.shown()) < 80


def test_a_terminal_that_is_gone_ends_nothing(clock: Clock) -> None:
    """The run goes on without the line."""
    ours, its = pty.openpty()
    line = ProgressLine("lint", None, its, clock)
    os.close(ours)
    os.close(its)
    clock.at = 7
    line.draw()
    line.hear(b"x")
    line.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(its)


def test_real_output_through_a_terminal_takes_the_line_away(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its own thread, on a real terminal, around what a program prints."""
    monkeypatch.setattr(progressline, "_STANDARD_ERROR", screen.its)
    monkeypatch.setattr(progressline, "_EVERY", 0.02)
    monkeypatch.setattr(progressline, "_SILENT_FOR", 0.0)

    @contextmanager
    def opened() -> Iterator[Io]:
        with closing(Terminal(outside=screen.its)) as terminal:
            yield Io(terminal=terminal)

    with streams_with_progress(opened, "lint", lambda: ESTIMATE) as io:
        assert io.terminal is not None
        seen = ""
        while "lint runs, 0:00" not in seen:
            seen += screen.shown()
            time.sleep(0.01)
        os.write(io.terminal.its, b"half a line")
        assert io.terminal.take_output() == len(b"half a line")
    seen += screen.shown()
    assert seen.endswith(f"\r{' ' * len(LINE)}\rhalf a line")


def test_without_a_terminal_there_is_no_line() -> None:
    """Nothing is asked of the ledger, and nothing is drawn."""

    @contextmanager
    def opened() -> Iterator[Io]:
        yield Io()

    def never() -> Estimate | None:
        raise AssertionError("nobody sees an estimate here")

    with streams_with_progress(opened, "lint", never) as io:
        assert io == Io()

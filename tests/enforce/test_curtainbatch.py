"""What a program printed just before its question does not come after it."""

import os
import pty
from collections.abc import Iterator
from threading import Thread

import pytest

from consentry.enforce.native.supervisor import Bounds, Supervisor
from consentry.enforce.running import Ended
from consentry.enforce.streams import Curtain, Pipe

PATIENCE = 30


class Ends:
    """A run of which there is nothing but its end."""

    pid = store = None
    group = ""

    def __init__(self) -> None:
        self.bell = os.eventfd(0, os.EFD_CLOEXEC)

    def fileno(self) -> int:
        """Readable when it is over."""
        return self.bell

    def hear(self) -> bool:
        """It has no other news."""
        return False

    def pass_signal(self, number: int) -> None:
        """There is nobody to hear it."""

    def end_now(self) -> None:
        """It ends when the test says so."""

    kill = end_now

    def ended(self) -> Ended:
        """Well."""
        return Ended(0, 0.0, 0.0, 0)

    def close(self) -> None:
        """Lets go of the bell."""
        os.close(self.bell)


@pytest.fixture
def screen() -> Iterator[tuple[int, int]]:
    """The two ends of a person's terminal."""
    ours, theirs = pty.openpty()
    os.set_blocking(ours, False)
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def shown(screen: int) -> bytes:
    """What is on the screen by now."""
    try:
        return os.read(screen, 1 << 16)
    except BlockingIOError:
        return b""


def test_what_is_heard_together_with_the_curtain_stays_behind_it(screen: tuple[int, int]) -> None:
    """The bell and the output are ready in one and the same look; the bell comes first."""
    ours, theirs = screen
    curtain, running, pipe = Curtain(), Ends(), Pipe(theirs, keeps=False)
    is_shut: list[bool] = []
    asks = Thread(target=lambda: is_shut.append(curtain.shut(PATIENCE)))
    asks.start()
    while not curtain._is_wanted:
        pass
    os.write(pipe.writer, b"\x1b[2JFAKE")
    supervisor = Supervisor(running, Bounds(), (pipe,), curtain=curtain)
    stays = Thread(target=supervisor.stay)
    stays.start()
    asks.join(PATIENCE)
    os.eventfd_write(running.bell, 1)
    # Whoever asks takes a while; the run may be over by then, and what it printed still waits.
    stays.join(0.3)
    assert (is_shut, curtain.is_shut, shown(ours)) == ([True], True, b"")
    curtain.open()
    stays.join(PATIENCE)
    assert not stays.is_alive()
    assert shown(ours) == b"\x1b[2JFAKE"
    curtain.close()

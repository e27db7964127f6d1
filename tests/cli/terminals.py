"""Real terminals for tests: a command with a terminal of its own, keys typed into it, its screen read."""

import fcntl
import os
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from tests.cli.conftest import CommandLine

PATIENCE = 60


class AtTerminal:
    """A running command, and the person's end of its terminal."""

    def __init__(self, process: "subprocess.Popen[bytes]", ours: int) -> None:
        self.process = process
        self._ours: int | None = ours
        self._seen = 0
        self.screen = ""

    def see(self, wanted: str) -> str:
        """Waits until this is on the screen, behind what was seen before; what came with it."""
        deadline = time.monotonic() + PATIENCE
        while (at := self.screen.find(wanted, self._seen)) < 0:
            assert time.monotonic() < deadline, self.screen
            assert self._read(), f"{wanted!r} never came: {self.screen}"
        shown = self.screen[self._seen : at + len(wanted)]
        self._seen = at + len(wanted)
        return shown

    def type(self, keys: str) -> None:
        """Types, as a person would or before one could."""
        assert self._ours is not None
        os.write(self._ours, keys.encode())

    def answer(self, question: str, line: str) -> None:
        """Types a line when the question was asked and its mark stands below it."""
        if question:
            self.see(question)
        self.see("\n> ")
        self.type(line + "\n")

    def close(self) -> None:
        """Takes the terminal away, as closing its window does."""
        if self._ours is not None:
            os.close(self._ours)
            self._ours = None

    def ended(self) -> int:
        """The exit status, once it ends; the screen is read to its end."""
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None:
            assert time.monotonic() < deadline, self.screen
            if self._ours is None or not self._read():
                time.sleep(0.02)
        while self._ours is not None and self._read(wait=0.05):
            pass
        return self.process.returncode

    def _read(self, wait: float = 0.2) -> bool:
        """Reads what there is; False where nothing will come any more."""
        if self._ours is None:
            return False
        ready, _, _ = select.select([self._ours], [], [], wait)
        if not ready:
            return self.process.poll() is None
        try:
            part = os.read(self._ours, 65536)
        except OSError:
            return False
        self.screen += part.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(part)


@contextmanager
def at_terminal(
    line: CommandLine,
    *words: str,
    size: tuple[int, int] = (80, 24),
    program: Sequence[str] | None = None,
    ignores: Sequence[signal.Signals] = (),
    **environ: str,
) -> Iterator[AtTerminal]:
    """The command on a terminal of so many columns and lines; standard streams lie there too."""
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", size[1], size[0], 0, 0))

    def take_terminal() -> None:
        fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)
        for each in ignores:
            signal.signal(each, signal.SIG_IGN)

    streams: dict[str, Any] = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    process = subprocess.Popen(
        [*(program or line.program), *words],
        cwd=line.cwd,
        env={**line.environ, **environ},
        start_new_session=True,
        preexec_fn=take_terminal,  # noqa: PLW1509 - a terminal is taken by the process itself
        **streams,
        **line.options,
    )
    os.close(theirs)
    terminal = AtTerminal(process, ours)
    try:
        yield terminal
    finally:
        terminal.close()
        if process.poll() is None:
            process.kill()
        process.wait(PATIENCE)

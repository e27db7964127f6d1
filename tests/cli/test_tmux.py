"""The prompt in a terminal emulator, as a person sees and types it; part of the full proofs."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.cli.asking import consents_given
from tests.cli.conftest import CommandLine
from tests.cli.tooling import tool

pytestmark = [
    pytest.mark.prove,
    pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed"),
]


class Screen:
    """A window of 80 columns and 24 lines, and what is drawn in it."""

    def __init__(self, line: CommandLine, socket: str) -> None:
        self._line = line
        self._socket = socket

    def tmux(self, *words: str) -> str:
        """What tmux answers."""
        done = subprocess.run(
            [str(shutil.which("tmux")), "-L", self._socket, "-f", "/dev/null", *words],
            env={**self._line.environ, "TERM": "xterm-256color", "SHELL": "/bin/sh"},
            cwd=self._line.cwd,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def see(self, wanted: str) -> str:
        """The screen as soon as this is on it."""
        deadline = time.monotonic() + 60
        while wanted not in (shown := self.tmux("capture-pane", "-p", "-t", "0")):
            assert time.monotonic() < deadline, shown
            time.sleep(0.1)
        return shown

    def type(self, words: str) -> None:
        """Keys, and Enter."""
        self.tmux("send-keys", "-t", "0", "-l", words)
        self.tmux("send-keys", "-t", "0", "Enter")


@contextmanager
def window(line: CommandLine) -> Iterator[Screen]:
    """A window with a shell in it."""
    screen = Screen(line, f"consentry-{os.getpid()}-{time.time_ns()}")
    screen.tmux("new-session", "-d", "-x", "80", "-y", "24", "/bin/sh")
    try:
        yield screen
    finally:
        screen.tmux("kill-server")


def test_a_person_sees_the_box_and_answers(consentry: CommandLine) -> None:
    """Nothing of the box scrolls away: title and mark are on one screen, and the yes counts."""
    tool(consentry, "greet", "echo ran-$((40 + 2))")
    with window(consentry) as screen:
        screen.type(f"clear; {' '.join(consentry.program)} run greet")
        shown = screen.see("a approve")
        pages = [shown]
        while "Enter goes on" in pages[-1]:
            screen.type("")
            pages.append(screen.see("Remember my choice"))
        assert "Tool Execution Request" in pages[0]
        assert all(button in pages[-1] for button in ("Approve", "Deny", "Details"))
        screen.type("r")
        screen.see("r once only")
        screen.type("a")
        screen.see("ran-42")
    (consent,) = consents_given(consentry, "greet")
    assert consent.terms.lasts.value == "session"


def test_a_closed_window_answers_nothing(consentry: CommandLine) -> None:
    """The question waits on, and the inbox has it."""
    tool(consentry, "greet", "echo ran-$((40 + 2))")
    with window(consentry) as screen:
        screen.type(f"{' '.join(consentry.program)} run greet")
        screen.see("d deny")
    deadline = time.monotonic() + 30
    while not (waiting := consentry("inbox", "--quiet").out.split()):
        assert time.monotonic() < deadline
    assert len(waiting) == 1
    assert consents_given(consentry, "greet") == []

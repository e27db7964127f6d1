"""Safe text on the screen of a real terminal emulator (tmux).

A program of ours prints a line, then untrusted text, then asks the terminal where the cursor is: the
answer comes only after everything before it was drawn, so nothing has to be waited for. Each trick of
the corpus is shown three ways: rendered, it leaves our line, the title and the clipboard alone and the
screen holds exactly the rendering; honest text looks the same raw and rendered; raw, the trick works.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from consentry.base.safetext import safe_block, safe_line

TMUX = shutil.which("tmux")
pytestmark = pytest.mark.skipif(
    TMUX is None, reason="tmux is not installed: no terminal to look at"
)

ATTACKS = tomllib.loads((Path(__file__).parent / "corpus" / "hostile_text.toml").read_text())[
    "attack"
]
BETRAYED = [attack for attack in ATTACKS if "betrays" in attack]
OURS = "asked by you: run this tool?"
COLUMNS, LINES = 100, 24

PROGRAM = """
import os, sys, tty
tty.setcbreak(0)
os.write(1, open("text", "rb").read() + b"\\x1b\\\\\\x1b[6n")  # close any open string, ask for the cursor
answer = b""
while not answer.endswith(b"R"):
    answer += os.read(0, 1)
with open("drawn", "wb") as drawn:
    drawn.write(answer)
os.read(0, 1)  # keep the screen until the session is ended
"""


@dataclass(frozen=True, slots=True)
class Screen:
    """What a person would see, and what else the terminal has taken in."""

    lines: list[str]
    title: str
    clipboard: str
    alternate: str


class Terminal:
    """A tmux server of our own, with one window per text."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._environment = {
            "PATH": os.environ["PATH"],
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
        }
        self.run("new-session", "-d", "-s", "keeper", "cat")
        self.run("set-option", "-g", "set-clipboard", "on")

    def run(self, *command: str) -> str:
        """One tmux command; what it printed."""
        assert TMUX is not None
        base = [TMUX, "-u", "-S", str(self._folder / "socket"), "-f", os.devnull]
        return subprocess.run(
            [*base, *command], check=True, capture_output=True, text=True, env=self._environment
        ).stdout

    def show(self, text: str) -> Screen:
        """The screen after our line and `text` were printed."""
        with tempfile.TemporaryDirectory(dir=self._folder) as name:
            place = Path(name)
            (place / "text").write_bytes(f"{OURS}\n{text}\n".encode())
            os.mkfifo(place / "drawn")
            size = ("-x", str(COLUMNS), "-y", str(LINES))
            command = (sys.executable, "-I", "-c", PROGRAM)
            self.run("new-session", "-d", "-s", "shown", *size, "-c", name, *command)
            try:
                (place / "drawn").read_bytes()
                return self._look()
            finally:
                self.run("kill-session", "-t", "shown")

    def _look(self) -> Screen:
        lines = self.run("capture-pane", "-p", "-t", "shown").rstrip("\n").split("\n")
        title, alternate = self.run(
            "display-message", "-p", "-t", "shown", "#{pane_title}\n#{alternate_on}"
        ).splitlines()
        buffers = self.run("list-buffers", "-F", "#{buffer_sample}").strip()
        if buffers:
            self.run("delete-buffer")
        return Screen([line.rstrip() for line in lines], title, buffers, alternate)


@pytest.fixture(scope="module")
def terminal() -> Iterator[Terminal]:
    """One server for the file; its socket path has to be short."""
    with tempfile.TemporaryDirectory(prefix="screen-") as folder:
        started = Terminal(Path(folder))
        try:
            yield started
        finally:
            started.run("kill-server")


def drawn(text: str) -> list[str]:
    """How many rows a terminal makes of each line."""
    return [
        line[at : at + COLUMNS].rstrip()
        for line in text.split("\n")
        for at in range(0, max(len(line), 1), COLUMNS)
    ]


def by_name(attacks: list[dict[str, Any]]) -> list[Any]:
    """The corpus as parameters."""
    return [pytest.param(attack, id=attack["name"]) for attack in attacks]


@pytest.mark.parametrize("attack", by_name(ATTACKS))
def test_rendered_the_trick_is_only_text(terminal: Terminal, attack: dict[str, Any]) -> None:
    """The screen holds our line and the rendering; title, clipboard and screen mode are untouched."""
    quiet = terminal.show("tool")
    for shown in (
        safe_line(attack["text"]),
        safe_block(attack["text"], origin="tool", width=COLUMNS),
    ):
        screen = terminal.show(shown)
        assert screen.lines == [OURS, *drawn(shown)]
        assert (screen.title, screen.clipboard, screen.alternate) == (quiet.title, "", "0")


def test_honest_text_looks_the_same_raw_and_rendered(terminal: Terminal) -> None:
    """Rendering costs an honest tool nothing."""
    honest = "lists files, größer or smaller, C:\\temp and 100 % of it"
    assert terminal.show(safe_line(honest)) == terminal.show(honest)


@pytest.mark.parametrize("attack", by_name(BETRAYED))
def test_raw_the_trick_works(terminal: Terminal, attack: dict[str, Any]) -> None:
    """Without the renderer the terminal obeys, so the first test can fail."""
    screen = terminal.show(attack["text"])
    match attack["betrays"]:
        case "title":
            assert screen.title == "trusted shell"
        case "clipboard":
            assert screen.clipboard == "rm -rf ~"
        case _:
            visible = "".join(char if char.isprintable() else "" for char in attack["text"])
            assert screen.lines != [OURS, *drawn(visible)]


def test_padding_scrolls_a_payload_away_only_when_raw(terminal: Terminal) -> None:
    """In a block of a few rows both ends of the text are on the screen; raw, its start is gone."""
    text = "rm -rf ~ #" + "\n" * 200 + "lists files"
    rendered = terminal.show(safe_block(text, origin="tool", width=COLUMNS, rows=10)).lines
    assert any("rm -rf ~" in line for line in rendered)
    assert any("lists files" in line for line in rendered)
    assert not any("rm -rf ~" in line for line in terminal.show(text).lines)

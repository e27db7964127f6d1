"""The box on the screen of a real terminal emulator (tmux) of 80 columns and 24 lines."""

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consentry.cli.boxdrawing import ASCII, UNICODE, Glyphs
from consentry.cli.previewbox import prompt_text
from consentry.cli.promptpages import PromptOptions
from consentry.decide.preview import Preview
from consentry.declare.consent import RememberDuration
from tests.cli.test_previewbox_hostile import ATTACKS, everywhere, without_surrogates
from tests.decide.previews import build_latex, full

TMUX = shutil.which("tmux")
pytestmark = pytest.mark.skipif(
    TMUX is None, reason="tmux is not installed: no terminal to look at"
)
KEYS = "a approve | d deny"
PATIENCE = 20
Show = Callable[[str], list[str]]


@pytest.fixture
def show(tmp_path: Path) -> Iterator[Show]:
    """Prints a page and what a prompt prints below it; the rows of the screen."""
    environ = {"PATH": os.environ["PATH"], "TERM": "xterm-256color", "LANG": "C.UTF-8"}

    def tmux(*words: str) -> str:
        assert TMUX is not None
        base = [TMUX, "-u", "-S", str(tmp_path / "socket"), "-f", os.devnull]
        command = [*base, *words]
        return subprocess.run(
            command, check=True, capture_output=True, text=True, env=environ
        ).stdout

    def shown(page: str) -> list[str]:
        (tmp_path / "page").write_text(f"\n{page}\n{KEYS}\n", encoding="utf-8")
        size = ("-x", "80", "-y", "24")
        tmux("new-session", "-d", "-s", "box", *size, f"cat '{tmp_path}/page'; exec cat")
        deadline = time.monotonic() + PATIENCE
        while KEYS not in (screen := tmux("capture-pane", "-p", "-t", "box")):
            assert time.monotonic() < deadline, screen
            time.sleep(0.02)
        return screen.split("\n")

    yield shown
    tmux("kill-server")


def pages(preview: Preview, glyphs: Glyphs) -> tuple[str, ...]:
    """As the prompt asks for them: four lines of the screen are its own."""
    return prompt_text(preview, 80, 20, PromptOptions(RememberDuration.SESSION), glyphs).pages


@pytest.mark.parametrize("glyphs", [UNICODE, ASCII], ids=["unicode", "ascii"])
@pytest.mark.parametrize("preview", [build_latex(), full()], ids=["reference", "full"])
def test_a_page_stands_on_the_screen_whole_and_straight(
    show: Show, preview: Preview, glyphs: Glyphs
) -> None:
    """CONSENT §prompt-reference: nothing scrolls away, nothing is broken, the edges are straight."""
    page = pages(preview, glyphs)[0]
    rows = [row for row in show(page) if row]
    assert rows == [*page.split("\n"), KEYS]


@pytest.mark.parametrize("text", ATTACKS.values(), ids=ATTACKS.keys())
def test_hostile_text_leaves_the_screen_as_it_was_drawn(show: Show, text: str) -> None:
    """What the terminal shows is the page, row by row, whatever the author wrote."""
    page = pages(everywhere(without_surrogates(text)), UNICODE)[0]
    rows = [row for row in show(page) if row]
    assert rows == [*page.split("\n"), KEYS]

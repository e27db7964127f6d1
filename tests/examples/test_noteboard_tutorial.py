"""The tutorial of the note board, walked through in a browser: what it names is there, what it runs prints that.

Whatever the page has in bold is a button to press or a text to see. The walk below presses the buttons in the
tutorial's order and keeps every page it saw; then the command lines of the tutorial are run beside the
running board and compared with what the tutorial shows.
"""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from tests.browsing import PROGRAM, Tab, browser
from tests.docs.blocks import DOCS, blocks_of
from tests.examples.boards import MODULES, Place, board_at, place_in

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")

TUTORIAL = (DOCS / "tutorial/modules.md").read_text(encoding="utf-8")


class Walk:
    """Somebody who does what the tutorial says, and remembers what was to be read."""

    def __init__(self, tab: Tab, link: str) -> None:
        self.tab = tab
        self.seen = ""
        tab.look(1100, 900)
        tab.open(link)
        self._read()

    def take(self, name: str, graph: str | None = None) -> None:
        """Imports a package."""
        self.tab.upload("input[name=package]", MODULES / f"{name}.json")
        if graph is not None:
            self.tab.upload("input[name=graph]", MODULES / f"{graph}.json")
        self.click(".import button")

    def ask(self, module: str, slot: str, answer: str) -> None:
        """Presses `Ask me` of a module, and answers."""
        self.click(f"[data-slot={slot}] .held[data-module={module}] button")
        self.answer(answer)

    def answer(self, answer: str) -> None:
        """Answers the one question that waits."""
        self.click(f".question button[value={answer}]")

    def press(self, entry: str, module: str) -> None:
        """Presses the button of an entry."""
        self.click(f".entry[data-module={module}][data-entry={entry}] button")

    def add(self, text: str) -> None:
        """Adds a note."""
        self.tab.type("textarea", text)
        self.click(".adding button")

    def roll_back(self, name: str | None = None) -> None:
        """Rolls the latest change back, or the one of that name."""
        rows = self.tab.texts("#history ol > li strong")
        at = 1 if name is None else rows.index(name) + 1
        self.click(f"#history ol > li:nth-child({at}) form button")

    def export(self, name: str) -> None:
        """Chooses a file, and exports."""
        self.tab.type("input[name=name]", name)
        self.click(".dialog button")

    def click(self, selector: str) -> None:
        """Presses whatever that is, and reads the page it leads to."""
        self.tab.click(selector)
        self._read()

    def _read(self) -> None:
        self.seen += "\n" + self.tab.text()


def walked(walk: Walk) -> None:
    """All steps up to the look at the record."""
    walk.click(".note[data-note]:first-child footer form:first-child button")
    walk.roll_back()
    walk.take("word-count")
    walk.ask("word-count", "left-panel", "session")
    walk.press("words", "word-count")
    walk.answer("deny")
    walk.press("words", "word-count")
    walk.answer("session")
    walk.press("words", "word-count")
    assert not walk.tab.has(".question")
    walk.take("reading-list-1.0.0")
    walk.ask("reading-list", "chrome-top-toolbar", "persistent")
    walk.press("unread", "reading-list")
    walk.answer("persistent")
    walk.take("reading-list-2.0.0", "reading-list.graph")
    assert standings(walk.tab, "reading-list") == {
        "capability-grant-stale": 2,
        "capability-not-granted": 3,
    }
    walk.ask("reading-list", "chrome-top-toolbar", "session")
    walk.press("export", "reading-list")
    walk.export("list.txt")
    walk.answer("session")
    walk.press("export", "reading-list")
    walk.export("list.txt")
    assert "nobody said that it may be overwritten" in walk.tab.text("#outcome")
    changed(walk)
    attacked(walk)


def changed(walk: Walk) -> None:
    """What the gardener changes, from its first preview to the one that was overtaken."""
    walk.take("gardener", "gardener.graph")
    walk.ask("gardener", "toolbar-inline", "session")
    walk.press("weekend", "gardener")
    walk.answer("session")
    walk.answer("once")
    walk.add("Water   the plants  on Friday")
    walk.press("tidy", "gardener")
    assert len(walk.tab.texts(".note[data-note]")) == 4
    walk.roll_back()
    assert len(walk.tab.texts(".note[data-note]")) == 5
    walk.press("weekend", "gardener")
    walk.roll_back("gardener: weekend")
    walk.press("weekend", "gardener")
    walk.add("Something else")
    walk.answer("once")
    walk.click("form[action='/changes/again'] button")
    walk.answer("deny")
    for _ in range(2):
        walk.click(".note[data-note]:nth-last-child(2) button.quiet")


def attacked(walk: Walk) -> None:
    """The packages that try the door, and the one that passes."""
    walk.take("free-gift-wildcard")
    walk.take("free-gift-script")
    assert not walk.tab.has(".module[data-module=free-gift]")
    walk.take("free-gift", "free-gift.graph")
    walk.ask("free-gift", "left-panel", "session")
    walk.press("claim", "free-gift")
    walk.answer("persistent")
    walk.answer("deny")
    assert len(walk.tab.texts(".note[data-note]")) == 4


def standings(tab: Tab, module: str) -> dict[str, int]:
    """How many capabilities of a module stand how."""
    found = tab.texts(f".module[data-module={module}] .standing")
    return {each: found.count(each) for each in found}


def steps() -> list[tuple[str, str]]:
    """The command lines of the tutorial, each with what it shows."""
    found = []
    for block in blocks_of(TUTORIAL, "shell-session"):
        for part in f"\n{block.text}".split("\n$ ")[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown if shown.endswith("\n") or not shown else f"{shown}\n"))
    return found


def differences(place: Place, wanted: list[tuple[str, str]]) -> list[str]:
    """What the commands print otherwise than the tutorial shows."""
    checker = doctest.OutputChecker()
    wrong = []
    for command, shown in wanted:
        words = shlex.split(command.replace("~/my-notes", str(place.folder)))
        module = words[1:] if words[0] == "consentry" else words[3:]
        program = "consentry" if words[0] == "consentry" else words[2]
        printed = place.run(program, *module)
        if not checker.check_output(shown, printed, doctest.ELLIPSIS):
            wrong.append(f"$ {command}\n{printed}")
    return wrong


def test_the_tutorial_is_what_happens(tmp_path: Path) -> None:
    """MODULES AC-2, AC-3: every button, text and command of the tutorial, in its order, on a real board."""
    place = place_in(tmp_path)
    automation = [each for each in steps() if "--automation" in each[0]]
    beside = [each for each in steps() if each not in automation]
    with board_at(place) as link, browser() as tab:
        walk = Walk(tab, link)
        walked(walk)
        assert differences(place, beside) == []
    assert differences(place, automation) == []
    with board_at(place) as link, browser() as tab:
        again = Walk(tab, link)
        assert standings(tab, "word-count") == {"capability-grant-stale": 2}
        assert "allowed until it changes" in again.seen
    told = " ".join((walk.seen + again.seen).split())
    bold = [" ".join(each.split()) for each in re.findall(r"\*\*(.+?)\*\*", TUTORIAL, re.DOTALL)]
    assert [each for each in bold if each not in told] == []
    assert len(bold) > 25


def test_the_commands_of_the_tutorial_are_found() -> None:
    """The test above looks at something, and at all of them."""
    assert [command.split()[:3] for command, _ in steps()] == [
        ["consentry", "module", "list"],
        ["consentry", "grants", "explain"],
        ["consentry", "grants", "explain"],
        ["consentry", "tx", "list"],
        ["consentry", "module", "mode"],
        ["consentry", "module", "mode"],
        ["consentry", "audit", "verify"],
        ["python", "-m", "examples.noteboard"],
    ]

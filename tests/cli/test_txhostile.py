"""Ids, labels, places and values that others chose: harmless at a terminal, in the audit log, and on a page."""

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import Tab, browser
from tests.cli.conftest import CommandLine
from tests.cli.moduleplaces import granted, harmless, named, told
from tests.cli.terminals import at_terminal
from tests.cli.txplaces import ADD, WRITE, adding, asked, changed, ready, whole, writing_host

pytestmark = pytest.mark.timeout(180)

HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202eeslaf\nGranted: everything\x7f"
MARKUP = "<script>document.title='owned'</script><img src=x onerror=alert(1)>\"'&amp;"
LONG = "x" * 20_000
DEEP: Any = "bottom"
for _ in range(25):
    DEEP = {HOSTILE: [DEEP]}
OPERATIONS: list[dict[str, Any]] = [
    *adding("<b>n1<~1b>", {"text": HOSTILE, "markup": MARKUP, HOSTILE: MARKUP}),
    *adding("\N{SNOWMAN}" * 200, {"long": LONG, "deep": DEEP, "empty": {}, "none": None}),
    {"op": "add", "path": "/notes/n0/" + HOSTILE.replace("/", "~1"), "value": [HOSTILE, MARKUP]},
    {"op": "replace", "path": "/notes/n0/text", "value": HOSTILE * 3},
]


@pytest.fixture
def tx_id(consentry: CommandLine) -> str:
    """A module that calls itself so asks for such a change."""
    with writing_host(consentry, lambda: OPERATIONS) as application:
        changed(application, adding("n0"), "Begin")
        assert application.import_module(named(HOSTILE + MARKUP))["ok"]
        granted(application, WRITE)
        outcome = application.invoke("note-tools", ADD)
        assert outcome.transaction_state == "APPROVAL_PENDING", outcome
        return str(outcome.transaction_id)


def test_nothing_of_it_commands_a_terminal_or_begins_a_line(
    consentry: CommandLine, tx_id: str
) -> None:
    """In every command that shows it, and no row is wider than the page."""
    for words in (
        ("tx", "show", tx_id),
        ("tx", "show", tx_id, "--role", "viewer"),
        ("tx", "list", "--all"),
        ("inbox",),
        ("audit", "log"),
    ):
        done = consentry(*words, COLUMNS="80")
        assert done.status == 0, done.err
        assert harmless(done.out), words
        if words[:2] == ("tx", "show"):
            assert max(map(len, done.out.splitlines())) <= 80
    shown = consentry("tx", "show", tx_id).out
    assert r"\u{1b}]0;owned" in re.sub(r"\n +\|", "", shown)
    assert "left out}" in shown  # of what is too long, with how much
    assert "bottom" in shown or "left out}" in shown


def test_nothing_of_it_does_so_where_a_yes_is_asked_for(consentry: CommandLine, tx_id: str) -> None:
    """Every page of the prompt, to its last; what is ours stands at the beginning of its lines."""
    with at_terminal(consentry, "tx", "approve", tx_id, size=(100, 50)) as terminal:
        terminal.see("wants to change note-board")
        terminal.see("d deny")
        while "Request: request-" not in terminal.screen:
            terminal.answer("", "")
            terminal.see("d deny")
        terminal.answer("", "d")
        assert terminal.ended() == 126
    screen = re.sub(r"\x1b\[\d*m", "", terminal.screen)
    assert harmless(screen.replace("\r", ""))
    assert f"Transaction {tx_id}, attempt 1" in whole(screen)


def test_a_roll_back_shows_it_as_harmlessly(consentry: CommandLine) -> None:
    """From the journal, which has the same words."""
    with writing_host(consentry) as application:
        made = changed(application, adding("n1", {HOSTILE: HOSTILE}), HOSTILE)
    with at_terminal(consentry, "tx", "rollback", made, size=(100, 50)) as terminal:
        terminal.answer("d deny", "d")
        assert terminal.ended() == 126
    assert harmless(re.sub(r"\x1b\[\d*m", "", terminal.screen))


def test_json_carries_it_whole(consentry: CommandLine, tx_id: str) -> None:
    """Pure ASCII on the way, and the very words at the end of it."""
    done = consentry("tx", "show", tx_id, "--json")
    assert done.out.isascii()
    entries = json.loads(done.out)["preview"]["entries"]
    texts = [
        each["after"]["text"]
        for each in entries
        if isinstance(each["after"], dict) and "text" in each["after"]
    ]
    assert HOSTILE in texts
    preview = json.loads(consentry("tx", "show", tx_id, "--preview").out)
    assert any(LONG in json.dumps(each) for each in preview["entries"])


def page_of(line: CommandLine, tx_id: str, *words: str) -> Path:
    """Its page."""
    file = line.cwd / "change.html"
    assert line("tx", "show", tx_id, "--html", str(file), *words).status == 0
    return file


def test_the_page_escapes_it_all_and_loads_nothing(consentry: CommandLine, tx_id: str) -> None:
    """No tag but ours, no control, no address; the policy forbids scripts besides."""
    text = page_of(consentry, tx_id).read_text()
    assert "default-src 'none'; style-src 'sha256-" in text
    assert "<script" not in text
    assert "<img" not in text
    assert "<b>n1" not in text
    assert not re.search(r"(src|href|action|onerror)\s*=", re.sub(r"&lt;.*?&gt;", "", text))
    assert not any(letter in text for letter in "\x1b\x07\x7f\u202e")


needs_browser = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="chromium is not installed"
)


def opened(tab: Tab, page: Path) -> None:
    """Opens it and draws it."""
    tab.look(1100, 900)
    tab.open(page.as_uri())


@needs_browser
def test_a_browser_draws_the_page_as_it_is_meant(consentry: CommandLine, tmp_path: Path) -> None:
    """The state, the facts, each change with its sign, and the events; with colours, and without complaints."""
    operations = [
        *adding("n2", {"text": "call Ann"}),
        {"op": "replace", "path": "/notes/n1/text", "value": "buy oat milk"},
        {"op": "remove", "path": "/notes/n1/tags/0"},
        {"op": "move", "from": "/notes/n1/done", "path": "/notes/n2/done"},
    ]
    with writing_host(consentry, lambda: operations) as application:
        changed(application)
        ready(application)
        found = asked(application)
    with browser() as tab:
        opened(tab, page_of(consentry, found))
        assert tab.text("h1") == "Change of note-board"
        assert tab.text(".state") == "APPROVAL_PENDING"
        assert tab.texts(".entity h3") == ["notes n1", "notes n2"]
        assert tab.texts(".change > p") == [
            "replace /text",
            "remove /tags/0",
            "add all of it",
            "move /done from /notes/n1/done",
        ]
        rows = [each.split() for each in tab.texts(".rows tr")]
        assert rows[0] == ["-", '"buy', 'milk"']
        assert ["+", "/text", '"call', 'Ann"'] in rows
        assert len(tab.texts("ol.events li")) == 3
        colour = "getComputedStyle(document.querySelector('tr.{}')).backgroundColor"
        assert tab.value(colour.format("added")) != tab.value(colour.format("removed"))
        assert tab.complaints() == []
        tab.picture(tmp_path / "page.png")
        assert (tmp_path / "page.png").stat().st_size > 10_000
        for width in (360, 1100):
            tab.look(width, 900)
            assert tab.value("document.documentElement.scrollWidth") <= width


@needs_browser
def test_a_hostile_page_runs_nothing_and_stays_in_its_frame(
    consentry: CommandLine, tx_id: str
) -> None:
    """Its title is ours, no element of theirs is there, and nothing is wider than the window."""
    with browser() as tab:
        opened(tab, page_of(consentry, tx_id))
        assert tab.value("document.title") == "Change of note-board: APPROVAL_PENDING"
        assert not tab.has("img")
        assert not tab.has("script")
        assert tab.value("document.querySelectorAll('.entity b').length") == tab.value(
            "document.querySelectorAll('.change > p > b').length"
        )
        for width in (360, 1100):
            tab.look(width, 900)
            assert tab.value("document.documentElement.scrollWidth") <= width
        assert tab.complaints() == []


@needs_browser
def test_a_script_in_the_page_would_not_run(consentry: CommandLine, tx_id: str) -> None:
    """Its policy holds: the attack fails, and without the policy the same line takes the page over."""
    page = page_of(consentry, tx_id)
    attack = "<script>document.title = 'taken over'</script></main>"
    planted = page.with_name("planted.html")
    text = page.read_text().replace("</main>", attack)
    with browser() as tab:
        planted.write_text(text)
        opened(tab, planted)
        assert tab.value("document.title").startswith("Change of note-board")
        planted.write_text(text.replace("Content-Security-Policy", "x-none"))
        opened(tab, planted)
        assert tab.value("document.title") == "taken over"


def test_a_very_large_change_is_counted_and_not_told_whole(consentry: CommandLine) -> None:
    """Bounded at the terminal, whole on the page, in JSON and in the preview."""
    operations = [each for at in range(3000) for each in adding(f"n{at:04}", {"v": at})]
    with writing_host(consentry) as application:
        found = changed(application, operations, "Import")
    shown = consentry("tx", "show", found).out
    assert "… and 2600 more changes" in shown
    assert "3000 to add" in shown
    assert len(shown.splitlines()) < 2000
    assert len(told(consentry, "tx", "show", found)["preview"]["entries"]) == 3000
    assert page_of(consentry, found).read_text().count('class="change add"') == 3000
    assert "3000 to add" in consentry("tx", "list", "--all").out

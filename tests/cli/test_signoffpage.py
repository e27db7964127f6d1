"""The page of a sign-off in a real browser, as wide as a desk and as narrow as a phone."""

import pytest

from tests.browsing import PROGRAM, Tab, browser
from tests.cli.conftest import CommandLine
from tests.cli.signoffplaces import ASKED, recorded
from tests.record.signoffsamples import Story, good_story
from tests.record.test_signoffhtml import hostile_story

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="chromium is not installed")


def opened(tab: Tab, line: CommandLine, story: Story) -> None:
    """The page of that story, in that browser."""
    recorded(line, story)
    assert line("signoff", *ASKED, "--html", "page.html").status in (0, 1)
    tab.open((line.cwd / "page.html").as_uri())


def test_the_verdict_and_every_gate_are_to_be_read(consentry: CommandLine) -> None:
    """CONTRACTS §4-signoff: in green or red, with its events behind a fold that opens."""
    story = good_story()
    event_id = story.used(99, capabilityId="ui.slot.render")
    with browser() as tab:
        opened(tab, consentry, story)
        assert tab.text(".verdict") == "NO-GO"
        assert tab.value("getComputedStyle(document.querySelector('.verdict')).color") == "rgb(255, 255, 255)"  # fmt: skip
        marks = tab.texts("#gates > .gate > div:first-child > .mark")
        assert marks == ["met"] * 7 + ["missed", "met"]
        assert len(tab.texts("#samples > .gate")) == 5
        assert event_id not in tab.text("#gates")
        tab.click("#gates > .gate:nth-of-type(8) summary", leads=False)
        assert event_id in tab.text("#gates")
        assert tab.texts("header ~ main .reasons li") == ["S000-APPROVAL is missed"]
        assert tab.complaints() == []


@pytest.mark.parametrize("width", [1100, 380])
@pytest.mark.parametrize("is_dark", [False, True])
def test_nothing_leaves_the_window(consentry: CommandLine, width: int, *, is_dark: bool) -> None:
    """Wide tables scroll in their place; what a stranger called a module does not push the page apart."""
    with browser() as tab:
        tab.look(width, 900, is_dark=is_dark)
        opened(tab, consentry, hostile_story())
        tab.value("document.querySelectorAll('details').forEach(each => { each.open = true })")
        assert tab.value("document.documentElement.scrollWidth") == width
        ground = tab.value("getComputedStyle(document.body).backgroundColor")
        assert ground == ("rgb(18, 22, 28)" if is_dark else "rgb(246, 247, 249)")
        assert tab.complaints() == []


def test_what_strangers_wrote_runs_nothing(consentry: CommandLine) -> None:
    """No element of theirs is in the document as the browser has it; the policy would stop it besides."""
    with browser() as tab:
        opened(tab, consentry, hostile_story())
        assert tab.value("document.querySelectorAll('script, img, iframe, link').length") == 0
        assert "<script>alert(1)</script>" in tab.text("#violations")
        tab.value("document.body.insertAdjacentHTML('beforeend', '<img src=x>')")
        assert any("Content Security Policy" in each for each in tab.complaints())

"""The page of a sign-off: every figure of the answer, nothing that runs, nothing of a stranger's that acts."""

import re
from html.parser import HTMLParser

import pytest

from consentry.record.signoffhtml import policy, signoff_page, style
from tests.record.modulepayloads import sample_id
from tests.record.reportsamples import Page
from tests.record.signoffsamples import DRILL, FIXTURE, Story, good_story

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>\x1b[31m\u202e'


class Tags(HTMLParser):
    """Which elements there are, and with which attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Remembers it."""
        self.found.append((tag, dict(attrs)))


def page_of(story: Story) -> str:
    """The whole page."""
    return "".join(signoff_page(story.answer()))


def hostile_story() -> Story:
    """A ledger whose every free text is somebody's attempt to get out of its place."""
    story = good_story()
    violation = story.rejected(moduleId=HOSTILE, moduleVersion=HOSTILE, capabilityId=HOSTILE)
    story.rejected(moduleId=HOSTILE, minute=-9)
    story.resolved(violation, 20)
    story.events[-1]["payload"].update(
        rootCause=HOSTILE, correctiveAction=HOSTILE, resolvedBy=HOSTILE
    )
    story.attempt(HOSTILE, tags={**FIXTURE, "fixtureCaseId": None})
    story.checked(HOSTILE, answers=[{"code": "invalid-module-id", "path": HOSTILE}])
    story.add(f"type.{HOSTILE}", {"a": 1})
    story.rejected(moduleId="x")
    story.events[-1]["timestampUtc"] = "2026-01-01T00" + HOSTILE
    story.rejected(moduleId="x")
    story.events[-1]["eventId"] = HOSTILE
    return story


def test_the_page_says_what_the_answer_says() -> None:
    """CONTRACTS §4-signoff: verdict, gates, figures, floors, with the events behind them."""
    story = good_story()
    violation = story.rejected()
    page, answer = Page(page_of(story)), story.answer()
    words = " ".join(page.words)
    assert "NO-GO" in words
    for gate in answer.gates:
        for said in (gate.id, gate.formula, gate.required, gate.shown, gate.counted):
            assert said in words, said
        for each in gate.events:
            assert each.event_id in words
    for floor in answer.floors:
        assert f"{floor.found} of {floor.required}" in words
        assert f"{floor.about}: {floor.found} of {floor.required}" in page.labels
    assert violation in words
    assert "S-SLO-3 is missed" in words


def test_a_go_says_so_and_gives_no_reasons() -> None:
    """And that nothing was wrong with the evidence."""
    words = " ".join(Page(page_of(good_story())).words)
    assert "NO-GO" not in words
    assert "GO" in words
    assert "every chain verifies" in words


@pytest.mark.parametrize("make", [good_story, hostile_story, Story])
def test_the_page_stands_for_itself(make: object) -> None:
    """No script, no handler, no style in an element, no address of elsewhere; its policy forbids them."""
    text = page_of(make())  # type: ignore[operator]
    assert f'content="{policy()}"' in text
    assert "default-src 'none'" in policy()
    found = Tags(text).found
    assert {tag for tag, _ in found} <= {
        "html", "head", "meta", "title", "style", "body", "header", "main", "nav", "section", "div",
        "h1", "h2", "h3", "p", "span", "b", "a", "ul", "li", "svg", "rect", "details",
        "summary", "table", "tr", "th", "td", "code", "dl", "dt", "dd",
    }  # fmt: skip
    for tag, attributes in found:
        assert not any(name.startswith("on") or name in ("style", "src") for name in attributes)
        if tag == "a":
            assert str(attributes["href"]).startswith("#")
    assert re.findall(r"<style>(.*?)</style>", text, re.DOTALL) == [style()]


def test_what_strangers_wrote_is_shown_and_does_nothing() -> None:
    """The attack: a module that names itself a script. The control is that its name is to be read."""
    text = page_of(hostile_story())
    assert "<script" not in text
    assert "<img" not in text
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in text


def test_long_lists_say_what_they_leave_out() -> None:
    """The page does not grow with the ledger."""
    story = Story()
    for number in range(300):
        story.rejected(tags={"evidenceChannel": None})
        story.used(number, session=sample_id("session", number), tags=DRILL)
    text = page_of(story)
    answer = story.answer()
    words = " ".join(Page(text).words)
    assert f"And {answer.violations_left_out} others, not listed." in words
    assert "280 others not listed." in words
    assert len(text) < 400_000

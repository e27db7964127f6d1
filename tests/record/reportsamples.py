"""Audit entries for reports, and what is read back from the page that is made of them."""

from collections.abc import Sequence
from copy import deepcopy
from html.parser import HTMLParser
from typing import Any

from consentry.base.clock import Instant
from consentry.record.report import Period, Report, Tally
from consentry.record.reporthtml import report_page
from tests.record.test_auditentry import ENTRY

DAY = 86_400_000
START = Instant.parse("2026-03-01T00:00:00.000Z")
END = Instant(START.unix_ms + 30 * DAY)
PERIOD = Period(START, END, END)
VOID = frozenset({"meta"})


def entry(number: int = 0, at: Instant | None = None, **changes: Any) -> dict[str, Any]:
    """The document's own example, with parts of its own: `tool={"name": …}` and so on."""
    made = deepcopy(ENTRY)
    moment = at or Instant(START.unix_ms + number * DAY + 1)
    made |= {
        "id": f"audit-00000000-0000-7000-8000-{number:012x}",
        "timestamp": str(moment),
        "permitId": f"permit-00000000-0000-7000-8000-{number:012x}",
    }
    ended = Instant(moment.unix_ms + 500)
    made["execution"] |= {"startTime": str(moment), "endTime": str(ended)}
    made["tool"]["auditConfig"] = {"logLevel": "detailed", "includeInReport": True}
    made["impact"] |= {"filesReadSeen": True, "filesReadUnlisted": 0}
    for name, part in changes.items():
        made[name] = {**made[name], **part}
    return made


def counted(entries: Sequence[dict[str, Any]], period: Period = PERIOD) -> Report:
    """The report of these entries."""
    tally = Tally(period)
    for each in entries:
        if tally.counts(each):
            tally.add(each)
    return tally.finished()


def page_of(entries: Sequence[dict[str, Any]]) -> str:
    """The page of these entries."""
    return "".join(report_page(counted(entries), [], entries))


class Page(HTMLParser):
    """What is in a page: its elements, labels, links, anchors and text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps it, and what is open."""
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keeps it."""
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        """Whatever is closed was opened last."""
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        """Keeps the text, but for the style."""
        if self.open[-1:] != ["style"]:
            self.words.append(data)

    @property
    def labels(self) -> list[str]:
        """What is said of each drawing."""
        return [a["aria-label"] or "" for _, a in self.elements if "aria-label" in a]

    @property
    def tags(self) -> set[str]:
        """The names of all elements."""
        return {tag for tag, _ in self.elements}

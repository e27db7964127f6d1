"""The page of a report: its numbers are those of the entries, and nothing in it comes from strangers."""

import re
from xml.etree import ElementTree as ET

import pytest

from consentry.record.reportentries import MOST_FILES
from consentry.record.reporthtml import policy, style
from tests.record.reportsamples import Page, counted, entry, page_of

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=1>\u202e\x1b[31m&amp;</style>"
ELEMENTS = {
    "html", "head", "meta", "title", "style", "body", "header", "h1", "p", "nav", "a", "main", "div", "b",
    "section", "h2", "h3", "ul", "li", "svg", "rect", "g", "span", "details", "summary", "table", "tr",
    "th", "td", "article", "dl", "dt", "dd", "code",
}  # fmt: skip
REFUSED = {"consentGiven": False, "consentTimestamp": None}


def test_the_bars_say_the_numbers_of_the_entries() -> None:
    """Decisions, refusals and durations, in the labels of the drawings and beside them."""
    runs = [entry(n, user={"level": "explicit"}) for n in range(3)]
    runs += [entry(4, user={"level": "strict", **REFUSED})]
    denied = {"operation": "read", "resource": "/etc/shadow", "rule": "never", "times": 7}
    runs += [entry(5, user={"level": "strict"}, sandbox={"violations": [denied]})]
    labels = Page(page_of(runs)).labels
    assert "Runs over time: 5 runs in 30 steps" in labels
    assert "explicit: 3 given, 0 refused" in labels
    assert "strict: 1 given, 1 refused" in labels
    assert "explicit_approval: 4 given, 1 refused" in labels
    assert "read: 7 refused in 1 run" in labels
    assert "build-latex: median 500 ms" in labels


def test_the_bars_are_as_long_as_their_numbers() -> None:
    """Drawn parts have the shares of what they stand for; heights over time, too."""
    runs = [entry(0, user={"level": "explicit"}) for _ in range(4)]
    runs += [entry(1, user={"level": "strict"}), entry(1, user={"level": "strict", **REFUSED})]
    text = page_of(runs)
    drawings = [ET.fromstring(each) for each in re.findall(r"<svg.*?</svg>", text)]  # noqa: S314 - our own page
    by_label = {each.get("aria-label"): each for each in drawings}
    assert _widths(by_label["explicit: 4 given, 0 refused"]) == [("given", 1000)]
    assert _widths(by_label["strict: 1 given, 1 refused"]) == [("given", 250), ("refused", 250)]
    columns = by_label["Runs over time: 6 runs in 30 steps"].findall("g")
    said = [
        (each.findtext("title"), [r.get("height") for r in each.iter("rect")]) for each in columns
    ]
    assert said == [("2026-03-01: 4 success", ["1000"]), ("2026-03-02: 2 success", ["500"])]


def _widths(drawing: ET.Element) -> list[tuple[str | None, int]]:
    return [(each.get("class"), int(each.get("width") or 0)) for each in drawing.iter("rect")]


def test_nothing_of_an_entry_becomes_markup() -> None:
    """A hostile text in every place that an entry has is text, and not a command to anything."""
    runs = [
        entry(
            n,
            tool={"name": HOSTILE, "version": HOSTILE, "arguments": [HOSTILE], "digest": HOSTILE},
            user={"id": HOSTILE, "level": HOSTILE, "reason": HOSTILE},
            execution={"problem": {"code": HOSTILE, "message": HOSTILE}, "status": status},
            impact={
                "filesRead": [{"path": HOSTILE}],
                "filesWritten": [{"path": HOSTILE}],
                "filesDeleted": [{"path": HOSTILE}],
                "discarded": HOSTILE,
                "committed": False,
                "truth": {"filesRead": HOSTILE},
            },
            sandbox={
                "profile": HOSTILE,
                "engine": HOSTILE,
                "violations": [{"operation": HOSTILE, "resource": HOSTILE, "rule": HOSTILE}],
                "network": [{"host": HOSTILE, "port": 1, "allowed": True}],
                "resourceUsage": {"cpuTime": HOSTILE, "memoryPeak": HOSTILE},
            },
            context={"sessionId": HOSTILE, "triggeredBy": HOSTILE},
        )
        for n, status in enumerate(("success", "failure"))
    ]
    text = page_of(runs)
    page = Page(text)
    assert page.tags <= ELEMENTS
    assert page.open == [], "everything that was opened is closed"
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", text)
    names = {name for _, attributes in page.elements for name in attributes}
    assert not {name for name in names if name.startswith("on")} | ({"style", "src"} & names)
    assert "alert(1)" in "".join(page.words), "it is shown all the same"


def test_the_page_needs_and_allows_nothing_from_elsewhere() -> None:
    """No script, no address; the policy names the digest of the one style, and nothing else."""
    page = Page(page_of([entry()]))
    assert not {"script", "link", "img", "iframe", "object", "embed"} & page.tags
    links = {a["href"] for _, a in page.elements if "href" in a}
    assert all(each is not None and each.startswith("#") for each in links)
    assert "url(" not in style()
    assert "@import" not in style()
    said = [a["content"] for _, a in page.elements if "http-equiv" in a]
    assert said == [policy()]
    assert policy().startswith("default-src 'none'; style-src 'sha256-")


def test_links_lead_to_places_in_the_page() -> None:
    """Parts and entries; an entry that is not listed is named without a link."""
    hidden = entry(
        2, tool={"auditConfig": {"includeInReport": False}}, execution={"status": "limit"}
    )
    failed = entry(1, execution={"status": "failure"})
    page = Page("".join([page_of([entry(0), failed])]))
    anchors = {a["id"] for _, a in page.elements if "id" in a}
    links = {(a["href"] or "").removeprefix("#") for _, a in page.elements if "href" in a}
    assert links <= anchors
    assert failed["id"] in links
    assert hidden["id"] not in page_of([hidden]).split('id="entries"')[0]


def test_a_minimal_log_lists_no_files() -> None:
    """CONSENT §manifest-6: whatever the entry holds."""
    quiet = entry(tool={"auditConfig": {"logLevel": "minimal", "includeInReport": True}})
    text = page_of([quiet])
    assert "latex/main.tex" not in text
    assert "logLevel minimal" in text
    assert "latex/main.tex" in page_of([entry()])


def test_long_lists_are_cut_and_say_so() -> None:
    """A person reads some dozens; the rest is a number."""
    many = [{"path": f"file-{n}"} for n in range(MOST_FILES + 5)]
    text = page_of([entry(impact={"filesRead": many})])
    assert f"<li><code>file-{MOST_FILES - 1}</code></li>" in text
    assert f"file-{MOST_FILES}<" not in text
    assert "and 5 more" in text


@pytest.mark.parametrize("words", ["Nothing was decided.", "Nothing was refused.", "Nothing ran."])
def test_a_page_without_runs_says_so(words: str) -> None:
    """Every part has a sentence, and the page is whole."""
    page = Page(page_of([]))
    assert words in page.words
    assert page.open == []
    assert counted([]).runs == 0

"""`consentry report` on a ledger of real runs, in its three forms."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine, assert_error
from tests.record.reportsamples import Page
from tests.service.test_reports import shell
from tests.service.toolplaces import PATH, OwnPlace


@pytest.fixture
def place(consentry: CommandLine) -> OwnPlace:
    """A user with three runs on record, one of which tried to read what it may not."""
    environ = {**consentry.environ, **PATH}
    made = OwnPlace(Surroundings(environ, consentry.cwd, uid=os.geteuid()), consentry.cwd)
    (consentry.cwd / "in").mkdir()
    (consentry.cwd / "in/a.txt").write_text("a\n")
    shell(made, "reads", "cat in/a.txt")
    shell(made, "steals", "cat /etc/shadow; exit 4")
    for name in ("reads", "reads", "steals"):
        made.run(name)
    return made


def document(consentry: CommandLine, *words: str) -> dict[str, Any]:
    """The report as JSON."""
    ended = consentry("report", *words)
    assert ended.status == 0, ended.err
    found: dict[str, Any] = json.loads(ended.out)
    return found


def test_the_report_is_read_in_a_terminal(consentry: CommandLine, place: OwnPlace) -> None:
    """Counts, bars, what was not used and what deserves a look; eighty columns are enough."""
    ended = consentry("report")
    assert ended.status == 0
    assert "3 runs and refusals: 2 success, 1 failure" in ended.out
    assert "explicit_approval          ######################## 3 given, 0 refused" in ended.out
    assert "reads: 1 of 2 files to read, 2 of 2 programs to start" in ended.out
    assert "not used: in/*.log" in ended.out
    assert f"{place.entries()[2]['id']}  steals: failure, 1 refused" in ended.out


def test_json_has_the_counts_and_every_entry(consentry: CommandLine, place: OwnPlace) -> None:
    """One document, by either option; the entries are those of the ledger."""
    found = document(consentry, "--json")
    assert (found["schema_version"], found["kind"], found["runs"]) == (1, "report", 3)
    assert [each["id"] for each in found["entries"]] == [each["id"] for each in place.entries()]
    other = document(consentry, "--format", "json")
    assert {**other, "period": 0, "over_time": 0} == {**found, "period": 0, "over_time": 0}
    assert document(consentry, "--json", "--tool", "steals")["statuses"] == {"failure": 1}


def test_the_page_says_the_same_numbers(consentry: CommandLine, place: OwnPlace) -> None:
    """Every bar of the page against the document, and every entry has its place."""
    assert consentry("report", "--out", "report.html").status == 0
    file = consentry.cwd / "report.html"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    page, found = Page(file.read_text()), document(consentry, "--json")
    for each in (*found["levels"], *found["methods"]):
        assert f"{each['word']}: {each['given']} given, {each['refused']} refused" in page.labels
    for each in found["violations"]["kinds"]:
        assert f"{each['operation']}: {each['times']} refused in 1 run" in page.labels
    for tool in found["powers"]:
        for use in tool["powers"]:
            used = len(use["granted"]) - len(use["unused"])
            assert f"{use['power']}: {len(use['granted'])} granted, {used} used" in page.labels
    anchors = {a.get("id") for _, a in page.elements}
    assert {each["id"] for each in place.entries()} <= anchors
    assert any(label.startswith("Runs over time: 3 runs") for label in page.labels)


@pytest.mark.parametrize("name", ["r.html", "r.json", "r.txt"])
def test_the_ending_of_a_file_says_its_form(
    consentry: CommandLine, place: OwnPlace, name: str
) -> None:
    """And a file that is there is never overwritten."""
    ended = consentry("report", "--out", name, "--json")
    told = json.loads(ended.out)
    assert (told["kind"], told["file"], told["runs"]) == ("report-file", name, 3)
    text = Path(consentry.cwd, name).read_text()
    begins = {"r.html": "<!doctype html>", "r.json": "{", "r.txt": "Runs from"}[name]
    assert text.startswith(begins)
    assert told["format"] == {"r.html": "html", "r.json": "json", "r.txt": "text"}[name]
    assert len(place.entries()) == 3
    assert_error(consentry("report", "--out", name), Code.FILE_UNUSABLE)


def test_an_empty_ledger_gives_a_report(consentry: CommandLine) -> None:
    """In all three forms, and nothing is made for it."""
    ended = consentry("report")
    assert (ended.status, ended.err) == (0, "nothing was recorded here yet\n")
    assert "0 runs and refusals" in ended.out
    assert document(consentry, "--json")["entries"] == []
    page = Page(consentry("report", "--format", "html").out)
    assert "Nothing was recorded here yet." in page.words
    assert not list(Path(consentry.environ["HOME"]).rglob("ledger.db"))


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--since", "yesterday"), Code.TIMESTAMP),
        (("--since", "1d", "--from", "2026-01-01T00:00:00Z"), Code.USAGE),
        (("--from", "2026-01-02T00:00:00Z", "--to", "2026-01-01T00:00:00Z"), Code.USAGE),
        (("--format", "pdf"), Code.USAGE),
    ],
)
def test_wrong_usage_is_told(consentry: CommandLine, words: tuple[str, ...], code: Code) -> None:
    """One error, in the documented form."""
    assert_error(consentry("report", *words), code)

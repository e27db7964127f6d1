"""`consentry tool narrow`: real runs, the difference, and a manifest that still does."""

import json
import os
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import CommandLine, assert_error
from tests.service.toolplaces import PATH, OwnPlace

MANIFEST = """\
tool:
  name: report
  description: Makes a report   # for Monday
  version: "1.0.0"
  capabilities:
    fileRead:
      - pattern: "notes/**"
        purpose: "All notes"
      - pattern: "drafts/**"
        purpose: "Drafts"
    fileWrite:
      - pattern: "out/*.txt"
        purpose: "The report"
    processExecution:
      - command: cat
        arguments: []
        purpose: "To join"
      - command: sed
        arguments: []
        purpose: "To change"
  riskLevel: low
  entrypoint:
    command: sh
    arguments: ["-c", "cat notes/a.txt > out/report.txt"]
"""


@pytest.fixture
def place(consentry: CommandLine) -> OwnPlace:
    """A tool of the user's own that ran twice, once to a good end."""
    environ = {**consentry.environ, **PATH}
    made = OwnPlace(Surroundings(environ, consentry.cwd, uid=os.geteuid()), consentry.cwd)
    for folder in ("notes", "out", "drafts"):
        (consentry.cwd / folder).mkdir()
    (consentry.cwd / "notes/a.txt").write_text("a\n")
    manifest_of(made).parent.mkdir(parents=True)
    manifest_of(made).write_text(MANIFEST)
    made.run("report")
    (consentry.cwd / "notes/a.txt").rename(consentry.cwd / "notes/b.txt")
    made.run("report")
    (consentry.cwd / "notes/b.txt").rename(consentry.cwd / "notes/a.txt")
    return made


def manifest_of(place: OwnPlace) -> Path:
    """Its file."""
    return place.config / "tools/report.yaml"


def test_the_difference_is_shown_and_nothing_is_written(
    consentry: CommandLine, place: OwnPlace
) -> None:
    """Granted without observed, as a unified diff; a run that failed is left out, and said so."""
    ended = consentry("tool", "narrow", "report")
    assert ended.status == 0
    assert '-      - pattern: "notes/**"\n+      - pattern: "notes/a.txt"\n' in ended.out
    assert '-      - pattern: "drafts/**"\n-        purpose: "Drafts"\n' in ended.out
    assert "-      - command: sed\n" in ended.out
    assert "not used by `report` in its last 1 run" in ended.err
    assert "left out: 1 that did not run to a good end" in ended.err
    assert manifest_of(place).read_text() == MANIFEST
    document = json.loads(consentry("tool", "narrow", "report", "--json").out)
    assert (document["kind"], document["runs"], document["written"]) == ("tool-narrow", 1, False)
    assert "starts sed" in document["removed"]


def test_the_smaller_manifest_is_written_and_still_does(
    consentry: CommandLine, place: OwnPlace
) -> None:
    """What was seen still works, what was taken out is refused, and a second time nothing is left."""
    before = manifest_of(place).stat()
    assert consentry("tool", "narrow", "report", "--write").status == 0
    text = manifest_of(place).read_text()
    assert "# for Monday" in text
    assert "drafts" not in text
    assert manifest_of(place).stat().st_mode == before.st_mode
    assert [each.name for each in manifest_of(place).parent.iterdir()] == ["report.yaml"]
    assert place.run("report").outcome.exit_code == 0
    manifest_of(place).write_text(text.replace("cat notes/a.txt", "cat notes/a.txt notes/c.txt"))
    (consentry.cwd / "notes/c.txt").write_text("c\n")
    run = place.run("report")
    assert run.outcome.exit_code == 1
    assert [each.resource for each in run.facts.violations] == [str(consentry.cwd / "notes/c.txt")]
    manifest_of(place).write_text(text)
    again = consentry("tool", "narrow", "report", "--write")
    assert (again.status, again.out) == (0, "")
    assert "used all it may" in again.err


def test_a_link_is_not_written_through(consentry: CommandLine, place: OwnPlace) -> None:
    """Neither a file that is one, nor a workspace's folder that leads elsewhere."""
    elsewhere = consentry.cwd.parent / "elsewhere"
    elsewhere.mkdir()
    kept = elsewhere / "report.yaml"
    manifest_of(place).rename(kept)
    manifest_of(place).symlink_to(kept)
    ended = consentry("tool", "narrow", "report", "--write")
    assert ended.status != 0
    assert kept.read_text() == MANIFEST
    manifest_of(place).unlink()
    (consentry.cwd / ".consentry").mkdir()
    (consentry.cwd / ".consentry/tools").symlink_to(elsewhere)
    ended = consentry("tool", "narrow", "report", "--write")
    assert ended.status != 0
    assert kept.read_text() == MANIFEST


def test_without_a_run_that_says_something_there_is_nothing_to_offer(
    consentry: CommandLine, place: OwnPlace
) -> None:
    """No run, or none that was watched whole: one clear error, with how many were left out and why."""
    quiet = MANIFEST.replace("name: report", "name: quiet")
    file = manifest_of(place).with_name("quiet.yaml")
    file.write_text(quiet + "  auditConfig: {logLevel: minimal}\n")
    assert_error(consentry("tool", "narrow", "quiet"), Code.RUN_UNKNOWN)
    place.run("quiet")
    ended = consentry("tool", "narrow", "quiet")
    assert_error(ended, Code.RUN_UNKNOWN)
    assert "1 has lists that are not complete" in ended.err
    assert_error(consentry("tool", "narrow", "reprot"), Code.TOOL_UNKNOWN)
    assert place.entries()[-1]["tool"]["name"] == "quiet"

"""`consentry audit show` for the audit entries of runs, as YAML and JSON (CONSENT §audit)."""

import json
from typing import Any

import pytest
import yaml

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import last_record, put
from tests.record.test_auditentry import FIELDS


def shown(line: CommandLine, named: str, *words: str) -> dict[str, Any]:
    """The entry, as YAML that is read back."""
    ended = line("audit", "show", named, *words)
    assert ended.status == 0, ended.err
    document = yaml.safe_load(ended.out)
    assert list(document) == ["auditEntry"]
    entry: dict[str, Any] = document["auditEntry"]
    return entry


def names_in(value: Any, before: str = "") -> set[str]:
    """Every key, with its place, as the list of the document spells them."""
    found: set[str] = set()
    if isinstance(value, dict):
        for key, item in value.items():
            place = f"{before}.{key}" if before else str(key)
            found |= {place} | names_in(item, place)
    elif isinstance(value, list):
        for item in value:
            found |= names_in(item, f"{before}[]")
    return found


def rehearsed(line: CommandLine) -> str:
    """The entry's id of a run that waits to be committed."""
    put(line, "in/a", "1\n")
    words = ("--rehearse", "--read", "in", "--write", "out", "--exec", "any")
    (line.cwd / "out").mkdir()
    put(line, "out/b", "2\n")
    assert line("exec", *words, "--", "sh", "-c", "cat in/a > out/b").status == 0
    return str(last_record(line)["id"])


def test_an_entry_has_every_name_of_the_document(line: CommandLine) -> None:
    """CONSENT §audit-2: under the root key `auditEntry`, in its order; YAML and JSON are the same."""
    run = rehearsed(line)
    entry = shown(line, run)
    assert names_in(entry) >= set(FIELDS)
    assert list(entry)[:8] == [each for each in FIELDS if "." not in each]
    assert json.loads(line("audit", "show", run, "--format", "json").out) == {"auditEntry": entry}
    document = json.loads(line("audit", "show", run, "--json").out)
    assert (document["kind"], document["auditEntry"]) == ("audit-entry", entry)


def test_the_beginning_of_an_id_will_do(line: CommandLine) -> None:
    """Where only one has it; none, or two, is an error."""
    run = rehearsed(line)
    assert shown(line, run[:-3])["id"] == run
    line("exec", "--", "true")
    assert_error(line("audit", "show", "audit-0"), Code.RUN_UNKNOWN)
    assert_error(line("audit", "show", run[:10]), Code.RUN_AMBIGUOUS)
    assert_error(line("audit", "show", "audit-ffffffff"), Code.RUN_UNKNOWN)


def test_a_commit_that_came_later_is_shown(line: CommandLine) -> None:
    """CONSENT §audit-4: the second yes has its time; the event itself stays as it was written."""
    run = rehearsed(line)
    before = last_record(line)
    assert shown(line, run)["impact"]["committed"] is False
    assert line("commit", run).status == 0
    after = shown(line, run)
    assert after["impact"]["committed"] is True
    assert after["user"]["commitTimestamp"] > after["user"]["consentTimestamp"]
    assert last_record(line) == before
    assert line("undo", run).status == 0
    assert shown(line, run)["impact"]["undoneTimestamp"] > after["user"]["commitTimestamp"]


@pytest.mark.parametrize("way", ["discard", "conflict"])
def test_what_was_not_committed_is_discarded(line: CommandLine, way: str) -> None:
    """CONTRACTS §12-status: thrown away, or somebody else changed the same file meanwhile."""
    run = rehearsed(line)
    if way == "discard":
        assert line("discard", run).status == 0
    else:
        put(line, "out/b", "another\n")
        assert line("commit", run).status == 126
    entry = shown(line, run)
    assert entry["execution"]["status"] == "discarded"
    assert entry["impact"]["committed"] is False
    assert entry["impact"]["discarded"] is not None


def test_refusals_and_failures_have_an_entry(line: CommandLine) -> None:
    """CONSENT §audit-1: with every name of the document that a run which did not begin can have."""
    assert line("exec", "--", "sh", "-c", "exit 3").status == 3
    failed = shown(line, str(last_record(line)["id"]))
    assert (failed["execution"]["status"], failed["execution"]["exitCode"]) == ("failure", 3)
    assert line("exec", "--read", "/etc/shadow", "--", "true").status == 126
    event = json.loads(line("audit", "log", "--json", "--last", "1").out)["events"][-1]
    refused = shown(line, event["payload"]["id"])
    assert refused["execution"]["status"] == "denied"
    assert refused["user"]["consentGiven"] is False
    assert refused["user"]["consentTimestamp"] is None
    assert names_in(refused) >= {each for each in FIELDS if "[]" not in each}


def test_an_event_is_shown_as_before(line: CommandLine) -> None:
    """As JSON, whole, with its hash; and as YAML where that is asked for."""
    line("exec", "--", "true")
    event = json.loads(line("audit", "log", "--json", "--last", "1").out)["events"][-1]
    assert json.loads(line("audit", "show", event["eventId"]).out) == event
    assert yaml.safe_load(line("audit", "show", event["eventId"], "--format", "yaml").out) == event

"""The audit entry of a tool's run (CONSENT §audit, CONTRACTS §12)."""

import json
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json
from consentry.base.clock import Instant
from consentry.record.auditfields import ConsentMethod, ExecutionStatus, Trigger
from consentry.record.events import EventType
from consentry.record.payload import check_payload
from tests.record.payloads import AT, sample_payload
from tests.record.refusals import field_named, part_of, refusal

AUDIT = EventType.TOOL_AUDIT


def test_the_words_are_the_contract_s() -> None:
    """CONTRACTS §12-method, §12-status, §12-trigger."""
    assert " ".join(ConsentMethod) == (
        "none implicit_notification explicit_approval strict_approval remembered batch_approval "
        "policy command_line"
    )
    assert " ".join(ExecutionStatus) == (
        "success failure denied timeout killed limit discarded not_started"
    )
    assert " ".join(Trigger) == "user_command flow mcp hook api drill"


def test_a_refused_run_has_no_time_of_consent() -> None:
    """Not given is not given at any time."""
    entry = sample_payload(AUDIT)
    entry["user"].update(consentGiven=False, consentTimestamp=None)
    entry["execution"] = {"startTime": None, "endTime": None, "status": "denied", "exitCode": None}
    entry["sandbox"]["resourceUsage"] = {"cpuTime": None, "memoryPeak": None}
    check_payload(AUDIT, entry)
    entry["user"]["consentTimestamp"] = AT
    assert field_named(refusal(AUDIT, entry)) == "payload.user.consentTimestamp"


@pytest.mark.parametrize(
    ("part", "name"),
    [("user", "consentMethod"), ("execution", "status"), ("context", "triggeredBy")],
)
def test_another_word_is_refused(part: str, name: str) -> None:
    """A word that readers do not know would be counted nowhere."""
    entry = sample_payload(AUDIT)
    entry[part][name] = "other"
    problem = refusal(AUDIT, entry)
    assert field_named(problem) == f"payload.{part}.{name}"
    assert "must have one of `" in problem.message


def test_an_entry_has_an_id_of_its_own() -> None:
    """`audit-` and a UUID; the event's id will not do."""
    entry = sample_payload(AUDIT)
    entry["id"] = entry["id"].replace("audit", "event")
    assert field_named(refusal(AUDIT, entry)) == "payload.id"


@pytest.mark.parametrize("size", [-1, 1.5, True, "12"])
def test_a_size_counts_bytes(size: Any) -> None:
    """A whole number from nothing on."""
    entry = sample_payload(AUDIT)
    entry["impact"]["filesWritten"][0]["size"] = size
    assert field_named(refusal(AUDIT, entry)) == "payload.impact.filesWritten[0].size"


_text = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
_instant = st.integers(0, 4_000_000_000_000).map(lambda ms: str(Instant(ms)))
_hash = st.none() | st.binary(min_size=32, max_size=32).map(lambda raw: f"sha256:{raw.hex()}")
_uuid7 = st.integers(0, 16**12 - 1).map(lambda tail: f"0198c2f4-0000-7000-8000-{tail:012x}")
_given = st.fixed_dictionaries(
    {"consentGiven": st.just(True), "consentTimestamp": st.none() | _instant}
)
_refused = st.just({"consentGiven": False, "consentTimestamp": None})
_user = st.builds(
    lambda person, consent, method: {"id": person, **consent, "consentMethod": method},
    _text,
    _given | _refused,
    st.sampled_from([method.value for method in ConsentMethod]),
)
_entries = st.fixed_dictionaries(
    {
        "id": _uuid7.map(lambda uuid: f"audit-{uuid}"),
        "timestamp": _instant,
        "tool": st.fixed_dictionaries({"name": _text, "version": _text}),
        "user": _user,
        "execution": st.fixed_dictionaries(
            {
                "startTime": st.none() | _instant,
                "endTime": st.none() | _instant,
                "status": st.sampled_from([status.value for status in ExecutionStatus]),
                "exitCode": st.none() | st.integers(-64, 255),
            }
        ),
        "impact": st.fixed_dictionaries(
            {
                "filesRead": st.lists(
                    st.fixed_dictionaries({"path": _text, "hash": _hash}), min_size=1, max_size=3
                ),
                "filesWritten": st.lists(
                    st.fixed_dictionaries(
                        {"path": _text, "hash": _hash, "size": st.integers(0, 2**53 - 1)}
                    ),
                    min_size=1,
                    max_size=3,
                ),
                "filesDeleted": st.lists(_text, max_size=2),
                "committed": st.booleans(),
            }
        ),
        "sandbox": st.fixed_dictionaries(
            {
                "profile": _text,
                "violations": st.lists(st.dictionaries(_text, _text, max_size=2), max_size=2),
                "resourceUsage": st.fixed_dictionaries(
                    {"cpuTime": st.none() | _text, "memoryPeak": st.none() | _text}
                ),
            }
        ),
        "context": st.fixed_dictionaries(
            {
                "workflowId": st.none() | _text,
                "sessionId": st.none() | _text,
                "triggeredBy": st.sampled_from([trigger.value for trigger in Trigger]),
            }
        ),
    }
)
_places = st.sampled_from([place for place, _ in AUDIT.places()])


@given(_entries)
def test_every_sound_entry_is_recorded_as_it_is(entry: dict[str, Any]) -> None:
    """Whatever names, hashes and times it has; and it is accepted again when it is read back."""
    before = deepcopy(entry)
    check_payload(AUDIT, entry)
    check_payload(AUDIT, json.loads(canonical_json(entry)))
    assert entry == before, "a check changes nothing"


@given(_entries, _places, st.sampled_from(["remove", -0.5, b"bytes", {1, 2}]))
def test_one_wrong_field_anywhere_is_found_and_named(
    entry: dict[str, Any], place: str, wrong: Any
) -> None:
    """A field taken away, or holding what no kind of field holds."""
    holder, name = part_of(entry, place)
    if wrong == "remove":
        del holder[name]
    else:
        holder[name] = wrong
    assert field_named(refusal(AUDIT, entry)) == f"payload.{place.replace('[]', '[0]')}"

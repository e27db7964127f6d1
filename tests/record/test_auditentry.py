"""The audit entry of a run as its document writes it: names, hashes, words (CONSENT §audit).

Whatever is expected is spelled out here, and nothing of it is taken from the rules under test.
"""

from copy import deepcopy
from typing import Any

import pytest

from consentry.record.auditfields import ConsentMethod
from consentry.record.events import EventType
from consentry.record.payload import check_payload
from tests.record.refusals import field_named, part_of, refusal

AUDIT = EventType.TOOL_AUDIT
ENTRY: dict[str, Any] = {
    "id": "audit-019a2b4c-0d1e-7f20-8a31-5b6c7d8e9fa0",
    "timestamp": "2024-12-13T10:30:45.000Z",
    "tool": {"name": "build-latex", "version": "1.0.0"},
    "user": {
        "id": "local:1000:user@host",
        "consentGiven": True,
        "consentTimestamp": "2024-12-13T10:29:55.000Z",
        "consentMethod": "explicit_approval",
    },
    "execution": {
        "startTime": "2024-12-13T10:30:00.000Z",
        "endTime": "2024-12-13T10:30:45.000Z",
        "status": "success",
        "exitCode": 0,
    },
    "impact": {
        "filesRead": [{"path": "latex/main.tex", "hash": "sha256:" + "ab" * 32}],
        "filesWritten": [
            {"path": "output-final/pdf/main.pdf", "hash": "sha256:" + "01" * 32, "size": 245_678}
        ],
        "filesDeleted": [],
        "committed": True,
    },
    "sandbox": {
        "profile": "latex-build",
        "violations": [],
        "resourceUsage": {"cpuTime": "32s", "memoryPeak": "128MB"},
    },
    "context": {"workflowId": "wf-123", "sessionId": "session-456", "triggeredBy": "user_command"},
}
"""The document's own example, with whole ids, times and hashes, and what CONTRACTS adds."""

FIELDS = [
    "id",
    "timestamp",
    "tool",
    "tool.name",
    "tool.version",
    "user",
    "user.id",
    "user.consentGiven",
    "user.consentTimestamp",
    "user.consentMethod",
    "execution",
    "execution.startTime",
    "execution.endTime",
    "execution.status",
    "execution.exitCode",
    "impact",
    "impact.filesRead",
    "impact.filesRead[].path",
    "impact.filesRead[].hash",
    "impact.filesWritten",
    "impact.filesWritten[].path",
    "impact.filesWritten[].hash",
    "impact.filesWritten[].size",
    "impact.filesDeleted",
    "impact.committed",
    "sandbox",
    "sandbox.profile",
    "sandbox.violations",
    "sandbox.resourceUsage",
    "sandbox.resourceUsage.cpuTime",
    "sandbox.resourceUsage.memoryPeak",
    "context",
    "context.workflowId",
    "context.sessionId",
    "context.triggeredBy",
]
"""Every name of the document, in its order, and `committed` of CONTRACTS §12-commit-flag."""

HASHES = ("impact.filesRead[].hash", "impact.filesWritten[].hash")
NO_HASHES = (
    "free text",
    "",
    "ab" * 32,
    "sha256:",
    "sha256:" + "a" * 63,
    "sha256:" + "a" * 65,
    "sha256:" + "A" * 64,
    "sha256:" + "g" * 64,
    "sha256-" + "a" * 64,
    "sha512:" + "a" * 64,
    "SHA256:" + "a" * 64,
    " sha256:" + "a" * 64,
    "sha256:" + "a" * 64 + "\n",
    "sha256:" + "\u0661" * 64,
)
METHODS = (
    "none", "implicit_notification", "explicit_approval", "strict_approval", "remembered",
    "batch_approval", "policy", "command_line",
)  # fmt: skip
STATUSES = (
    "success", "failure", "denied", "timeout", "killed", "limit", "discarded", "not_started",
)  # fmt: skip


def changed(place: str, value: Any) -> dict[str, Any]:
    """The example with something else in one place."""
    entry = deepcopy(ENTRY)
    holder, name = part_of(entry, place)
    holder[name] = value
    return entry


def test_an_entry_has_exactly_the_fields_of_its_document() -> None:
    """CONSENT §audit-2: these names, none more, none less, and the example is one."""
    assert [place for place, _ in AUDIT.places()] == FIELDS
    check_payload(AUDIT, ENTRY)


@pytest.mark.parametrize("place", FIELDS)
def test_an_entry_without_a_field_of_its_document_is_refused(place: str) -> None:
    """CONSENT §audit-2: each by its name; the key stands there even where null may."""
    entry = deepcopy(ENTRY)
    holder, name = part_of(entry, place)
    del holder[name]
    assert field_named(refusal(AUDIT, entry)) == f"payload.{place.replace('[]', '[0]')}"


@pytest.mark.parametrize("place", HASHES)
@pytest.mark.parametrize("wrong", NO_HASHES)
def test_a_hash_is_sha256_and_64_hexadecimal_digits(place: str, wrong: str) -> None:
    """CONSENT §audit-3: of a file that was read and of one that was written; all else is refused."""
    check_payload(AUDIT, changed(place, "sha256:" + "0123456789abcdef" * 4))
    check_payload(AUDIT, changed(place, None))
    problem = refusal(AUDIT, changed(place, wrong))
    assert field_named(problem) == f"payload.{place.replace('[]', '[0]')}"


def test_there_is_no_other_hash_in_an_entry() -> None:
    """CONSENT §audit-3: the two that are tested are all."""
    assert [place for place in FIELDS if "hash" in place.lower()] == list(HASHES)


@pytest.mark.parametrize("status", STATUSES)
def test_whether_changes_were_committed_is_always_said(status: str) -> None:
    """CONTRACTS §12-commit-flag: true or false, however the run ended; neither absent nor null."""
    for said in (True, False):
        entry = changed("impact.committed", said)
        entry["execution"]["status"] = status
        check_payload(AUDIT, entry)
    unsaid = [changed("impact.committed", wrong) for wrong in (None, "yes", 1)]
    unsaid.append(deepcopy(ENTRY))
    del unsaid[-1]["impact"]["committed"]
    for entry in unsaid:
        entry["execution"]["status"] = status
        assert field_named(refusal(AUDIT, entry)) == "payload.impact.committed"


@pytest.mark.parametrize("method", METHODS)
def test_consent_is_given_in_one_of_eight_ways(method: str) -> None:
    """CONTRACTS §12-method: each is taken, with consent and, its time then null, without."""
    check_payload(AUDIT, changed("user.consentMethod", method))
    entry = changed("user.consentMethod", method)
    entry["user"].update(consentGiven=False, consentTimestamp=None)
    check_payload(AUDIT, entry)
    entry["user"]["consentTimestamp"] = ENTRY["user"]["consentTimestamp"]
    assert field_named(refusal(AUDIT, entry)) == "payload.user.consentTimestamp"


@pytest.mark.parametrize(
    "method", ["", "explicit", "Policy", "policy ", "command-line", "admin_override", None, True]
)
def test_there_is_no_ninth_way(method: Any) -> None:
    """CONTRACTS §12-method: the words are spelled so and not otherwise."""
    assert tuple(ConsentMethod) == METHODS
    entry = changed("user.consentMethod", method)
    assert field_named(refusal(AUDIT, entry)) == "payload.user.consentMethod"

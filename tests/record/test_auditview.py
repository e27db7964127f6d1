"""An entry and what became of its effect, put together (CONSENT §audit-2)."""

from copy import deepcopy
from typing import Any

import pytest

from consentry.base.clock import Instant
from consentry.record.auditview import Fates, final_entry
from tests.record.test_auditentry import ENTRY, FIELDS

NOW = Instant.parse("2024-12-14T00:00:00.000Z")
PERMIT = "permit-019a2b4c-0d1e-7f20-8a31-5b6c7d8e9fa0"


def rehearsed(status: str = "success", until: str = "2024-12-20T10:30:45.000Z") -> dict[str, Any]:
    """The document's own example as a strict run that waits for its second yes."""
    entry = deepcopy(ENTRY)
    entry["permitId"] = PERMIT
    entry["execution"]["status"] = status
    entry["impact"] |= {"committed": False, "discarded": None}
    entry["impact"]["rehearsal"] = {"keptUntil": until, "needsApproval": True}
    return entry


def told(*steps: tuple[str, str], permit: str = PERMIT, **more: Any) -> Fates:
    """Decisions and outcomes one after the other, two minutes apart."""
    fates = Fates()
    for number, (action, outcome) in enumerate(steps):
        payload = {"permitId": permit, "action": action, "outcome": outcome, "why": None, **more}
        at = f"2024-12-13T11:{number * 2:02}:00.000Z"
        later = f"2024-12-13T11:{number * 2 + 1:02}:00.000Z"
        decision = f"event-{number}"
        decided = {"type": "effect.decided", "eventId": decision, "timestampUtc": at}
        fates.add({**decided, "payload": payload})
        settled = {"type": "effect.settled", "eventId": f"{decision}s", "timestampUtc": later}
        fates.add({**settled, "payload": {**payload, "decisionEventId": decision}})
    return fates


def final(entry: dict[str, Any], fates: Fates) -> dict[str, Any]:
    """The view of an entry with those events behind it."""
    return final_entry(entry, fates.of(entry.get("permitId")), NOW)


def test_a_commit_that_came_later_is_in_the_entry() -> None:
    """Committed, with the moment of the second yes and not that of the last byte."""
    entry = final(rehearsed(), told(("commit", "committed")))
    assert entry["impact"]["committed"] is True
    assert entry["user"]["commitTimestamp"] == "2024-12-13T11:00:00.000Z"
    assert entry["user"]["consentTimestamp"] == ENTRY["user"]["consentTimestamp"]
    assert entry["execution"]["status"] == "success"


@pytest.mark.parametrize("outcome", ["refused", "conflict"])
def test_a_refused_commit_makes_the_run_discarded(outcome: str) -> None:
    """CONTRACTS §12-status: a finished run whose commit was refused or met a conflict."""
    conflicts = [{"path": name, "why": "changed"} for name in "abcd"]
    entry = final(rehearsed(), told(("commit", outcome), conflicts=conflicts))
    assert entry["execution"]["status"] == "discarded"
    assert entry["impact"]["committed"] is False
    assert "`a`, `b`, `c`, and 1 more" in entry["impact"]["discarded"]
    assert "commitTimestamp" not in entry["user"]


def test_a_denied_second_yes_makes_the_run_discarded() -> None:
    """Its effect is thrown away, and the entry says so; the reason of a conflict before is kept."""
    entry = final(rehearsed(), told(("discard", "discarded")))
    assert entry["execution"]["status"] == "discarded"
    assert entry["impact"]["discarded"] == "it was discarded"
    both = told(("commit", "conflict"), ("discard", "discarded"), conflicts=[{"path": "a"}])
    assert "somebody else" in final(rehearsed(), both)["impact"]["discarded"]


def test_a_commit_that_succeeds_in_the_end_counts() -> None:
    """After a conflict everything is as it was, and may be tried again."""
    entry = final(rehearsed(), told(("commit", "conflict"), ("commit", "committed")))
    assert entry["execution"]["status"] == "success"
    assert entry["impact"]["committed"] is True
    assert entry["impact"]["discarded"] is None
    assert entry["user"]["commitTimestamp"] == "2024-12-13T11:02:00.000Z"


def test_an_undone_run_was_committed_and_taken_back() -> None:
    """Both moments are there; a refused undo changes nothing."""
    entry = final(rehearsed(), told(("commit", "committed"), ("undo", "undone")))
    assert entry["impact"]["committed"] is True
    assert entry["impact"]["undoneTimestamp"] == "2024-12-13T11:02:00.000Z"
    kept = final(rehearsed(), told(("commit", "committed"), ("undo", "refused")))
    assert kept["impact"]["committed"] is True
    assert "undoneTimestamp" not in kept["impact"]
    at_once = {**deepcopy(ENTRY), "permitId": PERMIT}
    undone = final(at_once, told(("undo", "undone")))["impact"]
    assert (undone["committed"], undone["undoneTimestamp"]) == (True, "2024-12-13T11:00:00.000Z")


def test_what_waits_is_neither_and_what_waited_too_long_is_discarded() -> None:
    """While it is kept somebody may still say yes."""
    assert final(rehearsed(), Fates())["execution"]["status"] == "success"
    lapsed = final(rehearsed(until="2024-12-13T12:00:00.000Z"), Fates())
    assert lapsed["execution"]["status"] == "discarded"
    assert "not committed while it was kept" in lapsed["impact"]["discarded"]


@pytest.mark.parametrize("status", ["timeout", "killed", "limit"])
def test_a_run_that_was_ended_keeps_its_status(status: str) -> None:
    """CONTRACTS §12-commit: `discarded` is only a finished run."""
    entry = final(rehearsed(status), told(("discard", "discarded")))
    assert entry["execution"]["status"] == status


def test_events_of_another_run_say_nothing() -> None:
    """An effect is known by the permit of its run."""
    fates = told(("commit", "committed"), permit="permit-other")
    assert final(rehearsed(), fates)["impact"]["committed"] is False


def test_the_keys_stand_in_the_order_of_the_document() -> None:
    """CONSENT §audit-2: whatever order they are stored in; what is added comes behind."""
    shuffled = {key: ENTRY[key] for key in sorted(ENTRY, reverse=True)}
    entry = final_entry({**shuffled, "permitId": PERMIT}, None, NOW)
    names = [each for each in FIELDS if "." not in each]
    assert list(entry) == [*names, "permitId"]
    for part in ("user", "execution", "impact", "sandbox", "context"):
        inner = [each.removeprefix(f"{part}.") for each in FIELDS if each.startswith(f"{part}.")]
        assert list(entry[part]) == [each for each in inner if not {*".["} & {*each}]
    assert entry == {**ENTRY, "permitId": PERMIT}

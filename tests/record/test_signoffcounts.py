"""What a sign-off counts and what it does not: windows, approvals, attempts, violations, sessions."""

from typing import Any

import pytest

from consentry.record.signoffgates import Counts, GateStatus
from tests.record.modulepayloads import sample_id
from tests.record.signoffsamples import (
    APPLIED,
    DRILL,
    HOUR,
    OTHER_DIGEST,
    PROD,
    UNDONE,
    Story,
    approval_of,
    ended_payload,
    good_story,
    time_at,
)
from tests.record.test_signoff import WAITING, counted, gate_of, missed


def test_what_lies_outside_of_the_window_does_not_count() -> None:
    """CONTRACTS §4-signoff: the beginning is in it, the end is not."""
    story = Story()
    for minute in (-1, -0.001, 0, HOUR - 0.001, HOUR, HOUR + 1):
        story.checked("valid", minute)
        story.rejected("capability.rollback.executed", minute, tags=DRILL)
    assert counted(story, "H-KPI-1") == (2, 2)
    assert counted(story, "S000-ROLLBACK") == (2, 2)
    assert story.answer().events == 4


def test_an_approval_from_before_the_window_is_an_approval() -> None:
    """MODULES §metric-approval: a grant for good was approved once, perhaps long ago."""
    story = Story()
    story.approved(-100_000)
    story.used(1)
    assert counted(story, "S000-APPROVAL") == (1, 1)
    story.attempt("x", APPLIED[:4], -1)
    story.attempt("x", APPLIED[4:], 1)
    assert counted(story, "S-SLO-1") == (1, 1)


@pytest.mark.parametrize(
    ("approved", "used", "good"), [(PROD, PROD, 1), (PROD, DRILL, 1), (DRILL, DRILL, 1), (DRILL, PROD, 0)]
)  # fmt: skip
def test_what_was_approved_in_a_drill_is_not_for_real_use(
    approved: dict[str, str], used: dict[str, str], good: int
) -> None:
    """CONTRACTS §4-tags, MODULES §metric-approval: also before the window, and a real approval later on counts."""
    story = Story()
    story.approved(-1, tags=approved)
    story.used(1, 2, tags=used)
    assert counted(story, "S000-APPROVAL") == (good, 1)
    story.approved(3)
    story.approved(4, tags=approved)
    story.used(2, 5, tags=used)
    assert counted(story, "S000-APPROVAL") == (good + 1, 2)


def test_an_approval_that_comes_later_is_none() -> None:
    """MODULES §metric-approval: before the use, not at some time."""
    story = Story()
    story.used(1, 2)
    story.approved(3)
    story.used(1, 4)
    assert counted(story, "S000-APPROVAL") == (0, 1)


@pytest.mark.parametrize(
    ("age", "ttl", "good"), [(0, 60, 1), (60, 60, 1), (60.001, 60, 0), (-0.001, 60, 0)]
)
def test_an_approval_is_as_old_as_it_may_be(age: float, ttl: int, good: int) -> None:
    """CONTRACTS §3-approval: to the second of its span, and never from a time to come."""
    story, applied_at = Story(), 10.0
    given = time_at(applied_at - age / 60)
    approval = approval_of("x", decisionAt=given, approvalTtlSeconds=ttl)
    story.step("x", "APPROVAL_PENDING", "APPROVED", 9, approval=approval)
    story.step("x", "APPROVED", "APPLYING", applied_at)
    assert counted(story, "S-SLO-1") == (good, 1)


@pytest.mark.parametrize(
    "change",
    [{"txId": "y"}, {"attemptNo": 2}, {"previewHash": OTHER_DIGEST}, {"baseRevision": "6"},
     {"decision": "rejected"}],
)  # fmt: skip
def test_an_approval_of_something_else_is_none(change: dict[str, Any]) -> None:
    """CONTRACTS §3-approval: each of the four parts binds it; what the beginning itself says is not enough."""
    story = Story()
    story.step("x", "APPROVAL_PENDING", "APPROVED", approval=approval_of("x", **change))
    story.step("x", "APPROVED", "APPLYING", 2)
    assert counted(story, "S-SLO-1") == (0, 1)


@pytest.mark.parametrize(
    ("role", "required", "good"),
    [("owner", True, (1, 1)), ("operator", True, (1, 1)), ("system", True, (0, 1)),
     ("viewer", True, (0, 1)), ("system", False, (0, 0))],
)  # fmt: skip
def test_an_approval_is_by_somebody_who_may_give_it(
    role: str,
    required: bool,  # noqa: FBT001 - a table
    good: tuple[int, int],
) -> None:
    """CONTRACTS §4-s-slo-1: where a person has to say yes, what the system said is no yes, nor a viewer's."""
    story = Story()
    who = {"approverRole": role, **({"approverId": "system"} if role == "system" else {})}
    approval = approval_of("x", **who)
    same = {"approval": approval, "approvalRequired": required}
    story.step("x", "APPROVAL_PENDING", "APPROVED", **same)
    story.step("x", "APPROVED", "APPLYING", 2, **same)
    assert counted(story, "S-SLO-1") == good


@pytest.mark.parametrize(
    ("earlier", "minute", "good"),
    [((), 1, (0, 1)), (APPLIED[:3], 1, (0, 1)), (APPLIED[:4], 1, (0, 0)), (APPLIED[:5], -1, (0, 0)),
     (APPLIED[:5], 1, (1, 1))],
)  # fmt: skip
def test_an_apply_out_of_nothing_was_not_approved(
    earlier: tuple[tuple[str, str], ...], minute: int, good: tuple[int, int]
) -> None:
    """CONTRACTS §4-s-slo-1: only its end was put into the ledger; one that begins before the window was approved there."""
    story = Story()
    story.attempt("x", earlier, minute)
    story.step("x", "APPLYING", "APPLIED", 3)
    assert counted(story, "S-SLO-1") == good
    story.step("x", "APPLIED", "ROLLBACK_PENDING", 4)
    story.step("x", "ROLLBACK_PENDING", "RECOVERY_PENDING", 5)
    story.step("x", "RECOVERY_PENDING", "APPLIED", 6)
    assert counted(story, "S-SLO-1") == good


def test_an_apply_that_was_refused_before_it_wrote_is_none() -> None:
    """CONTRACTS §4-s-slo-1: an approval that ran out is found in time, and nothing is applied on it."""
    story = Story()
    story.step("x", "APPROVED", "APPLYING")
    assert counted(story, "S-SLO-1") == (0, 1)
    story.step("x", "APPLYING", "FAILED_PRE_APPLY", 2)
    assert counted(story, "S-SLO-1") == (0, 0)
    story.step("x", "APPLYING", "APPLIED", 3)
    assert counted(story, "S-SLO-1") == (0, 1), "what was applied after all was not refused"


def test_what_needs_no_approval_is_not_asked_for_one() -> None:
    """And one step that says it needs one is enough to be asked."""
    story = Story()
    story.attempt("x", APPLIED[4:], approvalRequired=False)
    assert counted(story, "S-SLO-1") == (0, 0)
    story.step("x", "PREVIEW_READY", "APPROVAL_PENDING")
    assert counted(story, "S-SLO-1") == (0, 1)


def test_what_is_under_way_is_shown_and_not_counted() -> None:
    """CONTRACTS §4-h-slo-4: waiting, approved and applying are open; recovering is not."""
    story = Story()
    for number, length in enumerate((3, 4, 5, 6)):
        story.attempt(f"tx-{number}", UNDONE[:length])
    gate = gate_of(story, "H-SLO-4")
    assert (gate.numerator, gate.denominator, gate.open) == (0, 1, 3)
    story.step("tx-3", "RECOVERY_PENDING", "APPROVED", 2)
    assert gate_of(story, "H-SLO-4").open == 4


def test_an_attempt_that_could_not_be_settled_is_named_once() -> None:
    """CONTRACTS §4-h-slo-4: also where it had become APPLIED before, and is among those that settled."""
    story = Story()
    story.attempt("one", (*UNDONE[:6], ("RECOVERY_PENDING", "FAILED_TERMINAL")))
    story.attempt(
        "two", (*APPLIED, ("APPLIED", "ROLLBACK_PENDING"), ("ROLLBACK_PENDING", "FAILED_TERMINAL"))
    )
    gate = gate_of(story, "H-SLO-4")
    assert (gate.numerator, gate.denominator, gate.status) == (1, 2, GateStatus.MISSED)
    assert [(each.about, each.counts) for each in gate.events] == [
        ("two:1", Counts.AGAINST),
        ("one:1", Counts.AGAINST),
        ("two:1", Counts.FOR),
    ]
    assert gate.left_out == 0


@pytest.mark.parametrize(("good", "bad", "status"), [(199, 1, "met"), (198, 1, "missed")])
def test_half_a_percent_of_attempts_may_end_otherwise(good: int, bad: int, status: str) -> None:
    """CONTRACTS §4-h-slo-4: 99.5 %, to the attempt."""
    story = Story()
    for number in range(good):
        story.attempt(f"good-{number}", APPLIED[2:], approvalRequired=False)
    for number in range(bad):
        story.attempt(f"bad-{number}", (WAITING[2], ("APPROVAL_PENDING", "FAILED_PRE_APPLY")))
    assert gate_of(story, "H-SLO-4").status == status


@pytest.mark.parametrize(("good", "bad", "status"), [(0, 1, "missed"), (199, 1, "met"), (0, 0, "met")])  # fmt: skip
def test_drills_do_not_make_up_for_real_use(good: int, bad: int, status: str) -> None:
    """CONTRACTS §4-h-slo-4, §4-tags: many that settled in drills stand beside the few that did not in real use."""
    story = Story()
    for number in range(400):
        story.attempt(f"drill-{number}", APPLIED[2:], tags=DRILL)
    for number in range(good):
        story.attempt(f"good-{number}", APPLIED[2:])
    for number in range(bad):
        story.attempt(f"bad-{number}", (WAITING[2], ("APPROVAL_PENDING", "FAILED_PRE_APPLY")))
    story.attempt("open", WAITING)
    gate = gate_of(story, "H-SLO-4")
    assert (gate.status, gate.numerator, gate.denominator) == (status, 400 + good, 400 + good + bad)


def test_what_is_said_twice_counts_once() -> None:
    """CONTRACTS §4-signoff: steps, approvals and cases, under other ids, by another writer."""
    story = good_story()
    again = [each for each in story.events if not each["type"].startswith("capability.rollback")]
    for each in again:
        tags = {name: each[name] for name in DRILL}
        minute = (1, 2)[each["type"] != "capability.escalation.approved"]
        if each["type"] == "transaction.transition":
            continue
        story.add(each["type"], each["payload"], minute, writer=1, tags=tags,
                  session=each["sessionId"])  # fmt: skip
    for number in range(40):
        story.attempt(f"tx-{number}", APPLIED, 20, tags=DRILL, writer=1)
    first, second = good_story().answer(), story.answer()
    # Each try of a valid package is one, so that figure alone has twice as many.
    figures = [
        {gate.id: (gate.numerator, gate.denominator) for gate in each.gates if gate.id != "H-KPI-1"}
        for each in (first, second)
    ]
    assert figures[0] == figures[1]
    assert [each.found for each in second.floors] == [each.found for each in first.floors]
    assert second.is_go


def test_a_violation_stays_a_no_go_until_it_is_resolved() -> None:
    """CONTRACTS §4-s-slo-3: by an event behind it, at any time; a resolution before it is none."""
    story = good_story()
    violation = story.rejected(minute=10)
    assert missed(story) == ["S-SLO-3"]
    story.resolved(violation, 9)
    story.resolved(sample_id("event", 1), 12)
    assert missed(story) == ["S-SLO-3"]
    later = story.resolved(violation, HOUR + 100)
    answer = story.answer()
    assert answer.is_go
    assert [each["resolution"] for each in answer.violations] == [later]
    assert [each["rootCause"] for each in answer.resolutions] == ["a path was not checked"]
    assert gate_of(story, "S-SLO-3").figure == 0


def test_a_violation_from_before_the_window_stays_one() -> None:
    """CONTRACTS §4-s-slo-3: waiting for the window to pass resolves nothing."""
    story = good_story()
    violation = story.rejected(minute=-100_000)
    answer = story.answer()
    assert [(each["eventId"], each["inWindow"]) for each in answer.violations] == [(violation, False)]  # fmt: skip
    story.resolved(violation, -5)
    assert (story.answer().is_go, story.answer().violations) == (True, ())


def test_each_event_of_a_violation_is_one() -> None:
    """CONTRACTS §4-s-slo-3: the check that rejected and the roll-back are both looked at."""
    story = Story()
    story.rejected()
    story.rejected("capability.rollback.executed")
    story.rejected("capability.rollback.failed")
    story.rejected(reason="capability-not-granted")
    story.rejected(tags=DRILL)
    assert gate_of(story, "S-SLO-3").numerator == 3


def test_a_violation_that_lacks_a_field_is_a_violation() -> None:
    """What cannot be read is a failure of integrity, and still what it says it is."""
    story = good_story()
    story.rejected()
    del story.events[-1]["payload"]["grantVersion"]
    assert len(story.answer().reasons) == 2
    story.events[-1]["timestampUtc"] = time_at(-1000)
    assert missed(story) == ["S-SLO-3"]


def test_sessions_and_runs_are_counted_once_and_named_fixtures_only_where_all_of_them_are() -> None:
    """CONTRACTS §4-floors: how many of the samples were fixtures is said for each floor."""
    story, session = Story(), sample_id("session", 1)
    story.used(1, session=session, tags=DRILL)
    story.used(1, session=session, tags=DRILL)
    floors = {each.id: (each.found, each.fixtures) for each in story.answer().floors}
    assert (floors["sessions"], floors["approvals"]) == ((1, 1), (1, 1))
    story.used(1, session=session)
    story.used(2, session=None, tags=DRILL, actionId=None)
    story.used(3, session=sample_id("session", 2), actionId=None)
    story.add("module.action.ended", ended_payload(4), 5, session=sample_id("session", 3), tags=DRILL)  # fmt: skip
    floors = {each.id: (each.found, each.fixtures) for each in story.answer().floors}
    assert (floors["sessions"], floors["approvals"]) == ((2, 1), (3, 1))

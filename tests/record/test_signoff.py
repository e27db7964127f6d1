"""GO or NO-GO: what is a GO, and how each gate, floor and failure of integrity alone makes a NO-GO of it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from consentry.base.canonical import Digest
from consentry.base.units import Duration
from consentry.record.chain import ChainFault
from consentry.record.signoff import MOST_PROBLEMS, SignoffFold, SignoffWindow
from consentry.record.signoffgates import MOST_EVENTS, Counts, Gate, GateStatus
from tests.record.modulepayloads import DIGEST, sample_id
from tests.record.signoffsamples import (
    APPLIED,
    DRILL,
    FIXTURE,
    HOUR,
    OTHER_DIGEST,
    PROD,
    SINCE,
    UNDONE,
    VIOLATION,
    WINDOW,
    WRITERS,
    Story,
    approval_of,
    capability_payload,
    chained_rows,
    error_of,
    good_story,
    time_at,
)

WAITING = APPLIED[:3]


def gate_of(story: Story, name: str) -> Gate:
    """One gate of the answer."""
    return next(gate for gate in story.answer().gates if gate.id == name)


def missed(story: Story) -> list[str]:
    """The gates that are not met."""
    return [each.id for each in story.answer().gates if each.status is not GateStatus.MET]


def counted(story: Story, name: str) -> tuple[int, int | None]:
    """What a gate was taken from."""
    gate = gate_of(story, name)
    return gate.numerator, gate.denominator


def test_the_least_that_is_enough_is_a_go() -> None:
    """CONTRACTS §4-signoff: every gate met, every floor reached, nothing wrong with the evidence."""
    answer = good_story().answer()
    assert (answer.verdict, answer.reasons) == ("GO", ())
    assert [gate.figure for gate in answer.gates] == [100.0] * 6 + [0.0] + [100.0] * 2
    assert [(each.found, each.required) for each in answer.floors] == [
        (30, 30),
        (20, 20),
        (40, 40),
        (10, 10),
        (3, 3),
    ]


def test_where_nothing_is_known_it_is_a_no_go() -> None:
    """CONTRACTS §4-unknown: a gate without a sample is unknown; none of the count is known as none."""
    answer = Story().answer()
    assert answer.verdict == "NO-GO"
    unknown = {each.id for each in answer.gates if each.status is GateStatus.UNKNOWN}
    assert unknown == {each.id for each in answer.gates} - {"S-SLO-3"}
    assert all(f"{name} is unknown" in answer.reasons for name in unknown)


def _two_answers(code: str, path: str) -> list[dict[str, str]]:
    return [{"code": "invalid-module-id", "path": "package.moduleId"}, {"code": code, "path": path}]


FAILING: dict[str, list[Callable[[Story], Any]]] = {
    "H-KPI-1": [lambda s: s.checked("v2", answers=[{"code": "invalid-module-id", "path": "p"}])],
    "H-KPI-2": [
        lambda s: s.checked(
            "i2", caseKind="invalid", answers=_two_answers("invalid-package-key", "package.moduleId")
        ),
        lambda s: s.checked(
            "i2", caseKind="invalid", answers=_two_answers("invalid-module-id", "package.x")
        ),
        lambda s: s.checked("i2", caseKind="invalid", expectedPath="package.x"),
        lambda s: s.checked("i2", caseKind="invalid", expectedCode=None),
        lambda s: s.checked(
            "i2", caseKind="invalid", answers=_two_answers("invalid-module-id", "")[:1]
        ),
    ],
    "H-KPI-3": [
        lambda s: s.checked(
            "a2",
            caseKind="action",
            controlFields={
                "calls": True,
                "mutates": True,
                "requiresApproval": True,
                "undoCommand": False,
                "surface": True,
            },
        )
    ],
    "H-SLO-4": [
        lambda s: s.attempt("x", (*WAITING, ("APPROVAL_PENDING", "FAILED_PRE_APPLY"))),
        lambda s: s.attempt(
            "x", (*APPLIED[:5], ("APPLYING", "RECOVERY_PENDING")), error=error_of("store-gone")
        ),
        # An attempt of before that ends so in the window: none at all may.
        lambda s: s.step("x", "RECOVERY_PENDING", "FAILED_TERMINAL"),
    ],
    "S-SLO-1": [
        lambda s: s.attempt("x", APPLIED, approval=approval_of("x", approvalTtlSeconds=1), minute=9),
        lambda s: s.attempt("x", (*WAITING, *APPLIED[4:])),
        lambda s: (
            s.attempt(
                "x", APPLIED[:4], approval=approval_of("x", previewHash=OTHER_DIGEST)
            ),
            s.attempt("x", APPLIED[4:], 2),
        ),
    ],
    "S-SLO-2": [
        # Applied after all, so that the transaction settled; what was begun was not done.
        lambda s: s.attempt(
            "x", (*APPLIED, ("APPLIED", "ROLLBACK_PENDING"), ("ROLLBACK_PENDING", "RECOVERY_PENDING"))
        ),
        lambda s: s.attempt("x", (*APPLIED, ("APPLIED", "ROLLBACK_PENDING"))),
        lambda s: s.attempt("x", (*UNDONE[:6], ("RECOVERY_PENDING", "APPLIED"))),
    ],
    "S-SLO-3": [
        lambda s: s.rejected(),
        lambda s: s.rejected("capability.rollback.executed"),
        lambda s: s.rejected(minute=-100_000),
    ],
    "S000-APPROVAL": [
        lambda s: s.used(99, capabilityId="ui.slot.render"),
        lambda s: s.used(99, moduleVersion="1.3.0"),
        lambda s: s.used(99, moduleId="counter"),
        lambda s: s.used(99, minute=0.5),
    ],
    "S000-ROLLBACK": [lambda s: s.rejected("capability.rollback.failed", tags=DRILL)],
}  # fmt: skip


@pytest.mark.parametrize(
    ("name", "way"), [(name, at) for name, ways in FAILING.items() for at in range(len(ways))]
)
def test_each_gate_alone_makes_a_no_go(name: str, way: int) -> None:
    """One sample against it, and everything else as it was.

    CONTRACTS §4-h-kpi-1, §4-h-kpi-2, §4-h-kpi-3, §4-h-slo-4, §4-s-slo-1, §4-s-slo-2, §4-s-slo-3,
    §4-s000-approval, §4-s000-rollback.
    """
    story = good_story()
    FAILING[name][way](story)
    answer = story.answer()
    assert missed(story) == [name]
    assert answer.verdict == "NO-GO"
    assert answer.reasons == (f"{name} is missed",)
    [first, *_] = gate_of(story, name).events
    assert first.counts is Counts.AGAINST
    known = {each["eventId"] for each in story.events[-8:]}
    assert first.event_id in known, "the event that counts against it stands first"


@pytest.mark.parametrize(
    ("left_out", "about"),
    [
        (("module.action.ended", 1), "module sessions: 29, and 30 are needed"),
        (("transaction.transition", 6 * 30), "approval-required transactions: 10, and 40 are needed"),
    ],
)  # fmt: skip
def test_each_floor_alone_makes_a_no_go(left_out: tuple[str, int], about: str) -> None:
    """CONTRACTS §4-floors: every figure is at 100 %, and there are too few samples."""
    story, (kind, number) = good_story(), left_out
    gone = [each for each in story.events if each["type"] == kind][-number:]
    story.events = [each for each in story.events if each not in gone]
    answer = story.answer()
    assert missed(story) == []
    assert (answer.verdict, answer.reasons) == ("NO-GO", (about,))


def test_too_few_actions_rollbacks_and_partial_ones_are_told() -> None:
    """CONTRACTS §4-floors: 20 approval-sensitive attempts, 10 roll-backs, 3 after a partial apply."""
    story = good_story()
    for each in story.events:
        payload = each["payload"]
        payload["afterPartialApply"] = (
            payload.get("afterPartialApply") and payload["txId"] != "tx-1"
        )
        if each["sessionId"] == sample_id("session", 3):
            payload["actionRunId"] = sample_id("action", 4)
    story.events = [
        each
        for each in story.events
        if each["payload"].get("txId") != "tx-9" or "ROLLBACK" not in str(each["payload"])
    ]
    below = [(each.id, each.found) for each in story.answer().floors if not each.is_reached]
    assert below == [("approvals", 19), ("rollbacks", 9), ("rollbacks-after-partial", 2)]


@pytest.mark.parametrize(
    ("tags", "kind", "missing"),
    [
        ({"evidenceChannel": None}, "missing-tag", ("evidenceChannel",)),
        ({"evidenceChannel": "staging"}, "missing-tag", ("evidenceChannel",)),
        ({"evidenceChannel": ["prod_traffic"]}, "missing-tag", ("evidenceChannel",)),
        ({**FIXTURE, "fixtureRunId": None}, "missing-tag", ("fixtureRunId",)),
        ({**FIXTURE, "fixtureCaseId": ...}, "missing-tag", ("fixtureCaseId",)),
        ({**FIXTURE, "expectedOutcome": ""}, "missing-tag", ("expectedOutcome",)),
        ({**DRILL, "drillId": None}, "missing-tag", ("drillId",)),
        ({**PROD, "fixtureRunId": "r"}, "mislabelled", ("fixtureRunId",)),
        ({**PROD, "drillId": "d"}, "mislabelled", ("drillId",)),
    ],
)
def test_an_event_without_its_tags_counts_and_makes_a_no_go(
    tags: dict[str, Any], kind: str, missing: tuple[str, ...]
) -> None:
    """CONTRACTS §4-tags: it is listed with what it lacks, and is in the figure like every other."""
    story = good_story()
    event_id = story.used(77, tags=tags)
    answer = story.answer()
    assert answer.reasons == ("1 failure of integrity",)
    [failure] = answer.integrity
    assert (failure.kind, failure.event_id, failure.missing) == (kind, event_id, missing)
    assert counted(story, "S000-APPROVAL") == (21, 21)


def test_a_violation_that_does_not_say_where_it_comes_from_is_one() -> None:
    """CONTRACTS §4-tags: what is not known to be a fixture's is taken for real use."""
    story = good_story()
    event_id = story.rejected(tags={"evidenceChannel": ...})
    answer = story.answer()
    assert [each["eventId"] for each in answer.violations] == [event_id]
    assert len(answer.reasons) == 2


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"payload": None}, "it has no `payload`"),
        ({"eventId": None}, "it has no `eventId`"),
        ({"type": "thing.of.tomorrow"}, "its type is not known"),
        ({"type": 7}, "it has no time or no type"),
        ({"timestampUtc": None}, "it has no time or no type"),
        ({"timestampUtc": "soon"}, "it has no time or no type"),
        ({"timestampUtc": "9999-99-99T00:00:00Z"}, "it has no time or no type"),
        ({"payload.nextState": "APPLIED"}, "cannot go from `RECEIVED` to `APPLIED`"),
        ({"payload.txId": ...}, "cannot be without it"),
        ({"payload.timestamp": time_at(3)}, "must have the event's own time here"),
    ],
)
def test_a_row_that_is_no_event_of_its_type_makes_a_no_go(change: dict[str, Any], why: str) -> None:
    """CONTRACTS §4-tags: what cannot be read is told, by its id or its place, and not passed over."""
    story = good_story()
    story.step("x", "RECEIVED", "PREVIEWING")
    for name, value in change.items():
        holder = story.events[-1]
        if name.startswith("payload."):
            holder = holder["payload"]
        if value is ...:
            del holder[name.removeprefix("payload.")]
        else:
            holder[name.removeprefix("payload.")] = value
    answer = story.answer()
    assert answer.reasons == ("1 failure of integrity",)
    [failure] = answer.integrity
    assert failure.kind == "unreadable"
    assert why in failure.why
    assert (failure.writer, failure.seq) == (WRITERS[0], len(story.events))


def test_a_fault_of_a_chain_makes_a_no_go() -> None:
    """CONTRACTS §4-signoff: figures of a history that does not verify are worth nothing."""
    fold = SignoffFold(WINDOW)
    for row in good_story().rows():
        fold.add(row)
    fold.add_faults([ChainFault(WRITERS[0], 3, None, "is missing")])
    answer = fold.answer()
    assert answer.reasons == ("1 failure of integrity",)
    assert answer.integrity[0].why == "the chain does not verify: event 3 is missing"


@pytest.mark.parametrize(("before", "failures"), [(0, 0), (0.001, 1), (HOUR, 1)])
def test_events_of_the_window_in_an_archive_make_a_no_go(before: float, failures: int) -> None:
    """They cannot be read; what was archived from before the window is none of its events."""
    story = good_story()
    part = {"writer": WRITERS[0], "events": 1, "firstSeq": 1, "lastSeq": 1, "root": "d" * 64}
    payload = {
        "archiveId": sample_id("archive"),
        "digest": DIGEST,
        "events": 1,
        "writers": [part],
        "before": time_at(before),
        "olderThan": "30d",
    }
    story.add("ledger.archived", payload, HOUR + 5)
    answer = story.answer()
    assert [each.kind for each in answer.integrity] == ["archived"] * failures
    assert answer.is_go is (failures == 0)


def test_lists_end_and_counts_do_not() -> None:
    """Thousands against a gate are counted; the page names a few, and says how many it does not."""
    story = Story()
    for number in range(MOST_PROBLEMS + 5):
        story.used(number, tags={"evidenceChannel": None}, session=f"s-{number}")
    answer = story.answer()
    gate = gate_of(story, "S000-APPROVAL")
    assert (gate.numerator, gate.denominator) == (0, MOST_PROBLEMS + 5)
    assert len(gate.events) == MOST_EVENTS
    assert gate.left_out == MOST_PROBLEMS + 5 - MOST_EVENTS
    assert (len(answer.integrity), answer.integrity_count) == (MOST_PROBLEMS, MOST_PROBLEMS + 5)
    assert answer.to_json()["integrityLeftOut"] == 5


def test_nearly_all_is_not_shown_as_all() -> None:
    """A figure is rounded down: 100 % stands only where it is so."""
    story = Story()
    story.checked("bad", answers=[{"code": "invalid-module-id", "path": "p"}])
    for number in range(99_999):
        story.events.append({**story.events[0], "eventId": sample_id("event", number + 2)})
        story.events[-1]["payload"] = {**story.events[0]["payload"], "answers": [{"code": "imported", "path": None}]}  # fmt: skip
    fold = SignoffFold(WINDOW)
    for row in chained_rows(story.events):
        fold.add(row)
    gate = fold.answer().gates[0]
    assert (gate.figure, gate.status) == (99.99, GateStatus.MISSED)


def test_the_same_events_give_the_same_bytes() -> None:
    """CONTRACTS §4-signoff: nothing of the moment, the machine or the run is in the answer."""
    story = good_story()
    story.rejected()
    first, second = (json.dumps(story.answer().to_json()) for _ in range(2))
    assert first == second
    document = json.loads(first)
    assert list(document) == [
        "schemaVersion", "verdict", "window", "events", "reasons", "gates", "floors", "integrity",
        "integrityLeftOut", "violations", "violationsLeftOut", "resolutions",
    ]  # fmt: skip
    assert document["window"] == {"since": str(WINDOW.since), "until": str(WINDOW.until)}
    assert list(document["gates"][0]) == [
        "id", "formula", "required", "status", "figure", "numerator", "denominator", "open",
        "events", "eventsLeftOut",
    ]  # fmt: skip


def test_a_window_longer_than_all_time_begins_with_it() -> None:
    """No time before 1970 was ever recorded."""
    window = SignoffWindow.ending(SINCE, Duration.parse("36500d"))
    assert str(window.since) == "1970-01-01T00:00:00.000Z"


def test_a_body_in_another_order_of_keys_is_read_all_the_same() -> None:
    """A row may have been written by somebody else: a type inside its payload is not its type."""
    story = good_story()
    payload = capability_payload(
        "rejected", VIOLATION, note={"type": "tool.audit", "timestampUtc": "x"}
    )
    story.add("capability.check.rejected", payload, 5)
    *rows, last = chained_rows(story.events)
    document = json.loads(last.body)
    shuffled = {"type": document.pop("type"), "timestampUtc": document.pop("timestampUtc")}
    payload = document.pop("payload")
    body = json.dumps({**shuffled, **document, "payload": payload}).encode()
    fold = SignoffFold(WINDOW)
    for row in (*rows, last._replace(body=body, hash=Digest(last.hash))):
        fold.add(row)
    assert fold.answer().reasons == ("S-SLO-3 is missed",)

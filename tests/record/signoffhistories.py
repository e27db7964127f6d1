"""Histories that nobody would think of: everything a sign-off reads, in any order, by three writers.

Steps that do not continue each other, attempts that are interleaved, repeated steps and approvals, tags that
are missing, empty or contradict the channel, events on both edges of the window and far outside of it,
fields that are missing and types that nobody knows.
"""

from typing import Any

from hypothesis import strategies as st

from tests.record.modulepayloads import DIGEST, sample_id
from tests.record.signoffreader import STEPS
from tests.record.signoffsamples import (
    APPLIED,
    DRILL,
    FIXTURE,
    HOUR,
    OTHER_DIGEST,
    PROD,
    ROLLED_BACK,
    UNDONE,
    Story,
    approval_of,
    ended_payload,
    error_of,
    time_at,
)

MINUTES = st.sampled_from((-40, -1, -0.001, 0, 0.001, 1, 1, 2, 2, 3, 10, 30, 59.999, HOUR, 90))
LEGAL = tuple((before, after) for before, following in STEPS.items() for after in following)
ODD_TAGS: tuple[dict[str, Any], ...] = (
    {**FIXTURE, "fixtureRunId": None},
    {**FIXTURE, "fixtureCaseId": ...},
    {**FIXTURE, "expectedOutcome": ""},
    {**DRILL, "drillId": None},
    {**PROD, "drillId": "drill-1"},
    {**PROD, "expectedOutcome": "APPLIED"},
    {"evidenceChannel": None},
    {"evidenceChannel": "staging"},
    {"evidenceChannel": ...},
)
TAGS = st.sampled_from((PROD,) * 6 + (FIXTURE, FIXTURE, DRILL) + ODD_TAGS)


@st.composite
def stories(draw: st.DrawFn, most: int) -> Story:
    """One such history, of about so many parts."""
    story = Story()
    ways = (_step, _step, _step, _attempt, _module, _module, _violation, _case, _again, _spoiled)
    for _ in range(draw(st.integers(1, most))):
        draw(st.sampled_from(ways))(draw, story)
    return story


def _own(draw: st.DrawFn) -> dict[str, Any]:
    return {
        "minute": draw(MINUTES),
        "writer": draw(st.integers(0, 2)),
        "tags": draw(TAGS),
    }


def _step(draw: st.DrawFn, story: Story) -> None:
    previous, following = draw(st.sampled_from(LEGAL))
    tx_id = draw(st.sampled_from(("tx-1", "tx-2", "2:tx")))
    number = draw(st.integers(1, 2))
    own = _own(draw)
    changes: dict[str, Any] = {
        "attemptNo": number,
        "approvalRequired": draw(st.sampled_from((True, True, False))),
        "afterPartialApply": draw(st.booleans()),
        "error": draw(st.sampled_from((None, "capability-policy-violation", "store-gone"))),
    }
    changes["error"] = changes["error"] and error_of(changes["error"])
    if following in ("APPROVED", "APPLYING"):
        changes.update(_approval(draw, tx_id, number))
    if following == "APPLYING":
        # What the beginning says of its own approval agrees with it, or it is no event at all.
        bound = {name: changes[name] for name in ("previewHash", "baseRevision")}
        changes["approval"] = approval_of(tx_id, attemptNo=number, **bound)
    story.step(tx_id, previous, following, **own, **changes)


def _approval(draw: st.DrawFn, tx_id: str, number: int) -> dict[str, Any]:
    preview = draw(st.sampled_from((DIGEST, DIGEST, OTHER_DIGEST)))
    base = draw(st.sampled_from(("7", "7", "8")))
    approval = approval_of(
        draw(st.sampled_from((tx_id, tx_id, tx_id, "tx-9"))),
        attemptNo=number,
        previewHash=preview,
        baseRevision=base,
        decision=draw(st.sampled_from(("approved", "approved", "approved", "rejected"))),
        decisionAt=time_at(draw(MINUTES)),
        approvalTtlSeconds=draw(st.sampled_from((1, 60, 7200))),
    )
    given = draw(st.sampled_from((approval, approval, approval, None)))
    return {"approval": given, "previewHash": preview, "baseRevision": base}


def _attempt(draw: st.DrawFn, story: Story) -> None:
    steps = draw(st.sampled_from((APPLIED, ROLLED_BACK, UNDONE)))
    length = draw(st.integers(1, len(steps)))
    own = _own(draw)
    name = draw(st.sampled_from(("tx-1", "tx-3", "tx-4", "tx-5")))
    story.attempt(name, steps[:length], afterPartialApply=draw(st.booleans()), **own)


def _module(draw: st.DrawFn, story: Story) -> None:
    module = draw(st.sampled_from(("outline", "counter")))
    version = draw(st.sampled_from(("1.2.0", "1.2.0", "1.3.0")))
    capability = draw(st.sampled_from(("state.read", "ui.slot.render")))
    about: dict[str, Any] = {"moduleId": module, "moduleVersion": version}
    own, run = _own(draw), draw(st.integers(1, 3))
    session = draw(st.sampled_from((None, sample_id("session", 1), sample_id("session", 2))))
    way = draw(st.sampled_from(("approved", "used", "used", "ended")))
    if way == "approved":
        story.approved(**own, **about, capabilityId=capability)
    elif way == "used":
        action = draw(st.sampled_from(("sort", None)))
        changes: dict[str, Any] = {**about, "capabilityId": capability, "actionId": action}
        story.used(run, **own, session=session, **changes)
    else:
        story.add("module.action.ended", ended_payload(run, **about), session=session, **own)


def _violation(draw: st.DrawFn, story: Story) -> None:
    if draw(st.booleans()):
        known = [each["eventId"] for each in story.events]
        about = draw(st.sampled_from([sample_id("event", 1), *known, *known[-3:]]))
        story.resolved(about, **_own(draw))
        return
    kinds = ("check.rejected", "rollback.executed", "rollback.failed", "escalation.denied")
    kind = f"capability.{draw(st.sampled_from(kinds))}"
    reason = draw(st.sampled_from(("capability-policy-violation", "capability-not-granted")))
    changes: dict[str, Any] = {"decision": "denied"} if kind.endswith("denied") else {}
    tx_id = draw(st.sampled_from((None, "tx-1")))
    story.rejected(kind, **_own(draw), reason=reason, transactionId=tx_id, **changes)


def _case(draw: st.DrawFn, story: Story) -> None:
    kind = draw(st.sampled_from(("valid", "invalid", "invalid", "action")))
    changes: dict[str, Any] = {"caseKind": kind}
    if draw(st.booleans()) and kind != "action":
        codes = st.sampled_from(("imported", "invalid-module-id", "invalid-package-key"))
        answer = st.fixed_dictionaries(
            {"code": codes, "path": st.sampled_from((None, "package.moduleId", "package.x"))}
        )
        changes["answers"] = draw(st.lists(answer, min_size=1, max_size=3))
    if kind == "invalid" and draw(st.booleans()):
        changes["expectedPath"] = draw(st.sampled_from((None, "package.moduleId", "package.x")))
    if kind == "action" and draw(st.booleans()):
        changes["controlFields"] = {
            name: draw(st.booleans())
            for name in ("calls", "mutates", "requiresApproval", "undoCommand", "surface")
        }
    name = f"case-{draw(st.integers(1, 2))}"
    story.checked(name, **_own(draw), **changes)


def _again(draw: st.DrawFn, story: Story) -> None:
    """An event once more: the same words under another id, then or later."""
    if not story.events:
        return
    event = draw(st.sampled_from(story.events))
    minute = draw(st.sampled_from((None, 1, 30, 90)))
    tags = {name: event[name] for name in (*FIXTURE, "drillId") if name in event}
    story.add(
        event["type"],
        event["payload"] if isinstance(event["payload"], dict) else {},
        0,
        writer=draw(st.integers(0, 2)),
        tags=tags,
        session=event["sessionId"],
    )
    again = story.events[-1]
    at = event["timestampUtc"] if minute is None else time_at(minute)
    again["timestampUtc"] = at
    for name in ("timestamp", "timestampUtc"):
        if name in again["payload"]:
            again["payload"] = {**again["payload"], name: at}


def _spoiled(draw: st.DrawFn, story: Story) -> None:
    """An event that is none: an unknown type, a step that is none, a field that is not there."""
    own = _own(draw)
    way = draw(st.sampled_from(("type", "step", "field", "payload")))
    if way == "type":
        story.add("thing.of.tomorrow", {"a": 1}, own["minute"], tags=own["tags"])
    elif way == "step":
        story.step("tx-1", "RECEIVED", "APPLIED", **own)
    elif way == "payload":
        story.rejected(**own)
        story.events[-1]["payload"] = None
    else:
        story.rejected(**own)
        del story.events[-1]["payload"]["grantVersion"]

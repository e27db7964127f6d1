"""What the ledger says of a run's effect after the run: who decided what, and what came of it.

Two events, as for everything that changes files: the decision is durable before the workspace is
touched, the outcome is recorded when it is settled. A process that dies in between leaves a decision
without an outcome; whoever finishes its work records that, once.
"""

from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Any, cast

from consentry.base.canonical import Digest, Json
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, Refused
from consentry.base.values import dataclass
from consentry.enforce.commitcheck import Conflict
from consentry.enforce.commitrecover import Recovered, Recovery
from consentry.record.auditfields import ConsentMethod
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.service.audit import whole_event
from consentry.store.history import EventFilter, History
from consentry.store.journal import About, Journal

_MOST_CONFLICTS = 1_000


class Deed(StrEnum):
    """What can be done with an effect."""

    COMMIT = "commit"
    DISCARD = "discard"
    UNDO = "undo"


class Result(StrEnum):
    """What came of it."""

    COMMITTED = "committed"
    DISCARDED = "discarded"
    UNDONE = "undone"
    CONFLICT = "conflict"
    REFUSED = "refused"


LASTING = (Result.COMMITTED, Result.DISCARDED, Result.UNDONE)
"""After a conflict or a refusal everything is as it was, and may be tried again."""


@dataclass(frozen=True, slots=True)
class EffectOf:
    """Whose effect it is, and which."""

    run_id: str
    permit_id: str
    digest: Digest | None
    files: int

    @property
    def subject(self) -> str:
        """What events about it are found by."""
        return subject_of_run(self.permit_id)


@dataclass(frozen=True, slots=True)
class Settlement:
    """The last thing that was done with an effect and lasted."""

    result: Result
    at: str


def subject_of_run(permit_id: str) -> str:
    """The subject of events about a run's effect."""
    return f"run:{permit_id}"


def decided(
    journal: Journal,
    effect: EffectOf,
    deed: Deed,
    method: ConsentMethod,
    request_id: str | None = None,
) -> str:
    """Records that it was decided; returns the id of the event, which is durable."""
    draft = _decision(journal, effect, deed, method, request_id)
    journal.ledger.append(draft)
    return draft.event_id


def settled(
    journal: Journal,
    effect: EffectOf,
    deed: Deed,
    result: Result,
    decision: str,
    *,
    why: str | None = None,
    conflicts: Sequence[Conflict] = (),
) -> None:
    """Records what came of it."""
    payload = _outcome(effect, deed, result, decision, why, conflicts, was_recovered=False)
    journal.ledger.append(_draft(journal, EventType.EFFECT_SETTLED, effect, payload))


def settled_on_disk(
    journal: Journal, effect: EffectOf, deed: Deed, result: Result, decision: str
) -> None:
    """Records what came of it when the files are changed already: no ledger says then that they are not."""
    try:
        settled(journal, effect, deed, result, decision)
    except LedgerProblem as problem:
        message = f"the files were changed, and that could not be recorded yet: {problem.message}"
        raise Refused(Code.COMMIT_UNFINISHED, message) from problem


def discarded(journal: Journal, effect: EffectOf, method: ConsentMethod) -> None:
    """Records the decision and the end together: nothing of the host is touched in between."""
    decision = _decision(journal, effect, Deed.DISCARD, method, None)
    payload = _outcome(
        effect, Deed.DISCARD, Result.DISCARDED, decision.event_id, None, (), was_recovered=False
    )
    journal.ledger.append(decision, _draft(journal, EventType.EFFECT_SETTLED, effect, payload))


def settlement_of(history: History, permit_id: str) -> Settlement | None:
    """What became of an effect for good; None while nothing did."""
    found: Settlement | None = None
    for event in _events(history, permit_id):
        payload = event["payload"]
        if event["type"] == EventType.EFFECT_SETTLED and payload["outcome"] in LASTING:
            found = Settlement(Result(payload["outcome"]), str(event["timestampUtc"]))
    return found


def tell_recovered(journal: Journal, found: Recovered) -> None:
    """Records the outcome of a decision whose process died before it could."""
    open_decisions: dict[str, Mapping[str, Any]] = {}
    for event in _events(journal.ledger.history, found.run):
        payload = event["payload"]
        if event["type"] == EventType.EFFECT_DECIDED:
            open_decisions[str(event["eventId"])] = payload
        else:
            open_decisions.pop(payload["decisionEventId"], None)
    for decision, payload in open_decisions.items():
        effect = EffectOf(payload["runId"], payload["permitId"], payload["effectDigest"], 0)
        deed = Deed(payload["action"])
        is_done = (deed is Deed.UNDO) == (found.recovery is Recovery.UNDONE)
        done = Result.UNDONE if deed is Deed.UNDO else Result.COMMITTED
        outcome = _outcome(
            effect,
            deed,
            done if is_done else Result.REFUSED,
            decision,
            "finished after its process had ended" if is_done else "taken back after a crash",
            (),
            was_recovered=True,
        )
        journal.ledger.append(_draft(journal, EventType.EFFECT_SETTLED, effect, outcome))


def _events(history: History, permit_id: str) -> Iterator[Mapping[str, Any]]:
    for row in history.events(EventFilter(subject=subject_of_run(permit_id))):
        event = cast("Mapping[str, Any]", whole_event(row))
        if event["type"] in (EventType.EFFECT_DECIDED, EventType.EFFECT_SETTLED):
            yield event


def _decision(
    journal: Journal, effect: EffectOf, deed: Deed, method: ConsentMethod, request_id: str | None
) -> Draft:
    payload: dict[str, Json] = {
        **_named(effect, deed),
        "decision": "allowed",
        "consentMethod": method.value,
        "requestId": request_id,
    }
    return _draft(journal, EventType.EFFECT_DECIDED, effect, payload)


def _outcome(
    effect: EffectOf,
    deed: Deed,
    result: Result,
    decision: str,
    why: str | None,
    conflicts: Sequence[Conflict],
    *,
    was_recovered: bool,
) -> dict[str, Json]:
    return {
        **_named(effect, deed),
        "outcome": result.value,
        "decisionEventId": decision,
        "files": effect.files,
        "why": why,
        "conflicts": [{"path": each.path, "why": each.why} for each in conflicts[:_MOST_CONFLICTS]],
        "recovered": was_recovered,
    }


def _named(effect: EffectOf, deed: Deed) -> dict[str, Json]:
    return {
        "runId": effect.run_id,
        "permitId": effect.permit_id,
        "action": deed.value,
        "effectDigest": effect.digest,
    }


def _draft(
    journal: Journal, event: EventType, effect: EffectOf, payload: Mapping[str, Json]
) -> Draft:
    return journal.draft(event, About(effect.subject), payload, journal.clock.now())

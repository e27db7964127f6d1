"""The cases of a drill: what each does through the interface of a host, and what has to come of it.

How often each is carried out follows from what a sign-off asks for: enough sessions, approvals, transactions
and roll-backs, some of them after a partial apply. An attempt that a violation forced back did not end as
`APPLIED` or `REJECTED`, and counts against `H-SLO-4`; `steady` is carried out as often as it takes to keep
those within what that gate bears. All of them are counted as fixtures, beside real use.
"""

import time
from collections.abc import Callable
from typing import Final

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass
from consentry.decide.capabilityask import CapabilityDecision
from consentry.decide.capabilitycheck import RejectCode
from consentry.decide.identity import Role
from consentry.record.signoffattempts import LEAST_PARTIAL, LEAST_SETTLED
from consentry.record.signoffgates import ALL
from consentry.record.transactionstates import TransactionState
from consentry.service.drillhost import MODULE_ID, Scene, Unexpected, added, said

_S = TransactionState
_SHORT_TTL: Final = 1
"""Seconds that the approval of the case counts whose approval runs out."""
_STEADY: Final = LEAST_PARTIAL * ALL // (ALL - LEAST_SETTLED)


@dataclass(frozen=True, slots=True)
class DrillCase:
    """One case: `act` carries it out once and says what came of it.

    `steps_in`: the grants are taken back after the first write. `is_shared`: its repetitions are shared out
    among several sessions at once, each with a document of its own.
    """

    case_id: str
    about: str
    expected: str
    times: int
    act: Callable[[Scene], str]
    ttl_seconds: int | None = None
    steps_in: bool = False
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class ListedCase:
    """A case as it is listed."""

    case_id: str
    about: str
    expected: str
    times: int

    def to_json(self) -> dict[str, Json]:
        """As it is told."""
        return {
            "caseId": self.case_id,
            "about": self.about,
            "expected": self.expected,
            "times": self.times,
        }


def _approved(scene: Scene) -> str:
    outcome = scene.approved()
    scene.require_notes(absent=[scene.name])
    done = scene.host.resume(str(outcome.request_id))
    scene.require_notes(scene.name)
    return _state(scene, outcome.transaction_id, said(done))


def _rejected(scene: Scene) -> str:
    scene.grant()
    outcome = scene.propose()
    scene.decide(outcome.request_id, CapabilityDecision.DENY)
    done = scene.host.resume(str(outcome.request_id))
    if done.code != Code.APPROVAL_DENIED.value:
        raise Unexpected(said(done))
    scene.require_notes(absent=[scene.name])
    return _state(scene, outcome.transaction_id)


def _withheld(scene: Scene) -> str:
    outcome = scene.host.invoke(MODULE_ID, "add", arguments=[scene.name])
    if outcome.transaction_id is not None:
        raise Unexpected(f"there is a transaction already: {said(outcome)}")
    scene.decide(outcome.request_id, CapabilityDecision.DENY)
    rejection = scene.host.decision(str(outcome.request_id)).rejection
    scene.require_notes(absent=[scene.name])
    return "nothing" if rejection is None else rejection.code.value


def _expired(scene: Scene) -> str:
    outcome = scene.approved()
    time.sleep(_SHORT_TTL + 0.05)
    late = scene.host.resume(str(outcome.request_id))
    if late.code != Code.TX_APPROVAL.value:
        raise Unexpected(f"it was applied on an old approval: {said(late)}")
    scene.require_notes(absent=[scene.name])
    return _given_up(scene, outcome.transaction_id)


def _overtaken(scene: Scene) -> str:
    outcome = scene.approved()
    own = f"{scene.name}.own"
    scene.host.change([added(own)], "a change in between")
    late = scene.host.resume(str(outcome.request_id))
    if late.code != Code.TX_CONFLICT.value:
        raise Unexpected(f"it was applied to another revision: {said(late)}")
    scene.require_notes(own, absent=[scene.name])
    return _given_up(scene, outcome.transaction_id)


def _repeated(scene: Scene) -> str:
    outcome = scene.approved()
    tx_id, key = str(outcome.transaction_id), f"key-{scene.name}"
    first = scene.host.transactions.apply(tx_id, key)
    revision = scene.host.document.read(()).revision
    again = scene.host.transactions.apply(tx_id, key)
    if (again.commit_id, scene.host.document.read(()).revision) != (first.commit_id, revision):
        raise Unexpected("the same key was committed twice")
    try:
        scene.host.transactions.apply(tx_id, f"other-{key}")
    except Refused as refused:
        if refused.code is not Code.TX_STATE:
            raise
    else:
        raise Unexpected("another key was taken for what is applied")
    scene.require_notes(scene.name)
    return _state(scene, tx_id)


def _rolled_back(scene: Scene) -> str:
    outcome = scene.approved()
    tx_id, key = str(outcome.transaction_id), f"undo-{scene.name}"
    scene.host.resume(str(outcome.request_id))
    scene.require_notes(scene.name)
    first = scene.host.transactions.roll_back(tx_id, key)
    again = scene.host.transactions.roll_back(tx_id, key)
    if first.commit_id != again.commit_id:
        raise Unexpected("the same key was rolled back twice")
    scene.require_notes(absent=[scene.name])
    return _state(scene, tx_id)


def _violated(scene: Scene) -> str:
    notes = (f"{scene.name}.one", f"{scene.name}.two")
    outcome = scene.approved(*notes)
    done = scene.host.resume(str(outcome.request_id))
    if (done.code, done.rollback) != (RejectCode.POLICY_VIOLATION.value, "rolled_back"):
        raise Unexpected(said(done))
    scene.require_notes(absent=notes)
    return _state(scene, outcome.transaction_id)


def _steady(scene: Scene) -> str:
    changed = scene.host.change([added(scene.name)], "a change of the application's own")
    scene.require_notes(scene.name)
    return changed.state.value


def _given_up(scene: Scene, tx_id: str | None) -> str:
    """What failed before it was applied is given up, as an operator does who does not want it any more."""
    host = scene.host
    return host.transactions.reject(str(tx_id), host.user, Role.OWNER, "given up").state.value


def _state(scene: Scene, tx_id: str | None, why: str = "") -> str:
    """How the store says that it ended."""
    attempt = scene.host.transactions.look(str(tx_id))
    if attempt.error is not None and why:
        raise Unexpected(why)
    return attempt.state.value


CASES: Final = (
    DrillCase(
        "approved",
        "a module asks for a change, a person grants and approves it, it is applied",
        _S.APPLIED.value,
        24,
        _approved,
    ),
    DrillCase(
        "rejected",
        "the person sees the preview and says no",
        _S.REJECTED.value,
        4,
        _rejected,
    ),
    DrillCase(
        "withheld",
        "the person does not grant what the action needs; there is no transaction",
        RejectCode.ESCALATION_DENIED.value,
        2,
        _withheld,
    ),
    DrillCase(
        "expired",
        "the approval runs out before the change is applied; it is not applied, and given up",
        _S.REJECTED.value,
        1,
        _expired,
        ttl_seconds=_SHORT_TTL,
    ),
    DrillCase(
        "overtaken",
        "the document moves on after the approval; the change is not applied, and given up",
        _S.REJECTED.value,
        2,
        _overtaken,
    ),
    DrillCase(
        "repeated",
        "the same change is applied twice under one key, and committed once",
        _S.APPLIED.value,
        2,
        _repeated,
    ),
    DrillCase(
        "rolled-back",
        "an applied change is taken back, twice under one key",
        _S.ROLLED_BACK.value,
        8,
        _rolled_back,
    ),
    DrillCase(
        "violated",
        "the grant is taken back between two writes of an apply; all of it is rolled back",
        _S.ROLLED_BACK.value,
        LEAST_PARTIAL,
        _violated,
        steps_in=True,
    ),
    DrillCase(
        "steady",
        "applications change documents of their own again and again, several at once",
        _S.APPLIED.value,
        _STEADY,
        _steady,
        is_shared=True,
    ),
)

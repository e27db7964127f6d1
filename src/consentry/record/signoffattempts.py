"""What a sign-off counts of transactions: whether attempts settled, were approved, and were rolled back.

An attempt is a `txId` and an `attemptNo`, and counts once however often a step of it was recorded. Steps
before the window are read for one thing only: an approval that was given before it is an approval.

- `H-SLO-4`: of the attempts that began to wait for approval in the window, those that became `APPLIED` or
  `REJECTED`. One that waits, is approved or is being applied is open and counts neither way. One that went
  into recovery and did not come out of it counts against, as does one that ended otherwise. Those of real
  use have to reach the share by themselves, too: no number of drills makes up for them.
- `S-SLO-1`: of the attempts that need an approval and began to apply in the window, those whose every
  beginning has an approval behind it that was recorded by an earlier step to `APPROVED`, is for the same
  transaction, attempt, preview and base revision, is by somebody who may give one, and was not too old by
  then. What the beginning says of its own approval is not enough. One that became `FAILED_PRE_APPLY` was
  refused and applied nothing. One that went to `APPLIED` with no beginning and no approval anywhere counts
  as well, against.
- `S-SLO-2`: of the attempts whose roll-back began in the window, those that became `ROLLED_BACK`. It begins
  with `ROLLBACK_PENDING`, or with a recovery after a violation of the capability policy.
"""

from collections.abc import Mapping
from typing import Any, Final

from consentry.base.clock import Instant
from consentry.record.signoffevents import POLICY_VIOLATION, Evidence
from consentry.record.signoffgates import (
    ALL,
    MOST_EVENTS,
    Counts,
    EventBehind,
    Floor,
    Gate,
    Samples,
    share_gate,
)
from consentry.record.signoffstates import State, States
from consentry.record.transactionstates import TransactionState

LEAST_SETTLED: Final = 995
"""Of a thousand attempts."""
LEAST_TRANSACTIONS: Final = 40
LEAST_ROLLBACKS: Final = 10
LEAST_PARTIAL: Final = 3

_S = TransactionState
_ENDED_BADLY: Final = (_S.FAILED_TERMINAL, _S.ROLLED_BACK, _S.FAILED_PRE_APPLY)
_WROTE: Final = frozenset({_S.APPLIED, _S.ROLLED_BACK, _S.RECOVERY_PENDING, _S.FAILED_TERMINAL})
_BOUND_TO: Final = ("txId", "attemptNo", "previewHash", "baseRevision")
_SECOND: Final = 1000
_NOBODY: Final = frozenset({"system", "viewer"})
"""The roles that cannot give an approval where a person has to."""


class AttemptTally:
    """Counts attempts; `gates` and `floors` say what came of it."""

    def __init__(self, attempts: States) -> None:
        self._attempts = attempts

    def before(self, event: Evidence) -> None:
        """A step from before the window: only an approval is of use."""
        if event.payload["nextState"] == _S.APPROVED:
            key, state = self._found(event)
            _keep_approval(state, event.payload)
            self._attempts.put(key, state)

    def add(self, event: Evidence) -> None:
        """The next step in the window."""
        step = event.payload
        key, state = self._found(event)
        following = str(step["nextState"])
        state["required"] = state["required"] or step["approvalRequired"]
        state["fixture"] = state["fixture"] and event.is_fixture
        state["reached"].setdefault(following, event.event_id)
        if step["prevState"] == _S.RECOVERY_PENDING:
            state["recovering"] = None
        if following == _S.RECOVERY_PENDING:
            state["recovering"] = event.event_id
        if following == _S.APPROVED:
            _keep_approval(state, step)
        if _begins_apply(state, step) and not _is_bound(state, step, event.at):
            state["unbound"] = state["unbound"] or event.event_id
        if state["rollback"] is None and _begins_rollback(step):
            state["rollback"] = event.event_id
        if state["rollback"] is not None and step["afterPartialApply"]:
            state["partial"] = True
        self._attempts.put(key, state)

    def _found(self, event: Evidence) -> tuple[str, State]:
        tx_id, number = event.payload["txId"], event.payload["attemptNo"]
        key = f"{number}:{tx_id}"
        return key, self._attempts.get(key) or {
            "about": f"{tx_id}:{number}",
            "required": False,
            "fixture": True,
            "reached": {},
            "recovering": None,
            "approvals": [],
            "unbound": None,
            "rollback": None,
            "partial": False,
        }

    def finished(self) -> tuple[tuple[Gate, ...], tuple[Floor, ...]]:
        """The gates and floors, from one walk over the attempts."""
        settled, bound, rolled = Samples(), Samples(), Samples()
        terminal: list[EventBehind] = []
        terminals = besides = 0
        real = [0, 0]
        waited, episodes, partial = [0, 0], [0, 0], [0, 0]
        for _, state in self._attempts.pairs():
            about, reached, fixture = state["about"], state["reached"], int(state["fixture"])
            is_said = False
            if _S.APPROVAL_PENDING in reached:
                said = _settled(state)
                settled.add(*said)
                is_said = said[0] == reached.get(_S.FAILED_TERMINAL)
                if not fixture and said[2] is not Counts.OPEN:
                    _count(real, said[2] is Counts.FOR)
                if state["required"]:
                    _count(waited, fixture)
            if _S.FAILED_TERMINAL in reached:
                terminals += 1
                besides += not is_said
                if not is_said and len(terminal) < MOST_EVENTS:
                    event_id = reached[_S.FAILED_TERMINAL]
                    why = "it ended as FAILED_TERMINAL"
                    terminal.append(EventBehind(event_id, about, Counts.AGAINST, why))
            is_applied = _S.APPLYING in reached or state["unbound"] is not None
            if is_applied and state["required"] and not _was_refused(reached):
                bound.add(*_approved(state))
            if state["rollback"] is not None:
                rolled.add(*_rolled_back(state))
                _count(episodes, fixture)
                if state["partial"]:
                    _count(partial, fixture)
        gates = (
            share_gate(
                "H-SLO-4",
                "attempts from APPROVAL_PENDING that end APPLIED or REJECTED",
                ">= 99.5 %, also of real use alone, and no FAILED_TERMINAL",
                settled,
                least=LEAST_SETTLED,
                excluded=terminal,
                is_excluded=terminals > 0 or real[1] * ALL < real[0] * LEAST_SETTLED,
                besides=besides,
            ),
            share_gate(
                "S-SLO-1",
                "approval-sensitive applies with an approval bound to their preview / all",
                "100 %",
                bound,
            ),
            share_gate(
                "S-SLO-2",
                "roll-back episodes that end ROLLED_BACK / started",
                "100 %",
                rolled,
            ),
        )
        floors = (
            Floor("transactions", "approval-required transactions", LEAST_TRANSACTIONS, *waited),
            Floor("rollbacks", "roll-backs", LEAST_ROLLBACKS, *episodes),
            Floor("rollbacks-after-partial", "roll-backs after a partial apply", LEAST_PARTIAL, *partial),
        )  # fmt: skip
        return gates, floors


def _count(found: list[int], fixture: int) -> None:
    found[0] += 1
    found[1] += fixture


def _was_refused(reached: Mapping[str, str]) -> bool:
    """Whether it stopped before it wrote anything, and nothing says otherwise."""
    return _S.FAILED_PRE_APPLY in reached and not _WROTE & reached.keys()


def _settled(state: State) -> tuple[str, str, Counts, str]:
    about, reached = state["about"], state["reached"]
    for good in (_S.APPLIED, _S.REJECTED):
        if good in reached:
            return reached[good], about, Counts.FOR, f"it became {good}"
    for bad in _ENDED_BADLY:
        if bad in reached:
            return reached[bad], about, Counts.AGAINST, f"it ended as {bad}"
    if state["recovering"] is not None:
        return state["recovering"], about, Counts.AGAINST, "its recovery has not ended"
    return reached[_S.APPROVAL_PENDING], about, Counts.OPEN, "it is still under way"


def _approved(state: State) -> tuple[str, str, Counts, str]:
    about, unbound = state["about"], state["unbound"]
    if unbound is not None:
        why = "no earlier approval of this attempt fits what was applied"
        return unbound, about, Counts.AGAINST, why
    applying = state["reached"][_S.APPLYING]
    return applying, about, Counts.FOR, "an earlier approval fits what was applied"


def _rolled_back(state: State) -> tuple[str, str, Counts, str]:
    about, reached = state["about"], state["reached"]
    if _S.ROLLED_BACK in reached:
        return reached[_S.ROLLED_BACK], about, Counts.FOR, "it was rolled back"
    if _S.FAILED_TERMINAL in reached:
        return reached[_S.FAILED_TERMINAL], about, Counts.AGAINST, "it ended as FAILED_TERMINAL"
    return state["rollback"], about, Counts.AGAINST, "it was begun and did not end as ROLLED_BACK"


def _begins_rollback(step: Mapping[str, Any]) -> bool:
    if step["nextState"] == _S.ROLLBACK_PENDING:
        return True
    error = step["error"]
    is_violation = error is not None and error["code"] == POLICY_VIOLATION
    return bool(step["nextState"] == _S.RECOVERY_PENDING and is_violation)


def _begins_apply(state: State, step: Mapping[str, Any]) -> bool:
    """Whether it is the beginning of an apply, or the end of one whose beginning is not in the window.

    The beginning may lie before it; then so does the approval. Where neither is anywhere, nobody approved it.
    """
    if step["nextState"] == _S.APPLYING:
        return True
    is_end = (step["prevState"], step["nextState"]) == (_S.APPLYING, _S.APPLIED)
    return is_end and _S.APPLYING not in state["reached"] and not state["approvals"]


def _keep_approval(state: State, step: Mapping[str, Any]) -> None:
    """What an approval binds, and from when to when it can be used; once, however often it is said."""
    approval = step["approval"]
    if approval is None or approval["decision"] != "approved":
        return
    if step["approvalRequired"] and approval["approverRole"] in _NOBODY:
        return
    given = Instant.parse(approval["decisionAt"]).unix_ms
    kept = [
        *(approval[name] for name in _BOUND_TO),
        given,
        given + approval["approvalTtlSeconds"] * _SECOND,
    ]
    if kept not in state["approvals"]:
        state["approvals"].append(kept)


def _is_bound(state: State, step: Mapping[str, Any], at: str) -> bool:
    wanted = [step[name] for name in _BOUND_TO]
    moment = Instant.parse(at).unix_ms
    return any(
        kept[:-2] == wanted and kept[-2] <= moment <= kept[-1] for kept in state["approvals"]
    )

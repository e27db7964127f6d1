"""What a sign-off counts of modules: approvals before uses, roll-backs after rejects, and sessions.

- `S000-APPROVAL`: an approval-sensitive action is one run of an action (`actionRunId`) that used a
  capability in the window. It is right when for each of its uses an earlier event says that a person
  approved that capability for that version of the module, in the window or at any time before it
  (MODULES §metric-approval). An approval by a fixture is one for fixtures alone.
- `S000-ROLLBACK`: `capability.rollback.executed` events of the window, of all that say how a roll-back
  went (MODULES §metric-rollback).
- A module session is a session in which an action of a module ended, or used a capability.
"""

import json
from typing import Final

from consentry.record.events import EventType
from consentry.record.signoffevents import Evidence
from consentry.record.signoffgates import Counts, Floor, Gate, Samples, share_gate
from consentry.record.signoffstates import States

LEAST_SESSIONS: Final = 30
LEAST_ACTIONS: Final = 20


class ModuleTally:
    """Counts runs of actions, roll-backs and sessions; `gates` and `floors` say what came of it."""

    def __init__(self, approvals: States, runs: States, sessions: States) -> None:
        self._approvals = approvals
        self._runs = runs
        self._sessions = sessions
        self._rollbacks = Samples()

    def before(self, event: Evidence) -> None:
        """An event from before the window: only an approval is of use."""
        if event.kind is EventType.ESCALATION_APPROVED:
            self._approve(event)

    def add(self, event: Evidence) -> None:
        """The next event in the window."""
        kind = event.kind
        if kind is EventType.ESCALATION_APPROVED:
            self._approve(event)
        elif kind is EventType.MODULE_CAPABILITY_USED:
            self._use(event)
            if event.payload["actionId"] is not None:
                self._act(event)
        elif kind is EventType.MODULE_ACTION_ENDED:
            self._act(event)
        elif kind is EventType.ROLLBACK_EXECUTED:
            self._roll_back(event, Counts.FOR, "it was rolled back")
        elif kind is EventType.ROLLBACK_FAILED:
            self._roll_back(event, Counts.AGAINST, "it could not be rolled back")

    def _approve(self, event: Evidence) -> None:
        key = _capability_of(event)
        known = self._approvals.get(key)
        if known is None or (known["fixture"] and not event.is_fixture):
            self._approvals.put(key, {"fixture": event.is_fixture})

    def _use(self, event: Evidence) -> None:
        run_id = str(event.payload["actionRunId"])
        run = self._runs.get(run_id) or {"first": event.event_id, "lacking": None, "fixture": True}
        run["fixture"] = run["fixture"] and event.is_fixture
        if run["lacking"] is None and not self._is_approved(event):
            run["lacking"] = event.event_id
        self._runs.put(run_id, run)

    def _is_approved(self, event: Evidence) -> bool:
        """Whether somebody approved it before; what was approved in a drill is not for real use."""
        found = self._approvals.get(_capability_of(event))
        return found is not None and (event.is_fixture or not found["fixture"])

    def _act(self, event: Evidence) -> None:
        if event.session_id is not None:
            session = self._sessions.get(event.session_id)
            is_fixture = event.is_fixture and (session is None or session["fixture"])
            if session is None or session["fixture"] is not is_fixture:
                self._sessions.put(event.session_id, {"fixture": is_fixture})

    def _roll_back(self, event: Evidence, counts: Counts, why: str) -> None:
        payload = event.payload
        about = payload["transactionId"] or payload["actionId"] or payload["moduleId"]
        self._rollbacks.add(event.event_id, str(about), counts, why)

    def finished(self) -> tuple[tuple[Gate, ...], tuple[Floor, ...]]:
        """The gates and floors."""
        approved, fixtures = Samples(), 0
        for run_id, run in self._runs.pairs():
            fixtures += run["fixture"]
            if run["lacking"] is None:
                why = "every capability it used was approved before"
                approved.add(run["first"], run_id, Counts.FOR, why)
            else:
                why = "it used a capability that nobody had approved before"
                approved.add(run["lacking"], run_id, Counts.AGAINST, why)
        sessions = sum(1 for _, each in self._sessions.pairs() if each["fixture"])
        gates = (
            share_gate(
                "S000-APPROVAL",
                "approval-sensitive actions with an approved event before them / all",
                "100 %",
                approved,
            ),
            share_gate(
                "S000-ROLLBACK",
                "capability.rollback.executed / (executed + failed)",
                "100 %",
                self._rollbacks,
            ),
        )
        floors = (
            Floor("sessions", "module sessions", LEAST_SESSIONS, len(self._sessions), sessions),
            Floor(
                "approvals", "approval-sensitive attempts", LEAST_ACTIONS, len(self._runs), fixtures
            ),
        )
        return gates, floors


def _capability_of(event: Evidence) -> str:
    return json.dumps(
        [event.payload[name] for name in ("moduleId", "moduleVersion", "capabilityId")]
    )

"""What the ledger says about the modules of this board, for the lower part of the page.

The ledger is opened for reading, as `consentry audit log` does it; the host writes it. Events about
drawing the page are left out here: there is one for every entry each time it is drawn.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from consentry.service.audit import LogRequest, latest_of
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around
from consentry.store.history import EventFilter, History

USED = "module.capability.used"
APPROVED = "capability.escalation.approved"
TYPES = (
    "module.imported",
    "module.import.rejected",
    "module.removed",
    "capability.escalation.requested",
    APPROVED,
    "capability.escalation.denied",
    "capability.check.rejected",
    USED,
    "module.action.ended",
    "capability.rollback.executed",
    "capability.rollback.failed",
)
_DRAWING = "render:"
_LOOKED_AT = 60
_LOOKED_AT_USES = 600  # most of them are about drawing


@dataclass(frozen=True, slots=True)
class Entry:
    """One event as the page shows it."""

    at: str
    type: str
    module_id: str
    what: str
    number: int


class Record:
    """The ledger of this process's surroundings, opened for reading."""

    def __init__(self) -> None:
        history = ledger_for_reading(look_around(os.environ))
        if history is None:
            raise LookupError("there is no ledger; open the host first")
        self._history: History = history

    def latest(self, most: int) -> list[Entry]:
        """The latest events about modules, newest first."""
        found = [entry for each in TYPES for entry in self._of(each)]
        return sorted(found, key=lambda each: (each.at, each.number), reverse=True)[:most]

    def granted_for(self, module_id: str, version: str, capability_id: str) -> str | None:
        """For how long the last yes to this capability of this version was: its `grantScope`."""
        wanted = EventFilter(subject=f"module:{module_id}", type=APPROVED)
        for event in reversed(latest_of(self._history, LogRequest(wanted), _LOOKED_AT)):
            payload = _payload(event)
            if (payload.get("moduleVersion"), payload.get("capabilityId")) == (
                version,
                capability_id,
            ):
                return str(payload.get("grantScope"))
        return None

    def close(self) -> None:
        """Lets go of the ledger."""
        self._history.database.close()

    def _of(self, event_type: str) -> Iterator[Entry]:
        request = LogRequest(EventFilter(type=event_type))
        most = _LOOKED_AT_USES if event_type == USED else _LOOKED_AT
        for event in latest_of(self._history, request, most):
            payload = _payload(event)
            if str(payload.get("actionId")).startswith(_DRAWING):
                continue
            yield Entry(
                str(event["timestampUtc"]),
                event_type,
                str(event["subject"]).partition(":")[2],
                " · ".join(_words(payload)),
                int(str(event["seq"])),
            )


def _payload(event: Mapping[str, object]) -> Mapping[str, object]:
    payload = event.get("payload")
    return payload if isinstance(payload, Mapping) else {}


def _words(payload: Mapping[str, object]) -> Iterator[str]:
    names = (
        "moduleVersion",
        "actionId",
        "capabilityId",
        "grantScope",
        "decisionReasonCode",
        "outcome",
        "code",
        "path",
    )
    for name in names:
        value = payload.get(name)
        if value is not None and value != "none":
            yield str(value)

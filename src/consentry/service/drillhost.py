"""The application that a drill carries its cases out with, and the one module that is imported into it.

It has a command that reads and two that change the notes of its own document: one that asks for approval
every time, and nothing else that a module could ask for. A case has a `Scene`: the host in a session that is
marked as its fixture, and a person who answers what the case needs answered.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from consentry import __version__
from consentry.base.canonical import Json
from consentry.base.clock import Clock
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.values import dataclass
from consentry.decide.capabilityask import CapabilityDecision
from consentry.decide.documentstore import DocumentStore
from consentry.decide.identity import Identity
from consentry.decide.statechange import EntityName
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    MutationScope,
)
from consentry.enforce.broker import ModuleCall
from consentry.service.actionoutcome import ActionOutcome
from consentry.service.drilldocument import SteppedDocument
from consentry.service.fixtures import FixtureCase
from consentry.service.moduleanswers import ONCE
from consentry.service.modulehost import HostCommand, ModuleHost
from consentry.service.sessions import end_session_of, journal_of_library
from consentry.service.surroundings import look_around
from consentry.service.transactionplace import USUAL_TERMS, TxTerms
from consentry.store.grants import StoredGrants

HOST_ID: Final = "consentry-drill"
MODULE_ID: Final = "drill-notes"
STEPPED_ID: Final = f"{HOST_ID}-stepped"
"""The document of the cases that step in between two writes."""
AT_ONCE: Final = 8
BESIDE: Final = tuple(f"{HOST_ID}-{number}" for number in range(1, AT_ONCE + 1))
"""The documents of a case that has several sessions at once."""
READS: Final = "state.read"
WRITES: Final = "state.write.tx"

_NOTES: Final = "notes"
_ADD: Final = "add"


class Unexpected(Exception):
    """What a case found is not what has to be; the message says what it is."""


@dataclass(frozen=True, slots=True)
class DrillPlace:
    """Where a drill is carried out, and what its person knows."""

    environ: Mapping[str, str]
    clock: Clock
    passphrase: str | None = None

    def host(
        self,
        fixture: FixtureCase,
        terms: TxTerms = USUAL_TERMS,
        document: DocumentStore | str = HOST_ID,
    ) -> ModuleHost:
        """The drill's application, in a session of that fixture."""
        return ModuleHost(
            self.environ,
            HOST_ID,
            __version__,
            [HostCommand(_ADD_NOTES, _add_notes)],
            writable_paths=(f"/{_NOTES}",),
            document=document,
            terms=terms,
            clock=self.clock,
            fixture=fixture,
        )


class Scene:
    """A session of one case: its host, and the person there; `name` is the repetition under way."""

    def __init__(self, place: DrillPlace, fixture: FixtureCase, host: ModuleHost) -> None:
        self.host = host
        self.name = fixture.case_id
        self._place = place
        self._fixture = fixture

    def decide(self, request_id: str | None, decision: CapabilityDecision | str) -> None:
        """The person answers a question."""
        if request_id is None:
            raise Unexpected("nobody was asked")
        self.host.answer(request_id, decision, passphrase=self._place.passphrase)

    def grant(self) -> None:
        """The person grants the module what its action needs, for the session."""
        asked = self.host.request(MODULE_ID, [READS, WRITES])
        self.decide(asked.request_id, CapabilityDecision.APPROVE_SESSION)

    def propose(self, *notes: str) -> ActionOutcome:
        """The module asks to add these notes; waits for the person."""
        outcome = self.host.invoke(MODULE_ID, _ADD, arguments=list(notes or (self.name,)))
        if outcome.transaction_id is None or outcome.request_id is None:
            raise Unexpected(f"no change waits for approval: {said(outcome)}")
        return outcome

    def approved(self, *notes: str) -> ActionOutcome:
        """The same, after the person granted and approved it; not applied yet."""
        self.grant()
        outcome = self.propose(*notes)
        self.decide(outcome.request_id, ONCE)
        return outcome

    def revoke(self) -> None:
        """Somebody in another session takes the grants of the module back."""
        around, clock = look_around(self._place.environ), self._place.clock
        journal = journal_of_library(around, clock, Uuid7Ids(clock), self._fixture)
        try:
            grants = StoredGrants(journal.ledger, journal.ids, journal.clock, journal.context)
            for each in grants.of_module(HOST_ID, MODULE_ID):
                if each.revoked_at is None and each.terms.session_id == self.host.session_id:
                    grants.revoke(each.grant_id, Identity(journal.context.actor))
        finally:
            end_session_of(journal)

    def require_notes(self, *there: str, absent: Sequence[str] = ()) -> None:
        """Raises unless the document has these notes, and not the others."""
        names = [EntityName(_NOTES, each) for each in (*there, *absent)]
        found = {name.entity_id for name in self.host.document.read(names).entities}
        if found != set(there):
            raise Unexpected(f"of its notes the document has {sorted(found)}, not {sorted(there)}")


def said(outcome: ActionOutcome) -> str:
    """How a call came out, in a few words."""
    parts = (outcome.status.value, outcome.code, outcome.transaction_state, outcome.why)
    return ", ".join(each for each in parts if each)


def why_of(problem: Exception) -> str:
    """What went wrong, in words."""
    if isinstance(problem, ConsentryError):
        return f"{problem.code.value}: {problem.message}"
    return str(problem) or type(problem).__name__


def stepped(clock: Clock, step_in: Callable[[], object]) -> SteppedDocument:
    """A document in the middle of whose writes that is done."""
    return SteppedDocument(STEPPED_ID, Uuid7Ids(clock), step_in)


def package() -> bytes:
    """The module, as it is imported."""
    document: dict[str, Json] = {
        "packageAbiVersion": 1,
        "moduleId": MODULE_ID,
        "moduleVersion": "1.0.0",
        "displayName": "Notes of a drill",
        "compatibility": {"pluginManifestVersion": 1, "commandBusContractVersion": 1},
        "pluginManifest": {
            "manifestVersion": 1,
            "pluginId": MODULE_ID,
            "ui": [
                {
                    "id": _ADD,
                    "slot": "left-panel",
                    "type": "button",
                    "label": "Add a note",
                    "action": {"commandId": _ADD_NOTES.command_id},
                }
            ],
        },
        "commandBindings": [
            {"bindingId": _ADD, "uiEntryId": _ADD, "commandId": _ADD_NOTES.command_id}
        ],
        "capabilitiesRequested": [READS, WRITES],
    }
    return json.dumps(document).encode()


_ADD_NOTES: Final = CommandDeclaration(
    "notes.add",
    MutationScope.DOC,
    label="Add notes",
    capabilities=(READS,),
    requires_approval=ApprovalRule("it adds notes for a drill", ApprovalLevel.HARD),
    mutates=(f"/{_NOTES}",),
)


def _add_notes(call: ModuleCall) -> int:
    """Asks to add a note for each name; how many there are before."""
    state: Any = call.state()
    names: Any = call.arguments
    call.write([added(name) for name in names])
    return len(state.get(_NOTES, {}))


def added(name: str) -> dict[str, Json]:
    """The operation that adds a note."""
    return {"op": "add", "path": f"/{_NOTES}/{name}", "value": {"text": f"a note of {name}"}}

"""A board whose notes lie in the document store, and whose commands change them by transactions.

Every lasting command asks for the operations that it is called with, so that a test says what a hostile or a
careless host would write: `board.change("add", add("n1"))`. What else a command does can be exchanged, as on
the usual board.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from consentry.base.canonical import Json
from consentry.decide.documentstore import DocumentStore
from consentry.decide.txattempt import Attempt
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    MutationScope,
    QueuePolicy,
)
from consentry.enforce.broker import ModuleCall
from consentry.record.transactionstates import TransactionState
from consentry.service.actionoutcome import ActionOutcome
from consentry.service.modulehost import ModuleHost
from tests.service.modulehosting import FOR_GOOD, READ, STORE, WRITE, Board, package

APPLIED, REJECTED = TransactionState.APPLIED, TransactionState.REJECTED
PENDING, APPROVED = TransactionState.APPROVAL_PENDING, TransactionState.APPROVED
FAILED, ROLLED_BACK = TransactionState.FAILED_PRE_APPLY, TransactionState.ROLLED_BACK

SOFT: Final = ApprovalRule("changes what people wrote", ApprovalLevel.SOFT)
HARD: Final = ApprovalRule("takes notes away", ApprovalLevel.HARD, approver="operator")
_DOC: Final = MutationScope.DOC
DECLARED: Final = (
    CommandDeclaration("notes.count", MutationScope.LOCAL, capabilities=(READ,)),
    CommandDeclaration("notes.keep", MutationScope.LOCAL, capabilities=(STORE,)),
    CommandDeclaration("notes.add", _DOC, mutates=("/notes",)),
    CommandDeclaration("notes.first", _DOC, mutates=("/notes/first/text",)),
    CommandDeclaration("notes.tag", _DOC, mutates=("/tags",)),
    CommandDeclaration("notes.share", MutationScope.SYNC, mutates=("/shared",)),
    CommandDeclaration("notes.edit", _DOC, mutates=("/notes",), requires_approval=SOFT),
    CommandDeclaration("notes.wipe", _DOC, mutates=("/notes",), requires_approval=HARD),
    CommandDeclaration("notes.audit", _DOC, mutates=("/notes",), role="operator"),
    CommandDeclaration(
        "notes.alone", _DOC, mutates=("/notes",), queue=QueuePolicy.REFUSE_WHEN_BUSY
    ),
)
COMMANDS: Final = tuple(each.command_id for each in DECLARED)


def add(entity_id: str = "n1", value: Json = "hello", kind: str = "notes") -> dict[str, Json]:
    """Adds a note."""
    return {"op": "add", "path": f"/{kind}/{entity_id}", "value": value}


def replaced(entity_id: str, value: Json, inside: str = "") -> dict[str, Json]:
    """Replaces a note, or a part of it."""
    return {"op": "replace", "path": f"/notes/{entity_id}{inside}", "value": value}


def removed(entity_id: str) -> dict[str, Json]:
    """Removes a note."""
    return {"op": "remove", "path": f"/notes/{entity_id}"}


def moved(source: str, target: str) -> dict[str, Json]:
    """Moves what is at one place to another."""
    return {"op": "move", "from": source, "path": target}


class ChangingBoard(Board):
    """The board with the document."""

    declared = DECLARED
    writable_paths = ("/notes", "/tags", "/shared")

    def __init__(self, home: Path, environ: Mapping[str, str] | None = None) -> None:
        super().__init__(home, environ)
        for each in DECLARED:
            if each.mutation_scope.is_lasting:
                self.does.setdefault(each.command_id, _write_what_is_given)

    def opened(self, **changes: Any) -> ModuleHost:
        """Another object of the same host, which shows modules its own document."""
        return super().opened(**{"state": None, **changes})

    def ready(self, *capabilities: str, **changes: Any) -> None:
        """The usual module with a button for each command, granted these for the session."""
        assert self.take(package(COMMANDS, **changes))["ok"]
        if capabilities:
            self.grant(*capabilities)

    def keep_in(self, document: DocumentStore, **changes: Any) -> None:
        """The application is started again, and keeps its notes in a store of its own."""
        self.host.close()
        self.host = self.opened(document=document, **changes)

    def start_with(self, store: DocumentStore, **changes: Any) -> None:
        """The same, with the usual module granted for good what its changes need."""
        self.keep_in(store, **changes)
        assert self.take(package(("notes.add", "notes.edit")))["ok"]
        self.grant(WRITE, decision=FOR_GOOD)

    def roll_backs(self) -> list[str]:
        """How the roll-backs of violations ended, as they are on record."""
        kinds = ("capability.rollback.executed", "capability.rollback.failed")
        return [each["type"] for each in self.events(*kinds)]

    def change(self, action: str, *operations: Json, **how: Any) -> ActionOutcome:
        """Has the module call a command with these operations."""
        return self.call(action, arguments=list(operations), **how)

    def own(self, *operations: Json) -> Attempt:
        """The person's own change."""
        return self.host.change(list(operations), "a change of my own")

    @property
    def document(self) -> dict[str, Any]:
        """All that the document holds."""
        return self.host.state()

    def attempt(self, outcome: ActionOutcome) -> Attempt:
        """The attempt that an action's change is, as it is kept."""
        found = self.host.transactions.place.stored.required(str(outcome.transaction_id))
        assert isinstance(found, Attempt)
        return found

    def steps(self, tx_id: str) -> list[str]:
        """The states that a transaction went through, as they are on record."""
        mine = [each for each in self.payloads("transaction.transition") if each["txId"] == tx_id]
        return [mine[0]["prevState"], *(each["nextState"] for each in mine)] if mine else []


def _write_what_is_given(call: ModuleCall) -> str:
    given: Any = call.arguments
    if given:
        call.write(given)
    return "asked"

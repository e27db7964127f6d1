"""A small board that modules are imported into, with real handlers and a real store, for tests to use.

What a command does can be exchanged in a test: `board.does["notes.count"] = …`. Every test that needs more
of the ledger than an outcome asks `board.events()`.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

from consentry.base.clock import ManualClock
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilitycheck import CheckState
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.modulemode import ModuleMode
from consentry.decide.question import Answer, Channel, Outcome
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    MutationScope,
    QueuePolicy,
)
from consentry.enforce.broker import ModuleCall
from consentry.enforce.moduleexport import ExportTarget
from consentry.service.actionoutcome import ActionOutcome
from consentry.service.approvals import Look
from consentry.service.ledgers import ledger_for_reading
from consentry.service.moduleactions import Handler
from consentry.service.modulehost import HostCommand, ModuleHost
from consentry.service.sessions import journal_here
from consentry.service.surroundings import look_around
from consentry.store.grants import StoredGrants
from consentry.store.journal import Journal
from consentry.store.modules import StoredModules
from tests.decide.samples import NOW

READ, STORE, EXPORT = "state.read", "module.storage.local", "export.user.file"
WRITE, SHOW, AUTO = "state.write.tx", "ui.slot.render", "automation.invoke"
ALL: Final = (AUTO, EXPORT, STORE, READ, WRITE, SHOW)
MODULE: Final = "word-count"
STARTED, PASSED, REQUIRED, DECISION, RESULT = CheckState
LONG: Final = Duration(6 * 60_000)
"""Beyond the deadline of a question."""
YES: Final = "approve_session"
FOR_GOOD: Final = "approve_persistent"

_NEEDS: Final = {
    "notes.count": (READ,),
    "notes.keep": (STORE,),
    "notes.save": (EXPORT, READ),
    "notes.three": (EXPORT, STORE, READ),
}
DECLARED: Final = (
    *(
        CommandDeclaration(name, MutationScope.LOCAL, capabilities=needs)
        for name, needs in _NEEDS.items()
    ),
    CommandDeclaration(
        "notes.remind",
        MutationScope.LOCAL,
        capabilities=(READ,),
        requires_approval=ApprovalRule("puts a line above the notes", ApprovalLevel.SOFT),
    ),
    CommandDeclaration(
        "notes.shout",
        MutationScope.LOCAL,
        capabilities=(READ,),
        requires_approval=ApprovalRule("is loud", ApprovalLevel.HARD, approver="operator"),
    ),
    CommandDeclaration("notes.audit", MutationScope.LOCAL, capabilities=(READ,), role="operator"),
    CommandDeclaration(
        "notes.alone",
        MutationScope.LOCAL,
        capabilities=(READ,),
        queue=QueuePolicy.REFUSE_WHEN_BUSY,
    ),
    CommandDeclaration("notes.add", MutationScope.DOC, mutates=("/notes",)),
)
COMMANDS: Final = tuple(each.command_id for each in DECLARED)


def package(
    commands: tuple[str, ...] = COMMANDS,
    *,
    module_id: str = MODULE,
    version: str = "1.0.0",
    requested: tuple[str, ...] = ALL,
    **changes: Any,
) -> dict[str, Any]:
    """A package with a button and a binding for each command, named as the command is without its room."""
    names = {each: each.removeprefix("notes.") for each in commands}
    return {
        "packageAbiVersion": 1,
        "moduleId": module_id,
        "moduleVersion": version,
        "displayName": "Word count",
        "compatibility": {"pluginManifestVersion": 1, "commandBusContractVersion": 1},
        "pluginManifest": {
            "manifestVersion": 1,
            "pluginId": module_id,
            "ui": [
                {
                    "id": name,
                    "slot": "left-panel",
                    "type": "button",
                    "label": name.title(),
                    "action": {"commandId": command, "payload": {"of": name}},
                }
                for command, name in names.items()
            ],
        },
        "commandBindings": [
            {"bindingId": name, "uiEntryId": name, "commandId": command}
            for command, name in names.items()
        ],
        "capabilitiesRequested": list(requested),
        **changes,
    }


def graph(*actions: Mapping[str, Any], module_id: str = MODULE) -> bytes:
    """An action graph; of an action what is missing is filled in."""
    usual = {"label": "An action", "mutates": []}
    document = {
        "actionGraphVersion": "1.0",
        "moduleId": module_id,
        "actions": [{**usual, **each} for each in actions],
    }
    return json.dumps(document).encode()


def summary(outcome: ActionOutcome) -> tuple[str, str | None, str | None]:
    """Status, code and capability."""
    return outcome.status.value, outcome.code, outcome.capability_id


class Person:
    """Somebody at the host who is asked: says one thing each time, and remembers the questions."""

    def __init__(
        self, board: "Board", *says: str, before: Callable[[], object] = lambda: None
    ) -> None:
        self._board = board
        self._says = list(says)
        self._before = before
        self.asked: list[ApprovalRequest] = []

    def ask(self, request: ApprovalRequest, _look: Look) -> Answer | None:
        """The next of what they say; nothing where they say `gone`."""
        self.asked.append(request)
        self._before()
        word = self._says.pop(0)
        return None if word == "gone" else spoken(word, self._board.host.user)

    def tell(self, request: ApprovalRequest) -> None:
        """They read it."""


def spoken(word: str, by: Any, role: Role = Role.OWNER) -> Answer:
    """A person's word as an answer."""
    lasts = {YES: Lasts.SESSION, FOR_GOOD: Lasts.PERMANENT, "approve_once": Lasts.ONCE}.get(word)
    outcome = Outcome.DENIED if word == "deny" else Outcome.APPROVED
    return Answer(outcome, by, role, Channel.LIBRARY, lasts=lasts)


def _done(_: ModuleCall) -> str:
    return "done"


def _count(call: ModuleCall) -> int:
    state: Any = call.state()
    return len(state["notes"])


class Board:
    """One host, the state it shows, and all that can be asked of the store beside it."""

    host_id = "note-board"
    declared: tuple[CommandDeclaration, ...] = DECLARED
    writable_paths: tuple[str, ...] = ("/notes",)

    def __init__(self, home: Path, environ: Mapping[str, str] | None = None) -> None:
        self.environ = {"HOME": str(home), "PATH": "/usr/bin:/bin", **(environ or {})}
        self.clock = ManualClock(NOW)
        self.notes: dict[str, Any] = {"notes": ["one", "two"]}
        self.calls: list[tuple[str, Any, Any]] = []
        self.does: dict[str, Handler] = {
            "notes.count": _count,
            "notes.keep": lambda call: call.storage.put("kept", call.arguments),
            "notes.save": lambda call: call.export("exported"),
        }
        self.host = self.opened()

    def opened(self, **changes: Any) -> ModuleHost:
        """Another object of the same host: a restart, or a second window."""
        return ModuleHost(
            self.environ,
            **{
                "host_id": self.host_id,
                "version": "2.4.0",
                "commands": [
                    HostCommand(each, self._handler(each.command_id)) for each in self.declared
                ],
                "state": lambda: self.notes,
                "writable_paths": self.writable_paths,
                "clock": self.clock,
                **changes,
            },
        )

    def _handler(self, command_id: str) -> Handler:
        def handle(call: ModuleCall) -> Any:
            self.calls.append((command_id, call.payload, call.arguments))
            return self.does.get(command_id, _done)(call)

        return handle

    def restart(self) -> None:
        """The application is closed, and started again."""
        self.host.close()
        self.host = self.opened()

    def take(self, document: Any = None, graph_file: bytes | None = None) -> dict[str, Any]:
        """Imports a package, the usual one where none is given."""
        return self.host.import_module(package() if document is None else document, graph_file)

    def grant(self, *capabilities: str, decision: str = YES, module_id: str = MODULE) -> None:
        """Asks for these and says yes."""
        outcome = self.host.request(module_id, capabilities)
        assert outcome.request_id is not None, outcome
        self.host.answer(outcome.request_id, decision)

    def ready(self, *capabilities: str, **changes: Any) -> None:
        """The usual module, granted these for the session."""
        assert self.take(package(**changes))["ok"]
        if capabilities:
            self.grant(*capabilities)

    def call(self, action_id: str, **how: Any) -> ActionOutcome:
        """Calls an action of the usual module."""
        return self.host.invoke(how.pop("module_id", MODULE), action_id, **how)

    def target(self, name: str = "out.txt") -> ExportTarget:
        """What a person at the host chose for one export."""
        folder = Path(self.environ["HOME"]) / "chosen"
        folder.mkdir(exist_ok=True)
        return ExportTarget(folder, name, overwrite=True)

    def person(self, *says: str, before: Callable[[], object] = lambda: None) -> Person:
        """Somebody at the host."""
        return Person(self, *says, before=before)

    def journal(self) -> Journal:
        """The same store, as another process on this machine has it; to be closed."""
        return journal_here(look_around(self.environ), self.clock, Uuid7Ids(self.clock))

    def set_mode(self, mode: ModuleMode) -> None:
        """An operator turns the switch, in another process."""
        self._elsewhere(lambda journal: StoredModules(journal).set_mode(mode, self.host.user))

    def revoke(self, capability_id: str, module_id: str = MODULE) -> None:
        """Somebody takes a grant back, in another process."""

        def revoke(journal: Journal) -> None:
            grants = StoredGrants(journal.ledger, journal.ids, journal.clock, journal.context)
            for each in grants.of_module(self.host_id, module_id):
                if each.terms.capability_id == capability_id and each.revoked_at is None:
                    grants.revoke(each.grant_id, self.host.user)

        self._elsewhere(revoke)

    def _elsewhere(self, act: Callable[[Journal], object]) -> None:
        journal = self.journal()
        try:
            act(journal)
        finally:
            journal.ledger.close()

    def events(self, *types: str) -> list[dict[str, Any]]:
        """What is on record, of these types where some are named."""
        history = ledger_for_reading(look_around(self.environ))
        assert history is not None
        try:
            found = [json.loads(row.body) for row in history.events()]
        finally:
            history.database.close()
        return [each for each in found if not types or each["type"] in types]

    def payloads(self, *types: str) -> list[dict[str, Any]]:
        """The payloads of those."""
        return [each["payload"] for each in self.events(*types)]

    def used(self) -> list[str]:
        """The capabilities whose use is on record, in order."""
        return [each["capabilityId"] for each in self.payloads("module.capability.used")]

    def rejected(self) -> list[tuple[str, str]]:
        """What was refused: code and capability."""
        found = self.payloads("capability.check.rejected")
        return [(each["decisionReasonCode"], each["capabilityId"]) for each in found]

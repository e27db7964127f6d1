"""The note board with commands that do whatever a module says, and the rules of writing one by one taken away.

The board's own handlers make their operations themselves. These here hand over what they find, as careless
code of a host might: what holds then is not the handler, but what is behind `call.write`. Only tests can
import this.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast
from unittest.mock import patch

from consentry.decide.statechange import read_operations
from consentry.enforce import broker
from consentry.enforce.broker import CapabilityRejected, ModuleCall
from consentry.modules import (
    ActionOutcome,
    CommandDeclaration,
    HostCommand,
    ModuleHost,
    MutationScope,
)
from consentry.service.modulehost import ModuleHost as ServiceHost
from consentry.service.transactionplace import NOTHING
from consentry.service.transactionwatch import ModuleWatch
from examples.noteboard.board import Board
from examples.noteboard.host import open_host

MODULE = "quick-fix"
NAMES = ("patch", "peek", "keep", "late", "swallow")


@dataclass(slots=True)
class Careless:
    """Handlers that write what they were handed; `wanted` is asked for besides what the payload has."""

    wanted: Any = None
    kept: list[ModuleCall] = field(default_factory=list)

    def patch(self, call: ModuleCall) -> str:
        """Writes it."""
        call.write(self._asked(call))
        return "written"

    def swallow(self, call: ModuleCall) -> str:
        """Writes it, and tells nobody what came of it."""
        try:
            call.write(self._asked(call))
        except CapabilityRejected:
            return "as if nothing had happened"
        return "written"

    def keep(self, call: ModuleCall) -> str:
        """Keeps the call for later."""
        self.kept.append(call)
        return "kept"

    def late(self, _: ModuleCall) -> str:
        """Writes with a call that is over."""
        self.kept[0].write(self._asked(self.kept[0]))
        return "written late"

    def _asked(self, call: ModuleCall) -> Any:
        payload = call.payload
        smuggled = payload.get("operations") if isinstance(payload, Mapping) else None
        return self.wanted if smuggled is None else smuggled

    def commands(self) -> list[HostCommand]:
        """All of them; `notes.peek` declares that it changes nothing, and writes all the same."""
        local = CommandDeclaration("notes.peek", MutationScope.LOCAL, capabilities=("state.read",))
        does = {"patch": self.patch, "keep": self.keep, "late": self.late, "swallow": self.swallow}
        lasting = [
            HostCommand(
                CommandDeclaration(f"notes.{name}", MutationScope.DOC, mutates=("/notes",)), handler
            )
            for name, handler in does.items()
        ]
        return [HostCommand(local, self.patch), *lasting]


@dataclass(frozen=True, slots=True)
class CarelessBoard:
    """A board with such commands, and a module that is bound to all of them."""

    host: ModuleHost
    careless: Careless

    def act(self, name: str, wanted: Any = None) -> ActionOutcome:
        """Calls a command for the module, which gets every grant that it asks for."""
        self.careless.wanted = wanted
        outcome = self.host.invoke(MODULE, name)
        if outcome.request_id is None:
            return outcome
        self.host.answer(outcome.request_id, "approve_session")
        return self.host.invoke(MODULE, name)

    def document(self) -> dict[str, Any]:
        """What is in the board's document."""
        return self.host.state()


@contextmanager
def careless_board(
    folder: Path, payloads: Mapping[str, Any] | None = None
) -> Iterator[CarelessBoard]:
    """Such a board; `payloads` are what the module's bindings carry."""
    careless = Careless()
    environ = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}

    def host_type(
        host_id: str, version: str, commands: Sequence[HostCommand], **options: Any
    ) -> ModuleHost:
        every = [*commands, *careless.commands()]
        return cast(ModuleHost, ServiceHost(environ, host_id, version, every, **options))

    with open_host(Board(folder / "board"), host_type) as host:
        carried = payloads or {}
        answer = host.import_module(package(carried), graph_of(carried))
        assert answer["ok"], answer
        yield CarelessBoard(host, careless)


def graph_of(payloads: Mapping[str, Any]) -> bytes:
    """What it can do: each command by itself, and one that keeps a call for the next."""
    calls = {name: [f"notes.{name}"] for name in _names(payloads)}
    calls["both"] = ["notes.keep", "notes.late"]
    actions = [
        {
            "id": name,
            "label": name,
            "calls": called,
            "mutates": [],
            "requiresApproval": name not in (*NAMES, "both"),
        }
        for name, called in calls.items()
    ]
    return json.dumps(
        {"actionGraphVersion": "1.0", "moduleId": MODULE, "actions": actions}
    ).encode()


def _names(payloads: Mapping[str, Any]) -> tuple[str, ...]:
    return (*NAMES, *(each for each in payloads if each not in NAMES))


def package(payloads: Mapping[str, Any]) -> str:
    """The module: one entry for each command, and what it is to carry."""
    names = _names(payloads)
    entries = [
        {
            "id": name,
            "slot": "left-panel",
            "type": "button",
            "label": name,
            "action": {"commandId": f"notes.{name}"},
        }
        for name in names
    ]
    bindings: list[dict[str, Any]] = [
        {"bindingId": name, "uiEntryId": name, "commandId": f"notes.{name}"} for name in names
    ]
    for each in bindings:
        if each["bindingId"] in payloads:
            each["payload"] = payloads[each["bindingId"]]
    return json.dumps(
        {
            "packageAbiVersion": 1,
            "moduleId": MODULE,
            "moduleVersion": "1.0.0",
            "displayName": "Quick fix",
            "compatibility": {"pluginManifestVersion": 1, "commandBusContractVersion": 1},
            "pluginManifest": {"manifestVersion": 1, "pluginId": MODULE, "ui": entries},
            "commandBindings": bindings,
            "capabilitiesRequested": ["state.read", "state.write.tx"],
        }
    )


@contextmanager
def without_rules_of_the_call() -> Iterator[None]:
    """`call.write` takes whatever it is handed, wherever it goes and whoever calls."""

    def write(call: ModuleCall, operations: Any) -> None:
        call._powers.wanted.add(read_operations(operations, "doc"))

    with patch.object(broker.ModuleCall, "write", write):
        yield


@contextmanager
def without_the_watch() -> Iterator[None]:
    """Nobody looks at what a module's transaction writes."""

    def nothing(*_: object) -> None:
        return None

    with ExitStack() as taken:
        taken.enter_context(patch.object(ModuleWatch, "check", nothing))
        taken.enter_context(patch.object(ModuleWatch, "require", nothing))
        taken.enter_context(patch.object(ModuleWatch, "begin", lambda *_: NOTHING))
        yield

"""A small host with its packages, for the proofs of imported modules: plain tables, nothing clever.

Two modules, three versions, two contents of each version. Version 2.0.0 does not ask for `state.read`, so
that an action of it needs what was not requested. Every package comes with the same action graph.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from consentry.declare.hostdescription import CommandDeclaration, HostDescription, MutationScope
from consentry.declare.modulepackage import read_package
from consentry.enforce.broker import ModuleCall
from consentry.service.moduleactions import Handler

HOST_ID: Final = "proof-board"
MODULES: Final = ("alpha-tools", "beta-tools")
VERSIONS: Final = ("1.0.0", "2.0.0", "3.0.0")
CONTENTS: Final = ("as it was", "as it is now")
CATALOG: Final = (
    "automation.invoke",
    "export.user.file",
    "module.storage.local",
    "state.read",
    "state.write.tx",
    "ui.slot.render",
)
NEEDS: Final[Mapping[str, tuple[str, ...]]] = {
    "look": ("state.read",),
    "keep": ("module.storage.local",),
    "swap": ("module.storage.local", "state.read"),
    "save": ("export.user.file",),
}
"""What each action needs: it calls the command of the same name, which declares just this."""
AUTOMATED: Final = ("look", "swap")
STORING: Final = ("keep", "swap")
KEY: Final = "last"

HOST: Final = HostDescription(
    HOST_ID,
    "1.0.0",
    tuple(
        CommandDeclaration(f"board.{name}", MutationScope.LOCAL, capabilities=needs)
        for name, needs in NEEDS.items()
    ),
)


def requested_by(version: str) -> tuple[str, ...]:
    """What a package of that version asks for."""
    asked = ("automation.invoke", "export.user.file", "module.storage.local", "state.read")
    return asked[:3] if version == "2.0.0" else asked


def package_of(module: str, version: str, content: str, **changes: object) -> bytes:
    """The package, or one that is broken by the changes."""
    document: dict[str, Any] = {
        "packageAbiVersion": 1,
        "moduleId": module,
        "moduleVersion": version,
        "displayName": module.title(),
        "description": content,
        "compatibility": {"pluginManifestVersion": 1, "commandBusContractVersion": 1},
        "pluginManifest": {
            "manifestVersion": 1,
            "pluginId": module,
            "ui": [
                {
                    "id": name,
                    "slot": "left-panel",
                    "type": "button",
                    "action": {"commandId": f"board.{name}"},
                }
                for name in NEEDS
            ],
        },
        "commandBindings": [
            {"bindingId": f"b-{name}", "uiEntryId": name, "commandId": f"board.{name}"}
            for name in NEEDS
        ],
        "capabilitiesRequested": list(requested_by(version)),
    }
    return json.dumps({**document, **changes}).encode()


def graph_of(module: str) -> bytes:
    """Its action graph: two of the four actions can be called from automation."""
    actions = [
        {
            "id": name,
            "label": name.title(),
            "calls": [f"board.{name}"],
            "mutates": [],
            "surface": ["toolbar", *(["automation"] if name in AUTOMATED else [])],
        }
        for name in NEEDS
    ]
    graph = {"actionGraphVersion": "1.0", "moduleId": module, "actions": actions}
    return json.dumps(graph).encode()


PACKAGES: Final = {
    (module, version, content): package_of(module, version, content)
    for module in MODULES
    for version in VERSIONS
    for content in CONTENTS
}
DIGESTS: Final = {key: str(read_package(text, HOST).digest) for key, text in PACKAGES.items()}

BAD: Final[Mapping[str, bytes]] = {
    "invalid-package-root": b"[]",
    "invalid-module-version": package_of(MODULES[0], "one", CONTENTS[0]),
    "unknown-command-id": package_of(MODULES[0], "1.0.0", CONTENTS[0]).replace(
        b"board.look", b"board.rule"
    ),
    "capability-unknown-id": package_of(
        MODULES[0], "1.0.0", CONTENTS[0], capabilitiesRequested=["state.read", "state.*"]
    ),
}
"""Packages that are refused, by their code."""


def _keep(call: ModuleCall) -> None:
    call.storage.put(KEY, call.arguments)


def _swap(call: ModuleCall) -> None:
    call.storage.put(KEY, call.arguments)
    call.state()


HANDLERS: Final[Mapping[str, Handler]] = {
    "board.look": lambda call: call.state(),
    "board.keep": _keep,
    "board.swap": _swap,
    "board.save": lambda call: call.export(b"never reached without a target"),
}

"""A small host whose document changes, for the proofs of transactions: one command, one module, two versions."""

import json
from typing import Any, Final

from consentry.base.units import Duration
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostDescription,
    MutationScope,
)
from consentry.declare.modulepackage import read_package
from consentry.declare.preferences import ApprovalSettings
from consentry.service.transactionplace import TxTerms

HOST_ID: Final = "proof-board"
DOCUMENT: Final = "proof-board"
MODULE: Final = "alpha-tools"
VERSIONS: Final = ("1.0.0", "2.0.0")
COMMAND: Final = "board.write"
RULE: Final = ApprovalRule("changes the board", ApprovalLevel.HARD)
TERMS: Final = TxTerms(ttl_seconds=100, lease=Duration(20_000), recovery=Duration(60_000))
SETTINGS: Final = ApprovalSettings(parked_deadline=Duration(200_000))
HOST: Final = HostDescription(
    HOST_ID,
    "1.0.0",
    (CommandDeclaration(COMMAND, MutationScope.DOC, mutates=("/notes",)),),
    ("/notes",),
)


def package_of(version: str) -> bytes:
    """The package of that version; all of them ask for the same."""
    document: dict[str, Any] = {
        "packageAbiVersion": 1,
        "moduleId": MODULE,
        "moduleVersion": version,
        "displayName": "Alpha tools",
        "compatibility": {"pluginManifestVersion": 1, "commandBusContractVersion": 1},
        "pluginManifest": {
            "manifestVersion": 1,
            "pluginId": MODULE,
            "ui": [
                {
                    "id": "write",
                    "slot": "left-panel",
                    "type": "button",
                    "action": {"commandId": COMMAND},
                }
            ],
        },
        "commandBindings": [
            {"bindingId": "b-write", "uiEntryId": "write", "commandId": COMMAND},
        ],
        "capabilitiesRequested": ["state.write.tx"],
    }
    return json.dumps(document).encode()


PACKAGES: Final = {version: package_of(version) for version in VERSIONS}
DIGESTS: Final = {version: read_package(text, HOST).digest for version, text in PACKAGES.items()}

"""A host and a module package that fits it, for tests to break in one place at a time."""

import json
from typing import Any, Final

from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostDescription,
    MutationScope,
    QueuePolicy,
)
from consentry.declare.modulepackage import read_package
from consentry.declare.modulevalues import ModulePackage

HOST: Final = HostDescription(
    host_id="note-board",
    app_version="2.4.0",
    writable_paths=("/notes", "/trash"),
    commands=(
        CommandDeclaration(
            "notes.list",
            MutationScope.LOCAL,
            label="List the notes",
            capabilities=("state.read",),
            queue=QueuePolicy.AT_ONCE,
        ),
        CommandDeclaration(
            "notes.export",
            MutationScope.LOCAL,
            label="Export the notes",
            capabilities=("export.user.file", "state.read"),
            audit_tags=("export",),
        ),
        CommandDeclaration(
            "notes.remember",
            MutationScope.LOCAL,
            label="Remember a view",
            capabilities=("module.storage.local",),
        ),
        CommandDeclaration(
            "notes.add",
            MutationScope.DOC,
            label="Add a note",
            requires_approval=ApprovalRule("adds a note to the board", ApprovalLevel.SOFT),
            undo_command="notes.remove",
            mutates=("/notes",),
            audit_tags=("notes", "write"),
        ),
        CommandDeclaration(
            "notes.remove",
            MutationScope.DOC,
            label="Remove a note",
            requires_approval=ApprovalRule(
                "takes a note off the board", ApprovalLevel.HARD, approver="owner"
            ),
            role="operator",
            queue=QueuePolicy.REFUSE_WHEN_BUSY,
            mutates=("/notes", "/trash/notes"),
            audit_tags=("notes", "write"),
        ),
    ),
)


def package_document() -> dict[str, Any]:
    """A package that `HOST` takes: every key, every slot, both types; anew each time."""
    return {
        "packageAbiVersion": 1,
        "moduleId": "note-tools",
        "moduleVersion": "1.2.0",
        "displayName": "Note tools",
        "description": "Lists, exports and adds notes",
        "compatibility": {
            "pluginManifestVersion": 1,
            "commandBusContractVersion": 1,
            "minAppVersion": "2.0.0",
            "maxAppVersionExclusive": "3.0.0",
        },
        "pluginManifest": {
            "manifestVersion": 1,
            "pluginId": "note-tools",
            "ui": [
                {
                    "id": "list",
                    "slot": "chrome-top-toolbar",
                    "type": "button",
                    "label": "List",
                    "action": {"commandId": "notes.list"},
                },
                {
                    "id": "board",
                    "slot": "left-panel",
                    "type": "panel",
                    "label": "Board",
                },
                {
                    "id": "export",
                    "slot": "toolbar-bottom",
                    "type": "button",
                    "label": "Export",
                    "action": {"commandId": "notes.export", "payload": {"format": "json"}},
                },
                {
                    "id": "views",
                    "slot": "left-panel",
                    "type": "panel",
                    "label": "Views",
                    "action": {"commandId": "notes.remember", "payload": {"view": "all"}},
                },
                {
                    "id": "add",
                    "slot": "toolbar-inline",
                    "type": "button",
                    "label": "Add",
                    "action": {"commandId": "notes.add"},
                },
                {
                    "id": "remove",
                    "slot": "toolbar-inline",
                    "type": "button",
                    "action": {"commandId": "notes.remove"},
                },
            ],
        },
        "commandBindings": [
            {"bindingId": "b-list", "uiEntryId": "list", "commandId": "notes.list"},
            {
                "bindingId": "b-export",
                "uiEntryId": "export",
                "commandId": "notes.export",
                "expectedMutationScope": "local",
            },
            {
                "bindingId": "b-views",
                "uiEntryId": "views",
                "commandId": "notes.remember",
                "payload": {"view": "mine"},
            },
            {
                "bindingId": "b-add",
                "uiEntryId": "add",
                "commandId": "notes.add",
                "payload": {"text": "a new note"},
                "context": {"selection": None},
                "expectedMutationScope": "doc",
            },
            {
                "bindingId": "b-remove",
                "uiEntryId": "remove",
                "commandId": "notes.remove",
                "expectedMutationScope": "doc",
            },
        ],
        "capabilitiesRequested": [
            "ui.slot.render",
            "state.read",
            "state.write.tx",
            "module.storage.local",
            "export.user.file",
        ],
        "extensions": {"x-colour": "#2a6f97", "x-order": [1, 2.5, {"deep": None}]},
    }


def least_document() -> dict[str, Any]:
    """A package with nothing that may be left out."""
    whole = package_document()
    return {
        "packageAbiVersion": 1,
        "moduleId": "note-tools",
        "moduleVersion": "1.2.0",
        "displayName": "Note tools",
        "compatibility": {"pluginManifestVersion": 1, "commandBusContractVersion": 1},
        "pluginManifest": whole["pluginManifest"] | {"ui": []},
        "commandBindings": [],
    }


def package_bytes(document: object = None) -> bytes:
    """A document as it is written; the whole sample where none is given."""
    return json.dumps(package_document() if document is None else document).encode()


def package(document: object = None, host: HostDescription = HOST) -> ModulePackage:
    """The sample, or another document, as it is read."""
    return read_package(package_bytes(document), host)

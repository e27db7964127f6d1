"""Reads the command bindings of a module package, and holds them against entries and host (CONTRACTS §1).

Bindings are checked by index, the keys of each in the order of the table, each key wholly before the next;
only then is every entry with an action asked whether it has its binding. Where the table is silent:

- a binding for an entry without an action, or for one that has a binding already, is itself wrong:
  `invalid-command-binding` at its `uiEntryId`;
- a scope that is none of the three words differs from the command's: `binding-mutation-scope-mismatch`;
- a missing binding is told at the action that has none.

What a command changes, who may call it and who is asked is the host's to say; a binding only repeats the
scope it expects, and `null` there is not the same as saying nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Final, cast

from consentry.base.canonical import Json
from consentry.declare.hostdescription import CommandDeclaration, HostDescription, MutationScope
from consentry.declare.modulecodes import PackageCode, PackageRejected
from consentry.declare.modulefields import first_unknown, found, is_name, key_path, shown
from consentry.declare.modulemanifest import entry_path
from consentry.declare.modulevalues import CommandBinding, UiAction, UiEntry

PATH: Final = "package.commandBindings"
KEYS: Final = (
    "bindingId",
    "uiEntryId",
    "commandId",
    "payload",
    "context",
    "expectedMutationScope",
)
_NAME = "a text with something in it"


def read_bindings(
    package: Mapping[str, object], entries: Sequence[UiEntry], host: HostDescription
) -> tuple[CommandBinding, ...]:
    """The bindings in their order, exactly one for each entry that has an action, or raises."""
    listed = package.get("commandBindings")
    if not isinstance(listed, list):
        raise PackageRejected(
            PackageCode.INVALID_COMMAND_BINDINGS_ARRAY,
            PATH,
            found(package, "commandBindings", "an array"),
        )
    reading = _Reading(entries, host)
    bindings = tuple(reading.binding(each, index) for index, each in enumerate(listed))
    reading.check_all_bound(entries)
    return bindings


class _Reading:
    """What was met so far: ids that are taken, and entries that have their binding."""

    def __init__(self, entries: Sequence[UiEntry], host: HostDescription) -> None:
        self._entries = {each.entry_id: each for each in entries}
        self._host = host
        self._binding_ids: dict[str, int] = {}
        self._bound: dict[str, int] = {}

    def binding(self, document: object, index: int) -> CommandBinding:
        """One binding, or raises."""
        path = f"{PATH}[{index}]"
        if not isinstance(document, dict):
            raise _wrong(path, f"{shown(document)} is not an object")
        unknown = first_unknown(document, KEYS)
        if unknown is not None:
            message = f"the key {shown(unknown)} is not one of {', '.join(KEYS)}"
            raise _wrong(key_path(path, unknown), message)
        binding_id = self._binding_id(document, index, path)
        entry_id, action = self._bound_action(document, index, path)
        command = self._command(document, action, path)
        return CommandBinding(
            binding_id=binding_id,
            ui_entry_id=entry_id,
            command_id=command.command_id,
            payload=cast(Json, document.get("payload", action.payload)),
            context=cast(Json, document.get("context")),
            expected_scope=_expected_scope(document, command, path),
        )

    def check_all_bound(self, entries: Sequence[UiEntry]) -> None:
        """Raises for the first entry with an action that no binding names."""
        for index, entry in enumerate(entries):
            if entry.action is not None and entry.entry_id not in self._bound:
                raise PackageRejected(
                    PackageCode.MISSING_BINDING_FOR_UI_ACTION,
                    f"{entry_path(index)}.action",
                    f"no binding names the entry {shown(entry.entry_id)}, which has an action",
                )

    def _binding_id(self, document: Mapping[str, object], index: int, path: str) -> str:
        binding_id = document.get("bindingId")
        if not is_name(binding_id):
            message = found(document, "bindingId", _NAME)
            raise PackageRejected(
                PackageCode.INVALID_COMMAND_BINDING_ID, f"{path}.bindingId", message
            )
        first = self._binding_ids.setdefault(binding_id, index)
        if first != index:
            message = f"{shown(binding_id)} is already the id of binding {first}"
            raise PackageRejected(
                PackageCode.DUPLICATE_COMMAND_BINDING_ID, f"{path}.bindingId", message
            )
        return binding_id

    def _bound_action(
        self, document: Mapping[str, object], index: int, path: str
    ) -> tuple[str, UiAction]:
        path = f"{path}.uiEntryId"
        entry_id = document.get("uiEntryId")
        if not is_name(entry_id):
            raise _wrong(path, found(document, "uiEntryId", _NAME))
        entry = self._entries.get(entry_id)
        if entry is None:
            message = f"{shown(entry_id)} is not the id of an entry of the manifest"
            raise PackageRejected(PackageCode.UNKNOWN_UI_ENTRY_ID, path, message)
        if entry.action is None:
            raise _wrong(path, f"the entry {shown(entry_id)} has no action to bind")
        first = self._bound.setdefault(entry_id, index)
        if first != index:
            raise _wrong(path, f"binding {first} is already for the entry {shown(entry_id)}")
        return entry_id, entry.action

    def _command(
        self, document: Mapping[str, object], action: UiAction, path: str
    ) -> CommandDeclaration:
        path = f"{path}.commandId"
        command_id = document.get("commandId")
        if not is_name(command_id):
            raise _wrong(path, found(document, "commandId", _NAME))
        if command_id != action.command_id:
            message = f"{shown(command_id)} is not the command of the entry's action, {shown(action.command_id)}"
            raise PackageRejected(PackageCode.COMMAND_ID_MISMATCH, path, message)
        command = self._host.command(command_id)
        if command is None:
            message = f"the host has no command {shown(command_id)}"
            raise PackageRejected(PackageCode.UNKNOWN_COMMAND_ID, path, message)
        return command


def _expected_scope(
    document: Mapping[str, object], command: CommandDeclaration, path: str
) -> MutationScope | None:
    if "expectedMutationScope" not in document:
        return None
    scope = command.mutation_scope
    if document["expectedMutationScope"] != scope.value:
        message = found(document, "expectedMutationScope", f"the scope of the command, `{scope}`")
        raise PackageRejected(
            PackageCode.BINDING_MUTATION_SCOPE_MISMATCH, f"{path}.expectedMutationScope", message
        )
    return scope


def _wrong(path: str, message: str) -> PackageRejected:
    return PackageRejected(PackageCode.INVALID_COMMAND_BINDING, path, message)

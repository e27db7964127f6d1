"""Reads what a host application says of itself, as `HostDescription.to_json` writes it.

    {"hostVersion": 1, "hostId": "note-board", "appVersion": "2.4.0", "writablePaths": ["/notes"],
     "commands": [{"commandId": "notes.add", "mutationScope": "doc", "mutates": ["/notes"]}]}

Must be there: `hostVersion`, `hostId`, `appVersion`, `commands`, and of a command `commandId` and
`mutationScope`. Rules kept: no command id twice; capabilities are ids of the catalog, and a command that
changes nothing that lasts names one: nothing of a module is allowed but by a grant, so that a command
which needs none could never be called; what takes a command back is a command of the same host; what a
command changes lies below a path that can be written. Where the writer writes `null` for nothing, the
reader takes it; anywhere else it is an error.

A description that was made in Python is held to the very same rules by `check_host`, which writes it and
reads it back.
"""

import json
import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final, TypeVar

from consentry.declare.hostdescription import (
    HOST_VERSION,
    ApprovalLevel,
    ApprovalRule,
    CommandDeclaration,
    HostDescription,
    MutationScope,
    QueuePolicy,
)
from consentry.declare.modulepackage import MODULE_ID
from consentry.declare.names import version
from consentry.declare.nodes import Kind, Mapping, clipped
from consentry.declare.reader import read_document
from consentry.declare.repeats import without_repeats
from consentry.declare.requiredcapabilities import required_capabilities
from consentry.declare.statepaths import PathSet, is_pointer
from consentry.declare.values import Fields, Value, one_of
from consentry.surface.catalog import capability_catalog

KEYS: Final = ("hostVersion", "hostId", "appVersion", "writablePaths", "commands")
KEYS_OF_COMMAND: Final = (
    "commandId",
    "mutationScope",
    "label",
    "capabilities",
    "requiresApproval",
    "role",
    "queue",
    "undoCommand",
    "mutates",
    "auditTags",
)
KEYS_OF_APPROVAL: Final = ("reason", "level", "approver")
NAME: Final = "host.json"

_MOST_VERSION: Final = 10**17
_MOST_COMMAND_ID: Final = 128
_MOST_TEXT: Final = 500
_MOST_POINTER: Final = 500
_COMMAND_ID: Final = re.compile(
    rf"(?=.{{1,{_MOST_COMMAND_ID}}}\Z)[a-z][a-z0-9]*+(?:[.-][a-z0-9]++)*+", re.ASCII
)
_TAG: Final = re.compile(r"[a-z0-9][a-z0-9._:-]{0,63}", re.ASCII)

Built = TypeVar("Built")


class HostRole(StrEnum):
    """What a person can be to a host."""

    OWNER = "owner"
    APPROVER = "approver"
    OPERATOR = "operator"
    VIEWER = "viewer"


def read_host(content: bytes, name: str = NAME) -> HostDescription:
    """The description, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON, anything else YAML.
    """
    return read_document(content, name, _document)


def check_host(host: HostDescription) -> None:
    """Raises what `read_host` would raise for the same description in a file."""
    read_host(json.dumps(host.to_json(), indent=1).encode())


def _document(root: Value) -> HostDescription:
    fields = root.fields(KEYS)
    if fields is None:
        return HostDescription("", "")
    fields.need("hostVersion", _host_version, 0)
    host = HostDescription(
        host_id=fields.need("hostId", _host_id, ""),
        app_version=fields.need("appVersion", version, ""),
        commands=fields.need("commands", _commands, ()),
        writable_paths=fields.may("writablePaths", _pointers, ()),
    )
    commands = fields.find("commands")
    if commands is not None:
        _check_together(commands, host)
    return host


def _check_together(commands: Value, host: HostDescription) -> None:
    """Notes commands that name another one, or a path, which the host does not have."""
    writable = PathSet(host.writable_paths)
    for command in _items(commands):
        # What has another form was noted when it was read.
        entries = (command.entries() or {}) if isinstance(command.node, Mapping) else {}
        undo = entries.get("undoCommand")
        if undo is not None:
            _check_undo(undo.value, host)
        mutates = entries.get("mutates")
        for path in () if mutates is None else _items(mutates.value):
            _check_writable(path, writable)


def _items(value: Value) -> tuple[Value, ...]:
    return (value.items() or ()) if value.is_list() else ()


def _check_undo(value: Value, host: HostDescription) -> None:
    name = value.words() if value.is_kind(Kind.TEXT) else None
    if name and host.command(name) is None:
        message = f"`{clipped(name)}` is not a command of this host"
        value.refuse(message, "name one of its commands, or leave the key out")


def _check_writable(value: Value, writable: PathSet) -> None:
    pointer = value.words() if value.is_kind(Kind.TEXT) else None
    if pointer is not None and is_pointer(pointer) and not writable.covers(pointer):
        message = f"`{clipped(pointer)}` is not below one of `writablePaths`"
        value.refuse(message, "add the path there, or name one that can be written")


def _host_version(value: Value) -> int | None:
    found = value.whole(0, _MOST_VERSION)
    if found is not None and found != HOST_VERSION:
        value.refuse(
            f"version {found} of this document is not known, only {HOST_VERSION}",
            f"write {HOST_VERSION} if it follows that, or install a release that knows it",
        )
    return found


def _host_id(value: Value) -> str | None:
    return value.matching(
        MODULE_ID, "an id of a host", "use 3 to 64 of a to z, digits and `-`, with no `-` in front"
    )


def _commands(value: Value) -> tuple[CommandDeclaration, ...] | None:
    return without_repeats(value, _command, lambda command: command.command_id)


def _command(value: Value) -> CommandDeclaration | None:
    fields = value.fields(KEYS_OF_COMMAND)
    if fields is None:
        return None
    command = CommandDeclaration(
        command_id=fields.need("commandId", _command_id, ""),
        mutation_scope=fields.need("mutationScope", one_of(MutationScope), MutationScope.LOCAL),
        label=fields.may("label", _or_nothing(_text), None),
        capabilities=fields.may("capabilities", _capabilities, ()),
        requires_approval=fields.may("requiresApproval", _or_nothing(_approval), None),
        role=fields.may("role", _or_nothing(_role), None),
        queue=fields.may("queue", one_of(QueuePolicy), QueuePolicy.ONE_BY_ONE),
        undo_command=fields.may("undoCommand", _or_nothing(_command_id), None),
        mutates=fields.may("mutates", _pointers, ()),
        audit_tags=fields.may("auditTags", _tags, ()),
    )
    if not command.command_id:
        return None  # and nothing to compare with the others
    _check_needs(value, fields, command)
    return command


def _check_needs(value: Value, fields: Fields, command: CommandDeclaration) -> None:
    """Notes a command that needs nothing; not one of which something else is wrong already."""
    alone, called = HostDescription("", "", (command,)), (command.command_id,)
    listed, scope = fields.find("capabilities"), fields.find("mutationScope")
    says_none = listed is None or (listed.is_list() and not listed.items())
    says_local = scope is not None and scope.is_kind(Kind.TEXT) and scope.words() == "local"
    if says_none and says_local and not required_capabilities(called, alone, is_automation=False):
        message = f"`{clipped(command.command_id)}` needs no capability, so no grant could allow it"
        value.refuse(message, "name under `capabilities` what it takes, such as state.read")


def _approval(value: Value) -> ApprovalRule | None:
    fields = value.fields(KEYS_OF_APPROVAL)
    if fields is None:
        return None
    return ApprovalRule(
        reason=fields.need("reason", _text, ""),
        level=fields.need("level", one_of(ApprovalLevel), ApprovalLevel.HARD),
        approver=fields.may("approver", _or_nothing(_role), None),
    )


def _or_nothing(read: Callable[[Value], Built | None]) -> Callable[[Value], Built | None]:
    """The same, of a value that may be `null`, as the writer has it for nothing."""
    return lambda value: None if value.is_kind(Kind.NOTHING) else read(value)


def _command_id(value: Value) -> str | None:
    return value.matching(
        _COMMAND_ID,
        "the id of a command",
        f"use words of a to z and digits with `.` or `-` between, at most {_MOST_COMMAND_ID}",
    )


def _text(value: Value) -> str | None:
    found = value.text()
    if found is not None and len(found) > _MOST_TEXT:
        value.refuse(f"the text has more than {_MOST_TEXT} characters", "shorten it")
        return None
    return found


def _role(value: Value) -> str | None:
    found = value.member(HostRole)
    return None if found is None else found.value


def _capabilities(value: Value) -> tuple[str, ...] | None:
    return without_repeats(value, _capability, lambda capability_id: capability_id)


def _capability(value: Value) -> str | None:
    found = value.text()
    catalog = capability_catalog()
    if found is not None and catalog.find(found) is None:
        known = ", ".join(each.capability_id for each in catalog.entries)
        value.refuse(
            f"`{clipped(found)}` is not a capability of the catalog", f"write one of {known}"
        )
        return None
    return found


def _pointers(value: Value) -> tuple[str, ...] | None:
    return without_repeats(value, _pointer, lambda pointer: pointer)


def _pointer(value: Value) -> str | None:
    found = value.words()
    if found is None or (len(found) <= _MOST_POINTER and is_pointer(found)):
        return found
    value.refuse(
        f"`{clipped(found)}` is not a JSON pointer",
        f"write a path such as /notes/title, at most {_MOST_POINTER} characters",
    )
    return None


def _tags(value: Value) -> tuple[str, ...] | None:
    return without_repeats(value, _tag, lambda tag: tag)


def _tag(value: Value) -> str | None:
    return value.matching(
        _TAG, "a tag", "use a to z, digits, `.`, `:`, `-` and `_`, at most 64 characters"
    )

"""What would allow a tool what was refused to it: the keys to add, in its manifest or its profile.

An engine says what a person would type on a command line. A tool has no such line: its manifest asks,
`allowedPaths` and a profile narrow that, and each of the three may be what is missing. What a profile's
`noAccess` closes is opened by none of them.
"""

import json
import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal

from consentry.base.errors import BadInput
from consentry.base.values import replace
from consentry.declare.pathentries import WORKSPACE_VARIABLE, PathEntry
from consentry.enforce.confinement import Confinement
from consentry.enforce.violations import PermissionDenied
from consentry.enforce.writerules import WriteRules, names_of
from consentry.service.rundecision import ToolFacts
from consentry.surface.lattice import Surface
from consentry.surface.pattern import Anchor, Pattern, Vocabulary, Wildcard
from consentry.surface.patterns import PatternScope

_READ, _WRITE, _EXEC, _NET, _ENV = "--read", "--write", "--exec", "--net", "--env"
_WHY: Final = {"purpose": "…"}  # to be written by whoever adds the key
_OPTIONS: Final = frozenset({_READ, _WRITE, _EXEC, _NET, _ENV})


def as_manifest_keys(
    found: Sequence[PermissionDenied], tool: ToolFacts, wanted: Confinement
) -> tuple[PermissionDenied, ...]:
    """The same denials, each with the keys that would allow it; one that has them stays as it is."""
    closed = WriteRules.bound(
        PatternScope.of(Vocabulary.PATH, []), workspace=wanted.workspace, denied=wanted.denied
    )
    return tuple(_told(each, tool, wanted, closed) for each in found)


def _told(
    denied: PermissionDenied, tool: ToolFacts, wanted: Confinement, closed: WriteRules
) -> PermissionDenied:
    option, value = _typed(denied.allow)
    if option is None:
        return denied
    if option in (_READ, _WRITE):
        row = closed.denial(names_of(Path(value)))
        if row is not None:
            return replace(denied, rule=f"noAccess {row.text}", allow=None)
    try:
        keys = list(_keys(option, value, tool, wanted))
    except BadInput:
        keys = []  # no document could name it
    return replace(denied, allow=", and ".join(keys) or None)


def _typed(allow: str | None) -> tuple[str | None, str]:
    """The option and its value, where that is what is said."""
    if allow is None or not allow.startswith("--"):
        return None, ""
    words = shlex.split(allow)
    is_known = len(words) == 2 and words[0] in _OPTIONS  # noqa: PLR2004 - an option and its value
    return (words[0], words[1]) if is_known else (None, "")


def _keys(option: str, value: str, tool: ToolFacts, wanted: Confinement) -> Iterator[str]:
    asked = tool.manifest.capabilities
    at_manifest = f"in the manifest of `{tool.name}`"
    match option:
        case "--read" | "--write":
            yield from _file_keys(option, value, tool, wanted)
        case "--exec":
            command = _json(
                {"command": _relative(value, wanted.workspace), "arguments": [], **_WHY}
            )
            yield f"`capabilities.processExecution: [{command}]` {at_manifest}"
        case "--net":
            needed = Surface.of(net=[value]).net_access
            if not needed.targets <= asked.network.targets:
                yield f"`capabilities.networkAccess: [{_json(value)}]` {at_manifest}"
            if tool.profile is not None and not needed <= tool.profile.network:
                yield f"`network.allow: [{_json(value)}]` in the profile `{tool.profile.name}`"
        case _:
            yield f"`capabilities.environmentVariables.read: [{_json(value)}]` {at_manifest}"


def _file_keys(option: str, value: str, tool: ToolFacts, wanted: Confinement) -> Iterator[str]:
    asked, profile = tool.manifest.capabilities, tool.profile
    pattern = _pattern(value, wanted.workspace)
    needs = asked.file_write if option == _WRITE else (*asked.file_read, *asked.file_write)
    where = f"in the manifest of `{tool.name}`"
    if not _covers([need.entry for need in needs], pattern):
        key = "fileWrite" if option == _WRITE else "fileRead"
        spelled = _json({"pattern": pattern.text, **_WHY})
        yield f"`capabilities.{key}: [{spelled}]` {where}"
    allowed = tool.manifest.requirements.allowed_paths
    if allowed is not None and pattern.anchor is Anchor.WORKSPACE and not _covers(allowed, pattern):
        yield f"`sandboxRequirements.allowedPaths: [{_json(pattern.text)}]` {where}"
    if profile is None:
        return
    files = profile.filesystem
    opened = files.read_write if option == _WRITE else (*files.read_only, *files.read_write)
    if not _covers(opened, pattern):
        key = "readWrite" if option == _WRITE else "readOnly"
        spelled = _json(_profile_spelling(pattern))
        yield f"`filesystem.{key}: [{spelled}]` in the profile `{profile.name}`"


def _covers(entries: Sequence[PathEntry], pattern: Pattern) -> bool:
    scope = PatternScope.of(Vocabulary.PATH, [(entry.root,) for entry in entries])
    return PatternScope.of(Vocabulary.PATH, [(pattern,)]) <= scope


def _pattern(value: str, workspace: Path) -> Pattern:
    """The path as a document names it; behind a slash, or where it is a folder, with all below."""
    path = Path(os.path.normpath(value))
    is_tree = value.endswith("/") or path.is_dir()
    below: Literal[Wildcard.FOLDERS] | None = Wildcard.FOLDERS if is_tree else None
    if path.is_relative_to(workspace):
        return Pattern.literal(Anchor.WORKSPACE, path.relative_to(workspace).parts, and_below=below)
    return Pattern.literal(Anchor.ABSOLUTE, path.parts[1:], and_below=below)


def _profile_spelling(pattern: Pattern) -> str:
    if pattern.anchor is not Anchor.WORKSPACE:
        return pattern.text
    return f"{WORKSPACE_VARIABLE}/{pattern.text.removeprefix('./')}".rstrip("/")


def _relative(value: str, workspace: Path) -> str:
    path = Path(value)
    return f"./{path.relative_to(workspace)}" if path.is_relative_to(workspace) else value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)

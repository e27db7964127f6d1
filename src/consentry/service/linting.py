"""Looks at documents as a careful reader would: what is wrong, and what deserves a second thought.

A problem is what a run would be refused for, on any machine; a note is what is probably not meant. Every
document is looked at, whosesoever it is, and nothing stops at the first that is wrong. Nothing is
recorded, started or changed.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from consentry.base.errors import BadDocument, ConsentryError, Problem, Where
from consentry.base.nearest import closest
from consentry.base.values import dataclass, field
from consentry.declare.anydocument import read_any
from consentry.declare.consent import ConsentConfig
from consentry.declare.documentkind import DocumentKind
from consentry.declare.index import ToolIndex
from consentry.declare.manifestdraft import TO_FILL_IN
from consentry.declare.policy import Policy
from consentry.declare.profile import SandboxConfig
from consentry.declare.tool import ConsentLevel, RiskLevel, ToolManifest
from consentry.service.documents import FolderDocuments
from consentry.service.places import ConfigurationFolder, find_configuration, find_workspace
from consentry.service.programsearch import find_program
from consentry.service.protection import protected_here
from consentry.service.surroundings import Surroundings
from consentry.service.tooltable import INDEX_FILE
from consentry.service.userfiles import read_named

_FLOORS: Final = {
    RiskLevel.MEDIUM: ConsentLevel.EXPLICIT,
    RiskLevel.HIGH: ConsentLevel.STRICT,
    RiskLevel.CRITICAL: ConsentLevel.STRICT,
}


@dataclass(frozen=True, slots=True)
class LintReport:
    """How many documents were looked at, and what was found, in the order of the documents."""

    documents: int
    problems: tuple[Problem, ...]
    notes: tuple[Problem, ...]


@dataclass(slots=True)
class _Looking:
    """What was read so far, and what was found."""

    around: Surroundings
    read: int = 0
    problems: list[Problem] = field(default_factory=list)
    notes: list[Problem] = field(default_factory=list)
    profiles: set[str] = field(default_factory=set)
    tools: dict[str, ToolManifest] = field(default_factory=dict)
    # What names something in another document is looked at when all of them were read.
    later: list[Callable[[], None]] = field(default_factory=list)

    def problem(self, where: Where, message: str, help_line: str) -> None:
        self.problems.append(Problem(where, message, help_line))

    def note(self, where: Where, message: str, help_line: str) -> None:
        self.notes.append(Problem(where, message, help_line))

    def document(self, kind: DocumentKind, content: bytes, name: str) -> object | None:
        """Reads it; what is wrong with it is noted, and then there is nothing to look at."""
        self.read += 1
        try:
            return read_any(kind, content, name, roots=protected_here(self.around))
        except BadDocument as wrong:
            self.problems += wrong.problems
        except ConsentryError as wrong:
            self.failed(wrong, name)
        return None

    def failed(self, wrong: ConsentryError, name: str) -> None:
        """Notes a document that could not be read at all."""
        where = wrong.where or Where(name)
        self.problems.append(Problem(where, wrong.message, wrong.help_line, wrong.code))

    def report(self) -> LintReport:
        for look in self.later:
            look()
        return LintReport(self.read, tuple(self.problems), tuple(self.notes))


def lint_here(
    around: Surroundings, *, workspace_named: str | None = None, config_named: str | None = None
) -> LintReport:
    """Looks at every document of the configuration here, the workspace's included."""
    looking = _Looking(around)
    workspace = find_workspace(around, workspace_named)
    for folder in find_configuration(around, workspace, config_named).folders:
        for concern in folder.concerns:
            place = Where(str(folder.path))
            looking.problems.append(
                Problem(place, concern.message, concern.help_line, concern.code)
            )
        if folder.exists:
            _look_into(looking, folder)
    return looking.report()


def lint_files(around: Surroundings, files: Sequence[str]) -> LintReport:
    """Looks at these documents alone; what each is, its name says, and else it is a tool."""
    looking = _Looking(around)
    for file in files:
        content = read_named(file)
        found = looking.document(DocumentKind.of(file), content, file)
        if isinstance(found, ToolManifest):
            _look_at_tool(looking, found)
    return looking.report()


def _look_into(looking: _Looking, folder: ConfigurationFolder) -> None:
    documents = FolderDocuments(folder)
    index: ToolIndex | None = None
    tools: dict[str, ToolManifest] = {}
    for name in folder.files:
        found = _read(looking, documents, name, DocumentKind.of(name))
        match found:
            case ToolManifest():
                _look_at_tool(looking, found)
                tools[name] = found
            case ToolIndex():
                index = found
            case SandboxConfig(profiles=profiles):
                looking.profiles |= set(profiles)
            case ConsentConfig():
                looking.later.append(partial(_look_at_levels, looking, found))
            case Policy():
                looking.later.append(partial(_look_at_policy, looking, found))
    if index is not None:
        _look_at_index(looking, documents, index, tools)
    else:
        for name, tool in tools.items():
            _look_at_name(looking, tool, Path(name).stem)


def _read(
    looking: _Looking, documents: FolderDocuments, name: str, kind: DocumentKind
) -> object | None:
    path = str(documents.folder.path / name)
    try:
        document = documents.find(name)
    except ConsentryError as wrong:
        if not any(path in concern.message for concern in documents.folder.concerns):
            looking.failed(wrong, path)
        return None
    return None if document is None else looking.document(kind, document.content, path)


def _look_at_index(
    looking: _Looking,
    documents: FolderDocuments,
    index: ToolIndex,
    tools: dict[str, ToolManifest],
) -> None:
    known = set(documents.folder.files)
    for entry in index.tools:
        if not os.path.lexists(documents.folder.path / entry.file):
            message = f"`{entry.name}` has no manifest: there is no `{entry.file}`"
            help_line = f"write `{entry.file}`, or take the tool out of the index"
            looking.problem(entry.where, message, help_line)
        elif entry.file not in known:
            found = _read(looking, documents, entry.file, DocumentKind.TOOL)
            if isinstance(found, ToolManifest):
                _look_at_tool(looking, found)
                tools[entry.file] = found
        if entry.file in tools:
            _look_at_name(looking, tools[entry.file], entry.name)
    for name in sorted(known - {entry.file for entry in index.tools}):
        if DocumentKind.of(name) is DocumentKind.TOOL:
            where = Where(str(documents.folder.path / name))
            looking.note(where, f"no tool: `{INDEX_FILE}` does not name it", "add it there")


def _look_at_name(looking: _Looking, tool: ToolManifest, taken_for: str) -> None:
    if tool.name != taken_for:
        message = f"this is the manifest of `{tool.name}`, and it is taken for `{taken_for}`"
        looking.problem(tool.where, message, "give both the same name")


def _look_at_tool(looking: _Looking, tool: ToolManifest) -> None:
    looking.tools.setdefault(tool.name, tool)
    if tool.entrypoint is None and not tool.capabilities.commands:
        message = "a run would start nothing: there is neither an entry point nor a command"
        looking.problem(tool.where, message, "add `entrypoint:` with `command:`")
    floor = _FLOORS.get(tool.risk)
    if (
        tool.consent_level is not None
        and floor is not None
        and tool.consent_level.rank < floor.rank
    ):
        message = f"`consentLevel: {tool.consent_level}` has no effect: risk {tool.risk} is {floor}"
        looking.note(tool.where, message, "leave it out, or think again about the risk")
    if tool.requirements.profile is not None:
        looking.later.append(partial(_look_at_profile, looking, tool))
    for where, what in _unfilled(tool):
        looking.note(where, f"{what} is still to be filled in", "say it for whoever decides")
    for where, command in _programs(tool):
        _look_at_program(looking, where, command)


def _unfilled(tool: ToolManifest) -> Iterator[tuple[Where, str]]:
    if tool.description.startswith(TO_FILL_IN):
        yield tool.where, "the description"
    asked = tool.capabilities
    for need in (*asked.file_read, *asked.file_write):
        if need.purpose.startswith(TO_FILL_IN):
            yield need.entry.where, "the purpose"
    for command in asked.commands:
        if command.purpose.startswith(TO_FILL_IN):
            yield command.where, "the purpose"


def _programs(tool: ToolManifest) -> Iterator[tuple[Where, str]]:
    if tool.entrypoint is not None:
        yield tool.entrypoint.where, tool.entrypoint.command
    for command in tool.capabilities.commands:
        yield command.where, command.command


def _look_at_program(looking: _Looking, where: Where, command: str) -> None:
    # One with a slash is relative to the workspace, and may be made by another tool.
    if "/" not in command:
        try:
            find_program(command, looking.around)
        except ConsentryError as wrong:
            looking.note(where, wrong.message, "install it, or correct its name")


def _look_at_profile(looking: _Looking, tool: ToolManifest) -> None:
    profile = tool.requirements.profile
    if profile is not None and profile not in looking.profiles:
        nearest = closest(profile, looking.profiles)
        help_line = f"did you mean `{nearest}`?" if nearest else "write it into sandbox-config.yaml"
        looking.problem(tool.where, f"there is no profile `{profile}` here", help_line)


def _look_at_levels(looking: _Looking, config: ConsentConfig) -> None:
    for rules in config.levels.values():
        for tool in rules.allowed_tools:
            if tool.name not in looking.tools:
                message = f"there is no tool `{tool.name}` here"
                looking.note(tool.where, message, _meant(tool.name, looking))


def _look_at_policy(looking: _Looking, policy: Policy) -> None:
    for entry in policy.entries:
        tool = looking.tools.get(entry.tool)
        if tool is None:
            message = f"there is no tool `{entry.tool}` here"
            looking.note(entry.where, message, _meant(entry.tool, looking))
        elif tool.version != entry.version:
            message = (
                f"`{entry.tool}` is at version {tool.version}, and the entry at {entry.version}"
            )
            looking.note(entry.where, message, "look at the tool, and write a new entry")


def _meant(name: str, looking: _Looking) -> str:
    nearest = closest(name, looking.tools)
    return "its manifest may lie elsewhere" if nearest is None else f"did you mean `{nearest}`?"


def is_clean(report: LintReport) -> bool:
    """Whether no run would be refused for any of the documents; notes do not count."""
    return not report.problems


def lint_document(report: LintReport) -> dict[str, object]:
    """The report as JSON values, without the two keys that every document begins with."""
    return {
        "ok": is_clean(report),
        "documents": report.documents,
        "problems": [{"code": str(each.code), **_finding(each)} for each in report.problems],
        "notes": [_finding(each) for each in report.notes],
    }


def _finding(found: Problem) -> dict[str, object]:
    where = found.where
    place = {
        "file": where.file,
        "line": where.line,
        "column": where.column,
        "field": where.field,
    }
    return {
        "message": found.message,
        "where": place,
        "help": found.help_line,
    }

"""The tools as they stand here: whose they are, at which level, and what a run of each would be.

Looking records nothing and asks nobody. A tool that cannot be read, is denied, or could not run here is
listed with the reason: a list that leaves it out would read as if it were not there.
"""

from collections.abc import Iterator

from consentry.base.canonical import Json
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass
from consentry.decide.levels import LevelDecision
from consentry.declare.manifestsurface import manifest_surface
from consentry.declare.tool import Origin
from consentry.service.acceptedhere import accepted_here
from consentry.service.configuration import Effective, LoadedTool, load_configuration
from consentry.service.places import Workspace, find_workspace
from consentry.service.surroundings import Surroundings
from consentry.service.toolbinding import BoundTool, bind_tool
from consentry.surface.lattice import Surface
from consentry.surface.wire import surface_to_json


@dataclass(frozen=True, slots=True)
class ToolRow:
    """One tool of the list; without `tool`, or without `level`, `problem` says why."""

    name: str
    tool: LoadedTool | None
    level: LevelDecision | None
    problem: ConsentryError | None


@dataclass(frozen=True, slots=True)
class ToolView:
    """One tool, looked at closely.

    `bound` is what a run without arguments would be; where it could not be made, `surface` is what the
    manifest asks for, and `unbound` says why.
    """

    tool: LoadedTool
    level: LevelDecision | None
    denied: ConsentryError | None
    bound: BoundTool | None
    unbound: ConsentryError | None
    surface: Surface


def configuration_here(
    around: Surroundings, workspace_named: str | None, config_named: str | None
) -> tuple[Workspace, Effective]:
    """The workspace, and what counts in it."""
    workspace = find_workspace(around, workspace_named)
    with accepted_here(around) as accepted:
        return workspace, load_configuration(around, workspace, config_named, accepted)


def list_tools(effective: Effective) -> tuple[ToolRow, ...]:
    """Every tool, by name."""
    return tuple(_row(effective, name) for name in sorted(effective.tools))


def _row(effective: Effective, name: str) -> ToolRow:
    try:
        tool = effective.tool(name)
    except ConsentryError as problem:
        return ToolRow(name, None, None, problem)
    try:
        return ToolRow(name, tool, effective.level_of(tool), None)
    except ConsentryError as problem:
        return ToolRow(name, tool, None, problem)


def show_tool(
    around: Surroundings, effective: Effective, workspace: Workspace, name: str
) -> ToolView:
    """One tool; raises where there is none of that name, or where its manifest cannot be read."""
    tool = effective.tool(name)
    row = _row(effective, name)
    bound: BoundTool | None = None
    unbound: ConsentryError | None = None
    try:
        bound = bind_tool(tool, effective, (), workspace.path, around)
    except ConsentryError as problem:
        unbound = problem
    surface = manifest_surface(tool.manifest) if bound is None else bound.surface
    return ToolView(tool, row.level, row.problem, bound, unbound, surface)


def whose(tool: LoadedTool) -> str:
    """Whose word the manifest is, in words."""
    if tool.origin is Origin.OWN:
        return "your own"
    return "the workspace's, accepted" if tool.is_accepted else "the workspace's, not accepted"


def row_document(row: ToolRow) -> dict[str, Json]:
    """One tool of the list as JSON values."""
    about: dict[str, Json] = {"name": row.name}
    if row.tool is not None:
        about |= _about(row.tool)
    about["level"] = None if row.level is None else row.level.level.value
    about["problem"] = _problem(row.problem)
    return about


def view_document(view: ToolView) -> dict[str, Json]:
    """One tool as JSON values."""
    manifest, bound = view.tool.manifest, view.bound
    return {
        "name": manifest.name,
        **_about(view.tool),
        "level": None if view.level is None else view.level.level.value,
        "level_reasons": [] if view.level is None else list(view.level.reasons),
        "denied": _problem(view.denied),
        "manifest_digest": manifest.digest,
        "digest": None if bound is None else bound.digest,
        "files": {} if bound is None else dict(bound.files),
        "starts": [list(words) for words in starts(view)],
        "profile": None if bound is None else bound.profile,
        "surface": surface_to_json(view.surface),
        "cannot_run": _problem(view.unbound),
    }


def starts(view: ToolView) -> Iterator[tuple[str, ...]]:
    """What a run starts, in order, each with its words."""
    manifest = view.tool.manifest
    if manifest.entrypoint is not None:
        yield (manifest.entrypoint.command, *manifest.entrypoint.arguments)
        return
    for command in manifest.capabilities.commands:
        yield (command.command, *command.arguments)


def _about(tool: LoadedTool) -> dict[str, Json]:
    manifest = tool.manifest
    return {
        "display_name": manifest.display_name,
        "description": manifest.description,
        "version": manifest.version,
        "risk": manifest.risk.value,
        "file": str(tool.file),
        "origin": tool.origin.value,
        "accepted": tool.is_accepted,
    }


def _problem(problem: ConsentryError | None) -> dict[str, Json] | None:
    if problem is None:
        return None
    return {"code": problem.code.value, "message": str(problem), "help": problem.help_line}

"""Where the user stands: workspace, configuration, state, engines and host, in one report.

Taking the report creates, changes and starts nothing. Where a workspace has documents, all are read as
a run would read them, to say what of them counts. A place that was named on the command line and cannot be used is an error; whatever else is wrong
becomes a concern, so that one report shows everything at once. `status_document` is the JSON form, described in
`docs/reference/status-json.md`.
"""

import os
from pathlib import Path

from consentry import __version__
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass, replace
from consentry.enforce.facts import Fact, HostView
from consentry.enforce.host import look_at_host
from consentry.enforce.programs import Engine, look_for_engines
from consentry.service.concern import Concern
from consentry.service.places import (
    PLUGINS_FOLDER,
    PLUGINS_LOCK,
    Configuration,
    ConfigurationFolder,
    Trust,
    Workspace,
    find_configuration,
    find_workspace,
)
from consentry.service.statedir import StateDirectory, find_state
from consentry.service.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class StatusReport:
    """Everything that was found; None where there is no such place."""

    version: str
    workspace: Workspace | None
    configuration: Configuration
    state: StateDirectory | None
    host: tuple[Fact, ...]
    engines: tuple[Engine, ...]
    concerns: tuple[Concern, ...]
    notes: tuple[str, ...]


def take_status(
    around: Surroundings,
    view: HostView,
    *,
    workspace_named: str | None = None,
    config_named: str | None = None,
) -> StatusReport:
    """Looks at everything once. Raises only for a place that was named and cannot be used."""
    concerns: list[Concern] = []
    workspace: Workspace | None = None
    state: StateDirectory | None = None
    try:
        workspace = find_workspace(around, workspace_named)
        concerns += workspace.concerns
    except ConsentryError as problem:
        if workspace_named is not None:
            raise
        concerns.append(Concern.from_error(problem))
    configuration = find_configuration(around, workspace, config_named)
    for folder in configuration.folders:
        concerns += folder.concerns
    try:
        state = find_state(around, workspace)
        concerns += state.concerns
    except ConsentryError as problem:
        concerns.append(Concern.from_error(problem))
    strangers = [
        each for each in configuration.folders if each.files and each.trust is not Trust.OWN
    ]
    if workspace is not None and not strangers:
        strangers = _with_plugins(configuration, workspace)
    if strangers and not concerns and workspace is not None:
        try:
            configuration = _with_trust(around, workspace, config_named, configuration)
        except ConsentryError as problem:
            concerns.append(Concern.from_error(problem))
    host = look_at_host(view)
    avoid = None if workspace is None else workspace.path
    engines = look_for_engines(view, host, avoid=avoid)
    notes = configuration.notes + (() if state is None else state.notes)
    return StatusReport(
        version=__version__,
        workspace=workspace,
        configuration=configuration,
        state=state,
        host=host,
        engines=engines,
        concerns=tuple(concerns),
        notes=tuple(dict.fromkeys(notes)),
    )


def _with_plugins(found: Configuration, workspace: Workspace) -> list[ConfigurationFolder]:
    """Where there are plugins, and no documents of the workspace's: the folders that they lie in."""
    folders = [each for each in found.folders if os.path.lexists(each.path / PLUGINS_FOLDER)]
    if folders:
        return folders
    if os.path.lexists(workspace.path / PLUGINS_LOCK):
        return [ConfigurationFolder(workspace.path, "", Trust.NOT_ACCEPTED, exists=True)]
    return []


def _with_trust(
    around: Surroundings, workspace: Workspace, named: str | None, found: Configuration
) -> Configuration:
    """The folders with what was accepted of them, and what does not count."""
    # Only where there are documents of a workspace is it worth what reading them takes.
    from consentry.service.acceptedhere import accepted_here  # noqa: PLC0415
    from consentry.service.configuration import load_configuration  # noqa: PLC0415

    with accepted_here(around) as known:
        effective = load_configuration(around, workspace, named, known)
        was_accepted = known.has_any(str(workspace.path))
    notes = found.notes + tuple(
        f"`{each.where}`: {each.what}"
        for each in effective.ignored
        if each.where.file is not None and Path(each.where.file).name == PLUGINS_FOLDER
    )
    if effective.is_accepted:
        folders = tuple(
            folder if folder.trust is Trust.OWN else replace(folder, trust=Trust.ACCEPTED)
            for folder in found.folders
        )
        return replace(found, folders=folders, notes=notes)
    if was_accepted:
        notes += ("the workspace's files are not those that were accepted; see `consentry trust`",)
    count = sum(each.lowers for each in effective.ignored)
    if count:
        what = "1 line" if count == 1 else f"{count} lines"
        does_not_count = f"{what} of the workspace's configuration would loosen something"
        notes += (f"{does_not_count} and do not count; `consentry trust --show` lists them",)
    return replace(found, notes=notes)


def status_document(report: StatusReport) -> dict[str, object]:
    """The report as JSON values, without the two keys that every document begins with."""
    return {
        "consentry": report.version,
        "ok": not report.concerns,
        "workspace": None if report.workspace is None else _workspace(report.workspace),
        "configuration": [_folder(folder) for folder in report.configuration.folders],
        "state": None if report.state is None else _state(report.state),
        "engines": [_engine(engine) for engine in report.engines],
        "host": [_fact(fact) for fact in report.host],
        "problems": [
            {"code": str(concern.code), "message": concern.message, "help": concern.help_line}
            for concern in report.concerns
        ],
        "notes": list(report.notes),
    }


def _workspace(workspace: Workspace) -> dict[str, object]:
    return {
        **_path(workspace.path),
        "found_by": str(workspace.found_by),
        "why": workspace.why,
    }


def _folder(folder: ConfigurationFolder) -> dict[str, object]:
    return {
        **_path(folder.path),
        "why": folder.source,
        "exists": folder.exists,
        "trust": str(folder.trust),
        "files": list(folder.files),
    }


def _state(state: StateDirectory) -> dict[str, object]:
    return {
        **_path(state.path),
        "source": str(state.source),
        "why": state.why,
        "exists": state.exists,
        "hidden": state.hidden,
    }


def _engine(engine: Engine) -> dict[str, object]:
    return {
        "name": engine.name,
        "found": str(engine.found),
        "why": engine.why,
        "program": None if engine.program is None else _path(engine.program),
        "safe": None if engine.program is None else str(engine.safe),
        "needs": [_fact(need) for need in engine.needs],
        "driver": engine.driver,
    }


def _fact(fact: Fact) -> dict[str, object]:
    return {"name": fact.name, "found": str(fact.found), "value": fact.value, "why": fact.why}


def _path(path: Path) -> dict[str, object]:
    """A path for readers that only know Unicode: exact bytes stand beside a name that is none."""
    spelled = str(path)
    try:
        spelled.encode()
    except UnicodeEncodeError:
        return {"path": spelled, "path_hex": os.fsencode(path).hex()}
    return {"path": spelled, "path_hex": None}

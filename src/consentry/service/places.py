"""Where the workspace and the configuration are, how they were found, and what is in them.

Discovery reads names and modes only: it opens no document and creates nothing. A workspace is a
stranger's: whatever configuration lies in it is not trusted until accepted, however it was found.

The order for the workspace: `--workspace`; else the nearest folder, from the current one upwards,
with `.consentry/` or `.paper/_cfg/` in it; else the nearest with `.git`; else the current folder.
The root of the file system, home folders and whatever contains one are taken only when named.
"""

import os
import stat
from enum import StrEnum
from pathlib import Path

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.hops import leads_through
from consentry.enforce.ownership import stranger_over_file, stranger_over_folder
from consentry.service.concern import Concern
from consentry.service.surroundings import (
    Surroundings,
    configuration_base,
    home_that_is,
    home_within,
    owners_of_ours,
)

MARKERS = (".consentry", ".paper/_cfg")
GIT_MARKER = ".git"
KNOWN_FILES = (
    "consent-config.yaml",
    "sandbox-config.yaml",
    "tool-manifest.yaml",
    "policy.yaml",
    "settings.yaml",
)
TOOLS_FOLDER = "tools"
PLUGINS_FOLDER = "plugins"
PLUGINS_LOCK = "plugins/PLUGINS.lock"
"""Makes a folder at the top of a workspace a root of plugins; the name alone is too common."""


class FoundBy(StrEnum):
    """The rule that decided on the workspace."""

    NAMED = "named"
    MARKER = "marker"
    GIT = "git"
    CURRENT = "current"


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folder all relative patterns are relative to; `path` has every link resolved."""

    path: Path
    found_by: FoundBy
    why: str
    concerns: tuple[Concern, ...] = ()


class Trust(StrEnum):
    """Whether a configuration folder counts in full or only where it makes things stricter.

    Discovery knows the first two; what was accepted, only whoever has read the documents.
    """

    OWN = "own"
    NOT_ACCEPTED = "not-accepted"
    ACCEPTED = "accepted"


@dataclass(frozen=True, slots=True)
class ConfigurationFolder:
    """One configuration folder and the known files that are there, as paths relative to it."""

    path: Path
    source: str
    trust: Trust
    exists: bool
    files: tuple[str, ...] = ()
    concerns: tuple[Concern, ...] = ()


@dataclass(frozen=True, slots=True)
class Configuration:
    """The folders in the order they are read; each may only tighten what stands before it."""

    folders: tuple[ConfigurationFolder, ...]
    notes: tuple[str, ...] = ()


def find_workspace(around: Surroundings, named: str | None = None) -> Workspace:
    """The workspace, or `UsageProblem` when there is none that may be taken."""
    if named is not None:
        folder = _enterable(around, named, Code.WORKSPACE_MISSING)
        return Workspace(folder, FoundBy.NAMED, "named with --workspace")
    if around.cwd is None:
        raise UsageProblem(Code.WORKSPACE_MISSING, "the current folder does not exist any more")
    found = _discover(around.cwd)
    _check_not_too_wide(around, found)
    _enterable(around, str(found.path), Code.WORKSPACE_MISSING)
    return Workspace(found.path, found.found_by, found.why, _owner_concerns(around, found))


@dataclass(frozen=True, slots=True)
class _Discovered:
    path: Path
    found_by: FoundBy
    why: str
    marker: str | None = None


def _discover(cwd: Path) -> _Discovered:
    folders = (cwd, *cwd.parents)
    for height, folder in enumerate(folders):
        for marker in MARKERS:
            if is_folder(folder / marker):
                nearest = ", the nearest one" if height else ""
                why = f"`{marker}` is {_upwards(height)}{nearest}"
                return _Discovered(folder, FoundBy.MARKER, why, marker)
    for height, folder in enumerate(folders):
        if os.path.lexists(folder / GIT_MARKER):
            why = f"git root: `.git` is {_upwards(height)}; no `.consentry` or `.paper/_cfg`"
            return _Discovered(folder, FoundBy.GIT, why, GIT_MARKER)
    why = "current folder: no `.consentry`, `.paper/_cfg` or `.git` up from here"
    return _Discovered(cwd, FoundBy.CURRENT, why)


def _upwards(height: int) -> str:
    if height == 0:
        return "here"
    return "1 level up" if height == 1 else f"{height} levels up"


def _check_not_too_wide(around: Surroundings, found: _Discovered) -> None:
    if found.path == Path(found.path.anchor):
        message = f"`{found.path}` is the whole file system"
        raise UsageProblem(Code.WORKSPACE_REFUSED, message)
    home = home_that_is(around, found.path)
    if home is not None:
        raise UsageProblem(Code.WORKSPACE_REFUSED, f"`{found.path}` is {home.owner}")
    inner = home_within(around, found.path)
    if inner is not None:
        raise UsageProblem(Code.WORKSPACE_REFUSED, f"`{found.path}` contains {inner.owner}")


def _owner_concerns(around: Surroundings, found: _Discovered) -> tuple[Concern, ...]:
    # Whoever plants a marker in a shared folder such as /tmp decides how wide the workspace is.
    looked_at = [found.path]
    for name in () if found.marker is None else Path(found.marker).parts:
        looked_at.append(looked_at[-1] / name)
    for path in looked_at:
        owner = path.lstat().st_uid
        if owner not in owners_of_ours(around):
            message = f"`{path}` belongs to user {owner}, and it decided what the workspace is"
            return (Concern.about(Code.WORKSPACE_OWNER, message),)
    return ()


def find_configuration(
    around: Surroundings, workspace: Workspace | None, named: str | None = None
) -> Configuration:
    """The user's folder and on top of it the workspace's; or the named one alone."""
    if named is not None:
        folder = _enterable(around, named, Code.CONFIG_MISSING)
        # As it was typed: a link on the way would be gone from the resolved path.
        typed = _Place(Path(named), around.cwd or Path("/"))
        return Configuration((_look_into(around, folder, "by --config", workspace, typed),))
    base = configuration_base(around)
    folders = []
    if base.path is not None:
        folders.append(_look_into(around, base.path / "consentry", base.source, workspace))
    notes = base.notes
    if workspace is not None:
        present = [marker for marker in MARKERS if is_folder(workspace.path / marker)]
        if present:
            folder = workspace.path / present[0]
            folders.append(_look_into(around, folder, "in the workspace", workspace))
        for ignored in present[1:]:
            notes += (f"`{ignored}` in the workspace is ignored, because `{present[0]}` is there",)
    return Configuration(tuple(folders), notes)


@dataclass(frozen=True, slots=True)
class _Place:
    """A path as it was spelled, and the folder it is relative to when it is."""

    path: Path
    start: Path = Path("/")


def _look_into(
    around: Surroundings,
    folder: Path,
    source: str,
    workspace: Workspace | None,
    typed: _Place | None = None,
) -> ConfigurationFolder:
    typed = typed or _Place(folder)
    trust = Trust.NOT_ACCEPTED if _is_strangers(typed, workspace) else Trust.OWN
    if not os.path.lexists(folder):
        return ConfigurationFolder(folder, source, trust, exists=False)
    try:
        tools = _tool_files(folder)
    except OSError as problem:
        concern = Concern.about(Code.CONFIG_FILE, f"`{problem.filename}`: {reason(problem)}")
        return ConfigurationFolder(folder, source, trust, exists=True, concerns=(concern,))
    names = (*(name for name in KNOWN_FILES if os.path.lexists(folder / name)), *tools)
    found = (_unreadable(folder / name) for name in names)
    concerns = [concern for concern in found if concern is not None]
    if trust is Trust.OWN:
        foreign = [name for name in names if _is_strangers(_Place(folder / name), workspace)]
        trust = Trust.NOT_ACCEPTED if foreign else Trust.OWN
        concerns += [_through_workspace(folder / name) for name in foreign]
        concerns += _strangers_over(around, typed, [folder / name for name in names])
    return ConfigurationFolder(
        folder, source, trust, exists=True, files=names, concerns=tuple(concerns)
    )


def _is_strangers(place: _Place, workspace: Workspace | None) -> bool:
    return workspace is not None and leads_through(place.path, workspace.path, place.start)


def _through_workspace(file: Path) -> Concern:
    message = f"`{file}` leads into the workspace, so its whole folder is not trusted"
    return Concern.about(Code.CONFIG_UNSAFE, message)


def _strangers_over(around: Surroundings, typed: _Place, files: list[Path]) -> list[Concern]:
    """Who else has a say in configuration that counts as the user's own; each reason once."""
    owners = owners_of_ours(around)
    reasons: list[str | None] = []
    try:
        reasons.append(stranger_over_folder(typed.start / typed.path, *owners))
        readable = [file for file in files if file.is_file()]
        reasons += [stranger_over_file(file, *owners) for file in readable]
    except OSError as problem:
        reasons.append(f"`{problem.filename}` cannot be looked at: {reason(problem)}")
    found = dict.fromkeys(said for said in reasons if said is not None)
    return [Concern.about(Code.CONFIG_UNSAFE, said) for said in found]


def _tool_files(folder: Path) -> list[str]:
    if TOOLS_FOLDER not in {entry.name for entry in folder.iterdir()}:
        return []
    entries = [entry.name for entry in (folder / TOOLS_FOLDER).iterdir()]
    return sorted(f"{TOOLS_FOLDER}/{name}" for name in entries if name.endswith(".yaml"))


def _unreadable(path: Path) -> Concern | None:
    try:
        mode = path.stat().st_mode
    except OSError as problem:
        return Concern.about(Code.CONFIG_FILE, f"`{path}`: {reason(problem)}")
    if not stat.S_ISREG(mode):
        return Concern.about(Code.CONFIG_FILE, f"`{path}` is not a plain file")
    if not os.access(path, os.R_OK):
        return Concern.about(Code.CONFIG_FILE, f"`{path}` may not be read by you")
    return None


def reason(problem: Exception) -> str:
    """What the system said, in the form of our messages."""
    said = problem.strerror if isinstance(problem, OSError) else None
    # A loop of links is a RuntimeError up to Python 3.12.
    return said.lower() if said else "cannot be resolved"


def _enterable(around: Surroundings, named: str, code: Code) -> Path:
    if named == "":
        raise UsageProblem(code, "an empty name is no folder")
    path = Path(named)
    if not path.is_absolute():
        if around.cwd is None:
            raise UsageProblem(code, f"`{named}` is relative, and the current folder is gone")
        path = around.cwd / path
    try:
        folder = path.resolve(strict=True)
        if not stat.S_ISDIR(folder.stat().st_mode):
            raise UsageProblem(code, f"`{named}` is not a folder")
    except (OSError, RuntimeError, ValueError) as problem:
        raise UsageProblem(code, f"`{named}`: {reason(problem)}") from problem
    if not os.access(folder, os.R_OK | os.X_OK):
        raise UsageProblem(code, f"`{named}` may not be read and entered by you")
    return folder


def is_folder(path: Path) -> bool:
    """Whether it is a folder as far as this user can see; never raises."""
    try:
        return stat.S_ISDIR(path.stat().st_mode)
    except OSError:
        return False

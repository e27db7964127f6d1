"""Begins a configuration: documents that work as they are, and manifests for what the project has.

Nothing that is there is touched: a file with that name is kept as it is, and told. What was written
before something failed is taken back, so that there is a whole beginning or none. The project's own
files are a stranger's and are only read; links that lead out of the workspace are not followed.
"""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.values import dataclass, replace
from consentry.declare.manifestdraft import DraftCommand, ManifestDraft
from consentry.declare.proposals import (
    MAKEFILES,
    PACKAGE_JSON,
    PYPROJECT,
    VENV,
    Project,
    Proposed,
    from_makefile,
    from_package_json,
    from_pyproject,
)
from consentry.declare.starters import Place, starters
from consentry.declare.toolindex import usual_file
from consentry.service.placedfile import PlacedFile, make_folders, place_new, take_back_folders
from consentry.service.places import MARKERS, find_workspace, is_folder
from consentry.service.programsearch import find_program
from consentry.service.surroundings import Surroundings, configuration_base
from consentry.service.userfiles import read_named

if TYPE_CHECKING:
    from consentry.base.paths import SandboxedPath

_MOST_ENTRIES: Final = 20_000
_OWN_MODE: Final = 0o700
_MODE: Final = 0o755
_READ: Final = frozenset((PACKAGE_JSON, PYPROJECT, *MAKEFILES))


@dataclass(frozen=True, slots=True)
class Begun:
    """What was begun: the folder, what is new in it, what was there, and what nothing was made for.

    Names are relative to the folder; of a tool that is proposed its description stands beside it.
    """

    folder: Path
    written: tuple[tuple[str, str], ...]
    kept: tuple[str, ...]
    left_out: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Document:
    name: str
    content: bytes
    about: str = ""


def begin(
    around: Surroundings,
    place: Place,
    *,
    workspace_named: str | None = None,
    is_trial: bool = False,
) -> Begun:
    """Writes what is missing of a configuration; with `is_trial`, only says what it would write."""
    if place is Place.OWN:
        folder, proposed = _own_folder(around), Proposed()
    else:
        root = find_workspace(around, workspace_named).path
        folder, proposed = _workspace_folder(root), propose(root, around)
    documents = [_Document(name, content) for name, content in starters(place)]
    left_out = list(proposed.left_out)
    names: set[str] = set()
    for draft in proposed.drafts:
        if draft.name in names:
            left_out.append(f"{draft.description}: another tool is called `{draft.name}`")
            continue
        names.add(draft.name)
        text = draft.text().encode()
        documents.append(_Document(usual_file(draft.name), text, draft.description))
    kept = tuple(each.name for each in documents if os.path.lexists(folder / each.name))
    fresh = [each for each in documents if each.name not in kept]
    if not is_trial:
        _write(folder, fresh, _OWN_MODE if place is Place.OWN else _MODE)
    return Begun(folder, tuple((each.name, each.about) for each in fresh), kept, tuple(left_out))


def put_together(
    around: Surroundings,
    place: Place,
    documents: Mapping[str, bytes],
    *,
    workspace_named: str | None = None,
) -> Path:
    """Writes these new documents into the configuration folder there; all of them, or none."""
    if place is Place.OWN:
        folder = _own_folder(around)
    else:
        folder = _workspace_folder(find_workspace(around, workspace_named).path)
    fresh = [_Document(name, content) for name, content in documents.items()]
    _write(folder, fresh, _OWN_MODE if place is Place.OWN else _MODE)
    return folder


def propose(root: Path, around: Surroundings) -> Proposed:
    """The manifests that the files of a project suggest, with programs that are here."""
    project = _look_at(root)
    all_found: list[Proposed] = []
    left_out: list[str] = []
    for name, read in _sources(project):
        try:
            all_found.append(read(read_named(str(root / name))))
        except ConsentryError as problem:
            left_out.append(f"{name}: {problem.message}")
    for found in all_found:
        left_out += found.left_out
    here = replace(around, cwd=root)
    drafts = (_startable(draft, here) for found in all_found for draft in found.drafts)
    return Proposed(tuple(drafts), tuple(left_out))


def _startable(draft: ManifestDraft, here: Surroundings) -> ManifestDraft:
    """Without programs that are not found: a run is refused where one that it names is missing."""
    return replace(draft, commands=tuple(each for each in draft.commands if _is_here(each, here)))


def _is_here(command: DraftCommand, here: Surroundings) -> bool:
    with suppress(ConsentryError):
        find_program(command.command, here)
        return True
    return False


def _sources(project: Project) -> Iterator[tuple[str, Callable[[bytes], Proposed]]]:
    if PACKAGE_JSON in project.files:
        yield PACKAGE_JSON, partial(from_package_json, project=project)
    if PYPROJECT in project.files:
        yield PYPROJECT, partial(from_pyproject, project=project)
    # Of several, make takes the first.
    for name in [name for name in MAKEFILES if name in project.files][:1]:
        yield name, partial(from_makefile, file=name, project=project)


def _look_at(root: Path) -> Project:
    """Names alone; nothing is opened, and no link is followed."""
    folders, files = set(), set()
    for entry in _entries(root):
        if entry.is_dir(follow_symlinks=False):
            folders.add(entry.name)
        elif not entry.is_symlink() or entry.name in _READ:
            # No manifest can name a link; the project's own file is refused when it is read.
            files.add(entry.name)
    return Project(
        frozenset(folders),
        frozenset(files),
        bins=_programs(root, folders, "node_modules", ".bin"),
        venv=_programs(root, folders, VENV, "bin"),
    )


def _programs(root: Path, folders: set[str], above: str, name: str) -> frozenset[str]:
    """What lies in a folder of programs, unless a link leads there."""
    place = root / above / name
    if above not in folders or place.is_symlink():
        return frozenset()
    return frozenset(entry.name for entry in _entries(place))


def _entries(folder: Path) -> Iterator[os.DirEntry[str]]:
    with suppress(OSError), os.scandir(folder) as found:
        for _, entry in zip(range(_MOST_ENTRIES), found, strict=False):
            yield entry


def _own_folder(around: Surroundings) -> Path:
    base = configuration_base(around)
    if base.path is None:
        raise UsageProblem(
            Code.CONFIG_MISSING,
            "there is no home folder to keep your configuration in",
            help_line="set XDG_CONFIG_HOME to an absolute path",
        )
    return base.path / "consentry"


def _workspace_folder(root: Path) -> Path:
    """The folder that counts in this workspace: a second one would not be looked at."""
    marker = next((name for name in MARKERS if is_folder(root / name)), MARKERS[0])
    folder = root / marker
    for place in (folder, folder / "tools"):
        if place.resolve() != root.resolve() / place.relative_to(root):
            # The workspace may be a stranger's, links in it included.
            raise UsageProblem(
                Code.FILE_UNUSABLE,
                f"`{place.relative_to(root)}` is a link, or lies behind one, and leads elsewhere",
                help_line="remove the link first",
            )
    return folder


def _write(folder: Path, documents: list[_Document], mode: int) -> None:
    """All of them, or none: what was made before a failure is taken back."""
    placed: list[PlacedFile] = []
    made: list[SandboxedPath] = []
    try:
        for each in documents:
            file = folder / each.name
            made += make_folders(file.parent, mode)
            placed.append(place_new(str(file), each.content))
    except BaseException as problem:
        for file_made in placed:
            file_made.take_back()
        take_back_folders(made)
        if isinstance(problem, OSError):
            said = (problem.strerror or "cannot be made").lower()
            raise UsageProblem(Code.FILE_UNUSABLE, f"`{problem.filename}`: {said}") from problem
        raise

"""Where plugins lie, and the lock beside them.

A root is a folder with one folder for each plugin and `PLUGINS.lock`; evidence about a plugin lies beside
its folder. The user's own root is `plugins` in the configuration folder. A workspace's is `plugins` in its
configuration folder, or else `plugins` at its top.
"""

import os
from pathlib import Path
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, UsageProblem
from consentry.base.paths import SandboxedPath
from consentry.base.values import dataclass
from consentry.declare.pluginlock import LOCK_NAME, MOST_LOCK, PluginLock
from consentry.declare.pluginlockfile import read_lock
from consentry.service.places import MARKERS, Workspace, is_folder, reason
from consentry.service.races import recorded
from consentry.service.surroundings import Surroundings, configuration_base

PLUGINS_FOLDER: Final = "plugins"
_MOST_PLUGINS: Final = 1_000


@dataclass(frozen=True, slots=True)
class LockFile:
    """The lock of a root: its bytes, and what they say."""

    content: bytes
    lock: PluginLock


def own_root(around: Surroundings) -> Path:
    """The user's own, whether it is there or not; raises where there is no place for it."""
    base = configuration_base(around)
    if base.path is None:
        raise UsageProblem(Code.CONFIG_MISSING, "there is no configuration folder of yours")
    return base.path / "consentry" / PLUGINS_FOLDER


def workspace_root(workspace: Workspace) -> Path | None:
    """The workspace's: in its configuration folder, or else at its top; None where neither is there."""
    present = [workspace.path / each for each in MARKERS if is_folder(workspace.path / each)]
    for above in (*present[:1], workspace.path):
        if is_folder(above / PLUGINS_FOLDER):
            return above / PLUGINS_FOLDER
    return None


def lock_file(root: Path) -> LockFile | None:
    """The lock, or None where there is none; raises `document-invalid` with what is wrong with it."""
    content = lock_bytes(root)
    return None if content is None else parsed_lock(root, content)


def parsed_lock(root: Path, content: bytes) -> LockFile:
    """The lock that consists of these bytes, which were read from the root."""
    return LockFile(content, read_lock(content, str(root / LOCK_NAME)))


def lock_bytes(root: Path) -> bytes | None:
    """The bytes of the lock, one more than it may have if it has too many; None where there is none."""
    if not os.path.lexists(root / LOCK_NAME):
        return None
    try:
        opened = SandboxedPath.create(root, LOCK_NAME).unwrap().open(on_race=recorded)
        with os.fdopen(opened, "rb") as handle:
            return handle.read(MOST_LOCK + 1)
    except (ConsentryError, OSError) as problem:
        said = reason(problem) if isinstance(problem, OSError) else str(problem)
        message = f"`{root / LOCK_NAME}`: {said}"
        raise UsageProblem(Code.FILE_UNUSABLE, message) from problem


def plugin_folders(root: Path) -> list[str]:
    """The names of what is or poses as a plugin: folders and links, sorted; files beside are none."""
    try:
        with os.scandir(root) as listing:
            found = [each.name for each in listing if not _is_file(each)]
    except OSError as problem:
        message = f"`{root}`: {reason(problem)}"
        raise UsageProblem(Code.FILE_UNUSABLE, message) from problem
    if len(found) > _MOST_PLUGINS:
        message = f"`{root}` has more than {_MOST_PLUGINS:,} folders"
        raise UsageProblem(Code.FILE_UNUSABLE, message)
    return sorted(found)


def _is_file(entry: os.DirEntry[str]) -> bool:
    return entry.is_file(follow_symlinks=False)

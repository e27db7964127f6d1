"""The files a check looks at: those git tracks or would track, under one root.

Files that are new and not yet added count too, so that a fault is found before it is committed;
ignored files do not. Without git, or outside a repository, every file counts except those in
folders that no source lives in. Paths are relative to the root, with `/` between names.
"""

import os
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

_NOT_SOURCE = frozenset({"__pycache__", "build", "dist"})
_HIDDEN_SOURCES = frozenset({".ci", ".github"})


@dataclass(frozen=True)
class Tree:
    """A root folder and the files below it that belong to the project."""

    root: Path

    @cached_property
    def paths(self) -> tuple[str, ...]:
        """Every file, sorted."""
        listed = _listed_by_git(self.root) if (self.root / ".git").exists() else None
        return tuple(sorted(_walked(self.root) if listed is None else listed))

    def matching(self, *patterns: str) -> Iterator[str]:
        """The files whose path matches a pattern, a folder name standing for all that is below."""
        for path in self.paths:
            if any(_matches(path, pattern) for pattern in patterns):
                yield path

    def text(self, path: str) -> str:
        """The file's text, line ends as they are; what is no UTF-8 becomes replacement characters."""
        return (self.root / path).read_bytes().decode("utf-8", errors="replace")


def _matches(path: str, pattern: str) -> bool:
    if pattern.endswith("/"):
        return path.startswith(pattern)
    return PurePosixPath(path).match(pattern)


def _listed_by_git(root: Path) -> list[str] | None:
    # The tree may belong to another user (a container's mount); reading names from it is harmless.
    command = ["git", "-c", f"safe.directory={root}", "-C", str(root), "ls-files", "-z"]
    command += ["--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603 # fixed words
    except (OSError, subprocess.CalledProcessError):
        return None
    names = done.stdout.decode("utf-8", errors="surrogateescape").split("\0")
    return [name for name in names if name and (root / name).is_file()]


def _walked(root: Path) -> Iterator[str]:
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if _may_hold_sources(name)]
        for name in files:
            yield (Path(folder) / name).relative_to(root).as_posix()


def _may_hold_sources(folder: str) -> bool:
    if folder.startswith("."):
        return folder in _HIDDEN_SOURCES
    return folder not in _NOT_SOURCE

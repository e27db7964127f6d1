"""The narrowest list of patterns that a person can still read, for files that were seen to be used.

Every file stands for itself until there are many of one kind in one folder; then a pattern for that
kind in that folder stands for them, then one for that kind below a folder, the deepest that will do,
and only then a whole folder. What `apart` names is never covered by a pattern, whether it was used or not: it stands for
itself if it was, and the pattern that would cover it is not made.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import Final

from consentry.base.values import dataclass
from consentry.surface.automaton import matches
from consentry.surface.pattern import MOST_CHARACTERS, Anchor, Pattern

FEW_IN_FOLDER: Final = 8
FEW_BELOW: Final = 16
MOST_LISTED: Final = 200

_LEAST_ABSOLUTE: Final = 2


@dataclass(frozen=True, slots=True)
class Seen:
    """A pattern, and how many of the files that were seen it stands for."""

    pattern: Pattern
    files: int

    @property
    def text(self) -> str:
        """As a document spells it."""
        return self.pattern.text


def narrowest(paths: Iterable[str], apart: Collection[str] = ()) -> tuple[Seen, ...]:
    """Patterns that cover these files, sorted by their spelling.

    Args:
        paths: relative to the workspace, or absolute.
        apart: paths that no pattern may cover.
    """
    return _Gathering(frozenset(paths), frozenset(apart)).patterns()


def literal(path: str) -> Pattern:
    """The pattern that means this file and nothing else."""
    names = tuple(part for part in path.split("/") if part)
    return Pattern.literal(Anchor.ABSOLUTE if path.startswith("/") else Anchor.WORKSPACE, names)


class _Gathering:
    """Groups files until the list is short enough."""

    def __init__(self, paths: frozenset[str], apart: frozenset[str]) -> None:
        self._apart = apart
        self._held_apart = paths & apart
        self._files = {path: (path,) for path in paths - apart}

    def patterns(self) -> tuple[Seen, ...]:
        groups: dict[str, tuple[str, ...]] = dict(self._files)
        groups = self._merged(groups, _kind_in_folder, FEW_IN_FOLDER)
        deepest = max((path.count("/") for path in groups), default=0)
        for depth in range(deepest, 0, -1):
            groups = self._merged(groups, partial(_kind_below, depth), FEW_BELOW)
        for depth in range(deepest, 0, -1):
            if len(groups) > MOST_LISTED:
                groups = self._merged(groups, partial(_all_below, depth), FEW_BELOW)
        found = {**groups, **{path: (path,) for path in self._held_apart}}
        seen = [Seen(_pattern_of(key, files), len(files)) for key, files in found.items()]
        return tuple(sorted(seen, key=lambda each: each.text))

    def _merged(
        self,
        groups: dict[str, tuple[str, ...]],
        wider: Callable[[str], str | None],
        few: int,
    ) -> dict[str, tuple[str, ...]]:
        """The groups, with those of one wider pattern made one where there are more than a few."""
        by_wider: dict[str, list[str]] = {}
        for key, files in groups.items():
            above = wider(files[0])
            if above is not None and len(above) <= MOST_CHARACTERS:
                by_wider.setdefault(above, []).append(key)
        kept = dict(groups)
        for above, keys in by_wider.items():
            if len(keys) > few and not covers_any(above, self._apart):
                files = tuple(sorted(each for key in keys for each in kept.pop(key)))
                kept[above] = files
        return kept


def covers_any(spelling: str, paths: Iterable[str]) -> bool:
    """Whether a pattern stands for one of these paths."""
    pattern = Pattern.parse(spelling)
    return any(
        path.startswith("/") == (pattern.anchor is Anchor.ABSOLUTE)
        and matches(pattern, [part for part in path.split("/") if part])
        for path in paths
    )


def _pattern_of(key: str, files: tuple[str, ...]) -> Pattern:
    return literal(key) if files == (key,) else Pattern.parse(key)


def _kind_in_folder(path: str) -> str | None:
    """`folder/*.ending`; a file without an ending is of no kind, and stands for itself."""
    parts = PurePosixPath(path)
    if not parts.suffix:
        return None
    return _spelled(path, parts.parent.parts, f"*{_escaped(parts.suffix)}")


def _kind_below(depth: int, path: str) -> str | None:
    """`some/folder/**/*.ending`, for what lies in a folder of that depth."""
    folder = _folder_at(depth, path)
    if folder is None:
        return None
    ending = PurePosixPath(path).suffix
    return _spelled(path, folder, f"**/*{_escaped(ending)}" if ending else "**")


def _all_below(depth: int, path: str) -> str | None:
    folder = _folder_at(depth, path)
    return None if folder is None else _spelled(path, folder, "**")


def _folder_at(depth: int, path: str) -> tuple[str, ...] | None:
    """The folder of so many names; of absolute paths none of one name, which would be all of `/usr`."""
    folders = PurePosixPath(path).parent.parts
    names = len(folders) - path.startswith("/")
    if names < depth or (path.startswith("/") and depth < _LEAST_ABSOLUTE):
        return None
    return folders[: depth + path.startswith("/")]


def _spelled(path: str, folders: Iterable[str], wildcards: str) -> str:
    """A pattern of names that mean themselves, whatever they are, but for the wildcards at its end."""
    names = [_escaped(part) for part in folders if part != "/"]
    start = "/" if path.startswith("/") else ""
    if not start and names and names[0].startswith("~"):
        start = "./"  # a folder of that name, and nobody's home
    return start + "/".join([*names, wildcards])


def _escaped(name: str) -> str:
    return "".join(_letters(name))


def _letters(name: str) -> Iterator[str]:
    for letter in name:
        if letter in "*?\\":
            yield "\\"
        yield letter

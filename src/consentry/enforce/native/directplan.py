"""Writes that reach the host at once: which folders can be opened for them, and what stays closed.

There is no layer that could be looked through at the end, so everything is held while it runs. What
is denied is covered by a mount, and has to exist for that. Names that other programs obey are bound
over themselves, read-only, where they exist; where they do not, nobody but the maker could make them
(`maker`), and it does not. What cannot be held so is refused before anything starts.
"""

import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.enforce.engine import Control, Held, Lacking, NotEnforceable
from consentry.enforce.layer import FileType
from consentry.enforce.native.planparts import Layered, Rule
from consentry.enforce.native.rights import EXECUTE, MAKE_NAMES, WRITE_AT_ONCE, Handled
from consentry.enforce.native.runtime import Step
from consentry.enforce.newnames import NewNames
from consentry.enforce.roots import Root, is_own, outermost, place_of
from consentry.surface.automaton import find_path
from consentry.surface.pattern import Pattern, Wildcard

MOST_SEEN: Final = 100_000
_SHOWN: Final = 120
_ROOT: Final = Pattern.parse("/.")


@dataclass(frozen=True, slots=True)
class DirectPlan:
    """The folders, what in them is bound read-only, and what leads to somebody outside."""

    roots: tuple[Layered, ...]
    kept: tuple[str, ...]
    doors: tuple[str, ...]

    def has(self, place: str) -> bool:
        """Whether a path lies in one of the folders and is not closed there."""
        path = Path(place)
        closed = (*self.kept, *self.doors)
        return any(each.root.path in path.parents for each in self.roots) and not any(
            path.is_relative_to(each) for each in closed
        )

    def steps(self, *, runs_any: bool) -> Iterator[Step]:
        """Each folder at its place, then what is closed in it."""
        attributes = ("nosuid", "nodev", "idmap", *(() if runs_any else ("noexec",)))
        for each in self.roots:
            path = str(each.root.path)
            yield ("dir", path)
            yield ("bind", path, path, attributes, each.root.identity)
        for path in self.kept:
            yield ("again", path, ("ro", "nosuid", "nodev"))
        for path in self.doors:
            yield ("hide_file", path)

    def rules(self, handled: Handled, *, runs_any: bool) -> Iterator[Rule]:
        """What the program may do there itself."""
        rights = WRITE_AT_ONCE | EXECUTE if runs_any else WRITE_AT_ONCE
        for each in self.roots:
            yield (str(each.root.path), handled.on(rights, folder=True))

    def told(self, handled: Handled, abi: int, hidden: Sequence[str]) -> dict[str, Any]:
        """What the launcher is told of whoever makes names there."""
        places = [str(each.root.path) for each in self.roots]
        paths: list[Rule] = [(path, handled.on(MAKE_NAMES, folder=True)) for path in places]
        return {
            "roots": [os.fsencode(path) for path in places],
            "covered": [os.fsencode(path) for path in (*self.kept, *self.doors, *hidden)],
            "landlock": {
                "abi": abi,
                "fs": handled.fs,
                "net": 0,
                "scoped": handled.scoped,
                "flags": handled.flags,
                "paths": paths,
                "picked": (),
            },
        }


def held_at_once(held: Iterable[Held]) -> Iterator[Held]:
    """The controls of a run that writes at once, of those that hold with a layer."""
    for each in held:
        if each.control is Control.DENY_INSIDE:
            yield Held(each.control, "mounts over what exists; new names by a maker of our own")
        elif each.control is not Control.LAYER:
            yield each


def direct_roots(writes: Iterable[Root]) -> tuple[Layered, ...]:
    """The folders that are written at once, outermost first."""
    found = [root for root in outermost(writes) if root.path != Path("/")]
    return tuple(Layered(number, root, (root,)) for number, root in enumerate(found))


def compile_direct(
    engine: str,
    roots: tuple[Layered, ...],
    denied: Iterable[Pattern],
    hidden: Iterable[str],
    workspace: Path,
    home: Path | None,
    uid: int,
) -> DirectPlan:
    """The plan; raises `NotEnforceable` with everything that cannot be held."""
    lacking: list[Lacking] = []
    for each in roots:
        lacking += _not_open(each.root, uid)
    if not lacking:
        lacking += _deniable(roots, denied, workspace, home)
    walk = _Walk(frozenset(hidden))
    if not lacking:
        for each in roots:
            walk.look_through(each.root.path)
        lacking += walk.lacking
    if lacking:
        raise NotEnforceable(engine, lacking)
    return DirectPlan(roots, tuple(walk.kept), tuple(walk.doors))


def _not_open(root: Root, uid: int) -> Iterator[Lacking]:
    why = None
    if not root.is_whole or not root.exists or not root.is_folder:
        why = "is not a folder that exists, and only whole ones are written at once"
    elif is_own(root.path):
        why = "lies below a folder that is the run's own, where nothing keeps new names out"
    elif uid == 0 and root.path.stat().st_uid != uid:
        why = "belongs to another user, who would find files of root's in it"
    if why is not None:
        yield Lacking(Control.WRITES, f"`{root.path}` {why}")


def _deniable(
    roots: Sequence[Layered], denied: Iterable[Pattern], workspace: Path, home: Path | None
) -> Iterator[Lacking]:
    """What is denied in these folders and cannot be covered, because it does not exist yet."""
    for pattern in denied:
        place = place_of(pattern, workspace, home)
        if place is None:
            continue
        for each in roots:
            path = each.root.path
            if pattern.is_literal or pattern.is_tree:
                is_reached = place.is_relative_to(path)
                is_covered = place.exists() and not place.is_symlink()
            else:
                is_reached, is_covered = _meets(pattern, place, path), False
            if is_reached and not is_covered:
                said = pattern.text if not (pattern.is_literal or pattern.is_tree) else place
                why = f"`{said}` is denied and could be made in `{path}`, which is written at once"
                yield Lacking(Control.DENY_INSIDE, why, "make it, or write `writes: layer`")


def _meets(pattern: Pattern, place: Path, folder: Path) -> bool:
    """Whether a pattern can match something in a folder; also where that is too hard to say."""
    rest = pattern.segments[len(pattern.prefix) :]
    denied = _ROOT.with_segments((*place.parts[1:], *rest))
    tree = _ROOT.with_segments((*folder.parts[1:], Wildcard.FOLDERS))
    try:
        return find_path((denied, tree)) is not None
    except BadInput:
        return True


class _Walk:
    """Looks a folder through for names that other programs obey, and for ways to somebody outside."""

    def __init__(self, hidden: frozenset[str]) -> None:
        self.kept: list[str] = []
        self.doors: list[str] = []
        self.lacking: list[Lacking] = []
        self._hidden = hidden
        self._names = NewNames()
        self._left = MOST_SEEN

    def look_through(self, root: Path) -> None:
        top = os.fsencode(root)
        waiting = [top]
        while waiting and self._left >= 0:
            folder = waiting.pop()
            try:
                entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
            except OSError:
                self._refuse_closed(folder)
                continue
            self._left -= len(entries)
            there = [entry.name for entry in entries]
            waiting += [entry.path for entry in entries if self._is_entered(entry, top, there)]
        if self._left < 0:
            why = f"`{root}` has more than {MOST_SEEN:,} names, too many to be looked through"
            self.lacking.append(Lacking(Control.DENY_INSIDE, why))

    def _refuse_closed(self, folder: bytes) -> None:
        """One that is closed to its owner can be opened by them, and so by the program."""
        try:
            is_ours = os.lstat(folder).st_uid == os.getuid()
        except FileNotFoundError:
            return
        except OSError:
            self._refuse_deep(folder)
            return
        if is_ours:
            why = f"`{os.fsdecode(folder)}` cannot be looked through"
            self.lacking.append(Lacking(Control.DENY_INSIDE, why))

    def _refuse_deep(self, path: bytes) -> None:
        """What has no name that the kernel takes could be neither seen nor covered."""
        why = f"`{os.fsdecode(path[:_SHOWN])}…` lies deeper than a path can say"
        self.lacking.append(Lacking(Control.DENY_INSIDE, why))

    def _is_entered(self, entry: "os.DirEntry[bytes]", root: bytes, there: list[bytes]) -> bool:
        try:
            mode = entry.stat(follow_symlinks=False).st_mode
        except FileNotFoundError:
            return False
        except OSError:
            self._refuse_deep(entry.path)
            return False
        path = os.fsdecode(entry.path)
        if path in self._hidden:
            return False
        kind = FileType.of(mode)
        if self._names.rule_against(entry.path, root, kind, there.copy) is not None:
            if kind is FileType.LINK:
                why = f"`{path}` is a link that other programs obey, and a link cannot be covered"
                self.lacking.append(Lacking(Control.DENY_INSIDE, why))
            self.kept.append(path)
            return False
        if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode):
            self.doors.append(path)
        return stat.S_ISDIR(mode)

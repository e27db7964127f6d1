"""Finds where a profile contradicts itself: both lines are told, and nothing is settled silently.

A path may be writable inside a folder that is readable. The other way round is refused, because a
surface cannot hold it: what is `readWrite` is writable to its last file, and a `readOnly` entry in
it would be a promise that nothing keeps. An entry that `noAccess` closes altogether is refused too;
a denial inside an entry is what `noAccess` is for.
"""

from collections.abc import Iterator

from consentry.base.errors import BadInput, Where
from consentry.declare.pathentries import PathEntry, charge
from consentry.declare.problems import Problems
from consentry.declare.profile import Filesystem, Profile
from consentry.declare.profilesurface import profile_surface
from consentry.surface.automaton import Work, find_path
from consentry.surface.modes import Writes
from consentry.surface.pattern import Pattern
from consentry.surface.patternindex import PatternIndex


class _Among:
    """Entries by what they match, to find the few that can have to do with another one."""

    def __init__(self, entries: dict[Pattern, PathEntry]) -> None:
        self._entries = entries
        self._index = PatternIndex([(pattern,) for pattern in entries])

    def near(self, pattern: Pattern, work: Work) -> Iterator[tuple[Pattern, PathEntry]]:
        for (other,) in self._index.neighbours((pattern,), work):
            yield other, self._entries[other]


def check_profile(profile: Profile, writes: Where, problems: Problems, work: Work) -> None:
    """Notes every contradiction, and a profile that no surface can be made of.

    `writes` is where the profile says how writing goes.
    """
    files = profile.filesystem
    entries = (*files.read_only, *files.read_write, *files.no_access.entries)
    try:
        charge((entry.pattern for entry in entries), work)
        _check_readable_against_writable(files, problems, work)
        _check_against_denied(files, problems, work)
        profile_surface(profile)
        _ = files.no_access.scope
    except BadInput as problem:
        problems.add_at(profile.where, problem.message, problem.help_line, problem.code)
    if profile.writes is Writes.DIRECT:
        _check_whole_folders(files, writes, problems)


def _check_readable_against_writable(
    filesystem: Filesystem, problems: Problems, work: Work
) -> None:
    writable = _Among({entry.root: entry for entry in filesystem.read_write})
    for entry in filesystem.read_only:
        for root, other in writable.near(entry.root, work):
            line = f"readWrite in line {other.where.line}"
            if entry.root == root:
                message = f"`{entry.written}` is readOnly here and {line}"
                problems.add_at(entry.where, message, "keep one of the two")
            elif _meet(entry.root, root, work) and not _lies_in(root, entry.root, work):
                message = (
                    f"`{entry.written}` is readOnly here and reaches into `{other.written}`, {line}"
                )
                problems.add_at(entry.where, message, "name the writable folders without this one")


def _check_against_denied(filesystem: Filesystem, problems: Problems, work: Work) -> None:
    denied = _Among({entry.tree: entry for entry in filesystem.no_access.entries})
    for entry in (*filesystem.read_only, *filesystem.read_write):
        for tree, other in denied.near(entry.root, work):
            if _lies_in(entry.root, tree, work):
                line = f"noAccess in line {other.where.line}"
                message = f"`{entry.written}` is opened here and lies in `{other.written}`, {line}"
                problems.add_at(entry.where, message, "leave one of the two out")


def _check_whole_folders(filesystem: Filesystem, writes: Where, problems: Problems) -> None:
    for entry in filesystem.read_write:
        if not entry.is_whole_folder:
            message = (
                f"`{entry.written}` has wildcards, and `writes: direct` in line {writes.line} "
                "takes whole folders"
            )
            problems.add_at(entry.where, message, "name the folder, or write `writes: layer`")


def _meet(one: Pattern, other: Pattern, work: Work) -> bool:
    return find_path((one, other), (), work) is not None


def _lies_in(narrow: Pattern, wide: Pattern, work: Work) -> bool:
    return find_path((narrow,), ((wide,),), work) is None

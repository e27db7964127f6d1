"""What git lists of an index and of the files that nobody added yet.

The index is somebody else's: its paths are checked, and of its flags only one is used, that a file
was left out of the working tree on purpose. Files that `.gitignore` or the repository's own list
exclude are not listed; a user's own list of files to ignore is not read.
"""

import re
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.enforce.gitprocess import GitSetting, run_git
from consentry.service.gitnames import checked_path, text_of
from consentry.service.gittree import EXECUTABLE, LINK, PLAIN, SUBMODULE, TreeEntry

_COMMAND: Final = ("ls-files", "-z", "-t", "--stage", "--cached")
_OTHERS: Final = ("--others", "--exclude-standard")
_ROW: Final = re.compile(
    rb"(?:\? (?P<other>.+)"
    rb"|(?P<tag>[A-Zh-z]) (?P<mode>[0-7]{6}) (?P<id>[0-9a-f]{40,64}) (?P<stage>[0-3])\t(?P<path>.+))",
    re.DOTALL,
)
_MODES: Final = frozenset({PLAIN, EXECUTABLE, LINK, SUBMODULE})
_LEFT_OUT: Final = b"S"


@dataclass(frozen=True, slots=True)
class Listing:
    """Entries by path; paths in the middle of a merge; those left out; files nobody added.

    `nested` are folders that nobody added and that are repositories of their own.
    """

    entries: dict[str, TreeEntry]
    unmerged: frozenset[str]
    left_out: frozenset[str]
    others: tuple[str, ...]
    nested: tuple[str, ...]


def list_index(setting: GitSetting) -> Listing:
    """The index alone."""
    return _listed(setting, _COMMAND)


def list_work_tree(setting: GitSetting) -> Listing:
    """The index, and the files of the working tree that are not in it."""
    return _listed(setting, (*_COMMAND, *_OTHERS))


def _listed(setting: GitSetting, command: tuple[str, ...]) -> Listing:
    answer = run_git(setting, command)
    if answer.status != 0:
        raise _broken(setting.said() or f"git ended with {answer.status}")
    entries: dict[str, TreeEntry] = {}
    unmerged, left_out = set(), set()
    others: list[str] = []
    nested: list[str] = []
    for row in answer.output.split(b"\0")[:-1]:
        found = _ROW.fullmatch(row)
        if found is None:
            raise _broken(f"`{text_of(row[:200])}` is in its list")
        if found["other"] is not None:
            is_folder = found["other"].endswith(b"/")
            (nested if is_folder else others).append(checked_path(found["other"].rstrip(b"/")))
            continue
        path = checked_path(found["path"])
        mode = found["mode"].decode("ascii")
        if found["stage"] != b"0":
            unmerged.add(path)
        elif mode not in _MODES:
            raise _broken(f"`{path}` has the mode {mode}")
        else:
            entries[path] = TreeEntry(mode, found["id"].decode("ascii"))
            if found["tag"] == _LEFT_OUT:
                left_out.add(path)
    return Listing(entries, frozenset(unmerged), frozenset(left_out), tuple(others), tuple(nested))


def _broken(what: str) -> BadInput:
    return BadInput(
        Code.FILE_UNUSABLE,
        f"the index cannot be read: {what}",
        help_line="`git fsck` and `git status` tell more about a damaged index",
    )

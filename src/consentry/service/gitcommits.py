"""Commits of a repository: which one a word means, which came before it, where two meet."""

import re
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.gitobjects import GitObject, ObjectReader
from consentry.enforce.gitprocess import GitSetting, run_git

_COMMIT: Final = re.compile(rb"tree ([0-9a-f]{40,64})\n((?:parent [0-9a-f]{40,64}\n)*)")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit, its tree and its parents, all by their ids."""

    id: str
    tree: str
    parents: tuple[str, ...]


def commit_named(reader: ObjectReader, word: str) -> Commit:
    """The commit that a word stands for."""
    found = reader.named(f"{word}^{{commit}}")
    if found is None:
        raise UsageProblem(
            Code.USAGE,
            f"`{word}` is not a commit of this repository",
            help_line="`git log` shows those that there are; a clone may lack old ones",
        )
    return _parsed(found)


def commit_with_id(reader: ObjectReader, name: str) -> Commit:
    """The commit with this id."""
    return _parsed(reader.one(name))


def first_parent(reader: ObjectReader, commit: Commit) -> Commit | None:
    """What it is compared with by itself; None for a first commit."""
    if not commit.parents:
        return None
    found = reader.named(commit.parents[0])
    if found is None:
        raise BadInput(
            Code.FILE_UNUSABLE,
            f"the parent `{commit.parents[0]}` of `{commit.id}` is not in this clone",
            help_line="the clone is shallow: `git fetch --deepen=1`, then try again",
        )
    return _parsed(found)


def merge_base(setting: GitSetting, reader: ObjectReader, one: Commit, other: Commit) -> Commit:
    """Where the histories of the two meet."""
    answer = run_git(setting, ("merge-base", one.id, other.id))
    base = answer.output.decode("ascii", "replace").strip()
    if answer.status != 0 or not base:
        raise UsageProblem(
            Code.USAGE,
            f"{one.id} and {other.id} have no common ancestor here",
            help_line="compare them with `..`, or fetch more of a shallow clone's history",
        )
    return commit_with_id(reader, base)


def _parsed(found: GitObject) -> Commit:
    told = _COMMIT.match(found.content or b"")
    if found.kind != "commit" or told is None:
        raise BadInput(
            Code.FILE_UNUSABLE,
            f"`{found.id}` is not a commit",
            help_line="`git fsck` tells more about a damaged repository",
        )
    parents = told[2].decode("ascii").split()[1::2]
    return Commit(found.id, told[1].decode("ascii"), tuple(parents))

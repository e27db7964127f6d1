"""One look at one change, as a command asks for it: from git or from a bundle, judged by documents.

The wish and the registry count as they were before the change where the change touches them, and what
was done so is said in `notes`. A repository or a bundle that is there and cannot be read is a change
that nobody knows; one that is not there is a mistake of whoever named it.
"""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeVar

from consentry.base.errors import BadInput, UsageProblem
from consentry.base.values import dataclass, field, replace
from consentry.declare.patchbundle import Blob
from consentry.examine.addedrules import NO_RULES, AddedRules
from consentry.examine.guard import Flags
from consentry.examine.sides import SourceTree
from consentry.examine.verdict import Verdict
from consentry.service.extracting import Extractor
from consentry.service.guarding import (
    Change,
    Terms,
    change_of_git,
    check_change,
    incomplete_change,
    replayed,
)

if TYPE_CHECKING:
    from consentry.service.gitselection import GitSelection

Built = TypeVar("Built")

_PARTS: Final = ("patch.diff", "touched_paths", "touched_paths.json", "touched_paths.txt")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command was asked; nothing of `change`, `bundle` and `staged` means the working tree."""

    change: str | None = None
    bundle: str | None = None
    staged: bool = False
    repository: str = "."
    wish: str | None = None
    registry: str | None = None
    recipes: tuple[str, ...] = ()
    flags: Flags = field(default_factory=Flags)
    replay: str | None = None
    search_path: str = ""
    """Where to look for git, as PATH has it."""


@dataclass(frozen=True, slots=True)
class Answered:
    """The verdict, and what a person wants to know beside it."""

    verdict: Verdict
    terms: Terms
    described: str
    notes: tuple[str, ...]
    is_replay_different: bool
    touched: tuple[str, ...]
    followed: tuple[str, ...]
    """Files that were not touched, and read because others import them."""


def ask_guard(asked: Asked, extract: Extractor, rules: AddedRules = NO_RULES) -> Answered:
    """Examines a change and judges it; raises `ConsentryError` for what nobody can judge by.

    `rules` are those that plugins add; `extract` has their tables.
    """
    earlier = None
    if asked.replay is not None:
        from consentry.service.patchcheck import earlier_verdict  # noqa: PLC0415 - rarely asked for

        earlier = earlier_verdict(asked.replay)
    with _opened(asked) as (found, roots):
        followed: set[str] = set()
        change = replace(
            found,
            tree_before=_WatchedTree(found.tree_before, followed),
            tree_after=_WatchedTree(found.tree_after, followed),
        )
        terms, notes = _terms(asked, found, roots)
        checked = check_change(change, replace(terms, rules=rules), extract)
        verdict = checked if earlier is None else replayed(checked, earlier)
    touched = {path for each in found.files for path in (each.path_before, each.path_after) if path}
    return Answered(
        verdict,
        terms,
        found.described,
        notes,
        is_replay_different=verdict is not checked,
        touched=tuple(sorted(touched)),
        followed=tuple(sorted(followed - touched)),
    )


def bundle_named(asked: Asked) -> str | None:
    """The bundle that is meant: the one that is named, or a change that is the name of one."""
    if asked.bundle is not None or asked.change is None:
        return asked.bundle
    name = asked.change
    if os.path.isdir(name):  # noqa: PTH112 - on the way to every answer
        is_bundle = any(os.path.lexists(os.path.join(name, each)) for each in _PARTS)  # noqa: PTH118
        return name if is_bundle else None
    is_file = name.endswith(".json") and os.path.isfile(name)  # noqa: PTH113 - as above
    return name if is_file else None


class _WatchedTree:
    """A tree that notes which of its files were read."""

    def __init__(self, tree: SourceTree, read: set[str]) -> None:
        self._tree = tree
        self._read = read

    def has(self, path: str) -> bool:
        return self._tree.has(path)

    def read(self, path: str) -> Blob | None:
        found = self._tree.read(path)
        if found is not None:
            self._read.add(path)
        return found

    def links(self) -> Mapping[str, str]:
        tell: Callable[[], Mapping[str, str]] | None = getattr(self._tree, "links", None)
        return {} if tell is None else tell()


@contextmanager
def _opened(asked: Asked) -> Iterator[tuple[Change, tuple[Path, ...]]]:
    """The change for as long as it can be read, and the folders that its paths start from."""
    bundle = bundle_named(asked)
    if bundle is not None:
        from consentry.service.patchcheck import change_in, roots_of  # noqa: PLC0415 - not for git

        change = change_in(bundle)
        # The top of a repository is looked for only where a document is named that may lie in it.
        is_judged_by = asked.wish is not None or asked.registry is not None
        tops = _tops(asked.repository) if is_judged_by else ()
        yield replace(change, described="a patch bundle"), (*roots_of(bundle), *tops)
        return
    with _read(asked) as found:
        yield found, _tops(asked.repository)


@contextmanager
def _read(asked: Asked) -> Iterator[Change]:
    from consentry.service.gitchange import read_change  # noqa: PLC0415 - not for bundles

    try:
        change = read_change(
            Path(asked.repository), _selection(asked), search_path=asked.search_path
        )
    except BadInput as problem:
        yield replace(incomplete_change(problem.message), described="a repository")
        return
    with change:
        yield change_of_git(change)


def _selection(asked: Asked) -> "GitSelection":
    from consentry.service.gitselection import STAGED, WORK_TREE, GitSelection  # noqa: PLC0415 - git

    if asked.staged:
        return STAGED
    return WORK_TREE if asked.change is None else GitSelection.parse(asked.change)


def _tops(repository: str) -> tuple[Path, ...]:
    """The top of the working tree; of a folder in none, the folder itself."""
    from consentry.enforce.gitplace import find_repository  # noqa: PLC0415 - not for every bundle

    try:
        top = find_repository(Path(repository)).work_tree
    except (BadInput, UsageProblem):
        return (Path(os.path.realpath(repository)),)
    return () if top is None else (top,)


def _terms(asked: Asked, change: Change, roots: Sequence[Path]) -> tuple[Terms, tuple[str, ...]]:
    """What the change is judged by, and what has to be said about it."""
    if asked.wish is None and asked.registry is None and not asked.recipes:
        return Terms(flags=asked.flags), ()
    from consentry.service.patchcheck import (  # noqa: PLC0415 - loads the readers of documents
        named_recipes,
        read_a_registry,
        read_a_wish,
    )

    notes: list[str] = []
    wish = _document(asked, asked.wish, change, roots, read_a_wish, "wish", notes)
    registry = _document(asked, asked.registry, change, roots, read_a_registry, "registry", notes)
    return Terms(wish, registry, named_recipes(asked.recipes), asked.flags), tuple(notes)


def _document(
    asked: Asked,
    name: str | None,
    change: Change,
    roots: Sequence[Path],
    read: Callable[[bytes, str], Built],
    word: str,
    notes: list[str],
) -> Built | None:
    if name is None:
        return None
    from consentry.service.priordocuments import document_for  # noqa: PLC0415 - only with documents

    found = document_for(name, change, roots, only_committed=asked.staged)
    if found.content is None:
        notes.append(
            f"`{name}` comes with this change, which cannot allow itself: no {word} counts"
        )
        return None
    if found.is_prior:
        notes.append(f"`{name}` is not as it was before this change: the {word} counts as it was")
    return read(found.content, found.name)

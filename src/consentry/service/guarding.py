"""The guard at work: a change from git or from a bundle, examined on both sides and judged.

The wish is whoever calls's. One that the change itself touches counts as it was before the change: a
change does not allow itself anything.
"""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final, Protocol

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass, field, replace
from consentry.declare.patchbundle import Blob, BundleIncomplete
from consentry.declare.recipe import Recipe, is_recipe
from consentry.declare.toolregistry import ToolRegistry
from consentry.declare.wish import Wish
from consentry.examine.addedrules import NO_RULES, AddedRules
from consentry.examine.atoms import Atom, Found, Provenance, Unclassified
from consentry.examine.guard import Examined, Flags, judge
from consentry.examine.knowledge.reader import knowledge
from consentry.examine.recipes import UnknownNode, powers_of_recipes
from consentry.examine.sides import LINK, Doubt, Extract, Side, Sited, SourceTree, examine_side
from consentry.examine.tabledigest import TABLES, known_digest
from consentry.examine.verdict import Band, Reason, Status, Tag, Verdict

if TYPE_CHECKING:
    from consentry.declare.patchbundle import PatchBundle
    from consentry.service.gitchange import GitChange

NEW_DEPENDENCIES: Final = "new_deps"


class ChangedFile(Protocol):
    """A file of a change: where it was and is, and what."""

    @property
    def path_before(self) -> str | None: ...  # noqa: D102 - as the class says
    @property
    def path_after(self) -> str | None: ...  # noqa: D102 - as above
    @property
    def before(self) -> Blob | None: ...  # noqa: D102 - as above
    @property
    def after(self) -> Blob | None: ...  # noqa: D102 - as above


@dataclass(frozen=True, slots=True)
class Change:
    """A change with the trees that it stands in."""

    files: tuple[ChangedFile, ...]
    tree_before: SourceTree
    tree_after: SourceTree
    new_deps: tuple[str, ...] = ()
    incomplete: str | None = None
    described: str = ""


@dataclass(frozen=True, slots=True)
class Terms:
    """What a change is judged by."""

    wish: Wish | None = None
    registry: ToolRegistry | None = None
    recipes: Mapping[str, Recipe] = field(default_factory=dict)
    """Recipes that come with the change from elsewhere, by their names."""
    flags: Flags = field(default_factory=Flags)
    rules: AddedRules = NO_RULES
    """What plugins add; their tables are in `extract` as well, which has to be given the same."""


class BlobTree:
    """The files of a bundle as a tree."""

    def __init__(self, *parts: Mapping[str, Blob]) -> None:
        self._blobs: dict[str, Blob] = {}
        for part in parts:
            self._blobs |= part

    def has(self, path: str) -> bool:
        """Whether there is a file of that name."""
        return path in self._blobs

    def read(self, path: str) -> Blob | None:
        """The file of that name."""
        return self._blobs.get(path)

    def links(self) -> dict[str, str]:
        """Every link, and where it leads."""
        return {
            path: blob.content.decode("utf-8", "surrogateescape")
            for path, blob in self._blobs.items()
            if blob.mode == LINK
        }


def change_of_bundle(bundle: "PatchBundle") -> Change:
    """The change that a bundle describes; one that does not fit together is incomplete."""
    from consentry.examine.images import images_of  # noqa: PLC0415 - changes from git need no diff

    try:
        images = images_of(bundle)
    except BundleIncomplete as problem:
        return incomplete_change(str(problem))
    before = {each.path_before: each.before for each in images.changes if each.before is not None}
    after = {each.path_after: each.after for each in images.changes if each.after is not None}
    return Change(
        images.changes,
        BlobTree(images.context_before, _named(before)),
        BlobTree(images.context_after, _named(after)),
        images.new_deps,
        described=f"a bundle of {len(images.changes)} files",
    )


def incomplete_change(why: str) -> Change:
    """A change of which nothing is known but that it is not whole."""
    return Change((), BlobTree(), BlobTree(), incomplete=why)


def change_of_git(change: "GitChange") -> Change:
    """A change as it was read from git."""
    incomplete = None
    if change.not_read:
        first = change.not_read[0]
        incomplete = f"`{first.path}`: {first.why}"
    return Change(
        change.changes,
        change.before_tree,
        change.after_tree,
        incomplete=incomplete,
        described=change.description,
    )


def check_change(change: Change, terms: Terms, extract: Extract) -> Verdict:
    """The verdict on a change."""
    examined = _examined(change, terms, extract)
    return judge(examined, terms.wish, terms.flags, (TABLES, known_digest(terms.rules.digest)))


def replayed(verdict: Verdict, earlier: Mapping[str, Json]) -> Verdict:
    """The verdict, if it is the earlier one; else UNKNOWN, with the first field that differs."""
    found = first_difference(earlier, verdict.to_json())
    if found is None:
        return verdict
    reason = Reason(Tag.INSUFFICIENT.value, f"replay: {found}")
    return replace(
        verdict, status=Status.UNKNOWN, band=Band.YELLOW, reasons=(reason, *verdict.reasons)
    )


def first_difference(earlier: Json, now: Json, path: str = "") -> str | None:
    """Where two documents differ first, in the order of their keys, and in what."""
    if isinstance(earlier, Mapping) and isinstance(now, Mapping):
        for key in (*now, *(each for each in earlier if each not in now)):
            place = f"{path}.{key}" if path else key
            if key not in earlier or key not in now:
                return f"`{place}` is on one side only"
            found = first_difference(earlier[key], now[key], place)
            if found is not None:
                return found
        return None
    if isinstance(earlier, list) and isinstance(now, list):
        for number, (old, new) in enumerate(zip(earlier, now, strict=False)):
            found = first_difference(old, new, f"{path}[{number}]")
            if found is not None:
                return found
        if len(earlier) != len(now):
            return f"`{path}` had {len(earlier)} entries and has {len(now)}"
        return None
    if type(earlier) is type(now) and earlier == now:
        return None
    return f"`{path}` was {_shown(earlier)} and is {_shown(now)}"


def _shown(value: Json) -> str:
    import json  # noqa: PLC0415 - only where something differs

    return json.dumps(value)[:200]


def _named(blobs: Mapping[str | None, Blob]) -> dict[str, Blob]:
    return {path: blob for path, blob in blobs.items() if path is not None}


def _examined(change: Change, terms: Terms, extract: Extract) -> Examined:
    if change.incomplete is not None:
        return Examined(Side(), Side(), incomplete=change.incomplete)
    before = {each.path_before: each.before for each in change.files if each.before is not None}
    after = {each.path_after: each.after for each in change.files if each.after is not None}
    try:
        sides = (
            _side(_named(before), change.tree_before, {}, terms, extract),
            _side(_named(after), change.tree_after, terms.recipes, terms, extract),
        )
    except BadInput as problem:
        if problem.code is Code.DOCUMENT_INVALID:
            raise
        return Examined(Side(), Side(), incomplete=str(problem))
    (was, known), (is_now, nodes) = sides
    named = {(each.node, each.tool) for each in known}
    unknown = tuple(each for each in nodes if (each.node, each.tool) not in named)
    return Examined(was, _with_dependencies(is_now, change.new_deps, terms.rules), unknown)


def _side(
    files: Mapping[str, Blob],
    tree: SourceTree,
    recipes: Mapping[str, Recipe],
    terms: Terms,
    extract: Extract,
) -> tuple[Side, tuple[UnknownNode, ...]]:
    """One side of the change; recipes in it are documents, and not examined as files."""
    found = {path: _recipe(path, blob) for path, blob in sorted(files.items()) if is_recipe(path)}
    rest = {path: blob for path, blob in files.items() if path not in found}
    side = examine_side(rest, tree, extract, terms.rules)
    powers, unknown = powers_of_recipes({**recipes, **found}, terms.registry)
    return replace(side, found=(*side.found, *powers)), unknown


def _recipe(path: str, blob: Blob) -> Recipe:
    from consentry.declare.recipefile import read_recipe  # noqa: PLC0415 - few changes have any

    return read_recipe(blob.content, path)


def _with_dependencies(side: Side, names: Iterable[str], rules: AddedRules) -> Side:
    """Dependencies that a bundle names itself, whether or not a file in it says so."""
    found = list(side.found)
    doubts = list(side.doubts)
    for name in sorted(names):
        atoms = knowledge().distribution(name)
        if atoms is None:
            about = Unclassified(f"dependency pypi:{name}", 1, f"dependency {name}: in no table")
            doubts.append(Doubt(NEW_DEPENDENCIES, about))
        known = dict.fromkeys(atoms or (), Provenance.DECLARED)
        added = dict.fromkeys(_added_atoms(name, rules), Provenance.PLUGIN)
        for atom, provenance in {**added, **known}.items():
            made = Found(atom, 1, f"dependency {name}", provenance)
            found.append(Sited(NEW_DEPENDENCIES, made))
    return replace(side, found=tuple(found), doubts=tuple(doubts))


def _added_atoms(name: str, rules: AddedRules) -> tuple[Atom, ...]:
    if not rules.tables:
        return ()
    from consentry.examine.knowledge.added import extended_knowledge  # noqa: PLC0415 - plugins

    return extended_knowledge(rules.tables).distribution(name) or ()

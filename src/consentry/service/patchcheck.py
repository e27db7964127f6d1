"""`consentry.check_patch`: a bundle and a wish in whatever form a program has them, and the verdict.

What is wrong with a bundle makes the verdict `UNKNOWN`; what is wrong with a document that a change is
judged by raises, because nobody could tell what it was to allow. A name that leads nowhere raises, too.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from consentry.base.codes import Code
from consentry.base.errors import BadInput, UsageProblem
from consentry.declare.patchbundle import BundleIncomplete, PatchBundle
from consentry.declare.recipe import Recipe
from consentry.declare.toolregistry import ToolRegistry
from consentry.declare.wish import Wish
from consentry.examine.addedrules import NO_RULES, AddedRules
from consentry.examine.guard import Flags
from consentry.examine.verdict import Verdict
from consentry.service.extracting import Extractor
from consentry.service.guarding import (
    Change,
    Terms,
    change_of_bundle,
    check_change,
    incomplete_change,
    replayed,
)

Built = TypeVar("Built")
PathLike: TypeAlias = str | os.PathLike[str]
Document: TypeAlias = PathLike | Mapping[str, Any] | bytes
"""The name of a file, a JSON object, or the bytes of a document."""
Read: TypeAlias = Callable[[bytes, str], Built]


def check_patch(
    bundle: Document | PatchBundle,
    wish: Document | Wish | None = None,
    *,
    registry: Document | ToolRegistry | None = None,
    recipes: Iterable[Document | Recipe] = (),
    flags: Flags,
    replay: Document | Verdict | None = None,
    rules: AddedRules = NO_RULES,
) -> Verdict:
    """The verdict on a bundle; see `consentry.check_patch`."""
    change = change_in(bundle)
    roots = roots_of(bundle)
    terms = Terms(
        wish=wish if isinstance(wish, Wish) else _judged_by(wish, change, roots, read_a_wish),
        registry=registry
        if isinstance(registry, ToolRegistry)
        else _judged_by(registry, change, roots, read_a_registry),
        recipes=named_recipes(recipes),
        flags=flags,
        rules=rules,
    )
    verdict = check_change(change, terms, Extractor(tables=rules.tables))
    return verdict if replay is None else replayed(verdict, earlier_verdict(replay))


def change_in(bundle: Document | PatchBundle) -> Change:
    """The change in a bundle of any form; one that cannot be read is incomplete."""
    try:
        return change_of_bundle(_bundle(bundle))
    except BundleIncomplete as problem:
        return incomplete_change(str(problem))
    except UsageProblem as problem:
        if isinstance(bundle, str | os.PathLike) and os.path.lexists(bundle):
            return incomplete_change(f"the bundle cannot be read: {problem.message}")
        raise


def roots_of(bundle: Document | PatchBundle) -> tuple[Path, ...]:
    """Where on the disk the paths of a bundle start, as far as is known: the folder of its blobs."""
    if isinstance(bundle, str | os.PathLike):
        return (Path(os.path.realpath(bundle), "after"),)
    return ()


def read_a_wish(content: bytes, name: str) -> Wish:
    """A wish from its bytes."""
    from consentry.declare.wishfile import read_wish  # noqa: PLC0415 - YAML is slow to load

    return read_wish(content, name)


def read_a_registry(content: bytes, name: str) -> ToolRegistry:
    """A registry of tools from its bytes."""
    from consentry.declare.toolregistryfile import read_tool_registry  # noqa: PLC0415 - as above

    return read_tool_registry(content, name)


def named_recipes(given: Iterable[Document | Recipe]) -> dict[str, Recipe]:
    """Recipes by the names that a verdict calls them."""
    found: dict[str, Recipe] = {}
    for number, each in enumerate(given, 1):
        if isinstance(each, Recipe):
            found[f"recipe-{number}"] = each
            continue
        from consentry.declare.recipefile import read_recipe  # noqa: PLC0415 - few have any

        content, name = _content(each, f"recipe-{number}")
        found[name] = read_recipe(content, name)
    return found


def earlier_verdict(given: Document | Verdict) -> Mapping[str, Any]:
    """The document of an earlier verdict; raises `document-invalid` for what is none."""
    from consentry.service.verdictfile import checked_verdict, read_verdict  # noqa: PLC0415 - rare

    if isinstance(given, Verdict):
        return given.to_json()
    if isinstance(given, Mapping):
        return checked_verdict(dict(given), "replay")
    return read_verdict(*_content(given, "replay"))


def _bundle(given: Document | PatchBundle) -> PatchBundle:
    if isinstance(given, PatchBundle):
        return given
    if isinstance(given, str | os.PathLike):
        from consentry.service.bundlefolder import read_bundle  # noqa: PLC0415 - only for the disk

        return read_bundle(os.fspath(given))
    from consentry.declare.patchbundlefile import read_bundle_json  # noqa: PLC0415 - only for JSON

    try:
        return read_bundle_json(given if isinstance(given, bytes) else _encoded(given))
    except (TypeError, ValueError, RecursionError):
        raise BundleIncomplete("the bundle is not JSON") from None


def _judged_by(
    given: Document | None, change: Change, roots: Sequence[Path], read: Read[Built]
) -> Built | None:
    """A document that a change is judged by; one that the change brings itself as it was before."""
    if given is None:
        return None
    if not isinstance(given, str | os.PathLike):
        return read(*_content(given, "document"))
    from consentry.service.priordocuments import document_for  # noqa: PLC0415 - only for the disk

    found = document_for(os.fspath(given), change, roots)
    return None if found.content is None else read(found.content, found.name)


def _content(given: Document, name: str) -> tuple[bytes, str]:
    """The bytes of a document, and what errors call it; `.json` at the end means JSON."""
    if isinstance(given, bytes):
        return given, name
    if isinstance(given, Mapping):
        try:
            return _encoded(given), f"{name}.json"
        except (TypeError, ValueError, RecursionError) as problem:
            raise BadInput(Code.DOCUMENT_INVALID, f"`{name}` is not JSON: {problem}") from None
    from consentry.service.userfiles import read_named  # noqa: PLC0415 - only for the disk

    return read_named(os.fspath(given)), os.fspath(given)


def _encoded(given: Mapping[str, Any]) -> bytes:
    import json  # noqa: PLC0415 - only for values

    return json.dumps(dict(given), allow_nan=False).encode("ascii")

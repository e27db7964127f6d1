"""The guard at work on changes: both sides, recipes, dependencies that a bundle names, replays."""

import json
from typing import Any

import pytest

from consentry.base.errors import BadDocument
from consentry.base.values import dataclass, replace
from consentry.declare.patchbundle import Blob, bundle_from_parts
from consentry.declare.toolregistry import RegisteredTool, ToolRegistry
from consentry.examine.guard import Flags
from consentry.examine.verdict import Status, Tag, Verdict
from consentry.service.guarding import (
    BlobTree,
    Change,
    Terms,
    change_of_bundle,
    check_change,
    first_difference,
    incomplete_change,
    replayed,
)
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from tests.examine.changes import extract, wish_of

RECIPE = json.dumps({"recipe_version": "1", "nodes": [{"id": "n", "tool": "draw"}]})
REGISTRY = ToolRegistry((RegisteredTool("draw", "browser", Surface.of(net=Level.ANY)),))


@dataclass(frozen=True, slots=True)
class Touched:
    """A file of a change, as texts."""

    path_before: str | None
    path_after: str | None
    before: Blob | None
    after: Blob | None


def touched(path: str, before: str | None, after: str | None) -> Touched:
    """A file that was and is at the same path."""
    return Touched(
        None if before is None else path,
        None if after is None else path,
        None if before is None else Blob(before.encode()),
        None if after is None else Blob(after.encode()),
    )


def change(*files: Touched, **more: Any) -> Change:
    """A change of these files and no others."""
    before = {each.path_before: each.before for each in files if each.before is not None}
    after = {each.path_after: each.after for each in files if each.after is not None}
    return Change(files, BlobTree(before), BlobTree(after), **more)


def verdict_on(given: Change, **terms: Any) -> Verdict:
    """What the guard says."""
    return check_change(given, Terms(**terms), extract)


def test_a_change_that_is_not_whole_is_unknown() -> None:
    """GUARD §decide-incomplete: and nothing of it is read."""
    found = verdict_on(incomplete_change("it was cut off"))
    assert (found.status, found.reasons[0].tag) == (Status.UNKNOWN, Tag.INSUFFICIENT.value)
    missing = bundle_from_parts(diff=None, touched_paths=["a.py"])
    assert verdict_on(change_of_bundle(missing)).status is Status.UNKNOWN


def test_a_moved_file_gains_nothing() -> None:
    """GUARD T1: it is on the one side at its old place, on the other at its new one."""
    blob = Blob(b"import subprocess\n")
    moved = Touched("old/a.py", "new/b.py", blob, blob)
    found = verdict_on(change(moved))
    assert (found.status, found.delta.gained, found.delta.lost) == (Status.PASS, (), ())


def test_an_added_and_a_deleted_file() -> None:
    """GUARD §vector-2, CONTRACTS §7-removed: what comes counts, what goes does not."""
    code = "import subprocess\n"
    assert verdict_on(change(touched("a.py", None, code))).status is Status.BLOCKED
    assert verdict_on(change(touched("a.py", code, None))).status is Status.PASS


def test_recipes_are_judged_by_the_registry_and_not_read_as_files() -> None:
    """GUARD §in-registry, §extract-1: a recipe that was there before brings nothing new."""
    added = change(touched("x.recipe.json", None, RECIPE))
    allowed = wish_of(net_access="ANY", tool_classes=["browser"])
    assert verdict_on(added, registry=REGISTRY, wish=allowed).status is Status.PASS
    assert verdict_on(added, registry=REGISTRY).status is Status.BLOCKED
    assert verdict_on(added, wish=allowed).status is Status.BLOCKED
    before = change(touched("x.recipe.json", RECIPE, RECIPE + " "))
    assert verdict_on(before).status is Status.PASS


def test_recipes_from_elsewhere_count_as_new() -> None:
    """GUARD §extract-1: those that are handed in beside a change belong to what comes."""
    from consentry.declare.recipefile import read_recipe

    recipes = {"given.recipe.json": read_recipe(RECIPE.encode(), "given.recipe.json")}
    found = verdict_on(change(), recipes=recipes, registry=REGISTRY)
    assert {step.file for step in found.delta.gained} == {"given.recipe.json"}


def test_a_recipe_that_cannot_be_read_is_a_bad_document() -> None:
    """It is said to whoever wrote it, and no verdict is given."""
    with pytest.raises(BadDocument):
        verdict_on(change(touched("x.recipe.json", None, '{"recipe_version": "1", "node": []}')))


def test_dependencies_that_a_bundle_names() -> None:
    """GUARD §extract-1: a known one gives its powers, one in no table is not known."""
    found = verdict_on(change(new_deps=("requests",)))
    assert found.status is Status.BLOCKED
    assert {step.file for step in found.delta.gained} == {"new_deps"}
    strange = verdict_on(change(new_deps=("surely-nobody-knows-this",)))
    assert strange.status is Status.UNKNOWN


def test_flags_are_handed_on() -> None:
    """GUARD §in-flags."""
    added = change(touched("a.py", None, "import subprocess\n"))
    assert verdict_on(added, flags=Flags(strict=False)).status is Status.UNKNOWN
    quiet = change(touched("a.py", "import socket\n", "import socket\nx = 1\n"))
    assert verdict_on(quiet, flags=Flags(offline=True)).status is Status.BLOCKED


def test_a_replay_that_agrees_is_the_verdict() -> None:
    """GUARD §in-flags, §deterministic."""
    found = verdict_on(change(touched("a.py", None, "x = 1\n")))
    assert replayed(found, json.loads(json.dumps(found.to_json()))) is found


def test_a_replay_that_differs_is_unknown() -> None:
    """GUARD §in-flags: even where both say PASS."""
    found = verdict_on(change(touched("a.py", None, "x = 1\n")))
    other = replace(found, witnesses=found.witnesses[::-1]).to_json()
    again = replayed(found, other)
    assert (again.status, again.reasons[0].tag) == (Status.UNKNOWN, Tag.INSUFFICIENT.value)
    assert again.reasons[0].detail.startswith("replay: `witnesses[0]` was ")


@pytest.mark.parametrize(
    ("earlier", "now", "said"),
    [
        ({"a": 1}, {"a": 1}, None),
        ({"a": 1}, {"a": 2}, "`a` was 1 and is 2"),
        ({"a": 1}, {"a": True}, "`a` was 1 and is true"),
        ({"a": {"b": [1, 2]}}, {"a": {"b": [1, 3]}}, "`a.b[1]` was 2 and is 3"),
        ({"a": [1]}, {"a": [1, 2]}, "`a` had 1 entries and has 2"),
        ({"a": 1}, {}, "`a` is on one side only"),
        ({}, {"a": 1}, "`a` is on one side only"),
        ({"a": []}, {"a": {}}, "`a` was [] and is {}"),
        ({"b": 1, "a": 1}, {"a": 2, "b": 2}, "`a` was 1 and is 2"),
    ],
)
def test_the_first_difference(earlier: Any, now: Any, said: str | None) -> None:
    """In the order of the document that is there now."""
    assert first_difference(earlier, now) == said

"""Pages that restate a table of the code say exactly what the table says: no row more, none less."""

import dataclasses
import importlib
import inspect
import pkgutil
import tomllib
from importlib.resources import files
from types import ModuleType

import pytest

import consentry.base
import consentry.surface
from consentry.surface import automaton, entries, pattern, patternindex, patterns, wire
from consentry.surface.catalog import capability_catalog
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import spellings, standing
from consentry.surface.permission_sets import PermissionSet, SetDefinition, definition
from consentry.surface.protected import ProtectedRoot, protected_roots
from tests.docs.blocks import DOCS
from tests.docs.tables import code_spans, prose_of, table_with_head, tables_of

REFERENCE = DOCS / "reference"
SETS = [definition(name) for name in PermissionSet]


def quoted_list(targets: tuple[str, ...]) -> str:
    """Targets as a cell shows them."""
    return ", ".join(f"`{target}`" for target in targets) or "none"


def reach(found: SetDefinition, dimension: Dimension) -> str:
    """What a set opens in one dimension, as a cell shows it."""
    stands, targets = standing(found.surface[dimension]), spellings(found.surface[dimension])
    return "`ANY`" if stands == Level.ANY else quoted_list(targets)


def test_permission_sets_are_listed_with_what_they_open_and_their_steps() -> None:
    """CONTRACTS §5: one row for each set, in order."""
    rows = table_with_head(REFERENCE / "permission-sets.md", "set", "in short")
    assert rows == [
        [
            f"`{found.name}`",
            found.summary,
            reach(found, Dimension.FS_READ_ROOTS),
            reach(found, Dimension.FS_WRITE_ROOTS),
            reach(found, Dimension.NET_ACCESS),
            reach(found, Dimension.ENV_READ),
            quoted_list(found.steps),
        ]
        for found in SETS
    ]


def test_permission_sets_are_listed_with_their_meaning_on_the_native_engine() -> None:
    """CONTRACTS §10: the words of the table, unchanged."""
    rows = table_with_head(REFERENCE / "permission-sets.md", "set", "workspace")
    assert rows == [
        [
            f"`{found.name}`",
            found.native.workspace,
            found.native.tmp_and_home,
            found.native.other_reads,
            found.native.net,
            found.native.env,
            found.native.run_and_ffi,
        ]
        for found in SETS
    ]


def test_permission_sets_are_listed_with_their_flags() -> None:
    """Deno's flags, in the order they are given."""
    rows = table_with_head(REFERENCE / "permission-sets.md", "set", "flags")
    assert rows == [[f"`{found.name}`", f"`{' '.join(found.deno_flags)}`"] for found in SETS]


def listed_paths(rows: list[list[str]]) -> list[tuple[str, str]]:
    """A page's rows of a reason and its paths, one pair for each path."""
    return [(path, why) for why, paths in rows for path in code_spans(paths)]


def table_paths(rows: tuple[ProtectedRoot, ...]) -> list[tuple[str, str]]:
    """The same pairs from the table."""
    return [(row.pattern.text, row.why) for row in rows]


def test_every_protected_root_and_exception_is_listed_with_its_reason() -> None:
    """In the order of the table."""
    never, exceptions = (
        rows[1:]
        for rows in tables_of(REFERENCE / "protected-roots.md")
        if rows[0] == ["why", "paths"]
    )
    assert listed_paths(never) == table_paths(protected_roots().never_granted)
    assert listed_paths(exceptions) == table_paths(protected_roots().exceptions)


def test_every_capability_is_listed_with_scope_and_limits() -> None:
    """MODULES §catalog: exactly the ids of the catalog, at its version."""
    page = REFERENCE / "capability-catalog.md"
    assert table_with_head(page, "id") == [
        [f"`{entry.capability_id}`", entry.scope, "; ".join(entry.limits)]
        for entry in capability_catalog().entries
    ]
    assert f"`capabilityCatalogVersion` {capability_catalog().version};" in prose_of(page)


def test_every_dimension_is_listed_with_key_and_meaning() -> None:
    """GUARD §vector, in the fixed order."""
    rows = table_with_head(REFERENCE / "surface.md", "dimension", "key")
    assert [(name, key, meaning) for name, key, _, meaning in rows] == [
        (f"`{dimension.value}`", f"`{dimension.key}`", dimension.meaning) for dimension in Dimension
    ]
    levels = table_with_head(REFERENCE / "surface.md", "level")
    assert [row[0] for row in levels] == [f"`{level}`" for level in Level]
    assert " < ".join(f"`{level}`" for level in LoadLevel) in prose_of(REFERENCE / "surface.md")


def test_every_anchor_is_listed() -> None:
    """What a pattern may be relative to."""
    rows = table_with_head(REFERENCE / "patterns.md", "anchor")
    assert [row[0] for row in rows] == [f"`{anchor}`" for anchor in pattern.Anchor]


def test_limits_are_listed_with_their_values() -> None:
    """Every `MOST_` constant of the patterns and of the document form."""
    modules = (pattern, entries, patternindex, patterns, automaton, wire)
    limits = {
        name: f"{value:,}"
        for module in modules
        for name, value in vars(module).items()
        if name.startswith("MOST_")
    }
    rows = table_with_head(REFERENCE / "patterns.md", "constant")
    assert {row[0].strip("`"): row[1] for row in rows} == limits


@pytest.mark.parametrize("package", [consentry.base, consentry.surface], ids=lambda p: p.__name__)
def test_public_names_exist_and_every_module_is_placed(package: ModuleType) -> None:
    """Names of library.md can be imported; a module is listed there as public or as internal."""
    page = REFERENCE / "library.md"
    name = package.__name__
    public: set[str] = set()
    for rows in tables_of(page):
        for module_cell, names, _ in rows[1:] if rows[0][0] == "module" else ():
            [module_name] = code_spans(module_cell)
            if module_name.startswith(f"{name}."):
                public.add(module_name)
                module = importlib.import_module(module_name)
                assert [each for each in code_spans(names) if not hasattr(module, each)] == []
    _, _, inside = prose_of(page).partition("Inside the rooms, for no one else:")
    internal = set(code_spans(inside.partition(" ## ")[0]))
    modules = {f"{name}.{found.name}" for found in pkgutil.iter_modules(package.__path__)}
    assert modules == public | {each for each in internal if each.startswith(f"{name}.")}


def test_front_door_is_documented_argument_by_argument() -> None:
    """The arguments of `consentry.exec` and the fields of its result, all of them."""
    page = REFERENCE / "library.md"
    arguments = [
        each for row in table_with_head(page, "argument of `exec`") for each in code_spans(row[0])
    ]
    assert set(arguments) == set(inspect.signature(consentry.exec).parameters)
    fields = {
        each for row in table_with_head(page, "field of `RunResult`") for each in code_spans(row[0])
    }
    named = {each.name for each in dataclasses.fields(consentry.RunResult)}
    assert named - fields == {"output_complete"}  # explained beside the output
    assert fields <= named


def test_shipped_tables_are_listed_with_their_versions() -> None:
    """Every TOML file of the package, and the version in it."""
    rows = table_with_head(REFERENCE / "json.md", "table")
    shipped = {
        entry.name: tomllib.loads(entry.read_text(encoding="utf-8"))
        for package in ("consentry.declare", "consentry.surface", "consentry.record")
        for entry in files(package).iterdir()
        if entry.name.endswith(".toml")
    }
    assert {row[0].strip("`") for row in rows} == set(shipped)
    for name, version, _ in rows:
        table = shipped[name.strip("`")]
        stated = table.get("version", table.get("capabilityCatalogVersion"))
        assert f"` {stated}" in version

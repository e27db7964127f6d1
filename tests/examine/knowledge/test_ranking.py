"""The tables of third-party modules against the ranking that says whom they must know (GUARD §extract-1).

The ranking orders distributions by how much they are used. What it names early, a row must know, and
every row must have the form of docs/reference/guard-tables.md, which is stated here once more, apart
from the reader, so that the two are held against each other.
"""

import re
import tomllib
from collections import Counter
from functools import cache
from importlib.resources import files
from itertools import chain
from typing import Any, Final

import pytest

KNOWLEDGE: Final = files("consentry.examine.knowledge")
RANKED: Final = 700
KNOWN: Final = 330

ARGUMENT: Final = r"(?:self|\d+/\w+|\d+|/\w+)"
CONSTANT: Final = r"[^\s@?]+"
EFFECT: Final = re.compile(
    rf"(?:(?:read|write)(?:@{ARGUMENT}|={CONSTANT})?"
    rf"|open@{ARGUMENT}(?:,{ARGUMENT})?"
    rf"|(?:net|proc|env|crypto)(?::any|={CONSTANT}|@{ARGUMENT}(?:,{ARGUMENT})?)?"
    rf"|crypto={CONSTANT}@{ARGUMENT}"
    rf"|load(?:=limited|=any|@{ARGUMENT})"
    r"|tool=[a-z]+)"
    rf"(?: \?{ARGUMENT}!?=[^\s]+)?"
    rf"|-> [\w.]+|-> module@{ARGUMENT}"
)


def ranking() -> list[str]:
    """The names of the ranking, most used first."""
    lines = KNOWLEDGE.joinpath("ranking.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


@cache
def tables() -> dict[str, dict[str, Any]]:
    """The tables of third-party modules by their file names."""
    return {
        entry.name: tomllib.loads(entry.read_text("utf-8"))
        for entry in sorted(KNOWLEDGE.iterdir(), key=lambda entry: entry.name)
        if entry.name.startswith("thirdparty_") and entry.name.endswith(".toml")
    }


def rows(kind: str) -> list[dict[str, Any]]:
    """All rows of a kind, of all tables."""
    return list(chain.from_iterable(table.get(kind, ()) for table in tables().values()))


def normalised(name: str) -> str:
    """The name of a distribution as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def effects_of(module: dict[str, Any]) -> list[str]:
    """Every effect that the row of a module states."""
    members = chain.from_iterable(module.get("members", {}).values())
    return [*module.get("import", ()), *module.get("default", ()), *members]


def test_the_ranking_has_its_length_and_names_nobody_twice() -> None:
    """GUARD §extract-1: 700 names in normalised form, each once."""
    names = ranking()
    assert len(names) == RANKED
    assert [name for name, count in Counter(names).items() if count > 1] == []
    assert [name for name in names if name != normalised(name)] == []


def test_the_most_used_distributions_all_have_a_row() -> None:
    """GUARD §extract-1: a dependency on one of the first 330 is never unclassified."""
    known = {normalised(row["name"]) for row in rows("distribution")}
    assert [name for name in ranking()[:KNOWN] if name not in known] == []


@pytest.mark.parametrize("kind", ["module", "distribution"])
def test_no_row_stands_twice(kind: str) -> None:
    """GUARD §deterministic: which row counts must not depend on the order of files."""
    names = [
        normalised(row["name"]) if kind == "distribution" else row["name"] for row in rows(kind)
    ]
    assert [name for name, count in Counter(names).items() if count > 1] == []


def test_every_effect_has_the_form() -> None:
    """GUARD §extract-allowlist: an effect that the reader would take for another is refused here."""
    bad = [
        (row["name"], effect)
        for row in rows("module")
        for effect in effects_of(row)
        if EFFECT.fullmatch(effect) is None
    ]
    assert bad == []


def test_a_twin_says_nothing_else() -> None:
    """A module that is another under a second name has no row of its own besides."""
    assert [row["name"] for row in rows("module") if "twin" in row and len(row) > 2] == []


def test_a_twin_is_of_a_module_and_not_of_a_twin() -> None:
    """A chain of twins would end at a row that says nothing."""
    twins = {row["name"] for row in rows("module") if "twin" in row}
    assert [row["name"] for row in rows("module") if row.get("twin") in twins] == []


def test_the_same_members_are_those_of_a_class_in_the_row() -> None:
    """`same` names a class that the row lists, itself or one of its methods."""
    lost = [
        (row["name"], alias)
        for row in rows("module")
        for alias, target in row.get("same", {}).items()
        if not any(f"{name}.".startswith(f"{target}.") for name in row.get("members", {}))
    ]
    assert lost == []


def test_every_module_with_a_row_belongs_to_a_distribution() -> None:
    """A dependency gives what importing gives: no row may be out of reach of all distributions."""
    listed = set(chain.from_iterable(row["modules"] for row in rows("distribution")))
    lost = [
        row["name"]
        for row in rows("module")
        if not any(
            row["name"] == module or row["name"].startswith(f"{module}.") for module in listed
        )
    ]
    assert lost == []

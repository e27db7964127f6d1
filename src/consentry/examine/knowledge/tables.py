"""Makes the one compact file that is read at run time from the tables that people edit.

A line for each row, sorted: its kind and name, a tab, the row as JSON. The reader finds a row by its
name and parses no other, so that a cold start pays for what a change imports and not for the tables.
A row that has not the form of docs/reference/guard-tables.md is refused here, with its name.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from consentry.examine.knowledge.effects import parse_effect

MODULE: Final = "m"
DISTRIBUTION: Final = "d"
ATTRIBUTE: Final = "a"
NAMESPACE: Final = "namespace"

_MODULE_KEYS: Final = {"name", "import", "default", "safe", "members", "same", "twin"}


class BadTable(ValueError):
    """A row of a table that has not the form, or stands twice."""


def compile_tables(sources: Mapping[str, str]) -> bytes:
    """The compact file from the TOML texts, by their file names."""
    import tomllib  # noqa: PLC0415 - at run time the tables are made already

    modules: dict[str, dict[str, Any]] = {}
    distributions: dict[str, list[str]] = {}
    attributes: dict[str, list[str]] = {}
    for file, text in sorted(sources.items()):
        table = tomllib.loads(text)
        for row in table.get("module", ()):
            _put(modules, row["name"], _module(file, row), file)
        for row in table.get("distribution", ()):
            name = normalised(row["name"])
            _put(distributions, name, sorted(set(row["modules"])), file)
        for row in table.get("attribute", ()):
            _put(attributes, row["name"], _checked(file, row["name"], row["effects"]), file)
    for listed in distributions.values():
        for module in listed:
            modules.setdefault(module, {})
    for name in _namespaces(distributions):
        modules.setdefault(name, {NAMESPACE: 1})
    rows = [
        *((f"{ATTRIBUTE} {name}", row) for name, row in attributes.items()),
        *((f"{DISTRIBUTION} {name}", row) for name, row in distributions.items()),
        *((f"{MODULE} {name}", row) for name, row in modules.items()),
    ]
    lines = [
        f"{name}\t{json.dumps(row, sort_keys=True, separators=(',', ':'))}" for name, row in rows
    ]
    return "\n".join([*sorted(lines), ""]).encode()


def normalised(name: str) -> str:
    """The name of a distribution as package indexes compare it."""
    lowered = name.lower()
    for separator in "_.":
        lowered = lowered.replace(separator, "-")
    while "--" in lowered:
        lowered = lowered.replace("--", "-")
    return lowered


def _module(file: str, row: Mapping[str, Any]) -> dict[str, Any]:
    name = row["name"]
    unknown = row.keys() - _MODULE_KEYS
    if unknown:
        raise BadTable(f"{file}: {name}: {', '.join(sorted(unknown))} is not a key of a module")
    made: dict[str, Any] = {}
    if "import" in row:
        made["import"] = _checked(file, name, row["import"])
    if row.get("default"):
        made["default"] = _checked(file, name, row["default"])
    if row.get("members"):
        made["members"] = {
            member: _checked(file, f"{name}.{member}", effects)
            for member, effects in row["members"].items()
        }
    for key in ("safe", "same", "twin"):
        if row.get(key):
            made[key] = row[key]
    return made


def _checked(file: str, name: str, effects: Iterable[str]) -> list[str]:
    checked = list(effects)
    for effect in checked:
        try:
            parse_effect(effect)
        except ValueError as problem:
            raise BadTable(f"{file}: {name}: {problem}") from None
    return checked


def _put(rows: dict[str, Any], name: str, row: object, file: str) -> None:
    if name in rows:
        raise BadTable(f"{file}: {name} stands twice")
    rows[name] = row


def _namespaces(distributions: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Names that several distributions share and none owns: they say nothing about what is below."""
    owned = {module for listed in distributions.values() for module in listed}
    for module in sorted(owned):
        parts = module.split(".")
        for end in range(1, len(parts)):
            above = ".".join(parts[:end])
            if above not in owned:
                yield above

"""What is known about modules of Node.js, globals and npm packages, read from the tables.

The tables are `node_*.toml` and `npm_*.toml` beside those of Python; effects have the same form
(docs/reference/guard-tables.md). Here an argument `0/url` is the first argument itself, or its
property `url` where an object is given. A row has some keys of its own:

    objects   members that are other objects of the tables, by row or `row:member`
    handed    what the object gives when it is handed on whole; left out: all that its members give
    keeps     members that neither use nor hand on what they are given
    twin      the row that a package is another spelling of
    reads     `env` for an object whose properties are variables of the environment
    reflects  a computed member of it may be anything that loads code
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from consentry.base.values import dataclass, replace
from consentry.examine.javascript.values import Thing
from consentry.examine.knowledge.effects import Effect, Power, parse_effect

GLOBALS: Final = "globalThis"
ATTRIBUTES: Final = "anyobject"
REQUIRE: Final = "require"
IMPORT_META: Final = "import.meta"

_NODE_TABLES: Final = ("node_globals.toml", "node_modules.toml", "node_runtimes.toml")
_NPM_TABLES: Final = ("npm_clients.toml", "npm_programs.toml", "npm_others.toml")


@dataclass(frozen=True, slots=True)
class Row:
    """One object: a module, a package, or an object that globals lead to."""

    name: str
    imported: tuple[Effect, ...]
    default: tuple[Effect, ...]
    safe: tuple[str, ...]
    members: Mapping[str, tuple[Effect, ...]]
    objects: Mapping[str, Thing]
    handed: tuple[Effect, ...]
    keeps: frozenset[str]
    reads_variables: bool
    reflects: bool
    known: frozenset[str]
    """Members that have an entry, and the names on the way to them."""

    def effects_of(self, member: str) -> tuple[Effect, ...]:
        """What calling the member gives; the empty name is the object itself."""
        found = self.members.get(member)
        if found is not None:
            return found
        if not member or member in self.known or self.is_safe(member):
            return ()
        return self.default

    def is_safe(self, member: str) -> bool:
        """Whether the member is listed as one without power."""
        first = member.partition(".")[0]
        for pattern in self.safe:
            if pattern in (member, first):
                return True
            if pattern.endswith("*") and first.startswith(pattern[:-1]):
                return True
            if pattern.startswith("*") and first.endswith(pattern[1:]):
                return True
        return False

    def handed_on(self, member: str) -> tuple[Effect, ...]:
        """What the object or member gives when somebody else may call it."""
        if member and member not in self.known:
            return self.effects_of(member)
        if not member:
            return self.handed
        below = [
            effect
            for name, effects in self.members.items()
            if name == member or name.startswith(f"{member}.")
            for effect in effects
        ]
        return tuple(dict.fromkeys(below))


class Rows(Mapping[str, Row]):
    """Rows by name, each made from its table when it is first asked for."""

    def __init__(self, written: Mapping[str, Mapping[str, Any]]) -> None:
        self._written = written
        self._made: dict[str, Row] = {}

    def __getitem__(self, name: str) -> Row:
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = self._make(name, self._written[name])
        return made

    def __contains__(self, name: object) -> bool:
        return name in self._written

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def _make(self, name: str, written: Mapping[str, Any]) -> Row:
        twin = written.get("twin")
        return _row(name, written) if twin is None else replace(node_rows()[twin], name=name)


@lru_cache(maxsize=1)
def node_rows() -> Rows:
    """Globals, modules of Node.js, Deno and Bun."""
    written: dict[str, Mapping[str, Any]] = {}
    for table in _NODE_TABLES:
        for row in _table(table).get("object", ()):
            written.update(dict.fromkeys((row["name"], *row.get("also", ())), row))
    return Rows(written)


@lru_cache(maxsize=1)
def npm_rows() -> Rows:
    """Packages of npm."""
    written: dict[str, Mapping[str, Any]] = {}
    for table in _NPM_TABLES:
        read = _table(table)
        for group in read.get("group", ()):
            row = {"import": group["effects"]}
            written.update(dict.fromkeys(group["packages"].split(), row))
        for row in read.get("package", ()):
            written.update(dict.fromkeys((row["name"], *row.get("also", ())), row))
    return Rows(written)


def row_named(name: str) -> Row:
    """The row of a thing."""
    found = node_rows().get(name)
    return npm_rows()[name] if found is None else found


def row_of_module(module: str) -> str | None:
    """The name of the row for a module as it is imported; None for one that no table knows."""
    rows = node_rows()
    if module in rows and module.startswith("node:"):
        return module
    plain = module.removeprefix("node:")
    while plain:
        if plain in rows and plain not in _NOT_MODULES:
            return plain
        plain = plain.rpartition("/")[0]
    package = package_of(module)
    return package if package in npm_rows() else None


def package_of(module: str) -> str:
    """The package that a module belongs to: `@scope/name` or the part before the first slash."""
    plain = module.removeprefix("npm:").removeprefix("/")
    parts = plain.split("/")
    kept = parts[:2] if plain.startswith("@") else parts[:1]
    name, at, _ = kept[-1].partition("@") if kept[-1][:1] != "@" else (kept[-1], "", "")
    return "/".join([*kept[:-1], name if at else kept[-1]])


def child_of(thing: Thing, name: str) -> Thing | None:
    """A property of a thing; None for one that leads nowhere."""
    row = row_named(thing.row)
    if row.reads_variables and not thing.member:
        return None
    if name == "default" and not thing.member:
        return thing
    path = f"{thing.member}.{name}" if thing.member else name
    found = row.objects.get(path)
    if found is not None:
        return found
    if path in row.known:
        return Thing(row.name, path)
    if name in _OF_EVERYTHING:
        return None
    is_listed = bool(thing.member) and thing.member in row.members
    if row.default and not is_listed and not row.is_safe(path):
        return Thing(row.name, path)
    return None


_OF_EVERYTHING: Final = frozenset(
    [
        "then",
        "catch",
        "finally",
        "call",
        "apply",
        "bind",
        "toString",
        "valueOf",
        "hasOwnProperty",
        "name",
        "length",
        "prototype",
    ]
)
"""Members of functions, promises and all objects, which are none of the module's own."""

_NOT_MODULES: Final = frozenset(
    {GLOBALS, ATTRIBUTES, REQUIRE, IMPORT_META, "node.module", "webcrypto", "serviceworker"}
    | {"Deno", "testing.jest", "testing.vi", "process.env"}
)


def _row(name: str, row: Mapping[str, Any]) -> Row:
    members = {member: _effects(effects) for member, effects in row.get("members", {}).items()}
    objects = {member: _thing(where) for member, where in row.get("objects", {}).items()}
    default = _effects(row.get("default", ()))
    every = dict.fromkeys(
        effect
        for effects in (*members.values(), default)
        for effect in effects
        if effect.power is not Power.RETURNS
    )
    handed = _effects(row["handed"]) if "handed" in row else tuple(every)
    return Row(
        name,
        _effects(row.get("import", ())),
        default,
        tuple(row.get("safe", ())),
        members,
        objects,
        handed,
        frozenset(row.get("keeps", ())),
        row.get("reads") == "env",
        bool(row.get("reflects")),
        frozenset(_prefixes((*members, *objects, *row.get("keeps", ())))),
    )


def _effects(texts: Iterable[str]) -> tuple[Effect, ...]:
    return tuple(map(parse_effect, texts))


def _thing(where: str) -> Thing:
    row, _, member = where.partition(":")
    return Thing(row, member)


def _prefixes(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for name in names:
        end = len(name)
        while end > 0:
            found.add(name[:end])
            end = name.rfind(".", 0, end)
    return found


def _table(name: str) -> dict[str, Any]:
    text = files("consentry.examine.knowledge").joinpath(name).read_text(encoding="utf-8")
    return tomllib.loads(text)

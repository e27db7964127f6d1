"""The protected roots: places no grant ever opens (`canon://policy/protected_roots_v1`).

The table is data beside this file. It has two columns: roots that are never granted, and read-only
exceptions that an engine provides itself as part of the runtime. Entries under `~` hold for every
home folder, not only for the one of the user who asks: they are bound to the homes that the caller
names.

What it does not do: resolve links. Whoever binds a path to the real tree resolves it first, and
asks about the result.
"""

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.surface.automaton import find_path
from consentry.surface.pattern import Anchor, Pattern, Wildcard

_TABLE = "protected_roots_v1.toml"
_USUAL_HOMES = ("/root", "/home/*", "/Users/*")


@dataclass(frozen=True, slots=True)
class ProtectedRoot:
    """One row: a pattern and why it is on the list."""

    pattern: Pattern
    why: str


@dataclass(frozen=True, slots=True)
class ProtectedRoots:
    """The table, with the rows under `~` still relative to a home."""

    identity: str
    version: int
    digest: Digest
    never_granted: tuple[ProtectedRoot, ...]
    exceptions: tuple[ProtectedRoot, ...]

    def bound_to(self, homes: Iterable[str] = (), *, also: Iterable[str] = ()) -> "ProtectedRoots":
        """The same table with `~` rows repeated for each home, and `also` as further roots.

        The usual places of homes are always among them; `also` is for a state or configuration
        directory that was moved.
        """
        everywhere = (*map(Pattern.parse, _USUAL_HOMES), *map(_literal_path, homes))
        rows = [bound for row in self.never_granted for bound in _bind(row, everywhere)]
        own = "Consentry's own ledger, keys and rules"
        for path in map(_literal_path, also):
            tree = path.with_segments((*path.segments, Wildcard.FOLDERS))
            rows.append(ProtectedRoot(tree, own))
        return ProtectedRoots(
            self.identity,
            self.version,
            self.digest,
            (*self.never_granted, *rows),
            self.exceptions,
        )

    def over(self, pattern: Pattern) -> ProtectedRoot | None:
        """The row that contains the whole pattern: it cannot be granted."""
        return next((row for row in self.never_granted if _covers(row.pattern, pattern)), None)

    def within(self, pattern: Pattern) -> tuple[ProtectedRoot, ...]:
        """The rows that the pattern reaches into: an engine that grants it must hide these."""
        return tuple(
            row for row in self.never_granted if find_path((row.pattern, pattern)) is not None
        )

    def exception_for(self, pattern: Pattern) -> ProtectedRoot | None:
        """The read-only exception that contains the whole pattern, if an engine provides one."""
        return next((row for row in self.exceptions if _covers(row.pattern, pattern)), None)

    def require_grantable(self, pattern: Pattern) -> Pattern:
        """Returns the pattern, or raises `protected-root` naming the rule it falls under."""
        row = self.over(pattern)
        if row is not None:
            raise Refused(
                Code.PROTECTED_ROOT,
                f"`{pattern.text}` lies in `{row.pattern.text}`, which is never granted: {row.why}",
            )
        return pattern


@lru_cache(maxsize=1)
def protected_roots() -> ProtectedRoots:
    """The table as shipped."""
    content = files("consentry.surface").joinpath(_TABLE).read_bytes()
    table = tomllib.loads(content.decode())
    return ProtectedRoots(
        identity=table["id"],
        version=table["version"],
        digest=digest_bytes(content),
        never_granted=_rows(table["protected"]),
        exceptions=_rows(table["exception"]),
    )


def _rows(sections: list[dict[str, object]]) -> tuple[ProtectedRoot, ...]:
    rows: list[ProtectedRoot] = []
    for section in sections:
        paths, why = section["paths"], section["why"]
        if not isinstance(paths, list) or not isinstance(why, str):
            raise TypeError(f"{_TABLE}: `paths` is a list and `why` a sentence")
        rows += [ProtectedRoot(Pattern.parse(path), why) for path in paths]
    return tuple(rows)


def _bind(row: ProtectedRoot, homes: Iterable[Pattern]) -> list[ProtectedRoot]:
    if row.pattern.anchor is not Anchor.HOME:
        return []
    return [
        ProtectedRoot(home.with_segments((*home.segments, *row.pattern.segments)), row.why)
        for home in homes
    ]


def _literal_path(path: str) -> Pattern:
    """An absolute path as it stands, with any `*` in it being just that character."""
    return Pattern.literal(Anchor.ABSOLUTE, tuple(name for name in path.split("/") if name))


def _covers(wide: Pattern, narrow: Pattern) -> bool:
    return wide.anchor is narrow.anchor and find_path((narrow,), ((wide,),)) is None

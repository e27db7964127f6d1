"""The protected roots: places no grant ever opens (`canon://policy/protected_roots_v1`).

The table is data beside this file. It has two columns: roots that are never granted, and read-only
exceptions that an engine provides itself as part of the runtime. Entries under `~` hold for every
home folder, not only for the one of the user who asks: they are bound to the usual places of homes
from the start, and to further ones that the caller names.

What it does not do: resolve links, fold case, or know homes in unusual places. Whoever binds a path
to the real tree resolves it first and asks about the result, after naming the homes there are.
"""

import posixpath
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import takewhile

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused
from consentry.base.ownfiles import own_bytes
from consentry.base.values import dataclass, field, replace
from consentry.surface.automaton import MOST_WORK, AllOf, Work, find_path
from consentry.surface.pattern import Anchor, Pattern, Segment, Wildcard

_TABLE = "protected_roots_v1.toml"
_USUAL_HOMES = ("/root", "/home/*", "/Users/*")
_MOST_WORK = 3 * MOST_WORK  # many rows, and many homes on a shared machine


@dataclass(frozen=True, slots=True)
class ProtectedRoot:
    """One row: a pattern and why it is on the list."""

    pattern: Pattern
    why: str

    @property
    def reach(self) -> Pattern:
        """The pattern and all below: what is protected as a file is protected as a folder, too."""
        return _as_tree(self.pattern)


@dataclass(frozen=True, slots=True)
class ProtectedRoots:
    """The table, and in `bound` the rows under `~` once more for every known home."""

    identity: str
    version: int
    digest: Digest
    never_granted: tuple[ProtectedRoot, ...]
    exceptions: tuple[ProtectedRoot, ...]
    bound: tuple[ProtectedRoot, ...]
    _by_first_name: Mapping[str | None, tuple[ProtectedRoot, ...]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        # A thousand rows on a machine with a few homes, and most paths begin like none of them.
        by_name: dict[str | None, list[ProtectedRoot]] = {}
        for row in (*self.never_granted, *self.bound):
            by_name.setdefault(_first_name(row.pattern), []).append(row)
        index = {name: tuple(rows) for name, rows in by_name.items()}
        object.__setattr__(self, "_by_first_name", index)

    def bound_to(self, homes: Iterable[str] = (), *, also: Iterable[str] = ()) -> "ProtectedRoots":
        """The same table with the `~` rows for more homes, and `also` as further roots.

        `also` is for a state or configuration directory that was moved.
        """
        rows = _bound(self.never_granted, map(_literal_path, homes))
        own = "Consentry's own ledger, keys and rules"
        rows += [ProtectedRoot(_as_tree(_literal_path(path)), own) for path in also]
        return replace(self, bound=(*self.bound, *rows))

    def over(self, asked: Pattern | AllOf) -> ProtectedRoot | None:
        """The row that contains all that is asked for: it cannot be granted."""
        entry = _entry(asked)
        return _row_over(self._rows_near(entry), entry)

    def _rows_near(self, entry: AllOf) -> tuple[ProtectedRoot, ...]:
        """The rows that begin with the same name, or with a wildcard."""
        names = {_first_name(pattern) for pattern in entry}
        if None in names or len(names) > 1:
            return (*self.never_granted, *self.bound)
        index = self._by_first_name
        return (*index.get(names.pop(), ()), *index.get(None, ()))

    def within(self, asked: Pattern | AllOf) -> tuple[ProtectedRoot, ...]:
        """The rows that it reaches into: an engine that grants it must hide these.

        What it matches may turn out to be a folder and then means all below, so it is asked about
        as one; the mark `ABSOLUTE_PATH` may be any absolute path, so it reaches into every such row.
        """
        entry, work = _entry(asked), Work(_MOST_WORK)
        rows = (*self.never_granted, *self.bound)
        if entry[0].anchor is Anchor.MARK:
            return tuple(row for row in rows if row.pattern.anchor is Anchor.ABSOLUTE)
        reach = tuple(map(_as_tree, entry))
        return tuple(
            row
            for row in rows
            if _may_meet(row.pattern, reach)
            and (_is_tree_over(reach, row.pattern) or find_path((row.reach, *reach), (), work))
        )

    def exception_for(self, asked: Pattern | AllOf) -> ProtectedRoot | None:
        """The read-only exception that contains all that is asked for, if an engine provides one."""
        return _row_over(self.exceptions, _entry(asked))

    def require_grantable(self, asked: Pattern) -> Pattern:
        """Returns the pattern, or raises `protected-root` naming the rule it falls under."""
        row = self.over(asked)
        if row is not None:
            raise Refused(
                Code.PROTECTED_ROOT,
                f"`{asked.text}` lies in `{row.pattern.text}`, which is never granted: {row.why}",
            )
        return asked


@lru_cache(maxsize=1)
def protected_roots() -> ProtectedRoots:
    """The table as shipped, bound to the places where homes usually are."""
    content = own_bytes("consentry.surface", _TABLE)
    table = tomllib.loads(content.decode())
    rows = _rows(table["protected"])
    return ProtectedRoots(
        identity=table["id"],
        version=table["version"],
        digest=digest_bytes(content),
        never_granted=rows,
        exceptions=_rows(table["exception"]),
        bound=tuple(_bound(rows, map(Pattern.parse, _USUAL_HOMES))),
    )


def _rows(sections: list[dict[str, object]]) -> tuple[ProtectedRoot, ...]:
    rows: list[ProtectedRoot] = []
    for section in sections:
        paths, why = section["paths"], section["why"]
        if not isinstance(paths, list) or not isinstance(why, str):
            raise TypeError(f"{_TABLE}: `paths` is a list and `why` a sentence")
        rows += [ProtectedRoot(Pattern.parse(path), why) for path in paths]
    return tuple(rows)


def _bound(rows: Iterable[ProtectedRoot], homes: Iterable[Pattern]) -> list[ProtectedRoot]:
    """The rows under `~`, once for each home."""
    own = [row for row in rows if row.pattern.anchor is Anchor.HOME]
    return [
        ProtectedRoot(home.with_segments((*home.segments, *row.pattern.segments)), row.why)
        for home in homes
        for row in own
    ]


def _literal_path(path: str) -> Pattern:
    """An absolute path as it stands, with any `*` in it being just that character."""
    if not path.startswith("/"):
        raise BadInput(Code.SURFACE_PATTERN, f"`{path}` is not an absolute path")
    names = posixpath.normpath(path).split("/")
    return Pattern.literal(Anchor.ABSOLUTE, tuple(name for name in names if name))


def _is_tree_over(reach: AllOf, row: Pattern) -> bool:
    """Whether one tree is asked for that contains the row: no search is needed to know."""
    return len(reach) == 1 and reach[0].is_tree and len(reach[0].prefix) <= len(row.prefix)


def _as_tree(pattern: Pattern) -> Pattern:
    if pattern.segments and pattern.segments[-1] is Wildcard.FOLDERS:
        return pattern
    return pattern.with_segments((*pattern.segments, Wildcard.FOLDERS))


def _first_name(pattern: Pattern) -> str | None:
    return pattern.prefix[0] if pattern.prefix else None


def _entry(asked: Pattern | AllOf) -> AllOf:
    return (asked,) if isinstance(asked, Pattern) else asked


def _row_over(rows: Iterable[ProtectedRoot], entry: AllOf) -> ProtectedRoot | None:
    work = Work(_MOST_WORK)
    for row in rows:
        if _may_meet(row.pattern, entry) and find_path(entry, ((row.reach,),), work) is None:
            return row
    return None


def _may_meet(row: Pattern, entry: AllOf) -> bool:
    """Whether the leading names agree wherever both spell them out; the cheap first look.

    A wildcard that stands for one name does not end the look: behind it the places still agree.
    """
    return row.anchor is entry[0].anchor and all(
        mine == theirs or not isinstance(mine, str)
        for pattern in entry
        for mine, theirs in zip(_of_fixed_place(row), pattern.prefix, strict=False)
    )


def _of_fixed_place(row: Pattern) -> Iterator[Segment]:
    """The names before the first `**`, after which a name may be at any place."""
    return takewhile(lambda segment: segment is not Wildcard.FOLDERS, row.segments)

"""Names that other programs obey, and that a run therefore does not get to write by the way.

The table is data beside this file. A path is held against it at any depth and in any spelling that
some file system takes for the same name: other case, invisible characters, the short and padded
names of Windows. A repository without `.git` in its path is known by the `HEAD` beside its files.

What it does not do: know every program that runs what it finds. Build files, package scripts and
tests are the workspace's own code; writing them is what a grant is for.
"""

import re
import tomllib
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase, translate
from functools import lru_cache
from importlib.resources import files
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.layer import FileType

_TABLE: Final = "configescapes.toml"
_IN_BARE_REPOSITORY: Final = ("hooks", "config", "config.worktree", "commondir")
_IGNORED_CATEGORIES: Final = frozenset({"Cf", "Mn", "Me"})
_REPOSITORY_MARK: Final = "head"
_SHORT_NAMES: Final = {"git~1": ".git", "gitmod~1": ".gitmodules"}


@dataclass(frozen=True, slots=True)
class Escape:
    """One name of the table: its parts in folded spelling, and why it is there."""

    parts: tuple[str, ...]
    why: str
    kinds: frozenset[FileType] | None = None
    is_never_lifted: bool = False

    @property
    def text(self) -> str:
        """As the table spells it."""
        return "/".join(self.parts)


@dataclass(frozen=True, slots=True)
class Hit:
    """A path that falls under a row: the row, and how many of its names make the row's own."""

    escape: Escape
    end: int


class ConfigEscapes:
    """The table, ready to be asked."""

    def __init__(self, escapes: Sequence[Escape]) -> None:
        self.escapes = tuple(escapes)
        self.longest = max((len(escape.parts) for escape in self.escapes), default=0)
        self._by_first: dict[str, list[Escape]] = {}
        self._wild: list[Escape] = []
        for escape in self.escapes:
            if "*" in escape.parts[0]:
                self._wild.append(escape)
            else:
                self._by_first.setdefault(escape.parts[0], []).append(escape)
        firsts = {escape.parts[0] for escape in self._wild}
        self._is_wild = re.compile("|".join(sorted(map(translate, firsts))) or r"\Z.").match

    def hits(
        self, names: Sequence[bytes], kind: FileType, *, beside_head: Sequence[int] = ()
    ) -> Iterator[Hit]:
        """The rows that a path falls under; `beside_head` are the names that lie beside a `HEAD`."""
        folded = [fold_name(name) for name in names]
        for start, name in enumerate(folded):
            for escape in (
                *self._by_first.get(name, ()),
                *(self._wild if self._is_wild(name) else ()),
            ):
                end = start + len(escape.parts)
                if escape.kinds is not None and (end < len(names) or kind not in escape.kinds):
                    continue
                if all(map(fnmatchcase, folded[start:end], escape.parts)) and end <= len(names):
                    yield Hit(escape, end)
            if start in beside_head and name in _IN_BARE_REPOSITORY:
                yield Hit(_BARE[name], start + 1)


_BARE: Final = {
    name: Escape((name,), "beside a HEAD file, git takes the folder for a repository and obeys it")
    for name in _IN_BARE_REPOSITORY
}


def is_repository_mark(name: bytes) -> bool:
    """Whether a file of that name makes git take its folder for a repository."""
    return fold_name(name) == _REPOSITORY_MARK


def is_of_repository(name: bytes) -> bool:
    """Whether git obeys a file or folder of that name beside such a mark."""
    return fold_name(name) in _IN_BARE_REPOSITORY


@lru_cache(maxsize=1)
def config_escapes() -> ConfigEscapes:
    """The table as shipped."""
    table = tomllib.loads(files("consentry.enforce").joinpath(_TABLE).read_text("utf-8"))
    return ConfigEscapes([escape for row in table["escape"] for escape in _read_row(row)])


def _read_row(row: dict[str, object]) -> Iterator[Escape]:
    names, why, kinds = row["names"], row["why"], row.get("kinds")
    if not isinstance(names, list) or not isinstance(why, str):
        raise TypeError(f"{_TABLE}: `names` is a list and `why` a sentence")
    only = frozenset(map(FileType, kinds)) if isinstance(kinds, list) else None
    for name in names:
        yield Escape(tuple(name.split("/")), why, only, row.get("never") is True)


@lru_cache(maxsize=4096)
def fold_name(name: bytes) -> str:
    """One spelling for all names that some file system takes for the same."""
    text = name.decode("utf-8", "surrogateescape")
    if not name.isascii():
        apart = unicodedata.normalize("NFKD", text)
        seen = (each for each in apart if unicodedata.category(each) not in _IGNORED_CATEGORIES)
        text = "".join(seen).casefold()
    text = text.lower()
    # Windows drops dots and spaces at the end, and what follows a colon is a stream of the file.
    plain = text.partition(":")[0].rstrip(" .") or text
    return _SHORT_NAMES.get(plain, plain)

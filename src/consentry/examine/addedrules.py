"""Rules that plugins add to extraction: tables of names, and functions that look at one file each.

Both only add. A table is read beside ours (`knowledge.added`); a function is given the path and the text
of a file, never what others found in it, and what it returns joins that. Whatever goes wrong in a
function (an exception, an answer that has not the form, too many of them) makes the file unclassified:
a rule that cannot answer is no reason to know less.

What a function prints in the main thread, where commands run, goes nowhere: what they say is their own.

Not promised: an end. A function runs in this process and may take as long as it likes.
"""

import io
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
from itertools import islice
from typing import Final, Protocol

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass, replace
from consentry.examine.atoms import (
    ANYTHING,
    NAMELESS,
    NOTHING_FOUND,
    Atom,
    Extraction,
    Found,
    Provenance,
    Unclassified,
    calling,
    joined,
    loading,
    reading,
    writing,
)
from consentry.examine.constanttargets import (
    algorithm_atom,
    host_atom,
    path_atoms,
    program_atom,
    variable_atom,
)
from consentry.surface.dimensions import Dimension, LoadLevel
from consentry.surface.lattice import check_tool_class

UNCLASSIFIED: Final = "UNCLASSIFIED"
"""In place of a dimension: something that may do anything, with the reason in place of a target."""

MOST_ROWS: Final = 10_000
"""Answers of one rule about one file; one that has more is not believed at all."""

_MOST_LINE: Final = 1 << 31
_MOST_REASON: Final = 200
_PARTS: Final = 3
_DIMENSIONS: Final = {each.value: each for each in Dimension}


class Look(Protocol):
    """A rule in Python; `name` is how evidence calls it."""

    @property
    def name(self) -> str: ...  # noqa: D102 - as the class says

    def examine(self, path: str, text: str) -> Iterable[tuple[str, str, int]]:
        """Dimension, target and line of each power that the file has."""
        ...


@dataclass(frozen=True, slots=True)
class AddedRules:
    """All rules of all plugins that count; `digest` names them in verdicts and caches."""

    tables: tuple[bytes, ...] = ()
    looks: tuple[Look, ...] = ()
    digest: Digest | None = None

    @property
    def only_tables(self) -> "AddedRules":
        """The same without the functions."""
        return replace(self, looks=())

    def extraction(self, path: str, content: bytes) -> Extraction:
        """What the functions say of one file; of one that is no text, nothing."""
        if not self.looks or b"\0" in content:
            return NOTHING_FOUND
        text = content.decode("utf-8", "replace")
        return joined(_looked(look, path, text, content) for look in self.looks)


NO_RULES: Final = AddedRules()


class _Nowhere(io.TextIOBase):
    """Takes whatever is printed, and keeps none of it."""

    def write(self, text: str, /) -> int:
        """As if it had been written."""
        return len(text)


def _looked(look: Look, path: str, text: str, content: bytes) -> Extraction:
    try:
        with _output_kept():
            rows = list(islice(look.examine(path, text), MOST_ROWS + 1))
        if len(rows) > MOST_ROWS:
            raise ValueError(f"more than {MOST_ROWS:,} answers")
        return _extraction(look.name, rows)
    except KeyboardInterrupt:  # a person's, as far as anybody can tell
        raise
    except BaseException as fault:  # noqa: BLE001 - whatever it is, nothing is known
        said = str(fault) if type(fault) in (ValueError, ConsentryError) else type(fault).__name__
        reason = f"rule {look.name} did not answer: {said[:_MOST_REASON]}"
        about = Unclassified(f"rule {look.name} {digest_bytes(content)}", 1, reason)
        return Extraction(unclassified=(about,))


def _output_kept() -> AbstractContextManager[object]:
    """Of threads that put the stream aside at once, one would put back what another had put there."""
    is_main = threading.current_thread() is threading.main_thread()
    return redirect_stdout(_Nowhere()) if is_main else nullcontext()


def _extraction(name: str, rows: list[tuple[str, str, int]]) -> Extraction:
    found: dict[Found, None] = {}
    doubts: dict[Unclassified, None] = {}
    for dimension, target, line in map(_checked, rows):
        if dimension == UNCLASSIFIED:
            reason = f"rule {name}: {target[:_MOST_REASON] or 'cannot tell'}"
            doubts[Unclassified(f"rule {name} {target}", line, reason)] = None
        else:
            for atom in _atoms(_DIMENSIONS[dimension], target):
                found[Found(atom, line, f"rule {name}", Provenance.PLUGIN)] = None
    return Extraction(tuple(found), tuple(doubts))


def _checked(row: object) -> tuple[str, str, int]:
    if not isinstance(row, tuple | list) or len(row) != _PARTS:
        raise ValueError("an answer is a dimension, a target and a line")
    dimension, target, line = row
    if not isinstance(dimension, str) or dimension not in (UNCLASSIFIED, *_DIMENSIONS):
        raise ValueError("an answer begins with a dimension, or `UNCLASSIFIED`")
    if not isinstance(target, str) or type(line) is not int or line > _MOST_LINE:
        raise ValueError("a target is a text, and a line is a number")
    # Whoever shows it counts from 1; a subclass of `str` could be another text each time.
    return str(dimension), "".join(target), max(line, 1)


def _atoms(dimension: Dimension, target: str) -> Iterator[Atom]:
    named = None if target in (NAMELESS, ANYTHING) else target
    if dimension is Dimension.FS_READ_ROOTS:
        yield from path_atoms(reading, named)
    elif dimension is Dimension.FS_WRITE_ROOTS:
        yield from path_atoms(writing, named)
    elif dimension is Dimension.DYNAMIC_CODE_LOAD:
        yield loading(_load_level(target))
    elif dimension is Dimension.TOOL_CLASSES:
        yield calling(check_tool_class(target))
    else:
        yield _LISTED[dimension](named)


def _load_level(target: str) -> LoadLevel:
    if target.upper() not in (LoadLevel.LIMITED, LoadLevel.ANY):
        raise ValueError("code is loaded `LIMITED` or `ANY`")
    return LoadLevel(target.upper())


_LISTED: Final[dict[Dimension, Callable[[str | None], Atom]]] = {
    Dimension.NET_ACCESS: host_atom,
    Dimension.PROC_EXEC: program_atom,
    Dimension.ENV_READ: variable_atom,
    Dimension.CRYPTO_PRIMITIVES: algorithm_atom,
}

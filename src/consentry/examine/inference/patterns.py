"""Words for what was detected: short, sorted, few, and the same for the same code.

They are told to people and kept with a capability, and code is written by strangers: what does not
show is replaced, and whoever shows them renders them as any other text of others.
"""

import re
from collections.abc import Iterable
from typing import Final

from consentry.examine.atoms import NAMELESS, SOMEWHERE, Atom
from consentry.examine.inference.inferred import MOST_LETTERS, MOST_PATTERNS
from consentry.surface.dimensions import Dimension
from consentry.surface.pattern import ABSOLUTE_PATH_MARK

_WORDS: Final = {
    Dimension.FS_READ_ROOTS: "read",
    Dimension.FS_WRITE_ROOTS: "write",
    Dimension.NET_ACCESS: "net",
    Dimension.ENV_READ: "env",
    Dimension.PROC_EXEC: "run",
}
_PATHS: Final = (Dimension.FS_READ_ROOTS, Dimension.FS_WRITE_ROOTS)
_CALLED: Final = re.compile(r"(?:new\s+)?\.?([A-Za-z_$][\w$.]{0,119})\s*[(\[]")
_OUTSIDE: Final = "outside"
_HIDDEN: Final = "\N{REPLACEMENT CHARACTER}"
_CUT: Final = "\N{HORIZONTAL ELLIPSIS}"


def called_name(reason: str) -> str | None:
    """What is called or looked into at a place that gives a power; None where it is only named."""
    found = _CALLED.match(reason)
    return None if found is None else found[1]


def pattern_of(atom: Atom) -> str:
    """`read:./data/a.csv`, `net:api.example.com:443`, `env:HOME`; without a target where none is known."""
    word = _WORDS[atom.dimension]
    target = _shown_path(atom.target) if atom.dimension in _PATHS else atom.target
    return word if target == NAMELESS else f"{word}:{target}"


def _shown_path(target: str) -> str:
    if target == ABSOLUTE_PATH_MARK:
        return _OUTSIDE
    if target in (SOMEWHERE, "."):
        return SOMEWHERE
    return target if target.startswith(("/", "~")) else f"./{target}"


def kept_patterns(important: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    """So many as are kept, sorted; what is important stays before others do."""
    first = sorted({_cleaned(each) for each in important})
    rest = sorted({_cleaned(each) for each in others} - set(first))
    return tuple(sorted([*first, *rest][:MOST_PATTERNS]))


def _cleaned(text: str) -> str:
    cut = text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 1]}{_CUT}"
    return cut if cut.isprintable() else "".join(x if x.isprintable() else _HIDDEN for x in cut)

"""A surface in words, for prompts, pages and reports.

Targets come from documents that strangers wrote: each is rendered through the one safe renderer and
set in backticks that it cannot close, so that none can pass for our own words.
"""

from typing import NamedTuple

from consentry.base.safetext import Letters
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import Gain, Surface, spellings, standing
from consentry.surface.quoting import listed, quoted


class _Phrases(NamedTuple):
    """How one dimension is spoken of: with targets, with any, with a list that names none."""

    named: str
    anything: str = ""
    unnamed: str = ""


_PHRASES = {
    Dimension.FS_READ_ROOTS: _Phrases("read {}"),
    Dimension.FS_WRITE_ROOTS: _Phrases("write {}"),
    Dimension.NET_ACCESS: _Phrases(
        "connect to {}", "connect to any host", "connect to hosts that are not named"
    ),
    Dimension.PROC_EXEC: _Phrases(
        "start {}", "start any program", "start programs that are not named"
    ),
    Dimension.ENV_READ: _Phrases(
        "see the environment variables {}",
        "see every environment variable",
        "see environment variables that are not named",
    ),
    Dimension.DYNAMIC_CODE_LOAD: _Phrases(
        "", "turn data into code at run time", "load modules by a fixed name at run time"
    ),
    Dimension.CRYPTO_PRIMITIVES: _Phrases(
        "use the cryptography {}", "use any cryptography", "use cryptography that is not named"
    ),
    Dimension.TOOL_CLASSES: _Phrases("use tools of the kinds {}"),
}
_CLOSED = {
    Dimension.FS_READ_ROOTS: "read files",
    Dimension.FS_WRITE_ROOTS: "write files",
    Dimension.NET_ACCESS: "reach the network",
    Dimension.PROC_EXEC: "start programs",
    Dimension.ENV_READ: "see environment variables",
}


def in_words(surface: Surface, letters: Letters = Letters.ANY) -> str:
    """One sentence: what it may do, then which of the usual powers it may not."""
    opened = {
        dimension: _power(
            dimension, standing(surface[dimension]), spellings(surface[dimension]), letters
        )
        for dimension in Dimension
    }
    powers = [words for words in opened.values() if words]
    closed = [words for dimension, words in _CLOSED.items() if not opened[dimension]]
    clauses = [f"may {words}" for words in powers]
    if closed:
        clauses.append(f"may not {listed(closed, 'or')}")
    return "; ".join(clauses)


def gain_in_words(gain: Gain, letters: Letters = Letters.ANY) -> str:
    """One line for one new power."""
    return _power(gain.dimension, gain.after, gain.added, letters)


def _power(
    dimension: Dimension,
    stands: str | tuple[str, ...],
    targets: tuple[str, ...],
    letters: Letters = Letters.ANY,
) -> str:
    phrases = _PHRASES[dimension]
    if targets:
        return phrases.named.replace("{}", quoted(targets, letters))
    if stands == Level.ANY:
        return phrases.anything
    return phrases.unnamed if stands in (Level.ALLOWLIST, LoadLevel.LIMITED) else ""

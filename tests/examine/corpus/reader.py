"""Reads what the samples say of themselves: small files, each with the powers it truly has.

A sample begins with comments, after a coding cookie if it has one:

    # must: NET_ACCESS, PROC_EXEC            it has these powers
    # must-any: PROC_EXEC, DYNAMIC_CODE_LOAD it has one of these at least, either name is right
    # must-not: FS_READ_ROOTS                it does not have these; ALL stands for every dimension
    # target: NET_ACCESS api.example.com:443 this very target is among what it reaches
    # unknown: yes                           nobody can tell: unreadable, or an import nobody knows

`must-any` is for what a careful reader may call either way: a program started by a name put together
so that reading it means running it. A sample whose bytes cannot hold readable comments has them in a
file beside it, `<name>.labels`. What a sample does not mention is not measured. `TOOL_CLASSES` is
never mentioned: it follows from the rest. Samples are read and never run.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from consentry.base.values import dataclass
from consentry.surface.dimensions import Dimension

SAMPLES = Path(__file__).parent / "python"
LABELLED = tuple(each for each in Dimension if each is not Dimension.TOOL_CLASSES)

_LABEL = re.compile(r"#\s*(must|must-any|must-not|target|unknown):\s*(.+?)\s*")
_MOST_LINES = 12


@dataclass(frozen=True, slots=True)
class Sample:
    """A file and what is true of it."""

    name: str
    content: bytes
    must: frozenset[Dimension]
    must_any: frozenset[Dimension]
    must_not: frozenset[Dimension]
    targets: frozenset[tuple[Dimension, str]]
    is_unknown: bool


def samples() -> tuple[Sample, ...]:
    """Every sample, by name."""
    return tuple(_read(path) for path in sorted(SAMPLES.rglob("*.py")))


def _read(path: Path) -> Sample:
    content = path.read_bytes()
    beside = path.with_suffix(".labels")
    found: dict[str, list[str]] = {}
    for name, value in _labels(beside.read_bytes() if beside.exists() else content):
        found.setdefault(name, []).append(value)
    name = path.relative_to(SAMPLES).as_posix()
    if not found:
        raise ValueError(f"{name} says nothing of itself")
    return Sample(
        name=name,
        content=content,
        must=_dimensions(found.get("must", [])),
        must_any=_dimensions(found.get("must-any", [])),
        must_not=_dimensions(found.get("must-not", [])),
        targets=frozenset(_target(value) for value in found.get("target", [])),
        is_unknown=found.get("unknown") == ["yes"],
    )


def _labels(content: bytes) -> Iterator[tuple[str, str]]:
    lines = content.removeprefix(b"\xef\xbb\xbf").decode("utf-8", errors="replace").split("\n")
    for line in lines[:_MOST_LINES]:
        if not line.startswith("#"):
            return
        label = _LABEL.fullmatch(line)
        if label is not None:
            yield label[1], label[2]


def _dimensions(values: list[str]) -> frozenset[Dimension]:
    if values == ["ALL"]:
        return frozenset(LABELLED)
    return frozenset(Dimension[word.strip()] for value in values for word in value.split(","))


def _target(value: str) -> tuple[Dimension, str]:
    dimension, _, target = value.partition(" ")
    return Dimension[dimension], target

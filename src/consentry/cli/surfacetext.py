"""Powers and where they stand, as rows for a person; every word of the code is made safe here."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from consentry.base.safetext import safe_line
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.examine.atoms import Atom
from consentry.examine.delta import Step
from consentry.examine.sides import Doubt, Sited
from consentry.examine.stepwords import step_in_words
from consentry.service.sources import NotRead
from consentry.service.surfaces import Examined
from consentry.surface.dimensions import Dimension
from consentry.surface.lattice import Surface, standing
from consentry.surface.sentence import in_words

MOST_POWERS = 8
MOST_PLACES = 3
_LONGEST = 240


def powers_text(output: Output, examined: Examined, *, shows_all: bool) -> Iterator[str]:
    """The surface in a sentence, then the evidence, dimension by dimension."""
    surface = examined.surface
    count = "1 file" if examined.files == 1 else f"{examined.files:,} files"
    yield from hanging("", safe_line(f"{examined.described}: {count}"))
    yield from hanging("", in_words(surface))
    most = None if shows_all else MOST_POWERS
    for dimension in Dimension:
        found = [each for each in examined.side.found if each.found.atom.dimension is dimension]
        if found:
            yield ""
            yield output.paint(_heading(dimension, surface), "bold")
            yield from _dimension(found, most, None if shows_all else MOST_PLACES)
    yield from doubts_text(output, "cannot be told", examined.side.doubts, most)
    yield from not_read_text(output, examined.not_read, most)


def _heading(dimension: Dimension, surface: Surface) -> str:
    stands = standing(surface[dimension])
    return f"{dimension.value}: {stands}" if isinstance(stands, str) else dimension.value


def _dimension(found: Sequence[Sited], most: int | None, places: int | None) -> Iterator[str]:
    ordered = sorted(found, key=lambda each: each.found.atom.target)
    powers = [
        (atom, list(sited)) for atom, sited in groupby(ordered, key=lambda each: each.found.atom)
    ]
    for atom, sited in powers[:most]:
        yield from hanging("  ", _power(atom))
        for each in sited[:places]:
            declared = " (declared)" if each.found.provenance.value == "declared" else ""
            said = f"{each.file}:{each.found.line}: {each.found.reason}{declared}"
            yield from hanging("    ", safe_line(said, limit=_LONGEST))
        yield from _rest("    ", len(sited), places, "places")
    yield from _rest("  ", len(powers), most, "powers")


def _power(atom: Atom) -> str:
    return step_in_words(Step(atom, "", "", "", "", 0, gained=True))


def steps_text(
    output: Output, title: str, steps: Sequence[Step], most: int | None
) -> Iterator[str]:
    """What was gained, or lost, each with its first place."""
    if not steps:
        return
    yield ""
    yield output.paint(f"{title} ({len(steps)})", "bold")
    for step in steps[:most]:
        yield from hanging("  ", step_in_words(step))
        said = f"{step.file}:{step.line}: {step.reason}"
        yield from hanging("    ", safe_line(said, limit=_LONGEST))
    yield from _rest("  ", len(steps), most, "powers")


def doubts_text(
    output: Output, title: str, doubts: Sequence[Doubt], most: int | None
) -> Iterator[str]:
    """What may hold any power."""
    if not doubts:
        return
    yield ""
    yield output.paint(f"{title} ({len(doubts)})", "bold")
    for doubt in doubts[:most]:
        said = f"{doubt.file}:{doubt.about.line}: {doubt.about.reason}"
        yield from hanging("  ", safe_line(said, limit=_LONGEST))
    yield from _rest("  ", len(doubts), most, "lines")


def not_read_text(output: Output, not_read: Sequence[NotRead], most: int | None) -> Iterator[str]:
    """What was left out on purpose."""
    if not not_read:
        return
    yield ""
    yield output.paint(f"not read ({len(not_read)})", "bold")
    for each in not_read[:most]:
        yield from hanging("  ", safe_line(f"{each.path}: {each.why.value}", limit=_LONGEST))
    yield from _rest("  ", len(not_read), most, "lines")


def _rest(start: str, count: int, most: int | None, what: str) -> Iterator[str]:
    if most is not None and count > most:
        left = count - most
        noun = what.removesuffix("s") if left == 1 else what
        yield f"{start}and {left} more {noun}: --all lists {'it' if left == 1 else 'them'}"


def doubts_json(doubts: Iterable[Doubt]) -> list[dict[str, object]]:
    """For scripts."""
    return [
        {"file": each.file, "line": each.about.line, "reason": each.about.reason} for each in doubts
    ]


def not_read_json(not_read: Iterable[NotRead]) -> list[dict[str, object]]:
    """For scripts."""
    return [{"path": each.path, "why": each.why.value} for each in not_read]

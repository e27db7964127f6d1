"""How well the extractor for Python knows powers (GUARD §extract-1): measured on labelled samples.

The samples lie in `corpus/python`, one construct each: look-alikes that have no power, plain uses,
evasions, and files that nobody can judge. Their labels say what is true, not what the extractor says.
"""

import ast
import functools
import sys
import warnings
from collections.abc import Iterator

import pytest

from consentry.base.values import dataclass
from consentry.examine.atoms import Extraction
from consentry.examine.python.extract import extract_python
from consentry.surface.dimensions import Dimension
from tests.examine.corpus.reader import LABELLED, Sample, samples

SAMPLES = samples()
LEAST = 0.97

DEEP = {
    "parentheses": b"(" * 3000 + b"eval" + b")" * 3000,
    "brackets": b"x = " + b"[" * 3000 + b"]" * 3000,
    "attributes": b"x = a" + b".b" * 50_000,
    "calls": b"x = a" + b"()" * 50_000,
    "additions": b"x = " + b"1+" * 50_000 + b"1",
    "nots": b"x = " + b"not " * 50_000 + b"1",
    "blocks": b"".join(b" " * depth + b"if x:\n" for depth in range(99)) + b" " * 99 + b"eval('1')",
    "lambdas": b"x = " + b"lambda: " * 20_000 + b"1",
}


@dataclass(frozen=True, slots=True)
class Count:
    """How often a power was found where it is, missed, and found where it is not."""

    what: str
    right: tuple[str, ...]
    missed: tuple[str, ...]
    invented: tuple[str, ...]

    @property
    def recall(self) -> float:
        """Of those that are there, the share that was found."""
        return _share(len(self.right), len(self.missed))

    @property
    def precision(self) -> float:
        """Of those that were found, the share that is there."""
        return _share(len(self.right), len(self.invented))

    def __str__(self) -> str:
        found = f"{len(self.right):>6} {len(self.missed):>6} {len(self.invented):>8}"
        return f"{self.what:<18} {found} {self.recall:>7.3f} {self.precision:>9.3f}"


@functools.cache
def extracted(content: bytes) -> Extraction:
    """What the extractor says; asked once for each sample."""
    return extract_python(content)


def found_in(extraction: Extraction) -> frozenset[Dimension]:
    """The dimensions that labels speak of, as far as they were found."""
    return frozenset(each.atom.dimension for each in extraction.found) & frozenset(LABELLED)


def is_unknown(extraction: Extraction) -> bool:
    """Whether something in it keeps the guard from judging."""
    strange = any(not each.is_known and not each.level for each in extraction.imports)
    return strange or bool(extraction.unclassified)


def counted(dimension: Dimension) -> Count:
    """The measure of one dimension over all samples that speak of it."""
    right: list[str] = []
    missed: list[str] = []
    invented: list[str] = []
    for sample in SAMPLES:
        is_found = dimension in found_in(extracted(sample.content))
        if dimension in sample.must:
            (right if is_found else missed).append(sample.name)
        elif dimension in sample.must_not and is_found:
            invented.append(sample.name)
    return Count(dimension.value, tuple(right), tuple(missed), tuple(invented))


def counted_either() -> Count:
    """The same for what has one power of several, whichever of them is named."""
    named = [sample for sample in SAMPLES if sample.must_any]
    right = {
        sample.name for sample in named if sample.must_any & found_in(extracted(sample.content))
    }
    missed = {sample.name for sample in named} - right
    return Count("one of several", tuple(sorted(right)), tuple(sorted(missed)), ())


def _parses(sample: Sample) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ast.parse(sample.content)
        except (SyntaxError, ValueError):
            return False
    return True


def _share(hits: int, faults: int) -> float:
    return hits / (hits + faults) if hits + faults else 1.0


def _faults(counts: list[Count]) -> Iterator[str]:
    for count in counts:
        yield from (f"missed   {count.what:<18} {name}" for name in count.missed)
        yield from (f"invented {count.what:<18} {name}" for name in count.invented)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_has_the_powers_that_it_has(sample: Sample) -> None:
    """GUARD §extract-1: what is there is found, with its targets; what is not there is not."""
    extraction = extracted(sample.content)
    found = found_in(extraction)
    targets = {(each.atom.dimension, each.atom.target) for each in extraction.found}
    assert sample.must <= found
    assert not sample.must_any or sample.must_any & found
    assert not sample.must_not & found
    assert sample.targets <= targets


@pytest.mark.parametrize(
    "sample", [each for each in SAMPLES if each.is_unknown], ids=lambda sample: sample.name
)
def test_what_nobody_can_judge_is_unknown(sample: Sample) -> None:
    """GUARD §extract-closed: an unreadable file, or an import that no table knows, passes never."""
    assert is_unknown(extracted(sample.content))


@pytest.mark.parametrize(
    "sample",
    [each for each in SAMPLES if each.name.startswith("benign/")],
    ids=lambda sample: sample.name,
)
def test_a_look_alike_is_not_called_unknown(sample: Sample) -> None:
    """GUARD §decide-pass: everyday code on everyday modules can be judged, and passes."""
    assert not is_unknown(extracted(sample.content))


def test_few_powers_are_missed_and_few_invented(capsys: pytest.CaptureFixture[str]) -> None:
    """GUARD §extract-1: recall and precision over all samples, and per dimension as a table."""
    counts = [*map(counted, LABELLED), counted_either()]
    right = sum(len(count.right) for count in counts)
    recall = _share(right, sum(len(count.missed) for count in counts))
    precision = _share(right, sum(len(count.invented) for count in counts))
    report = [
        f"\n{len(SAMPLES)} samples",
        f"{'':<18} {'right':>6} {'missed':>6} {'invented':>8} {'recall':>7} {'precision':>9}",
        *map(str, counts),
        f"{'all':<18} {right:>6} {'':>6} {'':>8} {recall:>7.3f} {precision:>9.3f}",
        *_faults(counts),
    ]
    with capsys.disabled():
        sys.stdout.write("\n".join(report) + "\n")
    assert recall >= LEAST
    assert precision >= LEAST


def test_every_sample_parses_or_is_labelled_unknown() -> None:
    """A sample with a slip of the pen would measure nothing."""
    assert [sample.name for sample in SAMPLES if not (sample.is_unknown or _parses(sample))] == []


@pytest.mark.parametrize("name", DEEP)
def test_deep_nesting_is_read_or_unknown(name: str) -> None:
    """GUARD §extract-closed: depth neither crashes the extractor nor hides a power from it."""
    extraction = extract_python(DEEP[name])
    hidden = b"eval" in DEEP[name]
    found = Dimension.DYNAMIC_CODE_LOAD in found_in(extraction)
    assert is_unknown(extraction) or found is hidden


def test_the_corpus_is_as_large_as_promised() -> None:
    """GUARD §extract-1: look-alikes, plain uses, evasions by the hundred, and the unreadable."""
    sizes = {
        kind: sum(sample.name.startswith(f"{kind}/") for sample in SAMPLES)
        for kind in ("benign", "plain", "evasion", "unknown")
    }
    assert sizes["benign"] >= 150
    assert sizes["plain"] >= 90
    assert sizes["evasion"] >= 220
    assert sizes["unknown"] >= 10

"""One way to print a measurement: what, how long, next to what, the ratio, the target."""

from collections.abc import Callable
from dataclasses import dataclass
from statistics import quantiles
from time import perf_counter_ns


@dataclass(frozen=True, slots=True)
class Sample:
    """Repeated measurements of one thing, in nanoseconds."""

    name: str
    nanoseconds: tuple[int, ...]

    @property
    def p50(self) -> float:
        """The median."""
        return quantiles(self.nanoseconds, n=20)[9]

    @property
    def p95(self) -> float:
        """What nineteen in twenty stay under."""
        return quantiles(self.nanoseconds, n=20)[18]


def interleaved(rounds: int, **subjects: Callable[[], object]) -> dict[str, Sample]:
    """Measures several things in turn, so that a busy moment hits all of them alike."""
    taken: dict[str, list[int]] = {name: [] for name in subjects}
    for subject in subjects.values():
        subject()
    for _ in range(rounds):
        for name, subject in subjects.items():
            begun = perf_counter_ns()
            subject()
            taken[name].append(perf_counter_ns() - begun)
    return {name: Sample(name, tuple(values)) for name, values in taken.items()}


def per_call(repeats: int, calls: int, subject: Callable[[], object]) -> Sample:
    """The time of one call of something too quick to measure alone."""
    taken: list[int] = []
    for _ in range(repeats):
        begun = perf_counter_ns()
        for _ in range(calls):
            subject()
        taken.append((perf_counter_ns() - begun) // calls)
    return Sample("", tuple(taken))


def heading(text: str) -> None:
    """The title of one bench."""
    print(f"\n{text}\n{'-' * len(text)}")


def row(name: str, sample: Sample, base: Sample | None = None, target: float | None = None) -> bool:
    """Prints one line; returns whether its target is met (true when it has none)."""
    line = f"{name:<44} p50 {shown(sample.p50):>9}  p95 {shown(sample.p95):>9}"
    met = True
    if base is not None:
        ratio = sample.p50 / base.p50
        line += f"  {ratio:7.2f} x"
        if target is not None:
            met = ratio <= target
            line += f"  target <= {target} x: {'met' if met else 'NOT MET'}"
    print(line)
    return met


def within(name: str, sample: Sample, milliseconds: float) -> bool:
    """Prints one line with a target of its own; returns whether the median stays under it."""
    is_met = sample.p50 <= milliseconds * 1e6
    line = f"{name:<44} p50 {shown(sample.p50):>9}  p95 {shown(sample.p95):>9}"
    print(f"{line}  target <= {milliseconds} ms: {'met' if is_met else 'NOT MET'}")
    return is_met


def shown(nanoseconds: float) -> str:
    """A time with the unit that reads best."""
    for unit, size in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if nanoseconds >= size:
            return f"{nanoseconds / size:.2f} {unit}"
    return f"{nanoseconds:.0f} ns"

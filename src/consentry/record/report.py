"""What audit entries add up to over a period (CONSENT §audit-5): counts that each can be traced back.

Entries come one by one, each in its final form, and are let go of: what is kept of them are counts, the
durations of each tool, and the names of powers. An entry past the `retainLogs` of its tool is only counted
as such. Every run counts; those whose `auditConfig.includeInReport` is true are listed besides, which is
the work of whoever writes the report. Pure: the present goes in.
"""

from collections import Counter, deque
from collections.abc import Mapping
from typing import Any, Final

from consentry.base.clock import Instant
from consentry.base.errors import BadInput
from consentry.base.units import Duration
from consentry.base.values import dataclass, field
from consentry.record.auditfields import ConsentMethod, ExecutionStatus
from consentry.record.reportpowers import PowerTally, ToolPowers

OWN_LINE: Final = "own line"
"""In place of a level, where a person's own command line decided."""
NO_LEVEL: Final = "not known"
LEVELS: Final = ("none", "implicit", "explicit", "strict", OWN_LINE, NO_LEVEL)
MOST_SLOW: Final = 20
MOST_NOTABLE: Final = 50

_HOUR: Final = 3_600_000
_DAY: Final = 24 * _HOUR
_WIDTHS: Final = (_HOUR, _DAY, 7 * _DAY, 28 * _DAY, 364 * _DAY)
_MOST_BUCKETS: Final = 100

GROUPS: Final[Mapping[str, tuple[ExecutionStatus, ...]]] = {
    "success": (ExecutionStatus.SUCCESS,),
    "failure": (ExecutionStatus.FAILURE,),
    "stopped": (ExecutionStatus.TIMEOUT, ExecutionStatus.KILLED, ExecutionStatus.LIMIT),
    "discarded": (ExecutionStatus.DISCARDED,),
    "not run": (ExecutionStatus.DENIED, ExecutionStatus.NOT_STARTED),
}
"""How a run ended, in as few words as a chart has colours for."""

_GROUP_OF: Final = {status.value: name for name, each in GROUPS.items() for status in each}


@dataclass(frozen=True, slots=True)
class Period:
    """From `since` to before `until`, seen at `now`; `tool` narrows it to one."""

    since: Instant
    until: Instant
    now: Instant
    tool: str | None = None

    @property
    def width_ms(self) -> int:
        """How long a step of the chart is: the shortest that makes no more than a hundred."""
        span = max(1, self.until.unix_ms - self.since.unix_ms)
        return next((each for each in _WIDTHS if span / each < _MOST_BUCKETS), _WIDTHS[-1])

    def step_of(self, at: Instant) -> int:
        """The step that a moment is in, by its beginning."""
        return at.unix_ms - at.unix_ms % self.width_ms

    def steps(self) -> range:
        """The beginnings of all steps, each on a whole hour or day in UTC."""
        return range(self.step_of(self.since), max(self.until.unix_ms, 1), self.width_ms)


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the chart: how the runs ended that were recorded in it."""

    start: Instant
    counts: Mapping[str, int]

    @property
    def total(self) -> int:
        """All of them."""
        return sum(self.counts.values())


@dataclass(frozen=True, slots=True)
class Decisions:
    """How often it was yes and no, for one level or method."""

    word: str
    given: int
    refused: int

    @property
    def total(self) -> int:
        """Both together."""
        return self.given + self.refused


@dataclass(frozen=True, slots=True)
class ViolationKind:
    """Refused operations of one kind: how many attempts, in how many runs."""

    operation: str
    times: int
    runs: int


@dataclass(frozen=True, slots=True)
class ToolTimes:
    """How long the runs of one tool took, in milliseconds; `slowest_id` is the entry of the longest."""

    tool: str
    runs: int
    median_ms: int
    ninth_ms: int
    slowest_ms: int
    slowest_id: str


@dataclass(frozen=True, slots=True)
class Notable:
    """An entry that deserves a look: it did not end well, or tried what it may not."""

    entry_id: str
    at: str
    tool: str
    status: str
    violations: int
    is_listed: bool


@dataclass(frozen=True, slots=True)
class Report:
    """All counts of a period; every sum of a part is `runs`."""

    period: Period
    runs: int
    listed: int
    past_retention: int
    statuses: Mapping[str, int]
    over_time: tuple[Step, ...]
    levels: tuple[Decisions, ...]
    methods: tuple[Decisions, ...]
    violations: tuple[ViolationKind, ...]
    runs_with_violations: int
    runs_incomplete: int
    powers: tuple[ToolPowers, ...]
    slowest: tuple[ToolTimes, ...]
    notable: tuple[Notable, ...]

    @property
    def unlisted(self) -> int:
        """Runs that count and are not listed: of tools that ask for that, and of command lines."""
        return self.runs - self.listed


@dataclass(slots=True)
class _Times:
    spans: list[int] = field(default_factory=list)
    slowest_ms: int = -1
    slowest_id: str = ""

    def add(self, span: int, entry_id: str) -> None:
        self.spans.append(span)
        if span > self.slowest_ms:
            self.slowest_ms, self.slowest_id = span, entry_id


class Tally:
    """Counts entries; `finished` gives the report."""

    def __init__(self, period: Period) -> None:
        self.period = period
        self.past_retention = 0
        self._runs = 0
        self._listed = 0
        self._statuses: Counter[str] = Counter()
        self._steps: dict[int, Counter[str]] = {}
        self._levels: dict[str, Counter[bool]] = {}
        self._methods: dict[str, Counter[bool]] = {}
        self._attempts: Counter[str] = Counter()
        self._runs_with: Counter[str] = Counter()
        self._violating = 0
        self._incomplete = 0
        self._powers: dict[str, PowerTally] = {}
        self._times: dict[str, _Times] = {}
        self._notable: deque[Notable] = deque(maxlen=MOST_NOTABLE)

    def counts(self, entry: Mapping[str, Any]) -> bool:
        """Whether it belongs here; one that its tool does not keep so long is counted apart."""
        if self.period.tool is not None and entry["tool"]["name"] != self.period.tool:
            return False
        if is_past_retention(entry, self.period.now):
            self.past_retention += 1
            return False
        return True

    def add(self, entry: Mapping[str, Any], surface: object = None) -> None:
        """The next entry in its final form, and the surface of its permit where there is one."""
        self._runs += 1
        self._listed += is_listed(entry)
        status = str(entry["execution"]["status"])
        self._statuses[status] += 1
        at = Instant.parse(str(entry["timestamp"]))
        self._steps.setdefault(self.period.step_of(at), Counter())[_GROUP_OF[status]] += 1
        user = entry["user"]
        is_given = bool(user["consentGiven"])
        self._levels.setdefault(level_of(entry), Counter())[is_given] += 1
        self._methods.setdefault(str(user["consentMethod"]), Counter())[is_given] += 1
        self._add_violations(entry["sandbox"])
        name = str(entry["tool"]["name"])
        attempts = len(entry["sandbox"]["violations"])
        if attempts or status != ExecutionStatus.SUCCESS:
            about = (str(entry["id"]), str(at), name, status, attempts)
            self._notable.append(Notable(*about, is_listed(entry)))
        if "auditConfig" in entry["tool"] and entry.get("permitId") is not None:
            self._powers.setdefault(name, PowerTally(name)).add(entry, surface)
        span = span_ms(entry)
        if span is not None:
            self._times.setdefault(name, _Times()).add(span, str(entry["id"]))

    def _add_violations(self, sandbox: Mapping[str, Any]) -> None:
        found = sandbox["violations"]
        for each in found:
            self._attempts[str(each["operation"])] += int(each.get("times", 1))
        self._runs_with.update({str(each["operation"]) for each in found})
        self._violating += bool(found)
        self._incomplete += not sandbox.get("violationsComplete", True)

    def finished(self) -> Report:
        """The report of what was counted."""
        period = self.period
        steps = sorted({*period.steps(), *self._steps})
        return Report(
            period,
            self._runs,
            self._listed,
            self.past_retention,
            {s.value: self._statuses[s.value] for s in ExecutionStatus if self._statuses[s.value]},
            tuple(Step(Instant(at), dict(self._steps.get(at, {}))) for at in steps),
            _decisions(self._levels, LEVELS),
            _decisions(self._methods, tuple(each.value for each in ConsentMethod)),
            tuple(
                ViolationKind(operation, times, self._runs_with[operation])
                for operation, times in sorted(self._attempts.items(), key=lambda e: (-e[1], e[0]))
            ),
            self._violating,
            self._incomplete,
            tuple(self._powers[name].finished() for name in sorted(self._powers)),
            _slowest(self._times),
            tuple(reversed(self._notable)),
        )


def _decisions(
    found: Mapping[str, Mapping[bool, int]], order: tuple[str, ...]
) -> tuple[Decisions, ...]:
    words = [*(each for each in order if each in found), *sorted(set(found) - set(order))]
    return tuple(Decisions(word, found[word][True], found[word][False]) for word in words)


def _slowest(times: Mapping[str, _Times]) -> tuple[ToolTimes, ...]:
    rows = []
    for name, each in times.items():
        spans = sorted(each.spans)
        median, ninth = spans[(len(spans) - 1) // 2], spans[(len(spans) - 1) * 9 // 10]
        rows.append(ToolTimes(name, len(spans), median, ninth, each.slowest_ms, each.slowest_id))
    return tuple(sorted(rows, key=lambda row: (-row.median_ms, row.tool))[:MOST_SLOW])


def level_of(entry: Mapping[str, Any]) -> str:
    """The level at which it was decided; a command line has none, and an early refusal does not know it."""
    user = entry["user"]
    if "level" in user:
        return str(user["level"])
    return OWN_LINE if user["consentMethod"] == ConsentMethod.COMMAND_LINE else NO_LEVEL


def is_listed(entry: Mapping[str, Any]) -> bool:
    """Whether its tool wants it in reports."""
    config = entry["tool"].get("auditConfig")
    return config is not None and bool(config.get("includeInReport"))


def is_past_retention(entry: Mapping[str, Any], now: Instant) -> bool:
    """Whether it is older than its tool keeps entries; what is no span counts as none."""
    span = (entry["tool"].get("auditConfig") or {}).get("retainLogs")
    if span is None:
        return False
    try:
        kept = Duration.parse(str(span))
    except BadInput:
        return False
    return Instant.parse(str(entry["timestamp"])).unix_ms + kept.milliseconds < now.unix_ms


def span_ms(entry: Mapping[str, Any]) -> int | None:
    """How long it ran; None where it did not."""
    start, end = entry["execution"]["startTime"], entry["execution"]["endTime"]
    if start is None or end is None:
        return None
    return max(0, Instant.parse(str(end)).unix_ms - Instant.parse(str(start)).unix_ms)

"""What a covered call of a tool costs: from the call to the spent permit, and as a whole command.

Warm is a program that has called the tool before: everything is there but the sandbox itself, with an
engine that takes its permit and starts nothing. The disk that the permit is written to is most of it,
so a bare append and sync of as many bytes stands beside it. Cold is the command, from its first
instruction to its end, beside the interpreter it runs on. Both are measured again with ten thousand
earlier runs and consents of the same tool in the ledger: what was is not looked through.
"""

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from time import perf_counter_ns, sleep

from bench.report import Sample, heading, interleaved, row, within
from bench.toolplace import CALL, ToolPlace, quiet_status, tool_place
from consentry.base.units import Duration
from consentry.decide.lasting import Lasts
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement
from consentry.enforce.engine import Outcome, Probe
from consentry.enforce.engines.ground import EngineGround
from consentry.enforce.engines.interface import Compiled, Engine
from consentry.enforce.engines.registry import made_engine
from consentry.enforce.native.probe import Trial
from consentry.enforce.native.streamends import Io
from consentry.enforce.sealing import SealedFile
from consentry.record.envelope import EVENT_PREFIX, Draft
from consentry.record.events import EventType
from consentry.service.audit import whole_event
from consentry.service.consenting import consents_of
from consentry.service.enginechoice import EngineDesk
from consentry.service.kepttools import KeptTools
from consentry.service.tooldecisions import NOBODY_HERE, ToolDecisions
from consentry.service.toolruns import ToolRunner, ToolWish
from consentry.store.history import EventFilter

WARM_ROUNDS, COLD_ROUNDS, EARLIER = 200, 40, 10_000
WARM_MS, COLD_TARGET, GROWN_TARGET = 3.0, 8.0, 1.2
_APPENDED = b"\0" * 12_288
_AT_A_TIME, _THREADS = 500, 16


class _NothingStarted(BaseException):
    """The permit is spent, and the measurement over."""


class _Takes(Engine):
    """An engine that compiles as the real one does, takes the permit, and starts nothing."""

    def __init__(self, real: Engine) -> None:
        self._real = real
        self.spent_at = 0

    @property
    def name(self) -> str:
        return self._real.name

    def missing(self) -> str | None:
        return self._real.missing()

    def probe(self) -> Probe:
        return self._real.probe()

    def try_out(self) -> Trial:
        return self._real.try_out()

    def compile(self, wanted: Confinement) -> Compiled:
        return self._real.compile(wanted)

    def is_current(self, plan: Compiled) -> bool:
        return self._real.is_current(plan)

    def launch(
        self, _: Compiled, permitted: Callable[[], Permit], __: Sequence[SealedFile], ___: Io
    ) -> Outcome:
        permitted()
        self.spent_at = perf_counter_ns()
        raise _NothingStarted

    def close(self) -> None:
        self._real.close()


class _WarmCalls:
    """A program that calls the tool again and again."""

    def __init__(self, place: ToolPlace) -> None:
        self._engines: dict[str, _Takes] = {}
        kept = KeptTools(self._desk)
        self._runner = ToolRunner(place.journal, place.around, NOBODY_HERE, ToolWish(), kept)
        self.taken: list[int] = []

    @contextmanager
    def _desk(self, ground: EngineGround) -> Iterator[EngineDesk]:
        def engine(name: str) -> Engine:
            if name not in self._engines:
                self._engines[name] = _Takes(made_engine(name, ground))
            return self._engines[name]

        yield EngineDesk(engine)

    def call(self) -> None:
        """One, up to the moment in which its permit is spent."""
        begun = perf_counter_ns()
        with suppress(_NothingStarted):
            self._runner.run(CALL, _no_streams)
        self.taken.append(max(each.spent_at for each in self._engines.values()) - begun)

    def sample(self) -> Sample:
        """What was taken since the last time."""
        taken, self.taken = self.taken, []
        return Sample("warm", tuple(taken))

    def close(self) -> None:
        """Ends the engines."""
        for each in self._engines.values():
            each.close()


@contextmanager
def _no_streams(_: str) -> Iterator[Io]:
    yield Io()


def run() -> bool:
    """Prints the tables; returns whether every target is met."""
    heading("calls of a tool with a remembered consent")
    with tool_place() as place:
        calls = _WarmCalls(place)
        try:
            warm, disk, route = _warm(place, calls)
            met = [_told(warm, disk), _cold(place)]
            _grow(place)
            grown, disk, route_grown = _warm(place, calls)
        finally:
            calls.close()
        row(f"the same after {EARLIER} earlier runs", grown)
        row("  of that, the disk alone", disk)
        met.append(row("its decision, beside the first", route_grown, route, GROWN_TARGET))
        return all(met)


def _warm(place: ToolPlace, calls: _WarmCalls) -> tuple[Sample, Sample, Sample]:
    file = place.state / "beside"
    kept = KeptTools(calls._desk)  # noqa: SLF001 - the bench's own
    ready = kept.ready(CALL, place.around, place.journal)
    decisions = ToolDecisions(place.journal, place.around, NOBODY_HERE)
    with file.open("ab", buffering=0) as beside:

        def append() -> None:
            beside.write(_APPENDED)
            os.fdatasync(beside.fileno())

        for _ in range(10):
            calls.call()
        calls.sample()
        samples = interleaved(
            WARM_ROUNDS, calls=calls.call, disk=append, route=lambda: decisions.route(ready)
        )
    return calls.sample(), samples["disk"], samples["route"]


def _told(warm: Sample, disk: Sample) -> bool:
    met = within("from the call to the spent permit", warm, WARM_MS)
    row("  of that, the disk alone: append and sync", disk)
    without = Sample("", tuple(map(int.__sub__, warm.nanoseconds[1:], disk.nanoseconds)))
    row("  what is left without it", without)
    return met


def _cold(place: ToolPlace) -> bool:
    python = sys.executable
    command = str(Path(python).with_name("consentry"))
    before = Path.cwd()
    os.chdir(place.project)
    try:
        samples = interleaved(
            COLD_ROUNDS,
            bare=lambda: quiet_status([python, "-I", "-c", "pass"], place),
            imports=lambda: quiet_status([python, "-I", "-c", "import consentry.cli.run"], place),
            run=lambda: quiet_status([command, "run", CALL.tool], place),
        )
    finally:
        os.chdir(before)
    row("python3 -I -c pass", samples["bare"])
    row("python3 -I -c 'import consentry.cli.run'", samples["imports"], samples["bare"])
    return row("consentry run noop, cold", samples["run"], samples["bare"], COLD_TARGET)


def _grow(place: ToolPlace) -> None:
    """As many more runs, and as many more consents, all of which have expired."""
    journal, consents = place.journal, consents_of(place.journal)
    wanted = EventFilter(subject=f"tool:{CALL.tool}", type=EventType.TOOL_AUDIT.value)
    entry = whole_event(journal.ledger.history.latest(wanted, 1)[0])["payload"]
    [given] = consents.recent(CALL.tool, 1)
    if not isinstance(entry, dict):
        raise TypeError("the ledger has no run to copy")
    for _ in range(EARLIER // _AT_A_TIME):
        journal.ledger.append(*(_run(place, entry) for _ in range(_AT_A_TIME)))

    def give(_: int) -> None:
        soon = journal.clock.now().plus(Duration(1000))
        terms = replace(given.terms, lasts=Lasts.UNTIL, request_id=None, expires_at=soon)
        consents.give(terms)

    with ThreadPoolExecutor(_THREADS) as givers:
        list(givers.map(give, range(EARLIER)))
    sleep(2)


def _run(place: ToolPlace, entry: dict[str, object]) -> Draft:
    journal = place.journal
    audit_id = journal.ids.new("audit")
    return Draft(
        journal.ids.new(EVENT_PREFIX),
        EventType.TOOL_AUDIT,
        journal.clock.now(),
        f"tool:{CALL.tool}",
        journal.context,
        {**entry, "id": audit_id},  # type: ignore[dict-item]
    )

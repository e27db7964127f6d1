"""GO or NO-GO, from the events of a ledger in one pass (CONTRACTS §4).

Rows come one by one in the order of time (then of writer, then of place in the chain) and are let go of.
The window is `[since, until)`: what lies outside of it counts nowhere, but for four things. From before it
an approval is an approval, and a violation that nobody resolved is still one; a resolution counts whenever
it came behind its violation; and what was archived may have been taken out of the window later.

The verdict is GO only when every gate is met, every sample floor is reached and nothing is wrong with the
evidence itself: an event without its tags, a row that is no event of its type, a chain that does not
verify, events of the window that are in an archive. The same ledger and the same `until` give the same
answer, to the byte.
"""

from collections.abc import Iterable
from typing import Final

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.errors import BadInput
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.record.archiverecord import record_in
from consentry.record.chain import ChainFault, ChainRow, event_fields
from consentry.record.events import EventType
from consentry.record.signoffattempts import AttemptTally
from consentry.record.signoffcertification import CertificationTally
from consentry.record.signoffevents import (
    EVIDENCE,
    VIOLATING,
    Evidence,
    Unreadable,
    glance,
    is_violation,
    read_event,
    tag_problem,
)
from consentry.record.signoffgates import Floor, Gate, GateStatus
from consentry.record.signoffmodules import ModuleTally
from consentry.record.signoffstates import MakeStates, StatesInMemory
from consentry.record.signoffviolations import ViolationTally

SCHEMA_VERSION: Final = "signoff/v1"
MOST_PROBLEMS: Final = 1000
"""How many failures of integrity are listed; all are counted."""

_ORDER: Final = (
    "H-KPI-1", "H-KPI-2", "H-KPI-3", "H-SLO-4", "S-SLO-1", "S-SLO-2", "S-SLO-3",
    "S000-APPROVAL", "S000-ROLLBACK",
)  # fmt: skip
_FLOORS: Final = (
    "sessions", "approvals", "transactions", "rollbacks", "rollbacks-after-partial",
)  # fmt: skip
_USED_FROM_BEFORE: Final = frozenset(
    {
        EventType.ESCALATION_APPROVED,
        EventType.TRANSACTION_TRANSITION,
        EventType.SIGNOFF_RESOLVED,
        *VIOLATING,
    }
)
_APPROVED_STEP: Final = b'"nextState":"APPROVED"'


@dataclass(frozen=True, slots=True)
class SignoffWindow:
    """From `since` to before `until`."""

    since: Instant
    until: Instant

    @classmethod
    def ending(cls, until: Instant, span: Duration) -> "SignoffWindow":
        """The window of that length that ends there."""
        return cls(Instant(max(0, until.unix_ms - span.milliseconds)), until)

    def to_json(self) -> dict[str, Json]:
        """As the document has it."""
        return {"since": str(self.since), "until": str(self.until)}


@dataclass(frozen=True, slots=True)
class Integrity:
    """Something that is wrong with the evidence, and the event or the place that it is about."""

    kind: str
    why: str
    event_id: str | None = None
    event_type: str | None = None
    writer: str | None = None
    seq: int | None = None
    missing: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Json]:
        """As the document has it."""
        return {
            "kind": self.kind,
            "why": self.why,
            "eventId": self.event_id,
            "type": self.event_type,
            "writer": self.writer,
            "seq": self.seq,
            "tags": list(self.missing),
        }


@dataclass(frozen=True, slots=True)
class SignoffAnswer:
    """The verdict, and everything that it was taken from."""

    window: SignoffWindow
    events: int
    gates: tuple[Gate, ...]
    floors: tuple[Floor, ...]
    integrity: tuple[Integrity, ...]
    integrity_count: int
    violations: tuple[dict[str, Json], ...]
    violations_left_out: int
    resolutions: tuple[dict[str, Json], ...]

    @property
    def is_go(self) -> bool:
        """Whether nothing stands against it."""
        return not self.reasons

    @property
    def verdict(self) -> str:
        """As people say it."""
        return "GO" if self.is_go else "NO-GO"

    @property
    def reasons(self) -> tuple[str, ...]:
        """What stands against it, one line each."""
        found = [
            f"{each.id} is {each.status}" for each in self.gates if each.status != GateStatus.MET
        ]
        found += [
            f"{each.about}: {each.found}, and {each.required} are needed"
            for each in self.floors
            if not each.is_reached
        ]
        if self.integrity_count:
            failures = (
                "1 failure" if self.integrity_count == 1 else f"{self.integrity_count} failures"
            )
            found.append(f"{failures} of integrity")
        return tuple(found)

    def to_json(self) -> dict[str, Json]:
        """The whole answer as a document."""
        return {
            "schemaVersion": SCHEMA_VERSION,
            "verdict": self.verdict,
            "window": self.window.to_json(),
            "events": self.events,
            "reasons": list(self.reasons),
            "gates": [each.to_json() for each in self.gates],
            "floors": [each.to_json() for each in self.floors],
            "integrity": [each.to_json() for each in self.integrity],
            "integrityLeftOut": self.integrity_count - len(self.integrity),
            "violations": list(self.violations),
            "violationsLeftOut": self.violations_left_out,
            "resolutions": list(self.resolutions),
        }


class SignoffFold:
    """Takes the rows of a ledger one by one; `answer` says what they come to."""

    def __init__(self, window: SignoffWindow, make: MakeStates = StatesInMemory) -> None:
        self._window = window
        self._since, self._until = str(window.since), str(window.until)
        self._attempts = AttemptTally(make("attempts"))
        self._modules = ModuleTally(make("approvals"), make("runs"), make("sessions"))
        self._cases = CertificationTally(make("cases"))
        self._violations = ViolationTally(make("violations"))
        self._integrity: list[Integrity] = []
        self._problems = self._events = 0

    def add(self, row: ChainRow) -> None:
        """The next row, in the order of time."""
        seen = glance(row.body)
        if seen is None:
            why = "it has no time or no type, so that nobody knows what it is evidence of"
            self._fail(Integrity("unreadable", why, None, None, row.writer, row.seq))
            return
        at, kind = seen
        if kind is EventType.LEDGER_ARCHIVED:
            self._look_at_archive(row)
        elif at < self._since:
            if isinstance(kind, EventType) and kind in _USED_FROM_BEFORE:
                self._add_from_before(row, kind)
        elif at < self._until:
            self._events += 1
            if not isinstance(kind, EventType):
                event_id = event_fields(row.body).get("eventId")
                named = event_id if isinstance(event_id, str) else None
                why = "its type is not known"
                self._fail(Integrity("unreadable", why, named, kind, row.writer, row.seq))
            elif kind in EVIDENCE:
                self._add(row, kind)
        elif kind is EventType.SIGNOFF_RESOLVED:
            self._add_resolution(read_event(row, EventType.SIGNOFF_RESOLVED))

    def add_faults(self, faults: Iterable[ChainFault]) -> None:
        """What the chains themselves have to say against the rows."""
        for fault in faults:
            why = f"the chain does not verify: event {fault.seq} {fault.why}"
            self._fail(Integrity("chain", why, fault.event_id, None, fault.writer, fault.seq))

    def answer(self) -> SignoffAnswer:
        """What it all comes to; the fold can go on afterwards."""
        attempts, modules = self._attempts.finished(), self._modules.finished()
        violations = self._violations.finished()
        gates = [*self._cases.gates(), *attempts[0], violations.gate, *modules[0]]
        floors = [*attempts[1], *modules[1]]
        return SignoffAnswer(
            self._window,
            self._events,
            tuple(sorted(gates, key=lambda gate: _ORDER.index(gate.id))),
            tuple(sorted(floors, key=lambda floor: _FLOORS.index(floor.id))),
            tuple(self._integrity),
            self._problems,
            tuple(violations.listed),
            violations.left_out,
            tuple(violations.resolutions),
        )

    def _add(self, row: ChainRow, kind: EventType) -> None:
        event = read_event(row, kind)
        self._look_at_tags(event, row, kind)
        self._look_at_violation(event, kind, in_window=True)
        if isinstance(event, Unreadable):
            failure = Integrity("unreadable", event.why, event.event_id, kind, row.writer, row.seq)
            self._fail(failure)
        elif kind is EventType.TRANSACTION_TRANSITION:
            self._attempts.add(event)
        elif kind is EventType.CERTIFICATION_CHECKED:
            self._cases.add(event)
        elif kind is EventType.SIGNOFF_RESOLVED:
            self._add_resolution(event)
        else:
            self._modules.add(event)

    def _add_from_before(self, row: ChainRow, kind: EventType) -> None:
        # Most steps of transactions are of no use from here, and need not be read for that.
        if kind is EventType.TRANSACTION_TRANSITION and _APPROVED_STEP not in row.body:
            return
        event = read_event(row, kind)
        self._look_at_violation(event, kind, in_window=False)
        if isinstance(event, Unreadable):
            return
        if kind is EventType.TRANSACTION_TRANSITION:
            self._attempts.before(event)
        elif kind is EventType.SIGNOFF_RESOLVED:
            self._add_resolution(event)
        else:
            self._modules.before(event)

    def _add_resolution(self, event: Evidence | Unreadable) -> None:
        if isinstance(event, Evidence):
            self._violations.resolve(event)

    def _look_at_violation(
        self, event: Evidence | Unreadable, kind: EventType, *, in_window: bool
    ) -> None:
        if event.event_id is not None and is_violation(kind, event.fields):
            at, payload = str(event.fields["timestampUtc"]), dict(event.fields["payload"])
            self._violations.add(event.event_id, at, kind, payload, in_window=in_window)

    def _look_at_tags(self, event: Evidence | Unreadable, row: ChainRow, kind: EventType) -> None:
        problem = tag_problem(event.fields)
        if problem is not None:
            place = (event.event_id, kind.value, row.writer, row.seq)
            self._fail(Integrity(problem.kind, problem.why, *place, problem.tags))

    def _look_at_archive(self, row: ChainRow) -> None:
        event = read_event(row, EventType.LEDGER_ARCHIVED)
        place = (event.event_id, EventType.LEDGER_ARCHIVED.value, row.writer, row.seq)
        try:
            record = record_in(event.payload) if isinstance(event, Evidence) else None
        except BadInput:
            record = None
        if record is None:
            why = "it does not say what was archived, which may be events of the window"
            self._fail(Integrity("archived", why, *place))
        elif str(record.before) > self._since:
            why = (
                f"events from before {record.before} are in the archive {record.archive_id}, "
                "and those of the window among them cannot be read"
            )
            self._fail(Integrity("archived", why, *place))

    def _fail(self, failure: Integrity) -> None:
        self._problems += 1
        if len(self._integrity) < MOST_PROBLEMS:
            self._integrity.append(failure)

"""Sessions: what "for this session" refers to, and when it is over.

On a terminal there is one session for each leader of a login session, known by its process id, its
start time in clock ticks and the boot it belongs to, so that a process id used again is another
leader. It is over when that process is gone, after twelve hours, or when somebody ends it. In the
library it lasts as long as the object, over MCP as long as the connection.

A session whose process is gone is ended by whoever looks first. Whether a process lives can only be
told on its own machine; elsewhere it is taken to live.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import Final, Protocol, TypeAlias

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.base.values import dataclass, replace
from consentry.decide.fields import (
    Fields,
    as_json,
    check_id_field,
    check_not_before,
    check_pair,
    check_text,
    problem,
)
from consentry.decide.identity import Identity, check_identity
from consentry.decide.machine import check_machine_id

PREFIX: Final = "session"
LONGEST: Final = Duration(12 * 3_600_000)

FIELDS: Final = (
    "sessionId",
    "user",
    "machineId",
    "kind",
    "leader",
    "startedAt",
    "endedAt",
    "endedWhy",
)


class SessionKind(StrEnum):
    """What a session is tied to."""

    TERMINAL = "terminal"
    LIBRARY = "library"
    MCP = "mcp"


class EndedWhy(StrEnum):
    """Why a session is over."""

    ENDED = "ended"
    PROCESS_GONE = "process_gone"
    AGE = "age"
    REPLACED = "replaced"


@dataclass(frozen=True, slots=True)
class Leader:
    """A process that cannot be mistaken for a later one with the same number."""

    pid: int
    started_at_ticks: int
    boot_id: str

    def __post_init__(self) -> None:
        if self.pid < 1:
            raise problem("leader.pid", f"`{self.pid}` is not the number of a process")
        if self.started_at_ticks < 0:
            raise problem(
                "leader.startedAtTicks", f"`{self.started_at_ticks}` lies before the boot"
            )
        check_text("leader.bootId", self.boot_id)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "pid": self.pid,
            "startedAtTicks": self.started_at_ticks,
            "bootId": self.boot_id,
        }

    @classmethod
    def from_json(cls, document: object) -> "Leader":
        """Reads what `to_json` writes."""
        fields = Fields(document, ("pid", "startedAtTicks", "bootId"))
        return cls(fields.whole("pid"), fields.whole("startedAtTicks"), fields.text("bootId"))


IsAlive: TypeAlias = Callable[[Leader], bool]
"""Whether a process of this machine still runs."""


@dataclass(frozen=True, slots=True)
class Session:
    """One stretch of work by one person on one machine."""

    session_id: str
    user: Identity
    machine_id: str
    kind: SessionKind
    leader: Leader | None
    started_at: Instant
    ended_at: Instant | None = None
    ended_why: EndedWhy | None = None

    def __post_init__(self) -> None:
        check_id_field("sessionId", self.session_id, PREFIX)
        check_identity("user", self.user)
        check_machine_id("machineId", self.machine_id)
        if self.kind is SessionKind.TERMINAL and self.leader is None:
            raise problem("leader", "a session on a terminal has a leader")
        check_pair("endedAt", self.ended_at, "endedWhy", self.ended_why)
        check_not_before("endedAt", self.ended_at, self.started_at)

    @property
    def is_open(self) -> bool:
        """Whether nobody has ended it yet."""
        return self.ended_at is None

    def why_over(self, now: Instant, on_machine: str, is_alive: IsAlive) -> EndedWhy | None:
        """Why an open session is over all the same, or None while it goes on."""
        if self.leader is not None and self.machine_id == on_machine and not is_alive(self.leader):
            return EndedWhy.PROCESS_GONE
        if self.kind is SessionKind.TERMINAL and now > self.started_at.plus(LONGEST):
            return EndedWhy.AGE
        return None

    def ended(self, now: Instant, why: EndedWhy) -> "Session":
        """The same session, over; a clock that went back ends it when it began."""
        return replace(self, ended_at=max(now, self.started_at), ended_why=why)

    def to_json(self) -> dict[str, Json]:
        """The fields as they are recorded."""
        return {
            "sessionId": self.session_id,
            "user": self.user,
            "machineId": self.machine_id,
            "kind": self.kind.value,
            "leader": None if self.leader is None else self.leader.to_json(),
            "startedAt": str(self.started_at),
            "endedAt": as_json(self.ended_at),
            "endedWhy": None if self.ended_why is None else self.ended_why.value,
        }

    @classmethod
    def from_json(cls, document: object) -> "Session":
        """Reads what `to_json` writes."""
        fields = Fields(document, FIELDS)
        leader = fields.value("leader")
        return cls(
            session_id=fields.text("sessionId"),
            user=Identity(fields.text("user")),
            machine_id=fields.text("machineId"),
            kind=fields.member("kind", SessionKind),
            leader=None if leader is None else Leader.from_json(leader),
            started_at=fields.instant("startedAt"),
            ended_at=fields.optional_instant("endedAt"),
            ended_why=fields.optional_member("endedWhy", EndedWhy),
        )


class Sessions(Protocol):
    """Where sessions are kept. Looking at one that is over ends it."""

    def start(self, user: Identity, kind: SessionKind, leader: Leader | None = None) -> Session:
        """A fresh session on this machine; a terminal's is found or started with `for_leader`."""
        ...

    def for_leader(self, user: Identity, leader: Leader) -> Session:
        """The session of this user on this terminal, started if there is none that goes on."""
        ...

    def find(self, session_id: str) -> Session | None:
        """The session as it is now: ended here if it is over and nobody had noticed."""
        ...

    def open(self) -> list[Session]:
        """Those that go on, oldest first; the ones found to be over are ended."""
        ...

    def end(self, session_id: str, why: EndedWhy = EndedWhy.ENDED) -> Session:
        """Ends it; one that was over before stays as it was."""
        ...

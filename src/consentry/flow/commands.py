"""What goes into a running execution and comes out of it: answers of a person, and questions to one.

    decision_required                 an event: somebody is asked (ESCALATION §ask-5)
    permission_escalation_response    a command: their answer (ESCALATION §ask-3)

The queue is one channel among others to a question that is kept in the store. Rules kept:
- A response goes to the question it names. One that names none counts only where exactly one waits.
- What nobody waits for is refused at once, to whoever sent it: no answer lies ready for a question
  that nobody has seen.
- Every wait has an end.

Whoever holds the queue is trusted to speak for the person: a response proves nobody's presence. Code
that runs confined is in another process and cannot reach it.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from enum import StrEnum
from math import isfinite
from threading import Event, Lock
from typing import Final, TypeAlias

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import dataclass, field
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.fields import check_words, problem
from consentry.decide.identity import Identity, check_person
from consentry.flow.given import Given

MOST_FEEDBACK: Final = 2000
"""So many characters may be said with an answer."""

_KEYS: Final = ("type", "requestId", "approved", "feedback", "by")
_SHOWN_IDS: Final = 5
_MOST_SECONDS: Final = 24 * 3600


class CommandType(StrEnum):
    """What a command is; unknown ones are refused."""

    PERMISSION_ESCALATION_RESPONSE = "permission_escalation_response"


@dataclass(frozen=True, slots=True)
class PermissionEscalationResponse:
    """A person's answer to the question whether code may have a larger permission set.

    `request_id` is the question's; `by` is the person, where it is not the one whom this program
    runs for.
    """

    approved: bool
    request_id: str | None = None
    feedback: str | None = None
    by: Identity | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.approved, bool):
            raise problem("approved", "this is neither true nor false")
        check_words("feedback", self.feedback)
        if self.feedback is not None and len(self.feedback) > MOST_FEEDBACK:
            raise problem("feedback", f"it has more than {MOST_FEEDBACK} characters")
        if self.by is not None:
            check_person("by", self.by)

    @property
    def type(self) -> CommandType:
        """What it is."""
        return CommandType.PERMISSION_ESCALATION_RESPONSE

    def to_json(self) -> dict[str, Json]:
        """As it is serialised; what was not said is left out."""
        said = {"requestId": self.request_id, "feedback": self.feedback, "by": self.by}
        given = {name: value for name, value in said.items() if value is not None}
        return {"type": self.type.value, "approved": self.approved, **given}

    @classmethod
    def from_json(cls, document: object) -> "PermissionEscalationResponse":
        """Reads what `to_json` writes; raises naming the field that is wrong."""
        given = Given(document, _KEYS, code=Code.DECISION_FIELD)
        if given.member("type", CommandType) is None:
            given.refuse("type", "the field is missing", f"known are {', '.join(CommandType)}")
        by = given.text("by")
        return cls(
            approved=given.flag("approved"),
            request_id=given.text("requestId"),
            feedback=given.text("feedback"),
            by=None if by is None else Identity(by),
        )


Command: TypeAlias = PermissionEscalationResponse


@dataclass(frozen=True, slots=True)
class DecisionRequired:
    """A person is asked. Serialised it has exactly the keys that ESCALATION names.

    `request_id` is what a response names. `prompt` is all that a person should see: besides the
    description what the larger set adds, what the code did so far, and a heading where the denial is
    the program's own word. Each value in it is on one line, in safe text; a page escapes it as ever.
    """

    timestamp: int
    workflow_id: str
    description: str
    request_id: str
    ask: EscalationAsk = field(repr=False)

    @property
    def type(self) -> str:
        """What it is."""
        return "decision_required"

    @property
    def decision_type(self) -> str:
        """A human in the loop decides."""
        return "HIL"

    @property
    def prompt(self) -> str:
        """The whole question."""
        return "\n".join(self.ask.lines())

    def to_json(self) -> dict[str, Json]:
        """The five keys."""
        return {
            "type": self.type,
            "timestamp": self.timestamp,
            "workflowId": self.workflow_id,
            "decisionType": self.decision_type,
            "description": self.description,
        }


class Expected:
    """One place that waits for a response; made by the queue."""

    def __init__(self, kind: CommandType, request_id: str | None, closed: str | None) -> None:
        self.kind, self.request_id, self.closed = kind, request_id, closed
        self._arrived = Event()
        self.command: Command | None = None

    def put(self, command: Command) -> None:
        """Hands the response over."""
        self.command = command
        self._arrived.set()

    def wait(self, seconds: float) -> Command | None:
        """The response, or None where none came in that time."""
        self._arrived.wait(max(0.0, seconds))
        return self.command


class CommandQueue:
    """Where a host program puts the answers of a person; threads and executors may share it."""

    def __init__(self) -> None:
        self._one_at_a_time = Lock()
        self._expected: list[Expected] = []

    def enqueue(self, command: Command | Mapping[str, object]) -> Command:
        """Hands a response to the question that waits for it; returns it as it was understood.

        Args:
            command: the response, or its JSON form `{type, requestId?, approved, feedback?, by?}`.

        Raises:
            BadInput: it is none; the field that is wrong is named.
            UsageProblem: no such question waits here, or several do and none is named.
            Refused: the question has its answer, or is not answered on this way.
        """
        read = _read(command)
        with self._one_at_a_time:
            place = self._meant(read)
            if place.closed is not None:
                raise Refused(Code.ANSWER_REFUSED, place.closed)
            if place.command is not None:
                message = f"`{place.request_id}` was answered before"
                raise Refused(Code.REQUEST_SETTLED, message)
            place.put(read)
        return read

    def _meant(self, command: Command) -> Expected:
        alike = [each for each in self._expected if each.kind.value == command.type.value]
        named = command.request_id
        if named is not None:
            alike = [each for each in alike if each.request_id == named]
            if not alike:
                message = f"no question `{named}` waits here"
                help_line = f"`consentry approve {named}` answers what another process asked"
                raise UsageProblem(Code.ID_UNKNOWN, message, help_line=help_line)
            return alike[0]
        ids = {each.request_id for each in alike}
        if not ids:
            help_line = "answer a question after its `decision_required`"
            raise UsageProblem(Code.ID_UNKNOWN, "no question waits here", help_line=help_line)
        if len(ids) > 1:
            message = f"{len(ids)} questions wait, and the response names none of them"
            help_line = f"give it a `requestId`: {_listed(ids)}"
            raise UsageProblem(Code.ID_AMBIGUOUS, message, help_line=help_line)
        return alike[0]

    def waiting(self) -> tuple[str, ...]:
        """The ids of the questions that wait here, the oldest first."""
        with self._one_at_a_time:
            ids = dict.fromkeys(each.request_id for each in self._expected)
        return tuple(each for each in ids if each is not None)

    @contextmanager
    def expecting(
        self,
        kind: CommandType = CommandType.PERMISSION_ESCALATION_RESPONSE,
        request_id: str | None = None,
        *,
        closed: str | None = None,
    ) -> Iterator[Expected]:
        """A place for one response while the block runs.

        Args:
            kind: the type of the command.
            request_id: the question that it answers; None takes a response that names none.
            closed: why no response is taken here although the question waits.
        """
        place = Expected(kind, request_id, closed)
        with self._one_at_a_time:
            self._expected.append(place)
        try:
            yield place
        finally:
            with self._one_at_a_time:
                self._expected.remove(place)

    def wait(
        self, kind: CommandType | str, timeout: float, request_id: str | None = None
    ) -> Command | None:
        """The next response of that type, or None after so many seconds."""
        known = check_type(kind)
        seconds = check_seconds("timeout", timeout)
        with self.expecting(known, request_id) as place:
            place.wait(seconds)
        return place.command  # nothing comes any more, and what came last was taken


def check_type(kind: CommandType | str) -> CommandType:
    """The type of that name; raises where there is none."""
    try:
        return CommandType(kind)
    except ValueError:
        raise problem("type", f"`{kind}` is not one of {', '.join(CommandType)}") from None


def check_seconds(name: str, seconds: object) -> float:
    """Returns the number of seconds, or raises: every wait has an end."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        raise problem(name, f"`{seconds}` is no number of seconds")
    if not isfinite(seconds) or not 0 < seconds <= _MOST_SECONDS:
        raise problem(name, f"`{seconds}` does not lie between 0 and {_MOST_SECONDS} seconds")
    return float(seconds)


def _read(command: Command | Mapping[str, object]) -> Command:
    if isinstance(command, PermissionEscalationResponse):
        return command
    return PermissionEscalationResponse.from_json(command)


def _listed(ids: set[str | None]) -> str:
    named = sorted(each for each in ids if each is not None)
    more = len(named) - _SHOWN_IDS
    shown = ", ".join(f"`{each}`" for each in named[:_SHOWN_IDS])
    return f"{shown} and {more} more" if more > 0 else shown

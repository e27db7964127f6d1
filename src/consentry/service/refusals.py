"""Records what was refused before there was a permit (CONSENT §audit-1): nothing started, and why.

A line that asks for what is never granted, or for what no engine holds, was understood and answered
with no; that answer is on record. A line that could not be understood was not answered at all. Of a
tool everything is on record that kept it from its run.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import PurePosixPath
from typing import Final

from consentry.base.canonical import Json
from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, Refused
from consentry.base.ids import Uuid7Ids
from consentry.base.values import dataclass, replace
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod, ExecutionStatus, Trigger
from consentry.record.envelope import Context
from consentry.record.events import EventType
from consentry.service.consentrecord import tool_said, user_refused
from consentry.service.profiles import NamedProfile, find_profile, profile_word
from consentry.service.rundecision import RunDecision, ToolFacts
from consentry.service.runrecord import AUDIT_PREFIX, word_text
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from consentry.store.journal import About, Journal

_ANSWERS: Final = frozenset({Code.PROTECTED_ROOT, Code.NOT_ENFORCEABLE})
_CONSENT_IS_MISSING: Final = frozenset(
    {Code.CONSENT_CLOSED, Code.CONSENT_STALE, Code.TOKEN_REFUSED}
)
_UNKNOWN: Final = "unknown"

OpenJournal = Callable[[], AbstractContextManager[Journal]]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is known of a run that was asked for, before it is bound to anything."""

    words: tuple[str, ...]
    profile: str = profile_word(None)
    trigger: Trigger = Trigger.USER_COMMAND
    kind: str = "program"
    method: ConsentMethod = ConsentMethod.COMMAND_LINE
    tool: ToolFacts | None = None
    decision: RunDecision | None = None
    level: ConsentLevel | None = None

    @property
    def subject(self) -> str:
        """How records speak of it."""
        if self.decision is not None:
            return self.decision.subject
        return f"{self.kind}:{self.name}" if self.tool is None else self.tool.subject

    @property
    def name(self) -> str:
        """What it is called."""
        if self.tool is not None:
            return self.tool.name
        return word_text(PurePosixPath(self.words[0]).name if self.words else "") or _UNKNOWN


@contextmanager
def refusals_recorded(asked: Asked, journal: OpenJournal) -> Iterator[None]:
    """Writes an audit entry for a refusal in here, where the ledger can be written.

    A tool that was found and did not come to its run has one whatever the reason was.
    """
    try:
        yield
    except ConsentryError as problem:
        is_answer = isinstance(problem, Refused) and problem.code in _ANSWERS
        if is_answer or asked.tool is not None:
            # Nothing ran: what could not be recorded is still told to whoever asked.
            with suppress(ConsentryError, OSError), journal() as opened:
                record_refusal(asked, problem, opened)
        raise


def found_profile(
    named: str | None, asked: Asked, around: Surroundings, journal: OpenJournal
) -> NamedProfile | None:
    """The profile that a line names, where it names one; one that no engine holds is refused."""
    if named is None:
        return None
    with refusals_recorded(replace(asked, profile=profile_word(None, named)), journal):
        return find_profile(named, around)


@contextmanager
def journal_of_terminal(around: Surroundings) -> Iterator[Journal]:
    """The ledger under the session of this terminal, for one entry."""
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    try:
        yield journal
    finally:
        journal.ledger.close()


def record_refusal(asked: Asked, problem: ConsentryError, journal: Journal) -> str:
    """Writes the audit entry of a run that was not permitted, and gives its id."""
    now = journal.clock.now()
    audit_id = journal.ids.new(AUDIT_PREFIX)
    entry = _entry(audit_id, asked, problem, journal.context, now)
    journal.ledger.append(journal.draft(EventType.TOOL_AUDIT, About(asked.subject), entry, now))
    return audit_id


def _named(asked: Asked) -> dict[str, Json]:
    if asked.tool is not None:
        return tool_said(asked.tool)
    return {"name": asked.name, "version": _UNKNOWN}


def _entry(
    audit_id: str, asked: Asked, problem: ConsentryError, context: Context, at: Instant
) -> dict[str, Json]:
    method = asked.method if asked.decision is None else asked.decision.method
    is_answer = isinstance(problem, Refused)
    status = ExecutionStatus.DENIED if is_answer else ExecutionStatus.NOT_STARTED
    return {
        "id": audit_id,
        "timestamp": str(at),
        "tool": {
            **_named(asked),
            "arguments": [word_text(word) for word in asked.words],
        },
        "user": {
            **({} if asked.level is None else {"level": asked.level.value}),
            **user_refused(
                context.actor,
                method,
                None if problem.code in _CONSENT_IS_MISSING else asked.decision,
            ),
        },
        "execution": {
            "startTime": None,
            "endTime": None,
            "status": status.value,
            "exitCode": None,
            "signal": None,
            "limit": None,
            "problem": {"code": problem.code.value, "message": word_text(problem.message)},
        },
        "impact": {"filesRead": [], "filesWritten": [], "filesDeleted": [], "committed": False},
        "sandbox": {
            "profile": asked.profile,
            "engine": "none",
            "violations": [],
            "violationsComplete": True,
            "resourceUsage": {"cpuTime": None, "memoryPeak": None},
        },
        "context": {
            "workflowId": context.workflow_id,
            "sessionId": context.session_id,
            "triggeredBy": asked.trigger.value,
        },
    }

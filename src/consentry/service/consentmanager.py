"""`ConsentManager`: asks for consent, verifies it, revokes it and tells its history (CONSENT §api).

It is the library's way to the same decisions that `consentry run` takes: the level, a policy, an earlier
yes, or a person. Nothing here approves by itself: without an asker the question is stored, and somebody
answers it with `consentry approve`. A yes for once is used up by the run it was asked for, not by asking.

`verify_consent` says whether a consent holds for the tool as it is now. It guards nothing: a run checks
again in the moment of its start. After `revoke_consent` it says no.

Each method has a twin that can be awaited; it does its work in a thread.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final, Self

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError, LedgerProblem, Refused, UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.base.nearest import closest
from consentry.base.values import dataclass, field, replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consent import Consent
from consentry.decide.consentcheck import ConsentNeed, lack_of
from consentry.decide.lasting import Lasts
from consentry.decide.preview import Preview
from consentry.decide.question import Answer
from consentry.decide.route import Route
from consentry.declare.preferences import ApprovalSettings
from consentry.record.auditfields import ConsentMethod, Trigger
from consentry.service.approvals import Asker, Look
from consentry.service.commitapproval import EffectAsker
from consentry.service.consenting import consents_of
from consentry.service.consentrecords import ConsentRecord, records_of_session
from consentry.service.keptruns import Place
from consentry.service.sessions import end_session_of, journal_of_library, sessions_of
from consentry.service.surroundings import Surroundings, look_around
from consentry.service.toolcalls import ToolCall, ready_tool
from consentry.service.tooldecisions import ToolDecisions

_KEYS: Final = ("arguments", "workspace", "config", "wait")
_NOT_A_YES: Final = {
    Code.APPROVAL_PENDING: "pending",
    Code.APPROVAL_DENIED: "denied",
    Code.APPROVAL_EXPIRED: "expired",
    Code.APPROVAL_SUPERSEDED: "superseded",
    Code.CONSENT_STALE: "superseded",
}


@dataclass(frozen=True, slots=True)
class ConsentResult:
    """Whether a tool may run, and who said so.

    `status` is `approved`, `denied`, `expired`, `superseded` or `pending`; `consent_id` is null where
    nobody had to be asked and nothing was remembered.
    """

    approved: bool
    tool_id: str
    status: str
    method: ConsentMethod | None = None
    consent_id: str | None = None
    request_id: str | None = None
    given_by: str | None = None
    timestamp: Instant | None = None
    reason: str | None = None


class ConsentManager:
    """Consents of one program's session; a context manager that ends it."""

    def __init__(
        self,
        environ: Mapping[str, str],
        workspace: str | None = None,
        config: str | None = None,
        *,
        asker: Asker | None = None,
    ) -> None:
        clock = SystemClock()
        self._around: Surroundings = look_around(environ)
        self._workspace = workspace
        self._config = config
        self._asker = asker
        self._journal = journal_of_library(self._around, clock, Uuid7Ids(clock))

    @property
    def session_id(self) -> str:
        """The session that lasts as long as this object."""
        return str(self._journal.context.session_id)

    def request_consent(self, tool_id: str, context: Mapping[str, Any]) -> ConsentResult:
        """Asks whether the tool may run; returns when that is known.

        Args:
            tool_id: the tool's name.
            context: `arguments` for its entry point, `workspace` and `config` instead of the usual
                ones, and `wait: False` to return at once where nobody can be asked here.

        Raises:
            ConsentryError: there is no such tool here, it cannot be bound, or nothing can be recorded.
        """
        call, waits = self._call(tool_id, context)
        company = _Company(self._asker)
        decisions = ToolDecisions(self._journal, self._around, company, waits)

        def ready() -> Any:
            return ready_tool(call, self._around, self._journal)

        try:
            decided = decisions.decided(ready(), ready)
        except Refused as problem:
            status = _NOT_A_YES.get(problem.code)
            if status is None:
                raise
            return ConsentResult(
                approved=False,
                tool_id=tool_id,
                status=status,
                request_id=company.request_id,
                reason=problem.message,
            )
        said = decided.decision
        return ConsentResult(
            approved=True,
            tool_id=tool_id,
            status="approved",
            method=decided.route.method,
            consent_id=said.consent_id,
            request_id=said.request_id,
            given_by=said.given_by,
            timestamp=said.consented_at,
            reason=said.reason,
        )

    def verify_consent(self, tool_id: str, session_id: str) -> bool:
        """Whether a consent holds in that session for the tool as it is now."""
        return any(self._holding(tool_id, session_id))

    def revoke_consent(self, tool_id: str, session_id: str) -> None:
        """Takes back every consent to the tool that counts in that session."""
        consents = consents_of(self._journal)
        for each in consents.open(tool_id):
            if each.terms.lasts is not Lasts.SESSION or each.terms.session_id == session_id:
                consents.revoke(each.consent_id, self._user)

    def get_consent_history(self, session_id: str) -> list[ConsentRecord]:
        """What was asked in a session, and how it was answered, the oldest first."""
        return records_of_session(self._journal, session_id)

    async def arequest_consent(self, tool_id: str, context: Mapping[str, Any]) -> ConsentResult:
        """`request_consent`, awaited."""
        return await asyncio.to_thread(self.request_consent, tool_id, context)

    async def averify_consent(self, tool_id: str, session_id: str) -> bool:
        """`verify_consent`, awaited."""
        return await asyncio.to_thread(self.verify_consent, tool_id, session_id)

    async def arevoke_consent(self, tool_id: str, session_id: str) -> None:
        """`revoke_consent`, awaited."""
        await asyncio.to_thread(self.revoke_consent, tool_id, session_id)

    async def aget_consent_history(self, session_id: str) -> list[ConsentRecord]:
        """`get_consent_history`, awaited."""
        return await asyncio.to_thread(self.get_consent_history, session_id)

    def close(self) -> None:
        """Ends the session, and with it what was allowed for it."""
        end_session_of(self._journal)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def _user(self) -> Any:
        return self._journal.context.actor

    def _call(self, tool_id: str, context: Mapping[str, Any]) -> tuple[ToolCall, bool]:
        for key in context:
            if key not in _KEYS:
                nearest = closest(str(key), _KEYS)
                help_line = (
                    f"known are {', '.join(_KEYS)}"
                    if nearest is None
                    else f"did you mean `{nearest}`?"
                )
                message = f"the context has a key `{key}` that means nothing here"
                raise UsageProblem(Code.USAGE, message, help_line=help_line)
        arguments = context.get("arguments", ())
        if isinstance(arguments, str) or not all(isinstance(each, str) for each in arguments):
            raise UsageProblem(Code.USAGE, "`arguments` is a list of texts")
        call = ToolCall(
            tool_id,
            tuple(arguments),
            context.get("workspace", self._workspace),
            context.get("config", self._config),
            Trigger.API,
        )
        return call, bool(context.get("wait", True))

    def _holding(self, tool_id: str, session_id: str) -> list[Consent]:
        """The consents that hold; one for once holds for the arguments it was given for."""
        consents = consents_of(self._journal).open(tool_id)
        if not consents:
            return []
        try:
            need = self._need(tool_id, session_id, consents)
        except LedgerProblem:
            raise
        except ConsentryError:
            return []  # no such tool any more, or none that could be run
        now = self._journal.clock.now()
        return [
            each
            for each in consents
            if lack_of(each, replace(need, arguments=each.terms.arguments or ()), now) is None
        ]

    def _need(self, tool_id: str, session_id: str, consents: Sequence[Consent]) -> ConsentNeed:
        journal = self._journal
        ready = ready_tool(self._call(tool_id, {})[0], self._around, journal)
        sessions = sessions_of(self._around, journal.ledger, journal.clock, journal.ids)
        decisions = ToolDecisions(journal, self._around, _Company(None))
        return replace(decisions.need(ready, consents), session=sessions.find(session_id))


@dataclass(slots=True)
class _Company:
    """Nobody at a terminal; notes which question was put."""

    given: Asker | None
    request_id: str | None = field(default=None)

    def asker(self, _: ApprovalSettings) -> Asker | None:
        return None if self.given is None else self

    def ask(self, request: ApprovalRequest, look: Look) -> Answer | None:
        self.request_id = request.request_id
        return None if self.given is None else self.given.ask(request, look)

    def tell(self, request: ApprovalRequest) -> None:
        if self.given is not None:
            self.given.tell(request)

    def effect_asker(self, _place: Place, _settings: ApprovalSettings) -> EffectAsker | None:
        return None

    def announce(self, preview: Preview, route: Route) -> None:
        """Whoever called is told by the result."""

    def tell_waiting(self, request: ApprovalRequest) -> None:
        self.request_id = request.request_id

"""Decides whether a ready tool may run: by its level, a policy, an earlier yes, or by asking now.

The question is stored before anybody is asked, so that any channel can answer it and a killed process
loses nothing. A process that waited makes the tool ready again before it uses the answer. What comes
out is a decision, not a start: the consent it names is held once more when the permit is made.
"""

from collections.abc import Callable, Sequence
from typing import Final, Protocol

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, Refused
from consentry.base.values import dataclass, replace
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consent import Consent
from consentry.decide.consentask import AnswerRules, ConsentAsk
from consentry.decide.consentcheck import ConsentNeed
from consentry.decide.identity import policy_identity
from consentry.decide.machine import Machine
from consentry.decide.policyuse import PolicyNeed, entry_for
from consentry.decide.preview import Preview
from consentry.decide.previewparts import LastConsent
from consentry.decide.question import Outcome
from consentry.decide.route import Grounds, Route, Way, route_of
from consentry.declare.preferences import ApprovalSettings
from consentry.declare.tool import ConsentLevel
from consentry.service.approvals import Asker, Desk, Waits, require_approved
from consentry.service.commitapproval import EffectAsker
from consentry.service.consenting import consent_for, consents_of
from consentry.service.consentplaces import given_elsewhere
from consentry.service.durations import estimate_of
from consentry.service.keepsettings import keeping_of
from consentry.service.keptruns import Place
from consentry.service.rundecision import RunDecision
from consentry.service.sessions import sessions_of
from consentry.service.staleness import PolicyWatch
from consentry.service.surroundings import Surroundings
from consentry.service.toolcalls import ReadyTool
from consentry.store.journal import Journal
from consentry.store.machines import StoredMachines

Again = Callable[[], ReadyTool]

_TOLD_OF: Final = 10
_LOOKED_AT: Final = 50


class Parked(Refused):
    """Nobody has answered yet, and nobody waits here; the request goes on waiting."""

    def __init__(self, request: ApprovalRequest) -> None:
        self.request_id = request.request_id
        super().__init__(
            Code.APPROVAL_PENDING,
            f"`{self.request_id}` asks: {request.question.text}",
            help_line=f"once it is approved, start it with `consentry run --request {self.request_id}`",
        )


class Company(Protocol):
    """Whoever is with a run: asked where they can be, told what is announced or waits."""

    def asker(self, settings: ApprovalSettings) -> Asker | None:
        """Their channel; None where nobody can be asked here."""
        ...

    def effect_asker(self, place: Place, settings: ApprovalSettings) -> EffectAsker | None:
        """Their channel for the second question, with the effect in sight."""
        ...

    def announce(self, preview: Preview, route: Route) -> None:
        """A run that is not asked about is about to begin."""
        ...

    def tell_waiting(self, request: ApprovalRequest) -> None:
        """The question is stored, and somebody else has to answer it."""
        ...


class _Nobody:
    """A program that runs tools and shows nothing: whoever is asked answers elsewhere."""

    def asker(self, _: ApprovalSettings) -> Asker | None:
        return None

    def effect_asker(self, _: Place, __: ApprovalSettings) -> EffectAsker | None:
        return None

    def announce(self, _: Preview, __: Route) -> None:
        return

    def tell_waiting(self, _: ApprovalRequest) -> None:
        return


NOBODY_HERE: Final = _Nobody()


@dataclass(frozen=True, slots=True)
class Decided:
    """What may run, and why."""

    ready: ReadyTool
    route: Route
    decision: RunDecision


@dataclass(frozen=True, slots=True)
class ToolDecisions:
    """Decisions under one ledger, for whoever is there."""

    journal: Journal
    around: Surroundings
    company: Company
    waits: bool = True

    def decided(self, ready: ReadyTool, again: Again) -> Decided:
        """May it run? Raises where not, or where nobody has answered yet and nobody waits."""
        route = self.route(ready)
        if route.way is Way.ASK:
            return self._asked(ready, route, again)
        if route.way is Way.ANNOUNCED or ready.level.rules.notification:
            self.company.announce(self.preview(ready, route), route)
        return Decided(ready, route, decision_of(ready, route))

    def dispatched(self, request: ApprovalRequest, ready: ReadyTool) -> Decided:
        """The run that a request asked for and was approved for; raises where it is another now."""
        require_approved(request)
        ask = ConsentAsk.of(request)
        if request.machine_id != self.journal.machine_id:
            message = f"`{request.request_id}` was asked on `{request.machine_id}`"
            raise Refused(Code.CONSENT_STALE, message, help_line="dispatch it there")
        _require_as_asked(request, ask, ready)
        route = Route(Way.ASK, ready.level.level)
        return self._consented(ready, route, request)

    def route(self, ready: ReadyTool) -> Route:
        """The way it takes as things stand now."""
        stored, now = consents_of(self.journal), self.journal.clock.now()
        consents = stored.open(ready.name)
        need = self.need(ready, consents)
        policy_need = PolicyNeed(need.tool, need.version, need.digest, need.arguments, need.machine)
        grounds = Grounds(
            rules=ready.level.rules,
            need=need,
            entry=entry_for(ready.effective.policy, policy_need, now),
            consents=consents,
            remembers=ready.effective.consent.preferences.remember_choices,
        )
        route = route_of(grounds, now)
        if route.way is not Way.ASK:
            return route
        # Those that do not hold say why it is asked again.
        known = {each.consent_id: each for each in consents}
        known |= {each.consent_id: each for each in stored.recent(need.tool, _TOLD_OF)}
        return route_of(replace(grounds, consents=list(known.values())), now)

    def preview(self, ready: ReadyTool, route: Route) -> Preview:
        """What a person is shown."""
        from consentry.service.previewing import (  # noqa: PLC0415 - most runs show nothing
            Background,
            make_preview,
        )

        last = next(iter(consents_of(self.journal).recent(ready.name, 1)), None)
        lack = None if last is None else route.lack
        background = Background(
            asked_because=() if lack is None else (lack.words,),
            last_consent=None if last is None else _last(last),
            estimate=estimate_of(self.journal.ledger.history, ready.name),
            kept_for=keeping_of(self.around).span,
        )
        return make_preview(ready.bound, ready.level, background)

    def _asked(self, ready: ReadyTool, route: Route, again: Again) -> Decided:
        settings = ready.effective.settings.approvals
        desk = Desk(self.journal, settings, PolicyWatch(self.around, self.journal))
        desk.supersede_others(str(ready.workspace.path), ready.effective.policy_hash)
        ask = self.ask(ready, route)
        asker = self.company.asker(settings)
        request = self._request(desk, ask, ready, Waits.PARKED if asker is None else Waits.PROMPT)
        if asker is None and request.is_pending:
            self.company.tell_waiting(request)
            if not self.waits:
                raise Parked(request)
        request = desk.wait(request, asker)
        require_approved(request)
        fresh = again()
        fresh.require_same_as(ready)
        return self._consented(fresh, route, request)

    def _request(
        self, desk: Desk, ask: ConsentAsk, ready: ReadyTool, waits: Waits
    ) -> ApprovalRequest:
        """The question; the same one where it waits already, or was answered and never used.

        One that is parked waits for whoever asks next, in whichever session: a job that asks every
        hour leaves one question.
        """
        policy, session = ready.effective.policy_hash, self.journal.context.session_id
        consents = consents_of(self.journal)
        for each in desk.requests.latest_about(ask.digest, _LOOKED_AT):
            request = desk.look(each.request_id) if each.is_pending else each
            is_open = request.is_pending or request.status == Outcome.APPROVED
            if (
                is_open
                and request.machine_id == self.journal.machine_id
                and request.question.policy_hash == policy
                and (
                    request.question.session_id == session
                    or (request.is_pending and waits is Waits.PARKED)
                )
                and ConsentAsk.of(request).is_same_as(ask)
                and not consents.of_request(request.request_id)
            ):
                return request
        return desk.ask(ask.question(policy, session), waits)

    def ask(self, ready: ReadyTool, route: Route) -> ConsentAsk:
        """The question, as it is stored."""
        preferences = ready.effective.consent.preferences
        remember = preferences.remember_duration if preferences.remember_choices else None
        rules = AnswerRules(
            remember=remember,
            needs_reason=ready.level.rules.record_reason,
            allows_batch=preferences.allow_batch_approval,
        )
        return ConsentAsk(
            preview=self.preview(ready, route),
            arguments=ready.call.arguments,
            workspace=str(ready.workspace.path),
            rules=rules,
            config=ready.call.config,
        )

    def _consented(self, ready: ReadyTool, route: Route, request: ApprovalRequest) -> Decided:
        consent = consent_for(self.journal, request)
        given = replace(route, way=Way.GIVEN, consent=consent)
        reason = None if request.answer is None else request.answer.reason
        return Decided(ready, given, decision_of(ready, given, reason))

    def need(self, ready: ReadyTool, consents: Sequence[Consent] = ()) -> ConsentNeed:
        """What an earlier yes, one of these, has to cover."""
        manifest, bound = ready.bound.tool.manifest, ready.bound
        journal = self.journal
        session_id = journal.context.session_id
        sessions = sessions_of(self.around, journal.ledger, journal.clock, journal.ids)
        return ConsentNeed(
            tool=manifest.name,
            version=manifest.version,
            digest=bound.digest,
            surface=bound.surface,
            arguments=ready.call.arguments,
            machine=self._machine(),
            session=None if session_id is None else sessions.find(session_id),
            policy_hash=ready.effective.policy_hash,
            policy_surface=bound.surface,
            is_strict=ready.level.level is ConsentLevel.STRICT,
            elsewhere=given_elsewhere(journal, ready, consents),
        )

    def _machine(self) -> Machine:
        journal = self.journal
        machines = StoredMachines(journal.ledger, journal.ids, journal.clock, journal.context)
        found = machines.find(journal.machine_id)
        if found is None:
            message = f"the ledger does not know this machine (`{journal.machine_id}`)"
            raise LedgerProblem(Code.LEDGER_CORRUPT, message)
        return found


def decision_of(ready: ReadyTool, route: Route, reason: str | None = None) -> RunDecision:
    """What the ledger says of it."""
    consent, entry = route.consent, route.entry
    policy = ready.effective.policy_hash
    said = RunDecision(
        subject=ready.bound.facts.subject,
        method=route.method,
        level=route.level,
        policy_hash=policy,
        reason=reason,
        tool=ready.bound.facts,
    )
    if consent is not None:
        return _by_consent(said, consent)
    if entry is not None:
        return replace(said, policy_entry=entry, given_by=policy_identity(policy))
    return said


def _last(consent: Consent) -> LastConsent:
    terms = consent.terms
    return LastConsent(terms.version, terms.digest, terms.surface)


def _by_consent(said: RunDecision, consent: Consent) -> RunDecision:
    terms = consent.terms
    return replace(
        said,
        consented_at=consent.given_at,
        given_by=terms.given_by,
        consent_id=consent.consent_id,
        request_id=terms.request_id,
    )


_CHANGED_HELP: Final = "ask again with `consentry run`; the question is put anew"


def _require_as_asked(request: ApprovalRequest, ask: ConsentAsk, ready: ReadyTool) -> None:
    is_same = (
        ask.digest == ready.bound.digest
        and ask.surface == ready.bound.surface
        and ask.level is ready.level.level
        and request.question.policy_hash == ready.effective.policy_hash
    )
    if not is_same:
        message = f"`{ready.name}` is not any more what `{request.request_id}` was approved for"
        raise Refused(Code.CONSENT_STALE, message, help_line=_CHANGED_HELP)

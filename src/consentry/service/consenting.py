"""From an answered request to the consent that it gives, once.

The terms are those of the request and its answer alone: tool, version, digest and surface that were
shown, for as long as the answer says. Any process may carry an approval out, the one that asked or
the one that answered; of those that try, one gives the consent and the others find it.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consent import Consent, ConsentTerms
from consentry.decide.consentask import ConsentAsk
from consentry.decide.lasting import Lasts
from consentry.decide.machine import MachineScope
from consentry.decide.question import Answer
from consentry.declare.consent import RememberDuration
from consentry.service.approvals import require_approved
from consentry.store.consents import StoredConsents
from consentry.store.journal import Journal

_LASTS: Final[Mapping[RememberDuration, Lasts]] = MappingProxyType(
    {
        RememberDuration.SESSION: Lasts.SESSION,
        RememberDuration.PERMANENT: Lasts.PERMANENT,
        RememberDuration.HOUR: Lasts.UNTIL,
        RememberDuration.DAY: Lasts.UNTIL,
    }
)


def lasting(remember: RememberDuration | None, now: Instant) -> tuple[Lasts, Instant | None]:
    """How long a yes lasts that is said now, and until when where that is a time."""
    if remember is None:
        return Lasts.ONCE, None
    span = remember.span
    return _LASTS[remember], None if span is None else now.plus(span)


def consents_of(journal: Journal) -> StoredConsents:
    """The consents of that ledger."""
    return StoredConsents(journal.ledger, journal.ids, journal.clock, journal.context)


def consent_for(journal: Journal, request: ApprovalRequest) -> Consent:
    """The consent that an approved request gives; the same one whoever asks, and however often."""
    answer = require_approved(request)
    ask = ConsentAsk.of(request)
    ask.require_takes(answer)
    consents = consents_of(journal)
    found = consents.of_request(request.request_id)
    if found:
        return found[0]
    terms = terms_of(request, ask, answer)
    if terms.expires_at is not None and terms.expires_at < journal.clock.now():
        message = f"the yes of `{request.request_id}` lasted until {terms.expires_at.shown()}"
        raise Refused(Code.CONSENT_CLOSED, message)
    try:
        return consents.give(terms)
    except Refused:
        # Another process carried it out meanwhile; any other refusal stands.
        found = consents.of_request(request.request_id)
        if not found:
            raise
        return found[0]


def terms_of(request: ApprovalRequest, ask: ConsentAsk, answer: Answer) -> ConsentTerms:
    """What was agreed to with that answer."""
    lasts = answer.lasts or Lasts.ONCE
    return ConsentTerms(
        tool=ask.tool,
        version=ask.version,
        digest=ask.digest,
        surface=ask.surface,
        lasts=lasts,
        machine_scope=MachineScope(request.machine_id),
        method=ask.method_of(answer),
        given_by=answer.by,
        arguments=ask.arguments if lasts is Lasts.ONCE else None,
        session_id=request.question.session_id,
        expires_at=answer.lasts_until,
        policy_hash=request.question.policy_hash,
        request_id=request.request_id,
    )

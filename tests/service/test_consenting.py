"""An approved request gives one consent, with the terms that were shown (CONTRACTS §8-consent)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from consentry.base.clock import ManualClock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.consentask import AnswerRules, ConsentAsk
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome
from consentry.declare.consent import RememberDuration
from consentry.declare.tool import ConsentLevel
from consentry.record.auditfields import ConsentMethod
from consentry.service.approvals import Desk, Waits
from consentry.service.consenting import consent_for, consents_of, lasting
from tests.decide.samples import DIGEST, LEADER, NOW, OWNER, SURFACE, answer, ask, question
from tests.record.samples import WRITER
from tests.service.desks import desk_of, journal_of
from tests.store.conftest import Store
from tests.store.keepers import Keepers

HOUR = Duration(3_600_000)


def said(
    desk: Desk, what: ConsentAsk, given: Answer, session: str | None = None
) -> ApprovalRequest:
    """The request for it, answered so."""
    request = desk.ask(what.question(DIGEST, session), Waits.PROMPT)
    return desk.answer(request.request_id, given)


def code_of(desk: Desk, request: ApprovalRequest) -> Code:
    """Why it gives no consent."""
    with pytest.raises(ConsentryError) as caught:
        consent_for(desk.journal, request)
    assert consents_of(desk.journal).of_request(request.request_id) == []
    return caught.value.code


@pytest.mark.parametrize(
    ("remember", "lasts", "span"),
    [
        (None, Lasts.ONCE, None),
        (RememberDuration.SESSION, Lasts.SESSION, None),
        (RememberDuration.PERMANENT, Lasts.PERMANENT, None),
        (RememberDuration.HOUR, Lasts.UNTIL, HOUR),
        (RememberDuration.DAY, Lasts.UNTIL, Duration(24 * HOUR.milliseconds)),
    ],
)
def test_each_duration_has_its_own_end(
    remember: RememberDuration | None, lasts: Lasts, span: Duration | None
) -> None:
    """CONSENT §remember-1: `session`, `permanent`, `1hour`, `1day`."""
    assert lasting(remember, NOW) == (lasts, None if span is None else NOW.plus(span))


@pytest.mark.parametrize("remember", [None, *RememberDuration])
def test_the_consent_is_what_was_shown_for_as_long_as_was_said(
    store: Store, remember: RememberDuration | None
) -> None:
    """Once binds the arguments; what is remembered binds the surface and not the arguments."""
    clock = ManualClock(NOW)
    desk, keepers = desk_of(store, clock), Keepers(journal_of(store).ledger, clock)
    session = keepers.sessions.for_leader(OWNER, LEADER)
    lasts, until = lasting(remember, NOW)
    given = answer(lasts=lasts, lasts_until=until)
    consent = consent_for(desk.journal, said(desk, ask(), given, session.session_id))
    terms = consent.terms
    assert (terms.tool, terms.version, terms.digest, terms.surface) == (
        "build",
        "1.0.0",
        DIGEST,
        SURFACE,
    )
    assert terms.arguments == (("--fast", "") if lasts is Lasts.ONCE else None)
    assert (terms.lasts, terms.expires_at, terms.session_id) == (lasts, until, session.session_id)
    assert (terms.machine_scope, terms.given_by) == (WRITER, OWNER)
    assert terms.method is ConsentMethod.EXPLICIT_APPROVAL


def test_however_often_it_is_carried_out_it_is_one_consent(store: Store) -> None:
    """By one process or by several at once; also after it was used."""
    desk = desk_of(store)
    request = said(desk, ask(), answer(lasts=Lasts.ONCE))
    journals = [journal_of(store) for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        given = list(pool.map(lambda journal: consent_for(journal, request), journals))
    assert len({each.consent_id for each in given}) == 1
    consents_of(desk.journal).use(given[0].consent_id)
    again = consent_for(desk.journal, request)
    assert (again.consent_id, again.used_at is None) == (given[0].consent_id, False)
    assert len(consents_of(desk.journal).history(tool="build")) == 1


def test_the_method_says_how_it_was_answered(store: Store) -> None:
    """CONTRACTS §12-method: strict, and together with others."""
    desk = desk_of(store)
    strict = ask(ConsentLevel.STRICT)
    given = answer(lasts=Lasts.ONCE, reason="the release")
    consent = consent_for(desk.journal, said(desk, strict, given))
    assert consent.terms.method is ConsentMethod.STRICT_APPROVAL
    batch = ask(rules=AnswerRules(None, allows_batch=True))
    together = consent_for(desk.journal, said(desk, batch, replace(given, channel=Channel.BATCH)))
    assert together.terms.method is ConsentMethod.BATCH_APPROVAL


def test_only_a_yes_to_a_tool_gives_a_consent(store: Store) -> None:
    """A question that waits, a no, and a yes to something else give none."""
    desk = desk_of(store)
    waiting = desk.ask(ask().question(DIGEST, None), Waits.PROMPT)
    assert code_of(desk, waiting) is Code.APPROVAL_PENDING
    assert code_of(desk, said(desk, ask(), answer(Outcome.DENIED))) is Code.APPROVAL_DENIED
    other = desk.requests.ask(question(), HOUR)
    yes = desk.requests.answer(other.request_id, answer(lasts=Lasts.ONCE))
    assert code_of(desk, yes) is Code.DECISION_FIELD


def test_a_yes_whose_time_is_over_gives_none(store: Store) -> None:
    """It was for an hour, and nobody carried it out within it."""
    clock = ManualClock(NOW)
    desk = desk_of(store, clock)
    request = said(desk, ask(), answer(lasts=Lasts.UNTIL, lasts_until=NOW.plus(HOUR)))
    clock.advance(HOUR)
    clock.advance(Duration(1))
    assert code_of(desk, request) is Code.CONSENT_CLOSED


def test_a_yes_for_a_session_that_is_over_gives_none(store: Store) -> None:
    """What is derived does not outlive what it comes from."""
    desk = desk_of(store)
    keepers = Keepers(journal_of(store).ledger)
    session = keepers.sessions.for_leader(OWNER, LEADER)
    request = said(desk, ask(), answer(lasts=Lasts.SESSION), session.session_id)
    keepers.sessions.end(session.session_id)
    assert code_of(desk, request) is Code.CONSENT_CLOSED


def test_a_request_that_was_not_approved_in_the_store_gives_none(store: Store) -> None:
    """The attack: a value that says approved, for a request that waits. The store is asked again."""
    desk = desk_of(store)
    waiting = desk.ask(ask().question(DIGEST, None), Waits.PROMPT)
    forged = waiting.answered(answer(lasts=Lasts.ONCE), desk.journal.clock.now())
    assert code_of(desk, forged) is Code.CONSENT_CLOSED

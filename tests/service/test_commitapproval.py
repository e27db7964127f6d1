"""The commit of a strict run is the second approval request, and nothing less (CONTRACTS §12)."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from consentry.base.canonical import digest_bytes
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.decide.identity import Role, local_identity
from consentry.decide.question import Answer, Channel, Outcome, Question, RequestKind
from consentry.service import rehearsals
from consentry.service.commitapproval import Asking
from consentry.service.effectledger import Result
from consentry.service.keptruns import Place
from consentry.service.rehearsals import commit_run, discard_run
from consentry.service.runledger import Run
from consentry.service.takeover import Arrival
from consentry.store.requests import StoredRequests
from tests.enforce.treesight import sight_of
from tests.service.conftest import MakeAround
from tests.service.desks import Said
from tests.service.rehearsing import Workshop

SCRIPT = "echo new > a"


@pytest.fixture
def shop(around: MakeAround, project: Path) -> Workshop:
    """A project with a file."""
    (project / "a").write_text("old\n", encoding="utf-8")
    return Workshop(around(environ={"PATH": "/usr/bin:/bin"}), project)


@pytest.fixture
def strict(shop: Workshop) -> Run:
    """A run whose commit has to be approved."""
    return shop.run(SCRIPT, Arrival.WHEN_APPROVED)


def _requests(place: Place) -> StoredRequests:
    journal = place.journal
    return StoredRequests(journal.ledger, journal.ids, journal.clock, journal.context)


def _answer(outcome: Outcome) -> Answer:
    by = local_identity(1000, "me", "machine")
    return Answer(outcome, by, Role.OWNER, Channel.COMMAND)


def _refused(place: Place, run: Run, asking: Asking = Asking()) -> Code:  # noqa: B008 - frozen
    with pytest.raises(ConsentryError) as caught:
        commit_run(place, run.audit_id, asking)
    return caught.value.code


def _is_old(shop: Workshop) -> bool:
    return (shop.project / "a").read_text(encoding="utf-8") == "old\n"


def test_nothing_is_committed_without_the_answer(shop: Workshop, strict: Run) -> None:
    """The attack: commit it anyway, again and again. It is parked, and asked once."""
    with shop.place() as place:
        for _ in range(3):
            assert _refused(place, strict) is Code.APPROVAL_PENDING
        (request,) = _requests(place).pending()
    assert Code.APPROVAL_PENDING.status == 75
    assert _is_old(shop)
    impact: Any = strict.entry["impact"]
    assert impact["rehearsal"]["needsApproval"] is True
    assert request.question.kind is RequestKind.COMMIT
    assert request.question.digest == impact["effectDigest"]
    assert shop.events("effect.decided") == []


def test_the_approved_effect_is_committed(shop: Workshop, strict: Run) -> None:
    """The same when granted; the decision names the request."""
    with shop.place() as place:
        assert _refused(place, strict) is Code.APPROVAL_PENDING
        (request,) = _requests(place).pending()
        _requests(place).answer(request.request_id, _answer(Outcome.APPROVED))
        assert commit_run(place, strict.audit_id).result is Result.COMMITTED
    assert not _is_old(shop)
    (decided,) = shop.events("effect.decided")
    assert decided["requestId"] == request.request_id
    assert decided["consentMethod"] == "strict_approval"


def test_with_the_question_taken_away_it_would_be_committed(
    shop: Workshop, strict: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The control removed: nothing else stands in the way."""
    monkeypatch.setattr(rehearsals, "require_approved", lambda *_: (None, False))
    with shop.place() as place:
        assert commit_run(place, strict.audit_id).result is Result.COMMITTED
    assert not _is_old(shop)


def test_a_no_is_final_until_it_is_asked_again(shop: Workshop, strict: Run) -> None:
    """Denied is 126, and stays so; a new question needs a new yes."""
    with shop.place() as place:
        denied = Asking(lambda _: Said(_answer(Outcome.DENIED)))
        assert _refused(place, strict, denied) is Code.APPROVAL_DENIED
        assert _refused(place, strict) is Code.APPROVAL_DENIED
        approves = Asking(lambda _: Said(_answer(Outcome.APPROVED)))
        assert _refused(place, strict, approves) is Code.APPROVAL_DENIED
        assert _is_old(shop)
        assert _refused(place, strict, Asking(asks_again=True)) is Code.APPROVAL_PENDING
        assert commit_run(place, strict.audit_id, approves).result is Result.COMMITTED


def test_an_expired_question_is_a_no(shop: Workshop, strict: Run) -> None:
    """Nobody answered in time."""
    with shop.place() as place:
        impact: Any = strict.entry["impact"]
        permit = strict.facts.permit.permit_id
        question = Question(
            RequestKind.COMMIT,
            "program:sh",
            "may it?",
            {"permitId": permit},
            digest=impact["effectDigest"],
        )
        _requests(place).ask(question, Duration(0))
        assert _refused(place, strict) is Code.APPROVAL_EXPIRED
        assert _is_old(shop)


@pytest.mark.parametrize("other", ["digest", "run", "kind", "subject"])
def test_a_yes_to_something_else_opens_nothing(shop: Workshop, strict: Run, other: str) -> None:
    """Another effect, another run, another kind of question, another subject."""
    impact: Any = strict.entry["impact"]
    question = Question(
        RequestKind.COMMIT,
        "program:sh",
        "may it?",
        {"permitId": strict.facts.permit.permit_id},
        digest=impact["effectDigest"],
    )
    changed = {
        "digest": {"digest": digest_bytes(b"another")},
        "run": {"preview": {"permitId": "permit-another"}},
        "kind": {"kind": RequestKind.CONSENT},
        "subject": {"subject": "program:other"},
    }[other]
    with shop.place() as place:
        requests = _requests(place)
        request = requests.ask(replace(question, **changed), Duration.parse("1h"))  # type: ignore[arg-type]
        requests.answer(request.request_id, _answer(Outcome.APPROVED))
        assert _refused(place, strict) is Code.APPROVAL_PENDING
        assert _is_old(shop)
        request = requests.ask(question, Duration.parse("1h"))
        requests.answer(request.request_id, _answer(Outcome.APPROVED))
        assert commit_run(place, strict.audit_id).result is Result.COMMITTED


def test_whoever_is_asked_sees_the_effect(shop: Workshop, strict: Run) -> None:
    """The lines that differ, as they would be committed."""
    seen: list[list[str]] = []

    def asker(view: Any) -> Said:
        seen.append(list(view.changes[0].unified()))
        return Said(_answer(Outcome.APPROVED))

    with shop.place() as place:
        commit_run(place, strict.audit_id, Asking(asker))
    assert seen == [["@@ -1,1 +1,1 @@", "-old", "+new"]]


def test_whoever_answers_elsewhere_may_commit_it_too(shop: Workshop, strict: Run) -> None:
    """It is not locked while a person is asked; done once, and both are told that it is done."""
    results: list[Result] = []

    def elsewhere() -> None:
        with shop.place() as other:
            (request,) = _requests(other).pending()
            _requests(other).answer(request.request_id, _answer(Outcome.APPROVED))
            results.append(commit_run(other, strict.audit_id).result)

    with shop.place() as place:
        asker = Said(None, elsewhere, looks=1)
        results.append(commit_run(place, strict.audit_id, Asking(lambda _: asker)).result)
        assert _refused(place, strict) is Code.EFFECT_SETTLED
    assert results == [Result.COMMITTED, Result.COMMITTED]
    assert [each.status for each in asker.told] == ["approved"]
    assert len(shop.events("effect.decided")) == 1


def test_it_may_be_discarded_without_asking(shop: Workshop, strict: Run) -> None:
    """A no needs nobody's leave."""
    before = sight_of(shop.project)
    with shop.place() as place:
        assert discard_run(place, strict.audit_id).result is Result.DISCARDED
    assert sight_of(shop.project) == before

"""What a grant holds for, and who can give it: a host with real questions (MODULES §grant, §decision)."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import ConsentryError, Refused, UsageProblem
from consentry.decide.identity import Identity, Role
from consentry.service.passphrase import Passphrase
from tests.decide.samples import APPROVER
from tests.service.modulehosting import (
    EXPORT,
    FOR_GOOD,
    MODULE,
    READ,
    STORE,
    YES,
    Board,
    package,
    summary,
)

pytestmark = pytest.mark.timeout(120)


# Grants: what they hold for.


def test_a_grant_has_the_identity_that_the_document_names(board: Board) -> None:
    """MODULES §grant-1: module, version, capability, scope, approver; host, digest and question beside it."""
    board.ready(READ)
    [given] = board.payloads("grant.given")
    [request] = board.payloads("approval.requested")
    [imported] = board.payloads("module.imported")
    assert {
        name: given[name] for name in ("moduleId", "moduleVersion", "capabilityId", "scope")
    } == {
        "moduleId": MODULE,
        "moduleVersion": "1.0.0",
        "capabilityId": READ,
        "scope": "session",
    }
    assert given["givenBy"] == board.host.user
    assert given["hostId"] == "note-board"
    assert given["packageDigest"] == imported["packageDigest"]
    assert given["requestId"] == request["requestId"]
    assert given["grantVersion"] == "1.0.0"


@pytest.mark.parametrize("decision", [YES, FOR_GOOD])
def test_another_version_voids_a_grant_and_going_back_revives_none(
    board: Board, decision: str
) -> None:
    """MODULES §grant-2, §decision-2: stale under the new one, and void under the old one that comes back."""
    board.take()
    board.grant(READ, decision=decision)
    assert board.call("count").ok
    for version in ("2.0.0", "1.0.0"):
        board.take(package(version=version))
        assert summary(board.call("count", ask=False)) == (
            "rejected",
            "capability-grant-stale",
            READ,
        )


def test_the_same_version_with_other_content_is_stale(board: Board) -> None:
    """MODULES §grant-6: the digest tells, whatever the version says."""
    board.take()
    board.grant(READ, decision=FOR_GOOD)
    board.take(package(description="the same version, and other content"))
    assert summary(board.call("count", ask=False))[1] == "capability-grant-stale"


def test_the_same_content_again_keeps_its_grants(board: Board) -> None:
    """MODULES §grant-2: also when it is spelled with other spaces and in another order of keys."""
    board.take()
    board.grant(READ)
    turned = dict(reversed(package().items()))
    assert board.take(turned)["replaced"] is True
    assert board.call("count").ok


def test_a_revoked_grant_is_not_granted_at_once(board: Board) -> None:
    """MODULES §grant-4, §grant-6: by another process, and the host that has it loaded sees it."""
    board.ready(READ)
    assert board.call("count").ok
    board.revoke(READ)
    assert summary(board.call("count", ask=False))[1] == "capability-not-granted"
    assert board.used() == [READ]


def test_a_restart_ends_session_grants_and_keeps_lasting_ones(board: Board) -> None:
    """MODULES §decision-1, §decision-2, §grant-4: stale, and granted."""
    board.ready(READ)
    board.grant(STORE, decision=FOR_GOOD)
    board.restart()
    assert summary(board.call("count", ask=False)) == ("rejected", "capability-grant-stale", READ)
    assert board.call("keep", arguments="x").ok


def test_a_session_grant_is_for_the_session_that_asked(board: Board) -> None:
    """MODULES §decision-1: another window of the same host is another session, and was granted nothing."""
    board.ready(READ)
    with board.opened() as other:
        assert summary(other.invoke(MODULE, "count", ask=False)) == (
            "rejected",
            "capability-not-granted",
            READ,
        )


def test_a_removed_module_loses_its_grants_and_what_it_kept(board: Board) -> None:
    """MODULES §grant-4: imported again it was never granted anything, and finds nothing."""
    board.take()
    board.grant(READ, STORE, decision=FOR_GOOD)
    board.call("keep", arguments="x")
    removed = board.host.remove(MODULE)
    assert (removed.grants, removed.stored_keys) == (2, 1)
    with pytest.raises(UsageProblem, match="no module `word-count` is registered here"):
        board.call("count")
    board.take()
    assert summary(board.call("count", ask=False))[1] == "capability-not-granted"
    board.grant(STORE)
    board.does["notes.keep"] = lambda call: call.storage.keys()
    assert board.call("keep").results == ((),)


def test_a_module_of_the_same_name_in_another_host_was_granted_nothing(board: Board) -> None:
    """MODULES §grant-1: neither grants, questions nor storage cross over."""
    board.ready(READ, STORE)
    board.call("keep", arguments="x")
    waiting = board.host.request(MODULE, [EXPORT]).request_id
    assert waiting is not None
    with board.opened(host_id="other-board") as other:
        other.import_module(package())
        assert summary(other.invoke(MODULE, "count", ask=False))[1] == "capability-not-granted"
        assert other.pending() == []
        with pytest.raises(Refused) as refused:
            other.answer(waiting, YES)
        assert refused.value.code == "answer-refused"
    assert [each.request_id for each in board.host.pending()] == [waiting]


# Answers.


def test_an_answer_of_another_kind_is_refused(board: Board) -> None:
    """MODULES §flow-4: three answers, and the question stays open after any other."""
    board.ready()
    request_id = board.call("count").request_id
    assert request_id is not None
    with pytest.raises(Refused) as once:
        board.host.answer(request_id, "approve_once")
    assert once.value.code == "answer-refused"
    with pytest.raises(UsageProblem):
        board.host.answer(request_id, "approve_always")
    assert [each.request_id for each in board.host.pending()] == [request_id]


def test_neither_the_module_nor_a_viewer_can_answer(board: Board) -> None:
    """MODULES AC-2: an explicit yes by somebody who may give it."""
    board.ready()
    request_id = board.call("count").request_id
    assert request_id is not None
    with pytest.raises(ConsentryError):
        board.host.answer(request_id, YES, by=Identity(f"module:{MODULE}"))
    with pytest.raises(Refused):
        board.host.answer(request_id, YES, by=APPROVER, role=Role.VIEWER)
    assert board.host.pending()
    board.host.answer(request_id, YES, by=APPROVER, role=Role.APPROVER)
    [approved] = board.payloads("capability.escalation.approved")
    assert (approved["approverIdentity"], approved["approverRole"]) == (APPROVER, "approver")


def test_where_a_passphrase_is_set_an_answer_needs_it(board: Board) -> None:
    """MODULES AC-2: the words, and not only the object; a wrong one answers nothing."""
    state = Path(board.environ["HOME"]) / ".local/state/consentry"
    Passphrase(state, ManualClock(board.clock.now())).set("some long words", None)
    board.ready()
    request_id = board.call("count").request_id
    assert request_id is not None
    for wrong in (None, "other long words"):
        with pytest.raises(Refused) as refused:
            board.host.answer(request_id, YES, passphrase=wrong)
        assert refused.value.code == "passphrase-refused"
    assert board.host.pending()
    assert board.host.answer(request_id, YES, passphrase="some long words").status == "approved"


def test_the_same_question_from_two_threads_is_one(board: Board) -> None:
    """MODULES §flow-3: joined and not put twice."""
    board.ready()
    start = Barrier(2)

    def ask() -> str | None:
        start.wait(60)
        return board.call("count").request_id

    with ThreadPoolExecutor(2) as pool:
        first, second = (each.result(60) for each in [pool.submit(ask), pool.submit(ask)])
    assert first == second
    assert len(board.events("capability.escalation.requested")) == 1


def test_a_question_about_what_was_replaced_is_superseded(board: Board) -> None:
    """MODULES §grant-2: a yes to it opens nothing, and the waiting call is denied."""
    board.ready()
    request_id = board.call("count").request_id
    assert request_id is not None
    board.take(package(version="2.0.0"))
    with pytest.raises(Refused) as refused:
        board.host.answer(request_id, FOR_GOOD)
    assert refused.value.code == "approval-superseded"
    rejection = board.host.decision(request_id).rejection
    assert rejection is not None
    assert rejection.code == "capability-escalation-denied"
    assert board.events("grant.given") == []

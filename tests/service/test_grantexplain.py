"""Why a module may use a capability or not: four conditions, one code, and the events behind it."""

import tracemalloc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.decide.capabilityask import subject_of
from consentry.decide.capabilitycheck import ModuleIdentity
from consentry.decide.modulemode import ModuleMode
from consentry.record.events import EventType
from consentry.service.grantexplain import (
    Explanation,
    explained,
    wanted_by_event,
    wanted_by_grant,
    wanted_by_name,
)
from consentry.service.grantlist import (
    GrantChoice,
    GrantState,
    found_grant,
    listed_grants,
    revoke_grants,
    standing_grants,
)
from consentry.service.granttrail import Sort, Wanted, trail_of
from consentry.store.capabilityevents import BY_SYSTEM, CapabilityFacts, capability_draft
from consentry.store.journal import About, Journal
from tests.service.modulehosting import (
    EXPORT,
    FOR_GOOD,
    MODULE,
    READ,
    SHOW,
    STORE,
    YES,
    Board,
    package,
)

HOST = Board.host_id


@pytest.fixture
def journal(board: Board) -> Iterator[Journal]:
    """The store beside the application, as a command has it."""
    made = board.journal()
    with closing(made.ledger):
        yield made


def why(journal: Journal, capability_id: str = READ, most: int = 20) -> Explanation:
    """How that capability of the usual module stands."""
    return explained(journal, Wanted(HOST, MODULE, capability_id), most)


def holds(found: Explanation) -> list[bool]:
    """The answers to the four conditions."""
    return [each.holds for each in found.conditions]


def kinds(found: Explanation) -> list[str]:
    """The types of the events that are told."""
    return [each.type for each in found.trail.events]


def test_each_condition_taken_away_has_its_own_code(board: Board, journal: Journal) -> None:
    """MODULES §use-1, §use-2, §use-3, §use-4: the condition that fails, and the code of the check."""
    board.take(package(requested=(READ, STORE)))
    board.grant(READ, decision=FOR_GOOD)
    assert (holds(why(journal)), why(journal).code) == ([True] * 4, None)
    unknown = why(journal, "state.*")
    assert (holds(unknown), unknown.code) == ([False] * 4, "capability-unknown-id")
    unasked = why(journal, EXPORT)
    assert (holds(unasked), unasked.code) == (
        [False, True, False, False],
        "capability-not-requested",
    )
    ungranted = why(journal, STORE)
    assert (holds(ungranted), ungranted.code) == (
        [True, True, False, False],
        "capability-not-granted",
    )
    board.take(package(version="2.0.0"))
    stale = why(journal)
    assert (holds(stale), stale.code) == ([True, True, True, False], "capability-grant-stale")


def test_the_code_is_what_the_host_is_answered(board: Board, journal: Journal) -> None:
    """MODULES §code-1: for every way a capability can stand, in that host's own session."""
    board.take(package(requested=(READ, STORE, SHOW)))
    board.grant(READ, decision=FOR_GOOD)
    board.grant(STORE)
    for capability_id in (READ, STORE, SHOW, EXPORT, "no.such"):
        rejection = board.host.check(MODULE, [capability_id]).rejection
        assert why(journal, capability_id).code == (None if rejection is None else rejection.code)


def test_a_revoked_grant_names_who_took_it_back(board: Board, journal: Journal) -> None:
    """MODULES §grant-4: it is none any more, and the giver stays known."""
    board.ready()
    board.grant(READ, decision=FOR_GOOD)
    (grant,) = listed_grants(journal, GrantChoice(HOST, MODULE), over_too=False)
    revoke_grants(journal, [grant.grant], board.host.user)
    found = why(journal)
    assert found.code == "capability-not-granted"
    assert f"taken back by {board.host.user}" in found.conditions[2].said
    assert grant.grant.terms.package_digest in found.conditions[2].said


def test_a_grant_for_a_session_is_told_with_it(board: Board, journal: Journal) -> None:
    """MODULES §decision-1: usable there alone; one that is kept is usable everywhere."""
    board.ready(READ)
    found = why(journal)
    assert (found.code, found.only_in) == (None, (board.host.session_id,))
    assert found.conditions[3].said == f"while {board.host.session_id} goes on"
    board.grant(STORE, decision=FOR_GOOD)
    assert why(journal, STORE).only_in == ()
    board.restart()
    assert (why(journal).code, why(journal).only_in) == ("capability-grant-stale", ())
    assert why(journal).conditions[3].said.endswith("is over")


def test_the_mode_comes_before_every_grant(board: Board, journal: Journal) -> None:
    """MODULES §mode-deny-all, §mode-inspect-only: the four conditions hold, and the code says no."""
    board.ready()
    board.grant(READ, SHOW, decision=FOR_GOOD)
    board.set_mode(ModuleMode.INSPECT_ONLY)
    found = why(journal)
    assert (holds(found), found.code) == ([True] * 4, "capability-not-granted")
    assert found.mode.mode is ModuleMode.INSPECT_ONLY
    assert why(journal, SHOW).code is None  # what is declared can still be shown
    board.set_mode(ModuleMode.DENY_ALL)
    assert why(journal, SHOW).code == "capability-not-granted"


def test_the_events_are_told_in_order_and_no_others(board: Board, journal: Journal) -> None:
    """MODULES AC-2: of this capability alone, from the first question to the last refusal."""
    board.ready()
    outcome = board.host.request(MODULE, [READ])
    board.host.answer(str(outcome.request_id), "deny")
    board.grant(READ, STORE)
    assert board.call("count").ok
    board.revoke(READ)
    board.call("count", ask=False)
    found = why(journal)
    assert kinds(found) == [
        "capability.escalation.requested",
        "capability.escalation.denied",
        "capability.escalation.requested",
        "capability.escalation.approved",
        "grant.given",
        "module.capability.used",
        "grant.revoked",
        "capability.check.rejected",
    ]
    assert dict(found.trail.counts) == {Sort.DECISION: 6, Sort.REJECTION: 1, Sort.USE: 1}
    assert kinds(why(journal, STORE)) == [
        "capability.escalation.requested",
        "capability.escalation.approved",
        "grant.given",
    ]
    assert kinds(why(journal, SHOW)) == []


def test_another_host_has_its_own_grants(board: Board, journal: Journal) -> None:
    """What was given and used in one is not told of the other; that both have the module is."""
    board.ready(READ)
    assert board.call("count").ok
    with board.opened(host_id="other-board") as second:
        second.import_module(package())
        found = explained(journal, Wanted("other-board", MODULE, READ))
        assert found.hosts == (HOST, "other-board")
        assert "grant.given" not in kinds(found)
        assert found.trail.counts[Sort.USE] == 0
        with pytest.raises(UsageProblem) as raised:
            wanted_by_name(journal, MODULE, READ, None)
        assert raised.value.code is Code.HOST_UNKNOWN
        assert wanted_by_name(journal, MODULE, READ, HOST) == Wanted(HOST, MODULE, READ)


def test_what_is_gone_is_explained_by_what_happened(board: Board, journal: Journal) -> None:
    """A module that was removed, and one that never was."""
    board.ready(READ)
    board.host.remove(MODULE)
    found = why(journal)
    assert (found.identity, found.code) == (None, "module-unknown")
    assert kinds(found)[-1] == "grant.revoked"
    assert wanted_by_name(journal, MODULE, READ, None).host_id == HOST
    with pytest.raises(UsageProblem) as raised:
        explained(journal, Wanted(HOST, "nobody", READ))
    assert raised.value.code is Code.MODULE_UNKNOWN


def test_a_grant_and_an_event_name_what_they_are_about(board: Board, journal: Journal) -> None:
    """By id or the beginning of one; what is about no capability of a module is refused."""
    board.ready(READ)
    assert board.call("count").ok
    (grant,) = standing_grants(journal, HOST, MODULE)
    assert wanted_by_grant(journal, grant.grant_id) == Wanted(HOST, MODULE, READ)
    board.revoke(READ)
    for kind in ("module.capability.used", "grant.given", "grant.revoked"):
        (event,) = board.events(kind)
        assert wanted_by_event(journal, event["eventId"], None) == Wanted(
            HOST, MODULE, READ, event["eventId"]
        )
    (imported,) = board.events("module.imported")
    for named, code in ((imported["eventId"], Code.USAGE), ("event-0", Code.EVENT_UNKNOWN)):
        with pytest.raises(UsageProblem) as raised:
            wanted_by_event(journal, named, None)
        assert raised.value.code is code


def test_a_grant_is_found_by_the_beginning_of_its_id(board: Board, journal: Journal) -> None:
    """As long as one alone begins so; less than eight digits name none."""
    board.ready()
    board.grant(READ, STORE, decision=FOR_GOOD)
    first, second = standing_grants(journal, HOST, MODULE)
    assert found_grant(journal, first.grant_id) == first
    assert found_grant(journal, second.grant_id.removeprefix("grant-")) == second
    alike = first.grant_id[: len("grant-") + 8]
    for named, code in (
        (alike, Code.ID_AMBIGUOUS),
        ("grant-0198", Code.ID_UNKNOWN),
        ("grant-ffffffff", Code.ID_UNKNOWN),
        ("", Code.ID_UNKNOWN),
        ("%", Code.ID_UNKNOWN),
    ):
        with pytest.raises(UsageProblem) as raised:
            found_grant(journal, named)
        assert raised.value.code is code
    with pytest.raises(UsageProblem):
        found_grant(None, first.grant_id)


def test_each_end_of_a_grant_has_its_word(board: Board, journal: Journal) -> None:
    """Revoked by a person, void by other content, gone with its session; and those that hold."""
    board.ready()
    board.grant(EXPORT, decision=FOR_GOOD)
    board.take(package(version="2.0.0"))
    board.grant(READ, SHOW, decision=FOR_GOOD)
    board.grant(STORE, decision=YES)
    board.revoke(READ)
    board.restart()
    found = listed_grants(journal, GrantChoice(), over_too=True)
    assert {each.grant.terms.capability_id: each.state for each in found} == {
        EXPORT: GrantState.VOID,
        READ: GrantState.REVOKED,
        SHOW: GrantState.HOLDS,
        STORE: GrantState.SESSION_OVER,
    }
    held = listed_grants(journal, GrantChoice(module_id=MODULE), over_too=False)
    assert [each.grant.terms.capability_id for each in held] == [SHOW]
    assert listed_grants(journal, GrantChoice("nobody"), over_too=True) == []


def test_a_grant_of_another_catalog_or_content_does_not_hold(
    board: Board, journal: Journal
) -> None:
    """MODULES §grant-3: a row that says so is told as what it is, whoever wrote it."""
    board.ready()
    board.grant(READ, STORE, decision=FOR_GOOD)
    with journal.database.writing() as transaction:
        transaction.run(
            "UPDATE capability_grant SET grant_version = '0.9.0' WHERE capability_id = ?", (READ,)
        )
        transaction.run(
            "UPDATE capability_grant SET module_version = '9.9.9' WHERE capability_id = ?", (STORE,)
        )
    found = listed_grants(journal, GrantChoice(), over_too=True)
    assert {each.grant.terms.capability_id: each.state for each in found} == {
        READ: GrantState.OTHER_CATALOG,
        STORE: GrantState.NO_MODULE,
    }
    assert why(journal).conditions[3].said == "given under version 0.9.0 of the catalog"


def test_a_purged_grant_is_still_told_to_be_revoked(board: Board, journal: Journal) -> None:
    """Its row is gone; what the ledger says of its giving tells what its end was about."""
    board.ready()
    board.grant(READ, decision=FOR_GOOD)
    board.revoke(READ)
    with journal.database.writing() as transaction:
        transaction.run("DELETE FROM capability_grant")
    assert kinds(why(journal))[-2:] == ["grant.given", "grant.revoked"]
    assert kinds(why(journal, STORE)) == []


def _rejections(journal: Journal, count: int) -> None:
    """So many refusals of the usual module, on record."""
    digest = Digest("sha256:" + "0" * 64)
    identity = ModuleIdentity(HOST, MODULE, "1.0.0", digest)
    facts = CapabilityFacts(identity, READ, "capability-not-granted", "1.0.0", "x" * 150)
    about, now = About(subject_of(MODULE)), journal.clock.now()
    for start in range(0, count, 500):
        drafts = [
            capability_draft(journal, EventType.CHECK_REJECTED, facts, BY_SYSTEM, about, now)
            for _ in range(min(500, count - start))
        ]
        journal.record(*drafts, change=lambda _: None)


def _peak(journal: Journal) -> int:
    """The most memory that reading the events takes."""
    trail_of(journal, Wanted(HOST, MODULE, READ), 5)  # what is loaded once is not counted
    tracemalloc.start()
    try:
        trail_of(journal, Wanted(HOST, MODULE, READ), 5)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_what_is_kept_does_not_grow_with_the_events(journal: Journal) -> None:
    """Counted all, told the last; ten times the events take no more memory."""
    _rejections(journal, 300)
    before = _peak(journal)
    _rejections(journal, 2700)
    assert _peak(journal) < before + (64 << 10)
    trail = trail_of(journal, Wanted(HOST, MODULE, READ), 5)
    assert trail.counts[Sort.REJECTION] == 3000
    assert len(trail.events) == 5


def test_events_are_looked_up_by_their_subject(journal: Journal) -> None:
    """By the index, and not by reading the whole ledger."""
    query = "EXPLAIN QUERY PLAN SELECT body FROM ledger_event WHERE subject = ? ORDER BY at"
    with journal.database.reading() as view:
        plan = " ".join(str(row[3]) for row in view.rows(query, (subject_of(MODULE),)))
    assert "ledger_event_subject" in plan
    assert "SCAN" not in plan


def test_the_same_is_told_from_a_shared_store(home: Path, postgres_url: str) -> None:
    """PostgreSQL: list, explanation and end of a grant."""
    board = Board(home, {"CONSENTRY_STORE": postgres_url})
    journal = board.journal()
    with closing(journal.ledger):
        board.ready(READ)
        assert board.call("count").ok
        assert (why(journal).code, why(journal).only_in) == (None, (board.host.session_id,))
        (grant,) = standing_grants(journal, HOST, MODULE)
        assert found_grant(journal, grant.grant_id[:24]) == grant
        revoke_grants(journal, [grant], board.host.user)
        assert why(journal).code == "capability-not-granted"
        assert kinds(why(journal))[-2:] == ["module.capability.used", "grant.revoked"]
        board.host.close()

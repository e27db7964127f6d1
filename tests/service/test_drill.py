"""A drill: every case is what it says, everything is marked, nothing stays, and nobody else notices."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.ids import Uuid7Ids
from consentry.decide.identity import Identity
from consentry.decide.modulemode import ModuleMode
from consentry.declare.certification import CaseKind, certification_corpus
from consentry.record.transactionstates import TransactionState
from consentry.service.drill import Drill, listed_cases
from consentry.service.drillcases import CASES
from consentry.service.drillhost import HOST_ID, MODULE_ID, Scene, Unexpected
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.passphrase import Passphrase
from consentry.service.sessions import journal_here
from consentry.service.surroundings import look_around
from consentry.store.modules import StoredModules
from consentry.store.schema import transactions
from tests.service.drilling import PLACES, acting, drill, small
from tests.service.modulehosting import FOR_GOOD, READ, Board
from tests.store.sizes import sampled

pytestmark = pytest.mark.timeout(120)

ROOT = Path(__file__).parents[2]
OWN = [each.case_id for each in CASES]
ROWS = {
    "module": "host_id",
    "module_host": "host_id",
    "module_storage": "host_id",
    **{name: "document_id" for name, _ in transactions._TABLES},
}
"""What a drill could leave beside the ledger, and the column that says whose it is."""


@pytest.fixture(params=["sqlite", "postgresql"])
def environ(request: pytest.FixtureRequest, home: Path) -> dict[str, str]:
    """The environment of a fresh state directory, on either store."""
    found = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    if request.param == "postgresql":
        found["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    return found


@pytest.fixture
def own(home: Path) -> dict[str, str]:
    """The environment of a fresh state directory, with its own database."""
    return {"HOME": str(home), "PATH": "/usr/bin:/bin"}


def events(environ: dict[str, str], *types: str) -> list[dict[str, Any]]:
    """What is on record, of these types where some are named."""
    history = ledger_for_reading(look_around(environ))
    assert history is not None
    try:
        found = [json.loads(row.body) for row in history.events()]
    finally:
        history.database.close()
    return [each for each in found if not types or each["type"] in types]


def left(environ: dict[str, str]) -> dict[str, list[Any]]:
    """The rows of drills, and what still goes on there."""
    history = ledger_for_reading(look_around(environ))
    assert history is not None
    database = history.database
    queries = {
        table: f"SELECT * FROM {table} WHERE {column} LIKE 'consentry-%'"  # noqa: S608 - no value in it
        for table, column in ROWS.items()
    } | {
        "session": "SELECT * FROM session WHERE ended_at IS NULL",
        "approval_request": "SELECT * FROM approval_request WHERE status = 'pending'",
        "capability_grant": (
            "SELECT * FROM capability_grant WHERE host_id LIKE 'consentry-%' "
            "AND revoked_at IS NULL AND scope = 'persistent'"
        ),
    }
    try:
        with database.reading() as view:
            found = {name: list(view.rows(query)) for name, query in queries.items()}
    finally:
        database.close()
    return {name: rows for name, rows in found.items() if rows}


def ends(environ: dict[str, str]) -> Counter[str]:
    """The last state of every attempt, as the events tell it."""
    last = {
        (each["payload"]["txId"], each["payload"]["attemptNo"]): each["payload"]["nextState"]
        for each in events(environ, "transaction.transition")
    }
    return Counter(last.values())


# The cases.


def test_each_case_comes_out_as_it_has_to(environ: dict[str, str]) -> None:
    """CONTRACTS §3, on either store: each case once, and the whole corpus; nothing of it stays."""
    told: list[str] = []
    drilled = drill(environ).run(tell=lambda case: told.append(case.case_id))
    assert drilled.is_good, drilled.to_json()
    kinds = [f"corpus-{kind.value}" for kind in CaseKind]
    assert told == [each.case_id for each in drilled.cases] == [*OWN, *kinds]
    corpus = certification_corpus()
    assert [each.times for each in drilled.cases[-3:]] == [
        len(corpus.of_kind(kind)) for kind in CaseKind
    ]
    assert left(environ) == {}
    assert set(ends(environ)) == {"APPLIED", "REJECTED", "ROLLED_BACK"}


def test_every_event_says_which_fixture_it_is(own: dict[str, str]) -> None:
    """CONTRACTS §4-tags: run, case, what was expected, drill; only the machine's own beginning is real use."""
    drilled = drill(own).run()
    found = events(own)
    untagged = [each["type"] for each in found if each["evidenceChannel"] == "prod_traffic"]
    assert untagged == ["machine.registered"]
    for each in found[1:]:
        assert each["evidenceChannel"] == "controlled_fixture"
        assert each["fixtureRunId"] == each["drillId"] == drilled.drill_id
        assert drilled.drill_id.startswith("drill-")
        assert each["fixtureCaseId"]
        assert each["expectedOutcome"]
    expected = {each["fixtureCaseId"]: each["expectedOutcome"] for each in found[1:]}
    for case in CASES:
        name = case.case_id if case.is_shared else f"{case.case_id}.01"
        assert expected[name] == case.expected


def test_each_repetition_has_a_session_of_its_own(own: dict[str, str]) -> None:
    """CONTRACTS §4-floors: that is what is counted."""
    drill(own, *small("approved", times=3)).run(["approved"])
    ended = events(own, "module.action.ended")
    assert len({each["sessionId"] for each in ended}) == len(ended) == 3
    assert {each["fixtureCaseId"] for each in ended} == {
        "approved.01",
        "approved.02",
        "approved.03",
    }


def test_a_violation_in_the_middle_is_rolled_back_after_writes(own: dict[str, str]) -> None:
    """CONTRACTS §3-violation: the grant went between two writes; the events are those of real ones."""
    assert drill(own, *small("violated")).run(["violated"]).is_good
    [executed] = events(own, "capability.rollback.executed")
    assert executed["payload"]["decisionReasonCode"] == "capability-policy-violation"
    assert events(own, "capability.rollback.failed") == []
    steps = [each["payload"] for each in events(own, "transaction.transition")]
    assert [each["nextState"] for each in steps[-3:]] == [
        "APPLYING",
        "RECOVERY_PENDING",
        "ROLLED_BACK",
    ]
    assert [each["afterPartialApply"] for each in steps[-3:]] == [False, True, True]


def test_nothing_is_left_terminal(environ: dict[str, str]) -> None:
    """CONTRACTS §4-h-slo-4: no case leaves an attempt that blocks a document."""
    drill(environ).run(OWN)
    assert TransactionState.FAILED_TERMINAL.value not in ends(environ)
    assert events(environ, "transaction.resolved") == []


def test_only_some_cases(own: dict[str, str]) -> None:
    """Those that are named, in the order of the list."""
    drilled = drill(own).run(["corpus-action", "rejected"])
    assert [each.case_id for each in drilled.cases] == ["rejected", "corpus-action"]
    assert events(own, "module.import.rejected") == []


def test_the_cases_are_listed() -> None:
    """Each once, with what has to come of it and how often."""
    listed = listed_cases()
    assert len({each.case_id for each in listed}) == len(listed) == len(CASES) + len(CaseKind)
    assert all(each.about and each.expected and each.times for each in listed)


# What comes out otherwise.


def test_another_outcome_is_told(own: dict[str, str]) -> None:
    """With the repetition and what was found; the others go on, and it is tidied up."""
    drilled = drill(own, acting(lambda _: "nothing"), *small("rejected")).run(
        ["approved", "rejected"]
    )
    wrong, right = drilled.cases
    assert (wrong.is_good, right.is_good, drilled.is_good) == (False, True, False)
    assert [each.to_json() for each in wrong.otherwise] == [
        {"name": "approved.01", "found": "nothing", "why": "without an error"}
    ]
    assert left(own) == {}


@pytest.mark.parametrize(
    ("problem", "why"),
    [
        (Unexpected("the note is gone"), "the note is gone"),
        (Refused(Code.TX_STATE, "no such step"), "tx-state: no such step"),
        (KeyError("x"), "'x'"),
        (ValueError(), "ValueError"),
    ],
)
def test_an_error_in_a_case_is_what_it_found(
    own: dict[str, str], problem: Exception, why: str
) -> None:
    """Whatever goes wrong there; nothing of it stays."""

    def fails(scene: Scene) -> str:
        scene.grant()
        scene.propose()
        raise problem

    drilled = drill(own, acting(fails)).run(["approved"])
    [told] = drilled.cases[0].otherwise
    assert (told.found, told.why) == ("an error", why)
    assert left(own) == {}
    assert ends(own) == {"REJECTED": 1}


def test_a_check_of_the_document_is_a_real_one(own: dict[str, str]) -> None:
    """A case that looks for what is not there, or finds what must not be, is told so."""

    def looks(scene: Scene) -> str:
        outcome = scene.approved()
        scene.require_notes(absent=[scene.name])
        scene.host.resume(str(outcome.request_id))
        with pytest.raises(Unexpected, match="has"):
            scene.require_notes(absent=[scene.name])
        with pytest.raises(Unexpected, match="has"):
            scene.require_notes(scene.name, "another")
        return "done"

    assert drill(own, acting(looks)).run(["approved"]).is_good


def test_an_interrupt_leaves_nothing(own: dict[str, str]) -> None:
    """Somebody stops it in the middle: it is raised, after everything was put in order."""

    def interrupted(scene: Scene) -> str:
        scene.approved()
        raise KeyboardInterrupt

    for case in (acting(interrupted), acting(interrupted, "steady")):
        with pytest.raises(KeyboardInterrupt):
            drill(own, case).run([case.case_id])
        assert left(own) == {}


# Killed, and run again.


@pytest.mark.parametrize("place", sampled(list(PLACES), 4))
def test_a_killed_drill_is_put_in_order_by_the_next(environ: dict[str, str], place: str) -> None:
    """CONTRACTS §3-recovery, §4-h-slo-4: questions are denied, attempts settled, and all of it removed."""
    killed = subprocess.run(
        [sys.executable, "-m", "tests.service.drilling", place],
        cwd=ROOT,
        env={**os.environ, **environ},
        check=False,
    )
    assert killed.returncode == -9
    assert set(left(environ)) >= {"module", "module_host", "session"}
    assert drill(environ, *small("approved", "violated")).run(["approved", "violated"]).is_good
    assert left(environ) == {}
    found = ends(environ)
    assert set(found) <= {"APPLIED", "REJECTED", "ROLLED_BACK", "APPROVED"}
    # Where others work beside it, one of them may have been cut off between its yes and its apply, or not.
    assert found["APPROVED"] in (
        (0, 1) if place == "beside" else (place in ("approved", "writing"),)
    )


# Beside others.


def test_nobody_else_is_touched(board: Board) -> None:
    """A running host with a module, grants for good and a document of its own goes on as before."""
    board.ready()
    board.grant(READ, decision=FOR_GOOD)
    board.host.change([{"op": "add", "path": "/notes/n1", "value": {"text": "mine"}}], "mine")
    before = (board.host.modules(), board.host.state(), board.host.pending())
    mine = board.host.session_id

    def meanwhile(_: Scene) -> str:
        assert board.call("count").ok
        return "done"

    drilled = drill(board.environ, acting(meanwhile), *small("rolled-back", "violated")).run()
    assert drilled.is_good, drilled.to_json()
    assert (board.host.modules(), board.host.state(), board.host.pending()) == before
    assert board.call("count").ok
    assert board.host.session_id == mine
    assert left(board.environ).keys() == {"session"}
    caused = [each for each in board.events() if each["sessionId"] == mine]
    assert {each["evidenceChannel"] for each in caused} == {"prod_traffic"}


def test_one_drill_at_a_time(own: dict[str, str]) -> None:
    """The second is refused at once, and the first is not disturbed."""

    def second(_: Scene) -> str:
        with pytest.raises(Refused) as refused:
            drill(own).run(["rejected"])
        assert refused.value.code is Code.DRILL_REFUSED
        return "done"

    assert drill(own, acting(second)).run(["approved"]).is_good


@pytest.mark.parametrize("mode", [each for each in ModuleMode if each is not ModuleMode.NORMAL])
def test_a_mode_that_stops_modules_stops_drills(own: dict[str, str], mode: ModuleMode) -> None:
    """MODULES §mode-deny-all: an operator's switch is no drill's to turn; it stays as it is."""
    clock = SystemClock()
    journal = journal_here(look_around(own), clock, Uuid7Ids(clock))
    try:
        modules = StoredModules(journal)
        modules.set_mode(mode, Identity(journal.context.actor))
        with pytest.raises(Refused) as refused:
            drill(own).run()
        assert refused.value.code is Code.DRILL_REFUSED
        assert modules.mode().mode is mode
        assert modules.find(HOST_ID, MODULE_ID) is None
    finally:
        journal.ledger.close()


def test_where_a_passphrase_is_set_the_drill_has_to_know_it(own: dict[str, str]) -> None:
    """Without it no case gets its yes; with it every case does."""
    drill(own, *small("rejected")).run(["rejected"])
    state = ledger_place(look_around(own)).folder
    Passphrase(state, SystemClock()).set("correct horse", None)
    drilled = Drill(own, "correct horse", cases=small("approved", "rejected")).run(
        ["approved", "rejected"]
    )
    assert drilled.is_good, drilled.to_json()
    without = drill(own, acting(lambda scene: scene.grant() or "done")).run(["approved"])
    [told] = without.cases[0].otherwise
    assert told.why.startswith("passphrase-refused")


@pytest.mark.prove
@pytest.mark.timeout(600)
def test_the_whole_drill_twice_on_either_store(environ: dict[str, str]) -> None:
    """As often as the list says; the second finds nothing of the first."""
    for _ in range(2):
        assert Drill(environ).run().is_good
        assert left(environ) == {}

"""Who answers an execution's question: another thread or process, or nobody in time."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.clock import SystemClock
from consentry.base.codes import Code
from consentry.base.ids import Uuid7Ids
from consentry.decide.question import Answer
from consentry.service.approvals import Desk
from consentry.service.capabilityruns import CapabilityDesk, CapabilityRun, CapabilityWish
from consentry.service.sessions import journal_here
from consentry.surface.permission_sets import PermissionSet
from tests.service.capabilityplaces import NO, YES, Workplace, kept, workplace
from tests.service.conftest import MakeAround

READS = "open('data/x.txt').read() + str(n)"


@pytest.fixture
def place(around: MakeAround, project: Path, home: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace."""
    (home / ".config/consentry").mkdir(parents=True)
    with workplace(around(environ={"PATH": "/usr/bin:/bin"}), project) as made:
        yield made


def in_its_own_ledger(place: Workplace, **wish: object) -> CapabilityRun:
    """As another process has it: a ledger that is opened anew, with nobody to ask there."""
    clock = SystemClock()
    journal = journal_here(place.around, clock, Uuid7Ids(clock))
    with closing(journal.ledger), CapabilityDesk(journal, place.around) as desk:
        return desk.run(CapabilityWish("it", **wish), kept)  # type: ignore[arg-type]


def answered(desk: Desk, answer: Answer) -> None:
    """Waits for the one question, and answers it."""
    while not (pending := desk.pending()):
        desk.pause(0.01)
    desk.answer(pending[0].request_id, answer)


@pytest.mark.parametrize("answer", [YES, NO])
def test_another_process_answers(place: Workplace, answer: Answer) -> None:
    """ESCALATION AC3: who has nobody to ask waits for whoever answers elsewhere."""
    place.save(READS)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_its_own_ledger, place, arguments={"n": 1})
        answered(place.desk, answer)
        over = running.result(30)
    assert over.result == ("in data1" if answer is YES else None)
    assert over.escalated is not None
    assert over.escalated.approved == (answer is YES)


def test_nobody_in_time_is_a_no_of_its_own_code(place: Workplace, home: Path) -> None:
    """ESCALATION AC3, AC7: the deadline of the settings; logged as the system's, and the error stays."""
    (home / ".config/consentry/settings.yaml").write_text(
        "approvals:\n  deadlines: {escalation: 200ms}\n"
    )
    place.save(READS)
    over = place.run(None, arguments={"n": 1})
    assert over.error is not None
    assert over.error.type == "FileNotFoundError"
    assert over.escalated is not None
    assert over.escalated.code == Code.APPROVAL_EXPIRED
    [row] = place.decisions()
    assert (row.approved, row.approved_by) == (False, "system")
    assert place.stored().permission_set is PermissionSet.MINIMAL


def test_a_policy_that_changed_meanwhile_ends_the_question(place: Workplace, home: Path) -> None:
    """CONTRACTS §8-policy-change: what was asked under other rules is asked no more, and opens nothing.

    Who waits notices by itself.
    """
    place.save(READS)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_its_own_ledger, place, arguments={"n": 1})
        while not place.desk.pending():
            place.desk.pause(0.01)
        (home / ".config/consentry/consent-config.yaml").write_text(
            'consentSystem: {version: "1.0.0", defaultPolicy: deny}\n'
        )
        over = running.result(30)
    assert over.escalated is not None
    assert over.escalated.code == Code.APPROVAL_SUPERSEDED
    assert place.stored().permission_set is PermissionSet.MINIMAL
    [row] = place.decisions()
    assert (row.approved, row.approved_by) == (False, "system")


def test_code_that_changed_meanwhile_is_not_given_the_set(place: Workplace) -> None:
    """ESCALATION AC4: an approval is for the code that asked; saved anew, the question is superseded."""
    place.save(READS)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_its_own_ledger, place, arguments={"n": 1})
        while not place.desk.pending():
            place.desk.pause(0.01)
        place.save("open('data/x.txt').read() + str(n) + '!'")
        over = running.result(30)
    assert over.escalated is not None
    assert over.escalated.code == Code.APPROVAL_SUPERSEDED
    assert len(over.attempts) == 1
    assert (place.stored().version, place.stored().permission_set) == (2, "minimal")


def test_many_executions_of_one_capability_ask_for_themselves(place: Workplace) -> None:
    """Each has its own question; the first yes moves the set, and the others run in it or say why not."""
    place.save(READS)
    with ThreadPoolExecutor(4) as pool:
        running = [
            pool.submit(in_its_own_ledger, place, arguments={"n": number}) for number in range(4)
        ]
        while len(place.desk.pending()) < 4:
            place.desk.pause(0.01)
        for each in place.desk.pending():
            if place.desk.look(each.request_id).is_pending:
                place.desk.answer(each.request_id, YES)
        done = [each.result(30) for each in running]
    assert place.stored().permission_set is PermissionSet.READONLY
    assert len({each.execution_id for each in done}) == 4
    results = [each.result for each in done if each.is_success]
    assert results
    for each in done:
        if not each.is_success:
            assert each.escalated is not None
            assert each.escalated.code == Code.APPROVAL_SUPERSEDED
    assert sum(each.approved for each in place.decisions()) == 1

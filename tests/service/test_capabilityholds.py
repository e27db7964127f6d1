"""A capability that waits at the moment of a denial: one object for one run, and no set is changed."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.question import Answer, RequestKind
from consentry.service.capabilityruns import CapabilityDesk, CapabilityRun, CapabilityWish
from consentry.surface.permission_sets import PermissionSet
from tests.denos import deno_or_skip
from tests.elsewhere import folder_elsewhere
from tests.service.capabilityplaces import NO, TYPESCRIPT, YES, Workplace, kept, workplace
from tests.service.conftest import MakeAround

READS = "open('data/x.txt').read()"


@pytest.fixture
def place(around: MakeAround) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace that does not lie in a folder of the run's own."""
    with folder_elsewhere() as folder:
        environ = {"PATH": "/usr/bin:/bin"}
        with workplace(around(cwd=folder, environ=environ), folder) as made:
            yield made


def held(place: Workplace, answer: Answer) -> CapabilityRun:
    """One execution that holds, with its one held call answered elsewhere."""
    with (
        CapabilityDesk(place.journal, place.around) as desk,
        ThreadPoolExecutor(1) as pool,
    ):
        running = pool.submit(desk.run, CapabilityWish("it", holds=True), kept)
        while not (pending := place.desk.pending()) and not running.done():
            place.desk.pause(0.01)
        for each in pending:
            assert each.question.kind is RequestKind.HOLD
            place.desk.answer(each.request_id, answer)
        return running.result(30)


def test_a_yes_opens_the_one_file_for_this_run(place: Workplace) -> None:
    """The same attempt goes on; the set stays, and the log of decisions is empty."""
    place.save(READS)
    over = held(place, YES)
    assert (over.result, len(over.attempts), over.escalated) == ("in data", 1, None)
    assert place.stored().permission_set is PermissionSet.MINIMAL
    assert place.decisions() == []
    again = place.run(NO)
    assert again.error is not None


def test_a_no_is_not_asked_once_more(place: Workplace) -> None:
    """Who has refused the file is not asked for a set that opens it."""
    place.save(READS)
    over = held(place, NO)
    assert over.error is not None
    assert (len(over.attempts), over.escalated) == (1, None)
    assert [each["payload"]["kind"] for each in place.events("approval.requested")] == ["hold"]


def test_a_write_that_would_reach_the_host_at_once_is_refused(place: Workplace) -> None:
    """CONTRACTS §12: what a failed attempt wrote is discarded, and that could not be."""
    place.save("open('made.txt', 'w').write('x')\n1 / 0")
    over = held(place, YES)
    assert over.error is not None
    assert not (place.project / "made.txt").exists()
    assert place.events("approval.requested") == []
    assert over.escalated is not None
    assert over.escalated.code == Code.ESCALATION_UNCOVERED


def test_what_is_not_held_takes_the_ordinary_way(place: Workplace) -> None:
    """Without holding, the same denial is asked about when the attempt has failed."""
    place.save(READS)
    over = place.run(YES)
    assert (over.result, len(over.attempts)) == ("in data", 2)
    assert place.stored().permission_set is PermissionSet.READONLY


def test_deno_refuses_by_itself_and_so_is_not_held(place: Workplace) -> None:
    """One clear refusal before anything runs."""
    deno_or_skip()
    place.save("return 1", TYPESCRIPT)
    with (
        CapabilityDesk(place.journal, place.around) as desk,
        pytest.raises(Refused) as raised,
    ):
        desk.run(CapabilityWish("it", holds=True), kept)
    assert raised.value.code is Code.HOLD_REFUSED
    assert place.events("permit.made") == []

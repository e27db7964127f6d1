"""A host of a controlled fixture: every event that its session causes says so (CONTRACTS §4-tags)."""

from consentry.service.actionoutcome import ActionStatus
from consentry.service.fixtures import FixtureCase
from tests.service.modulehosting import MODULE, READ, YES, Board, package

CASE = FixtureCase("drill-1", "counting", "done")
TAGS = {
    "evidenceChannel": "controlled_fixture",
    "fixtureRunId": "drill-1",
    "fixtureCaseId": "counting",
    "expectedOutcome": "done",
    "drillId": "drill-1",
}
NOTHING = {"evidenceChannel": "prod_traffic"}


def tags(event: dict[str, object]) -> dict[str, object]:
    """What an event says of where it comes from."""
    return {name: event[name] for name in TAGS if event[name] is not None}


def test_all_that_a_fixture_causes_carries_its_tags(board: Board) -> None:
    """The session, the import, the question, its answer, the grant, the use and the end."""
    before = len(board.events())
    with board.opened(fixture=CASE) as host:
        host.import_module(package())
        asked = host.invoke(MODULE, "count")
        assert asked.status is ActionStatus.WAITING
        host.answer(str(asked.request_id), YES)
        assert host.invoke(MODULE, "count").ok
        host.remove(MODULE)
    caused = board.events()[before:]
    assert [tags(each) for each in caused] == [TAGS] * len(caused)
    kinds = {each["type"] for each in caused}
    assert kinds >= {
        "session.started",
        "module.imported",
        "approval.requested",
        "approval.answered",
        "grant.given",
        "module.capability.used",
        "module.action.ended",
        "module.removed",
        "session.ended",
    }


def test_real_use_beside_it_is_real_use(board: Board) -> None:
    """Two sessions at once: the mark is the session's, and no other has it."""
    with board.opened(fixture=CASE):
        before = len(board.events())
        board.take()
        board.grant(READ)
        assert board.call("count").ok
        caused = board.events()[before:]
    assert [tags(each) for each in caused] == [NOTHING] * len(caused)

"""What is told of hosts and modules: which is meant, what it may do now, and whether it still fits."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.declare.hostdescription import HostDescription
from consentry.service.modulelist import (
    ListedModule,
    PowerState,
    catalog_document,
    host_named,
    listed_module,
    listed_modules,
    module_named,
    open_sessions,
    session_grants,
    storage_of,
)
from consentry.service.moduleloading import LoadedModule, Unfit
from consentry.store.journal import Journal
from consentry.store.modules import StoredModules
from consentry.surface.catalog import CapabilityCatalog, CatalogEntry, capability_catalog
from tests.service.modulehosting import (
    ALL,
    EXPORT,
    FOR_GOOD,
    MODULE,
    READ,
    SHOW,
    STORE,
    WRITE,
    Board,
    package,
)


@pytest.fixture
def journal(board: Board) -> Iterator[Journal]:
    """The store beside the application, as a command has it."""
    made = board.journal()
    with closing(made.ledger):
        yield made


def states(journal: Journal) -> dict[str, PowerState]:
    """How the capabilities of the only module stand."""
    (listed,) = listed_modules(journal)
    return {each.entry.capability_id: each.state for each in listed.capabilities}


def other_host(host_id: str = "other-board") -> HostDescription:
    """A host without commands."""
    return HostDescription(host_id, "1.0.0")


def test_what_is_imported_is_denied(board: Board, journal: Journal) -> None:
    """MODULES §deny-1, AC-1: every capability that a package asks for, in ascending order."""
    board.take()
    found = states(journal)
    assert tuple(found) == ALL
    assert set(found.values()) == {PowerState.NOT_GRANTED}


def test_a_grant_shows_as_what_it_is(board: Board, journal: Journal) -> None:
    """MODULES §decision-1, §decision-2: kept, or for the session alone while that goes on."""
    board.take()
    board.grant(READ, decision=FOR_GOOD)
    board.grant(STORE)
    found = states(journal)
    assert (found[READ], found[STORE]) == (PowerState.GRANTED, PowerState.SESSION)
    (listed,) = listed_modules(journal)
    grants = {each.entry.capability_id: each.grants for each in listed.capabilities}
    assert [each.terms.session_id for each in grants[STORE]] == [board.host.session_id]
    assert len(grants[READ]) == 1
    board.restart()
    found = states(journal)
    assert (found[READ], found[STORE]) == (PowerState.GRANTED, PowerState.STALE)


def test_a_revoked_grant_is_none_and_a_replaced_one_is_stale(
    board: Board, journal: Journal
) -> None:
    """MODULES §grant-6: the two words of a lack, as the check has them."""
    board.take()
    board.grant(READ, decision=FOR_GOOD)
    board.grant(SHOW, decision=FOR_GOOD)
    board.revoke(READ)
    assert states(journal)[READ] is PowerState.NOT_GRANTED
    board.take(package(version="2.0.0"))
    found = states(journal)
    assert (found[READ], found[SHOW]) == (PowerState.NOT_GRANTED, PowerState.STALE)


def test_a_list_never_promises_more_than_a_check_finds(board: Board, journal: Journal) -> None:
    """For each capability and each way it can stand, in the session that asks."""
    board.take()
    board.grant(READ, decision=FOR_GOOD)
    board.grant(STORE)
    board.grant(EXPORT, decision=FOR_GOOD)
    board.revoke(EXPORT)
    for capability_id, state in states(journal).items():
        passed = board.host.check(MODULE, [capability_id]).is_passed
        assert passed is (state in (PowerState.GRANTED, PowerState.SESSION)), capability_id


def test_a_session_counts_where_it_goes_on(board: Board, journal: Journal) -> None:
    """Two windows of one application: what one was granted for its session is told with that session."""
    board.take()
    with board.opened() as second:
        board.grant(STORE)
        assert {board.host.session_id, second.session_id} <= open_sessions(journal)
        (registered,) = StoredModules(journal).all()
        (grant,) = session_grants(journal, registered.identity)
        assert grant.terms.session_id == board.host.session_id
    assert second.session_id not in open_sessions(journal)


def test_a_module_is_read_again_against_its_host(board: Board, journal: Journal) -> None:
    """It fits, or is told why not; what is registered is as it was."""
    board.take()
    (fits,) = listed_modules(journal)
    assert isinstance(fits.module, LoadedModule)
    assert fits.problem is None
    less = HostDescription(Board.host_id, "2.4.0")
    StoredModules(journal).register_host(less)
    (unfit,) = listed_modules(journal)
    assert isinstance(unfit.module, Unfit)
    assert "notes.count" in str(unfit.problem)
    assert unfit.to_json()["problem"] == unfit.problem
    assert unfit.registration == fits.registration
    assert listed_module(journal, unfit.registration, board.host.description).problem is None


def test_how_much_a_module_keeps(board: Board, journal: Journal) -> None:
    """Keys and bytes, with the most there may be."""
    board.ready(STORE)
    board.call("keep", arguments=["a", "b"])
    (registered,) = StoredModules(journal).all()
    kept = storage_of(journal, registered.identity).to_json()
    assert kept == {"keys": 1, "bytes": 13, "mostKeys": 1000, "mostBytes": 1 << 20}


def test_a_host_is_named_or_the_only_one(journal: Journal) -> None:
    """Otherwise `host-unknown`, with what is known; an empty store knows none."""
    modules = StoredModules(journal)
    assert host_named(modules, None).host_id == Board.host_id
    assert host_named(modules, Board.host_id).app_version == "2.4.0"
    modules.register_host(other_host())
    for stored, named, said in (
        (None, None, "start the application once"),
        (None, Board.host_id, "start the application once"),
        (modules, "nobody", "known are: note-board, other-board"),
        (modules, None, "--host with one of: note-board, other-board"),
    ):
        with pytest.raises(UsageProblem) as raised:
            host_named(stored, named)
        assert raised.value.code is Code.HOST_UNKNOWN
        assert said in raised.value.help_line


def test_a_module_is_looked_for_in_every_host(board: Board, journal: Journal) -> None:
    """Found where one has it; where two have, nothing is guessed."""
    board.take()
    modules = StoredModules(journal)
    found, host = module_named(modules, MODULE, None)
    assert (found.identity.host_id, host.host_id) == (Board.host_id, Board.host_id)
    with board.opened(host_id="other-board") as second:
        second.import_module(package())
        with pytest.raises(UsageProblem, match="2 hosts have a module") as raised:
            module_named(modules, MODULE, None)
        assert raised.value.code is Code.HOST_UNKNOWN
        found, _ = module_named(modules, MODULE, "other-board")
        assert found.identity.host_id == "other-board"
    for stored, named, host_id, code in (
        (None, MODULE, None, Code.MODULE_UNKNOWN),
        (modules, "nobody", None, Code.MODULE_UNKNOWN),
        (modules, "nobody", Board.host_id, Code.MODULE_UNKNOWN),
        (modules, MODULE, "nobody", Code.HOST_UNKNOWN),
    ):
        with pytest.raises(UsageProblem) as raised:
            module_named(stored, named, host_id)
        assert raised.value.code is code


def test_modules_of_one_host_are_listed_alone(board: Board, journal: Journal) -> None:
    """By host and id, whichever order they came in."""
    board.take()
    board.take(package(module_id="a-first-one"))
    with board.opened(host_id="other-board") as second:
        second.import_module(package())
        assert list(map(_named, listed_modules(journal))) == [
            ("note-board", "a-first-one"),
            ("note-board", MODULE),
            ("other-board", MODULE),
        ]
    assert list(map(_named, listed_modules(journal, "other-board"))) == [("other-board", MODULE)]


def _named(listed: ListedModule) -> tuple[str, str]:
    identity = listed.registration.identity
    return identity.host_id, identity.module_id


def test_looking_changes_nothing(board: Board, journal: Journal) -> None:
    """No event and no revision, so that nobody has to load anything anew."""
    board.take()
    board.grant(READ, decision=FOR_GOOD)
    before = (len(board.events()), StoredModules(journal).all()[0].revision)
    listed_modules(journal)
    open_sessions(journal)
    assert (len(board.events()), StoredModules(journal).all()[0].revision) == before


def test_the_catalog_is_told_as_it_is() -> None:
    """MODULES §catalog-1: six ids with scope and limits, and its version; another one likewise."""
    document = catalog_document()
    listed = document["capabilities"]
    assert isinstance(listed, list)
    assert len(listed) == len(capability_catalog().entries) == 6
    assert document["capabilityCatalogVersion"] == capability_catalog().version
    other = catalog_document(CapabilityCatalog("2.0.0", (CatalogEntry("a.b", "does", ("no",)),)))
    assert other == {
        "capabilityCatalogVersion": "2.0.0",
        "capabilities": [{"capabilityId": "a.b", "scope": "does", "limits": ["no"]}],
    }
    assert WRITE in {each["capabilityId"] for each in listed if isinstance(each, dict)}

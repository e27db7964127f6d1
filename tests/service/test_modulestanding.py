"""Which of stale and not granted is answered: the same, whoever asks and whatever was loaded before."""

from collections.abc import Iterator
from contextlib import closing

import pytest

from consentry.base.clock import ManualClock
from consentry.decide.grant import GrantLack, GrantNeed
from consentry.store.grants import StoredGrants
from tests.decide.samples import NOW, OWNER
from tests.record.samples import WRITER
from tests.service.moduleboard import CONTENTS, DIGESTS, HOST_ID, MODULES, VERSIONS
from tests.service.modulemodel import NOT_GRANTED, STALE
from tests.service.moduleprograms import Program
from tests.store.conftest import Store

MODULE, READ = MODULES[0], "state.read"


@pytest.fixture
def programs(store: Store) -> Iterator[tuple[Program, Program]]:
    """Two programs with a session each; the module is imported, the first has a grant for its session."""
    clock = ManualClock(NOW)
    with closing(store.open()) as one, closing(store.open()) as other:
        first = Program(one, WRITER, clock, "1.0.0")
        second = Program(other, WRITER, clock, "1.0.0")
        first.import_good(MODULE, VERSIONS[0], CONTENTS[0])
        assert first.act(MODULE, "look", "interactive", "approve_session", OWNER, 1)[0] == "done"
        yield first, second


def code_of(program: Program) -> str | None:
    """What a check of that program comes to."""
    rejection = program.check(MODULE, [READ]).rejection
    return None if rejection is None else rejection.code.value


def test_what_another_session_was_granted_is_not_granted_here(
    programs: tuple[Program, Program],
) -> None:
    """MODULES §grant-6: also after the module changed; for the session itself it is stale."""
    first, second = programs
    assert (code_of(first), code_of(second)) == (None, NOT_GRANTED)
    first.import_good(MODULE, VERSIONS[2], CONTENTS[0])
    assert (code_of(first), code_of(second)) == (STALE, NOT_GRANTED)


def test_what_expired_with_another_session_is_stale_for_everybody(
    programs: tuple[Program, Program],
) -> None:
    """MODULES §grant-6, §code-1: at once, also for a program that had looked before."""
    first, second = programs
    assert code_of(second) == NOT_GRANTED
    second.end(first.session_id)
    assert (code_of(first), code_of(second)) == (STALE, STALE)


@pytest.mark.parametrize("is_replaced", [False, True])
def test_the_store_says_what_the_pure_decision_says(
    programs: tuple[Program, Program], *, is_replaced: bool
) -> None:
    """MODULES §grant-6: the loaded standing and `grant_for` have one answer, before and after a session."""
    first, second = programs
    version = VERSIONS[2] if is_replaced else VERSIONS[0]
    if is_replaced:
        first.import_good(MODULE, version, CONTENTS[0])
    journal = second._journal
    parts = (journal.ledger, journal.ids, journal.clock, journal.context)
    for _ in range(2):
        for program in programs:
            digest = DIGESTS[MODULE, version, CONTENTS[0]]
            need = GrantNeed(HOST_ID, MODULE, version, digest, READ, program.session_id)  # type: ignore[arg-type]
            found = StoredGrants(*parts).active(need)
            assert code_of(program) == (found.value if isinstance(found, GrantLack) else None)
        second.end(first.session_id)


@pytest.mark.parametrize("version", [VERSIONS[0], VERSIONS[2]])
@pytest.mark.parametrize("changes", range(4))
def test_a_module_that_was_removed_and_came_back_is_not_what_it_was(
    programs: tuple[Program, Program], version: str, changes: int
) -> None:
    """MODULES §grant-2, §grant-4: what was loaded before it went is never taken for fresh again.

    However often it changes after it came back: its revision goes on where it was.
    """
    first, second = programs
    assert code_of(first) is None
    second.drop(MODULE)
    second.import_good(MODULE, version, CONTENTS[0])
    for _ in range(changes):
        second.set_mode("normal")
    assert code_of(first) == NOT_GRANTED
    assert first.act(MODULE, "look", "interactive", None, OWNER, 1)[0] == "waiting"

"""A process that ends at any step of an append, or is stopped there by an error, on both stores.

Afterwards: what was acknowledged is there, once; what was not is there whole or not at all; events
and what changed with them are never apart; the chain verifies; the next append works.
"""

import subprocess
import sys
from collections.abc import Callable
from itertools import product
from threading import Thread

import pytest

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.store.database import Dialect
from consentry.store.ledger import Ledger
from consentry.store.steps import Step
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.crashes import (
    BATCH,
    BEFORE,
    CHANGE,
    SHAPES,
    SINGLE,
    THREADS,
    WITH_CHANGE,
    Said,
    Stroke,
    append,
    change_of,
    drafts_of,
    make_appended,
    require_whole,
)
from tests.store.ledgers import fresh_drafts
from tests.store.sizes import sampled

RECORDED_FROM = Step.COMMITTED


def steps_of(shape: str) -> list[Step]:
    """The steps that an append of that shape comes to."""
    return [step for step in Step if step is not Step.CHANGED or shape in WITH_CHANGE]


def crashed_at(step: Step, store: Store, shape: str) -> Said:
    """What the program said until it killed itself at that step."""
    program = [sys.executable, "-m", "tests.store.crashes", "crash"]
    argv = [*program, str(store.url_or_path), shape, step.name]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    said = Said.read(ended.stdout)
    assert (ended.returncode, said.struck) == (-9, True), ended.stderr
    return said


@pytest.mark.parametrize("shape", SHAPES)
def test_a_process_killed_at_any_step_leaves_the_ledger_whole(store: Store, shape: str) -> None:
    """Crash upon crash in one store, at every step in turn; after each an append works."""
    make_appended(store.open())
    everything: list[Said] = []
    # The plain shapes do nothing that those with a change do not, and a server takes its time.
    is_quick = store.dialect is Dialect.SQLITE
    small = (len(Step) if is_quick else 5) if shape in WITH_CHANGE else 3
    for step in sampled(steps_of(shape), small):
        said = crashed_at(step, store, shape)
        everything.append(said)
        assert said.told or shape == THREADS
        database = store.open()
        events = require_whole(database, everything, shape)
        if shape != THREADS:
            assert len(said.tried) == BEFORE + 1
            is_recorded = step.value >= RECORDED_FROM.value
            assert set(said.tried[-1]).issubset(events) == is_recorded
        everything.append(append(Ledger(database, WRITER), shape))
        require_whole(database, everything, shape)


class Broken(Exception):
    """A fault that has nothing to do with the ledger."""


def raiser(problem: BaseException) -> Callable[[], None]:
    """Raises it."""

    def act() -> None:
        raise problem

    return act


FAULTS: dict[str, Callable[[], BaseException]] = {
    "an error": lambda: Broken("here"),
    "an interrupt": KeyboardInterrupt,
    "a failing database": lambda: LedgerProblem(Code.LEDGER_UNWRITABLE, "the disk is full"),
}


@pytest.mark.parametrize(
    ("shape", "fault"), sampled(list(product([SINGLE, BATCH, CHANGE], FAULTS)), 3)
)
def test_an_error_at_any_step_is_told_and_leaves_the_ledger_usable(
    store: Store, shape: str, fault: str
) -> None:
    """Raised, not swallowed; before the commit nothing is recorded, behind it all of it is."""
    make_appended(store.open())
    everything: list[Said] = []
    for step in steps_of(shape):
        problem = FAULTS[fault]()
        ledger = Ledger(store.open(), WRITER, Stroke(step, raiser(problem)))
        made = drafts_of(shape, fresh_drafts())
        ids = tuple(draft.event_id for draft in made)
        everything.append(Said((ids,), frozenset()))
        with pytest.raises(type(problem)) as caught:
            ledger.append(*made, change=change_of(shape, made))
        assert caught.value is problem
        events = require_whole(ledger.database, everything, shape)
        assert set(ids).issubset(events) == (step.value >= RECORDED_FROM.value)
        everything.append(append(ledger, shape))
        require_whole(ledger.database, everything, shape)
        ledger.close()


@pytest.mark.parametrize("fault", sampled(list(FAULTS), 2))
def test_an_error_at_any_step_of_a_shared_commit_reaches_those_it_concerns(
    store: Store, fault: str
) -> None:
    """Four threads at once: each is told that it is recorded, or that it is not; none hangs."""
    make_appended(store.open())
    everything: list[Said] = []
    for step in steps_of(THREADS):
        stroke = Stroke(step, raiser(FAULTS[fault]()), passes=2)
        ledger = Ledger(store.open(), WRITER, stroke)

        def append_some(told: list[Said], ledger: Ledger = ledger) -> None:
            for _ in range(4):
                made = drafts_of(THREADS, fresh_drafts())
                ids = tuple(draft.event_id for draft in made)
                try:
                    ledger.append(*made, change=change_of(THREADS, made))
                except (Broken, KeyboardInterrupt, LedgerProblem):
                    told.append(Said((ids,), frozenset()))
                else:
                    told.append(Said((ids,), frozenset(ids)))

        threads = [Thread(target=append_some, args=(everything,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert stroke.fell
        require_whole(ledger.database, everything, THREADS)
        everything.append(append(ledger, THREADS))
        require_whole(ledger.database, everything, THREADS)
        ledger.close()
    assert len(everything) == len(Step) * (4 * 4 + 1)

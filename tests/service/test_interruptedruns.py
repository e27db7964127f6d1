"""Ctrl-C in a program that uses the library: nothing stays open, and what was decided is on record."""

import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from consentry.enforce import groupstock, holding, interrupts, sealing, streams
from consentry.enforce.engines import native, nativecode
from consentry.enforce.native import ending, parent, snippets, supervisor
from consentry.record.events import EventType
from consentry.service import runs, snippetruns, takeover
from consentry.service.audit import whole_event
from consentry.service.ledgers import ledger_for_reading
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from tests.enforce.interrupted import Interrupts, open_descriptors
from tests.service.conftest import MakeAround

MODULES = (
    native, nativecode, parent, snippets, supervisor, ending, holding, groupstock, streams, sealing,
    interrupts, runs, snippetruns, takeover,
)  # fmt: skip
EACH = 4
"""Every fourth line: each takes a run, and `tests/enforce` tries them all where they lie deepest."""

CALLS: dict[str, Callable[[Library, Surroundings], object]] = {
    "program": lambda library, around: library.exec(["true"], around),
    "snippet": lambda library, around: library.run_code("1 + 1", around),
}


@pytest.fixture(autouse=True)
def usual_handler() -> Iterator[None]:
    """As in any program that was started from a terminal; whoever runs the tests may have another."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("no interrupt ever arrives in this thread")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("kind", CALLS)
def test_a_call_leaves_nothing_open_and_nothing_unrecorded(around: MakeAround, kind: str) -> None:
    """For every decision there is the record of what became of it, also of a run that was ended."""
    here = around(environ={"PATH": "/usr/bin:/bin"})
    at_every_line = Interrupts(module.__file__ for module in MODULES)
    with closing(Library()) as library:

        def call() -> object:
            return CALLS[kind](library, here)

        for _ in range(4):
            call()
        before, came = open_descriptors(), 0
        for line in at_every_line.lines_of(call)[::EACH]:
            came += at_every_line.at(line, call)
            assert open_descriptors() == before, line
        assert came > 50
        call()
    history = ledger_for_reading(here)
    assert history is not None
    with closing(history.database):
        found = Counter(whole_event(row)["type"] for row in history.events())
    assert found[EventType.RUN_DECIDED] == found[EventType.TOOL_AUDIT] > came // 2

"""Rehearsals of real programs through the service, for the tests of what becomes of them."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.enforce.engines.native import Io
from consentry.service.audit import whole_event
from consentry.service.commandline import RunWish
from consentry.service.execution import carry_out
from consentry.service.keepsettings import keeping_of
from consentry.service.keptruns import Place
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.recovering import recover_here
from consentry.service.runledger import Run
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from consentry.service.takeover import Arrival


@dataclass(frozen=True, slots=True)
class Workshop:
    """A project, and whoever works in it."""

    around: Surroundings
    project: Path

    def run(self, script: str, arrival: Arrival = Arrival.WHEN_COMMITTED) -> Run:
        """A shell script that may write the whole project."""
        wish = RunWish(words=("sh", "-c", script), write=("./",), execute=("any",))
        return carry_out(wish, self.around, Io(keeps=True), arrival=arrival)

    @contextmanager
    def place(self) -> Iterator[Place]:
        """As a command opens it."""
        clock = SystemClock()
        journal = journal_here(self.around, clock, Uuid7Ids(clock))
        with closing(journal.ledger):
            place = Place(journal, self.state, keeping_of(self.around))
            recover_here(place)
            yield place

    @property
    def state(self) -> Path:
        """The state directory."""
        return ledger_place(self.around).folder

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The payloads of all events of a type, in their order."""
        history = ledger_for_reading(self.around)
        assert history is not None
        with closing(history.database):
            events = [dict(whole_event(row)) for row in history.events()]
        return [dict(each["payload"]) for each in events if each["type"] == kind]  # type: ignore[call-overload]

"""Events to measure with: one small type, fresh ids, a hundred subjects in turn."""

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType

WRITER = "machine-" + "0" * 32


class Drafts:
    """Makes one draft after the other."""

    def __init__(self) -> None:
        self.clock = SystemClock()
        self.ids = Uuid7Ids(self.clock)
        self.context = Context("local:1000:bench@host", WRITER)
        self.number = 0

    def make(self, subject: str | None = None) -> Draft:
        """The next one."""
        self.number += 1
        return Draft(
            self.ids.new("event"),
            EventType.FILESYSTEM_RACE_DETECTED,
            self.clock.now(),
            subject or f"tool:t{self.number % 100}",
            self.context,
            {"jail": "/jail", "relative": "a/b", "component": "a", "n": self.number},
        )

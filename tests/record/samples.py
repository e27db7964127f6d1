"""Drafts for tests: real types, predictable ids and times."""

from consentry.base.canonical import Json
from consentry.base.clock import Instant, ManualClock
from consentry.base.ids import CountingIds, IdSource
from consentry.base.units import Duration
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType

WRITER = "machine-" + "1" * 32
CONTEXT = Context(actor="local:1000:user@host", machine_id=WRITER)


class Drafts:
    """Makes one draft after the other, a second apart."""

    def __init__(self, ids: IdSource | None = None) -> None:
        self.ids = ids or CountingIds()
        self.clock = ManualClock(Instant(1_767_225_600_000))

    def make(self, subject: str = "tool:build", **payload: Json) -> Draft:
        """A `FilesystemRaceDetected` with more in its payload."""
        self.clock.advance(Duration(1000))
        fields = {"jail": "/jail", "relative": "a/b", "component": "a", **payload}
        event_type = EventType.FILESYSTEM_RACE_DETECTED
        return Draft(self.ids.new("event"), event_type, self.clock.now(), subject, CONTEXT, fields)

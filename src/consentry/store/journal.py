"""Changes a row and says so in the ledger, both or neither.

Whatever keeps the values of `decide` writes through here: the event is recorded in the transaction
that changes the row, under the context the keeper was given.
"""

from collections.abc import Mapping

from consentry.base.canonical import Json
from consentry.base.clock import Clock, Instant
from consentry.base.ids import IdSource
from consentry.base.values import dataclass, replace
from consentry.record.envelope import EVENT_PREFIX, Context, Draft
from consentry.record.events import EventType
from consentry.store.database import Database
from consentry.store.ledger import Change, Ledger


@dataclass(frozen=True, slots=True)
class About:
    """What one event says besides its payload: its subject, and where it departs from the context."""

    subject: str
    actor: str | None = None
    session_id: str | None = None
    policy_hash: str | None = None


@dataclass(frozen=True, slots=True)
class Journal:
    """The ledger, and all that an event needs."""

    ledger: Ledger
    ids: IdSource
    clock: Clock
    context: Context

    @property
    def database(self) -> Database:
        """Where the rows are."""
        return self.ledger.database

    @property
    def machine_id(self) -> str:
        """The machine that this program runs on."""
        return self.context.machine_id

    def draft(
        self,
        event: EventType,
        about: About,
        payload: Mapping[str, Json],
        at: Instant,
        event_id: str | None = None,
    ) -> Draft:
        """An event that is not recorded yet; `event_id` is the one that its payload repeats."""
        context = self.context
        if about.actor or about.session_id or about.policy_hash:
            context = replace(
                context,
                actor=about.actor or context.actor,
                session_id=about.session_id or context.session_id,
                policy_hash=about.policy_hash or context.policy_hash,
            )
        own_id = event_id or self.ids.new(EVENT_PREFIX)
        return Draft(own_id, event, at, about.subject, context, payload)

    def record(self, *drafts: Draft, change: Change) -> None:
        """Makes the change and records the events; durable when it returns, undone if it raises."""
        self.ledger.append(*drafts, change=change)


def picked(document: Mapping[str, Json], *names: str) -> dict[str, Json]:
    """These fields of a value's JSON."""
    return {name: document[name] for name in names}

"""Takes a host that has no modules any more out of the store.

A host registers itself when it starts and stays known when it ends: its modules wait for it. One that was
made for a single purpose is removed when that is over, so that nobody has to say which host they mean
because of it. One that has a module stays.
"""

from typing import Final

from consentry.decide.identity import Identity
from consentry.record.events import EventType
from consentry.store.database import Transaction
from consentry.store.journal import About, Journal
from consentry.store.rows import Overtaken

_DIGEST: Final = "SELECT digest FROM module_host WHERE host_id = ?"
_REMOVE: Final = (
    "DELETE FROM module_host WHERE host_id = ? AND digest = ? "
    "AND NOT EXISTS (SELECT 1 FROM module WHERE module.host_id = module_host.host_id)"
)


def remove_host(journal: Journal, host_id: str, by: Identity) -> bool:
    """Removes it and records that; False where it is not there, or has a module."""
    with journal.database.reading() as view:
        digest = next((str(row[0]) for row in view.rows(_DIGEST, (host_id,))), None)
    if digest is None:
        return False
    now = journal.clock.now()
    draft = journal.draft(
        EventType.HOST_REMOVED,
        About(f"host:{host_id}", actor=by),
        {"hostId": host_id, "digest": digest, "removedBy": by, "removedAt": str(now)},
        now,
    )

    def change(transaction: Transaction) -> None:
        if transaction.run(_REMOVE, (host_id, digest)) != 1:
            raise Overtaken

    try:
        journal.record(draft, change=change)
    except Overtaken:
        return False
    return True

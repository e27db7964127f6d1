"""Records three events in the ledger of this state directory, or flips one byte of it.

    python examples/ledger.py record     what a program that embeds Consentry does
    python examples/ledger.py flip       what a careless or hostile hand does to the file

The events are marked as a controlled fixture: they are made up, and say so.
"""

import os
import sqlite3
import sys

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.record.envelope import Context, Draft, marked_as_fixture
from consentry.record.events import EventType
from consentry.service.ledgers import ledger_for_writing, ledger_place
from consentry.service.surroundings import look_around


def record() -> None:
    """Appends three events; each is durable when `append` returns."""
    clock = SystemClock()
    ids = Uuid7Ids(clock)
    ledger = ledger_for_writing(look_around(os.environ))
    context = marked_as_fixture(
        Context(actor="system", machine_id=ledger.writer), "demo", "three-races", "recorded"
    )
    for component in ("latex", "output", "main.tex"):
        payload = {"jail": "project", "relative": f"{component}/x", "component": component}
        event_type = EventType.FILESYSTEM_RACE_DETECTED
        draft = Draft(
            ids.new("event"), event_type, clock.now(), "tool:build-latex", context, payload
        )
        [event] = ledger.append(draft)
        print(f"recorded {event.draft.event_id} as number {event.seq}")


def flip() -> None:
    """Changes one byte of the second event, in the file itself."""
    path = ledger_place(look_around(os.environ)).database
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(path.read_bytes())
    at = content.index(b'"component":"output"') + len(b'"component":"')
    content[at] ^= 0x20
    path.write_bytes(bytes(content))
    print(f"flipped one byte at offset {at} of {path.name}")


if __name__ == "__main__":
    {"record": record, "flip": flip}[sys.argv[1]]()

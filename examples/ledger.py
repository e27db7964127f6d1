"""Records three events in the ledger of this state directory, looks at one, or flips one byte.

    python examples/ledger.py record      what a program that embeds Consentry does
    python examples/ledger.py glance A B  the same field in the event of A and in the last line of B
    python examples/ledger.py flip        what a careless or hostile hand does to the file

The events are marked as a controlled fixture: they are made up, and say so.
"""

import json
import os
import sqlite3
import sys
from pathlib import Path

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
        jail = str(Path.home() / "project")
        payload = {"jail": jail, "relative": f"{component}/x", "component": component}
        event_type = EventType.FILESYSTEM_RACE_DETECTED
        draft = Draft(
            ids.new("event"), event_type, clock.now(), "tool:build-latex", context, payload
        )
        [event] = ledger.append(draft)
        print(f"recorded {event.draft.event_id} as number {event.seq}")


def glance(event: str, exported: str) -> None:
    """Prints where the race was, as recorded and as exported."""
    recorded = json.loads(Path(event).read_text())
    *_, last = Path(exported).read_text().splitlines()
    print(f"recorded: {recorded['payload']['jail']}")
    print(f"exported: {json.loads(last)['payload']['jail']}")


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
    match sys.argv[1:]:
        case ["record"]:
            record()
        case ["glance", event_file, exported_file]:
            glance(event_file, exported_file)
        case ["flip"]:
            flip()
        case _:
            sys.exit(__doc__)

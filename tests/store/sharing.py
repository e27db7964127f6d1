"""One process of one machine that appends to a shared database until its time is up."""

import os
import sys
import time
from pathlib import Path

from consentry.store.ledger import Ledger
from consentry.store.machine import machine_id
from consentry.store.postgres import PostgresDatabase
from tests.store.crashes import CHANGE, append_and_say
from tests.store.ledgers import fresh_drafts


def main(url: str, state: str, seconds: str) -> None:
    """Appends as the machine whose state that is; says first which one it is."""
    writer = machine_id(Path(state))
    os.write(1, f"{writer}\n".encode())
    ledger, drafts = Ledger(PostgresDatabase(url), writer), fresh_drafts()
    sys.stdin.read()  # all begin at once
    end = time.monotonic() + float(seconds)
    while time.monotonic() < end:
        append_and_say(ledger, CHANGE, drafts)
    ledger.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

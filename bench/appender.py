"""The program that the ledger bench starts several of: `python -m bench.appender FILE COUNT`.

Says `ready` once it has opened the ledger and made its events, appends when it is told to, one at a
time, and says `done`.
"""

import sys
from pathlib import Path

from bench.drafts import WRITER, Drafts
from consentry.store.ledger import Ledger
from consentry.store.sqlite import SqliteDatabase


def main(file: str, count: str) -> None:
    """Appends that many events."""
    ledger, drafts = Ledger(SqliteDatabase(Path(file)), WRITER), Drafts()
    waiting = [drafts.make() for _ in range(int(count))]
    print("ready", flush=True)
    sys.stdin.readline()
    for draft in waiting:
        ledger.append(draft)
    print("done", flush=True)
    ledger.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A module's change in an application: previewed, approved, applied, rolled back, without a browser.

    python examples/changes.py

As `examples/modules.py`, this script says which answer it gives itself where the note board waits for a click.
The notes, and what became of the change, are in the store of whoever runs it.
"""

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.modules import answer, call, take
from examples.noteboard.board import Board
from examples.noteboard.host import open_host


def main() -> None:
    """One change of two notes, there and back."""
    with tempfile.TemporaryDirectory() as folder, open_host(Board(Path(folder))) as host:
        before = host.state()
        take(host, "gardener", "gardener.graph")
        answer(host, call(host, "gardener", "weekend"), "approve_session")
        tx_id = answer(host, call(host, "gardener", "weekend"), "approve_once")
        print(f"  applied: {host.transactions.apply(tx_id).state}")
        print(f"  the notes are what they were before: {host.state() == before}")
        print(f"  rolled back: {host.transactions.roll_back(tx_id).state}")
        print(f"  the notes are what they were before: {host.state() == before}")


if __name__ == "__main__":
    main()

"""Starts the note board, or runs one round of its automation.

    python -m examples.noteboard --folder ~/notes            prints the link to open
    python -m examples.noteboard --folder ~/notes --automation

Run it from the root of the repository. What modules were granted, and all they did, is in the ledger that
`consentry` uses; what was granted for the session ends when the board is closed.
"""

import argparse
import signal
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from consentry.base.errors import ConsentryError
from consentry.base.safetext import safe_line
from consentry.modules import ModuleHost
from examples.noteboard.board import Board
from examples.noteboard.deeds import Deeds
from examples.noteboard.host import open_host
from examples.noteboard.notes import BoardProblem
from examples.noteboard.record import Record
from examples.noteboard.server import NoteBoardServer


def main(
    words: Sequence[str] | None = None,
    host_type: type[ModuleHost] = ModuleHost,
    server_type: type[NoteBoardServer] = NoteBoardServer,
) -> int:
    """Runs it to its end; tests hand it a host or a server of their own."""
    parser = argparse.ArgumentParser("noteboard", description="A note board that takes modules.")
    parser.add_argument("--folder", type=Path, required=True, help="where the notes are kept")
    parser.add_argument("--port", type=int, default=0, help="where it listens; any free one")
    parser.add_argument(
        "--automation", action="store_true", help="one round of automation, no page"
    )
    given = parser.parse_args(words)
    try:
        board = Board(given.folder)
        with open_host(board, host_type) as host:
            deeds = Deeds(board, host)
            return automate(deeds) if given.automation else serve(deeds, given.port, server_type)
    except (BoardProblem, ConsentryError, OSError) as problem:
        print(f"noteboard: {safe_line(str(problem))}", file=sys.stderr)
        return 1


def automate(deeds: Deeds) -> int:
    """Calls what modules offer to automation, once, and says what came of each call."""
    for name, told in deeds.tick():
        words = " ".join(filter(None, (name, told.status, told.code, *told.results)))
        print(safe_line(words))
    return 0


def serve(deeds: Deeds, port: int, server_type: type[NoteBoardServer]) -> int:
    """Serves the page until it is interrupted."""
    with closing(Record()) as record, server_type(deeds, record, port) as server:
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        print(f"open {server.link}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""A stranger's module in an application, from import to refusal, without a browser.

    python examples/modules.py

Nobody is simulated: where the note board (`python -m examples.noteboard`) waits for a click, this script says
which answer it gives itself, and what came of it. Everything is in a temporary folder but the ledger, which is
that of whoever runs it.
"""

import sys
import tempfile
from pathlib import Path

from consentry.base.safetext import safe_line
from consentry.modules import CapabilityAsk, ModuleHost

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.noteboard.board import Board
from examples.noteboard.host import open_host

MODULES = Path(__file__).parent / "noteboard/modules"


def take(host: ModuleHost, name: str, graph: str | None = None) -> None:
    """Imports a package, and says what came of it."""
    content = (MODULES / f"{name}.json").read_bytes()
    beside = None if graph is None else (MODULES / f"{graph}.json").read_bytes()
    answer = host.import_module(content, beside)
    print(f"  import {name}: {answer['code']} {safe_line(str(answer.get('path', '')))}".rstrip())


def call(host: ModuleHost, module: str, action: str) -> str | None:
    """Calls an action, and says what came of it; the question that it waits for, if any."""
    outcome = host.invoke(module, action)
    told = [each for each in (outcome.code, outcome.why, *outcome.results) if each]
    print(f"  {module} {action}: {outcome.status}", *map(safe_line, told), sep="  ")
    return outcome.request_id


def answer(host: ModuleHost, request_id: str | None, decision: str) -> None:
    """Shows the question, and answers it."""
    [request] = [each for each in host.pending() if each.request_id == request_id]
    print(*(f"    | {line}" for line in CapabilityAsk.of(request).lines()), sep="\n")
    print(f"  this script answers: {decision}")
    host.answer(request.request_id, decision)


def main() -> None:
    """An honest module, a package that tries the door, and one that passes and attacks."""
    with tempfile.TemporaryDirectory() as folder:
        board = Board(Path(folder))
        with open_host(board) as host:
            take(host, "word-count")
            waiting = call(host, "word-count", "words")
            answer(host, waiting, "approve_session")
            call(host, "word-count", "words")
            take(host, "free-gift-wildcard")
            take(host, "free-gift", "free-gift.graph")
            before = board.file.read_bytes()
            waiting = call(host, "free-gift", "claim")
            answer(host, waiting, "approve_session")
            call(host, "free-gift", "claim")
            same = board.file.read_bytes() == before
            print(f"  the notes are byte for byte the same: {same}")
            for module in ("word-count", "free-gift"):
                host.remove(module)


if __name__ == "__main__":
    main()

"""Strangers' modules in an application, from import to refusal, without a browser.

    python examples/modules.py

Nobody is simulated: where the note board (`python -m examples.noteboard`) waits for a click, this script says
which answer it gives itself, and what came of it. Everything is in a temporary folder but the ledger and the
notes in it, which are in the store of whoever runs it.
"""

import sys
import tempfile
from pathlib import Path

from consentry.base.safetext import safe_line
from consentry.modules import CapabilityAsk, ModuleHost, RequestKind, TransactionAsk

sys.path.insert(0, str(Path(__file__).parents[1]))

from examples.noteboard.board import Board
from examples.noteboard.difference import lines_of
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
    told = [outcome.code, outcome.why, outcome.transaction_state]
    told += outcome.results if outcome.transaction_id is None else ()
    print(f"  {module} {action}: {outcome.status}", *map(safe_line, filter(None, told)), sep="  ")
    return outcome.request_id


def answer(host: ModuleHost, request_id: str | None, decision: str) -> str:
    """Shows the question, with the preview where it is about a change, and answers it."""
    [request] = [each for each in host.pending() if each.request_id == request_id]
    tx_id = ""
    if request.question.kind is RequestKind.TRANSACTION:
        tx_id = TransactionAsk.of(request).tx_id
        shown = [*TransactionAsk.of(request).lines(), *difference(host, tx_id)]
    else:
        shown = list(CapabilityAsk.of(request).lines())
    print(*(f"    | {line}" for line in shown), sep="\n")
    print(f"  this script answers: {decision}")
    host.answer(request.request_id, decision)
    return tx_id


def difference(host: ModuleHost, tx_id: str) -> list[str]:
    """The preview of a transaction, line by line."""
    transactions = host.transactions
    preview = transactions.drawn(transactions.look(tx_id)).preview
    lines = [] if preview is None else lines_of(preview)
    return [safe_line(f"{each.sign} {each.text or each.place}", limit=100) for each in lines]


def main() -> None:
    """An honest module, a package that tries the door, and one that passes and attacks."""
    with tempfile.TemporaryDirectory() as folder, open_host(Board(Path(folder))) as host:
        take(host, "word-count")
        answer(host, call(host, "word-count", "words"), "approve_session")
        call(host, "word-count", "words")
        take(host, "free-gift-wildcard")
        take(host, "free-gift", "free-gift.graph")
        answer(host, call(host, "free-gift", "claim"), "approve_session")
        before = host.document.read(None)
        answer(host, call(host, "free-gift", "claim"), "deny")
        print(f"  the notes are byte for byte the same: {host.document.read(None) == before}")
        for module in ("word-count", "free-gift"):
            host.remove(module)


if __name__ == "__main__":
    main()

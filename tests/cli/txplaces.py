"""Transactions in the ledger of a command line, put there as an application and its modules would."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from consentry.base.clock import Clock
from consentry.base.values import replace
from consentry.declare.hostdescription import CommandDeclaration, HostDescription, MutationScope
from consentry.enforce.broker import ModuleCall
from consentry.service.modulehost import HostCommand, ModuleHost
from consentry.service.transactionplace import USUAL_TERMS, TxTerms
from consentry.store.transactions import StoredTransactions
from tests.cli.conftest import CommandLine
from tests.cli.moduleplaces import granted, journal_of, package, told
from tests.declare.modulesamples import HOST

WRITE = "state.write.tx"
ADD = "b-add"
"""The action of the sample module whose command needs approval; what it writes is approved as a preview."""
NOTE: dict[str, Any] = {"text": "buy milk", "tags": ["home", "soon"], "done": False}
FREE = CommandDeclaration("notes.add", MutationScope.DOC, mutates=("/notes",))
"""The command of that action without a rule: what was granted is enough."""


def adding(name: str = "n1", value: Any = None) -> list[dict[str, Any]]:
    """Operations that add one note."""
    return [{"op": "add", "path": f"/notes/{name}", "value": NOTE if value is None else value}]


@contextmanager
def writing_host(
    line: CommandLine,
    operations: Callable[[], Any] = adding,
    *,
    needs_approval: bool = True,
    terms: TxTerms = USUAL_TERMS,
    clock: Clock | None = None,
    document: Any = None,
) -> Iterator[ModuleHost]:
    """The application, whose command `notes.add` asks for these writes; it keeps its notes in the ledger."""
    host = HOST if needs_approval else _free(HOST)

    def handler(call: ModuleCall) -> None:
        call.write(operations())

    with ModuleHost(
        line.environ,
        host.host_id,
        host.app_version,
        [HostCommand(each, handler) for each in host.commands],
        writable_paths=host.writable_paths,
        terms=terms,
        clock=clock,
        document=document,
    ) as application:
        yield application


def _free(host: HostDescription) -> HostDescription:
    commands = tuple(FREE if each.command_id == FREE.command_id else each for each in host.commands)
    return replace(host, commands=commands)


def ready(application: ModuleHost, decision: str = "approve_persistent") -> None:
    """The sample module, granted that it may write."""
    assert application.import_module(package())["ok"]
    granted(application, WRITE, decision=decision)


def asked(application: ModuleHost) -> str:
    """The id of the transaction that the module's action puts to a person."""
    outcome = application.invoke("note-tools", ADD)
    assert outcome.transaction_state == "APPROVAL_PENDING", outcome
    return str(outcome.transaction_id)


def changed(application: ModuleHost, operations: Any = None, label: str = "Add a note") -> str:
    """The id of a change that the person at the application made; applied at once."""
    attempt = application.change(adding() if operations is None else operations, label)
    assert attempt.state == "APPLIED", attempt
    return attempt.tx_id


def say(application: ModuleHost, tx_id: str, decision: str = "approve_once") -> None:
    """Somebody at the application answers the question."""
    request = application.transactions.look(tx_id).request_id
    assert request is not None
    application.answer(request, decision)


def state_of(line: CommandLine, tx_id: str) -> str:
    """Where it stands in the store, whatever a command said."""
    with journal_of(line) as journal:
        return StoredTransactions(journal).required(tx_id).state.value


def document_of(line: CommandLine) -> dict[str, Any]:
    """The notes as they are."""
    with writing_host(line) as application:
        return application.state()


def transitions(line: CommandLine, tx_id: str) -> Sequence[tuple[str, str]]:
    """From where to where it went, in order."""
    found = told(line, "audit", "log", "--subject", f"transaction:{tx_id}")["events"]
    return [
        (each["payload"]["prevState"], each["payload"]["nextState"])
        for each in found
        if each["type"] == "transaction.transition"
    ]

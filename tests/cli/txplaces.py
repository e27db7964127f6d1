"""Transactions in the ledger of a command line, put there as an application and its modules would."""

import re
import subprocess
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from consentry.base.clock import Clock
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.documentstore import BeforeWrite, Commit, CommitRecord, Snapshot
from consentry.decide.statechange import EntityName
from consentry.decide.txstep import Stage, Step
from consentry.declare.hostdescription import CommandDeclaration, HostDescription, MutationScope
from consentry.enforce.broker import ModuleCall
from consentry.service.modulehost import HostCommand, ModuleHost
from consentry.service.transactionplace import USUAL_TERMS, TxPlace, TxTerms
from consentry.store.documents import StoredDocument
from consentry.store.journal import Journal
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
    if not application.check("note-tools", [WRITE]).is_passed:
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


def under_way(
    line: CommandLine, tx_id: str, *, rolls_back: bool = False, is_gone: bool = False
) -> None:
    """Leaves it as a process does that is about to commit: this one, or one that was killed just then."""
    with journal_of(line) as journal:
        stored = StoredTransactions(journal)
        attempt = stored.required(tx_id)
        place = TxPlace(journal, _document(journal, attempt.document_id))
        worker = place.worker()
        if is_gone:
            process = subprocess.Popen(["/bin/true"])
            process.wait()
            worker = replace(worker, process=replace(worker.process, pid=process.pid))
        now = place.now()
        if rolls_back:
            after, stage = attempt.rolling_back(f"undo-{tx_id}", worker, now), Stage.ROLLBACK
        else:
            after, stage = attempt.applying(f"apply-{tx_id}", worker, now), Stage.APPLY
        stored.take(Step(attempt.state, after, stage, place.caller()))


class Unreachable:
    """A host's own store that answers nothing once a commit is asked for, and cannot say what became of it."""

    def __init__(self, document_id: str = "own-notes") -> None:
        self.document_id = document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:  # noqa: ARG002 - the protocol's
        """Nothing is in it yet."""
        return Snapshot("revision-0", {})

    def commit(self, commit: Commit, check: BeforeWrite) -> CommitRecord:  # noqa: ARG002 - as above
        """The connection is gone."""
        raise OSError("the connection was dropped")

    def settle(self, commit: Commit) -> CommitRecord | None:  # noqa: ARG002 - as above
        """Still gone."""
        raise OSError("no route to the store")


def blocked(line: CommandLine, document: str = "own-notes") -> str:
    """The id of a transaction that could not be settled, and blocks its document from then on."""
    terms = TxTerms(recovery=Duration(0))
    with writing_host(line, document=Unreachable(document), terms=terms) as application:
        attempt = application.change(adding(), "Add a note")
        assert attempt.state == "FAILED_TERMINAL", attempt
        return attempt.tx_id


def unsettled(line: CommandLine) -> str:
    """The id of a transaction of which nobody can say yet what became of it."""
    with writing_host(line, document=Unreachable()) as application:
        attempt = application.change(adding(), "Add a note")
        assert attempt.state == "RECOVERY_PENDING", attempt
        return attempt.tx_id


def _document(journal: Journal, document_id: str) -> StoredDocument:
    return StoredDocument(journal.database, journal.clock, journal.ids, document_id)


def edited_preview(line: CommandLine, tx_id: str, old: str, new: str) -> None:
    """Somebody who can write the store puts other words into what is kept of a transaction."""
    with journal_of(line) as journal, journal.database.writing() as transaction:
        query = "SELECT preview FROM transaction_content WHERE tx_id = ?"
        ((text,),) = transaction.rows(query, (tx_id,))
        assert old in str(text)
        edited = str(text).replace(old, new)
        transaction.run(
            "UPDATE transaction_content SET preview = ? WHERE tx_id = ?", (edited, tx_id)
        )


def approved(line: CommandLine, name: str = "n1", **how: Any) -> str:
    """The id of a module's change that was approved; the application is closed by then."""
    with writing_host(line, lambda: adding(name), **how) as application:
        ready(application)
        tx_id = asked(application)
        say(application, tx_id)
    return tx_id


def whole(screen: str) -> str:
    """What a terminal shows, without colours and the marks of rows that go on."""
    return re.sub(r"\n *\|", "", re.sub(r"\x1b\[\d*m", "", screen))


def words_for(line: CommandLine, command: str, word: str, tx_id: str) -> list[str]:
    """The command line that answers, by the id of the transaction or by that of its question."""
    if command == "tx":
        return ["tx", word, tx_id]
    transaction = told(line, "tx", "show", tx_id)["transaction"]
    return [{"approve": "approve", "reject": "deny"}[word], transaction["requestId"]]

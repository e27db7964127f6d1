"""Transactions when a disk is full or a server goes away in the middle, for real.

Each time it is known what became of the change as soon as it can be known, and the change can be made then.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from consentry.base.clock import SystemClock
from consentry.base.errors import ConsentryError
from consentry.store.database import Database
from consentry.store.migrations import migrate
from consentry.store.postgres import Patience, PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER
from tests.service.test_transactioncrashes import wait_for_lease
from tests.service.transactioncrash import HASTE, At
from tests.service.transactionprograms import NOTHING, Program
from tests.service.transactionwitness import Witness
from tests.store.test_outages import mounted, needs_root

LARGE = "x" * 200_000


@contextmanager
def opened(place: Path) -> Iterator[Database]:
    """A database with its tables."""
    with closing(SqliteDatabase(place)) as database:
        migrate(database)
        yield database


@contextmanager
def on_disks(ledger: Path, documents: Path) -> Iterator[tuple[Program, Witness]]:
    """A program whose ledger and document are there."""
    with ExitStack() as closing_:
        database = closing_.enter_context(opened(ledger))
        kept = database
        if documents != ledger:
            kept = closing_.enter_context(opened(documents))
        program = Program(database, kept, WRITER, SystemClock(), terms=HASTE)
        yield program, Witness(database, kept)


def fill(disk: Path) -> Path:
    """Leaves no byte."""
    filler = disk / "filler"
    with pytest.raises(OSError, match="No space"):
        filler.write_bytes(b"x" * (64 << 20))
    return filler


def approved(program: Program, name: str = "a") -> str:
    """A large change that can be applied."""
    return program.propose(
        None, False, [{"op": "add", "path": f"/notes/{name}", "value": LARGE}]
    ).tx_id


def whole(witness: Witness) -> None:
    """Everything is as it must be."""
    witness.look()
    witness.require_whole()


@needs_root
@pytest.mark.parametrize("act", ["apply", "back"])
def test_a_disk_that_is_full_under_the_document(tmp_path: Path, act: str) -> None:
    """CONTRACTS §3-recovery: held while nobody can tell; then as it was before, and it can be done again."""
    with (
        mounted(tmp_path / "small", "4m") as disk,
        on_disks(tmp_path / "ledger.db", disk / "documents.db") as (program, witness),
    ):
        transactions, tx_id = program.transactions, approved(program)
        if act == "back":
            transactions.apply(tx_id)
        filler = fill(disk)
        ways = {"apply": transactions.apply, "back": transactions.roll_back}
        assert ways[act](tx_id).state == "RECOVERY_PENDING"
        whole(witness)
        filler.unlink()
        assert transactions.look(tx_id).state == ("APPROVED" if act == "apply" else "APPLIED")
        whole(witness)
        assert ways[act](tx_id).state == ("APPLIED" if act == "apply" else "ROLLED_BACK")
        whole(witness)


@needs_root
@pytest.mark.parametrize("act", ["apply", "back"])
def test_a_disk_that_is_full_under_the_ledger_once_the_change_is_made(
    tmp_path: Path, act: str
) -> None:
    """CONTRACTS §3-recovery: the change is durable and its step is not; whoever looks later takes it."""
    with (
        mounted(tmp_path / "small", "4m") as disk,
        on_disks(disk / "ledger.db", tmp_path / "documents.db") as (program, witness),
    ):
        transactions, tx_id = program.transactions, approved(program)
        if act == "back":
            transactions.apply(tx_id)
        ways = {"apply": transactions.apply, "back": transactions.roll_back}
        program.stroke = At(1, "after", lambda: (fill(disk), None)[1])
        with pytest.raises(ConsentryError) as full:
            ways[act](tx_id)
        assert full.value.code == "ledger-unwritable"
        program.stroke = NOTHING
        whole(witness)
        (disk / "filler").unlink()
        wait_for_lease(program, tx_id)
        ended = "APPLIED" if act == "apply" else "ROLLED_BACK"
        assert transactions.look(tx_id).state == ended
        whole(witness)


@needs_root
def test_a_disk_that_is_full_under_both(tmp_path: Path) -> None:
    """CONTRACTS §3-apply: no step to `APPLYING`, no change; with room again it is applied."""
    with (
        mounted(tmp_path / "small", "4m") as disk,
        on_disks(disk / "both.db", disk / "both.db") as (program, witness),
    ):
        tx_id = approved(program)
        filler = fill(disk)
        with pytest.raises(ConsentryError) as full:
            program.transactions.apply(tx_id)
        assert full.value.code == "ledger-unwritable"
        whole(witness)
        assert witness.attempts[tx_id, 1] == "APPROVED"
        filler.unlink()
        assert program.transactions.apply(tx_id).state == "APPLIED"
        whole(witness)


@contextmanager
def on_server(url: str, patience: Patience | None = None) -> Iterator[tuple[Program, Witness]]:
    """A program whose document has a connection of its own."""
    with (
        closing(PostgresDatabase(url)) as database,
        closing(PostgresDatabase(url, patience)) as documents,
    ):
        migrate(database)
        program = Program(database, documents, WRITER, SystemClock(), terms=HASTE)
        yield program, Witness(database, database)


WRITING = (
    "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
    "AND state = 'idle in transaction' AND query LIKE '% document_entity %'"
)
"""The server's process for a commit that has written and waits for its end."""


def writer_of(program: Program) -> int:
    """The one there is; raises what ends the test where there is none."""
    with program.journal.database.reading() as view:
        found = [int(row[0] or 0) for row in view.rows(WRITING)]
    if len(found) != 1:
        raise SystemExit(f"{len(found)} processes of the server are in the middle of a commit")
    return found[0]


@pytest.mark.parametrize("act", ["apply", "back"])
def test_a_connection_that_is_cut_in_a_commit(postgres_url: str, act: str) -> None:
    """CONTRACTS §3-recovery: nothing was committed, so it is as it was, and it can be done again."""
    with on_server(postgres_url) as (program, witness):
        transactions, tx_id = program.transactions, approved(program)
        if act == "back":
            transactions.apply(tx_id)

        def cut() -> None:
            pid = writer_of(program)
            with program.journal.database.writing() as transaction:
                list(transaction.rows("SELECT pg_terminate_backend(?)", (pid,)))

        ways = {"apply": transactions.apply, "back": transactions.roll_back}
        program.stroke = At(1, "middle", cut)
        before = "APPROVED" if act == "apply" else "APPLIED"
        assert ways[act](tx_id).state == before
        assert program.stroke.fell
        program.stroke = NOTHING
        whole(witness)
        assert witness.counts["RECOVERY_PENDING"] == 1
        assert ways[act](tx_id).state == ("APPLIED" if act == "apply" else "ROLLED_BACK")
        whole(witness)


@pytest.mark.parametrize("act", ["apply", "back"])
def test_a_commit_that_is_never_answered_is_looked_into(postgres_url: str, act: str) -> None:
    """CONTRACTS §3-recovery: whether the server did what it was told, when it wakes up, its log says.

    It may as well find first that nobody is there any more; the witness holds the document to the answer.
    """
    patience = Patience(lock=0.5, statement=1.5, answer=3.0, reading=3.0)
    with on_server(postgres_url, patience) as (program, witness):
        transactions, tx_id = program.transactions, approved(program)
        if act == "back":
            transactions.apply(tx_id)
        frozen: list[int] = []

        def freeze() -> None:
            frozen.append(writer_of(program))
            os.kill(frozen[0], signal.SIGSTOP)

        ways = {"apply": transactions.apply, "back": transactions.roll_back}
        program.stroke = At(1, "middle", freeze)
        try:
            assert ways[act](tx_id).state == "RECOVERY_PENDING"
            whole(witness)
        finally:
            os.kill(frozen[0], signal.SIGCONT)
        program.stroke = NOTHING
        before, after = ("APPROVED", "APPLIED") if act == "apply" else ("APPLIED", "ROLLED_BACK")
        while (looked := transactions.look(tx_id)).state == "RECOVERY_PENDING":
            pass
        assert looked.state in (before, after)
        whole(witness)
        assert ways[act](tx_id).state == after, "it can be done now, or is done"
        whole(witness)

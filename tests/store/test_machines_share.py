"""Machines that share one PostgreSQL: a chain each, whole, and nobody waits for another machine."""

import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from threading import Event, Thread

import pytest

from consentry.base.errors import LedgerProblem
from consentry.record.chain import event_fields
from consentry.store.history import History
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.postgres import Patience, PostgresDatabase
from consentry.store.steps import Step
from tests.record.samples import WRITER
from tests.store.archiving import OTHER
from tests.store.crashes import CHANGE, Said, make_appended, require_whole
from tests.store.ledgers import fresh_drafts
from tests.store.sizes import IS_FULL

SECONDS = 120 if IS_FULL else 2
PROGRAM = (sys.executable, "-m", "tests.store.sharing")
HASTE = Patience(lock=0.2, statement=5.0)


def run_together(folder: Path, url: str, states: list[Path]) -> list[str]:
    """What a process for each state said, all having appended at the same time."""
    files = [folder / f"out-{number}" for number in range(len(states))]
    processes = []
    for file, state in zip(files, states, strict=True):
        with file.open("wb") as out:  # a pipe would stop it when it is full
            argv = [*PROGRAM, url, str(state), str(SECONDS)]
            processes.append(subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=out))
    while not all(file.stat().st_size for file in files):
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)
    for process in processes:
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait() for process in processes] == [0] * len(states)
    return [file.read_text() for file in files]


def test_two_machines_append_to_one_server(tmp_path: Path, postgres_url: str) -> None:
    """Two processes on each, for a while: both chains verify and hold what was acknowledged."""
    with closing(PostgresDatabase(postgres_url)) as database:
        migrate(database)
        make_appended(database)
        states = [tmp_path / "one", tmp_path / "one", tmp_path / "two", tmp_path / "two"]
        for state in set(states):
            state.mkdir()
        outs = run_together(tmp_path, postgres_url, states)
        writers = [out.partition("\n")[0] for out in outs]
        said = [Said.read(out.partition("\n")[2]) for out in outs]
        assert writers == [writers[0], writers[0], writers[2], writers[2]]
        assert len(set(writers)) == 2
        require_whole(database, said, CHANGE)
        told: dict[str, set[str]] = {writer: set() for writer in writers}
        for writer, each in zip(writers, said, strict=True):
            assert each.told
            told[writer] |= each.told
        recorded: dict[str, set[str]] = {writer: set() for writer in writers}
        for row in History(database).events():
            recorded[row.writer].add(str(event_fields(row.body)["eventId"]))
        assert recorded == told
        heads = {head.writer: head.seq for head in History(database).heads()}
        assert heads == {writer: len(ids) for writer, ids in told.items()}


def test_no_machine_waits_for_another(postgres_url: str) -> None:
    """While one machine's chain is held, its own processes wait, and no other machine does."""
    with (
        closing(PostgresDatabase(postgres_url)) as holding,
        closing(PostgresDatabase(postgres_url, HASTE)) as opened,
        closing(PostgresDatabase(postgres_url, HASTE)) as opened_elsewhere,
    ):
        migrate(holding)
        drafts = fresh_drafts()
        held, other = Ledger(opened, WRITER), Ledger(opened_elsewhere, OTHER)
        held.append(drafts.make())
        with holding.writing() as transaction:
            query = "SELECT seq FROM ledger_head WHERE writer = ? FOR UPDATE"
            assert list(transaction.rows(query, (WRITER,))) == [(1,)]
            for ledger in (other, other, Ledger(opened_elsewhere, "machine-" + "3" * 32)):
                ledger.append(drafts.make())
            with pytest.raises(LedgerProblem) as caught:
                held.append(drafts.make())
            assert caught.value.code == "ledger-busy"
        held.append(drafts.make())
        heads = held.history.verify()
        assert isinstance(heads, list)
        assert [head.seq for head in heads] == [2, 2, 1]


def test_no_machine_waits_for_one_that_stopped_in_the_middle(postgres_url: str) -> None:
    """The whole append is held up, its events written and not committed; others go on."""
    with closing(PostgresDatabase(postgres_url)) as database:
        migrate(database)
        drafts = fresh_drafts()
        entered, go_on = Event(), Event()

        def stop(step: Step) -> None:
            if step is Step.HEAD_MOVED:
                entered.set()
                assert go_on.wait(30)

        with closing(PostgresDatabase(postgres_url)) as opened:
            slow = Ledger(opened, WRITER, stop)
            thread = Thread(target=slow.append, args=(drafts.make(),))
            thread.start()
            assert entered.wait(30)
            for number in range(3):
                Ledger(database, OTHER).append(drafts.make(n=number))
            assert [head.writer for head in History(database).heads()] == [OTHER]
            go_on.set()
            thread.join()
            heads = slow.history.verify()
        assert isinstance(heads, list)
        assert {head.writer: head.seq for head in heads} == {WRITER: 1, OTHER: 3}

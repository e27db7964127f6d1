"""Transactions when processes end in the middle, stand still, or act at once.

The processes are real and are killed or stopped; what is left is looked at from outside.
"""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Final

import pytest

from consentry.base.clock import SystemClock
from consentry.store.documents import StoredDocument
from consentry.store.steps import Step
from tests.decide.samples import OTHER_MACHINE
from tests.record.samples import WRITER
from tests.service.moduleprograms import planted
from tests.service.test_transactionmodelfails import only_looks
from tests.service.transactioncrash import HASTE, VALUE
from tests.service.transactionprograms import Program
from tests.service.transactionwitness import Witness
from tests.store.conftest import Store
from tests.store.sizes import IS_FULL, sampled

ROOT = Path(__file__).parents[2]
LEDGER: Final = tuple(step.name for step in Step)
DOCUMENT: Final = ("before", "middle", "after")
EFFECTS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "propose": (LEDGER,),
    "yes": (LEDGER,),
    "apply": (LEDGER, DOCUMENT, LEDGER),
    "back": (LEDGER, DOCUMENT, LEDGER),
    "look": (LEDGER, ("before", "after"), LEDGER),
}
"""What each act does, effect by effect, and where it can end in each."""
STATES: Final[dict[str, tuple[str, ...]]] = {
    "yes": ("APPROVAL_PENDING", "APPROVED"),
    "apply": ("APPROVED", "APPLYING", "APPLYING", "APPLIED"),
    "back": ("APPLIED", "ROLLBACK_PENDING", "ROLLBACK_PENDING", "ROLLED_BACK"),
    "look": ("APPLYING", "RECOVERY_PENDING", "RECOVERY_PENDING", "APPROVED"),
}
"""Where the attempt stands after so many effects."""
UNSETTLED: Final = {"APPLYING", "ROLLBACK_PENDING", "RECOVERY_PENDING"}


def begun(*words: object) -> "subprocess.Popen[str]":
    """A process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.service.transactioncrash", *map(str, words)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(process: "subprocess.Popen[str]", status: int = 0) -> list[str]:
    """What it said until its end."""
    with process:
        out, err = process.communicate("go\n", timeout=50)
    assert process.returncode == status, err
    return out.splitlines()


@contextmanager
def board(store: Store) -> Iterator[tuple[Program, Witness]]:
    """A program here, and a witness."""
    with closing(store.open()) as database:
        program = Program(database, database, WRITER, SystemClock(), terms=HASTE)
        witness = Witness(database, database)
        yield program, witness


def whole(witness: Witness) -> None:
    """Everything is as it must be."""
    witness.look()
    witness.require_whole()


def at_state(program: Program, place: object, act: str) -> str:
    """A transaction that this act is for."""
    is_asked = act == "yes"
    attempt = program.propose(
        None, is_asked, [{"op": "add", "path": f"/notes/{act}-{time.monotonic_ns()}", "value": 1}]
    )
    tx_id = attempt.tx_id
    if act == "back":
        program.transactions.apply(tx_id)
    if act == "look":
        # Killed when its step is on record and its commit has not begun.
        ended(begun("kill", place, WRITER, 1, "before", "apply", tx_id), -signal.SIGKILL)
    return tx_id


def points(act: str) -> list[tuple[int, str]]:
    """Every place where it can end, or some of them."""
    every = [(at, when) for at, effect in enumerate(EFFECTS[act]) for when in effect]
    return sampled(every, 4)


@pytest.mark.timeout(900)
@pytest.mark.parametrize("act", EFFECTS)
def test_a_process_killed_anywhere_leaves_what_a_look_settles(store: Store, act: str) -> None:
    """CONTRACTS §3-apply, §3-rollback, §3-recovery: each effect is there whole or not at all.

    What was done stays done, what was not can be done again, and nothing is done twice.
    """
    with board(store) as (program, witness):
        for effect, when in points(act):
            tx = [] if act == "propose" else [at_state(program, store.url_or_path, act)]
            witness.look()
            before = set(witness.transactions)
            process = begun("kill", store.url_or_path, WRITER, effect, when, act, *tx)
            assert ended(process, -signal.SIGKILL) == ["fell"], (effect, when)
            whole(witness)
            is_done = when == "after" or (when in LEDGER and Step[when] in _RECORDED)
            done = effect + is_done
            if act == "propose":
                assert len(set(witness.transactions) - before) == done
                continue
            assert witness.attempts[tx[0], 1] == STATES[act][done]
            _again(program, act, tx[0])
            whole(witness)
            assert UNSETTLED.isdisjoint(witness.attempts.values())


_RECORDED: Final = (Step.COMMITTED, Step.SYNCED)


def _again(program: Program, act: str, tx_id: str) -> None:
    state = program.transactions.look(tx_id).state
    match act:
        case "yes":
            if state == "APPROVAL_PENDING":
                program.answer(tx_id, True)
            assert program.transactions.look(tx_id).state == "APPROVED"
        case "apply" | "look":
            assert state in ("APPROVED", "APPLIED")
            assert program.transactions.apply(tx_id).state == "APPLIED"
        case "back":
            assert state in ("APPLIED", "ROLLED_BACK")
            assert program.transactions.roll_back(tx_id).state == "ROLLED_BACK"


def stopped(
    program: Program, witness: Witness, place: object, writer: str
) -> "tuple[str, subprocess.Popen[str]]":
    """A process that stands still when it is about to commit, until nobody believes in it any more."""
    attempt = program.propose(
        None, False, [{"op": "add", "path": f"/notes/z-{time.monotonic_ns()}", "value": VALUE}]
    )
    process = begun("stop", place, writer, 1, "before", "apply", attempt.tx_id)
    assert process.stdout is not None
    assert process.stdout.readline() == "fell\n"
    witness.look()
    wait_for_lease(program, attempt.tx_id)
    return attempt.tx_id, process


def wait_for_lease(program: Program, tx_id: str) -> None:
    """Until nobody believes in its worker any more."""
    worker = program.transactions.place.stored.required(tx_id).worker
    assert worker is not None
    while program.transactions.place.now() < worker.until:
        time.sleep(0.02)


@pytest.mark.parametrize("writer", [WRITER, OTHER_MACHINE], ids=["here", "elsewhere"])
def test_a_process_that_stood_still_commits_nothing(store: Store, writer: str) -> None:
    """CONTRACTS §3-recovery: its key was given up meanwhile, and the attempt can be applied again."""
    with board(store) as (program, witness):
        tx_id, process = stopped(program, witness, store.url_or_path, writer)
        assert program.transactions.look(tx_id).state == "APPROVED"
        witness.look()
        process.send_signal(signal.SIGCONT)
        assert ended(process) == ["attempt 1 APPROVED"]
        whole(witness)
        assert witness.entities() == {}
        assert program.transactions.apply(tx_id).state == "APPLIED"
        whole(witness)


@pytest.mark.parametrize("writer", [WRITER, OTHER_MACHINE], ids=["here", "elsewhere"])
def test_a_process_that_stood_still_finds_what_others_did(store: Store, writer: str) -> None:
    """CONTRACTS §3-apply: others applied it, and took it back; it adds nothing to that."""
    with board(store) as (program, witness):
        tx_id, process = stopped(program, witness, store.url_or_path, writer)
        assert program.transactions.apply(tx_id).state == "APPLIED"
        assert program.transactions.roll_back(tx_id).state == "ROLLED_BACK"
        witness.look()
        process.send_signal(signal.SIGCONT)
        assert ended(process) == ["attempt 1 ROLLED_BACK"]
        whole(witness)
        assert witness.entities() == {}


def test_a_process_that_goes_on_in_time_commits(store: Store) -> None:
    """CONTRACTS §3-apply: whoever stood still and was settled by nobody does what it began."""
    with board(store) as (program, witness):
        tx_id, process = stopped(program, witness, store.url_or_path, WRITER)
        witness.look()
        process.send_signal(signal.SIGCONT)
        assert ended(process) == ["attempt 1 APPLIED"]
        whole(witness)
        assert witness.attempts[tx_id, 1] == "APPLIED"


def test_without_giving_keys_up_it_would_commit(store: Store) -> None:
    """CONTRACTS §3-recovery: with a log that is only looked at, it writes what is not applied."""
    with board(store) as (program, witness):
        tx_id, process = stopped(program, witness, store.url_or_path, WRITER)
        with planted({(StoredDocument, "settle"): only_looks}):
            assert program.transactions.look(tx_id).state == "APPROVED"
        witness.look()
        process.send_signal(signal.SIGCONT)
        ended(process)
        assert list(witness.entities().values()) == [VALUE]
        witness.look()
        assert witness.attempts[tx_id, 1] == "APPROVED"
        with pytest.raises(AssertionError):
            witness.require_whole()


RACES: Final[dict[str, tuple[str, set[str]]]] = {
    "apply": ("APPLIED", {"attempt 1 APPLIED", "refused tx-in-flight", "refused tx-state"}),
    "back": ("ROLLED_BACK", {"attempt 1 ROLLED_BACK", "refused tx-in-flight", "refused tx-state"}),
    "again": ("APPROVED", {"attempt 2 APPROVED", "refused tx-state"}),
    "yes": ("APPROVED", {"attempt 1 APPROVED", "refused request-settled"}),
}
"""How it ends, and what each of those that act at once may be told."""


@pytest.mark.timeout(300)
@pytest.mark.parametrize("act", RACES)
def test_of_processes_that_act_at_once_one_does_it(store: Store, act: str) -> None:
    """CONTRACTS §3-apply, §3-rollback, §3-attempt, §3-approval: one wins, and the others are told."""
    ending, may_be_told = RACES[act]
    with board(store) as (program, witness):
        for round_ in range(12 if IS_FULL else 1):
            tx_id = _raced_for(program, act)
            whole(witness)
            counted = witness.counts[ending]
            key = [] if act in ("again", "yes") else [f"key-{round_}"]
            racing = [
                begun("race", store.url_or_path, WRITER, act, tx_id, *_own(key, number))
                for number in range(3)
            ]
            for each in racing:
                assert each.stdout is not None
                assert each.stdout.readline() == "ready\n"
            for each in racing:
                assert each.stdin is not None
                each.stdin.write("go\n")
                each.stdin.flush()
            told = [ended(each)[-1] for each in racing]
            whole(witness)
            assert set(told) <= may_be_told, told
            assert [line for line in told if line.startswith("attempt")]
            assert witness.counts[ending] == counted + 1
            assert witness.attempts[witness.latest(tx_id)] == ending


def _own(key: list[str], number: int) -> list[str]:
    """Two of them have the same key, the third has one of its own."""
    return [f"{each}-{number // 2}" for each in key]


def _raced_for(program: Program, act: str) -> str:
    if act != "again":
        return at_state(program, "", act)
    # What it changes is not there when it is asked for, and is there when they preview it again.
    name = f"/notes/later-{time.monotonic_ns()}"
    failed = program.propose(None, False, [{"op": "remove", "path": name}])
    assert failed.state == "FAILED_PRE_APPLY"
    made = program.propose(None, False, [{"op": "add", "path": name, "value": 1}])
    assert program.transactions.apply(made.tx_id).state == "APPLIED"
    return failed.tx_id

"""A change is turned down: at the prompt, by command, and what that means for what came before."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.service.modulehost import ModuleHost
from tests.cli.capabilities import without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import events, told
from tests.cli.terminals import AtTerminal, at_terminal
from tests.cli.txplaces import (
    Unreachable,
    adding,
    asked,
    blocked,
    changed,
    document_of,
    ready,
    state_of,
    transitions,
    unsettled,
    whole,
    words_for,
    writing_host,
)

pytestmark = pytest.mark.timeout(180)

TALL = (160, 60)
KEYS = "a approve | d deny"
BOTH = pytest.mark.parametrize("command", ["tx", "inbox"])
"""`consentry tx approve` and `consentry approve` are one way under two names."""


@pytest.fixture
def application(consentry: CommandLine) -> Iterator[ModuleHost]:
    """A host that runs, with a module that may ask for a second note."""
    with writing_host(consentry, lambda: adding("n2", {"text": "call Ann"})) as made:
        changed(made)
        ready(made)
        yield made


@contextmanager
def approving(
    line: CommandLine, command: str, tx_id: str, *more: str, size: tuple[int, int] = TALL
) -> Iterator[AtTerminal]:
    """The command at a terminal."""
    with at_terminal(
        line, *words_for(line, command, "approve", tx_id), *more, size=size
    ) as terminal:
        yield terminal


def test_reject_is_the_no_to_its_question(consentry: CommandLine, application: ModuleHost) -> None:
    """Nothing is asked; the reason stands in the answer, and saying it twice changes nothing."""
    tx_id = asked(application)
    for _ in range(2):
        with at_terminal(consentry, "tx", "reject", tx_id, "--reason", "not now") as terminal:
            assert terminal.ended() == 0, terminal.screen
            assert f"{tx_id}: REJECTED" in whole(terminal.screen)
            assert "because: [approval-denied] not now" in whole(terminal.screen)
    (denied,) = [
        each["payload"]
        for each in events(consentry, "approval.answered")
        if each["payload"]["decision"] == "denied"
    ]
    assert denied["reason"] == "not now"
    assert transitions(consentry, tx_id)[-1] == ("APPROVAL_PENDING", "REJECTED")


def test_reject_ends_what_failed_wherever_its_document_lies(consentry: CommandLine) -> None:
    """CONTRACTS §3-states: `FAILED_PRE_APPLY` goes to `REJECTED`; nothing was written, so nobody is needed."""
    with writing_host(consentry, document=Unreachable()) as application:
        attempt = application.change([{"op": "remove", "path": "/notes/n1"}], "Remove it")
        assert attempt.state == "FAILED_PRE_APPLY"
    with at_terminal(consentry, "tx", "reject", attempt.tx_id, "--reason", "typo") as terminal:
        assert terminal.ended() == 0, terminal.screen
    assert transitions(consentry, attempt.tx_id)[-1] == ("FAILED_PRE_APPLY", "REJECTED")


def test_what_is_past_rejecting_says_so(consentry: CommandLine) -> None:
    """CONTRACTS §3-states: applied, unsettled or failed for good, it is not rejected any more."""
    with writing_host(consentry) as application:
        ids = [changed(application)]
    ids += [unsettled(consentry), blocked(consentry, "third-notes")]
    for tx_id in ids:
        before = state_of(consentry, tx_id)
        with at_terminal(consentry, "tx", "reject", tx_id) as terminal:
            assert terminal.ended() == 126
            assert "error[tx-state]" in terminal.screen
        assert state_of(consentry, tx_id) == before


def test_the_answers_document_has_the_transaction(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """As docs/reference/json.md says; with `--apply` the document is that of the apply."""
    tx_id = asked(application)
    with at_terminal(
        consentry, "deny", told(consentry, "tx", "show", tx_id)["request"]["requestId"], "--json"
    ) as terminal:
        assert terminal.ended() == 0
        document: dict[str, Any] = json.loads(terminal.screen)
    (answer,) = document["answers"]
    assert answer.keys() == {"request", "consent", "grants", "transaction", "effect"}
    assert answer["transaction"]["state"] == "REJECTED"
    other = asked(application)
    with at_terminal(consentry, "tx", "reject", other, "--json") as terminal:
        assert terminal.ended() == 0
        document = json.loads(terminal.screen)
    assert document.keys() == {"schema_version", "kind", "transaction", "helps"}
    assert document["kind"] == "tx-outcome"


@pytest.mark.parametrize("word", ["approve", "reject"])
def test_an_unknown_id_is_wrong_usage(consentry: CommandLine, word: str) -> None:
    """CONTRACTS §11: 2."""
    with at_terminal(consentry, "tx", word, "tx-0123456789") as terminal:
        assert terminal.ended() == 2
        assert "error[tx-unknown]" in terminal.screen
    assert_error(consentry("tx", word), Code.USAGE)


def test_one_that_is_decided_is_not_decided_again(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """CONTRACTS §3-states: the first answer counts, whatever the second is."""
    tx_id = asked(application)
    with approving(consentry, "tx", tx_id) as terminal:
        terminal.answer(KEYS, "a")
        assert terminal.ended() == 0
    for word in ("approve", "reject"):
        with at_terminal(consentry, "tx", word, tx_id) as terminal:
            assert terminal.ended() == 126
            assert "error[tx-state]" in terminal.screen
    assert state_of(consentry, tx_id) == "APPROVED"


def test_what_comes_through_a_pipe_is_no_answer(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """CONTRACTS §9: a program that was started in a person's terminal can type a line, and no more."""
    tx_id = asked(application)
    line = without_terminal(consentry)
    for word in ("approve", "reject"):
        assert_error(line("tx", word, tx_id), Code.TERMINAL_MISSING)
        piped = line.in_shell(f"echo a | consentry tx {word} {tx_id}")
        assert piped.status == 126
    assert state_of(consentry, tx_id) == "APPROVAL_PENDING"


@BOTH
@pytest.mark.parametrize("keys", ["d\n", "\x03", "\x04"])
def test_a_no_and_turning_away_reject(
    consentry: CommandLine, application: ModuleHost, command: str, keys: str
) -> None:
    """CONTRACTS §3-states: deny, Ctrl-C and the end of input; nothing is written."""
    tx_id = asked(application)
    with approving(consentry, command, tx_id) as terminal:
        terminal.see(KEYS)
        terminal.see("\n> ")
        terminal.type(keys)
        assert terminal.ended() == 126, terminal.screen
    assert state_of(consentry, tx_id) == "REJECTED"
    assert "n2" not in document_of(consentry)["notes"]


def test_an_answer_elsewhere_ends_the_prompt(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """One answer wins, and this one is told how it went."""
    tx_id = asked(application)
    with approving(consentry, "tx", tx_id) as terminal:
        terminal.see(KEYS)
        request_id = str(application.transactions.look(tx_id).request_id)
        application.answer(request_id, "deny")
        assert terminal.ended() == 126, terminal.screen
        assert "error[request-settled]" in terminal.screen
    assert state_of(consentry, tx_id) == "REJECTED"

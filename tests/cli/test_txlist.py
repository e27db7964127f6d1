"""`consentry tx list`: what waits, what is over, and what blocks a document."""

import json
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import told
from tests.cli.txplaces import (
    adding,
    asked,
    blocked,
    changed,
    ready,
    say,
    unsettled,
    writing_host,
)

pytestmark = pytest.mark.timeout(120)


def listed(line: CommandLine, *words: str) -> list[str]:
    """The ids, in their order."""
    done = line("tx", "list", "--quiet", *words)
    assert done.status == 0, done.err
    return done.out.split()


def test_an_empty_list_is_an_answer_and_makes_no_ledger(line: CommandLine) -> None:
    """As any user; looking leaves nothing behind."""
    assert line("tx", "list").out == "no transaction waits\n"
    assert listed(line) == []
    document = told(line, "tx", "list")
    assert (document["transactions"], document["blocks"], document["more"]) == ([], [], False)
    assert told(line, "audit", "log")["events"] == []


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_what_waits_is_listed_and_with_all_what_is_over(
    consentry: CommandLine, request: pytest.FixtureRequest, store: str
) -> None:
    """The newest first: who wants what, how much of it, and who waits for what."""
    if store == "postgresql":
        consentry.environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    with writing_host(consentry, lambda: adding("n2")) as application:
        done = changed(application)
        ready(application)
        rejected = asked(application)
        say(application, rejected, "deny")
        approved = asked(application)
        say(application, approved)
        waiting = asked(application)
    assert listed(consentry) == [waiting, approved]
    assert listed(consentry, "--all") == [waiting, approved, rejected, done]
    shown = consentry("tx", "list").out
    assert f"{waiting}  APPROVAL_PENDING  note-board" in shown
    assert "note-tools 1.2.0 in note-board, “Add”" in shown
    assert "1 to add; " in shown
    assert "waits for a person's answer" in shown
    assert "waits to be applied" in shown
    assert "the application note-board, “Add a note”" in consentry("tx", "list", "--all").out


def test_the_list_is_narrowed(consentry: CommandLine) -> None:
    """By host, module, document and state; a state counts also where it is over."""
    with writing_host(consentry, lambda: adding("n2")) as application:
        done = changed(application)
        ready(application)
        waiting = asked(application)
    own = unsettled(consentry)
    assert listed(consentry, "--all", "--module", "note-tools") == [waiting]
    assert listed(consentry, "--all", "--document", "own-notes") == [own]
    assert listed(consentry, "--host", "note-board") == [own, waiting]
    assert listed(consentry, "--host", "other-board") == []
    assert listed(consentry, "--state", "APPLIED") == [done]
    assert listed(consentry, "--state", "APPLIED", "--state", "APPROVAL_PENDING") == [waiting, done]
    assert listed(consentry, "--last", "1") == [own]
    assert "there are more: --last N" in consentry("tx", "list", "--last", "1").out
    assert told(consentry, "tx", "list", "--last", "1")["more"] is True


def test_what_blocks_a_document_comes_first(consentry: CommandLine) -> None:
    """CONTRACTS §3-terminal-block: also where the list has nothing else, and with how it is resolved."""
    tx_id = blocked(consentry)
    assert listed(consentry) == []
    first, second = consentry("tx", "list").out.splitlines()
    assert first.startswith("blocked: own-notes takes no change since ")
    assert second == f"  consentry tx show {tx_id}, then consentry tx resolve {tx_id}"
    (block,) = told(consentry, "tx", "list")["blocks"]
    assert (block["documentId"], block["txId"], block["attemptNo"]) == ("own-notes", tx_id, 1)
    for narrowed, has_it in (("own-notes", True), ("note-board", False)):
        assert bool(told(consentry, "tx", "list", "--document", narrowed)["blocks"]) is has_it
    assert told(consentry, "tx", "list", "--host", "note-board")["blocks"]
    assert not told(consentry, "tx", "list", "--module", "note-tools")["blocks"]


def test_the_document_of_the_list_is_stable(consentry: CommandLine) -> None:
    """Its keys are those that docs/reference/json.md names."""
    with writing_host(consentry) as application:
        changed(application)
    document: dict[str, Any] = json.loads(consentry("tx", "list", "--all", "--json").out)
    assert document.keys() == {"schema_version", "kind", "transactions", "blocks", "more"}
    assert (document["schema_version"], document["kind"]) == (1, "tx-list")
    (found,) = document["transactions"]
    assert found["summary"] == {"add": 1, "move": 0, "remove": 0, "replace": 0}
    assert found["blocksSince"] is None
    assert (found["state"], found["keeper"], found["attemptNo"]) == ("APPLIED", "built-in", 1)
    assert found.keys() >= {"txId", "documentId", "origin", "previewHash", "approval", "commitId"}


@pytest.mark.parametrize(
    "words",
    [
        ("--state", "applied"),
        ("--state", "DONE"),
        ("--last", "0"),
        ("--last", "many"),
        ("--last", "10001"),
        ("--host",),
        ("extra",),
    ],
)
def test_what_cannot_be_meant_is_refused(consentry: CommandLine, words: tuple[str, ...]) -> None:
    """CONTRACTS §11: wrong usage, with what is wrong."""
    assert_error(consentry("tx", "list", *words), Code.USAGE)


def test_a_state_is_suggested(consentry: CommandLine) -> None:
    """The right word for a mistyped one."""
    assert "APPROVAL_PENDING" in consentry("tx", "list", "--state", "APROVAL_PENDING").err

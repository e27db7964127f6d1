"""A change is approved at a real terminal: its diff is shown, and the yes is read there."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.cli.prompt import usual_sheet
from consentry.decide.identity import Role
from consentry.decide.question import Answer, Channel, Outcome
from consentry.service.modulehost import ModuleHost
from tests.cli.asking import desk_of, set_passphrase
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import events, package, told
from tests.cli.terminals import AtTerminal, at_terminal
from tests.cli.txplaces import (
    Unreachable,
    adding,
    asked,
    changed,
    document_of,
    edited_preview,
    ready,
    state_of,
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


def test_what_a_line_leaves_out_is_said_before_the_yes(consentry: CommandLine) -> None:
    """CONTRACTS §3-preview: nobody takes a cut line for the whole; it is said where all of it stands."""
    note = {"text": f"{'a' * 1_500}pay 10{'b' * 1_500}"}
    asks = {"op": "replace", "path": "/notes/n1/text", "value": note["text"].replace("10", "999")}
    with writing_host(consentry, lambda: [asks]) as application:
        changed(application, adding("n1", note))
        ready(application)
        tx_id = asked(application)
        with approving(consentry, "tx", tx_id, size=(160, 120)) as terminal:
            shown = terminal.see(KEYS)
            assert '- "10"' in shown
            assert '+ "999"' in shown
            assert (
                f"what is left out of a line, a yes is for, too: consentry tx show {tx_id} --json"
                in shown
            )
            terminal.answer("", "d")
            assert terminal.ended() == 126, terminal.screen


@BOTH
def test_the_question_and_the_diff_are_shown_and_a_yes_is_read_there(
    consentry: CommandLine, application: ModuleHost, command: str
) -> None:
    """CONTRACTS §3-approval: what it binds to, every change, and how it is applied then."""
    tx_id = asked(application)
    with approving(consentry, command, tx_id) as terminal:
        shown = terminal.see(KEYS)
        for said in (
            "The module note-tools 1.2.0 in note-board wants to change note-board:",
            "For its action: b-add (“Add”)",
            "In all: 1 to add",
            "The reason given: “adds a note to the board” (asked every time)",
            "A yes holds for 600 seconds, for this preview alone: sha256:",
            f"Transaction {tx_id}, attempt 1, of revision sha256:",
            '@ notes n2\n  + all of it\n      + /text  "call Ann"',
            "Request: request-",
        ):
            assert said in whole(shown), said
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
        assert "approved: may note-tools in note-board change note-board" in terminal.screen
        assert f"next: consentry tx apply {tx_id}" in terminal.screen
    assert state_of(consentry, tx_id) == "APPROVED"
    (approved,) = [
        each["payload"]
        for each in events(consentry, "transaction.transition")
        if each["payload"]["nextState"] == "APPROVED" and each["payload"]["txId"] == tx_id
    ]
    approval, preview = approved["approval"], told(consentry, "tx", "show", tx_id)["preview"]
    assert approval["previewHash"] == preview["previewHash"]
    assert approval["approverRole"] == "owner"
    assert approval["approverId"].startswith("local:")


def test_the_passphrase_is_asked_for_where_one_is_set(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """As for every other yes; wrong words approve nothing."""
    set_passphrase(consentry)
    tx_id = asked(application)
    words, deaf = ["tx", "approve", tx_id, "--apply"], (signal.SIGHUP,)
    with at_terminal(consentry, *words, size=TALL, ignores=deaf) as terminal:
        terminal.answer(KEYS, "a")
        terminal.answer("passphrase", "wrong words")
        terminal.see("passphrase")
        terminal.close()
        assert terminal.ended() == 75
    assert state_of(consentry, tx_id) == "APPROVAL_PENDING"
    with approving(consentry, "tx", tx_id, "--apply") as terminal:
        terminal.answer(KEYS, "a")
        terminal.answer("passphrase", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    assert state_of(consentry, tx_id) == "APPLIED"


def test_a_yes_needs_the_last_page(consentry: CommandLine) -> None:
    """A module chooses how much it changes; what stands at the end is not approved unseen."""
    many = [op for at in range(30) for op in adding(f"n{at:02}", {"text": f"note {at}"})]
    with writing_host(consentry, lambda: many) as application:
        ready(application)
        tx_id = asked(application)
        with approving(consentry, "tx", tx_id, size=(100, 40)) as terminal:
            terminal.see("Enter goes on (1 of ")
            terminal.answer("", "a")
            terminal.see("see it to its end first: Enter goes on")
            while "Request: request-" not in terminal.screen:
                terminal.answer("", "")
                terminal.see(KEYS)
            assert '+ /text  "note 29"' in terminal.screen
            terminal.answer("", "a")
            assert terminal.ended() == 0, terminal.screen
    assert state_of(consentry, tx_id) == "APPROVED"


def test_a_change_nobody_reads_to_its_end_is_listed_in_short(consentry: CommandLine) -> None:
    """Every change still has its line, and it is said how their values are seen."""
    wide = {str(at): at for at in range(1500)}
    many = [*adding("a", wide), *adding("b", wide)]
    with writing_host(consentry, lambda: many) as application:
        ready(application)
        tx_id = asked(application)
        with approving(consentry, "tx", tx_id) as terminal:
            shown = terminal.see(KEYS)
            assert "+ notes a  all of it\n+ notes b  all of it\n" in shown
            assert f"too long for here: consentry tx show {tx_id} --html FILE" in whole(shown)
            terminal.answer("", "d")
            assert terminal.ended() == 126


def test_after_a_yes_it_is_applied_where_that_is_asked_for(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """CONTRACTS §3-apply: in the document, with its commit, and the module's use of its grant on record."""
    tx_id = asked(application)
    with approving(consentry, "tx", tx_id, "--apply", "--reason", "agreed") as terminal:
        terminal.answer(KEYS, "a")
        assert terminal.ended() == 0, terminal.screen
        assert f"{tx_id}: APPLIED" in whole(terminal.screen)
        assert f"next: consentry tx rollback {tx_id} takes it back" in whole(terminal.screen)
    assert document_of(consentry)["notes"]["n2"] == {"text": "call Ann"}
    used = events(consentry, "module.capability.used")
    assert used[-1]["payload"]["transactionId"] == tx_id
    answers = events(consentry, "approval.answered")
    assert answers[-1]["payload"]["reason"] == "agreed"


def test_what_its_host_has_to_apply_is_said_before_the_question(consentry: CommandLine) -> None:
    """Nobody is asked for a yes that leads nowhere; without `--apply` the question is put as ever."""
    with writing_host(consentry, document=Unreachable()) as application:
        ready(application)
        tx_id = asked(application)
    assert_error(consentry("tx", "approve", tx_id, "--apply"), Code.TERMINAL_MISSING)
    with approving(consentry, "tx", tx_id, "--apply") as terminal:
        assert terminal.ended() == 126
        assert "error[tx-elsewhere]" in terminal.screen
    with approving(consentry, "tx", tx_id) as terminal:
        terminal.answer(KEYS, "a")
        assert terminal.ended() == 0, terminal.screen
        assert "its document lies in a store of the application" in terminal.screen


@pytest.mark.parametrize("span", ["--session", "--permanent", "--for=1hour"])
def test_a_yes_to_a_change_is_never_remembered(
    consentry: CommandLine, application: ModuleHost, span: str
) -> None:
    """CONTRACTS §3-approval: it is for one preview, and that is said before the question is put."""
    tx_id = asked(application)
    with approving(consentry, "inbox", tx_id, span) as terminal:
        assert terminal.ended() == 126
        assert "cannot be remembered: it is about one preview of a change" in whole(terminal.screen)
    assert state_of(consentry, tx_id) == "APPROVAL_PENDING"
    with at_terminal(consentry, "tx", "approve", tx_id, span) as terminal:
        assert terminal.ended() == 2


def test_changes_are_not_approved_together(consentry: CommandLine) -> None:
    """Each preview has to be seen by itself."""
    with writing_host(consentry) as application:
        ready(application)
        ids = [
            told(consentry, "tx", "show", asked(application))["transaction"]["requestId"]
            for _ in range(2)
        ]
    with at_terminal(consentry, "approve", *ids) as terminal:
        assert terminal.ended() == 126
        assert "(transaction) is answered by itself" in whole(terminal.screen)


def test_the_inbox_says_what_a_change_is_about(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """How much of what, by its own label, and where its diff is."""
    tx_id = asked(application)
    shown = consentry("inbox").out
    assert "may note-tools in note-board change note-board: 1 to add?" in shown
    assert f"consentry tx show {tx_id}; for “Add”" in shown
    assert "transaction of module:note-tools, asked" in shown


def test_a_change_whose_preview_is_another_by_now_is_not_put_to_anybody(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """CONTRACTS §3-hash: whoever edits the store gets no yes for it; a no is taken all the same."""
    tx_id = asked(application)
    edited_preview(consentry, tx_id, "call Ann", "pay Eve")
    with approving(consentry, "tx", tx_id) as terminal:
        assert terminal.ended() == 5, terminal.screen
        assert "pay Eve" not in terminal.screen
    with at_terminal(consentry, "tx", "reject", tx_id) as terminal:
        assert terminal.ended() == 0, terminal.screen
    assert state_of(consentry, tx_id) == "REJECTED"


def test_where_the_preview_is_out_of_sight_there_is_no_yes(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """A prompt that has no store shows what it knows, and says which command shows the change."""
    tx_id = asked(application)
    request_id = application.transactions.look(tx_id).request_id
    with desk_of(consentry) as desk:
        sheet = usual_sheet(desk.look(str(request_id)))
    assert sheet.refusal is not None
    (page,) = sheet.pages(110, 60, None).pages  # type: ignore[arg-type]
    assert f"consentry approve {request_id}" in page


def test_a_module_that_was_replaced_meanwhile_gets_no_yes(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """CONTRACTS §3-approval: the yes would be for what is not there any more."""
    tx_id = asked(application)
    application.import_module(package(moduleVersion="1.3.0"))
    with at_terminal(consentry, "tx", "approve", tx_id, size=TALL) as terminal:
        if state_of(consentry, tx_id) == "APPROVAL_PENDING":
            terminal.answer(KEYS, "a")
        assert terminal.ended() == 126, terminal.screen
    assert state_of(consentry, tx_id) in ("FAILED_PRE_APPLY", "REJECTED")


def test_a_role_that_may_not_approve_it_is_told_so(consentry: CommandLine) -> None:
    """CONTRACTS §3-approval: a rule that names who may approve holds for every channel."""
    with writing_host(consentry) as application:
        ready(application)
        tx_id = asked(application)
        request_id = str(application.transactions.look(tx_id).request_id)
        viewer = Answer(Outcome.APPROVED, application.user, Role.VIEWER, Channel.LIBRARY)
        with desk_of(consentry) as desk, pytest.raises(Refused) as refused:
            desk.answer(request_id, viewer)
    assert refused.value.code is Code.ANSWER_REFUSED
    assert state_of(consentry, tx_id) == "APPROVAL_PENDING"

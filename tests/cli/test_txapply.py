"""`consentry tx apply`: carried out by command, where that can be, on the authority of the module."""

import subprocess
from collections.abc import Callable

import pytest

from consentry.base.clock import Instant, ManualClock
from consentry.base.codes import Code
from consentry.service.modulehost import ModuleHost
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import events, granted, package, told
from tests.cli.txplaces import (
    NOTE,
    WRITE,
    Unreachable,
    adding,
    approved,
    asked,
    changed,
    document_of,
    ready,
    say,
    state_of,
    transitions,
    under_way,
    unsettled,
    writing_host,
)

pytestmark = pytest.mark.timeout(180)

LONG_AGO = Instant.parse("2026-01-05T09:00:00Z")


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_an_approved_change_is_applied_and_taken_back_by_command(
    consentry: CommandLine, request: pytest.FixtureRequest, store: str
) -> None:
    """CONTRACTS §3-apply, §3-rollback: without the application, in the built-in store, as whoever typed it."""
    if store == "postgresql":
        consentry.environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    tx_id = approved(consentry)
    done = consentry("tx", "apply", tx_id)
    assert done.status == 0, done.err
    assert done.out.startswith(f"{tx_id}: APPLIED\n  commit commit-")
    assert f"\n  next: consentry tx rollback {tx_id}" in done.out
    assert document_of(consentry)["notes"] == {"n1": NOTE}
    undone = consentry("tx", "rollback", tx_id, "--yes")
    assert undone.status == 0, undone.err
    assert undone.out.startswith(f"{tx_id}: ROLLED_BACK\n  commit commit-")
    assert document_of(consentry) == {}
    assert transitions(consentry, tx_id)[3:] == [
        ("APPROVAL_PENDING", "APPROVED"),
        ("APPROVED", "APPLYING"),
        ("APPLYING", "APPLIED"),
        ("APPLIED", "ROLLBACK_PENDING"),
        ("ROLLBACK_PENDING", "ROLLED_BACK"),
    ]


def test_the_same_key_is_carried_out_once(consentry: CommandLine) -> None:
    """CONTRACTS §3-apply: said again it answers how that ended; another key finds it done."""
    tx_id = approved(consentry)
    for _ in range(2):
        done = consentry("tx", "apply", tx_id, "--key", "mine")
        assert done.status == 0, done.err
    commits = [each for each in transitions(consentry, tx_id) if each[1] == "APPLIED"]
    assert len(commits) == 1
    assert_error(consentry("tx", "apply", tx_id, "--key", "other"), Code.TX_STATE)
    for _ in range(2):
        done = consentry("tx", "rollback", tx_id, "--key", "back", "--yes")
        assert done.status == 0, done.err
    assert_error(consentry("tx", "rollback", tx_id, "--yes", "--key", "x"), Code.TX_STATE)
    other = approved(consentry, "n2")
    assert_error(consentry("tx", "apply", other, "--key", "mine"), Code.TX_KEY)


@pytest.mark.parametrize("key", ["", " ", "a\nb", "\x1b[2J", "\u202e", "k" * 201])
@pytest.mark.parametrize("word", ["apply", "rollback"])
def test_what_can_be_no_key_is_wrong_usage(consentry: CommandLine, word: str, key: str) -> None:
    """CONTRACTS §11: before anything is opened."""
    assert_error(consentry("tx", word, "tx-0123456789", "--key", key), Code.USAGE)


def test_what_waits_is_not_applied(consentry: CommandLine) -> None:
    """CONTRACTS §3-apply: never without a yes; parked, with the line that gives one."""
    with writing_host(consentry) as application:
        ready(application)
        tx_id = asked(application)
    waits = consentry("tx", "apply", tx_id)
    assert_error(waits, Code.APPROVAL_PENDING)
    assert waits.status == 75
    assert f"help: consentry tx approve {tx_id}" in waits.err
    assert document_of(consentry) == {}


def test_an_expired_approval_applies_nothing(consentry: CommandLine) -> None:
    """CONTRACTS §3-approval: the token has its time; what is told is why, and the status is 126."""
    tx_id = approved(consentry, clock=ManualClock(LONG_AGO))
    done = consentry("tx", "apply", tx_id)
    assert done.status == 126
    assert f"{tx_id}: FAILED_PRE_APPLY" in done.out
    assert "because: [tx-approval] the approval has expired" in done.out
    assert document_of(consentry) == {}


def test_a_document_that_moved_on_is_not_written(consentry: CommandLine) -> None:
    """CONTRACTS §3-apply: the revision is the one that was previewed, or nothing happens."""
    tx_id = approved(consentry)
    with writing_host(consentry) as application:
        changed(application, adding("n9"))
    done = consentry("tx", "apply", tx_id)
    assert done.status == 126
    assert "because: [tx-conflict]" in done.out
    assert document_of(consentry)["notes"].keys() == {"n9"}


def _revoked(line: CommandLine, application: ModuleHost) -> None:  # noqa: ARG001 - one of several ways
    assert line("grants", "revoke", "--module", "note-tools").status == 0


def _removed(line: CommandLine, application: ModuleHost) -> None:  # noqa: ARG001 - as above
    assert line("module", "remove", "note-tools", "--yes").status == 0


def _denied(line: CommandLine, application: ModuleHost) -> None:  # noqa: ARG001 - as above
    assert line("module", "mode", "deny-all").status == 0


def _replaced(line: CommandLine, application: ModuleHost) -> None:  # noqa: ARG001 - as above
    application.import_module(package(moduleVersion="1.3.0"))


def _kept(line: CommandLine, application: ModuleHost) -> None:
    """Nothing is taken from it."""


@pytest.mark.parametrize(
    ("takes", "is_applied"),
    [(_kept, True), (_revoked, False), (_removed, False), (_denied, False), (_replaced, False)],
)
def test_the_authority_of_the_module_is_checked_once_more(
    consentry: CommandLine,
    takes: Callable[[CommandLine, ModuleHost], None],
    is_applied: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """CONTRACTS §3-apply: an approval is no grant; with the grant the same command writes."""
    with writing_host(consentry) as application:
        ready(application)
        tx_id = asked(application)
        say(application, tx_id)
        takes(consentry, application)
    done = consentry("tx", "apply", tx_id)
    assert done.status == (0 if is_applied else 126), done.out + done.err
    assert (state_of(consentry, tx_id) == "APPLIED") is is_applied
    assert bool(document_of(consentry)) is is_applied
    if not is_applied:
        assert state_of(consentry, tx_id) == "FAILED_PRE_APPLY"
        rejected = events(consentry, "capability.check.rejected")
        assert [each["payload"]["transactionId"] for each in rejected] == [tx_id]


def test_a_grant_for_the_session_counts_only_while_that_session_goes_on(
    consentry: CommandLine,
) -> None:
    """MODULES §decision-1: the command is no way to act on it after the application was closed."""
    with writing_host(consentry) as application:
        ready(application, "approve_session")
        first = asked(application)
        say(application, first)
        done = consentry("tx", "apply", first)
        assert done.status == 0, done.out + done.err
        application.change([{"op": "remove", "path": "/notes/n1"}], "Make room")
        second = asked(application)
        say(application, second)
    refused = consentry("tx", "apply", second)
    assert refused.status == 126
    assert "because: [capability-" in refused.out
    assert document_of(consentry) == {"notes": {}} or document_of(consentry) == {}
    used = [each["payload"] for each in events(consentry, "module.capability.used")]
    assert [each["transactionId"] for each in used if each["operation"] is not None] == [first]


def test_what_another_session_was_granted_does_not_count(consentry: CommandLine) -> None:
    """A second window's grant for its own session is not the first one's."""
    with writing_host(consentry) as first:
        ready(first, "approve_session")
        tx_id = asked(first)
        say(first, tx_id)
    with writing_host(consentry) as second:
        granted(second, WRITE, decision="approve_session")
        refused = consentry("tx", "apply", tx_id)
        assert refused.status == 126
        assert document_of(consentry) == {}


def test_what_lies_in_a_store_of_the_host_is_neither_applied_nor_taken_back(
    consentry: CommandLine,
) -> None:
    """Said plainly, with who can; and nothing in the built-in store is touched by it."""
    tx_id = approved(consentry, document=Unreachable("note-board"))
    other = unsettled(consentry)
    for word, named in (("apply", tx_id), ("rollback", other), ("apply", other)):
        refused = consentry("tx", word, named, *(["--yes"] if word == "rollback" else []))
        assert_error(refused, Code.TX_ELSEWHERE)
        assert "have the application apply it" in refused.err
    assert (state_of(consentry, tx_id), state_of(consentry, other)) == (
        "APPROVED",
        "RECOVERY_PENDING",
    )
    assert document_of(consentry) == {}


def test_what_another_process_is_at_is_left_to_it(consentry: CommandLine) -> None:
    """CONTRACTS §3-recovery: while it lives; once it is gone the command settles it and goes on."""
    tx_id = approved(consentry)
    under_way(consentry, tx_id)
    assert_error(consentry("tx", "apply", tx_id), Code.TX_IN_FLIGHT)
    other = approved(consentry, "n2")
    under_way(consentry, other, is_gone=True)
    done = consentry("tx", "apply", other)
    assert done.status == 0, done.out + done.err
    assert document_of(consentry)["notes"].keys() == {"n2"}


@pytest.mark.parametrize("word", ["apply", "rollback", "resolve"])
def test_an_unknown_id_is_wrong_usage(consentry: CommandLine, word: str) -> None:
    """CONTRACTS §11: 2, whatever stands there."""
    more = ["--reason", "why"] if word == "resolve" else []
    for named in ("tx-0123456789", "\x1b[2J", "../../etc/passwd", "tx-" + "a" * 5000):
        assert_error(consentry("tx", word, named, *more), Code.TX_UNKNOWN)
    assert_error(consentry("tx", word), Code.USAGE)


def test_the_documents_are_stable(consentry: CommandLine) -> None:
    """Their keys are those that docs/reference/json.md names; quiet is the bare state."""
    tx_id = approved(consentry)
    document = told(consentry, "tx", "apply", tx_id)
    assert document.keys() == {"schema_version", "kind", "transaction", "helps"}
    assert (document["kind"], document["transaction"]["state"]) == ("tx-outcome", "APPLIED")
    undone = told(consentry, "tx", "rollback", tx_id, "--yes")
    assert (undone["kind"], undone["transaction"]["state"]) == ("tx-outcome", "ROLLED_BACK")
    assert consentry("tx", "rollback", tx_id, "--yes", "--quiet").out == "ROLLED_BACK\n"


@pytest.mark.parametrize("store", ["sqlite", "postgresql"])
def test_of_several_at_once_one_applies_it(
    consentry: CommandLine, request: pytest.FixtureRequest, store: str
) -> None:
    """CONTRACTS §3-apply: one commit for one key; the others find it done or under way, and write nothing."""
    if store == "postgresql":
        consentry.environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    tx_id = approved(consentry)
    words = [*consentry.program, "tx", "apply", tx_id, "--quiet"]
    started = [
        subprocess.Popen(
            words,
            cwd=consentry.cwd,
            env=consentry.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    ended = [(each.communicate(timeout=100), each.returncode) for each in started]
    for (out, err), status in ended:
        assert (status, out) == (0, "APPLIED\n") or (status == 126 and "tx-in-flight" in err), err
    assert any(status == 0 for _, status in ended)
    steps = transitions(consentry, tx_id)
    assert steps.count(("APPROVED", "APPLYING")) == 1
    assert steps.count(("APPLYING", "APPLIED")) == 1
    assert document_of(consentry)["notes"] == {"n1": NOTE}


def test_what_was_taken_back_since_is_not_done(consentry: CommandLine) -> None:
    """CONTRACTS §11-126: the same key says how it ended, and a script does not go on as if it were there."""
    tx_id = approved(consentry)
    assert consentry("tx", "apply", tx_id).status == 0
    assert consentry("tx", "rollback", tx_id, "--yes").status == 0
    again = consentry("tx", "apply", tx_id)
    assert (again.status, again.out.splitlines()[0]) == (126, f"{tx_id}: ROLLED_BACK")

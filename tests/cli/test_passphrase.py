"""The passphrase at a real terminal: asked for with every yes, unseen, and never by the line."""

from pathlib import Path

from tests.cli.asking import put, set_passphrase, status_of
from tests.cli.conftest import CommandLine
from tests.cli.execs import put as put_file
from tests.cli.terminals import at_terminal
from tests.cli.tooling import tool

TALL = (200, 400)


def test_the_passphrase_is_asked_for_with_every_yes(consentry: CommandLine) -> None:
    """Unseen; a wrong one approves nothing, a no needs none."""
    set_passphrase(consentry)
    request_id, other = put(consentry), put(consentry)
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.answer("", "a")
        terminal.answer("passphrase", "wrong words")
        terminal.see("the passphrase is wrong")
        assert status_of(consentry, request_id) == "pending"
        terminal.answer("passphrase", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    assert "horse" not in terminal.screen
    with at_terminal(consentry, "approve", other, size=TALL) as terminal:
        terminal.answer("", "a")
        for _ in range(3):
            terminal.answer("passphrase", "guess")
        assert terminal.ended() == 126, terminal.screen
    assert "error[passphrase-refused]" in terminal.screen
    assert status_of(consentry, other) == "pending"
    with at_terminal(consentry, "deny", other) as terminal:
        assert terminal.ended() == 0


def test_a_passphrase_that_is_demanded_and_not_set_lets_nothing_through(
    consentry: CommandLine,
) -> None:
    """`approvals.passphrase: true` fails closed."""
    put_file(
        consentry, "../home/.config/consentry/settings.yaml", "approvals: {passphrase: true}\n"
    )
    request_id = put(consentry)
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.answer("", "a")
        terminal.answer("passphrase", "anything at all")
        assert terminal.ended() == 126, terminal.screen
    assert "error[passphrase-unusable]" in terminal.screen
    assert status_of(consentry, request_id) == "pending"


def test_everything_is_erased_with_the_rest(consentry: CommandLine) -> None:
    """The passphrase's record, what notes running runs and what was read belong to the state."""
    tool(consentry, "count", "true")
    with at_terminal(consentry, "run", "count", size=TALL) as terminal:
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    set_passphrase(consentry)
    state = Path(consentry.environ["HOME"]) / ".local/state/consentry"
    assert (state / "running").is_dir()
    ended = consentry("purge", "--everything", "--yes")
    assert ended.status == 0, ended.err
    assert not state.exists()

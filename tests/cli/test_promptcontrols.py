"""What the prompt's controls are for: with each taken away, the attack it stands against succeeds.

That the attacks fail, and that the same answer counts when a person gives it, is in `test_approve.py`.
"""

import os
import subprocess
import sys
import time

from tests.cli.asking import consents_given, put, request_of
from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal

_READS_STANDARD_INPUT = """
import consentry.cli.terminal as terminal
terminal.DEVICE = "/dev/stdin"
terminal._is_in_front = lambda _: True
from consentry.cli.main import main
main()
"""
_KEEPS_TYPE_AHEAD = """
import consentry.cli.terminal as terminal
terminal.Terminal.forget_typed = lambda self: None
from consentry.cli.main import main
main()
"""


def test_were_standard_input_read_a_pipe_would_be_consent(consentry: CommandLine) -> None:
    """The control removed: the answer is read from what a program filled."""
    request_id = put(consentry)
    done = subprocess.run(
        [sys.executable, "-c", _READS_STANDARD_INPUT, "approve", request_id],
        cwd=consentry.cwd,
        env=consentry.environ,
        input=b"a\n",
        capture_output=True,
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(consents_given(consentry)) == 1


def test_were_type_ahead_kept_it_would_answer(consentry: CommandLine) -> None:
    """The control removed: a yes typed before the question was drawn approves it."""
    request_id = put(consentry)
    program = [sys.executable, "-c", _KEEPS_TYPE_AHEAD]
    with at_terminal(consentry, "approve", request_id, program=program) as terminal:
        terminal.type("a\n")
        assert terminal.ended() == 0, terminal.screen
    assert request_of(consentry, request_id).status == "approved"


def test_a_program_that_only_inherits_the_terminal_says_nothing(consentry: CommandLine) -> None:
    """The attack: an agent in the person's terminal runs the command.

    It waits for a key, and no key comes; whoever ends the agent leaves the question open.
    """
    request_id = put(consentry)
    words, enough = " ".join(consentry.program), consentry.cwd / "enough"
    os.mkfifo(enough)
    script = f"echo a | {words} approve {request_id} --session & read -r _ <{enough}; kill -9 $!; echo over"
    with at_terminal(consentry, "-c", script, program=["/bin/sh"]) as terminal:
        terminal.see("a approve")
        time.sleep(1)  # for an answer that must not come
        enough.write_text("now\n")
        terminal.see("over")
    assert request_of(consentry, request_id).status == "pending"


def test_a_fault_of_our_own_approves_nothing(consentry: CommandLine) -> None:
    """The gate does not crash open: whatever breaks while a person is asked leaves no yes behind."""
    request_id = put(consentry)
    broken = """
import consentry.cli.dialogue as dialogue
def fails(self): raise RuntimeError("broken")
dialogue.Dialogue._confirmed = fails
from consentry.cli.main import main
main()
"""
    program = [sys.executable, "-c", broken]
    with at_terminal(consentry, "approve", request_id, program=program) as terminal:
        terminal.answer("", "a")
        assert terminal.ended() == 125, terminal.screen
    assert "error[internal-fault]" in terminal.screen
    assert request_of(consentry, request_id).status == "pending"
    assert consents_given(consentry) == []

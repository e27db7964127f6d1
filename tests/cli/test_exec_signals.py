"""A program starts with the signals of a fresh login: nothing ignored, nothing blocked."""

from tests.cli.conftest import CommandLine, Ended

SEEN = ("exec", "--exec", "grep", "--", "grep", "-E", "^Sig(Ign|Blk)", "/proc/self/status")
NOTHING = f"SigBlk:\t{'0' * 16}\nSigIgn:\t{'0' * 16}\n"
CAREFREE = """
import ctypes, os, platform, signal, sys
ignored = ctypes.create_string_buffer((1).to_bytes(8, "little"), 32)
for hidden in (32, 33):
    ctypes.CDLL(None).syscall(13 if platform.machine() == "x86_64" else 134, hidden, ignored, None, 8)
for number in (signal.SIGHUP, signal.SIGCHLD, signal.SIGTERM, signal.SIGTSTP, signal.SIGRTMAX):
    signal.signal(number, signal.SIG_IGN)
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execv(sys.argv[1], sys.argv[1:])
"""


def _carefree(line: CommandLine) -> None:
    """From now on the command is started by somebody who ignores and blocks signals."""
    line.program = ("/usr/bin/python3", "-I", "-S", "-c", CAREFREE, *line.program)


def test_yes_ends_quietly_when_nobody_reads_on(line: CommandLine) -> None:
    """A writer into a closed pipe is ended by the signal, and has no error to tell of."""
    script = "yes | head -1; echo ${PIPESTATUS[0]}"
    ended = line("exec", "--exec", "any", "--", "bash", "-c", script)
    assert ended == Ended(0, "y\n141\n", "")


def test_nothing_is_ignored_or_blocked(line: CommandLine) -> None:
    """What the launcher's own interpreter ignores is not passed on to the program."""
    assert line(*SEEN) == Ended(0, NOTHING, "")


def test_what_the_caller_ignores_or_blocks_stays_outside(line: CommandLine) -> None:
    """As by `nohup`, or from a thread that blocks every signal."""
    _carefree(line)
    assert line(*SEEN) == Ended(0, NOTHING, "")


def test_a_limit_ends_the_run_of_a_caller_that_blocks_every_signal(line: CommandLine) -> None:
    """The first process of the box hears of it all the same, and can tell how it ended."""
    _carefree(line)
    ended = line("exec", "--timeout", "300ms", "--", "sleep", "30")
    assert ended == Ended(124, "", "consentry: stopped by the time limit\n")

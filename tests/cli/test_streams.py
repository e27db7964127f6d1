"""Closed, full and abandoned streams; interrupts; faults of our own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from consentry.base.codes import Code, ExitStatus
from tests.cli.conftest import PROGRAM, CommandLine, Ended, assert_error


@pytest.mark.parametrize("words", ["status", "explain", "--help", "--version", "status --json"])
def test_closed_standard_output(consentry: CommandLine, words: str) -> None:
    """An answer that could not be given is a failure, also for the shortest one."""
    assert_error(consentry.in_shell(f"consentry {words} >&-"), Code.OUTPUT_FAILED)


@pytest.mark.parametrize("words", ["status", "--help", "explain --json", "completion bash"])
def test_full_standard_output(consentry: CommandLine, words: str) -> None:
    """The reason is said, and the status is not 0."""
    ended = consentry.in_shell(f"consentry {words} >/dev/full")
    assert_error(ended, Code.OUTPUT_FAILED)
    assert "no space left on device" in ended.err


@pytest.mark.parametrize("words", ["status", "explain", "--help", "explain --json"])
def test_reader_that_went_away(consentry: CommandLine, words: str) -> None:
    """Quiet, with the status a program gets that dies of it."""
    read_end, write_end = os.pipe()
    os.close(read_end)
    try:
        done = subprocess.run(
            [*PROGRAM, *words.split()],
            cwd=consentry.cwd,
            env=consentry.environ,
            stdout=write_end,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(write_end)
    assert (done.returncode, done.stderr) == (ExitStatus.READER_GONE, b"")


def test_pipe_into_head(consentry: CommandLine) -> None:
    """The same in a shell: nothing but what the reader wanted."""
    ended = consentry.in_shell("consentry explain | head -n 1; exit ${PIPESTATUS[0]}")
    assert ended.out == "Terms\n"
    assert ended.err == ""
    assert ended.status in (ExitStatus.DONE, ExitStatus.READER_GONE)


def test_closed_standard_error_keeps_the_status(consentry: CommandLine) -> None:
    """A message nobody can read does not change how the command ended."""
    assert consentry.in_shell("consentry statsu 2>&-") == Ended(2, "", "")
    assert consentry.in_shell("consentry statsu 2>/dev/full") == Ended(2, "", "")


def test_all_streams_closed(consentry: CommandLine) -> None:
    """No file the command opens can take the place of a stream; the status is still right."""
    assert consentry.in_shell("consentry status <&- >&- 2>&-").status == Code.OUTPUT_FAILED.status


@pytest.mark.parametrize(("fill", "lowest"), [("main._fill_closed_descriptors()", 3), ("pass", 0)])
def test_file_we_open_never_becomes_a_standard_stream(fill: str, lowest: int) -> None:
    """Or what is meant for the terminal would be written into it.

    The control: without filling, the next file does become standard input.
    """
    script = f"import os; from consentry.cli import main; {fill}; os._exit(os.open('/', 0))"
    words = f'exec {sys.executable} -c "{script}" <&- >&- 2>&-'
    assert subprocess.run(["/bin/bash", "-c", words], check=False).returncode == lowest


def test_locale_without_letters(consentry: CommandLine, project: Path) -> None:
    """A name that the locale cannot show is escaped instead of failing half-way."""
    (project / "café/.git").mkdir(parents=True)
    environ = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    ended = consentry("status", "--workspace", "café", PYTHONIOENCODING="ascii", **environ)
    assert ended.status == 0
    assert "caf\\" in ended.out


def _wait_until_writing(pid: int) -> None:
    """Until the process is inside a write to its standard output; no clock is involved."""
    while True:
        fields = Path(f"/proc/{pid}/syscall").read_text(encoding="ascii").split()
        if fields[1:2] == ["0x1"] and fields[0] in ("1", "64"):
            return
        os.sched_yield()


@pytest.mark.parametrize("words", [["explain"], ["explain", "--json"]])
def test_interrupt(consentry: CommandLine, words: list[str]) -> None:
    """Ctrl-C ends it at once with 130, also while it waits for a reader that does not read."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    try:
        while True:
            os.write(write_end, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(write_end, True)
    process = subprocess.Popen(
        [*PROGRAM, *words],
        cwd=consentry.cwd,
        env=consentry.environ,
        stdout=write_end,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        _wait_until_writing(process.pid)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
    finally:
        process.kill()
        os.close(read_end)
        os.close(write_end)
    assert process.returncode == ExitStatus.INTERRUPTED
    if "--json" not in words:
        assert err.startswith("consentry: error[interrupted]: ")


FAULTY = """
import sys
from consentry.cli.main import run
def program(arguments):
    raise {problem}
sys.exit(run(sys.argv[1:], program))
"""


def _faulty(problem: str, *words: str) -> Ended:
    done = subprocess.run(
        [sys.executable, "-c", FAULTY.format(problem=problem), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr)


def test_fault_of_our_own_is_one_message() -> None:
    """What was not foreseen is named by its kind, its text escaped, and no traceback shown."""
    ended = _faulty(r"ValueError('odd\x1b[31m\nsecond line')")
    assert_error(ended, Code.INTERNAL_FAULT)
    assert "unforeseen ValueError: odd\\u{1b}[31m\\u{a}second line" in ended.err


@pytest.mark.parametrize("option", ["--verbose", "-v"])
def test_fault_of_our_own_shows_its_traceback_when_asked(option: str) -> None:
    """With `--verbose`, and harmless even then."""
    ended = _faulty(r"ValueError('odd\x1b[31m')", option)
    assert ended.err.startswith("Traceback (most recent call last):\n  File ")
    assert "\x1b" not in ended.err
    assert ended.err.splitlines()[-2].startswith("consentry: error[internal-fault]: ")
    assert ended.status == 125


@pytest.mark.parametrize(
    "problem", ["MemoryError()", "RecursionError('deep')", "KeyError('x')", "OSError(5, 'I/O')"]
)
def test_whatever_is_raised_becomes_status_125(problem: str) -> None:
    """Nothing passes the boundary, and nothing looks like a denial or a success."""
    assert_error(_faulty(problem), Code.INTERNAL_FAULT)


def test_failure_that_cannot_be_told_is_still_a_failure() -> None:
    """An error that raises when it is asked for its text leaves one line and status 125."""
    ended = _faulty("type('Odd', (Exception,), {'__str__': lambda self: 1 / 0})()")
    assert ended.err == "consentry: error[internal-fault]: a failure could not be reported\n"
    assert (ended.status, ended.out) == (ExitStatus.FAILED, "")


def test_status_that_was_asked_for_passes_the_boundary() -> None:
    """`SystemExit` is a wish, not a fault."""
    assert _faulty("SystemExit(7)") == Ended(7, "", "")

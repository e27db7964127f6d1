"""Closed, full and abandoned streams; interrupts; faults of our own."""

import fcntl
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
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


def _bytes_of(consentry: CommandLine, *words: str, **environ: str) -> bytes:
    done = subprocess.run(
        [*PROGRAM, *words],
        cwd=consentry.cwd,
        env={**consentry.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


ENCODINGS = ["ascii", "ascii:strict", "latin-1", "utf-16", "utf-7", "utf-8-sig", "cp037"]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_letter_the_encoding_lacks_is_never_an_escape_that_could_be_typed(
    consentry: CommandLine, encoding: str
) -> None:
    """Two names that differ are written differently, in whatever encoding is asked for."""
    shown = [
        _bytes_of(consentry, "explain", f"/srv/{name}", PYTHONIOENCODING=encoding)
        for name in ("\u0142\u00e9", "\\u0142\\xe9", "\\u0142\u00e9")
    ]
    assert [each.splitlines()[0] for each in shown] == [
        "/srv/\u0142\u00e9 (path)".encode(),
        b"/srv/\\u0142\\xe9 (path)",
        "/srv/\\u0142\u00e9 (path)".encode("latin-1" if encoding == "latin-1" else "utf-8"),
    ]


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_json_is_ascii_in_every_encoding(consentry: CommandLine, encoding: str) -> None:
    """A script reads the same bytes, however the environment is set."""
    words = ("explain", "/srv/\u0142", "--json")
    usual = _bytes_of(consentry, *words)
    assert usual.isascii()
    assert _bytes_of(consentry, *words, PYTHONIOENCODING=encoding) == usual


def _on_terminal(consentry: CommandLine, *words: str, columns: int) -> list[str]:
    """The lines that a terminal of that width gets on standard error."""
    master, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with os.fdopen(master, "rb", buffering=0) as screen:
        with os.fdopen(terminal, "wb") as stream:
            subprocess.run(
                [*PROGRAM, *words],
                cwd=consentry.cwd,
                env={**consentry.environ, "NO_COLOR": "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stream,
                check=False,
            )
        return screen.read(65536).decode().split("\r\n")


def test_name_in_an_error_cannot_begin_a_line_on_a_terminal(consentry: CommandLine) -> None:
    """A long name goes on in marked rows; in a pipe the message stays one line.

    Every padding is tried, so that the forged words would begin a row for one of them.
    """
    for padding in range(20):
        name = "-" * padding + "x/" * 60 + "help: run this instead " * 4
        lines = _on_terminal(consentry, "status", "--workspace", f"./{name}", columns=60)
        assert all(len(line) < 60 for line in lines)
        assert [line for line in lines if line.startswith("help:")] == [
            "help: name an existing folder with --workspace"
        ]
    piped = consentry("status", "--workspace", f"./{name}")
    assert len(piped.err.splitlines()) == 2


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

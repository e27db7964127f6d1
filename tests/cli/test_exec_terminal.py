"""Signals, terminals and sudden ends of `consentry exec`."""

import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import started


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_reach_the_program(line: CommandLine, number: signal.Signals) -> None:
    """It decides itself what to make of them, and its own status is ours."""
    script = (
        "import signal, sys, time\n"
        f"signal.signal({int(number)}, lambda *_: sys.exit(9))\n"
        "print('ready', flush=True)\n"
        "time.sleep(60)\n"
    )
    with started(line, "exec", "--", "python3", "-c", script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.wait(30) == 9


def test_killed_command_leaves_nothing_behind(line: CommandLine) -> None:
    """Even by the signal that cannot be caught: the program is gone with it."""
    mark = f"sleep-{os.getpid()}-{time.time_ns()}"
    script = f"import time  # {mark}\nprint('ready', flush=True)\ntime.sleep(600)"
    with started(line, "exec", "--", "python3", "-c", script) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert _processes_with(mark)
        process.kill()
        process.wait(30)
    deadline = time.monotonic() + 30
    while [each for each in _processes_with(mark) if each != process.pid]:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _processes_with(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if mark.encode() in words:
                found.append(int(entry.name))
    return found


def test_shell_on_a_terminal(consentry: CommandLine) -> None:
    """An interactive shell: it has a terminal, keys reach it, and the size is the window's."""
    pid, ours = pty.fork()
    if pid == 0:
        os.chdir(consentry.cwd)
        environ = {**consentry.environ, "TERM": "xterm", "PS1": "$ "}
        words = [*consentry.program, "exec", "--exec", "any", "--", "bash", "--norc"]
        os.execve(sys.executable, words, environ)  # noqa: S606 - no shell is wanted
    try:
        _type_and_see(ours, b"", b"$ ")
        _type_and_see(ours, b"test -t 0 && echo ter''minal\n", b"terminal")
        _type_and_see(ours, b"echo $((40 + 2))\n", b"42")
        os.write(ours, b"exit 6\n")
        _drain(ours)
    finally:
        _, status = os.waitpid(pid, 0)
        os.close(ours)
    assert os.waitstatus_to_exitcode(status) == 6


def _type_and_see(terminal: int, keys: bytes, wanted: bytes) -> None:
    os.write(terminal, keys)
    seen = b""
    while wanted not in seen:
        ready, _, _ = select.select([terminal], [], [], 60)
        assert ready, seen
        seen += os.read(terminal, 4096)


def _drain(terminal: int) -> None:
    while True:
        try:
            if not os.read(terminal, 4096):
                return
        except OSError:
            return

"""Signals, terminals and sudden ends of `consentry exec`."""

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

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
    ours, its = os.openpty()
    environ = {**consentry.environ, "TERM": "xterm", "PS1": "$ "}
    words = [*consentry.program, "exec", "--exec", "any", "--", "bash", "--norc"]
    streams: dict[str, Any] = {"stdin": its, "stdout": its, "stderr": its}
    with subprocess.Popen(
        # The first terminal that the leader of a session opens becomes its own.
        [sys.executable, "-c", _ON_ITS_OWN_TERMINAL, os.ttyname(its), *words],
        cwd=consentry.cwd,
        env=environ,
        start_new_session=True,
        **streams,
    ) as process:
        os.close(its)
        try:
            _type_and_see(ours, b"", b"$ ")
            _type_and_see(ours, b"test -t 0 && echo ter''minal\n", b"terminal")
            _type_and_see(ours, b"echo $((40 + 2))\n", b"42")
            os.write(ours, b"exit 6\n")
            _drain(ours)
        finally:
            os.close(ours)
        assert process.wait(60) == 6


_ON_ITS_OWN_TERMINAL = """
import os, sys
os.close(os.open(sys.argv[1], os.O_RDWR))
os.execv(sys.argv[2], sys.argv[2:])
"""


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

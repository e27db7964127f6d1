"""The server that the tests start: never as root, and gone with whoever started it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.store.postgresserver import NoServer, PostgresServer

STARTS = """
import time
from tests.store.postgresserver import PostgresServer
server = PostgresServer()
print(server.pid, server.folder, flush=True)
time.sleep(600)
"""


def test_it_runs_as_an_ordinary_user_on_a_socket_alone(postgres_server: PostgresServer) -> None:
    """With its commits synced, as a real one."""
    postgres_server.start()
    assert Path(f"/proc/{postgres_server.pid}").stat().st_uid != 0
    assert postgres_server.run("SHOW listen_addresses") == [("",)]
    assert postgres_server.run("SHOW fsync") == [("on",)]


def test_it_does_not_outlive_a_process_that_is_killed(postgres_server: PostgresServer) -> None:
    """Neither the server nor its folder."""
    del postgres_server  # where one can be started, so can a second
    starter = subprocess.Popen([sys.executable, "-c", STARTS], stdout=subprocess.PIPE, text=True)
    assert starter.stdout is not None
    pid, folder = starter.stdout.readline().split()
    os.kill(int(pid), 0)
    starter.send_signal(signal.SIGKILL)
    starter.wait()
    starter.stdout.close()
    give_up = time.monotonic() + 40
    while Path(folder).exists():
        assert time.monotonic() < give_up
        time.sleep(0.1)
    assert not _runs(int(pid))


def _runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_machine_without_the_server_is_told_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reason is what a skipped test prints."""
    monkeypatch.setenv("POSTGRES_BIN", str(tmp_path))
    with pytest.raises(NoServer, match="initdb"):
        PostgresServer()

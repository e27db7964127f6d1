"""`consentry.run_code`: the same confinement and record as the command, with interpreters kept warm."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from consentry.base.errors import UsageProblem
from consentry.service.audit import whole_event
from consentry.service.calloptions import CodeOptions
from consentry.service.callresults import CodeResult
from consentry.service.ledgers import ledger_for_reading
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings
from tests.enforce.egress.peers import http_peer
from tests.service.conftest import MakeAround


@dataclass(frozen=True, slots=True)
class Caller:
    """A program that uses the library."""

    library: Library
    around: Surroundings
    project: Path

    def run(self, source: str | bytes, **named: Any) -> CodeResult:
        """One call."""
        return self.library.run_code(source, self.around, CodeOptions(**named))

    def events(self) -> list[dict[str, Any]]:
        """Everything on record, in its order."""
        history = ledger_for_reading(self.around)
        assert history is not None
        with closing(history.database):
            return [dict(whole_event(row)) for row in history.events()]


@pytest.fixture
def caller(around: MakeAround, project: Path) -> Iterator[Caller]:
    """One library, closed when the test is over."""
    with closing(Library()) as library:
        yield Caller(library, around(environ={"PATH": "/usr/bin:/bin"}), project)


def test_result_has_value_output_and_record(caller: Caller) -> None:
    """As the snippet left them, and as the ledger has them."""
    result = caller.run("print('said')\n{'n': n}", arguments={"n": [1, None]})
    assert (result.result, result.error, result.status) == ({"n": [1, None]}, None, "success")
    assert (result.stdout, result.output_complete) == (b"said\n", True)
    assert caller.events()[-1]["payload"] == result.record
    assert result.record["id"] == result.run_id
    assert result.record["context"]["triggeredBy"] == "api"  # type: ignore[index, call-overload]


def test_an_error_is_a_value_and_what_was_stopped_is_listed(caller: Caller) -> None:
    """Nothing is raised for what a snippet does."""
    result = caller.run("open('new', 'w')", permission_set="minimal")
    assert result.error is not None
    assert (result.status, result.result) == ("failure", None)
    assert [each.operation.value for each in result.violations] == ["write"]
    assert not (caller.project / "new").exists()


def test_one_session_and_nothing_between_runs(caller: Caller) -> None:
    """Runs in a row and in threads, each fresh, all of one session."""
    count = "import builtins\nbuiltins.n = getattr(builtins, 'n', 0) + 1\nbuiltins.n"
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: caller.run(count), range(12)))
    assert [each.result for each in done] == [1] * 12
    assert len({each.run_id for each in done}) == 12
    types = [each["type"] for each in caller.events()]
    assert types.count("session.started") == 1
    assert types.count("tool.audit") == 12


def test_a_dead_worker_is_made_anew(caller: Caller) -> None:
    """Killing the interpreter behind the runs costs at most one of them."""
    assert caller.run("1").result == 1
    workers = [worker for launcher in _launchers() for worker in _children(launcher)]
    assert workers
    for worker in workers:
        with suppress(ProcessLookupError):
            os.kill(worker, signal.SIGKILL)
    found = [_result_or_none(caller) for _ in range(5)]
    assert found[-1] == 1


def _launchers() -> list[int]:
    """Those of this process; it may have started other things, such as a database server."""
    return [
        child
        for child in _children(os.getpid())
        if b"native.launcher" in Path(f"/proc/{child}/cmdline").read_bytes()
    ]


def _children(pid: int) -> list[int]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def _result_or_none(caller: Caller) -> object:
    try:
        return caller.run("1").result
    except Exception:  # noqa: BLE001 - whatever it is, the next call has to work
        return None


@pytest.mark.parametrize(
    "wrong",
    [
        {"source": "\ud800"},
        {"preload": "numpy"},
        {"timeout": 0},
        {"memory": -1},
        {"permission_set": "all"},
        {"arguments": {1: 2}},
    ],
)
def test_a_slip_is_an_error_before_anything_is_recorded(
    caller: Caller, wrong: dict[str, Any]
) -> None:
    """One clear error, and no ledger was made."""
    with pytest.raises(UsageProblem):
        caller.run(**{"source": "1", **wrong})
    assert ledger_for_reading(caller.around) is None


def test_front_door_loads_nothing_until_it_is_used(caller: Caller) -> None:
    """`import consentry` stays cheap; the call works from a program of its own."""
    script = (
        "import sys, consentry\n"
        "print(sorted(name for name in sys.modules if name.startswith('consentry')))\n"
        "print(consentry.run_code('6 * n', arguments={'n': 7}).result)\n"
        "print(consentry.CodeResult.__name__)\n"
    )
    home = Path(caller.around.environ.get("HOME", str(caller.project.parent)))
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=caller.project,
        env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['consentry']\n42\nCodeResult\n"
    assert done.stderr == ""


ASKS = r"""
import socket
with socket.create_connection(("127.0.0.1", port), 20) as line:
    line.sendall(b"GET /%d HTTP/1.0\r\n\r\n" % n)
    said = line.makefile().read()
said.rpartition("/")[2]
"""


def test_warm_copies_reach_what_their_own_call_names(caller: Caller) -> None:
    """Copies that were made ahead have the sockets; whom they reach is said by each call."""
    with http_peer() as granted, http_peer() as other:
        for number in range(5):
            arguments = {"port": granted.server_port, "n": number}
            place = f"127.0.0.1:{granted.server_port}"
            done = caller.run(ASKS, arguments=arguments, network=[place])
            assert (done.result, done.error) == (str(number), None)
            [reach] = done.record["sandbox"]["network"]  # type: ignore[index, call-overload]
            assert (reach["rule"], reach["times"]) == (place, 1)
            # The same ports, so the same worker; another address, so other rules.
            elsewhere = f"127.0.0.2:{granted.server_port}"
            refused = caller.run(ASKS, arguments=arguments, network=[elsewhere])
            assert refused.error is not None
            none = caller.run(ASKS, arguments=arguments)
            assert none.error is not None
        assert (len(granted.seen), other.seen) == (5, [])


def test_calls_at_the_same_time_are_not_mixed_up(caller: Caller) -> None:
    """Each has its own rules and its own record."""
    with http_peer() as one, http_peer() as two, ThreadPoolExecutor(4) as threads:

        def call(number: int) -> tuple[object, bool]:
            port = (one, two)[number % 2].server_port
            place = f"127.0.0.1:{port}"
            done = caller.run(ASKS, arguments={"port": port, "n": number}, network=[place])
            rules = [each["rule"] for each in done.record["sandbox"]["network"]]  # type: ignore[index, call-overload, union-attr]
            return done.result, rules == [place]

        assert list(threads.map(call, range(12))) == [(str(n), True) for n in range(12)]

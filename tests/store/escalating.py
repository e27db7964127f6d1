"""Capabilities that ask for a larger set, in a real store; also what other processes run with them.

python -m tests.store.escalating answer PLACE REQUEST STEP   says yes, and is killed at that step
python -m tests.store.escalating update PLACE CAPABILITY STEP   gives it another set, killed likewise
python -m tests.store.escalating save PLACE WRITER   saves code under every name that comes, a line each
python -m tests.store.escalating ask PLACE WRITER    asks once for every execution that comes
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from consentry.base.errors import ConsentryError
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Capability, Inferred, Language, determine_permission_set
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.escalationrequest import PermissionEscalationRequest
from consentry.decide.question import Answer
from consentry.store.ledger import Ledger
from consentry.store.steps import Reached, Step, unobserved
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import OWNER, answer
from tests.record.samples import WRITER
from tests.store.keepers import Keepers, open_place

FIVE_MINUTES = Duration(5 * 60_000)
MINIMAL, NET = PermissionSet.MINIMAL, PermissionSet.NETWORK_API
PURE = Inferred(MINIMAL, 0.95)
DENIED = "PermissionDenied: Requires net access to api.example.com:443"


def saved(
    keepers: Keepers, name: str = "fetch", code: str = "print(1)\n", inferred: Inferred = PURE
) -> Capability:
    """A capability in Python."""
    return keepers.capabilities.save(name, Language.PYTHON, code, inferred, by=OWNER)


def ask_of(
    capability: Capability, to: PermissionSet = NET, execution: str = "execution-1"
) -> EscalationAsk:
    """What it asks for, from the set that it runs in."""
    request = PermissionEscalationRequest(
        capability_id=capability.capability_id,
        current_set=determine_permission_set(capability),
        requested_set=to,
        reason=DENIED,
        detected_operation="net",
        confidence=0.95,
    )
    return EscalationAsk(
        request,
        execution,
        "native",
        code_hash=capability.code_hash,
        version=capability.version,
        name=capability.name,
    )


def task_ask(task: str = "task-1", execution: str = "execution-1") -> EscalationAsk:
    """What a code task asks for, for this run only."""
    request = PermissionEscalationRequest(task, MINIMAL, NET, DENIED, "net", 0.95)
    return EscalationAsk(request, execution, "deno", ephemeral=True)


def asked(keepers: Keepers, ask: EscalationAsk) -> ApprovalRequest:
    """The request, put for five minutes."""
    question = ask.question(session_id=None, policy_hash=None)
    return keepers.requests.ask_once(question, FIVE_MINUTES)[0]


def now_of(keepers: Keepers, capability: Capability) -> Capability:
    """The capability as it is now."""
    found = keepers.capabilities.find(capability.capability_id)
    assert found is not None
    return found


def by_hand(keepers: Keepers, capability: Capability, to: PermissionSet) -> Capability:
    """The set that a person's command gives it."""
    return keepers.capabilities.update_permission_set(
        capability.capability_id, to, approved_by=OWNER, reason="as agreed", by_hand=True
    )


def refused_answer(keepers: Keepers, request: ApprovalRequest, given: Answer) -> str:
    """The code with which the answer is not taken."""
    with pytest.raises(ConsentryError) as caught:
        keepers.requests.answer(request.request_id, given)
    return str(caught.value.code)


def status(keepers: Keepers, request: ApprovalRequest) -> str:
    """How the request stands."""
    found = keepers.requests.find(request.request_id)
    assert found is not None
    return found.status


def killed_at(place: object, way: str, thing_id: str, step: Step) -> bool:
    """Has another process do it, which ends at that step; whether it came so far."""
    argv = [sys.executable, "-m", "tests.store.escalating", way, str(place), thing_id, step.name]
    ended = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert ended.returncode in {-9, 0}, ended.stderr
    return ended.returncode != 0


def told_by_all(argvs: list[list[str]], inputs: list[list[str]]) -> list[list[str]]:
    """What processes say that run at once, each to its own lines of input; `ready` comes first."""
    started = [
        subprocess.Popen(
            [sys.executable, "-m", *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for argv in argvs
    ]
    for each in started:
        assert each.stdout is not None
        assert each.stdout.readline() == "ready\n"
    with ThreadPoolExecutor(len(started)) as pool:
        running = [
            pool.submit(each.communicate, "".join(f"{line}\n" for line in lines))
            for each, lines in zip(started, inputs, strict=True)
        ]
        said = [each.result()[0].splitlines() for each in running]
    assert [each.returncode for each in started] == [0] * len(started)
    return said


def _keepers(place: str, writer: str = WRITER, reached: Reached = unobserved) -> Keepers:
    return Keepers(Ledger(open_place(place), writer, reached), machine_id=writer)


def _killer(step: str) -> Reached:
    def reached(now: Step) -> None:
        if now is Step[step]:
            os.kill(os.getpid(), signal.SIGKILL)

    return reached


def _answer(place: str, request_id: str, step: str) -> None:
    _keepers(place, reached=_killer(step)).requests.answer(request_id, answer())


def _update(place: str, capability_id: str, step: str) -> None:
    keepers = _keepers(place, reached=_killer(step))
    keepers.capabilities.update_permission_set(
        capability_id, NET, approved_by=OWNER, detected_operation="net"
    )


def _lines() -> Iterator[str]:
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    return (line.strip() for line in sys.stdin)


def _save(place: str, writer: str) -> None:
    keepers = _keepers(place, writer)
    for name in _lines():
        done = saved(keepers, name, f"print({writer[-1]!r})\n")
        sys.stdout.write(f"{done.capability_id} {done.version}\n")


def _ask(place: str, writer: str) -> None:
    keepers = _keepers(place, writer)
    for execution in _lines():
        question = task_ask("task-1", execution).question(session_id=None, policy_hash=None)
        request, is_new = keepers.requests.ask_once(question, FIVE_MINUTES)
        sys.stdout.write(f"{request.request_id} {'new' if is_new else 'known'}\n")


PROGRAMS = {"answer": _answer, "update": _update, "save": _save, "ask": _ask}

if __name__ == "__main__":
    PROGRAMS[sys.argv[1]](*sys.argv[2:])

"""Questions of code that wants more, in the ledger of a command line, put there as a run would."""

import json
from typing import Any

from consentry.base.units import Duration
from consentry.decide.escalationask import REPORTED, EscalationAsk
from consentry.decide.escalationrequest import PermissionEscalationRequest
from consentry.decide.heldask import HeldAsk
from consentry.service.leader import this_process
from consentry.store.capabilities import CapabilityStore
from consentry.surface.operations import Operation
from consentry.surface.permission_sets import PermissionSet
from tests.cli.asking import HOUR, desk_of
from tests.cli.conftest import CommandLine

DENIED = "PermissionDenied: Requires net access to api.example.com:443"


def escalation(line: CommandLine, name: str, within: Duration = HOUR, **more: Any) -> str:
    """The id of the question whether that capability may reach the network, which waits."""
    with desk_of(line) as desk:
        found = CapabilityStore(desk.journal).named(name)
        assert found is not None
        reason = more.pop("reason", DENIED)
        request = PermissionEscalationRequest(
            found.capability_id,
            PermissionSet.MINIMAL,
            PermissionSet.NETWORK_API,
            reason,
            "net",
            0.95,
        )
        ask = EscalationAsk(
            request,
            more.pop("execution_id", "execution-1"),
            "native",
            code_hash=found.code_hash,
            version=found.version,
            name=found.name,
            **{
                "resource": "api.example.com:443",
                "delta": ("connect to any public host",),
                "workspace": str(line.cwd),
                **more,
            },
        )
        return _put(desk, ask, within)


def of_task(line: CommandLine, task: str, **more: Any) -> str:
    """The same of the code of a task, which nothing is kept of; in its own words."""
    request = PermissionEscalationRequest(
        task, PermissionSet.MINIMAL, PermissionSet.NETWORK_API, DENIED, "net", 0.95
    )
    ask = EscalationAsk(request, task, "deno", ephemeral=True, truth_note=REPORTED, **more)
    with desk_of(line) as desk:
        return _put(desk, ask, HOUR)


def held(line: CommandLine, resource: str = "/srv/data.csv", **more: Any) -> str:
    """The id of the question about an operation of a run that waits."""
    ask = HeldAsk(
        **{
            "subject": "program:sh",
            "operation": Operation.READ,
            "resource": resource,
            "verb": "open",
            "process": this_process(),
            "program": "/usr/bin/cat",
            "run": "permit-1",
            **more,
        }
    )
    with desk_of(line) as desk:
        session = desk.journal.context.session_id
        question = ask.question(session_id=session, policy_hash=None)
        return desk.requests.ask(question, HOUR).request_id


def _put(desk: Any, ask: EscalationAsk, within: Duration) -> str:
    question = ask.question(session_id=desk.journal.context.session_id, policy_hash=None)
    request, is_new = desk.requests.ask_once(question, within)
    assert is_new
    return str(request.request_id)


def inbox(line: CommandLine) -> list[dict[str, Any]]:
    """What waits."""
    found: list[dict[str, Any]] = json.loads(line("inbox", "--json").out)["requests"]
    return found

"""What an escalation costs beside the person and the two runs: the parse, the question, the answer.

The whole flow is what the handler does from the text of a denial to the set of the retry, with an
answer that is given at once through the same desk as any other. Every part that is durable waits for
the disk, so a bare append and sync of as many bytes stands beside it. The parse stands beside the six
bare patterns of the document.
"""

import os
import re
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter_ns

from bench.report import Sample, heading, interleaved, per_call, row, within
from consentry.base.canonical import Digest
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Capability, Language
from consentry.decide.escalation import suggest_escalation
from consentry.decide.escalation_handler import Failed, PermissionEscalationHandler
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.identity import Identity, Role
from consentry.decide.question import Answer, Channel, Outcome
from consentry.examine.denialtext import given_patterns
from consentry.examine.inference import infer_permissions
from consentry.service.approvals import Desk
from consentry.service.escalationasking import StoredEscalations
from consentry.service.library import Library
from consentry.service.surroundings import Surroundings, look_around
from consentry.store.capabilities import CapabilityStore
from consentry.store.journal import Journal
from consentry.store.permissionaudit import PermissionAuditStore
from consentry.surface.permission_sets import PermissionSet
from consentry.surface.protected import protected_roots

ROUNDS, CALLS, REPEATS = 200, 1_000, 21
PARSE_MS, ASK_MS, UPDATE_MS, FLOW_MS = 0.05, 1.0, 2.0, 10.0

_MESSAGES = {
    "as the document words it": "PermissionDenied: Requires net access to api.example.com:443",
    "as Deno words it today": (
        'NotCapable: Requires net access to "api.example.com:443", run again with the --allow-net'
        " flag"
    ),
    "as Python words it": "PermissionError: [Errno 13] Permission denied: '/srv/data/a.csv'",
    "that is no denial": "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
}
_CODE = "result = 1"


@dataclass(slots=True)
class _AtOnce:
    """Puts each question to the store, and answers it there as another process would."""

    desk: Desk
    around: Surroundings
    answer: Answer
    asked: list[int] = field(default_factory=list)
    answered: list[int] = field(default_factory=list)

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The one that this execution has put before."""
        found = self.desk.requests.about(digest)
        return found[-1] if found else None

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """Asked, and approved."""
        begun = perf_counter_ns()
        request = StoredEscalations(self.desk, self.around).put(ask)
        between = perf_counter_ns()
        settled = self.desk.answer(request.request_id, self.answer)
        self.asked.append(between - begun)
        self.answered.append(perf_counter_ns() - between)
        return settled


class _Flow:
    """Capabilities that fail and are given the set they need, one after the other."""

    def __init__(self, journal: Journal, around: Surroundings, workspace: Path) -> None:
        self.journal = journal
        self.workspace = workspace
        self.count = 0
        self.fresh: list[Capability] = []
        by = Identity(self.journal.context.actor)
        self.store = CapabilityStore(self.journal)
        audit = PermissionAuditStore(journal.ledger, journal.ids, journal.clock, journal.context)
        answer = Answer(Outcome.APPROVED, by, Role.OWNER, Channel.COMMAND)
        self.ask = _AtOnce(Desk(journal), around, answer)
        self.handler = PermissionEscalationHandler(
            self.store, audit, self.ask, protected=protected_roots(), user_id=by
        )
        inferred = infer_permissions(_CODE, Language.PYTHON)
        for number in range(ROUNDS + 1):
            saved = self.store.save(f"job-{number}", Language.PYTHON, _CODE, inferred, by=by)
            self.fresh.append(saved)

    def once(self) -> None:
        """From the text of a denial to the set of the retry."""
        capability = self.fresh[self.count]
        self.count += 1
        escalated = self.handler.handle_permission_error(
            Failed(
                execution_id=self.journal.ids.new("execution"),
                capability_id=capability.capability_id,
                current_set=PermissionSet.MINIMAL,
                error="PermissionDenied: Requires net access to api.example.com:443",
                original_error="ConnectionRefusedError",
                engine="native",
                code_hash=capability.code_hash,
                version=capability.version,
                workspace=str(self.workspace),
                name=capability.name,
            )
        )
        if escalated.new_set is not PermissionSet.NETWORK_API:
            raise RuntimeError(f"the bench was not given its set: {escalated}")


def run() -> bool:
    """Prints the tables; returns whether every target is met."""
    met = _parsed()
    return _flowed() and met


def _parsed() -> bool:
    heading(f"reading a denial ({REPEATS} times {CALLS} calls)")
    patterns = [re.compile(each) for each in given_patterns().values()]
    met = True
    for name, text in _MESSAGES.items():
        bare = per_call(REPEATS, CALLS, partial(_searched, patterns, text))
        own = per_call(REPEATS, CALLS, partial(suggest_escalation, text))
        row(f"the six bare patterns, {name}", bare)
        row(f"suggest_escalation, {name}", own, bare)
        met &= within("", own, PARSE_MS)
    return met


def _searched(patterns: list[re.Pattern[str]], text: str) -> None:
    for each in patterns:
        each.search(text)


def _flowed() -> bool:
    heading(f"a denial becomes a larger set ({ROUNDS} rounds, in turns)")
    with _place() as (flow, folder), _appender(folder / "bare") as append:
        samples = interleaved(ROUNDS, flow=flow.once, disk=append)
        asked = Sample("", tuple(flow.ask.asked[1:]))
        answered = Sample("", tuple(flow.ask.answered[1:]))
        stored = [flow.store.find(each.capability_id) for each in flow.fresh]
    if {each.permission_set for each in stored if each} != {PermissionSet.NETWORK_API}:
        raise RuntimeError("the bench approved what was not stored")
    disk = samples["disk"]
    row("append and sync of 4 KiB", disk)
    row("the question, stored", asked, disk)
    met = within("", asked, ASK_MS)
    row("the answer, its log and the new set, stored", answered, disk)
    met &= within("", answered, UPDATE_MS)
    row("all of it, without the person and the runs", samples["flow"], disk)
    return within("", samples["flow"], FLOW_MS) and met


@contextmanager
def _place() -> Iterator[tuple[_Flow, Path]]:
    """A ledger below the current folder, which is on a disk."""
    with TemporaryDirectory(dir=Path.cwd()) as folder, closing(Library()) as library:
        top = Path(folder).resolve()
        project = top / "project"
        (project / ".git").mkdir(parents=True)
        environ = {
            "HOME": str(top),
            "PATH": "/usr/bin:/bin",
            "CONSENTRY_STATE": str(top / "state"),
        }
        around = replace(look_around(environ), cwd=project)
        yield _Flow(library.journal(around), around, project), top


@contextmanager
def _appender(path: Path) -> Iterator[Callable[[], None]]:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    content = b"\0" * 4096

    def append() -> None:
        os.write(descriptor, content)
        os.fdatasync(descriptor)

    try:
        yield append
    finally:
        with suppress(OSError):
            os.close(descriptor)

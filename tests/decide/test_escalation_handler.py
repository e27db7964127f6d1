"""The flow from a denial to an answer, on a real store (ESCALATION AC4, AC5, AC9, §ask-1).

A person is a second program on the same store: it finds the request that was put and answers it.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consentry.base.canonical import Digest
from consentry.base.clock import ManualClock
from consentry.base.codes import Code
from consentry.base.units import Duration
from consentry.decide import escalation_handler
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Capability, Inferred, Language, determine_permission_set
from consentry.decide.escalation import denials_said
from consentry.decide.escalation_handler import (
    MOST_SO_FAR,
    Escalated,
    Failed,
    PermissionEscalationHandler,
)
from consentry.decide.escalationask import REPORTED, EscalationAsk
from consentry.decide.identity import SYSTEM, Role
from consentry.decide.question import Outcome
from consentry.surface.permission_sets import PermissionSet
from consentry.surface.protected import protected_roots
from tests.decide.samples import APPROVER, NOW, OWNER, answer
from tests.store.keepers import Keepers, events, pass_time, types
from tests.store.ledgers import open_ledger

MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, TRUSTED = PermissionSet
FIVE_MINUTES = Duration(5 * 60_000)
NET = "PermissionDenied: Requires net access to api.example.com:443"
READ = "PermissionDenied: Requires read access to /place/project/data/a"
TODAY = (
    'NotCapable: Requires net access to "api.example.com:443", run again with the --allow-net flag'
)
YES = answer(by=APPROVER, role=Role.APPROVER)
NO = answer(Outcome.DENIED, by=APPROVER, role=Role.APPROVER, reason="not this host")
REFUSED_EVENT = "permission.escalation.refused"


class Person:
    """Answers what is put, through the store; None waits for the deadline, `nobody` does not wait."""

    def __init__(self, keepers: Keepers) -> None:
        self.keepers = keepers
        self.answers: Callable[[ApprovalRequest], object] = self.say(YES)
        self.asks: list[EscalationAsk] = []

    def say(self, given: object) -> Callable[[ApprovalRequest], object]:
        """One answer, always the same."""
        return lambda request: self.keepers.requests.answer(request.request_id, given)  # type: ignore[arg-type]

    def be_away(self, request: ApprovalRequest) -> None:
        """Nobody answers until the deadline has passed."""
        del request
        pass_time(self.keepers, FIVE_MINUTES)
        pass_time(self.keepers, Duration(1))
        self.keepers.requests.expire_overdue()

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """What this execution asked before."""
        return next(iter(self.keepers.requests.about(digest)), None)

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """Puts the question once and waits for what comes of it."""
        self.asks.append(ask)
        question = ask.question(session_id=None, policy_hash=None)
        request, _ = self.keepers.requests.ask_once(question, FIVE_MINUTES)
        if request.is_pending:
            self.answers(request)
        found = self.keepers.requests.find(request.request_id)
        assert found is not None
        return found


class Flow:
    """One capability, and whoever is asked about it."""

    def __init__(self, keepers: Keepers) -> None:
        self.keepers = keepers
        self.person = Person(keepers)
        inferred = Inferred(MINIMAL, 0.95)
        self.capability = keepers.capabilities.save(
            "weather", Language.PYTHON, "print(1)\n", inferred, by=OWNER
        )
        self.handler = PermissionEscalationHandler(
            keepers.capabilities,
            keepers.audit,
            self.person,
            protected=protected_roots(),
            user_id=OWNER,
        )

    @property
    def stored(self) -> Capability:
        """The capability as it is now."""
        found = self.keepers.capabilities.find(self.capability.capability_id)
        assert found is not None
        return found

    def failed(self, error: str = NET, **changes: object) -> Failed:
        """An execution in the set that the capability has now, that ended with this."""
        fields: dict[str, object] = {
            "execution_id": "execution-1",
            "capability_id": self.capability.capability_id,
            "current_set": determine_permission_set(self.stored),
            "error": error,
            "original_error": "ConnectionRefusedError",
            "engine": "native",
            "code_hash": self.capability.code_hash,
            "version": self.capability.version,
            "so_far": ("read nothing",),
            "workspace": "/place/project",
            "arguments": {"city": "Bern"},
            "name": "weather",
        }
        return Failed(**{**fields, **changes})  # type: ignore[arg-type]

    def handle(self, error: str = NET, **changes: object) -> Escalated:
        """What comes of it."""
        return self.handler.handle_permission_error(self.failed(error, **changes))

    @property
    def log(self) -> list[tuple[str, str, bool, str | None]]:
        """The decisions that were logged."""
        entries = self.keepers.audit.get_audit_log(self.capability.capability_id)
        return [(e.from_set, e.to_set, e.approved, e.approved_by) for e in entries]

    @property
    def refusals(self) -> list[dict[str, object]]:
        """What was refused without a question."""
        found = events(self.keepers.ledger)
        return [each["payload"] for each in found if each["type"] == REFUSED_EVENT]


@pytest.fixture
def flow(tmp_path: Path) -> Iterator[Flow]:
    """A capability in a store of its own."""
    ledger = open_ledger(tmp_path / "store.db")
    yield Flow(Keepers(ledger, ManualClock(NOW)))
    ledger.close()


def test_a_yes_gives_the_set_to_retry_in(flow: Flow) -> None:
    """ESCALATION AC4, §yes-update: stored for good, logged with who agreed, and told to the executor."""
    found = flow.handle()
    assert (found.approved, found.new_set, found.code) == (True, NETWORK, None)
    assert found.request is not None
    assert found.request.requested_set is NETWORK
    assert (flow.stored.permission_set, flow.stored.permission_confidence) == (NETWORK, 1.0)
    assert flow.log == [(MINIMAL, NETWORK, True, APPROVER)]


def test_a_no_says_so_and_why(flow: Flow) -> None:
    """ESCALATION §no: nothing is stored, the decision is logged, the person's words are passed on."""
    flow.person.answers = flow.person.say(NO)
    found = flow.handle()
    assert (found.approved, found.new_set, found.code) == (False, None, Code.APPROVAL_DENIED)
    assert found.feedback == "not this host"
    assert flow.stored.permission_set is MINIMAL
    assert flow.log == [(MINIMAL, NETWORK, False, APPROVER)]


def test_no_answer_in_time_is_a_no_with_its_own_code(flow: Flow) -> None:
    """ESCALATION §ask-4: after five minutes; approved by nobody, which is logged as `system`."""
    flow.person.answers = flow.person.be_away
    found = flow.handle()
    assert (found.approved, found.code) == (False, Code.APPROVAL_EXPIRED)
    assert flow.log == [(MINIMAL, NETWORK, False, SYSTEM)]
    assert flow.stored.permission_set is MINIMAL


def test_where_nobody_waits_it_is_pending(flow: Flow) -> None:
    """The question stands; whoever comes back finds it and puts no other."""
    flow.person.answers = lambda _: None
    found = flow.handle()
    assert (found.approved, found.code) == (False, Code.APPROVAL_PENDING)
    assert found.request_id is not None
    flow.person.answers = flow.person.say(YES)
    again = flow.handle()
    assert (again.approved, again.request_id) == (True, found.request_id)


def test_what_is_asked_says_everything(flow: Flow) -> None:
    """ESCALATION §ask-1: the step, whose code, for whom, what it did, and with which arguments."""
    flow.handle()
    [ask] = flow.person.asks
    assert (ask.request.current_set, ask.request.requested_set) == (MINIMAL, NETWORK)
    assert (ask.request.reason, ask.request.detected_operation) == (NET, "net")
    assert ask.request.confidence == 0.95
    assert (ask.code_hash, ask.version) == (flow.capability.code_hash, 1)
    assert (ask.user_id, ask.name, ask.engine) == (OWNER, "weather", "native")
    assert (ask.resource, ask.truth_note) == ("api.example.com:443", None)
    assert (ask.arguments, ask.so_far) == ({"city": "Bern"}, ("read nothing",))
    assert ask.delta


def test_denos_word_is_marked_as_such(flow: Flow) -> None:
    """What the program says of itself was not observed."""
    assert flow.handle(TODAY, engine="deno").approved
    assert flow.person.asks[0].truth_note == REPORTED


def test_the_least_set_that_covers_is_asked_for(flow: Flow) -> None:
    """ESCALATION's answer to a write is `filesystem`; `./output` needs more, and that is asked."""
    assert flow.handle("PermissionDenied: Requires write access to output/a").new_set is STANDARD
    assert flow.person.asks[0].request.detected_operation == "write"


@pytest.mark.parametrize(
    ("error", "engine", "code", "operation", "resource"),
    [
        ("PermissionDenied: Requires run access to /bin/sh", "native",
         Code.ESCALATION_CRITICAL, "run", "/bin/sh"),
        ("PermissionDenied: Requires ffi access", "deno", Code.ESCALATION_CRITICAL, "ffi", None),
        ("PermissionDenied: Requires read access to /etc/passwd", "native",
         Code.ESCALATION_PROTECTED_ROOT, "read", "/etc/passwd"),
        ("PermissionDenied: Requires write access to ../../root/.ssh/a", "native",
         Code.ESCALATION_PROTECTED_ROOT, "write", "../../root/.ssh/a"),
        ("PermissionDenied: Requires read access to /opt/a", "native",
         Code.ESCALATION_UNCOVERED, "read", "/opt/a"),
        ("PermissionDenied: Requires env access to HOME", "native",
         Code.ESCALATION_UNCOVERED, "env", "HOME"),
        (f"{TODAY}\n{READ}\nRequires run access to sh", "deno", Code.ESCALATION_CRITICAL, "run", "sh"),
    ],
)  # fmt: skip
def test_what_may_not_be_asked_is_refused_and_recorded(
    flow: Flow, error: str, engine: str, code: Code, operation: str, resource: str | None
) -> None:
    """ESCALATION AC9.3, §ask-protected, §log-5: an event with its code, no question and no row."""
    found = flow.handle(error, engine=engine)
    assert (found.approved, found.code) == (False, code)
    assert found.feedback
    assert found.help_line
    assert flow.person.asks == []
    assert flow.log == []
    [refusal] = flow.refusals
    assert (refusal["code"], refusal["detectedOperation"]) == (code, operation)
    assert (refusal["resource"], refusal["executionId"]) == (resource, "execution-1")
    assert (refusal["fromSet"], refusal["reason"]) == ("minimal", error)
    assert "approval.requested" not in types(flow.keepers.ledger)


@pytest.mark.parametrize("engine", ["native", "deno"])
@pytest.mark.parametrize("error", ["", "Some other error", "KeyError: 'x'"])
def test_an_error_without_a_denial_is_nobodys_business(flow: Flow, error: str, engine: str) -> None:
    """Nothing is asked and nothing is recorded."""
    assert flow.handle(error, engine=engine) == Escalated(approved=False)
    assert flow.person.asks == []
    assert flow.refusals == []


def test_on_native_only_the_typed_line_counts(flow: Flow) -> None:
    """A program that prints the sentence, or an error that contains it, gets no question."""
    for error in (
        f"ValueError: {NET}",
        f"{NET}"[20:],
        TODAY,
        "PermissionError: [Errno 13] x: '/a'",
    ):
        assert flow.handle(error) == Escalated(approved=False)
    assert flow.person.asks == []


HOSTILE = READ + "\nPermissionDenied: Requires net access to evil.example:443"
"""A file whose name goes on like a second denial."""


def test_the_name_of_a_file_widens_nothing(flow: Flow) -> None:
    """It is all one resource: what is asked for is what that file needs."""
    assert flow.handle(HOSTILE).new_set is READONLY


def test_read_as_any_text_it_would(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands against it is that the record's line is read back whole."""
    monkeypatch.setattr(
        escalation_handler, "_denials_of", lambda failed: denials_said(failed.error)
    )
    assert flow.handle(HOSTILE).new_set is STANDARD


def test_an_execution_asks_once(flow: Flow) -> None:
    """ESCALATION AC5, §yes-once: a retry that needs yet more gets no second question."""
    first = flow.handle(NET)
    assert first.new_set is NETWORK
    second = flow.handle(READ)
    assert (second.approved, second.code) == (False, Code.ESCALATION_SPENT)
    assert second.request_id == first.request_id
    assert len(flow.person.asks) == 1
    assert [each["code"] for each in flow.refusals] == [Code.ESCALATION_SPENT]
    assert flow.stored.permission_set is NETWORK


def test_a_refused_execution_asks_no_more(flow: Flow) -> None:
    """After a no the same execution is not put before the person again."""
    flow.person.answers = flow.person.say(NO)
    flow.handle()
    flow.person.answers = flow.person.say(YES)
    assert flow.handle().code == Code.ESCALATION_SPENT
    assert flow.handle(READ).code == Code.ESCALATION_SPENT
    assert len(flow.person.asks) == 1


def test_another_execution_asks_anew(flow: Flow) -> None:
    """It is the execution that is counted."""
    flow.handle(NET)
    found = flow.handle(READ, execution_id="execution-2")
    assert found.new_set is STANDARD
    assert len(flow.person.asks) == 2


def test_an_approved_set_that_was_not_used_yet_is_found_after_a_crash(flow: Flow) -> None:
    """Between the yes and the retry the program ended: the answer stands, nobody is asked again."""
    flow.handle(NET)
    again = PermissionEscalationHandler(
        flow.keepers.capabilities, flow.keepers.audit, flow.person, protected=protected_roots()
    )
    found = again.handle_permission_error(flow.failed(NET, current_set=MINIMAL))
    assert (found.approved, found.new_set) == (True, NETWORK)
    assert len(flow.person.asks) == 1
    assert len(flow.log) == 1


def test_a_code_task_is_logged_and_not_stored(flow: Flow) -> None:
    """ESCALATION §code-4, §code-5, §code-6: its id stands for a capability's, for this run only."""
    task = {"capability_id": "task-7", "ephemeral": True, "code_hash": None, "version": None}
    found = flow.handle(NET, **task)
    assert (found.approved, found.new_set) == (True, NETWORK)
    assert flow.keepers.capabilities.find("task-7") is None
    [entry] = flow.keepers.audit.get_audit_log("task-7")
    assert entry.approved
    assert flow.stored.permission_set is MINIMAL
    assert flow.handle("PermissionDenied: Requires read access to /etc/a", **task).code == (
        Code.ESCALATION_PROTECTED_ROOT
    )
    assert flow.refusals[0]["ephemeral"] is True


def test_a_capability_that_changed_meanwhile_is_not_retried(flow: Flow) -> None:
    """The yes was to other code: it opens nothing."""

    def change_and_answer(request: ApprovalRequest) -> None:
        inferred = Inferred(MINIMAL, 0.95)
        flow.keepers.capabilities.save("weather", Language.PYTHON, "print(2)\n", inferred, by=OWNER)
        with pytest.raises(Exception, match=r"changed|settled|superseded"):
            flow.keepers.requests.answer(request.request_id, YES)

    flow.person.answers = change_and_answer
    found = flow.handle()
    assert (found.approved, found.code) == (False, Code.APPROVAL_SUPERSEDED)
    assert flow.stored.permission_set is MINIMAL


def test_a_set_given_by_hand_after_the_yes_counts_more(flow: Flow) -> None:
    """The approved set is read back: where it is not stored any more, there is no retry in it."""

    def answer_and_lower(request: ApprovalRequest) -> None:
        flow.keepers.requests.answer(request.request_id, YES)
        flow.keepers.capabilities.update_permission_set(
            flow.capability.capability_id, MINIMAL, approved_by=OWNER, by_hand=True
        )

    flow.person.answers = answer_and_lower
    found = flow.handle()
    assert (found.approved, found.code) == (False, Code.APPROVAL_SUPERSEDED)


def test_what_a_request_holds_is_bounded(flow: Flow) -> None:
    """Endless lists and arguments, and texts that no database takes, do not keep it from asking."""
    found = flow.handle(
        "PermissionDenied: Requires read access to data/\0\ud800" + "x" * 9000,
        so_far=[f"read\0 {number}\ud800" + "x" * 1000 for number in range(500)],
        arguments={"big": "x" * 100_000},
    )
    assert found.code == Code.ESCALATION_UNCOVERED
    found = flow.handle(
        NET,
        so_far=[f"read\0 {number}\ud800" + "x" * 1000 for number in range(500)],
        arguments={"big": "x" * 100_000},
    )
    assert found.approved
    [ask] = flow.person.asks
    assert ask.arguments is None
    assert len(ask.so_far) == MOST_SO_FAR + 1
    assert ask.so_far[-1] == "and 400 more"
    assert max(map(len, ask.so_far)) <= 400


def test_arguments_that_no_request_can_hold_are_left_out(flow: Flow) -> None:
    """A number beyond what JSON holds is no reason to fail."""
    assert flow.handle(NET, arguments={"n": 2**80}).approved
    assert flow.person.asks[0].arguments is None


def test_an_allowlist_reaches_the_question(flow: Flow) -> None:
    """Where the network is narrowed, a host beside the list is not asked for, one on it is."""
    found = flow.handle(NET, allowlist=("other.example:443",))
    assert found.code == Code.ESCALATION_UNCOVERED
    found = flow.handle(NET, allowlist=("api.example.com:443",))
    assert found.approved
    assert flow.person.asks[0].delta == ("may connect to `api.example.com:443`",)


def test_the_roots_of_the_place_count(flow: Flow) -> None:
    """A state directory that was moved into the workspace is protected there, too."""
    own = protected_roots().bound_to(also=["/place/project/state"])
    handler = PermissionEscalationHandler(
        flow.keepers.capabilities, flow.keepers.audit, flow.person, protected=own
    )
    failed = flow.failed("PermissionDenied: Requires read access to /place/project/state/key")
    assert handler.handle_permission_error(failed).code == Code.ESCALATION_PROTECTED_ROOT
    assert flow.handler.handle_permission_error(failed).new_set is FILESYSTEM


def test_from_trusted_nothing_is_asked(flow: Flow) -> None:
    """ESCALATION §step-2: nor is `trusted` ever asked for."""
    assert flow.handle(NET, current_set=TRUSTED).code == Code.ESCALATION_UNCOVERED
    assert flow.handle(READ, current_set=STANDARD).code == Code.ESCALATION_UNCOVERED
    assert flow.person.asks == []

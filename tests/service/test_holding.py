"""What a program waits for, as questions in the store: put once, answered once, ended with whoever waits."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Condition
from typing import Any

import pytest

import consentry
from consentry.base.canonical import canonical_json
from consentry.base.clock import SystemClock
from consentry.base.errors import Refused
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.heldask import AT_ONCE, HeldAsk
from consentry.decide.identity import Role
from consentry.decide.question import Answer, Channel, Outcome, RequestKind
from consentry.declare.preferences import ApprovalSettings
from consentry.enforce.held import HeldAnswer, HeldOperation, Operation, Verb
from consentry.service.approvals import Desk, Look
from consentry.service.holding import MOST_OPEN, HeldRequests, HeldRun, Holding
from consentry.service.leader import this_process
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings
from tests.decide.samples import OWNER
from tests.elsewhere import folder_elsewhere
from tests.service.desks import journal_of
from tests.store.conftest import Store

PATIENCE = 30
RUN = HeldRun("program:job", ("job", "--all"), "/project", allows_direct=False)
YES = Answer(Outcome.APPROVED, OWNER, Role.OWNER, Channel.COMMAND)
NO = Answer(Outcome.DENIED, OWNER, Role.OWNER, Channel.COMMAND)


class Answers:
    """What came back, from whichever thread."""

    def __init__(self) -> None:
        self._change = Condition()
        self.found: dict[int, tuple[HeldAnswer, str | None]] = {}

    def reply(self, number: int) -> Any:
        """How the keeper answers this one."""

        def told(answer: HeldAnswer, request_id: str | None = None) -> None:
            with self._change:
                assert number not in self.found
                self.found[number] = (answer, request_id)
                self._change.notify_all()

        return told

    def wait(self, count: int) -> None:
        """Until so many came."""
        with self._change:
            assert self._change.wait_for(lambda: len(self.found) >= count, PATIENCE)


def reading(number: int, path: str = "/etc/hosts") -> HeldOperation:
    """A file that is to be read."""
    return HeldOperation(number, Operation.READ, path, Verb.OPEN)


class Told:
    """Questions that were announced."""

    def __init__(self) -> None:
        self._change = Condition()
        self.requests: list[ApprovalRequest] = []

    def __call__(self, request: ApprovalRequest) -> None:
        """One of them."""
        with self._change:
            self.requests.append(request)
            self._change.notify_all()

    def wait(self, count: int) -> list[ApprovalRequest]:
        """So many of them."""
        with self._change:
            assert self._change.wait_for(lambda: len(self.requests) >= count, PATIENCE)
            return list(self.requests)


@contextmanager
def keeper(
    store: Store, holding: Holding, settings: ApprovalSettings | None = None
) -> Iterator[HeldRequests]:
    """One run's questions."""
    journal = journal_of(store)
    made = HeldRequests(journal, RUN, holding, settings or ApprovalSettings())
    try:
        yield made
    finally:
        made.close()
        journal.ledger.close()


@contextmanager
def another(store: Store) -> Iterator[Desk]:
    """The desk of somebody else who looks at the same store."""
    journal = journal_of(store)
    try:
        yield Desk(journal)
    finally:
        journal.ledger.close()


@pytest.mark.parametrize(
    ("answer", "expected"), [(YES, HeldAnswer.GRANTED), (NO, HeldAnswer.REFUSED)]
)
def test_somebody_else_answers(store: Store, answer: Answer, expected: HeldAnswer) -> None:
    """The question is a request of kind `hold` with all that is asked; its answer comes with its id."""
    told, answers = Told(), Answers()
    with keeper(store, Holding(announce=told)) as held, another(store) as desk:
        held.begun("event-of-the-decision")
        held.asked(reading(7), answers.reply(7))
        [request] = told.wait(1)
        assert request.question.kind is RequestKind.HOLD
        assert request.question.text == "may job read /etc/hosts?"
        ask = HeldAsk.of(request)
        assert (ask.operation, ask.resource, ask.run) == (
            Operation.READ,
            "/etc/hosts",
            "event-of-the-decision",
        )
        assert (ask.arguments, ask.workspace) == (("job", "--all"), "/project")
        assert answers.found == {}
        desk.answer(request.request_id, answer)
        answers.wait(1)
    assert answers.found == {7: (expected, request.request_id)}


def test_no_answer_in_time_is_an_answer_of_its_own(store: Store) -> None:
    """Within the deadline of escalations."""
    answers = Answers()
    settings = ApprovalSettings(escalation_deadline=Duration(300))
    with keeper(store, Holding(), settings) as held:
        held.asked(reading(1), answers.reply(1))
        answers.wait(1)
        [(answer, request_id)] = answers.found.values()
        with another(store) as desk:
            assert desk.look(str(request_id)).status == Outcome.EXPIRED
    assert answer is HeldAnswer.EXPIRED


def test_a_question_is_taken_back_when_nobody_waits_for_it(store: Store) -> None:
    """Whoever would answer it finds it superseded, and why; nothing is told to who is gone."""
    told, answers = Told(), Answers()
    with keeper(store, Holding(announce=told)) as held, another(store) as desk:
        for number in (1, 2):
            held.asked(reading(number, f"/etc/{number}"), answers.reply(number))
        first, second = told.wait(2)
        held.gone(1)
        desk.answer(second.request_id, YES)
        answers.wait(1)
        held.close()
        ended = desk.look(first.request_id)
    assert ended.status == Outcome.SUPERSEDED
    assert ended.answer is not None
    assert ended.answer.reason == "nobody waits for it any more"
    assert list(answers.found) == [2]


def test_questions_end_with_the_run(store: Store) -> None:
    """Closing takes all of them back and refuses what is asked afterwards."""
    told, answers = Told(), Answers()
    with keeper(store, Holding(announce=told)) as held, another(store) as desk:
        for number in range(5):
            held.asked(reading(number, f"/etc/{number}"), answers.reply(number))
        asked = told.wait(5)
        held.close()
        held.asked(reading(9), answers.reply(9))
        assert {each for each, _ in answers.found.values()} == {HeldAnswer.REFUSED}
        assert len(answers.found) == 6
        assert [desk.look(each.request_id).status for each in asked] == ["superseded"] * 5
        assert desk.pending() == []


def test_only_so_many_wait_at_once(store: Store) -> None:
    """One more is refused, and nobody is asked about it."""
    answers = Answers()
    with keeper(store, Holding()) as held:
        for number in range(MOST_OPEN + 1):
            held.asked(reading(number, f"/etc/{number}"), answers.reply(number))
        assert answers.found == {MOST_OPEN: (HeldAnswer.REFUSED, None)}


class Asker:
    """Somebody here, who is asked one thing at a time."""

    def __init__(self, says: dict[str, Answer | Exception | None]) -> None:
        self._says = says
        self.is_asking = False
        self.order: list[str] = []

    def ask(self, request: ApprovalRequest, look: Look) -> Answer | None:
        """As was said."""
        assert not self.is_asking
        self.is_asking = True
        assert look().is_pending
        resource = HeldAsk.of(request).resource
        self.order.append(resource)
        self.is_asking = False
        said = self._says[resource]
        if isinstance(said, Exception):
            raise said
        return said

    def tell(self, request: ApprovalRequest) -> None:
        """Nobody listens."""


def test_whoever_is_here_is_asked_one_thing_after_the_other(store: Store) -> None:
    """In the order in which they came; what nobody answers here is told of, and waits for others."""
    says: dict[str, Answer | Exception | None] = {
        "/etc/1": YES,
        "/etc/2": NO,
        "/etc/3": None,
        "/etc/4": RuntimeError("the terminal fell over"),
        "/etc/5": YES,
    }
    asker, told, answers = Asker(says), Told(), Answers()
    holding = Holding(lambda *_: asker, told)
    with keeper(store, holding) as held, another(store) as desk:
        for number, resource in enumerate(says, 1):
            held.asked(reading(number, resource), answers.reply(number))
        answers.wait(3)
        assert asker.order == list(says)
        assert {number: answer for number, (answer, _) in answers.found.items()} == {
            1: HeldAnswer.GRANTED,
            2: HeldAnswer.REFUSED,
            5: HeldAnswer.GRANTED,
        }
        [left, *_] = told.wait(1)
        assert HeldAsk.of(left).resource == "/etc/3"
        for each in desk.pending():
            desk.answer(each.request_id, YES)
        answers.wait(5)


def test_a_store_that_fails_refuses(store: Store) -> None:
    """Whatever goes wrong with the ledger, nothing is granted."""
    journal = journal_of(store)
    answers = Answers()
    held = HeldRequests(journal, RUN, Holding())
    journal.ledger.close()
    held.asked(reading(1), answers.reply(1))
    answers.wait(1)
    held.close()
    assert answers.found == {1: (HeldAnswer.REFUSED, None)}


def test_an_answer_to_another_question_opens_nothing(store: Store) -> None:
    """What stands in the store must be what was asked, down to the last word."""
    told, answers = Told(), Answers()
    with keeper(store, Holding(announce=told)) as held, another(store) as desk:
        held.asked(reading(1, "/etc/shadow"), answers.reply(1))
        [request] = told.wait(1)
        with desk.journal.database.committing() as transaction:
            shown = {**HeldAsk.of(request).to_json(), "resource": "/etc/hosts"}
            _forge(transaction, request.request_id, shown)
        with suppress(Refused):  # who waits may have seen it, and taken the question back
            desk.requests.answer(request.request_id, YES)
        answers.wait(1)
    [(answer, _)] = answers.found.values()
    assert answer is HeldAnswer.REFUSED


def _forge(transaction: Any, request_id: str, preview: dict[str, Any]) -> None:
    transaction.run(
        "UPDATE approval_request SET preview = ? WHERE request_id = ?",
        (canonical_json(preview).decode(), request_id),
    )


def test_a_write_that_no_layer_holds_back_says_so() -> None:
    """Whoever is asked is told before."""
    ask = HeldAsk("tool:job", Operation.WRITE, "/srv/a", "open", this_process(), direct=True)
    assert AT_ONCE in ask.lines()
    assert AT_ONCE == "written to the host at once, not rehearsed"
    layered = HeldAsk(
        "tool:job", Operation.WRITE, "/srv/a", "open", this_process(), through_layer=True
    )
    assert AT_ONCE not in layered.lines()


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder with a file that nothing grants."""
    with folder_elsewhere() as folder:
        (folder / "secret.txt").write_text("blue")
        yield folder


@pytest.mark.parametrize(("answer", "said"), [(YES, b"blue\n"), (NO, b"refused\n")])
def test_the_library_holds_a_run(
    tmp_path: Path,
    outside: Path,
    monkeypatch: pytest.MonkeyPatch,
    answer: Answer,
    said: bytes,
) -> None:
    """`consentry.exec(hold=…)`: the function is told the id, somebody answers, the call returns."""
    home, project = tmp_path / "home", tmp_path / "project"
    for folder in (home, project / ".git"):
        folder.mkdir(parents=True)
    environ = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    for name in list(os.environ):
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)

    def told(request_id: str) -> None:
        clock = SystemClock()
        journal = journal_here(Surroundings(environ, project, os.geteuid()), clock, Uuid7Ids(clock))
        try:
            Desk(journal).answer(request_id, answer)
        finally:
            journal.ledger.close()

    code = (
        f"try: print(open({str(outside / 'secret.txt')!r}).read())\n"
        "except OSError: print('refused')\n"
    )
    result = consentry.exec(["python3", "-c", code], workspace=project, hold=told)
    assert result.stdout == said, result.stderr
    [entry] = result.record["impact"]["held"]
    assert entry["answer"] == ("granted" if answer is YES else "refused")

"""`consentry.run_tool` and its kin: a program runs tools, and answers nothing for anybody."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import consentry
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.identity import Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome
from consentry.service.approvals import Desk
from consentry.service.callresults import ToolResult
from consentry.service.identity import local_user
from consentry.service.library import Library
from consentry.service.rehearsals import commit_run
from consentry.service.surroundings import Surroundings
from consentry.service.toolcalls import ToolCall, tool_call
from consentry.service.tooldecisions import Parked
from consentry.service.toolruns import ToolWish
from tests.service.conftest import MakeAround

WRITES = "import pathlib; pathlib.Path('made.txt').write_text('made'); print('done')"
MADE = [{"pattern": "made.txt", "purpose": "what it makes"}]


@dataclass(frozen=True, slots=True)
class Caller:
    """A program that runs tools of a user's own configuration."""

    library: Library
    around: Surroundings
    project: Path

    def tool(self, name: str, level: str, code: str = "print('hello')", **keys: Any) -> None:
        """A tool of one line of Python, at this level."""
        folder = Path(self.around.environ["HOME"], ".config/consentry")
        (folder / "tools").mkdir(parents=True, exist_ok=True)
        command = {"command": "/usr/bin/python3", "arguments": ["-c", code], "purpose": "run"}
        document = {
            "name": name,
            "description": "A tool of the tests",
            "version": "1.0.0",
            "capabilities": {"processExecution": [command], **keys},
            "riskLevel": "low",
            "consentLevel": level,
        }
        (folder / f"tools/{name}.yaml").write_text(json.dumps({"tool": document}))
        consent = {"version": "1.0.0", "consentLevels": {level: {"allowedTools": [name]}}}
        (folder / "consent-config.yaml").write_text(json.dumps({"consentSystem": consent}))

    def run(self, name: str, **wish: bool) -> ToolResult:
        """One call."""
        return self.library.run_tool(ToolCall(name), self.around, ToolWish(**wish))

    def answer(self, request_id: str, outcome: Outcome = Outcome.APPROVED) -> None:
        """A person answers, elsewhere."""
        journal = self.library.journal(self.around)
        by = local_user(self.around, journal.machine_id)
        lasts = Lasts.ONCE if outcome is Outcome.APPROVED else None
        reason = "it is needed"
        Desk(journal).answer(
            request_id, Answer(outcome, by, Role.OWNER, Channel.COMMAND, reason, lasts)
        )


@pytest.fixture
def caller(around: MakeAround, project: Path) -> Iterator[Caller]:
    """One library, closed when the test is over."""
    with closing(Library()) as library:
        yield Caller(library, around(environ={"PATH": "/usr/bin:/bin"}), project)


def asked_in(caller: Caller, name: str) -> str:
    """The id of the question that a call left behind."""
    with pytest.raises(Parked) as parked:
        caller.run(name, waits=False)
    assert parked.value.code is Code.APPROVAL_PENDING
    return parked.value.request_id


def test_a_tool_that_needs_no_consent_runs(caller: Caller) -> None:
    """Its output, status and record come back."""
    caller.tool("hello", "none")
    result = caller.run("hello")
    assert (result.status, result.stdout, result.exit_code) == ("success", b"hello\n", 0)
    assert (result.waiting, result.refused) == (None, None)
    assert result.record["tool"]["name"] == "hello"  # type: ignore[index,call-overload]


def test_who_does_not_wait_gets_the_question_and_dispatches_it_once(caller: Caller) -> None:
    """The yes is for one run; the second dispatch is refused."""
    caller.tool("hello", "explicit")
    request = asked_in(caller, "hello")
    with pytest.raises(ConsentryError) as pending:
        caller.library.run_request(request, caller.around, ToolWish())
    assert pending.value.code is Code.APPROVAL_PENDING
    caller.answer(request)
    result = caller.library.run_request(request, caller.around, ToolWish())
    assert (result.status, result.stdout) == ("success", b"hello\n")
    with pytest.raises(ConsentryError) as again:
        caller.library.run_request(request, caller.around, ToolWish())
    assert again.value.code is Code.CONSENT_CLOSED


def test_who_waits_goes_on_with_the_answer(caller: Caller) -> None:
    """A thread waits; the answer of another starts its run."""
    caller.tool("hello", "explicit")
    request = asked_in(caller, "hello")
    results: list[ToolResult] = []
    waiting = Thread(target=lambda: results.append(caller.run("hello")))
    waiting.start()
    caller.answer(request)
    waiting.join(60)
    assert [result.stdout for result in results] == [b"hello\n"]


def test_a_no_is_raised_with_its_code(caller: Caller) -> None:
    """And nothing ran."""
    caller.tool("make", "explicit", WRITES, fileWrite=MADE)
    request = asked_in(caller, "make")
    caller.answer(request, Outcome.DENIED)
    with pytest.raises(ConsentryError) as denied:
        caller.library.run_request(request, caller.around, ToolWish())
    assert denied.value.code is Code.APPROVAL_DENIED
    assert not (caller.project / "made.txt").exists()


def test_a_rehearsal_changes_nothing_until_it_is_committed(caller: Caller) -> None:
    """`rehearse`, then `commit` of exactly that."""
    caller.tool("make", "none", WRITES, fileWrite=MADE)
    result = caller.run("make", rehearses=True)
    assert (result.committed, (caller.project / "made.txt").exists()) == (False, False)
    commit_run(caller.library.effects(caller.around), result.run_id)
    assert (caller.project / "made.txt").read_text() == "made"


def test_a_strict_tool_waits_for_its_second_yes(caller: Caller) -> None:
    """The run is over, its effect is kept, and the caller is told so."""
    caller.tool("make", "strict", WRITES, fileWrite=MADE)
    request = asked_in(caller, "make")
    caller.answer(request)
    result = caller.library.run_request(request, caller.around, ToolWish())
    assert (result.waiting, result.committed) == (result.run_id, False)
    assert not (caller.project / "made.txt").exists()


@pytest.mark.parametrize("words", ["one text", [3], [b"bytes"]])
def test_arguments_that_are_no_list_of_words_are_refused(words: Any) -> None:
    """One text would be taken for its letters."""
    with pytest.raises((ConsentryError, TypeError)):
        tool_call("hello", words, None, None)


def test_everything_public_is_found_at_the_front_door() -> None:
    """What `__all__` names is there, and loads when it is looked at."""
    for name in consentry.__all__:
        assert getattr(consentry, name) is not None

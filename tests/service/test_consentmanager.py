"""`ConsentManager`: the four methods of CONSENT §api, waiting in the store for a real answer."""

import asyncio
import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest

import consentry
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.approval import ApprovalRequest
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Outcome
from consentry.record.auditfields import ConsentMethod
from consentry.service.approvals import Look
from consentry.service.consentmanager import ConsentManager
from tests.cli.conftest import CommandLine
from tests.cli.tooling import consent_config, tool
from tests.decide.samples import answer

pytestmark = pytest.mark.timeout(120)


class Says:
    """An asker that says one thing, and counts."""

    def __init__(self, said: Answer) -> None:
        self.said = said
        self.asked = 0

    def ask(self, _request: ApprovalRequest, _look: Look) -> Answer:
        """The answer."""
        self.asked += 1
        return self.said

    def tell(self, request: ApprovalRequest) -> None:
        """Nobody is there to be told."""


YES = answer(lasts=Lasts.SESSION)
NO = answer(Outcome.DENIED, reason="not now")


@pytest.fixture
def line(home: Path, project: Path) -> CommandLine:
    """A user with one tool."""
    found = CommandLine(project, {"HOME": str(home), "PATH": "/usr/bin:/bin"})
    tool(found, "count", "true")
    return found


@pytest.fixture
def says() -> Says:
    """Whoever is asked says yes, for the session."""
    return Says(YES)


@pytest.fixture
def manager(line: CommandLine, says: Says) -> Iterator[ConsentManager]:
    """One in the project."""
    with ConsentManager(line.environ, str(line.cwd), asker=says) as made:
        yield made


def test_the_signatures_are_the_document_s() -> None:
    """CONSENT §api-1 to §api-4: names and parameters as written, and a twin to await for each."""
    wanted = {
        "request_consent": ["self", "tool_id", "context"],
        "verify_consent": ["self", "tool_id", "session_id"],
        "revoke_consent": ["self", "tool_id", "session_id"],
        "get_consent_history": ["self", "session_id"],
    }
    for name, parameters in wanted.items():
        assert list(inspect.signature(getattr(ConsentManager, name)).parameters) == parameters
        twin = getattr(ConsentManager, f"a{name}")
        assert list(inspect.signature(twin).parameters) == parameters
        assert inspect.iscoroutinefunction(twin)


def test_request_verify_revoke_and_history(manager: ConsentManager, says: Says) -> None:
    """Asked once, remembered, verified, revoked, asked again (CONSENT SC-6)."""
    session = manager.session_id
    assert not manager.verify_consent("count", session)
    first = manager.request_consent("count", {"arguments": ["a"]})
    assert (first.approved, first.status, first.method) == (
        True,
        "approved",
        ConsentMethod.EXPLICIT_APPROVAL,
    )
    assert manager.verify_consent("count", session)
    again = manager.request_consent("count", {"arguments": ["b"]})
    assert (again.consent_id, again.method) == (first.consent_id, ConsentMethod.REMEMBERED)
    assert says.asked == 1
    manager.revoke_consent("count", session)
    assert not manager.verify_consent("count", session)
    manager.request_consent("count", {})
    assert says.asked == 2
    records = manager.get_consent_history(session)
    assert [(each.tool_id, each.decision) for each in records] == [("count", "approved")] * 2
    assert [
        each.consent is not None and each.consent.revoked_at is not None for each in records
    ] == [
        True,
        False,
    ]


def test_a_no_is_a_result_and_not_an_error(manager: ConsentManager, says: Says) -> None:
    """With the reason, and the request that was answered."""
    says.said = NO
    result = manager.request_consent("count", {})
    assert (result.approved, result.status, result.consent_id) == (False, "denied", None)
    assert result.reason is not None
    assert "not now" in result.reason
    (record,) = manager.get_consent_history(manager.session_id)
    assert (record.decision, record.reason, record.request_id) == (
        "denied",
        "not now",
        result.request_id,
    )


def test_a_consent_of_another_session_does_not_count(
    manager: ConsentManager, line: CommandLine
) -> None:
    """`session` is the object's own; it ends with it."""
    manager.request_consent("count", {})
    with ConsentManager(line.environ, str(line.cwd)) as other:
        assert not other.verify_consent("count", other.session_id)
        assert other.verify_consent("count", manager.session_id)
        assert other.get_consent_history(other.session_id) == []
        over = other.session_id
    assert not manager.verify_consent("count", over)


def test_a_tool_that_changed_is_not_covered(manager: ConsentManager, line: CommandLine) -> None:
    """The digest is the tool's as it is now; one that is gone is covered by nothing."""
    manager.request_consent("count", {})
    file = tool(line, "count", "false")
    assert not manager.verify_consent("count", manager.session_id)
    file.unlink()
    assert not manager.verify_consent("count", manager.session_id)


def test_without_an_asker_the_question_waits_in_the_store(line: CommandLine) -> None:
    """CONSENT §api-1: `wait: False` returns at once; nothing was approved."""
    with ConsentManager(line.environ, str(line.cwd)) as alone:
        result = alone.request_consent("count", {"wait": False})
        assert (result.approved, result.status) == (False, "pending")
        (record,) = alone.get_consent_history(alone.session_id)
        assert (record.decision, record.request_id) == ("pending", result.request_id)


def test_a_level_that_asks_nobody_says_so(line: CommandLine) -> None:
    """CONSENT §level-none: approved by its level, with no consent to keep."""
    tool(line, "count", "true", "consentLevel: none")
    consent_config(line, "  consentLevels:\n    none: {allowedTools: [count]}\n")
    with ConsentManager(line.environ, str(line.cwd)) as alone:
        result = alone.request_consent("count", {})
    assert (result.approved, result.method, result.consent_id) == (True, ConsentMethod.NONE, None)


@pytest.mark.parametrize(
    ("tool_id", "context", "code"),
    [
        ("cuont", {}, Code.TOOL_UNKNOWN),
        ("count", {"argments": []}, Code.USAGE),
        ("count", {"arguments": "a"}, Code.USAGE),
        ("count", {"workspace": "/nowhere"}, Code.WORKSPACE_MISSING),
    ],
)
def test_what_cannot_be_asked_is_an_error(
    manager: ConsentManager, tool_id: str, context: dict[str, object], code: Code
) -> None:
    """Nobody is asked."""
    with pytest.raises(ConsentryError) as caught:
        manager.request_consent(tool_id, context)
    assert caught.value.code is code
    assert manager.get_consent_history(manager.session_id) == []


def test_the_twins_do_not_hold_up_the_loop(manager: ConsentManager) -> None:
    """Several at once, in one loop."""

    async def together() -> tuple[bool, int]:
        results = await asyncio.gather(*(manager.arequest_consent("count", {}) for _ in range(3)))
        holds = await manager.averify_consent("count", manager.session_id)
        await manager.arevoke_consent("count", manager.session_id)
        records = await manager.aget_consent_history(manager.session_id)
        assert all(each.approved for each in results)
        return holds, len(records)

    holds, asked = asyncio.run(together())
    assert holds
    assert 1 <= asked <= 3
    assert not manager.verify_consent("count", manager.session_id)


def test_the_front_door_reads_the_environment(
    line: CommandLine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`consentry.ConsentManager` is the same class, in the surroundings of whoever calls."""
    for name, value in line.environ.items():
        monkeypatch.setenv(name, value)
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CONSENTRY_STATE", "CONSENTRY_STORE"):
        monkeypatch.delenv(name, raising=False)
    with consentry.ConsentManager(str(line.cwd)) as made:
        assert isinstance(made, ConsentManager)
        assert made.request_consent("count", {"wait": False}).status == "pending"
    assert consentry.ConsentManager is consentry.ConsentManager

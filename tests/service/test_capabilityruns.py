"""A saved capability from its denial to its retry, with the real sandbox, ledger and Deno."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.decide.capabilities import PermissionSource
from consentry.enforce.confinement import Limits
from consentry.record.auditfields import ExecutionStatus
from consentry.service.capabilityruns import CapabilityDesk, CapabilityWish
from consentry.surface.permission_sets import PermissionSet
from tests.denos import deno_or_skip
from tests.service.capabilityplaces import (
    JAVASCRIPT,
    NO,
    TYPESCRIPT,
    YES,
    Workplace,
    fetching,
    kept,
    listing,
    served,
    workplace,
)
from tests.service.conftest import MakeAround

MINIMAL = PermissionSet.MINIMAL
READS = "open('data/x.txt').read()"


@pytest.fixture
def place(around: MakeAround, project: Path) -> Iterator[Workplace]:
    """A ledger of its own, and a workspace."""
    with workplace(around(environ={"PATH": "/usr/bin:/bin"}), project) as made:
        yield made


def test_inside_its_set_nobody_is_asked(place: Workplace) -> None:
    """ESCALATION AC10.3, §set-1: with the set it needs, it runs; the ledger says that the set decided."""
    saved = place.save(READS + " + str(n)", in_set=None)
    over = place.run(arguments={"n": 1})
    assert (over.result, over.error, len(over.attempts)) == ("in data1", None, 1)
    assert over.is_success
    assert place.was_asked() == []
    [decided] = place.events("run.decided")
    assert decided["payload"]["consentMethod"] == "none"
    assert decided["subject"] == f"capability:{saved.capability_id}"
    assert decided["payload"]["consent"] == {
        "decision": "permission_set",
        "capabilityId": saved.capability_id,
        "version": 1,
        "permissionSet": "readonly",
        "storedSet": "readonly",
        "confidence": saved.permission_confidence,
        "source": "emergent",
        "executionId": over.execution_id,
        "attempt": 1,
    }


def test_an_approved_escalation_retries_and_is_kept(place: Workplace) -> None:
    """ESCALATION AC9.1, AC9.5, AC4, AC5: denied, asked, approved, retried with the same arguments, stored."""
    saved = place.save(READS + " + str(n)")
    over = place.run(YES, arguments={"n": 7})
    assert (over.result, over.error) == ("in data7", None)
    assert [each.code.permission_set for each in over.attempts] == [MINIMAL, "readonly"]
    stored = place.stored()
    assert (stored.permission_set, stored.permission_confidence) == ("readonly", 1.0)
    assert over.capability == stored
    [row] = place.decisions()
    assert (row.capability_id, row.from_set, row.to_set) == (
        saved.capability_id, "minimal", "readonly",
    )  # fmt: skip
    assert (row.approved, row.approved_by, row.detected_operation) == (True, YES.by, "read")
    assert row.reason == f"PermissionDenied: Requires read access to {place.project}/data/x.txt"
    again = place.run(arguments={"n": 8})
    assert (again.result, len(again.attempts)) == ("in data8", 1)
    assert len(place.was_asked()) == 1


def test_the_prompt_says_what_it_is_about(place: Workplace) -> None:
    """ESCALATION §ask-text: the document's text, what the set adds, and what the code did so far."""
    (place.project / "output").mkdir()
    place.save(
        "open('/tmp/made', 'w').write('x')\nopen('beside.txt').read()\nopen('output/a', 'w')",
        in_set=PermissionSet.FILESYSTEM,
    )
    place.run(NO)
    [lines] = place.was_asked()
    assert lines[0] == "=== Permission Escalation Request ==="
    assert "Requested Permission Set: mcp-standard" in lines
    assert "- read beside.txt" in lines
    assert f"- was refused write {place.project}/output/a" in lines


def test_a_rejected_escalation_is_the_original_error(place: Workplace) -> None:
    """ESCALATION AC9.2, §no: one attempt, its own error, and the set as it was; the no is logged."""
    place.save(READS)
    over = place.run(NO)
    assert len(over.attempts) == 1
    assert over.error is not None
    assert (over.error.type, over.error.message) == (
        "FileNotFoundError", "[Errno 2] No such file or directory: 'data/x.txt'",
    )  # fmt: skip
    assert over.escalated is not None
    assert (over.escalated.code, over.escalated.feedback) == (Code.APPROVAL_DENIED, "not today")
    assert place.stored().permission_set is MINIMAL
    [row] = place.decisions()
    assert (row.approved, row.to_set) == (False, "readonly")


def test_the_log_has_every_decision(place: Workplace) -> None:
    """ESCALATION AC9.4: approved and rejected, in their order."""
    place.save(READS)
    place.run(NO)
    place.run(YES)
    assert [each.approved for each in place.decisions()] == [False, True]


def test_every_attempt_has_its_own_permit_and_record(place: Workplace) -> None:
    """ESCALATION AC5: two decisions, two permits, two entries, of one execution."""
    place.save(READS)
    over = place.run(YES)
    entries = [each["payload"] for each in place.events("tool.audit")]
    assert [each["id"] for each in entries] == [each.run.audit_id for each in over.attempts]
    assert len({each["permitId"] for each in entries}) == 2
    assert {each["context"]["workflowId"] for each in entries} == {over.execution_id}
    assert [each["execution"]["status"] for each in entries] == ["failure", "success"]
    assert [each["sandbox"]["profile"] for each in entries] == ["set:minimal", "set:readonly"]
    consents = [each["payload"]["consent"] for each in place.events("run.decided")]
    assert [each["attempt"] for each in consents] == [1, 2]
    assert over.escalated is not None
    assert consents[1]["requestId"] == over.escalated.request_id
    assert entries[0]["tool"]["name"] == "it"
    assert entries[0]["tool"]["version"] == "1"


def test_what_a_failed_attempt_wrote_is_never_there(place: Workplace) -> None:
    """CONTRACTS §12: discarded before the question; the retry's files are taken over, its own only."""
    place.save(
        "import os\nopen('output/one', 'w').write('x' * n)\n"
        "names = os.listdir('output')\nopen('/srv/none').read() if fails else names",
        in_set=PermissionSet.MCP_STANDARD,
    )
    failed = place.run(YES, arguments={"n": 1, "fails": True})
    assert failed.error is not None
    assert not (place.project / "output").exists()
    assert failed.last.run.entry["impact"]["committed"] is False  # type: ignore[index, call-overload]
    done = place.run(YES, arguments={"n": 2, "fails": False})
    assert done.result == ["one"]
    assert listing(place.project / "output") == {"one": "xx"}


def test_a_retry_starts_from_the_workspace_as_it_was(place: Workplace) -> None:
    """ESCALATION AC5: nothing of the first attempt is left for the second to find."""
    place.save(
        "import os\nbefore = os.path.exists('/tmp/mark')\nopen('/tmp/mark', 'w')\n"
        "made = os.path.exists('output/mark')\nopen('output/mark', 'w').write('m')\n"
        "[before, made]",
        in_set=PermissionSet.FILESYSTEM,
    )
    over = place.run(YES)
    assert len(over.attempts) == 2
    assert over.result == [False, False]
    assert (place.project / "output/mark").read_text() == "m"


def test_code_without_a_result_is_not_taken_over(place: Workplace) -> None:
    """Who leaves without a word has not succeeded, whatever the status."""
    place.save("open('output/a', 'w').write('a')\nraise SystemExit(0)", in_set="mcp-standard")  # type: ignore[arg-type]
    over = place.run()
    assert not over.is_success
    assert over.last.run.status is ExecutionStatus.DISCARDED
    assert not (place.project / "output").exists()


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("import subprocess; subprocess.run(['/usr/bin/true'])", "python"),
        ('return new Deno.Command("/usr/bin/true").outputSync()', "typescript"),
        ('return Deno.dlopen("libc.so.6", {})', "javascript"),
    ],
)
def test_run_and_ffi_ask_nobody(place: Workplace, code: str, language: str) -> None:
    """ESCALATION AC9.3, §log-5: refused without a question, in the ledger and not in the log."""
    if language != "python":
        deno_or_skip()
    place.save(code, language)  # type: ignore[arg-type]
    over = place.run(YES)
    assert over.error is not None
    assert over.escalated is not None
    assert over.escalated.code == Code.ESCALATION_CRITICAL
    assert place.was_asked() == []
    assert place.decisions() == []
    [event] = place.events("permission.escalation.refused")
    assert event["payload"]["executionId"] == over.execution_id
    assert len(over.attempts) == 1


@pytest.mark.parametrize("answer", [YES, NO])
def test_deno_that_fetches(place: Workplace, answer: object) -> None:
    """ESCALATION AC9.1, AC9.2, AC10.1: denied, asked as the program's own word, retried; seen at the server."""
    deno_or_skip()
    with served() as server:
        place.save(fetching(server), TYPESCRIPT)
        over = place.run(answer, network=(server.place,))  # type: ignore[arg-type]
        approved = answer is YES
        assert server.paths == (["/x"] if approved else [])
    [lines] = place.was_asked()
    assert lines[0] == "reported by the program itself, not observed"
    assert place.stored().permission_set == ("network-api" if approved else "minimal")
    if approved:
        assert over.result == "pong"
    else:
        assert over.error is not None
        assert over.error.type == "NotCapable"
        assert f'Requires net access to "{server.place}"' in over.error.message


def test_a_variable_is_asked_for_on_deno_only(place: Workplace) -> None:
    """On native a missing variable leaves no denial, and so no question."""
    place.save("import os\nos.environ['TOKEN']")
    over = place.run(YES)
    assert (over.escalated, place.was_asked()) == (None, [])
    deno_or_skip()
    place.save('return Deno.env.get("HOME");', JAVASCRIPT, name="env")
    over = place.run(YES, name="env")
    assert over.result == "/home/user"
    assert place.stored("env").permission_set == "mcp-standard"


def test_a_list_of_hosts_only_narrows(place: Workplace) -> None:
    """With a set that opens no network, a list opens nothing."""
    deno_or_skip()
    with served() as server:
        for name in ("minimal", "readonly", "filesystem"):
            attempt = place.attempt(
                fetching(server), TYPESCRIPT, PermissionSet(name), network=(server.place,)
            )
            assert attempt.error is not None
        assert server.paths == []
        opened = PermissionSet.NETWORK_API
        other = place.attempt(
            fetching(server), TYPESCRIPT, opened, network=(f"127.0.0.1:{server.port + 1}",)
        )
        assert other.error is not None
        assert server.paths == []
        done = place.attempt(fetching(server), TYPESCRIPT, opened, network=(server.place,))
        assert (done.result, server.paths) == ("pong", ["/x"])


def test_one_that_always_needs_more_is_stopped(place: Workplace) -> None:
    """ESCALATION AC5: one question for an execution; what the retry lacks stays an error."""
    deno_or_skip()
    code = (
        'let net = true; try { await fetch("https://api.example.com/"); }'
        ' catch (problem) { if (problem.name === "NotCapable") throw problem; }'
        ' return Deno.readTextFileSync("beside.txt");'
    )
    place.save(code, TYPESCRIPT)
    over = place.run(YES)
    assert [each.code.permission_set for each in over.attempts] == ["minimal", "network-api"]
    assert over.error is not None
    assert 'Requires read access to "beside.txt"' in over.error.message
    assert len(place.was_asked()) == 1
    assert over.escalated is not None
    assert over.escalated.code == Code.ESCALATION_SPENT
    assert len(over.escalations) == 2
    assert place.stored().permission_set == "network-api"
    # The same execution, started again: the same end, and nobody is asked.
    again = place.run(YES, execution_id=over.execution_id)
    assert len(again.attempts) == 1
    assert again.escalated is not None
    assert again.escalated.code == Code.ESCALATION_SPENT
    assert len(place.was_asked()) == 1
    # Another execution may ask.
    other = place.run(YES)
    assert other.result == "beside"
    assert place.stored().permission_set == "mcp-standard"


def test_an_execution_that_was_denied_asks_no_second_time(place: Workplace) -> None:
    """ESCALATION §yes-once: the no holds for the execution, in whichever process it is started again."""
    place.save(READS)
    first = place.run(NO)
    again = place.run(YES, execution_id=first.execution_id)
    assert again.error == first.error
    assert len(place.was_asked()) == 1
    assert [each.approved for each in place.decisions()] == [False]


def test_what_was_inferred_unsurely_runs_as_minimal(place: Workplace) -> None:
    """ESCALATION §set-2: with less than 0.7 nothing is open; an approval makes it sure."""
    saved = place.save(READS, in_set=PermissionSet.FILESYSTEM, confidence=0.69)
    assert saved.permission_source is PermissionSource.EMERGENT
    over = place.run(YES)
    assert [each.code.permission_set for each in over.attempts] == ["minimal", "readonly"]
    assert over.result == "in data"
    stored = place.stored()
    assert (stored.permission_set, stored.permission_confidence) == ("readonly", 1.0)
    place.save(READS + " ", in_set=PermissionSet.FILESYSTEM, confidence=0.7)
    assert place.run().attempts[0].code.permission_set is PermissionSet.FILESYSTEM


def test_the_limits_hold_in_both_attempts(place: Workplace) -> None:
    """ESCALATION AC5: the retry has the same limits; what a limit ends is not asked about."""
    place.save(f"data = {READS}\nwhile True: pass")
    over = place.run(YES, limits=Limits(wall_seconds=1))
    assert [each.run.status for each in over.attempts] == ["failure", "timeout"]
    assert len(place.was_asked()) == 1


def test_a_name_that_is_not_saved(place: Workplace) -> None:
    """One clear error, with the nearest name."""
    place.save("1", name="word-count")
    with CapabilityDesk(place.journal, place.around) as desk:
        assert desk.found(place.stored("word-count").capability_id).name == "word-count"
        with pytest.raises(UsageProblem) as raised:
            desk.run(CapabilityWish("word-cuont"), kept)
    assert raised.value.code is Code.CAPABILITY_MISSING
    assert raised.value.help_line == "did you mean `word-count`?"


def test_nobody_is_asked_where_that_is_wished(place: Workplace) -> None:
    """A denial stays one."""
    place.save(READS)
    with CapabilityDesk(place.journal, place.around) as desk:
        over = desk.run(CapabilityWish("it"), kept, escalates=False)
    assert over.escalated is None
    assert over.error is not None
    assert place.events("approval.requested") == []


@pytest.mark.parametrize("execution_id", ["", "a\nb", "\0", "\ud800", "x" * 257])
def test_an_id_that_no_record_could_name(execution_id: str) -> None:
    """Refused before anything runs."""
    with pytest.raises(UsageProblem):
        CapabilityWish("it", execution_id=execution_id)

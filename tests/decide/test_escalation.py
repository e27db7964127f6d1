"""From an error to a suggested step (ESCALATION AC1, AC2, AC8)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused, UsageProblem
from consentry.decide.escalation import (
    PermissionEscalationRequest,
    escalation_digest,
    get_valid_escalation_targets,
    is_valid_escalation,
    suggest_escalation,
)
from consentry.decide.escalationrequest import MOST_REASON
from consentry.surface.permission_sets import PermissionSet, definition

MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, TRUSTED = PermissionSet
WORKSPACE = "/place/project"
DENIED = "PermissionDenied: Requires "
TODAY = 'NotCapable: Requires {} access to "{}", run again with the --allow-{} flag'


def suggested(error: str, current: str = "minimal", workspace: str | None = WORKSPACE) -> object:
    """The set that is suggested, with the operation it is suggested for."""
    found = suggest_escalation(error, "capability", current, workspace)
    return None if found is None else (found.requested_set, found.detected_operation)


def test_the_request_has_six_fields() -> None:
    """ESCALATION AC1, §request-1: under its own names here, under the document's when written."""
    request = PermissionEscalationRequest(
        capability_id="cap",
        current_set=MINIMAL,
        requested_set=NETWORK,
        reason="PermissionDenied: net access to api.example.com",
        detected_operation="fetch",
        confidence=0.85,
    )
    written = request.to_json()
    assert written == {
        "capabilityId": "cap",
        "currentSet": "minimal",
        "requestedSet": "network-api",
        "reason": "PermissionDenied: net access to api.example.com",
        "detectedOperation": "fetch",
        "confidence": 0.85,
    }
    assert PermissionEscalationRequest.from_json(written) == request


def test_sets_may_be_given_by_name() -> None:
    """What is kept is the set itself."""
    request = PermissionEscalationRequest("c", "minimal", "readonly", "r", "read", 1.0)  # type: ignore[arg-type]
    assert request.current_set is MINIMAL
    assert request.requested_set is READONLY


@pytest.mark.parametrize(("current", "wanted"), [(MINIMAL, TRUSTED), (STANDARD, TRUSTED),
                                                 (FILESYSTEM, READONLY), (NETWORK, FILESYSTEM),
                                                 (MINIMAL, MINIMAL)])  # fmt: skip
def test_no_request_is_for_an_illegal_step(current: PermissionSet, wanted: PermissionSet) -> None:
    """ESCALATION §step-2: least of all for `trusted`, whoever makes the request."""
    with pytest.raises(Refused) as refusal:
        PermissionEscalationRequest("c", current, wanted, "r", "read", 0.5)
    assert refusal.value.code is Code.PERMISSION_STEP


@pytest.mark.parametrize(
    ("field", "value"),
    [("confidence", 2.0), ("confidence", True), ("confidence", "1"), ("reason", None)],
)
def test_what_is_read_back_is_checked(field: str, value: object) -> None:
    """A field of another kind is refused by its name."""
    written = PermissionEscalationRequest("c", MINIMAL, READONLY, "r", "read", 0.5).to_json()
    with pytest.raises(BadInput) as refusal:
        PermissionEscalationRequest.from_json({**written, field: value})
    assert refusal.value.where is not None
    assert refusal.value.where.field == field


def test_a_denied_read_outside_data_suggests_filesystem() -> None:
    """ESCALATION AC8.1, §suggest-read."""
    assert suggested(f"{DENIED}read access to /etc/passwd") == (FILESYSTEM, "read")


def test_a_denied_connection_suggests_network_api() -> None:
    """ESCALATION AC8.2."""
    assert suggested(f"{DENIED}net access to api.example.com:443") == (NETWORK, "net")


def test_a_denied_write_suggests_filesystem() -> None:
    """ESCALATION AC8.3."""
    assert suggested(f"{DENIED}write access to /tmp/output.txt") == (FILESYSTEM, "write")


def test_a_denied_program_suggests_nothing() -> None:
    """ESCALATION AC8.4, §suggest-critical."""
    assert suggested(f"{DENIED}run access to /bin/sh") is None


def test_a_denied_native_library_suggests_nothing() -> None:
    """ESCALATION AC8.5, §suggest-critical."""
    assert suggested(f"{DENIED}ffi access") is None


def test_another_error_suggests_nothing() -> None:
    """ESCALATION AC8.6, §suggest-other."""
    assert suggested("Some other error") is None


@pytest.mark.parametrize("current", list(PermissionSet))
@pytest.mark.parametrize("operation", ["run", "ffi"])
def test_nothing_critical_is_ever_suggested(operation: str, current: str) -> None:
    """ESCALATION AC2: from no set, in no wording, and also beside denials that have an answer."""
    beside = TODAY.format("net", "api.example.com:443", "net")
    for error in (
        f"{DENIED}{operation} access",
        f"{DENIED}{operation} access to x",
        TODAY.format(operation, "x", operation),
        f"{beside}\n{DENIED}{operation} access to x",
        f"{DENIED}{operation} access to x\n{beside}",
        f"\x1b[31mRequires \x1b[1m{operation} access\x1b[0m",
    ):
        assert suggested(error, current) is None


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TODAY.format("net", "api.example.com:443", "net"), (NETWORK, "net")),
        (TODAY.format("net", "[::1]:443", "net"), (NETWORK, "net")),
        (TODAY.format("read", "/place/project/data/my file.csv", "read"), (READONLY, "read")),
        (TODAY.format("read", "./data/a.csv", "read"), (READONLY, "read")),
        (TODAY.format("env", "HOME", "env"), (STANDARD, "env")),
        ("Requires env access, run again with the --allow-env flag", (STANDARD, "env")),
        ("Requires write access to <TMP>, run again with the --allow-write flag", (FILESYSTEM, "write")),
        ("PermissionError: [Errno 13] Permission denied: '/place/project/data/x'", (READONLY, "read")),
        ("PermissionError: [Errno 13] Permission denied: '/home/x'", (FILESYSTEM, "read")),
        ("OSError: [Errno 30] Read-only file system: 'data/x'", (FILESYSTEM, "write")),
    ],
)  # fmt: skip
def test_todays_wordings(error: str, expected: object) -> None:
    """ESCALATION §suggest-1: Deno's own of today, and Python's."""
    assert suggested(error) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("./data/a.csv", READONLY),
        ("data", READONLY),
        ("/place/project/data/deep/a", READONLY),
        ("/place/project/x/../data/a", READONLY),
        ("/tmp/a", READONLY),
        ("data/../secrets", FILESYSTEM),
        ("database/a", FILESYSTEM),
        ("/data/a", FILESYSTEM),
        ("/place/project/database/a", FILESYSTEM),
        ("/place/project/a", FILESYSTEM),
        ("../data/a", FILESYSTEM),
        ("/", FILESYSTEM),
    ],
)
def test_the_least_set_whose_roots_cover_a_read(path: str, expected: PermissionSet) -> None:
    """ESCALATION §suggest-read: what a path is, `..` removed, and not how it begins, decides."""
    assert suggested(f"{DENIED}read access to {path}") == (expected, "read")


def test_without_a_workspace_an_absolute_path_is_outside() -> None:
    """Relative ones are relative to it all the same."""
    absolute = f"{DENIED}read access to /place/project/data/a"
    assert suggested(absolute, workspace=None) == (FILESYSTEM, "read")
    assert suggested(f"{DENIED}read access to data/a", workspace=None) == (READONLY, "read")
    assert suggested(f"{DENIED}read access to ../data", workspace=None) == (FILESYSTEM, "read")
    found = suggest_escalation(absolute, workspace=Path(WORKSPACE))
    assert found is not None
    assert found.requested_set is READONLY


@pytest.mark.parametrize(
    ("current", "what", "expected"),
    [
        ("readonly", "read access to data/a", None),
        ("readonly", "read access to a", FILESYSTEM),
        ("readonly", "write access to /tmp/a", FILESYSTEM),
        ("readonly", "net access to a.example:1", STANDARD),
        ("readonly", "env access to HOME", STANDARD),
        ("filesystem", "read access to /etc/passwd", None),
        ("filesystem", "write access to /tmp/a", None),
        ("filesystem", "write access to output/a", STANDARD),
        ("filesystem", "write access to /home/a", None),
        ("filesystem", "net access to a.example:1", STANDARD),
        ("network-api", "net access to a.example:1", None),
        ("network-api", "read access to data/a", STANDARD),
        ("network-api", "write access to /tmp/a", STANDARD),
        ("network-api", "env access to HOME", STANDARD),
        ("mcp-standard", "write access to /x", None),
        ("mcp-standard", "env access to SECRET", None),
        ("trusted", "read access to /etc/passwd", None),
        ("minimal", "sys access to hostname", None),
        ("minimal", "import access to example.com", None),
    ],
)
def test_the_step_depends_on_the_set_it_ran_in(
    current: str, what: str, expected: PermissionSet | None
) -> None:
    """ESCALATION §suggest-from: a need inside the present set, or without a legal step, is none."""
    found = suggest_escalation(DENIED + what, current_set=current, workspace=WORKSPACE)
    assert (found and found.requested_set) == expected


@pytest.mark.parametrize(
    ("errors", "current", "expected"),
    [
        (["read access to data/a", "read access to data/b"], "minimal", (READONLY, "read")),
        (["read access to data/a", "read access to a"], "minimal", (FILESYSTEM, "read")),
        (["read access to a", "write access to /tmp/a"], "readonly", (FILESYSTEM, "read")),
        (["read access to data/a", "net access to a.example"], "minimal", (STANDARD, "read")),
        (["read access to data/a", "net access to a.example"], "readonly", (STANDARD, "net")),
        (["read access to a", "sys access to hostname"], "minimal", None),
    ],
)
def test_several_denials_need_one_step_for_all(
    errors: list[str], current: str, expected: object
) -> None:
    """The least set with the kinds of all; the first one that is missing is named."""
    assert suggested("\n".join(DENIED + each for each in errors), current) == expected


def test_an_error_that_does_not_say_is_a_read_first_and_then_a_write() -> None:
    """Python's `PermissionError`: where the present set reads the place already, it wrote."""
    error = "PermissionError: [Errno 13] Permission denied: 'data/a'"
    assert suggested(error, "minimal") == (READONLY, "read")
    assert suggested(error, "readonly") == (FILESYSTEM, "write")
    assert suggested(error, "network-api") == (STANDARD, "read")
    moved = "PermissionError: [Errno 13] Permission denied: 'data/a' -> 'data/b'"
    assert suggested(moved, "minimal") == (FILESYSTEM, "write")


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("read access to /etc/passwd", 0.95),
        ("net access to api.example.com:443", 0.95),
        ("net access to [2001:db8::1]:443", 0.95),
        ('env access to "HOME"', 0.95),
        ("read access to data/", 0.85),
        ("read access to data", 0.85),
        ("read access to .", 0.85),
        ("write access to /tmp", 0.85),
        ("net access to api.example.com", 0.85),
        ("net access to ::1", 0.85),
        ("net access to 192.0.2.0/24", 0.85),
        ("read access to data/*.csv", 0.75),
        ("net access to *.example.com", 0.75),
        ("env access to AWS_*", 0.75),
        ("read access", 0.60),
        ("net access", 0.60),
        ("env access", 0.60),
        ("net access to not!a!host", 0.60),
        ("env access to two words", 0.60),
        ("env access to A=B", 0.60),
    ],
)
def test_confidence_follows_how_exactly_it_is_named(what: str, expected: float) -> None:
    """ESCALATION §suggest-confidence: file or host and port, folder or host, pattern, nothing."""
    found = suggest_escalation(DENIED + what)
    assert found is not None
    assert found.confidence == expected


def test_of_several_the_least_sure_counts() -> None:
    """One exact name does not make up for a vague one."""
    found = suggest_escalation(f"{DENIED}read access to a\n{DENIED}read access")
    assert found is not None
    assert found.confidence == 0.60


def test_the_reason_is_what_was_said() -> None:
    """The original text, and whose capability it is."""
    error = f"{DENIED}net access to api.example.com:443"
    found = suggest_escalation(error, "cap")
    assert found is not None
    assert (found.capability_id, found.reason) == ("cap", error)


def test_a_long_reason_keeps_the_denial() -> None:
    """It is bounded, and what it is about stays in it."""
    error = "x" * 10_000 + f"{DENIED}read access to /place/a" + "y" * 10_000
    found = suggest_escalation(error)
    assert found is not None
    assert len(found.reason) == MOST_REASON
    assert f"{DENIED}read access to /place/a" in found.reason


def test_a_reason_can_be_stored() -> None:
    """Neither NUL nor half of a surrogate pair can: a mark stands for each."""
    found = suggest_escalation(f"\0\ud800{DENIED}read access to /a")
    assert found is not None
    assert found.reason == f"\ufffd\ufffd{DENIED}read access to /a"


def test_an_error_with_very_many_denials_is_not_read() -> None:
    """Nobody could see what is among them."""
    assert suggested(f"{DENIED}read access to data/a\n" * 64) == (READONLY, "read")
    assert suggested(f"{DENIED}read access to data/a\n" * 65) is None


def test_an_unknown_set_is_refused() -> None:
    """With its own code, before anything is read."""
    for call in (
        lambda: suggest_escalation("x", current_set="everything"),
        lambda: is_valid_escalation("minimal", "everything"),
        lambda: get_valid_escalation_targets("everything"),
    ):
        with pytest.raises(UsageProblem) as refusal:
            call()
        assert refusal.value.code is Code.PERMISSION_SET


def test_what_an_escalation_may_lead_to() -> None:
    """ESCALATION §step-3: by set or by name, and from the last two to nothing."""
    assert get_valid_escalation_targets("minimal") == (READONLY, FILESYSTEM, NETWORK, STANDARD)
    assert get_valid_escalation_targets(STANDARD) == get_valid_escalation_targets(TRUSTED) == ()
    for current in PermissionSet:
        for wanted in PermissionSet:
            is_legal = wanted in get_valid_escalation_targets(current)
            assert is_valid_escalation(current, wanted) is is_legal
            assert is_valid_escalation(current.value, wanted.value) is is_legal


def test_an_execution_has_one_digest() -> None:
    """Another execution or another capability has another one."""
    one = escalation_digest("execution-1", "cap")
    assert one == escalation_digest("execution-1", "cap")
    assert (
        len({one, escalation_digest("execution-2", "cap"), escalation_digest("execution-1", "c")})
        == 3
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["read", "write", "net", "env", "run", "ffi", "sys"]),
            st.sampled_from(["", " to data/a", " to /tmp/a", ' to "/x y"', " to a.example:1", " to *"]),
        ),
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(list(PermissionSet)),
)  # fmt: skip
def test_a_suggestion_is_a_legal_step_that_grows(
    denials: list[tuple[str, str]], current: PermissionSet
) -> None:
    """ESCALATION §suggest-from: whatever is denied together, from whichever set."""
    error = "\n".join(f"{DENIED}{operation} access{rest}" for operation, rest in denials)
    found = suggest_escalation(error, "cap", current, WORKSPACE)
    if any(operation in ("run", "ffi") for operation, _ in denials):
        assert found is None
    if found is not None:
        assert is_valid_escalation(current, found.requested_set)
        assert found.requested_set is not TRUSTED
        before, after = definition(current).surface, definition(found.requested_set).surface
        assert before <= after
        assert not after <= before

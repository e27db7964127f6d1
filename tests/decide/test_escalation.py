"""From an error to a suggested step (ESCALATION AC1, AC2, AC8)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.decide.escalation import (
    get_valid_escalation_targets,
    is_valid_escalation,
    suggest_escalation,
)
from consentry.surface.permission_sets import PermissionSet, definition

MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, TRUSTED = PermissionSet
WORKSPACE = "/place/project"
DENIED = "PermissionDenied: Requires "
TODAY = 'NotCapable: Requires {} access to "{}", run again with the --allow-{} flag'


def suggested(error: str, current: str = "minimal", workspace: str | None = WORKSPACE) -> object:
    """The set that is suggested, with the operation it is suggested for."""
    found = suggest_escalation(error, "capability", current, workspace)
    return None if found is None else (found.requested_set, found.detected_operation)


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

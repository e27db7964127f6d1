"""Which set really opens what was denied, on the engine that runs the code (ESCALATION §ask-protected).

The roots are the shipped ones; the workspace is a place that need not exist, for spellings decide.
"""

from contextlib import suppress

import pytest

from consentry.base.codes import Code
from consentry.base.values import replace
from consentry.decide.escalationreach import (
    DeniedResource,
    NotOpened,
    least_covering,
    needed_surface,
)
from consentry.surface.operations import Operation
from consentry.surface.permission_sets import PermissionSet, definition, is_legal_step
from consentry.surface.protected import ProtectedRoots, protected_roots

READ, WRITE, NET, ENV, RUN, FFI, SYS, IMPORT = Operation
MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, TRUSTED = PermissionSet
ENGINES = ("native", "deno")
WORKSPACE = "/home/someone/project"


def covering(
    operation: Operation,
    resource: str | None,
    current: PermissionSet = MINIMAL,
    engine: str = "native",
    **changes: object,
) -> PermissionSet:
    """The set that would be asked for."""
    given: dict[str, object] = {"protected": protected_roots(), "allowlist": (), **changes}
    workspace = given.pop("workspace", WORKSPACE)
    denied = [DeniedResource(operation, resource)]
    return least_covering(denied, current, workspace, engine, **given)  # type: ignore[arg-type]


def refusal(
    operation: Operation,
    resource: str | None,
    current: PermissionSet = MINIMAL,
    engine: str = "native",
    **changes: object,
) -> NotOpened:
    """Why nobody is asked."""
    with pytest.raises(NotOpened) as caught:
        covering(operation, resource, current, engine, **changes)
    return caught.value


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("operation", "resource", "current", "expected"),
    [
        (READ, "data/a", MINIMAL, READONLY),
        (READ, f"{WORKSPACE}/data/a", MINIMAL, READONLY),
        (READ, f"{WORKSPACE}/x/../data/a b, c", MINIMAL, READONLY),
        (READ, "/tmp/a", MINIMAL, READONLY),
        (READ, "a", MINIMAL, FILESYSTEM),
        (READ, ".", MINIMAL, FILESYSTEM),
        (READ, f"{WORKSPACE}/", READONLY, FILESYSTEM),
        (READ, "data/a", NETWORK, STANDARD),
        (WRITE, "/tmp/a", MINIMAL, FILESYSTEM),
        (WRITE, "/tmp/a", READONLY, FILESYSTEM),
        (WRITE, "output/a", MINIMAL, STANDARD),
        (WRITE, f"{WORKSPACE}/output/a", FILESYSTEM, STANDARD),
        (NET, "api.example.com:443", MINIMAL, NETWORK),
        (NET, "api.example.com", READONLY, STANDARD),
        (NET, "93.184.216.34:443", FILESYSTEM, STANDARD),
        (NET, "[2606:4700::1111]:443", MINIMAL, NETWORK),
    ],
)
def test_the_least_set_that_opens_it(
    operation: Operation,
    resource: str,
    current: PermissionSet,
    expected: PermissionSet,
    engine: str,
) -> None:
    """CONTRACTS §10: as the table of the engine has it, which is the same for both."""
    assert covering(operation, resource, current, engine) is expected


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("operation", "resource", "helps"),
    [
        (READ, "/home/someone/other/a", "into the workspace"),
        (READ, "../a", "into the workspace"),
        (READ, "/home/someone/projectile", "trusted --by-hand"),
        (READ, "/opt/a", "into the workspace"),
        (READ, "\ud800", "into the workspace"),
        (READ, "a" * 5000, "into the workspace"),
        (WRITE, "a", "./output"),
        (WRITE, "data/a", "./output"),
        (WRITE, "outputs/a", "./output"),
        (WRITE, "/opt/a", "./output"),
        (WRITE, "/", "./output"),
        (WRITE, None, "./output"),
        (NET, "127.0.0.1:8000", "--net HOST:PORT"),
        (NET, "localhost:8000", "--net HOST:PORT"),
        (NET, "api.localhost", "--net HOST:PORT"),
        (NET, "[::1]:8000", "--net HOST:PORT"),
        (NET, "10.0.0.1:80", "--net HOST:PORT"),
        (NET, "192.168.1.1", "--net HOST:PORT"),
        (NET, "100.64.0.1:80", "--net HOST:PORT"),
        (NET, "169.254.169.254:80", "--net HOST:PORT"),
        (NET, "168.63.129.16:80", "--net HOST:PORT"),
        (NET, "metadata.google.internal:80", "--net HOST:PORT"),
        (NET, "[::ffff:10.0.0.1]:80", "--net HOST:PORT"),
        (NET, "[64:ff9b::a00:1]:80", "--net HOST:PORT"),
        (NET, "[2002:a00:1::]:80", "--net HOST:PORT"),
        (NET, "[fe80::1]:80", "--net HOST:PORT"),
        (NET, "[fd00::1]:80", "--net HOST:PORT"),
        (NET, "0.0.0.0:80", "--net HOST:PORT"),
        (NET, "224.0.0.1:80", "--net HOST:PORT"),
        (NET, "8.0.0.0/5", "--net HOST:PORT"),
        (NET, "*:443", "--net HOST:PORT"),
        (NET, "datagrams", "TCP"),
        (NET, "unix:/srv/socket", "TCP"),
        (NET, "not a host", "TCP"),
        (SYS, "hostname", "do without it"),
        (IMPORT, "example.com:443", "do without it"),
    ],
)  # fmt: skip
def test_what_no_set_opens_names_what_would_help(
    operation: Operation, resource: str | None, helps: str, engine: str
) -> None:
    """Nobody is asked for a set that would not help."""
    found = refusal(operation, resource, engine=engine)
    assert found.code is Code.ESCALATION_UNCOVERED
    assert helps in found.help_line
    assert found.denied == DeniedResource(operation, resource)


@pytest.mark.parametrize("current", list(PermissionSet))
@pytest.mark.parametrize("operation", [RUN, FFI])
def test_programs_and_native_libraries_are_never_opened(
    operation: Operation, current: PermissionSet
) -> None:
    """ESCALATION §suggest-critical: from whichever set, also beside what could be opened."""
    denied = [DeniedResource(READ, "data/a"), DeniedResource(operation, "x")]
    with pytest.raises(NotOpened) as caught:
        least_covering(denied, current, WORKSPACE, "deno", protected=protected_roots())
    assert caught.value.code is Code.ESCALATION_CRITICAL
    assert caught.value.denied.operation is operation


@pytest.mark.parametrize("operation", [READ, WRITE])
@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/etc",
        "//etc//passwd",
        "/usr/../etc/shadow",
        f"{WORKSPACE}/../../../etc/passwd",
        "../.ssh/id_ed25519",
        "data/../../.ssh/id_ed25519",
        "/home/someone/.ssh/id_ed25519",
        "/home/other/.aws/credentials",
        "/root/.bashrc",
        "~/.ssh/id_ed25519",
        "~/x/../.ssh/id_ed25519",
        "/proc/self/environ",
        "/var/run/docker.sock",
        "/tmp/.X11-unix/X0",
        "/tmp/ssh-abc/agent.1",
        "/etc/*",
    ],
)
def test_a_protected_root_is_refused_however_it_is_spelled(path: str, operation: Operation) -> None:
    """ESCALATION §ask-protected: `.`, `..` and empty names hide nothing."""
    for engine in ENGINES:
        found = refusal(operation, path, engine=engine)
        assert found.code is Code.ESCALATION_PROTECTED_ROOT
        assert found.denied.resource == path


def without_roots() -> ProtectedRoots:
    """The table with nothing on it."""
    return replace(protected_roots(), never_granted=(), bound=())


def test_what_stands_against_it_is_the_table() -> None:
    """In a home its keys are refused and its notes are not; without the table both are asked for."""
    home = {"workspace": "/home/someone"}
    assert refusal(READ, ".ssh/id", **home).code is Code.ESCALATION_PROTECTED_ROOT
    assert covering(READ, "notes/a", **home) is FILESYSTEM
    assert covering(READ, ".ssh/id", **home, protected=without_roots()) is FILESYSTEM


def test_a_protected_root_counts_before_everything_but_run_and_ffi() -> None:
    """Of several denials the one that may never be opened is named."""
    denied = [DeniedResource(READ, "/opt/a"), DeniedResource(READ, "/etc/passwd")]
    with pytest.raises(NotOpened) as caught:
        least_covering(denied, MINIMAL, WORKSPACE, "native", protected=protected_roots())
    assert caught.value.code is Code.ESCALATION_PROTECTED_ROOT
    assert caught.value.denied.resource == "/etc/passwd"


@pytest.mark.parametrize(
    ("operation", "resource", "current"),
    [
        (READ, "data/a", READONLY),
        (READ, "a", FILESYSTEM),
        (WRITE, "/tmp/a", FILESYSTEM),
        (NET, "api.example.com:443", NETWORK),
        (WRITE, "output/a", STANDARD),
    ],
)
def test_what_the_set_opens_already_is_not_asked_for(
    operation: Operation, resource: str, current: PermissionSet
) -> None:
    """Something else refused it, and a larger set would not help."""
    found = refusal(operation, resource, current)
    assert found.code is Code.ESCALATION_UNCOVERED
    assert "opens it already" in found.message


@pytest.mark.parametrize("current", [STANDARD, TRUSTED])
def test_from_the_last_sets_nothing_is_reached(current: PermissionSet) -> None:
    """No step leaves them."""
    assert refusal(WRITE, "/opt/a", current).code is Code.ESCALATION_UNCOVERED


def test_several_denials_are_opened_together_or_not_at_all() -> None:
    """The least set for all of them; one that none opens refuses the rest."""
    denied = [DeniedResource(READ, "data/a"), DeniedResource(NET, "api.example.com:443")]
    found = least_covering(denied, MINIMAL, WORKSPACE, "deno", protected=protected_roots())
    assert found is STANDARD
    with pytest.raises(NotOpened) as caught:
        least_covering(
            [*denied, DeniedResource(READ, "/opt/a")],
            MINIMAL,
            WORKSPACE,
            "deno",
            protected=protected_roots(),
        )
    assert caught.value.denied.resource == "/opt/a"


def test_what_python_left_open_is_settled_first() -> None:
    """A path that the present set reads was written."""
    denied = [DeniedResource(READ, "output/a", is_said=False)]
    found = least_covering(denied, FILESYSTEM, WORKSPACE, "deno", protected=protected_roots())
    assert found is STANDARD


def test_without_a_workspace_an_absolute_path_is_covered_by_none() -> None:
    """Where it is not known where relative paths lead, nothing absolute is taken for inside."""
    assert refusal(READ, f"{WORKSPACE}/data/a", workspace=None).code is Code.ESCALATION_UNCOVERED
    assert refusal(READ, "../data/a", workspace=None).code is Code.ESCALATION_UNCOVERED
    assert covering(READ, "data/a", workspace=None) is READONLY


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("current", list(PermissionSet))
@pytest.mark.parametrize("operation", list(Operation))
@pytest.mark.parametrize(
    "resource", ["data/a", "/tmp/a", "output/a", "a", "/opt/a", "api.example.com:443", "HOME", None]
)
def test_what_is_asked_for_is_a_legal_step_that_covers(
    operation: Operation, resource: str | None, current: PermissionSet, engine: str
) -> None:
    """Whatever is denied in whichever set: a legal step whose surface has it, or nobody is asked."""
    found = None
    with suppress(NotOpened):
        found = covering(operation, resource, current, engine)
    if found is None:
        assert refusal(operation, resource, current, engine).help_line
        return
    assert is_legal_step(current, found)
    needed = needed_surface(DeniedResource(operation, resource), WORKSPACE)
    assert needed is None or needed <= definition(found).surface

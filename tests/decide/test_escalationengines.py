"""Where an engine decides what a set opens: hosts, variables, its own folders (CONTRACTS §10-tmp)."""

import pytest

from consentry.base.codes import Code
from tests.decide.test_escalationreach import (
    ENGINES,
    ENV,
    FILESYSTEM,
    NET,
    NETWORK,
    READ,
    STANDARD,
    WRITE,
    covering,
    refusal,
)


@pytest.mark.parametrize("engine", ENGINES)
def test_a_list_is_exactly_what_is_open(engine: str) -> None:
    """With an allowlist a near host on it is covered, and a public one beside it is not."""
    listed = {"allowlist": ("127.0.0.1:8000", "api.example.com:443", "*.example.org")}
    for host in ("127.0.0.1:8000", "api.example.com:443", "a.example.org:1", "api.example.com"):
        assert covering(NET, host, engine=engine, **listed) is NETWORK
    for host in ("127.0.0.1:8001", "api.example.com:80", "example.org:443", "other.example:443"):
        found = refusal(NET, host, engine=engine, **listed)
        assert found.code is Code.ESCALATION_UNCOVERED
        assert "--net HOST:PORT" in found.help_line


def test_the_words_of_a_command_line_narrow_too() -> None:
    """`none` leaves no network in any set; `any` is as if nothing had been said."""
    for host in ("api.example.com:443", None, "none"):
        assert refusal(NET, host, allowlist=("none",)).code is Code.ESCALATION_UNCOVERED
    assert covering(NET, "api.example.com:443", allowlist=("any",)) is NETWORK
    assert refusal(NET, "127.0.0.1:1", allowlist=("any",)).code is Code.ESCALATION_UNCOVERED


def test_a_look_up_without_a_name_needs_the_network() -> None:
    """What nobody named is opened by a set that opens every public host, and by no list."""
    assert covering(NET, "name lookup") is NETWORK
    assert covering(NET, None, engine="deno") is NETWORK
    assert refusal(NET, "name lookup", allowlist=("a.example:1",)).code is Code.ESCALATION_UNCOVERED


def test_variables_are_opened_for_deno_only() -> None:
    """A missing variable leaves no denial on native, and the sets open two of them."""
    for name in ("HOME", "PATH"):
        assert covering(ENV, name, engine="deno") is STANDARD
        assert "deno only" in refusal(ENV, name, engine="native").help_line
    for other in ("API_KEY", "HOME*", "A=B", None):
        found = refusal(ENV, other, engine="deno")
        assert found.code is Code.ESCALATION_UNCOVERED
        assert "`HOME` and `PATH` only" in found.help_line


def test_the_runs_own_home_goes_with_its_tmp() -> None:
    """CONTRACTS §10: on native both are private and writable together; Deno's flags name `/tmp`."""
    assert covering(WRITE, "/home/user/.cache/a") is FILESYSTEM
    assert refusal(WRITE, "/home/user/.ssh/a").code is Code.ESCALATION_PROTECTED_ROOT
    assert refusal(WRITE, "/home/user/.cache/a", engine="deno").code is Code.ESCALATION_UNCOVERED


def test_runtime_roots_are_read_by_every_set() -> None:
    """On native nothing is missing there; Deno sees them with a set that reads all."""
    assert "would not help" in refusal(READ, "/usr/share/a").help_line
    assert covering(READ, "/usr/share/a", engine="deno") is FILESYSTEM
    assert refusal(WRITE, "/usr/share/a", engine="deno").code is Code.ESCALATION_UNCOVERED


def test_denos_own_names_for_folders() -> None:
    """`<CWD>` is the workspace, `<TMP>` the run's own folder, and without a name it is all."""
    assert covering(READ, "<CWD>", engine="deno") is FILESYSTEM
    assert covering(WRITE, "<TMP>", engine="deno") is FILESYSTEM
    assert covering(READ, None, engine="deno") is FILESYSTEM
    assert refusal(READ, None, engine="native").code is Code.ESCALATION_UNCOVERED

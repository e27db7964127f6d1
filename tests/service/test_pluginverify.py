"""Holding a root against its lock: definitions of MCP tools, of which no two are taken for one (TRUST §lock-1)."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from consentry.base.canonical import Digest
from consentry.base.clock import SystemClock
from consentry.declare.pluginlock import PluginLock
from consentry.service import pluginverify
from consentry.service.plugincache import TreeCache
from consentry.service.pluginlocking import lock_changes
from consentry.service.pluginverify import Given, RootState, verify_root

GOOD, EVIL, OTHER = (Digest(f"sha256:{letter * 64}") for letter in "abc")
LOCKED: Mapping[str, Mapping[str, Digest]] = {"a": {"b/c": GOOD}, "a/b": {"c": OTHER}}
LATER: Mapping[str, Mapping[str, Digest]] = {"a": {"b/c": EVIL}, "a/b": {"c": OTHER}}


def state(root: Path, servers: Mapping[str, Mapping[str, Digest]]) -> RootState:
    """What is found when servers answer so."""
    lock = PluginLock(mcp_tools=LOCKED)
    given = Given({}, servers)
    return verify_root(root, lock, TreeCache(None, SystemClock()), given, rehash=True)


def naive(servers: Mapping[str, Mapping[str, Digest]]) -> dict[str, Digest]:
    """Server and tool with a stroke between them, whatever they are called."""
    return {f"{server}/{tool}": each for server, of in servers.items() for tool, each in of.items()}


def test_a_tool_cannot_hide_behind_the_one_of_another_server(tmp_path: Path) -> None:
    """A server that calls its tool `b/c` stands beside the tool `c` of the server `a/b`."""
    found = state(tmp_path, LATER)
    assert not found.is_as_locked
    [problem] = found.definition_problems
    assert (problem.plugin, problem.expected, problem.found) == ("mcp:a/b/c", GOOD, EVIL)


def test_both_servers_as_the_lock_has_them_pass(tmp_path: Path) -> None:
    """Strokes in names are no fault."""
    assert state(tmp_path, LOCKED).is_as_locked


def test_with_names_put_together_blindly_it_would_hide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The attack is real."""
    monkeypatch.setattr(pluginverify, "flat", naive)
    assert state(tmp_path, LATER).is_as_locked


def test_making_the_lock_anew_tells_of_it() -> None:
    """Both tools by names of their own."""
    added = lock_changes(None, PluginLock(mcp_tools=LOCKED)).mcp_tools.added
    assert added == ("a%2Fb/c", "a/b/c")

"""The words that start Deno (CONTRACTS §5): the flags of a set, of a surface, and those always there."""

from pathlib import Path

import pytest

from consentry.base.errors import Refused
from consentry.enforce.denoflags import (
    ALWAYS,
    NOTHING_REMOTE,
    STRANGERS,
    FlagGround,
    deno_options,
    permission_flags,
    require_confined,
)
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.permission_sets import PermissionSet, definition

WORKSPACE = Path("/srv/project")
HERE = FlagGround(WORKSPACE, WORKSPACE, Path("/home/me"))
BELOW = FlagGround(WORKSPACE, WORKSPACE / "src", Path("/home/me"))
SETS = {
    "minimal": (),
    "readonly": ("--allow-read=./data,/tmp",),
    "filesystem": ("--allow-read", "--allow-write=/tmp"),
    "network-api": ("--allow-net",),
    "mcp-standard": (
        "--allow-read",
        "--allow-write=/tmp,./output",
        "--allow-net",
        "--allow-env=HOME,PATH",
    ),
    "trusted": ("--allow-all",),
}


@pytest.mark.parametrize("name", SETS)
def test_a_set_gives_exactly_its_flags(name: str) -> None:
    """CONTRACTS §5: the table, and nothing else."""
    found = PermissionSet(name)
    assert permission_flags(definition(found).surface, found, HERE) == SETS[name]
    assert {*SETS[name], *ALWAYS} == set(definition(found).deno_flags)


@pytest.mark.parametrize("name", [None, *SETS])
def test_what_is_always_closed_is_on_every_line(name: str | None) -> None:
    """CONTRACTS §5: with `trusted` too."""
    found = None if name is None else PermissionSet(name)
    everything = Surface.of(read=["/"], write=["/"], net=Level.ANY, env=Level.ANY, run=Level.ANY)
    options = deno_options(everything, found, HERE, None)
    assert options[-3:] == ("--no-prompt", "--deny-run", "--deny-ffi")
    assert set(STRANGERS) <= set(options)
    assert not any(each.startswith(("--allow-run", "--allow-ffi")) for each in options)


def test_a_set_means_the_workspace_wherever_the_run_begins() -> None:
    """`./data` is the workspace's; from another folder it is spelled out."""
    readonly = PermissionSet.READONLY
    flags = permission_flags(definition(readonly).surface, readonly, BELOW)
    assert flags == ("--allow-read=/srv/project/data,/tmp",)


def test_what_is_named_is_added_to_a_set() -> None:
    """Without what the set has already."""
    readonly = PermissionSet.READONLY
    surface = definition(readonly).surface | Surface.of(
        read=["data/x", "/opt/it/"], write=["out/"], env=["LANG"]
    )
    assert permission_flags(surface, readonly, HERE) == (
        "--allow-read=./data,/tmp,/opt/it,./out",
        "--allow-write=./out",
        "--allow-env=LANG",
    )


def test_a_pattern_is_rounded_up_to_where_it_begins() -> None:
    """Deno knows prefixes only; the box around it holds the pattern."""
    surface = Surface.of(read=["tex/**/*.tex", "~/x/*.csv"], write=["/tmp/"])
    assert permission_flags(surface, None, HERE) == (
        "--allow-read=/home/me/x,./tex,/tmp",
        "--allow-write=/tmp",
    )


@pytest.mark.parametrize(
    ("hosts", "flag"),
    [
        (["api.example.com:443", "*.example.org"], "--allow-net=*.example.org,api.example.com:443"),
        (["10.0.0.0/8:80"], "--allow-net=10.0.0.0/8:80"),
        (["[2001:db8::1]:80"], "--allow-net=[2001:db8::1]:80"),
        (["2001:db8::1"], "--allow-net=[2001:db8::1]"),
        (["2001:db8::/32"], "--allow-net"),
        (["*:443"], "--allow-net"),
    ],
)
def test_hosts_as_deno_spells_them(hosts: list[str], flag: str) -> None:
    """What it has no word for is opened to it, and held by the proxy."""
    options = deno_options(Surface.of(net=hosts), None, HERE, None)
    assert options[-4] == flag
    assert not set(NOTHING_REMOTE) & set(options)


def test_nothing_remote_without_network() -> None:
    """An empty list is none either."""
    for surface in (Surface.of(read=["./"]), Surface.of(net=[])):
        assert set(NOTHING_REMOTE) <= set(deno_options(surface, None, HERE, None))


def test_a_comma_cannot_be_spelled() -> None:
    """It would be two paths for Deno; so nothing runs."""
    with pytest.raises(Refused, match="comma"):
        permission_flags(Surface.of(read=["/srv/a,b/"]), None, HERE)


def test_the_heap_stays_within_the_memory() -> None:
    """Three quarters of it."""
    options = deno_options(Surface.of(), None, HERE, 256 << 20)
    assert "--v8-flags=--max-old-space-size=192" in options


@pytest.mark.parametrize(
    "words",
    [
        ("deno", "run", "-A", "x.ts"),
        ("deno", "run", *ALWAYS, "x.ts", *STRANGERS),
        ("deno", "eval", *ALWAYS, *STRANGERS, "1"),
        ("deno", "run", *ALWAYS, *STRANGERS, "--allow-run=ls", "x.ts"),
        ("python3", "x.py"),
    ],
)
def test_words_that_would_open_more_are_refused(words: tuple[str, ...]) -> None:
    """The engine compiles nothing else than what was made for it."""
    with pytest.raises(Refused, match="runs a script"):
        require_confined(words)


def test_words_that_are_made_for_it_are_taken() -> None:
    """Whatever the script's own words are."""
    require_confined(("deno", "run", *ALWAYS, *STRANGERS, "/x.ts", "--allow-run"))

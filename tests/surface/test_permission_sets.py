"""The six permission sets and the steps between them (CONTRACTS §5 and §10, ESCALATION AC2)."""

import pytest

from consentry.base.errors import Refused, UsageProblem
from consentry.surface.dimensions import Level, LoadLevel
from consentry.surface.lattice import NOTHING, Surface
from consentry.surface.permission_sets import (
    PermissionSet,
    definition,
    governed_part,
    is_legal_step,
    least_sets_covering,
    require_legal_step,
)

MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, TRUSTED = PermissionSet

LEGAL = {
    (MINIMAL, READONLY),
    (MINIMAL, FILESYSTEM),
    (MINIMAL, NETWORK),
    (MINIMAL, STANDARD),
    (READONLY, FILESYSTEM),
    (READONLY, STANDARD),
    (FILESYSTEM, STANDARD),
    (NETWORK, STANDARD),
}


def test_the_names() -> None:
    """Six, spelled as documents and the store hold them."""
    assert list(PermissionSet) == [
        "minimal",
        "readonly",
        "filesystem",
        "network-api",
        "mcp-standard",
        "trusted",
    ]


@pytest.mark.parametrize(
    ("name", "surface"),
    [
        (MINIMAL, NOTHING),
        (READONLY, Surface.of(read=["./data/", "/tmp/"])),
        (FILESYSTEM, Surface.of(read=["./", "/tmp/"], write=["/tmp/"])),
        (NETWORK, Surface.of(net=Level.ANY)),
        (
            STANDARD,
            Surface.of(
                read=["./", "/tmp/"],
                write=["/tmp/", "./output/"],
                net=Level.ANY,
                env=["HOME", "PATH"],
            ),
        ),
        (
            TRUSTED,
            Surface.of(read=["./", "/"], write=["./", "/tmp/"], net=Level.ANY, env=Level.ANY),
        ),
    ],
)
def test_what_each_set_opens(name: PermissionSet, surface: Surface) -> None:
    """Read, write, net and environment as the table says; never a program."""
    assert definition(name).surface == surface
    assert definition(name).surface.proc_exec.level is Level.NONE


@pytest.mark.parametrize(
    ("name", "flags"),
    [
        (MINIMAL, ()),
        (READONLY, ("--allow-read=./data,/tmp",)),
        (FILESYSTEM, ("--allow-read", "--allow-write=/tmp")),
        (NETWORK, ("--allow-net",)),
        (
            STANDARD,
            (
                "--allow-read",
                "--allow-write=/tmp,./output",
                "--allow-net",
                "--allow-env=HOME,PATH",
            ),
        ),
        (TRUSTED, ("--allow-all",)),
    ],
)
def test_how_deno_is_told(name: PermissionSet, flags: tuple[str, ...]) -> None:
    """The flags of the table, and always the three that keep programs and libraries out."""
    always = ("--no-prompt", "--deny-run", "--deny-ffi")
    assert definition(name).deno_flags == (*flags, *always)


def test_the_legal_steps_are_these_and_no_others() -> None:
    """Every pair is tried: eight steps are legal, all others are refused with their own code."""
    for current in PermissionSet:
        for wanted in PermissionSet:
            assert is_legal_step(current, wanted) == ((current, wanted) in LEGAL)
            if (current, wanted) in LEGAL:
                assert require_legal_step(current, wanted) is wanted
            else:
                with pytest.raises(Refused) as caught:
                    require_legal_step(current, wanted)
                assert caught.value.code == "permission-step"


def test_no_step_reaches_trusted() -> None:
    """`trusted` is set by hand and never by escalation."""
    assert not any(is_legal_step(current, TRUSTED) for current in PermissionSet)


def test_a_legal_step_never_takes_power_away() -> None:
    """Each step goes up the lattice."""
    for current, wanted in LEGAL:
        assert definition(current).surface <= definition(wanted).surface
        assert not definition(wanted).surface <= definition(current).surface


@pytest.mark.parametrize(
    ("needed", "current", "answer"),
    [
        (Surface.of(read=["data/x.csv"]), MINIMAL, (READONLY,)),
        (Surface.of(read=["src/x.py"]), MINIMAL, (FILESYSTEM,)),
        (Surface.of(write=["/tmp/x"]), MINIMAL, (FILESYSTEM,)),
        (Surface.of(net=["api.example.com:443"]), MINIMAL, (NETWORK,)),
        (Surface.of(net=["api.example.com:443"]), READONLY, (STANDARD,)),
        (Surface.of(net=["api.example.com:443"]), FILESYSTEM, (STANDARD,)),
        (Surface.of(env=["HOME"]), MINIMAL, (STANDARD,)),
        (Surface.of(env=["SECRET"]), MINIMAL, ()),
        (Surface.of(write=["src/x"]), FILESYSTEM, ()),
        (Surface.of(run=["sh"]), MINIMAL, ()),
        (Surface.of(net=Level.ANY), STANDARD, ()),
    ],
)
def test_the_least_set_that_covers(
    needed: Surface, current: PermissionSet, answer: tuple[PermissionSet, ...]
) -> None:
    """One step up the lattice, to the narrowest set that opens what is missing, or nowhere."""
    assert least_sets_covering(needed, current) == answer


def test_sets_do_not_speak_of_every_dimension() -> None:
    """Loading code, cryptography and tools are left out when a need is held against a set."""
    needed = Surface.of(read=["data/x"], load=LoadLevel.ANY, crypto=["md5"], tools=["python"])
    assert governed_part(needed) == Surface.of(read=["data/x"])
    assert least_sets_covering(needed, MINIMAL) == (READONLY,)


def test_an_unknown_name_is_refused_with_the_list() -> None:
    """One clear error that names the six."""
    with pytest.raises(UsageProblem, match="network-api") as caught:
        PermissionSet.named("networking")
    assert caught.value.code == "permission-set"


def test_each_set_says_what_it_means_on_the_native_engine() -> None:
    """Every column of the table is filled, and `run` and `ffi` are never open."""
    for name in PermissionSet:
        native = definition(name).native
        assert all((native.workspace, native.tmp_and_home, native.other_reads, native.net))
        assert native.run_and_ffi == "none"

"""Which calls the grants of a run refuse, told by names, and which of those are left to the kernel."""

import os
from typing import Any

import pytest

from consentry.enforce.native.heldrules import HeldRules, Wanted, at_and_above
from consentry.enforce.native.rights import READ, WRITE


def _rules(**changes: Any) -> HeldRules:
    wish = {
        "rights": {b"/ws": READ, b"/ws/out": WRITE, b"/ws/one": 0x4, b"/tmp": WRITE},
        "handled": 0xFFFF,
        "writable": {b"/ws": False, b"/ws/out": True, b"/tmp": True},
        "layered": [b"/ws"],
        "shown": [b"/ws", b"/tmp/granted"],
        "never": [b"/tmp", b"/proc", b"/etc/locale.alias"],
    }
    return HeldRules({**wish, **changes})


def _wanted(place: str, flags: int = os.O_RDONLY, **found: bool) -> Wanted:
    found = {"is_found": True, "is_folder": False, **found}
    return Wanted(place.encode(), flags, 0o644, **found)


_MAKES = os.O_CREAT | os.O_WRONLY


@pytest.mark.parametrize(
    ("wanted", "is_allowed"),
    [
        (_wanted("/ws/file"), True),
        (_wanted("/ws"), True),
        (_wanted("/wsx"), False),
        (_wanted("/"), False),
        (_wanted("/ws/file", os.O_WRONLY), False),
        (_wanted("/ws/file", os.O_TRUNC), False),
        (_wanted("/ws/out/file", os.O_RDWR | os.O_TRUNC), True),
        (_wanted("/ws/out/new", _MAKES, is_found=False), True),
        (_wanted("/ws/new", _MAKES, is_found=False), False),
        (_wanted("/ws/out", _MAKES, is_found=False), False),
        (_wanted("/ws/out/d", is_found=False, makes_folder=True), True),
        (_wanted("/other/d", is_found=False, makes_folder=True), False),
        (_wanted("/ws/sub", is_folder=True), True),
        (_wanted("/other", is_folder=True), False),
        (_wanted("/other/file"), False),
    ],
)
def test_what_the_grants_let_through(wanted: Wanted, is_allowed: bool) -> None:  # noqa: FBT001
    """By the innermost rights and mounts at or above a name; for a new one, by those of its folder."""
    assert _rules().allow(wanted) is is_allowed


def test_rights_that_the_kernel_does_not_know_are_not_missed() -> None:
    """An older Landlock refuses no cutting, so nothing waits for it."""
    cut = _wanted("/ws/one", os.O_TRUNC)
    rules = {"rights": {b"/ws/one": 0x4 | 0x2}, "writable": {b"/ws": True}}
    assert not _rules(**rules).allow(cut)
    assert _rules(**rules, handled=0x3FFF).allow(cut)


@pytest.mark.parametrize(
    "wanted",
    [
        _wanted("/x", os.O_PATH),
        _wanted("/x", os.O_TMPFILE | os.O_WRONLY, is_folder=True),
        _wanted("/x", os.O_WRONLY | os.O_RDWR),
        _wanted("/x", _MAKES | os.O_EXCL),
        _wanted("/x", os.O_DIRECTORY),
        _wanted("/x", os.O_WRONLY, is_folder=True),
        _wanted("/x", _MAKES | os.O_DIRECTORY, is_found=False),
        _wanted("/x", makes_folder=True),
    ],
)
def test_what_the_kernel_refuses_anyway_is_left_to_it(wanted: Wanted) -> None:
    """Nobody is asked for it, and it has the error that it always had."""
    assert not wanted.is_plain()


@pytest.mark.parametrize(
    ("wanted", "access", "writes"),
    [
        (_wanted("/x"), "r", False),
        (_wanted("/x", os.O_WRONLY), "w", True),
        (_wanted("/x", os.O_RDWR), "rw", True),
        (_wanted("/x", os.O_TRUNC), "rw", True),
        (_wanted("/x", os.O_CREAT), "r", False),
        (_wanted("/x", _MAKES, is_found=False), "create", True),
        (_wanted("/x", is_found=False, makes_folder=True), "mkdir", True),
    ],
)
def test_each_kind_of_access_is_remembered_apart(
    wanted: Wanted, access: str, writes: bool  # noqa: FBT001
) -> None:  # fmt: skip
    """And what cuts a file writes it, however it is opened."""
    assert (wanted.access, wanted.writes) == (access, writes)
    assert wanted.is_plain()


def test_what_is_granted_inside_a_place_of_the_runs_own_may_be_asked_for() -> None:
    """The place itself may not."""
    rules = _rules()
    assert rules.is_never_held(b"/tmp/own")
    assert rules.is_never_held(b"/proc/self/maps")
    assert rules.is_never_held(b"/etc/locale.alias")
    assert not rules.is_never_held(b"/tmp/granted/file")
    assert not rules.is_never_held(b"/srv/file")


def test_a_layer_has_what_lies_below_its_place() -> None:
    """And nothing beside."""
    rules = _rules()
    assert rules.layer_of(b"/ws/a/b") == rules.layer_of(b"/ws") == b"/ws"
    assert rules.layer_of(b"/wsx") is None


def test_names_and_what_they_lie_in() -> None:
    """From the innermost to the root."""
    assert at_and_above(b"/a/b") == [b"/a/b", b"/a", b"/"]
    assert at_and_above(b"/") == [b"/"]

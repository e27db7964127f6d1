"""Atoms as a surface: what powers that were found one by one come to."""

from itertools import permutations

import pytest

from consentry.examine.atoms import (
    ANYTHING,
    NAMELESS,
    SOMEWHERE,
    Atom,
    calling,
    connecting,
    encrypting,
    loading,
    reading,
    seeing,
    starting,
    writing,
)
from consentry.examine.extracted import surface_of
from consentry.surface.dimensions import Level, LoadLevel
from consentry.surface.lattice import NOTHING, Surface, spellings, standing


def test_nothing_is_the_empty_surface() -> None:
    """GUARD §vector-3."""
    assert surface_of([]) == NOTHING


def test_each_power_has_its_dimension() -> None:
    """GUARD §vector-1: eight makers of atoms, eight dimensions."""
    atoms = [
        reading("data/x"),
        writing("out/"),
        connecting("example.com:443"),
        starting("git"),
        seeing("HOME"),
        loading(LoadLevel.LIMITED),
        encrypting("sha256"),
        calling("browser"),
    ]
    assert surface_of(atoms) == Surface.of(
        read=["data/x"],
        write=["out/"],
        net=["example.com:443"],
        run=["git"],
        env=["HOME"],
        load=LoadLevel.LIMITED,
        crypto=["sha256"],
        tools=["browser"],
    )


@pytest.mark.parametrize(
    ("targets", "level"),
    [
        ([NAMELESS], Level.ALLOWLIST),
        ([NAMELESS, "example.com:443"], Level.ALLOWLIST),
        ([NAMELESS, ANYTHING], Level.ANY),
        (["example.com:443", ANYTHING], Level.ANY),
        (["not a host at all"], Level.ANY),
    ],
)
def test_the_step_a_list_takes(targets: list[str], level: Level) -> None:
    """GUARD §extract-allowlist: a step without a target, a target, a computed one, a senseless one."""
    assert standing(surface_of(map(connecting, targets)).net_access) == level.value


def test_loading_is_the_highest_level_that_was_found() -> None:
    """One place that loads anything is enough."""
    both = [loading(LoadLevel.ANY), loading(LoadLevel.LIMITED)]
    assert surface_of(both).dynamic_code_load is LoadLevel.ANY


def test_a_path_that_is_no_pattern_may_be_anywhere() -> None:
    """What cannot be told apart counts as the whole workspace, never as nothing."""
    assert spellings(surface_of([reading("../..")]).fs_read_roots) == (SOMEWHERE,)


def test_order_does_not_count() -> None:
    """GUARD §deterministic."""
    atoms: list[Atom] = [reading("a"), connecting("h:1"), connecting(), starting(ANYTHING)]
    assert len({surface_of(each) for each in permutations(atoms)}) == 1

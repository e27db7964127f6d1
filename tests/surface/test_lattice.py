"""The laws of the lattice, on generated surfaces (GUARD §vector: any change is an escalation)."""

import pytest
from hypothesis import given

from consentry.base.errors import BadInput
from consentry.surface.dimensions import Dimension, Level, LoadLevel
from consentry.surface.lattice import NOTHING, Surface
from tests.surface.strategies import surfaces


@given(surfaces())
def test_join_and_meet_are_idempotent(a: Surface) -> None:
    """Joining or meeting a surface with itself changes nothing."""
    assert a | a == a
    assert a & a == a


@given(surfaces(), surfaces())
def test_join_and_meet_commute(a: Surface, b: Surface) -> None:
    """The order of the two sides does not matter."""
    assert a | b == b | a
    assert a & b == b & a


@given(surfaces(), surfaces(), surfaces())
def test_join_and_meet_associate(a: Surface, b: Surface, c: Surface) -> None:
    """The order of three does not matter."""
    assert (a | b) | c == a | (b | c)
    assert (a & b) & c == a & (b & c)


@given(surfaces(), surfaces())
def test_join_and_meet_absorb_each_other(a: Surface, b: Surface) -> None:
    """A meet adds nothing to a side, a join takes nothing away."""
    assert a | (a & b) == a
    assert a & (a | b) == a


@given(surfaces(), surfaces())
def test_cover_is_the_order_of_the_lattice(a: Surface, b: Surface) -> None:
    """`a <= b` exactly when joining a to b changes nothing, and when meeting leaves a."""
    assert (a <= b) == (a | b == b) == (a & b == a)
    assert a <= a | b
    assert a & b <= a


@given(surfaces(), surfaces(), surfaces())
def test_cover_is_transitive(a: Surface, b: Surface, c: Surface) -> None:
    """What covers a cover covers."""
    assert a & b <= a <= a | c
    assert a & b <= a | c


@given(surfaces(), surfaces())
def test_the_difference_makes_up_what_is_missing(a: Surface, b: Surface) -> None:
    """`a | (b - a)` covers b, and the difference is no more than b."""
    assert b <= a | (b - a)
    assert b - a <= b


@given(surfaces(), surfaces())
def test_the_difference_is_nothing_exactly_when_covered(a: Surface, b: Surface) -> None:
    """No delta means covered, a delta means not: `may it run` and `what is missing` agree."""
    assert (b - a == NOTHING) == (b <= a)
    assert bool(b.gains_over(a)) == (not b <= a)


@given(surfaces())
def test_nothing_is_the_bottom(a: Surface) -> None:
    """The empty surface is below every other, and is neutral for join."""
    assert a >= NOTHING
    assert NOTHING | a == a
    assert NOTHING & a == NOTHING
    assert a - a == NOTHING


@given(surfaces(), surfaces())
def test_equal_surfaces_hash_alike(a: Surface, b: Surface) -> None:
    """Equality is mutual cover, so the hash may not depend on spelling."""
    if a == b:
        assert hash(a) == hash(b)
    assert hash(a | b) == hash(b | a)


def test_equality_does_not_depend_on_spelling() -> None:
    """A folder is the same as its name and everything below, listed apart."""
    tree = Surface.of(read=["latex/"])
    apart = Surface.of(read=["latex", "latex/*/**"])
    assert tree == apart
    assert hash(tree) == hash(apart)
    assert tree != Surface.of(read=["latex/*/**"])


def test_the_vector_has_exactly_eight_dimensions() -> None:
    """GUARD §vector-1: the names, their order, and each as a field of a surface."""
    assert list(Dimension) == [
        "FS_READ_ROOTS",
        "FS_WRITE_ROOTS",
        "NET_ACCESS",
        "PROC_EXEC",
        "ENV_READ",
        "DYNAMIC_CODE_LOAD",
        "CRYPTO_PRIMITIVES",
        "TOOL_CLASSES",
    ]
    assert all(hasattr(NOTHING, dimension.key) for dimension in Dimension)
    assert list(Level) == ["NONE", "ALLOWLIST", "ANY"]
    assert list(LoadLevel) == ["NONE", "LIMITED", "ANY"]


def test_a_gain_names_dimension_rungs_targets_and_reason() -> None:
    """Each power gained says what it was, what it is, which targets are new, and why."""
    before = Surface.of(read=["latex/*.tex"])
    after = Surface.of(read=["latex/**/*.tex"], net=["api.example.com:443"], load=LoadLevel.ANY)
    read, net, load = after.gains_over(before)
    assert read.dimension is Dimension.FS_READ_ROOTS
    assert read.added == ("latex/**/*.tex",)
    assert read.reason == "`latex/**/*.tex` beyond `latex/*.tex`, such as `latex/y/.tex`"
    assert (net.dimension, net.before, net.after) == (Dimension.NET_ACCESS, "NONE", "ALLOWLIST")
    assert net.added == ("api.example.com:443",)
    assert (load.before, load.after, load.reason) == ("NONE", "ANY", "ANY is more than NONE")


def test_removed_powers_are_no_gain() -> None:
    """Going down is never an escalation."""
    before = Surface.of(read=["./"], net=Level.ANY, run=["sh"])
    assert Surface.of(read=["data/"]).gains_over(before) == ()


def test_a_list_without_targets_stands_between_none_and_any_list() -> None:
    """A bare import of a network library is more than nothing and less than any named host."""
    none, bare = Surface.of(), Surface.of(net=[])
    named, anything = Surface.of(net=["a.com"]), Surface.of(net=Level.ANY)
    assert none <= bare <= named <= anything
    assert not bare <= none
    assert not named <= bare
    assert not anything <= named
    assert Surface.of(net=["a.com"]) & Surface.of(net=["b.com"]) == bare


@pytest.mark.parametrize("word", ["", " web", "web ", "a\nb", "\x1b[31m", "\u202eweb"])
def test_a_tool_class_is_a_plain_word(word: str) -> None:
    """What a document may not say, code may not either, or reading back would fail."""
    with pytest.raises(BadInput) as caught:
        Surface.of(tools=[word])
    assert caught.value.code == "surface-field"


def test_a_lone_string_is_refused_where_a_list_is_meant() -> None:
    """`read="data"` would otherwise grant the files `d`, `a`, `t`."""
    with pytest.raises(BadInput, match="stands alone"):
        Surface.of(read="data")
    with pytest.raises(BadInput, match="stands alone"):
        Surface.of(net="a.com")


def test_a_surface_has_powers_and_nothing_besides() -> None:
    """CONTRACTS §8-surface: neither whose they are nor whether anybody granted them.

    Each field is of its own kind, and has no say in another's.
    """
    kept = {"document"}  # as JSON has it, made once
    assert set(Surface.__slots__) - kept == {dimension.key for dimension in Dimension}
    with pytest.raises(TypeError):
        Surface.of(granted=True)  # type: ignore[call-arg]
    kinds = {type(NOTHING[dimension]).__name__ for dimension in Dimension}
    assert kinds == {"PatternScope", "Access", "LoadLevel", "frozenset"}
    everything = Surface.of(read=["/"], net=Level.ANY)
    assert everything[Dimension.PROC_EXEC] == NOTHING[Dimension.PROC_EXEC]

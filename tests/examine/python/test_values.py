"""Alternatives: flat, each power kept, and bounded."""

import pytest

from consentry.examine.python.values import (
    MOST_ALTERNATIVES,
    MOST_POWERFUL,
    Const,
    Either,
    Instance,
    Ref,
    TooMuch,
    alternatives,
    either,
)


def test_one_of_one_is_that_one() -> None:
    """And one of none is not known."""
    only = Ref("os")
    assert either([only]) is only
    assert either([]) is None
    assert either([None, None]) is None


def test_alternatives_are_flat() -> None:
    """However often they were put together; what is not known stays among them."""
    inner = either([Ref("a"), None])
    assert isinstance(inner, Either)
    outer = either([inner, Ref("b")])
    assert [each and each.name for each in alternatives(outer)] == ["a", None, "b"]  # type: ignore[union-attr]
    assert alternatives(None) == (None,)


def test_what_has_a_power_is_never_left_out() -> None:
    """Of constants a few are kept; that there are more is not forgotten."""
    powerful = [Instance("net.Client", Const(str(at))) for at in range(MOST_ALTERNATIVES)]
    values = [*(Const(at) for at in range(500)), *powerful]
    kept = alternatives(either([*values]))
    assert set(powerful) <= set(kept)
    assert None in kept
    assert len(kept) == 2 * MOST_ALTERNATIVES + 1


def test_the_same_member_many_times_is_one() -> None:
    """Members are known by their names."""
    kept = alternatives(either([Ref("os.system") for _ in range(500)]))
    assert [each and each.name for each in kept] == ["os.system", None]  # type: ignore[union-attr]


def test_more_than_can_be_kept_is_too_much() -> None:
    """GUARD §extract-closed: the file is not judged then."""
    with pytest.raises(TooMuch):
        either([Instance("net.Client", Const(at)) for at in range(MOST_POWERFUL + 1)])

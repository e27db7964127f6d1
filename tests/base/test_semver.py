"""Semantic versions have the order that SemVer 2.0.0 gives them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.base.semver import SemVer

ORDERED = [
    "0.0.1",
    "0.9.9",
    "1.0.0-1",
    "1.0.0-2",
    "1.0.0-11",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
    "1.0.1",
    "1.2.0",
    "1.10.0",
    "2.0.0-0",
    "2.0.0",
]


def test_the_order_is_that_of_the_specification() -> None:
    """Numbers as numbers, names after them, and a release after all that lead to it."""
    ranks = [SemVer.parse(text).rank for text in ORDERED]
    assert ranks == sorted(set(ranks))


def test_what_stands_behind_the_plus_has_no_rank() -> None:
    """Two builds of one version are equally high."""
    one, other = SemVer.parse("1.0.0+a"), SemVer.parse("1.0.0+b.7")
    assert (one.rank, one == other) == (other.rank, False)


@pytest.mark.parametrize(
    "text",
    ["", "1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-01", "v1.0.0", "1.0.0\n", "\u0661.0.0"],
)
def test_what_is_no_version_is_refused(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(BadInput):
        SemVer.parse(text)


@given(st.tuples(*[st.integers(0, 10**6)] * 3), st.tuples(*[st.integers(0, 10**6)] * 3))
def test_releases_have_the_order_of_their_numbers(one: object, other: object) -> None:
    """Whatever the numbers are."""

    def rank(numbers: object) -> object:
        return SemVer.parse("{}.{}.{}".format(*numbers)).rank  # type: ignore[misc]

    assert (one < other) == (rank(one) < rank(other))  # type: ignore[operator]

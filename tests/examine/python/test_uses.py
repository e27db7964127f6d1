"""Where names are used: before a position, within lines, and whether names may go unseen."""

import ast

import pytest

from consentry.examine.python.uses import Uses, position

WHOLE = (0, 1000)


def uses(code: str) -> Uses:
    """The uses in some code."""
    return Uses(ast.parse(code))


def test_before_counts_from_left_to_right() -> None:
    """Two statements on one line are two places."""
    found = uses("f(); f = 1\nf()\n")
    assert found.is_before("f", position(1, 5), WHOLE)
    assert not found.is_before("f", position(1, 0), WHOLE)
    assert not found.is_before("g", position(9, 0), WHOLE)


def test_before_counts_only_within_the_lines_that_are_asked_about() -> None:
    """A function is asked about its own lines."""
    found = uses("x\ndef f():\n    y\nf = 1\n")
    assert not found.is_before("x", position(4, 0), (2, 3))
    assert found.is_before("y", position(4, 0), (2, 3))


def test_names_that_are_only_bound_are_not_used() -> None:
    """`f = 1` uses nothing."""
    assert not uses("f = 1\ndel f\n").is_before("f", position(9, 0), WHOLE)


def test_within_spans() -> None:
    """All of them, or not."""
    found = uses("e\ne\n\ne\n")
    assert found.is_within("e", [(1, 2), (4, 4)])
    assert not found.is_within("e", [(1, 2)])


@pytest.mark.parametrize(
    ("code", "may"),
    [
        ("x = 1", False),
        ("globals().clear()", True),
        ("vars(m)", True),
        ("delattr(m, 'x')", True),
        ("m.__dict__", True),
        ("import __main__", True),
        ("sys.modules", True),
    ],
)
def test_names_may_be_taken_away_unseen(code: str, *, may: bool) -> None:
    """Through the namespace of the file, by whatever way it is reached."""
    assert uses(code).may_unbind is may

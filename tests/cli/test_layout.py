"""Rows that are never wider than the page and always begin as ours."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consentry.base.safetext import safe_line
from consentry.cli.layout import columns_of, laid_out

PIECES = st.one_of(
    st.text(),
    st.sampled_from(
        ["help: ", "a" * 90, "\u4e2d" * 50, "\x1b" * 3, "\\u{1b}", " ", "  |", "\\" * 70]
    ),
)
TEXTS = st.lists(PIECES).map("".join)


@given(TEXTS, st.integers(40, 100), st.integers(0, 45), st.integers(0, 45))
@example("x " * 60, 40, 45, 45)
def test_rows_fit_are_marked_and_lose_nothing(
    text: str, width: int, start: int, margin: int
) -> None:
    """Whatever the text: no row is too wide, each further one is marked, and all is still there."""
    shown = safe_line(text)
    first, *others = laid_out(shown, width=width, start=start, margin=margin)
    assert columns_of(first) <= max(width - start, 0)
    assert all(columns_of(row) <= width for row in others)
    bodies = [re.fullmatch(r" {0,45}\|(.*)", row) for row in others]
    assert all(bodies)
    assert first + "".join(body[1] for body in bodies if body) == shown


def test_breaks_in_front_of_a_space() -> None:
    """The space opens the next row, so that what was broken without one can be told apart."""
    rows = laid_out("one two three four five six seven", width=20, margin=2)
    assert rows == ["one two three four", "  | five six seven"]
    assert laid_out("a" * 25, width=20) == ["a" * 20, "|" + "a" * 5]


def test_wide_letters_count_twice() -> None:
    """Or a terminal would go on in its first column."""
    assert laid_out("\u4e2d" * 12, width=20) == ["\u4e2d" * 10, "|" + "\u4e2d" * 2]


@pytest.mark.parametrize("escape", ["\\u{1b}", "\\u{20*17}", "\\x{ff}", "\\u{5582 left out}"])
def test_escapes_stay_whole(escape: str) -> None:
    """Half of an escape would read as something else."""
    for before in range(30):
        rows = laid_out("a" * before + escape + "b" * 30, width=24)
        assert any(escape in row for row in rows)


def test_start_without_room_leaves_the_first_row_empty() -> None:
    """The text then begins on the next row, marked, instead of running over the edge."""
    first, *others = laid_out("sixteen letters.", width=40, start=39, margin=39)
    assert first == ""
    assert [row.strip() for row in others] == ["|sixteen", "| letters."]

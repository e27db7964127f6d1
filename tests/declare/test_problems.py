"""What is wrong is told in the order of the document, all of it, and not without end."""

import pytest

from consentry.base.errors import BadDocument
from consentry.declare.nodes import Mark
from consentry.declare.problems import MOST_PROBLEMS, Problems


def test_in_the_order_of_the_document() -> None:
    """Whatever was found first; what has no place comes first."""
    problems = Problems("d.yaml")
    for mark in (Mark(9, 1), Mark(2, 5), Mark(2, 3), None):
        problems.add(mark, "", "wrong", "correct it")
    with pytest.raises(BadDocument) as caught:
        problems.raise_any()
    assert [(each.where.line, each.where.column) for each in caught.value.problems] == [
        (None, None),
        (2, 3),
        (2, 5),
        (9, 1),
    ]


def test_nothing_wrong_raises_nothing() -> None:
    """The list is empty until something is added."""
    Problems("d.yaml").raise_any()


def test_a_flood_is_counted() -> None:
    """A hundred are listed, and the number is right however many there were."""
    problems = Problems("d.yaml")
    for line in range(1, 20_001):
        problems.add(Mark(line, 1), "", "wrong", "correct it")
    with pytest.raises(
        BadDocument, match="20000 things are wrong, the first 100 are listed"
    ) as got:
        problems.raise_any()
    assert len(got.value.problems) == MOST_PROBLEMS

"""A note board for each test, and somebody at it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.examples.boards import Place, Visitor, board_at, place_in


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Where the board of this test is."""
    return place_in(tmp_path)


@pytest.fixture
def visitor(place: Place) -> Iterator[Visitor]:
    """Somebody at a board that has just been started."""
    with board_at(place) as link:
        yield Visitor(link).enter()

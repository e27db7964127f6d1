"""Every test here has a ground of its own."""

from collections.abc import Iterator

import pytest

from tests.enforce.egress.grounds import Ground, new_ground


@pytest.fixture
def ground() -> Iterator[Ground]:
    """A workspace, and an engine for it."""
    with new_ground() as made:
        yield made

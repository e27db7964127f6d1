"""How much of a proof is run: all of it with `make prove`, an even sample with `make test`."""

import os
from collections.abc import Sequence
from typing import TypeVar

IS_FULL = os.environ.get("CONSENTRY_PROOF", "small") == "full"

Point = TypeVar("Point")


def sampled(points: Sequence[Point], small: int) -> list[Point]:
    """All points at full size; else at most so many of them, first and last among them."""
    if IS_FULL or len(points) <= small:
        return list(points)
    return [points[(len(points) - 1) * number // (small - 1)] for number in range(small)]


def share(points: Sequence[Point], part: int, parts: int) -> list[Point]:
    """One of several tests' share of the points."""
    return list(points[part::parts])

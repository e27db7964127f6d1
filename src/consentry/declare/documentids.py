"""Ids and versions in documents that programs hand to each other: a wish, a registry, a recipe."""

from collections.abc import Callable
from typing import Final

from consentry.declare.nodes import clipped
from consentry.declare.values import Value

MOST_LETTERS: Final = 200


def identifier(value: Value) -> str | None:
    """A name that is written in other documents, too: whatever can be seen, with nothing around it."""
    found = value.text()
    if found is None:
        return None
    if len(found) > MOST_LETTERS or not found.isprintable() or found != found.strip():
        value.refuse(
            f"`{clipped(found)}` is not an id",
            f"use characters that can be seen, at most {MOST_LETTERS}, without blanks around them",
        )
        return None
    return found


def known_version(known: str) -> Callable[[Value], str | None]:
    """The way to read the version of a format of which one is known."""

    def read(value: Value) -> str | None:
        found = value.text()
        if found is not None and found != known:
            value.refuse(
                f"version {clipped(found)} of this document is not known, only {known}",
                f'write "{known}" if it follows that, or install a release that knows it',
            )
        return found

    return read

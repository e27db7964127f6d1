"""The documents that `consentry init` writes, as they are written: one folder for each place."""

from collections.abc import Iterator
from enum import StrEnum
from importlib.resources import files


class Place(StrEnum):
    """Where a configuration is begun: in a workspace, or as the user's own."""

    WORKSPACE = "workspace"
    OWN = "own"


def starters(place: Place) -> Iterator[tuple[str, bytes]]:
    """The names of the documents, and what they begin with."""
    folder = files(__name__).joinpath(place.value)
    for each in sorted(folder.iterdir(), key=lambda entry: entry.name):
        yield each.name, each.read_bytes()

"""What a workspace's documents may change before they are accepted: only what makes things stricter."""

from dataclasses import dataclass

from consentry.base.errors import Where


@dataclass(frozen=True, slots=True)
class Ignored:
    """Something that a workspace's document says and that does not count, in words.

    `lowers` tells what accepting the document would loosen from what never counts from a workspace.
    """

    where: Where
    what: str
    lowers: bool = True

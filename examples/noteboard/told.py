"""What the page tells about the last click."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Told:
    """What came of the last click: a word for how it ended, and what there is to say."""

    status: str
    title: str
    code: str | None = None
    why: str | None = None
    states: tuple[str, ...] = ()
    results: tuple[str, ...] = ()

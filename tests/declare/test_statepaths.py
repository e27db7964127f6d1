"""State paths are compared by whole segments, and nothing else lets one cover another."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.statepaths import PathSet, is_pointer, segments

NAMES = st.lists(st.text(max_size=4), max_size=4)


def pointer_of(names: list[str]) -> str:
    """The pointer to a place."""
    return "".join(f"/{each.replace('~', '~0').replace('/', '~1')}" for each in names)


@pytest.mark.parametrize(
    ("root", "path", "is_covered"),
    [
        ("/notes", "/notes", True),
        ("/notes", "/notes/4/text", True),
        ("/notes", "/notes/", True),
        ("/notes", "/notesx", False),
        ("/notes", "/note", False),
        ("/notes", "/Notes", False),
        ("/notes/4", "/notes", False),
        ("/notes/", "/notes/4", False),
        ("/notes", "/notes/../secret", True),  # `..` is a name like any other and leads nowhere
        ("/*", "/notes", False),
        ("/a", "/a~1b", False),
        ("/a~1b", "/a~1b/c", True),
        ("/a~1b", "/a/b", False),
        ("/~01", "/~1", False),
        ("/caf\u00e9", "/cafe\u0301", False),
        ("", "/anything", True),
        ("notes", "notes", False),
        ("/a~", "/a~", False),
        ("/a", "a", False),
    ],
)
def test_covers(root: str, path: str, is_covered: bool) -> None:  # noqa: FBT001 - a column
    """CONTRACTS §2-calls: the same place or one below it, by whole segments without escapes."""
    assert PathSet([root]).covers(path) is is_covered


def test_no_paths_cover_nothing() -> None:
    """CONTRACTS §2-calls: an empty list denies, also the whole state."""
    assert not PathSet([]).covers("/a")
    assert not PathSet([]).covers("")


@pytest.mark.parametrize("text", ["a", "#/a", "/a~", "/~2", "a/b", " /a"])
def test_what_is_no_pointer(text: str) -> None:
    """CONTRACTS §2-calls: it has no segments."""
    assert not is_pointer(text)
    assert segments(text) is None


@given(NAMES, NAMES)
def test_segments_decide(root: list[str], path: list[str]) -> None:
    """CONTRACTS §2-calls: a place covers another exactly when its names are the first of the other's."""
    assert segments(pointer_of(path)) == tuple(path)
    covers = PathSet([pointer_of(root)]).covers(pointer_of(path))
    assert covers is (path[: len(root)] == root)

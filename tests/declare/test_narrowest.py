"""From files that were used to patterns: as few as can be read, and no wider than that takes."""

from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.narrowest import FEW_BELOW, FEW_IN_FOLDER, narrowest
from consentry.surface.automaton import matches
from consentry.surface.pattern import MOST_CHARACTERS, Pattern

_NAME = st.sampled_from(["a", "b.c", "c.c", "d*.c", "e", ".env", "f.key", "**", "~", "~a"])
_PATHS = st.lists(st.lists(_NAME, min_size=1, max_size=3).map("/".join), max_size=60)


def texts(paths: list[str], apart: list[str] | None = None) -> dict[str, int]:
    """The patterns, and for how many files each stands."""
    return {each.text: each.files for each in narrowest(paths, apart or [])}


def test_a_few_files_stand_for_themselves() -> None:
    """To the letter, wildcards in their names included."""
    assert texts(["src/a.c", "we*ird", "/opt/data/x"]) == {
        "src/a.c": 1,
        "we\\*ird": 1,
        "/opt/data/x": 1,
    }


def test_many_of_a_kind_in_a_folder_become_one_pattern() -> None:
    """Of that folder and that ending alone."""
    many = [f"src/{n}.c" for n in range(FEW_IN_FOLDER + 1)]
    assert texts([*many, "src/x.h", "src/sub/y.c"]) == {
        "src/*.c": len(many),
        "src/x.h": 1,
        "src/sub/y.c": 1,
    }
    assert len(texts(many[:-1])) == FEW_IN_FOLDER


def test_many_folders_become_the_deepest_that_holds_them() -> None:
    """And not the top one."""
    many = [f"a/b/{n}/x.py" for n in range(FEW_BELOW + 1)]
    assert texts([*many, "a/y.txt"]) == {"a/b/**/*.py": len(many), "a/y.txt": 1}


def test_what_is_apart_is_never_covered() -> None:
    """Whether it was used, and then stands for itself, or was not."""
    many = [f"keys/{n}.key" for n in range(30)]
    assert texts(many, ["keys/own.key"]) == dict.fromkeys(many, 1)
    assert texts([*many, "keys/own.key"], ["keys/own.key"])["keys/own.key"] == 1
    assert texts(many) == {"keys/*.key": 30}


def test_nobody_asks_for_a_top_folder_of_the_host() -> None:
    """However much was read there."""
    many = [f"/opt/{n}/x.py" for n in range(100)]
    assert "/opt/**/*.py" not in texts(many)


def test_folders_named_as_wildcards_or_homes_are_folders_of_that_name() -> None:
    """A tool that makes a folder `**` or `~` does not ask for the workspace or the home by it."""
    in_folder, below = range(FEW_IN_FOLDER + 1), range(FEW_BELOW + 1)
    for name, spelled in (("**", "\\*\\*"), ("~", "./~"), ("~root", "./~root"), ("?", "\\?")):
        found = texts([f"{name}/{n}.txt" for n in in_folder])
        assert list(found) == [f"{spelled}/*.txt"]
        assert list(texts([f"{name}/{n}/x" for n in below])) == [f"{spelled}/"]
        assert not matches(Pattern.parse(*found), ["src", "1.txt"])


def test_a_pattern_that_would_be_too_long_is_not_made() -> None:
    """The files stand for themselves then."""
    folder = "f" * (MOST_CHARACTERS - len("/a/x.c"))
    many = [f"{folder}/{n}/x.c" for n in "abcdefghijklmnopqr"]
    assert texts(many) == dict.fromkeys(many, 1)


@given(_PATHS, _PATHS)
def test_all_that_was_seen_is_covered_and_nothing_that_is_apart(
    paths: list[str], apart: list[str]
) -> None:
    """The law of it."""
    found = narrowest(paths, apart)
    for path in paths:
        assert any(matches(each.pattern, path.split("/")) for each in found)
    for path in set(apart) - set(paths):
        assert not any(matches(each.pattern, path.split("/")) for each in found)
    assert sum(each.files for each in found) == len(set(paths))
    assert all(Pattern.parse(each.text) == each.pattern for each in found)

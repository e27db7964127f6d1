"""Which files of a real tree a pattern matches, within bounds."""

import os
from pathlib import Path

import pytest

from consentry.enforce.patternfiles import Budget, is_matched, pick
from consentry.enforce.roots import Root, bound_roots
from consentry.surface.automaton import matches
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import protected_roots

FILES = (
    "a.txt",
    "b.md",
    ".txt",
    "sub/a.txt",
    "sub/deep/a.txt",
    "sub/deep/a.md",
    "sub/deep/er/b.txt",
    "odd/a*b.txt",
    "odd/aXb.txt",
    "odd/\udcff.txt",
)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with these files."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


def _root(tree: Path, entry: str) -> Root:
    [root] = bound_roots(PatternScope.parse([entry]), tree, None, protected_roots())
    return root


PATTERNS = (
    "./*.txt",
    "./**/*.txt",
    "./sub/**/a.*",
    "./sub/*/*",
    "./s?b/*.txt",
    "./*/deep/**/*.txt",
    "./odd/a\\*b.txt*",
    "./odd/?.txt",
    "./odd/a?b.*",
    "./**/deep/**",
    "./sub/d*/",
    "./none/*",
    "./**/*a*.t*t",
)


@pytest.mark.parametrize("text", PATTERNS)
def test_a_pattern_picks_what_the_lattice_says_it_matches(tree: Path, text: str) -> None:
    """The walk and the automaton agree on every file."""
    root = _root(tree, text)
    picked = pick(root, (), Budget())
    assert picked is not None
    expected = {name for name in FILES if matches(root.pattern, name.split("/"))}
    assert {name for name in FILES if picked.has(str(tree / name))} == expected
    for name in FILES:
        if (tree / name).is_relative_to(root.path):
            assert is_matched(root, str(tree / name)) == (name in expected)


def test_patterns_that_must_match_together_do(tree: Path) -> None:
    """An entry that is a meet of two picks what both match."""
    both = PatternScope.parse(["./**/a*"]) & PatternScope.parse(["./sub/**/*.txt", "./*t"])
    entries = bound_roots(both, tree, None, protected_roots())
    found = [pick(root, (), Budget()) for root in entries]
    names = {name for name in FILES for each in found if each and each.has(str(tree / name))}
    assert names == {"a.txt", "sub/a.txt", "sub/deep/a.txt"}


def test_links_and_odd_kinds_are_not_picked(tree: Path) -> None:
    """What a link leads to has a path of its own; a pipe holds nothing to be read."""
    (tree / "link.txt").symlink_to("b.md")
    (tree / "folder").symlink_to("sub")
    os.mkfifo(tree / "pipe.txt")
    picked = pick(_root(tree, "./**/*.txt"), (), Budget())
    assert picked is not None
    names = {str(Path(each).relative_to(tree)) for each in picked.files}
    assert names == {name for name in FILES if name.endswith(".txt")}


def test_what_is_closed_is_not_entered(tree: Path) -> None:
    """Neither a closed file nor a folder around others."""
    closed = [str(tree / "sub/deep"), str(tree / "a.txt")]
    picked = pick(_root(tree, "./**/a.txt"), closed, Budget())
    assert picked is not None
    assert picked.files == {str(tree / "sub/a.txt")}


@pytest.mark.parametrize("budget", [Budget(matched=2), Budget(seen=5)])
def test_beyond_the_bound_there_is_no_answer(tree: Path, budget: Budget) -> None:
    """Half an answer would refuse what was granted."""
    assert pick(_root(tree, "./**/*.txt"), (), budget) is None


def test_a_folder_that_cannot_match_costs_nothing(tree: Path) -> None:
    """`*.txt` looks at its own folder and no deeper."""
    budget = Budget(seen=6)
    assert pick(_root(tree, "./*.txt"), (), budget) is not None

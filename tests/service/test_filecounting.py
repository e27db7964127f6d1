"""One walk for all patterns: it counts what the lattice says, bounded, and follows no link."""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consentry.service.filecounting import MOST_EXAMPLES, Counted, count_files, spelled
from consentry.surface.automaton import AllOf, Work, matches
from consentry.surface.entries import read_entry
from consentry.surface.pattern import Pattern, Vocabulary
from tests.surface.strategies import relative_patterns

FOLDERS = ("", "a/", "b/", "a/b/", "a/b/a/", "ab/", "a.b/", "b/.a/", "b/b.a/")
NAMES = ("a", "b", "ab", "aab", ".a", "a.b", "b.b", "x.a", "a*b", "new\nline.b", "\udcff.a", "é.b")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folders and files over a small alphabet, so that patterns often meet them."""
    root = tmp_path_factory.mktemp("tree")
    for folder in FOLDERS:
        (root / folder).mkdir(exist_ok=True)
    for folder in FOLDERS:
        for size, name in enumerate(NAMES):
            if not (root / folder / name).exists():
                (root / folder / name).write_bytes(b"x" * size)
    return root


def entries(*spellings: str) -> list[AllOf]:
    """As a scope would hold them."""
    return [read_entry(text, Vocabulary.PATH, Work()) for text in spellings]


def files_of(tree: Path) -> Iterator[str]:
    """All that is no folder, by its path in the tree."""
    for folder, _, names in os.walk(tree):
        for name in names:
            yield str((Path(folder) / name).relative_to(tree))


def matched_by(tree: Path, entry: AllOf, denied: Sequence[AllOf] = ()) -> list[str]:
    """What the decision procedure says, file by file."""

    def is_in(which: AllOf, path: str) -> bool:
        return all(matches(pattern, path.split("/")) for pattern in which)

    return sorted(
        path
        for path in files_of(tree)
        if is_in(entry, path) and not any(is_in(deny, path) for deny in denied)
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    wanted=st.lists(relative_patterns, min_size=1, max_size=6),
    denied=st.lists(relative_patterns, max_size=2),
)
def test_counts_are_those_of_the_lattice(tree: Path, wanted: list[str], denied: list[str]) -> None:
    """CONSENT §prompt-2: for any patterns together, each gets the number that it has alone."""
    closed = entries(*denied)
    found = count_files(tree, entries(*wanted), denied=closed)
    for text, counted in zip(wanted, found.matched, strict=True):
        real = matched_by(tree, entries(text)[0], closed)
        assert counted.files == len(real)
        assert counted.is_whole
        assert set(counted.examples) <= {spelled(path) for path in real}
        assert len(counted.examples) == min(len(real), MOST_EXAMPLES)


def test_many_patterns_are_counted_as_few_are(tree: Path) -> None:
    """Where there are too many words to look for one by one, the answer is the same."""
    wanted = [f"**/{name}{number}" for number in range(20) for name in ("*.a", "a", "b.b")]
    wanted += ["**/*.a", "**/a", "**/b.b", "**/*.b"]
    for text, counted in zip(wanted, count_files(tree, entries(*wanted)).matched, strict=True):
        assert counted.files == len(matched_by(tree, entries(text)[0]))


def test_an_entry_of_two_patterns_takes_what_both_match(tree: Path) -> None:
    """What a meet leaves where no single pattern can say it."""
    [entry] = entries("**/b/* \\& a/**/*b")
    assert len(entry) == 2
    [counted] = count_files(tree, [entry]).matched
    assert counted.files == len(matched_by(tree, entry)) > 0


def test_examples_are_the_first_by_folder_and_name(tree: Path) -> None:
    """The same tree gives the same examples, in an order that does not depend on the disk."""
    [counted] = count_files(tree, entries("**/*.b")).matched
    in_root = sorted(name for name in NAMES if name.endswith(".b") and name != "a.b")
    in_first = sorted(f"a/{name}" for name in NAMES if name.endswith(".b"))
    assert counted.examples[:7] == tuple(map(spelled, [*in_root, *in_first]))
    assert count_files(tree, entries("**/*.b")).matched == (counted,)


def test_a_name_that_is_not_utf8_has_a_spelling(tree: Path) -> None:
    """Names are spelled as patterns are, so that what is kept is valid text."""
    [counted] = count_files(tree, entries("b/\\xff.a")).matched
    assert counted.examples == ("b/\\xff.a",)
    assert Pattern.parse(counted.examples[0]).prefix == ("b", "\udcff.a")


def test_sizes_are_added_up_and_a_file_of_two_patterns_counts_once(tmp_path: Path) -> None:
    """What could be lost is the union, with the largest first."""
    for name, size in (("a.log", 10), ("b.log", 30), ("c.txt", 5)):
        (tmp_path / name).write_bytes(b"x" * size)
    found = count_files(tmp_path, (), sized=entries("*.log", "b.*"))
    assert [(each.files, each.bytes) for each in found.matched] == [(2, 40), (1, 30)]
    assert (found.sized.files, found.sized.bytes) == (2, 40)
    assert found.sized.largest == (("b.log", 30), ("a.log", 10))


def test_links_are_counted_and_not_followed(tmp_path: Path) -> None:
    """A link out of the workspace brings none of what it leads to, and a loop does not last."""
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "secret.txt").write_text("x" * 1000)
    (inside / "away").symlink_to(outside)
    (inside / "self").symlink_to(inside)
    (inside / "file.txt").symlink_to(outside / "secret.txt")
    found = count_files(inside, entries("**/*.txt"), sized=entries("./"))
    assert found.matched[0].examples == ("file.txt",)
    assert found.sized.files == 3
    assert found.sized.bytes < 1000


def test_beyond_the_bound_there_are_at_least_so_many(tmp_path: Path) -> None:
    """A tree that is too large is counted as far as the bound, and the answer says so."""
    for folder in ("a", "b", "c"):
        (tmp_path / folder).mkdir()
        for number in range(40):
            (tmp_path / folder / f"{number}.txt").touch()
    wanted = entries("**/*.txt", "a/*.txt", "nothing")
    found = count_files(tmp_path, wanted, most_seen=100)
    assert 0 < found.matched[0].files < 120
    assert not found.matched[0].is_whole
    whole = count_files(tmp_path, wanted)
    assert [(each.files, each.is_whole) for each in whole.matched] == [
        (120, True),
        (40, True),
        (0, True),
    ]


def test_a_folder_that_cannot_be_listed_is_not_guessed(tmp_path: Path) -> None:
    """At least what was seen elsewhere; patterns that do not reach it are whole."""
    (tmp_path / "a.txt").touch()
    above = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):  # deeper than any path can be long
        os.mkdir("d" * 250, dir_fd=above)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=above)
        os.close(above)
        above = below
    os.close(above)
    found = count_files(tmp_path, entries("**/*.txt", "*.txt"))
    assert [(each.files, each.is_whole) for each in found.matched] == [(1, False), (1, True)]


def test_a_folder_that_is_gone_is_not_guessed(tmp_path: Path) -> None:
    """A workspace that is not there has at least nothing."""
    found = count_files(tmp_path / "gone", entries("*"), sized=entries("**/x"))
    assert [(each.files, each.is_whole) for each in found.matched] == [(0, False), (0, False)]
    assert not found.sized.is_whole


def test_hostile_wildcards_and_names_take_no_longer_than_others(tmp_path: Path) -> None:
    """A name and a pattern made to be tried in every way are answered at once, and rightly."""
    (tmp_path / ("a" * 255)).touch()
    hostile = "*".join("a" * 40) + "*b"
    found = count_files(tmp_path, entries(hostile, "*a" * 40 + "*"))
    assert [each.files for each in found.matched] == [0, 1]


def test_working_out_patterns_counts_against_the_bound(tmp_path: Path) -> None:
    """Thousands of patterns over many folders end at the bound instead of taking hours."""
    for number in range(30):
        (tmp_path / f"d{number}").mkdir()
    many = [entries(f"d{number}/**/x{number}/?y")[0] for number in range(2000)]
    found: Counted = count_files(tmp_path, many, most_seen=10_000)
    assert not all(each.is_whole for each in found.matched)

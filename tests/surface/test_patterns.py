"""Containment of pattern scopes, decided, held against a brute-force matcher (CONTRACTS §9)."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.surface.automaton import Work, find_path, matches
from consentry.surface.pattern import Anchor, Pattern, Vocabulary
from consentry.surface.patterns import PatternScope
from tests.surface.bruteforce import all_paths, path_matches
from tests.surface.strategies import name_patterns, relative_patterns

EVERY_PATH = all_paths("ab.", 6)
LITERALS = [(path, (Pattern.literal(Anchor.WORKSPACE, path),)) for path in EVERY_PATH]


def scope(*patterns: str) -> PatternScope:
    """A scope of path patterns."""
    return PatternScope.parse(patterns)


def matched_by_any(patterns: list[str], names: tuple[str, ...]) -> bool:
    """What the brute-force matcher says of a list of patterns."""
    return any(path_matches(pattern, names) for pattern in patterns)


@given(relative_patterns)
def test_a_pattern_matches_what_the_rules_say(pattern: str) -> None:
    """On every path up to length 6 the automaton and the plain matcher agree."""
    parsed = Pattern.parse(pattern)
    wrong = [p for p in EVERY_PATH if matches(parsed, p) != path_matches(pattern, p)]
    assert wrong == []


@given(st.lists(relative_patterns, max_size=3), st.lists(relative_patterns, max_size=4))
def test_containment_agrees_with_brute_force(narrow: list[str], wide: list[str]) -> None:
    """Covered: no path up to length 6 says otherwise. Not covered: the counterexample is real."""
    covered = scope(*narrow) <= scope(*wide)
    missed = [p for p in EVERY_PATH if matched_by_any(narrow, p) and not matched_by_any(wide, p)]
    if covered:
        assert missed == []
        return
    example = scope(*narrow).counterexample(scope(*wide))
    assert example is not None
    names = tuple(Pattern.parse(example).prefix)
    assert matched_by_any(narrow, names)
    assert not matched_by_any(wide, names)


@given(st.lists(relative_patterns, max_size=3), st.lists(relative_patterns, max_size=3))
def test_meet_and_join_match_exactly_what_they_should(one: list[str], other: list[str]) -> None:
    """A meet matches a path when both sides do, a join when either does, and nothing else."""
    met, joined = scope(*one) & scope(*other), scope(*one) | scope(*other)
    for path, literal in LITERALS:
        by_one, by_other = matched_by_any(one, path), matched_by_any(other, path)
        assert met.index.covers(literal, Work()) == (by_one and by_other), path
        assert joined.index.covers(literal, Work()) == (by_one or by_other), path


@given(relative_patterns, relative_patterns)
def test_two_patterns_are_apart_exactly_when_no_path_is_in_both(one: str, other: str) -> None:
    """The meet is empty only if the search finds no path; a path that it finds is in both."""
    example = find_path((Pattern.parse(one), Pattern.parse(other)))
    if example is None:
        assert not any(path_matches(one, p) and path_matches(other, p) for p in EVERY_PATH)
    else:
        names = tuple(Pattern.parse(example).prefix)
        assert path_matches(one, names)
        assert path_matches(other, names)


@given(st.lists(relative_patterns, max_size=4))
def test_a_scope_reads_back_as_itself(patterns: list[str]) -> None:
    """Writing and reading a scope gives the same spelling, all-of entries included."""
    once = scope(*patterns)
    assert list(scope(*once)) == list(once)
    met = once & scope("a*/", "*b")
    assert list(scope(*met)) == list(met)
    assert scope(*met) == met


@given(st.lists(name_patterns, max_size=3), st.lists(name_patterns, max_size=3))
def test_names_follow_the_same_rules(narrow: list[str], wide: list[str]) -> None:
    """Environment names use `*` and `?` over one name."""
    assume(all("/" not in name for name in narrow + wide))
    one = PatternScope.parse(narrow, Vocabulary.NAME)
    other = PatternScope.parse(wide, Vocabulary.NAME)
    if one <= other:
        for path in EVERY_PATH:
            if len(path) == 1:
                name = path[0].upper()
                hit = matched_by_any([n.replace("_", "B") for n in narrow], (name,))
                assert not hit or matched_by_any([n.replace("_", "B") for n in wide], (name,))


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        (["latex/main.tex"], ["latex/*.tex"]),
        (["latex/a/b.tex"], ["latex/**/*.tex"]),
        (["latex/b.tex"], ["latex/**/*.tex"]),
        (["latex/**/*.tex"], ["latex/"]),
        (["latex/"], ["latex/**"]),
        (["latex/"], ["latex", "latex/*/**"]),
        (["a/*"], ["a/?", "a/??*"]),
        (["a/**/c/d"], ["a/c/d", "a/*/**/c/d"]),
        (["*x"], ["x", "?*x"]),
        ([".*"], [".?*"]),
        (["./a//b/../c"], ["a/c"]),
        (["data"], ["data/"]),
        (["**/.git/"], ["**"]),
        (["/usr/lib/x"], ["/"]),
        (["~/notes/x"], ["~/"]),
    ],
)
def test_covered(narrow: list[str], wide: list[str]) -> None:
    """Containments that hold, several of them only by the union of the entries."""
    assert scope(*narrow) <= scope(*wide)


@pytest.mark.parametrize(
    ("narrow", "wide", "example"),
    [
        (["latex/**/*.tex"], ["latex/*.tex"], "latex/y/.tex"),
        (["data/"], ["data"], "data/x"),
        (["data/"], ["data/*"], "data"),
        (["Data/x"], ["data/"], "Data/x"),
        (["a*"], ["a?"], "a"),
        (["latex/../etc/x"], ["latex/"], "etc/x"),
        (["/data/x"], ["data/"], "/data/x"),
        (["~/data/x"], ["/"], "~/data/x"),
        (["ABSOLUTE_PATH"], ["./", "/", "~/"], "ABSOLUTE_PATH"),
        (["./ABSOLUTE_PATH"], ["ABSOLUTE_PATH"], "./ABSOLUTE_PATH"),
    ],
)
def test_not_covered(narrow: list[str], wide: list[str], example: str) -> None:
    """Containments that fail, each with the path that shows it."""
    assert not scope(*narrow) <= scope(*wide)
    assert scope(*narrow).counterexample(scope(*wide)) == example


@pytest.mark.parametrize(
    ("one", "other", "met"),
    [
        ("latex/**/*.tex", "latex/*", ["latex/*.tex"]),
        ("**/*.tex", "latex/", ["latex/**/*.tex"]),
        ("*.tex", "main*", ["main*.tex"]),
        ("data/", "data/x/", ["data/x/"]),
        ("data/", "output/", []),
        ("/data/", "data/", []),
        ("*ab", "ba*", ["*ab \\& ba*"]),
    ],
)
def test_a_meet_is_one_pattern_where_one_can_say_it(one: str, other: str, met: list[str]) -> None:
    """Otherwise the two are kept as an all-of entry, which reads back as the same scope."""
    result = scope(one) & scope(other)
    assert list(result) == met
    assert scope(*result) == result


def test_patterns_too_entangled_to_decide_are_refused_the_same_way_every_time() -> None:
    """The bound is a number of steps, so the answer never depends on the machine; it is a no."""
    hard = Pattern.parse("**/" + "*a" * 40 + "*/**/b*")
    rival = Pattern.parse("**/" + "*a" + "?" * 60 + "*/**")
    for _ in range(2):
        with pytest.raises(BadInput) as caught:
            find_path((hard,), ((rival,),))
        assert caught.value.code == "surface-too-complex"


def test_ten_thousand_entries_are_still_decided_one_by_one() -> None:
    """An index leads to the few entries that matter; the answers stay exact."""
    folders = [f"dir{number}/" for number in range(5000)]
    files = [f"src/file{number}.py" for number in range(5000)]
    granted = scope(*folders, *files)
    assert scope("dir4321/deep/er.txt", "src/file77.py", "dir9/**/*.tex") <= granted
    assert not scope("dir5000/x") <= granted
    assert not scope("src/file5000.py") <= granted
    assert not scope("src/") <= granted

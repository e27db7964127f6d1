"""YAML that is wrong, or that is YAML and not taken: the exact place and what to do."""

import pytest

from consentry.declare.nodes import MOST_DEPTH, MOST_NODES
from consentry.declare.source import MOST_BYTES
from tests.declare.reading import problems_with, values_of

CORRECT = "correct the line, or the one before it"
WRITE_OUT = "write the value out in each place"
NO_TAG = "leave the tag out; quotes make a value text"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "1:1: the document is empty; write the document, or remove the file"),
        ("# only a remark\n", "1:1: the document is empty; write the document, or remove the file"),
        (
            "a: [1, 2\nb: 3\n",
            (
                "2:2: this is not YAML: expected ',' or ']', but got ':', while parsing a flow sequence"
                f" that begins in line 1; {CORRECT}"
            ),
        ),
        ("a: b: c\n", f"1:5: this is not YAML: mapping values are not allowed here; {CORRECT}"),
        (
            "a:\n\tb: 1\n",
            (
                "2:1: this is not YAML: found character '\\t' that cannot start any token, while "
                "scanning for the next token; use spaces; YAML takes no tab there"
            ),
        ),
        ('a: "\\UFFFFFFFF"\n', "1:7: this is not YAML: a number here is out of range; correct it"),
        (
            f"%YAML {'9' * 5000}.1\n--- a\n",
            "1:7: this is not YAML: a number here is out of range; correct it",
        ),
        ("a: 1\n---\nb: 2\n", "2:1: a second document begins here; use one file for each document"),
        (
            "%YAML 1.1\n---\na: 1\n",
            "1:1: a directive stands here; leave out the lines that begin with `%`",
        ),
        (
            "%TAG ! tag:x,2000:\n--- a\n",
            "1:1: a directive stands here; leave out the lines that begin with `%`",
        ),
        ("a: &x 1\n", f"1:4: a: `&x` is an anchor, and none is taken; {WRITE_OUT}"),
        ("&x a: 1\n", f"1:1: `&x` is an anchor, and none is taken; {WRITE_OUT}"),
        ("a: [*x]\n", f"1:5: a[0]: `*x` is an alias, and none is taken; {WRITE_OUT}"),
        ("a: !x 1\n", f"1:4: a: `!x` is a tag, and none is taken; {NO_TAG}"),
        ("a: ! 1\n", f"1:4: a: `!` is a tag, and none is taken; {NO_TAG}"),
        (
            "a: !!str 1\n",
            f"1:4: a: `tag:yaml.org,2002:str` is a tag, and none is taken; {NO_TAG}",
        ),
        (
            "a: !!python/object/apply:os.system [id]\n",
            (
                "1:4: a: `tag:yaml.org,2002:python/object/apply:os.system` is a tag, and none is taken; "
                f"{NO_TAG}"
            ),
        ),
    ],
)
def test_refused(text: str, said: str) -> None:
    """Line and column are those an editor shows."""
    assert problems_with(text) == [f"d.yaml:{said}"]


def test_several_are_told_together() -> None:
    """Anchors, aliases and tags do not stop the reading; what they hold is left out."""
    text = "a: &x [1, *x]\nb: *x\nc: !t {d: 1}\n"
    assert [said.split(": ")[:2] for said in problems_with(text)] == [
        ["d.yaml:1:4", "a"],
        ["d.yaml:2:4", "b"],
        ["d.yaml:3:4", "c"],
    ]


def test_a_start_and_an_end_of_the_document_may_be_marked() -> None:
    """`---` and `...` around a single document are ordinary YAML."""
    assert values_of("---\na: 1\n...\n") == {"a": 1}


# Bombs


def laughs(levels: int) -> str:
    """The billion laughs: each line stands for nine of the line before."""
    lines = ["a0: &a0 [lol]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, levels)]
    return "\n".join(lines)


def test_aliases_expand_to_nothing() -> None:
    """Each anchor is refused as it is written, and no alias is followed."""
    said = problems_with(laughs(20))
    assert len(said) == 20
    assert all("is an anchor, and none is taken" in each for each in said)


@pytest.mark.parametrize("opening", ["[", "{", "- ", "? ", "[{a: "])
def test_nesting_is_left_where_it_becomes_too_deep(opening: str) -> None:
    """However deep it would go on: neither a recursion error nor a wait for the end."""
    [said] = problems_with(opening * (MOST_BYTES // len(opening)))
    assert f"this is nested deeper than {MOST_DEPTH}" in said


def test_the_greatest_depth_is_read() -> None:
    """One less than too deep."""
    deep = "[" * MOST_DEPTH + "]" * MOST_DEPTH
    assert values_of(deep) is not None
    assert problems_with(f"[{deep}]")


def test_many_values_are_left_where_they_become_too_many() -> None:
    """The limit itself is read."""
    assert problems_with("- a\n" * MOST_NODES) == [
        f"d.yaml:{MOST_NODES}:3: the document has more than 20,000 values; use several documents"
    ]
    assert values_of("- a\n" * (MOST_NODES - 1)) == ["a"] * (MOST_NODES - 1)

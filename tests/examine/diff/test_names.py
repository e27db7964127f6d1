"""Names in diffs: quoted, bare, with prefixes, and what no name may be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.examine.diff.names import (
    MOST_PATH,
    BadName,
    are_both,
    checked_path,
    label_of,
    name_of,
    same_name,
    unquoted_start,
)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (rb'"a/\303\244"', "a/ä".encode()),
        (rb'"\a\b\t\n\v\f\r\"\\"', b'\a\b\t\n\v\f\r"\\'),
        (rb'"\000\377"', b"\0\xff"),
        (rb'""', b""),
        (b'"\xc3\xa4 b"', "ä b".encode()),
        (b"plain name", b"plain name"),
        (b"\xff\xfe", b"\xff\xfe"),
    ],
)
def test_a_name_is_read(text: bytes, name: bytes) -> None:
    """In quotes with the escapes of C, or as it is."""
    assert name_of(text) == name


@pytest.mark.parametrize(
    "text",
    [
        b'"',
        b'"a',
        rb'"a\"',
        rb'"\400"',
        rb'"\18"',
        rb'"\x41"',
        b'"a"b',
        b'"a\tb"',
        b'a"b',
        b"a\\b",
        b"a\tb",
        b"a\rb",
        b"a\x7f",
    ],
)
def test_a_name_is_not_read(text: bytes) -> None:
    """An escape that is none, no end, something behind it, or what should have been quoted."""
    with pytest.raises(BadName):
        name_of(text)


def test_a_label_may_have_a_tab_behind_it() -> None:
    """And a date behind that."""
    assert label_of(b"a/x y\t") == (b"a/x y", b"")
    assert label_of(b'"a/\\t y"\t') == (b"a/\t y", b"")
    assert label_of(b"a/x") == (b"a/x", None)
    assert label_of(b"a/x\t2024-01-01") == (b"a/x", b"2024-01-01")


@pytest.mark.parametrize(
    "path",
    [b"", b"/", b"/x", b"x/", b"x//y", b".", b"./x", b"..", b"x/../y", b"x\0y", b"x" * (MOST_PATH + 1)],
)  # fmt: skip
def test_what_no_path_of_a_tree_is(path: bytes) -> None:
    """Absolute, empty, climbing, too long."""
    with pytest.raises(BadName):
        checked_path(path)


def test_a_path_may_look_odd() -> None:
    """Three dots, a leading dash and bytes that are no text are names like any other."""
    for path in (b"...", b"-x", b"\xff", b"x /y", b".git/hooks/x", b"a..b"):
        assert checked_path(path) == path


@given(st.binary(min_size=1, max_size=40), st.booleans())
def test_two_equal_names_are_told_apart(name: bytes, quoted: bool) -> None:  # noqa: FBT001 - generated
    """Wherever the spaces are: `a/NAME b/NAME` has one reading."""
    path = name.replace(b"/", b"_").replace(b"\0", b"_")
    octal = b"".join(b"\\%03o" % byte for byte in path)
    if path in (b".", b".."):
        return
    if quoted or set(path) & {*b'"\\', *range(32), 127}:
        text = b'"a/' + octal + b'" "b/' + octal + b'"'
    else:
        text = b"a/" + path + b" b/" + path
    assert same_name(text) == path


@given(st.binary(max_size=60))
def test_no_text_is_misread(text: bytes) -> None:
    """A name or a refusal, and nothing else."""
    for read in (name_of, label_of, unquoted_start, same_name):
        try:
            found = read(text)
        except BadName:
            continue
        assert isinstance(found, bytes | tuple)


def test_two_names_that_differ() -> None:
    """Each may be in quotes or not."""
    assert are_both(b"a/x b/y", b" ", b"a/x", b"b/y")
    assert are_both(b'a/x y "b/\\t"', b" ", b"a/x y", b"b/\t")
    assert are_both(b'"a/\\t" b/y', b" ", b"a/\t", b"b/y")
    assert are_both(b"a/x and y and b/z", b" and ", b"a/x and y", b"b/z")
    assert not are_both(b"a/x b/y z", b" ", b"a/x", b"b/y")
    assert not are_both(b"a/xb/y", b" ", b"a/x", b"b/y")

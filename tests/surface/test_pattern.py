"""How one pattern is read and spelled (CONTRACTS §9 patterns)."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import BadInput
from consentry.surface.automaton import matches
from consentry.surface.pattern import MOST_CHARACTERS, Anchor, Pattern, Vocabulary, Wildcard


@pytest.mark.parametrize(
    ("given_text", "canonical"),
    [
        ("./data", "data"),
        ("data//x/./y", "data/x/y"),
        ("data/**", "data/"),
        ("data/**/**/x", "data/**/x"),
        ("data/x/..", "data"),
        ("a**b", "a*b"),
        ("a*?b", "a?*b"),
        ("*?*?", "??*"),
        (".", "."),
        ("./", "./"),
        ("**", "./"),
        ("/", "/"),
        ("//", "/"),
        ("/.", "/."),
        ("~", "~"),
        ("~/", "~/"),
        ("./~x", "./~x"),
        ("a/~x", "a/~x"),
        (r"a\*b", r"a\*b"),
        (r"a\xffb", r"a\xffb"),
        (r"a\xc3\xa9", "aé"),
        ("a\udcffb", r"a\xffb"),
        ("a/../ABSOLUTE_PATH", "./ABSOLUTE_PATH"),
    ],
)
def test_spelling(given_text: str, canonical: str) -> None:
    """Each way of writing a pattern has one canonical spelling, which reads back as itself."""
    pattern = Pattern.parse(given_text)
    assert pattern.text == canonical
    assert Pattern.parse(canonical) == pattern


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "surface-pattern"),
        ("a\0b", "surface-pattern"),
        ("..", "surface-pattern-leaves"),
        ("a/../../b", "surface-pattern-leaves"),
        ("/..", "surface-pattern-leaves"),
        ("~/..", "surface-pattern-leaves"),
        ("a/**/..", "surface-pattern"),
        ("~other/x", "surface-pattern"),
        ("a\\b", "surface-pattern"),
        ("a\\", "surface-pattern"),
        (r"a\x41", "surface-pattern"),
        ("a\ud800b", "surface-pattern"),
        ("a" * (MOST_CHARACTERS + 1), "surface-pattern"),
        (r"a \& b", "surface-pattern"),
    ],
)
def test_refused(text: str, code: str) -> None:
    """What no path can be, or what has no single meaning, gets one error with a stable code."""
    with pytest.raises(BadInput) as caught:
        Pattern.parse(text)
    assert caught.value.code == code
    assert caught.value.help_line


@given(st.text(max_size=20))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No input crashes the reader, and what it reads is spelled so that it reads the same."""
    for vocabulary in Vocabulary:
        try:
            pattern = Pattern.parse(text, vocabulary)
        except BadInput:
            continue
        assert Pattern.parse(pattern.text, vocabulary) == pattern


@given(st.binary(min_size=1, max_size=12).filter(lambda b: b"/" not in b and b"\0" not in b))
def test_every_file_name_can_be_said_literally(name: bytes) -> None:
    """Any bytes a kernel accepts as a name have a literal pattern that matches just that name."""
    if name in (b".", b".."):
        return
    text = os.fsdecode(name)
    pattern = Pattern.literal(Anchor.WORKSPACE, (text,))
    assert Pattern.parse(pattern.text) == pattern
    assert matches(pattern, (text,))
    assert not matches(pattern, (text + "x",))


def test_links_are_never_resolved_here(tmp_path: Path) -> None:
    """A link on disk changes no pattern: whoever binds a pattern resolves links first, once."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    through_link = Pattern.parse(f"{tmp_path}/link/x")
    assert through_link.text == f"{tmp_path}/link/x"
    assert through_link != Pattern.parse(f"{tmp_path}/real/x")


def test_case_and_unicode_are_not_folded() -> None:
    """Bytes are compared: two spellings of the same-looking name are two names."""
    assert not matches(Pattern.parse("Data"), ("data",))
    assert not matches(Pattern.parse("é"), ("e\u0301",))


def test_names_with_a_leading_dot_match_like_others() -> None:
    """`*` does not skip hidden files: what is granted is what is written."""
    assert matches(Pattern.parse("*"), (".env",))
    assert matches(Pattern.parse("src/**/*.py"), ("src", ".hidden", "x.py"))


def test_a_bare_command_is_looked_up_and_a_path_is_not() -> None:
    """`git` is whatever PATH finds; `./git` is that file in the workspace; they never meet."""
    bare = Pattern.parse("git", Vocabulary.COMMAND)
    local = Pattern.parse("./git", Vocabulary.COMMAND)
    assert bare.anchor is Anchor.COMMAND
    assert local.anchor is Anchor.WORKSPACE
    assert local.text == "./git"
    assert Pattern.parse("/usr/bin/git", Vocabulary.COMMAND).anchor is Anchor.ABSOLUTE


def test_a_tree_is_a_folder_and_all_below() -> None:
    """A trailing slash and `/**` say the same."""
    assert Pattern.parse("latex/").segments == ("latex", Wildcard.FOLDERS)
    assert Pattern.parse("latex/").is_tree
    assert not Pattern.parse("latex/*/").is_tree
    assert Pattern.parse("latex").is_literal

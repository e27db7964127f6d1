"""JSON values as YAML: they read back the same, and no text in them acts on its reader."""

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.yamltext import yaml_text

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALARS = st.none() | st.booleans() | st.integers() | TEXTS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=20,
)


@given(VALUES)
def test_what_is_written_reads_back(value: Any) -> None:
    """Lists in lists, empty ones, keys of any text, words that YAML takes for something else."""
    assert yaml.safe_load(yaml_text(value)) == value


@pytest.mark.parametrize(
    "word",
    ["yes", "NO", "null", "~", "1", "1e3", "0x1f", "2024-12-13", "12:30:00", "-", ".inf", "="],
)
def test_a_text_stays_a_text(word: str) -> None:
    """What looks like a number, a time or a truth value is quoted."""
    assert yaml.safe_load(yaml_text({"a": [word]})) == {"a": [word]}


@pytest.mark.parametrize("letter", ["\x1b", "\u202e", "\u200b", "\x7f", "\x85", "\u2028", "\n"])
def test_nothing_acts_on_a_terminal(letter: str) -> None:
    """Controls, marks of direction and what nobody sees are spelled by their numbers."""
    text = yaml_text({"path": f"a{letter}b"})
    assert letter not in text.rstrip("\n")
    assert yaml.safe_load(text) == {"path": f"a{letter}b"}


def test_it_looks_as_people_write_it() -> None:
    """Plain words without quotes, two spaces, a list under its key."""
    value = {
        "auditEntry": {"tool": {"name": "build-latex"}, "files": [{"path": "a b"}, {}], "none": []}
    }
    expected = 'auditEntry:\n  tool:\n    name: build-latex\n  files:\n    - path: "a b"\n    - {}\n  none: []\n'
    assert yaml_text(value) == expected

"""Fuzzing of every reader (GUARD §extract-closed): no exception, and the same twice."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consentry.examine.filekinds import FileKind, extract_file

NOT_READ = {
    FileKind.INERT,
    FileKind.INERT_BINARY,
    FileKind.BINARY,
    FileKind.OTHER,
    FileKind.PYTHON,
    FileKind.SETUP_SCRIPT,
    FileKind.JAVASCRIPT,
    FileKind.TYPESCRIPT,
    FileKind.TSX,
    FileKind.SHELL,
}
READ = sorted(set(FileKind) - NOT_READ)
WORDS = st.sampled_from(
    [
        "dependencies", "scripts", "run", "jobs", "steps", "uses", "services", "image", "command",
        "mcpServers", "args", "env", "hooks", "packages", "package", "name", "source", "git", "url",
        "cells", "cell_type", "code", "%%bash", "!x {y}", "$(x", "${x}", "${{ secrets.a", "FROM",
        "RUN <<E", "include", "-r x", "-e", "a @ b", "\\", "[x]", "a:", "\t@x", "=", "&a", "*a", "<<",
        "tool", "poetry", "project", "volumes", "environment", "features", "null", "@", "@/", "npx",
        "pip install", "import x", "#!/bin/sh", "node_modules/a", "\x85", "\u2028", "`", "'", '"',
    ]
)  # fmt: skip
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), WORDS, st.text(max_size=8))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(WORDS, inner, max_size=4)),
    max_leaves=25,
)
LINES = st.lists(st.lists(WORDS, max_size=5).map(" ".join), max_size=12).map("\n".join)


@pytest.mark.parametrize("kind", READ)
@settings(max_examples=25, deadline=None)
@given(content=st.one_of(st.binary(max_size=200), LINES.map(str.encode)))
def test_any_bytes(kind: FileKind, content: bytes) -> None:
    """Whatever stands in a file, its reader answers, and always the same."""
    assert extract_file(kind, content) == extract_file(kind, content)


@pytest.mark.parametrize("kind", READ)
@settings(max_examples=25, deadline=None)
@given(tree=TREES)
def test_any_shape(kind: FileKind, tree: object) -> None:
    """Values of any type where another is expected; JSON is YAML, too."""
    content = json.dumps(tree).encode("utf-8", "replace")
    for found in extract_file(kind, content).found:
        assert found.line >= 1


@pytest.mark.parametrize("kind", READ)
@pytest.mark.parametrize(
    "content",
    [
        b"[" * 30_000,
        b'{"a":' * 30_000,
        b"a: " * 3000,
        b"- " * 3000,
        b"a\\\n" * 20_000,
        b"\t" * 100_000,
        b" " * 100_000 + b"#",
        b"RUN " + b"<<A " * 2000,
        b"$(" * 20_000,
        b"${{" * 20_000,
        b"'" * 50_001,
        b"a@" * 20_000 + b":",
        b"x" * 200_000,
        b"# /// script\n" * 5000,
        b'"' + b"\\" * 50_001,
        b"\n" * 100_000,
        b"{{" * 50_000,
        b"${a:-" * 30_000,
        b'x = "' + b'\\"' * 30_000 + b"." * 200,
        b"  a" + b"/a" * 30_000,
        b"A=" + b"$(B)" * 100 + b"\nB=" + b"$(C)" * 100 + b"\nC=" + b"x" * 400 + b"\nx:\n\t$(A)\n",
        b"- &a " + b"x" * 200_000 + b"\n" + b"- *a\n" * 20_000,
    ],
    ids=lambda content: repr(content[:12]),
)
def test_large_and_deep(kind: FileKind, content: bytes) -> None:
    """Depth and repetition end in an answer, within the time that a test has."""
    assert extract_file(kind, content) is not None


def test_what_was_found_before_stays_found() -> None:
    """A file that becomes unreadable halfway keeps what it had, and is unclassified besides."""
    found = extract_file(FileKind.NOTEBOOK, b'{"cells": [{"cell_type": "code", "source": 5}')
    assert [each.key.split()[0] for each in found.unclassified] == ["unreadable"]

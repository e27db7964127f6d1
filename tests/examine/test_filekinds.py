"""Which extractor a file gets (GUARD §extract-1): by path, suffix and first line."""

import re
import tomllib
from importlib.resources import files

import pytest

from consentry.examine.filekinds import (
    FileKind,
    extract_file,
    extractor_for,
    kind_of,
)

SHELL = b"#!/bin/sh\ntrue\n"


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("a/b.py", "python"),
        ("conftest.py", "python"),
        ("sitecustomize.py", "python"),
        ("noxfile.py", "python"),
        ("SHOUT.PY", "python"),
        ("a.mjs", "javascript"),
        ("a.ts", "typescript"),
        ("a.d.ts", "inert"),
        ("a.tsx", "tsx"),
        ("run.sh", "shell"),
        ("a.pth", "pth"),
        ("a.pyi", "inert"),
        ("sub/pyproject.toml", "pyproject"),
        ("requirements-dev.txt", "requirements"),
        ("requirements/test.txt", "requirements"),
        ("dev-requirements.in", "requirements"),
        ("notes.txt", "inert"),
        ("Dockerfile", "dockerfile"),
        ("Dockerfile.dev", "dockerfile"),
        ("app.Dockerfile", "dockerfile"),
        ("docker-compose.override.yml", "compose"),
        (".github/workflows/ci.yml", "workflow"),
        ("sub/.github/workflows/ci.yaml", "workflow"),
        (".github/workflows/deep/ci.yml", "inert"),
        ("x/action.yml", "workflow"),
        (".github/dependabot.yml", "inert"),
        (".mcp.json", "agent-settings"),
        (".claude/settings.json", "agent-settings"),
        ("data/settings.json", "inert"),
        ("package.json", "package-json"),
        ("tsconfig.json", "inert"),
        ("Cargo.toml", "other"),
        ("CMakeLists.txt", "other"),
        ("go.sum", "other"),
        ("ruff.toml", "inert"),
        ("LICENSE", "inert"),
        (".gitattributes", "inert"),
        ("main.rs", "other"),
        ("main.go", "other"),
        ("x.c", "other"),
        ("fix.patch", "other"),
        ("x.ps1", "other"),
        ("x.pyx", "other"),
        ("nosuffix", "other"),
        ("x.so", "binary"),
        ("x.whl", "binary"),
        ("x.pyc", "binary"),
    ],
)
def test_names(path: str, kind: str) -> None:
    """By the whole path, then the name, then the suffix."""
    assert kind_of(path, b"x = 1\n") == kind


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("Makefile.py", "python"),
        ("Dockerfile.sh", "shell"),
        (".env.py", "python"),
        ("README.py", "python"),
        ("LICENSE.js", "javascript"),
        (".husky/hook.py", "python"),
        ("requirements.txt.py", "python"),
    ],
)
def test_a_name_does_not_hide_a_suffix_of_code(path: str, kind: str) -> None:
    """What can be imported is read as what it is."""
    assert kind_of(path, b"x = 1\n") == kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("#!/bin/sh", "shell"),
        ("#!/usr/bin/env bash", "shell"),
        ("#! /usr/bin/env -S python3 -u", "python"),
        ("#!/usr/bin/env -S PYTHONPATH=x python3", "python"),
        ("#!/usr/bin/python3.12", "python"),
        ("#!/usr/bin/env node", "javascript"),
        ("#!/usr/bin/make -f", "makefile"),
        ("#!/usr/bin/perl", "other"),
        ("#!", "other"),
    ],
)
def test_first_lines(line: str, kind: str) -> None:
    """A file without a known suffix is what its first line says; an inert one as well."""
    content = f"{line}\nx\n".encode()
    assert kind_of("tool", content) == kind
    assert kind_of("notes.md", content) == kind


@pytest.mark.parametrize("path", ["x.py", "x.js", "package.json", "pyproject.toml"])
def test_a_first_line_that_contradicts_the_suffix(path: str) -> None:
    """Two programs could run it: nobody reads it."""
    assert kind_of(path, SHELL) is FileKind.OTHER


def test_a_first_line_that_agrees() -> None:
    """Python with a first line for Python, and scripts for any program of scripts."""
    assert kind_of("setup.py", b"#!/usr/bin/env python\nx = 1\n") is FileKind.SETUP_SCRIPT
    assert kind_of("a.ts", b"#!/usr/bin/env -S deno run\nx\n") is FileKind.TYPESCRIPT
    assert kind_of("a.mjs", b"#!/usr/bin/env node\nx\n") is FileKind.JAVASCRIPT


def test_hooks_without_a_first_line_are_scripts() -> None:
    """Husky runs its hooks as scripts of the shell; a text beside them is a text."""
    assert kind_of(".husky/pre-commit", b"npm test\n") is FileKind.SHELL
    assert kind_of(".githooks/pre-push", b"#!/usr/bin/env python3\nx\n") is FileKind.PYTHON
    assert kind_of(".husky/README.md", b"x\n") is FileKind.INERT


def test_an_inert_file_that_may_be_executed_is_not_inert() -> None:
    """The right to be executed makes any text a program."""
    assert kind_of("notes.txt", b"x\n", executable=True) is FileKind.OTHER
    assert kind_of("notes.txt", SHELL, executable=True) is FileKind.SHELL
    assert kind_of("logo.png", b"\x89PNG\0", executable=True) is FileKind.OTHER


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.html", b"<p>x<SCRIPT>alert(1)</SCRIPT>"),
        ("a.html", b"<img src=x onerror=go()>"),
        ("a.svg", b'<svg onload="go()"/>'),
        ("a.svg", b"<svg><script/></svg>"),
        ("a.yaml", b"x: !!python/object/apply:os.system ['x']\n"),
        (".env", b"LD_PRELOAD=./x.so\n"),
        (".env", b"export NODE_OPTIONS=--require=./x.js\n"),
        (".env", b"A=$(whoami)\n"),
    ],
)
def test_marks_of_code_in_inert_files(path: str, content: bytes) -> None:
    """What looks inert and is not is unclassified."""
    assert extract_file(kind_of(path, content), content, path=path).unclassified


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("README.md", b"# Hello\n`eval(x)`, <script>\n"),
        ("a.html", b"<p>Tuition = 3</p>"),
        ("a.svg", b"<svg><path d='M0 0'/></svg>"),
        ("a.yaml", b"run: fast\ncommand: x\n"),
        ("a.json", b'{"scripts": {"x": "first"}}'),
        ("a.csv", b"a,b\n"),
        ("logo.png", b"\x89PNG\0\0"),
        (".env.example", b"TOKEN=\nLEVEL=info\n"),
        ("empty.rs", b""),
        ("__init__.py", b"\n"),
        ("po/de.po", b'msgid "x"\n'),
    ],
)
def test_inert_files_add_nothing(path: str, content: bytes) -> None:
    """A patch of words or pictures passes."""
    extraction = extract_file(kind_of(path, content), content, path=path)
    assert extraction.found == ()
    assert extraction.unclassified == ()


@pytest.mark.parametrize("path", ["a.md", "a.py", "a.js", "a.sh", "a.json", "pyproject.toml"])
def test_a_nul_in_what_should_be_text(path: str) -> None:
    """What one program stops at and another skips is unclassified."""
    content = b"x = 1\n\0\n"
    assert extract_file(kind_of(path, content), content, path=path).unclassified


def test_other_languages_are_compared_as_a_whole() -> None:
    """GUARD §extract-closed: the key is of all of the content; the reason names the suffix."""
    one, two = (extract_file(FileKind.OTHER, c, path="a/x.rs") for c in (b"fn a", b"fn b"))
    assert re.fullmatch(r"language sha256:[0-9a-f]{64}", one.unclassified[0].key)
    assert one.unclassified[0].key != two.unclassified[0].key
    assert ".rs" in one.unclassified[0].reason


def test_every_kind_that_is_read_has_an_extractor() -> None:
    """The table of extractors is whole."""
    unread = {FileKind.INERT, FileKind.INERT_BINARY, FileKind.BINARY, FileKind.OTHER}
    for kind in sorted(set(FileKind) - unread):
        assert callable(extractor_for(kind))


def test_the_table_names_only_kinds() -> None:
    """Every value in the table is a kind, or one of two words that decide later."""
    table = tomllib.loads(files("consentry.examine").joinpath("filekinds.toml").read_text())
    known = {*FileKind, "hook", "variables"}
    for key in ("paths", "names", "patterns", "suffixes", "interpreters"):
        assert set(table[key].values()) <= known

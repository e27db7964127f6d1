"""Attacks on what takes a token: repositories made piece by piece, and calls with the wrong things."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.decide.budgets import Budget
from consentry.decide.tokens import FsReadWriteCapability, NpmInstallCapability
from consentry.service.givenvalues import positive
from consentry.service.tokenfiles import TokenFiles
from tests.cli.conftest import CommandLine
from tests.service.test_tokens import code_of, recorded
from tests.service.tokening import Place, place_of

pytestmark = pytest.mark.timeout(120)


@pytest.fixture
def place(home: Path, project: Path) -> Iterator[Place]:
    """A project with a repository, and a desk."""
    with place_of(CommandLine(project, {"HOME": str(home), "PATH": "/usr/bin:/bin"})) as made:
        yield made


@pytest.fixture
def files(place: Place) -> TokenFiles:
    """The whole workspace."""
    wide = place.mint(FsReadWriteCapability, {"read": ["./"], "write": ["./"]})
    return TokenFiles.of(place.desk, wide)


def test_a_repository_is_not_made_with_its_head_last(place: Place, files: TokenFiles) -> None:
    """Hooks first and `HEAD` last is the same repository; where a token spells it out, it is made."""
    for folder in ("plain", "bare", "bare/hooks"):
        files.make_folder(folder)
    files.write("bare/hooks/pre-commit", b"#!/bin/sh\n")
    files.write("bare/config", b"")
    for name in ("HEAD", "head", "Head "):
        assert code_of(lambda n=name: files.write(f"bare/{n}", b"x")) is Code.TOKEN_REFUSED  # type: ignore[misc]
    assert not (place.project / "bare/HEAD").exists()
    files.write("plain/HEAD", b"x")
    named = place.mint(FsReadWriteCapability, {"write": ["bare/HEAD"]})
    TokenFiles.of(place.desk, named).write("bare/HEAD", b"x")
    assert (place.project / "bare/HEAD").read_bytes() == b"x"


@pytest.mark.parametrize("path", [b"a.txt", 5, None, Path, "", "a\0"])
def test_what_is_no_path_is_one_typed_error(files: TokenFiles, path: Any) -> None:
    """No traceback of ours for the wrong kind of thing."""
    for call in (files.read, files.list, files.remove, files.make_folder):
        assert code_of(lambda c=call: c(path)) is Code.USAGE  # type: ignore[misc]
    assert code_of(lambda: files.write(path, b"")) is Code.USAGE


def test_bytes_with_gaps_are_no_content(place: Place, files: TokenFiles) -> None:
    """Nothing is recorded, and nothing made."""
    assert code_of(lambda: files.write("x", memoryview(b"abc")[::2])) is Code.USAGE  # type: ignore[arg-type]
    assert not (place.project / "x").exists()


@pytest.mark.parametrize("given", ["3", True, [], {}])
def test_a_lifetime_is_a_number(given: Any) -> None:
    """As `exec` takes its limits."""
    assert code_of(lambda: positive("lifetime", given)) is Code.USAGE


@pytest.mark.parametrize("given", [[1], "fs_write", 3, [("fs_write", 1)]])
def test_a_budget_is_a_table(given: Any) -> None:
    """Anything else is one typed error."""
    assert code_of(lambda: Budget.of(given)) is Code.DECISION_FIELD


@pytest.mark.parametrize("registry", ["http://ada:word@localhost:9/", "http://x y/", "a\nb", 5])
def test_no_password_goes_on_record_with_an_address(place: Place, registry: Any) -> None:
    """What is recorded are all words of the command; this one is refused before."""
    token = place.mint(NpmInstallCapability, {"packages": ["left-pad"]})
    refusal = code_of(lambda: place.desk.npm_install(token, registry=registry))
    assert refusal is Code.USAGE
    assert "CapabilityUsed" not in {each["type"] for each in recorded(place)}

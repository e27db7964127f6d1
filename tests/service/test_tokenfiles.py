"""Files under a token: below its jail, within its patterns, and on record before they are touched."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.units import Duration
from consentry.decide.tokens import FsReadWriteCapability
from consentry.service.tokenfiles import TokenFiles
from tests.cli.conftest import CommandLine
from tests.service.test_tokens import code_of, recorded
from tests.service.tokening import Place, place_of

pytestmark = pytest.mark.timeout(120)

SCOPE = {"read": ["src/", "a.txt"], "write": ["out/", "b.txt"]}


@pytest.fixture
def place(home: Path, project: Path) -> Iterator[Place]:
    """A project with two folders."""
    with place_of(CommandLine(project, {"HOME": str(home), "PATH": "/usr/bin:/bin"})) as made:
        for name in ("src", "out", "other"):
            (project / name).mkdir()
            (project / name / "x").write_bytes(name.encode())
        yield made


@pytest.fixture
def files(place: Place) -> TokenFiles:
    """Those of a token."""
    return TokenFiles.of(place.desk, place.mint(FsReadWriteCapability, SCOPE))


def test_what_the_token_is_for_is_done(place: Place, files: TokenFiles) -> None:
    """TRUST §token-3: seen from outside, and each with its event."""
    assert files.read("src/x") == b"src"
    assert files.read("a.txt") == b"a\n"
    assert files.list("src") == ("x",)
    files.create("out/new", b"1")
    files.replace("out/new", b"2")
    files.write("out/new", b"3")
    files.write("out/newer", b"4")
    files.make_folder("out/folder")
    files.remove("out/x")
    found = {each.name for each in (place.project / "out").iterdir()}
    assert found == {"new", "newer", "folder"}
    assert (place.project / "out/new").read_bytes() == b"3"
    used = [each["payload"] for each in recorded(place) if each["type"] == "CapabilityUsed"]
    assert [(each["operation"], each["target"]) for each in used] == [
        ("read", "src/x"),
        ("read", "a.txt"),
        ("list", "src"),
        ("create", "out/new"),
        ("replace", "out/new"),
        ("replace", "out/new"),
        ("create", "out/newer"),
        ("make_folder", "out/folder"),
        ("remove", "out/x"),
    ]


def test_what_it_is_not_for_is_refused(place: Place, files: TokenFiles) -> None:
    """Other places, other directions, and names that lead out or around."""
    (place.project / "src/link").symlink_to(place.project / "other/x")
    (place.project / "src/out").symlink_to("/etc/hostname")
    (place.project / "out/link").symlink_to(place.project / "other")
    tried: list[Callable[[], object]] = [
        lambda: files.read("other/x"),
        lambda: files.read("out/x"),
        lambda: files.read("src/link"),
        lambda: files.read("src/out"),
        lambda: files.read("/etc/hostname"),
        lambda: files.read("src/../other/x"),
        lambda: files.list("."),
        lambda: files.write("src/x", b""),
        lambda: files.write("out/link/x", b""),
        lambda: files.remove("other/x"),
        lambda: files.create("other/new", b""),
    ]
    refused = {Code.TOKEN_REFUSED, Code.PATH_ESCAPE}
    assert [code_of(each) for each in tried if code_of(each) not in refused] == []
    assert "CapabilityUsed" not in [each["type"] for each in recorded(place)]
    assert (place.project / "other/x").read_bytes() == b"other"
    assert (place.project / "src/x").read_bytes() == b"src"


def test_names_that_others_obey_are_spelled_out_or_not_written(place: Place) -> None:
    """As in a box: a hook, a shell's file, our own configuration."""
    wide = TokenFiles.of(place.desk, place.mint(FsReadWriteCapability, {"write": ["./"]}))
    names = (".git/hooks/pre-commit", ".envrc", ".git/config", ".vscode")
    for name in names:
        assert code_of(lambda n=name: wide.write(n, b"x")) is Code.TOKEN_REFUSED, name  # type: ignore[misc]
        assert not (place.project / name).exists() or name == ".git/config"
    named = place.mint(FsReadWriteCapability, {"write": [".envrc"]})
    TokenFiles.of(place.desk, named).write(".envrc", b"x")
    assert (place.project / ".envrc").read_bytes() == b"x"


def test_a_token_that_does_not_hold_reads_and_writes_nothing(place: Place, tmp_path: Path) -> None:
    """Forged, expired, or for another workspace; with the check off the forged one writes."""
    token = place.mint(FsReadWriteCapability, SCOPE)
    forged = token.model_copy(update={"write": ("./",)})
    brief = place.mint(FsReadWriteCapability, SCOPE, life=Duration(1))
    os.sched_yield()
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    while place.desk.journal.clock.now() <= brief.expires_at:
        os.sched_yield()
    for each in (forged, brief):
        files = TokenFiles.of(place.desk, each)
        assert code_of(lambda f=files: f.create("out/new", b"")) is Code.TOKEN_REFUSED  # type: ignore[misc]
        assert code_of(lambda f=files: f.read("src/x")) is Code.TOKEN_REFUSED  # type: ignore[misc]
    assert code_of(lambda: TokenFiles.of(place.desk, token, elsewhere)) is Code.TOKEN_REFUSED
    assert code_of(lambda: TokenFiles.of(place.desk, None)) is Code.TOKEN_REFUSED
    assert not (place.project / "out/new").exists()
    TokenFiles.of(place.unsafe, forged).create("new", b"x")
    assert (place.project / "new").read_bytes() == b"x"


def test_a_budget_counts_writes_and_reads_apart(place: Place) -> None:
    """TRUST §token-6: "at most 2 writes"."""
    token = place.mint(FsReadWriteCapability, SCOPE, budget={"fs_write": 2})
    files = TokenFiles.of(place.desk, token)
    files.write("out/1", b"")
    files.remove("out/1")
    assert code_of(lambda: files.write("out/2", b"")) is Code.BUDGET_EXHAUSTED
    assert not (place.project / "out/2").exists()
    assert files.read("src/x") == b"src"


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_what_is_no_path_is_said_so(files: TokenFiles, path: str) -> None:
    """One typed error."""
    assert code_of(lambda: files.read(path)) is Code.USAGE
    assert code_of(lambda: files.write("out/x", "text")) is Code.USAGE  # type: ignore[arg-type]

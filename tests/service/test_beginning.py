"""A configuration is begun whole or not at all, and touches nothing that is there."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.declare.starters import Place
from consentry.service import beginning
from consentry.service.beginning import begin
from consentry.service.linting import is_clean, lint_here
from consentry.service.placedfile import PlacedFile, place_new
from consentry.service.surroundings import Surroundings

MakeAround = Callable[..., Surroundings]
PROGRAMS = {"PATH": "/usr/bin:/bin"}


def everything(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, with its content."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_a_begun_workspace_has_nothing_to_complain_of(around: MakeAround, project: Path) -> None:
    """CONTRACTS §12-files: what is written is read back without a problem or a note."""
    (project / "package.json").write_text(json.dumps({"scripts": {"hello": "sh -c true"}}))
    (project / "Makefile").write_text("hello:\n\t@echo hello\n")
    here = around(environ=PROGRAMS)
    begun = begin(here, Place.WORKSPACE)
    assert begun.folder == project / ".consentry"
    names = [name for name, _ in begun.written]
    assert names == [
        "consent-config.yaml",
        "sandbox-config.yaml",
        "tools/npm-hello.yaml",
        "tools/make-hello.yaml",
    ]
    report = lint_here(here)
    assert (report.documents, is_clean(report)) == (4, True)
    # The only note there can be is that this machine has no npm.
    assert all("program `n" in note.message for note in report.notes)


def test_the_users_own_is_begun_for_every_workspace(around: MakeAround, home: Path) -> None:
    """Nobody else can write there, and no tool is proposed from whatever lies around."""
    here = around(environ=PROGRAMS)
    begun = begin(here, Place.OWN)
    assert begun.folder == home / ".config/consentry"
    assert begun.folder.stat().st_mode & 0o777 == 0o700
    assert is_clean(lint_here(here))


def test_what_is_there_is_kept(around: MakeAround, project: Path) -> None:
    """Byte for byte; a second time changes nothing."""
    folder = project / ".consentry"
    (folder / "tools").mkdir(parents=True)
    (folder / "consent-config.yaml").write_text("# mine\n")
    (project / "Makefile").write_text("x:\n\ttrue\n")
    (folder / "tools/make-x.yaml").write_text("# mine, too\n")
    begun = begin(around(), Place.WORKSPACE)
    assert begun.kept == ("consent-config.yaml", "tools/make-x.yaml")
    before = everything(folder)
    assert before["consent-config.yaml"] == b"# mine\n"
    again = begin(around(), Place.WORKSPACE)
    assert (again.written, everything(folder)) == ((), before)


def test_a_trial_writes_nothing(around: MakeAround, project: Path) -> None:
    """And says the same."""
    tried = begin(around(), Place.WORKSPACE, is_trial=True)
    assert everything(project) == {}
    assert tried == begin(around(), Place.WORKSPACE)


def test_the_folder_that_counts_is_used(around: MakeAround, project: Path) -> None:
    """CONTRACTS §9-config: a second one would have the first ignored."""
    (project / ".paper/_cfg").mkdir(parents=True)
    assert begin(around(), Place.WORKSPACE).folder == project / ".paper/_cfg"
    assert not (project / ".consentry").exists()


@pytest.mark.parametrize("link", [".consentry", ".consentry/tools"])
def test_no_link_of_a_workspace_is_followed(
    around: MakeAround, project: Path, tmp_path: Path, link: str
) -> None:
    """A clone must not have documents written elsewhere, into the user's own configuration say."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (project / link).parent.mkdir(exist_ok=True)
    (project / link).symlink_to(elsewhere)
    with pytest.raises(UsageProblem) as caught:
        begin(around(), Place.WORKSPACE)
    assert caught.value.code is Code.FILE_UNUSABLE
    assert everything(elsewhere) == {}


def test_a_project_file_that_leads_elsewhere_is_not_read(
    around: MakeAround, project: Path, home: Path
) -> None:
    """A link to a file of the user's suggests nothing, and is told."""
    (home / "secret.json").write_text('{"scripts": {"leak": "x"}}')
    (project / "package.json").symlink_to(home / "secret.json")
    begun = begin(around(), Place.WORKSPACE)
    assert not any("leak" in name for name, _ in begun.written)
    assert any(said.startswith("package.json: ") for said in begun.left_out)


@pytest.mark.parametrize("size", [10_000_000])
def test_a_huge_project_file_is_left_alone(around: MakeAround, project: Path, size: int) -> None:
    """It is told, and the rest is done."""
    (project / "package.json").write_bytes(b" " * size)
    (project / "Makefile").write_text("x:\n\ttrue\n")
    begun = begin(around(), Place.WORKSPACE)
    assert ("tools/make-x.yaml", "Make the target `x` of Makefile") in begun.written
    assert any(said.startswith("package.json: ") for said in begun.left_out)


def test_a_disk_that_fills_leaves_nothing_half_done(
    around: MakeAround, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was written before is taken back; the failure of the disk is made, as none can be full here."""
    (project / "notes.txt").write_text("mine")
    placed: list[str] = []

    def full(name: str, content: bytes) -> PlacedFile:
        placed.append(name)
        if len(placed) == 2:
            raise UsageProblem(Code.FILE_UNUSABLE, f"`{name}`: {os.strerror(errno.ENOSPC).lower()}")
        return place_new(name, content)

    monkeypatch.setattr(beginning, "place_new", full)
    with pytest.raises(UsageProblem, match="no space left"):
        begin(around(), Place.WORKSPACE)
    assert sorted(path.name for path in project.iterdir()) == ["notes.txt"]


def test_a_folder_that_cannot_be_made_is_told(around: MakeAround, home: Path) -> None:
    """With the reason of the system."""
    (home / ".config").write_text("a file")
    with pytest.raises(UsageProblem) as caught:
        begin(around(), Place.OWN)
    assert caught.value.code is Code.FILE_UNUSABLE


def test_names_that_two_files_suggest_go_to_the_first(around: MakeAround, project: Path) -> None:
    """And the other is told."""
    (project / "package.json").write_text(json.dumps({"scripts": {"x": "true"}}))
    (project / "pyproject.toml").write_text("[project.scripts]\nnpm-x = 'a:b'\n")
    begun = begin(around(), Place.WORKSPACE)
    assert ("tools/npm-x.yaml", "Run the script `x` of package.json") in begun.written
    assert begun.left_out == (
        "Run `npm-x`, which pyproject.toml installs: another tool is called `npm-x`",
    )

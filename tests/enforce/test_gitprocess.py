"""Git as a process: how few are started, what bounds them, and that none is left behind."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.errors import BadInput
from consentry.enforce.gitobjects import ObjectReader
from consentry.enforce.gitplace import GitFolder, find_repository
from consentry.enforce.gitprocess import GitSetting, find_git, run_git
from consentry.enforce.gitrefs import References
from consentry.service.gitchange import STAGED, WORK_TREE
from consentry.service.gitselection import GitSelection
from tests.service.repositories import GIT, Repo


@pytest.fixture(autouse=True)
def none_left() -> Iterator[None]:
    """Every test leaves as many children as it found, zombies counted."""
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text("ascii").split()
    yield
    assert children.read_text("ascii").split() == before


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with two commits."""
    repo = Repo(tmp_path / "repo")
    repo.commit({"app.py": "one\n", "pkg/mod.py": "mod\n"})
    repo.commit({"app.py": "two\n"})
    return repo


@pytest.fixture
def setting(repo: Repo) -> Iterator[GitSetting]:
    """What git processes are told about that repository."""
    found = find_repository(repo.path)
    folder = GitFolder(found)
    folder.take_commits(References(found).ids_for(["HEAD"]))
    folder.take_index()
    yield folder.setting(Path(GIT))
    folder.close()
    assert not folder.path.exists()


@pytest.mark.parametrize(
    ("selection", "count"),
    [
        (GitSelection.parse("HEAD"), 1),
        (GitSelection.parse("HEAD~1..HEAD"), 1),
        (GitSelection.parse("HEAD~1...HEAD"), 2),
        (STAGED, 2),
        (WORK_TREE, 2),
    ],
)
def test_a_change_costs_one_or_two_processes(
    repo: Repo, tmp_path: Path, selection: GitSelection, count: int
) -> None:
    """All objects, both trees and every name are read through one process."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = tmp_path / "log"
    (folder / "git").write_text(f"#!/bin/sh\necho x >> '{log}'\nexec {GIT} \"$@\"\n")
    (folder / "git").chmod(0o755)
    repo.write({"app.py": "three\n", "new.py": "new\n"})
    with repo.read(selection, search_path=str(folder)) as change:
        for tree in (change.before_tree, change.after_tree):
            assert all(tree.read(name) is not None for name in tree.names())
    assert log.read_text().count("x") == count


def test_git_sees_nothing_of_our_environment(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The environment is made from nothing, and HOME is an empty folder."""
    folder = tmp_path / "bin"
    folder.mkdir()
    log = tmp_path / "log"
    (folder / "git").write_text(
        f"#!/bin/sh\n/usr/bin/env > '{log}'; /bin/ls -A \"$HOME\" >> '{log}'\nexec {GIT} \"$@\"\n"
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("A_TOKEN", "made-up")
    monkeypatch.setenv("LD_PRELOAD", "")
    with repo.read("HEAD", search_path=str(folder)):
        names = {line.partition("=")[0] for line in log.read_text().splitlines()}
    shells_own = {"PWD", "OLDPWD", "SHLVL", "_"}
    allowed = {"PATH", "HOME", "XDG_CONFIG_HOME", "LC_ALL"}
    assert {name for name in names - shells_own if not name.startswith("GIT_")} == allowed


def test_a_command_that_does_not_end_is_ended(repo: Repo, setting: GitSetting) -> None:
    """A pipe in place of a list of files to ignore holds git, and git alone."""
    os.mkfifo(repo.path / ".gitignore")
    with pytest.raises(BadInput, match="did not answer"):
        run_git(setting, ("ls-files", "--others", "--exclude-standard"), seconds=0.3)


def test_output_is_bounded(setting: GitSetting) -> None:
    """A command that writes more than was asked for is ended."""
    with pytest.raises(BadInput, match="wrote more than"):
        run_git(setting, ("ls-files", "-z"), most=5)
    assert run_git(setting, ("ls-files", "-z")).output == b"app.py\0pkg/mod.py\0"


def test_what_git_says_is_kept_for_the_message(setting: GitSetting) -> None:
    """The last line of its standard error is there to be told."""
    answer = run_git(setting, ("cat-file", "blob", "nothing"))
    assert answer.status == 128
    assert "nothing" in setting.said()


def test_objects_one_by_one_and_many_at_once(repo: Repo, setting: GitSetting) -> None:
    """More objects than fit a pipe, each larger than one, come in the order of the questions."""
    body = os.urandom(100_000).hex()
    ids = [
        repo.git("hash-object", "-w", "--stdin", given=f"{number} {body}".encode())
        for number in range(12)
    ]
    reader = ObjectReader(setting)
    try:
        found = list(reader.many(ids * 100))
        assert [each.id for each in found] == ids * 100
        assert found[3].content == f"3 {body}".encode()
        assert reader.named("HEAD^{tree}") is not None
        assert reader.named("nothing") is None
        assert reader.named("two\nlines") is None
        with pytest.raises(BadInput, match="is not in the repository"):
            reader.one("1" * 40)
        assert reader.one(ids[5]).content == f"5 {body}".encode()
    finally:
        reader.close()


def test_answers_that_nobody_took_are_not_taken_for_others(repo: Repo, setting: GitSetting) -> None:
    """Stopping in the middle of many objects leaves the reader in order."""
    ids = [repo.git("hash-object", "-w", "--stdin", given=b"%d" % n) for n in range(5)]
    reader = ObjectReader(setting)
    try:
        many = reader.many(ids)
        assert next(many).content == b"0"
        many.close()  # type: ignore[attr-defined]
        assert reader.one(ids[4]).content == b"4"
    finally:
        reader.close()


def test_an_object_beyond_the_bound_has_no_content(repo: Repo, setting: GitSetting) -> None:
    """Its size is told, its bytes are not waited for, and the next object is read."""
    large = repo.git("hash-object", "-w", "--stdin", given=b"x" * 5000)
    small = repo.git("hash-object", "-w", "--stdin", given=b"small")
    reader = ObjectReader(setting, most=1000)
    try:
        found = list(reader.many([small, large, small, large]))
        assert [each.content for each in found] == [b"small", None, b"small", None]
        assert found[1].size == 5000
    finally:
        reader.close()


def test_names_that_could_be_several_things_are_told_apart(repo: Repo) -> None:
    """Only names that were asked for are looked up, and `refs/…` in full is always one."""
    found = find_repository(repo.path)
    head = repo.git("rev-parse", "HEAD")
    repo.git("branch", "refs/heads/main", "HEAD~1")
    references = References(found)
    assert references.ids_for(["refs/heads/main"]) == {"refs/heads/main": head}
    assert references.ids_for(["main~1", "HEAD"]) == {"refs/heads/main": head, "HEAD": head}
    assert references.ids_for(["../../etc/passwd", "nothing", "a" * 40]) == {}
    (repo.path / ".git/refs/heads/loop").write_text("ref: refs/heads/loop\n")
    with pytest.raises(BadInput, match="does not lead to a reference"):
        references.ids_for(["loop"])
    (repo.path / ".git/refs/heads/rubbish").write_text("rubbish\n")
    with pytest.raises(BadInput, match="is not a reference"):
        references.ids_for(["rubbish"])


def test_folders_of_the_path_that_cannot_be_looked_into_are_passed_over() -> None:
    """As a shell does; one whose name is too long stands for one that may not be searched."""
    found = find_git(os.environ["PATH"])
    assert (
        find_git(os.pathsep.join(("/" + "x" * 5000, "/dev/null/bin", str(found.parent)))) == found
    )

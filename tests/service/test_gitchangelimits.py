"""What cannot be read of a repository is said, and never taken for nothing."""

import gc
import os
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.errors import BadInput, ConsentryError, UsageProblem
from consentry.declare.patchbundle import Blob
from consentry.enforce import gitplace
from consentry.service import gitfiles
from consentry.service.gitchange import STAGED, WORK_TREE, GitSelection, NotRead
from consentry.service.gitselection import Compared
from tests.service.repositories import Repo


@pytest.fixture(autouse=True)
def made(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Every read removes the folder that it made and ends the processes that it started."""
    folder = tmp_path_factory.mktemp("made")
    monkeypatch.setattr(gitplace, "_FOLDERS", (str(folder),))
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text("ascii").split()
    yield
    assert list(folder.iterdir()) == []
    assert children.read_text("ascii").split() == before


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """A repository with one commit of two files."""
    repo = Repo(tmp_path / "repo")
    repo.commit({"app.py": "one\n", "pkg/mod.py": "mod\n"})
    return repo


def test_a_file_that_changes_while_it_is_read_is_an_error(repo: Repo) -> None:
    """What was compared and what is read later are the same, or nothing is."""
    with repo.read(WORK_TREE) as change:
        repo.write({"app.py": "swapped\n"})
        with pytest.raises(BadInput, match="was changed while"):
            change.after_tree.read("app.py")


def test_large_files_are_named_as_not_read(repo: Repo) -> None:
    """A file beyond the bound is no part of what is known, in every selection."""
    large = b"x" * ((16 << 20) + 1)
    repo.write({"large.bin": large, "small.py": "s\n"})
    expected = (NotRead("large.bin", "it is too large to be read"),)
    with repo.read(WORK_TREE) as change:
        assert change.not_read == expected
        with pytest.raises(BadInput, match="larger than 16 MiB"):
            change.after_tree.read("large.bin")
    repo.git("add", "-A")
    with repo.read(STAGED) as change:
        assert change.not_read == expected
    repo.commit({})
    with repo.read("HEAD") as change:
        assert change.not_read == expected
        assert [each.path_after for each in change.changes] == ["large.bin", "small.py"]
        assert change.after_tree.read("small.py") == Blob(b"s\n")
        with pytest.raises(BadInput, match="larger than 16 MiB"):
            change.after_tree.read("large.bin")
        assert change.after_tree.read("small.py") == Blob(b"s\n")
    assert repo.changes(WORK_TREE) == ()


def test_files_together_are_bounded(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where all files together are too much, the rest is named as not read."""
    monkeypatch.setattr(gitfiles, "MOST_KEPT", 10)
    repo.commit({"a.py": "12345678", "b.py": "abcdefgh"})
    with repo.read("HEAD") as change:
        assert [each.path for each in change.not_read] == ["b.py"]


def test_more_changes_than_can_be_held_are_an_error(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A change of too many files is refused as a whole."""
    monkeypatch.setattr(gitfiles, "MOST_CHANGES", 3)
    repo.commit({f"{number}.py": f"{number}" for number in range(4)})
    with pytest.raises(BadInput, match="more than 3 files"):
        repo.read("HEAD")


def test_a_tree_that_holds_itself_many_times_over_is_refused(repo: Repo) -> None:
    """A few objects that stand for ten to the tenth files end in an error."""
    blob = repo.git("hash-object", "-w", "--stdin", given=b"x")
    tree = repo.git("mktree", given=f"100644 blob {blob}\tf\n".encode())
    for _ in range(10):
        rows = "".join(f"040000 tree {tree}\td{number}\n" for number in range(10))
        tree = repo.git("mktree", given=rows.encode())
    commit = repo.git("commit-tree", "-m", "bomb", tree)
    with pytest.raises(BadInput, match="more or longer names"):
        repo.read(commit)


def test_objects_that_are_missing_or_damaged_are_one_error(repo: Repo) -> None:
    """Whatever is wrong with the objects, there is one message and no traceback of git's."""
    repo.commit({"app.py": "two\n"})
    blob = repo.git("rev-parse", "HEAD:app.py")
    path = repo.path / f".git/objects/{blob[:2]}/{blob[2:]}"
    content = path.read_bytes()
    path.chmod(0o644)
    for damaged in (content[:-3], b"", b"rubbish", zlib.compress(b"blob 9\0two\n")):
        path.write_bytes(damaged)
        with pytest.raises(ConsentryError):
            repo.read("HEAD")
    path.unlink()
    with pytest.raises(BadInput, match=f"object `{blob}` is not in the repository"):
        repo.read("HEAD")


def test_an_object_under_another_ones_name_is_refused(repo: Repo) -> None:
    """Git shows whatever lies under the name; here content and name must match."""
    repo.commit({"app.py": "import socket\n"})
    blob = repo.git("rev-parse", "HEAD:app.py")
    path = repo.path / f".git/objects/{blob[:2]}/{blob[2:]}"
    path.chmod(0o644)
    path.write_bytes(zlib.compress(b"blob 5\0pass\n"))
    assert repo.git("cat-file", "blob", blob) == "pass"
    with pytest.raises(BadInput, match="does not match its name"):
        repo.read("HEAD")


@pytest.mark.parametrize("name", [b"..", b".", b"a/b", b""])
def test_trees_with_impossible_names_are_refused(repo: Repo, name: bytes) -> None:
    """A tree that names a file outside of itself is not read."""
    blob = repo.git("hash-object", "-w", "--stdin", given=b"x")
    row = b"100644 " + name + b"\0" + bytes.fromhex(blob)
    tree = repo.git("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=row)
    commit = repo.git("commit-tree", "-m", "x", tree)
    with pytest.raises(BadInput):
        repo.read(commit)


def test_trees_with_one_name_twice_are_refused(repo: Repo) -> None:
    """Which of two files of one name counts is nobody's to guess."""
    blob = repo.git("hash-object", "-w", "--stdin", given=b"x")
    row = b"100644 a.py\0" + bytes.fromhex(blob)
    tree = repo.git("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=row * 2)
    commit = repo.git("commit-tree", "-m", "x", tree)
    with pytest.raises(BadInput, match="two files of one name"):
        repo.read(commit)


@pytest.mark.parametrize(
    "word",
    [
        "",
        "-x",
        "--output=x",
        "a b",
        "a\nb",
        "HEAD:app.py",
        ":/x",
        "main@{1}",
        "a..b..c",
        "x" * 2000,
    ],
)
def test_words_that_name_no_commit_are_refused(word: str) -> None:
    """Options, paths, searches and reflog words are no commits."""
    with pytest.raises(UsageProblem):
        GitSelection.parse(word)


def test_words_that_name_nothing_here(repo: Repo) -> None:
    """A name that is not there, or is no commit, is one error."""
    tree = repo.git("rev-parse", "HEAD^{tree}")
    for word in ("nothing", "HEAD~9", "0" * 40, "main^{tree}", tree):
        with pytest.raises(UsageProblem, match="is not a commit"):
            repo.read(word)


def test_how_a_selection_is_written() -> None:
    """Two dots, three dots, one commit; a side that is left out is HEAD."""
    assert GitSelection.parse("a..b") == GitSelection(Compared.TWO_COMMITS, "a", "b")
    assert GitSelection.parse("a...b") == GitSelection(Compared.SINCE_MERGE_BASE, "a", "b")
    assert GitSelection.parse("..b") == GitSelection(Compared.TWO_COMMITS, "HEAD", "b")
    assert GitSelection.parse("a") == GitSelection(Compared.ONE_COMMIT, second="a")


def test_outside_of_a_repository(tmp_path: Path) -> None:
    """A folder that is in no repository is one error."""
    with pytest.raises(UsageProblem, match="not in a git repository"):
        Repo.read(type("At", (), {"path": tmp_path})(), WORK_TREE)  # type: ignore[arg-type]


def test_a_file_that_may_not_be_read_is_not_missing(repo: Repo) -> None:
    """A file closed to us is an error; root reads everything."""
    (repo.path / "app.py").chmod(0)
    if os.geteuid() == 0:
        assert [each.path_after for each in repo.changes(WORK_TREE)] == []
        return
    with pytest.raises(BadInput, match=r"`app\.py` in the working tree"):
        repo.read(WORK_TREE)


def test_a_change_that_was_forgotten_lets_go(repo: Repo) -> None:
    """Without a `with`, the process and the folder go when nobody holds the change any more."""
    change = repo.read("HEAD")
    assert len(change.changes) == 2
    del change
    gc.collect()

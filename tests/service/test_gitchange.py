"""A change straight from git: what is compared with what, and every kind of file (GUARD §in-patch)."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.errors import BadInput, UsageProblem
from consentry.declare.patchbundle import Blob
from consentry.enforce import gitplace
from consentry.service.gitchange import STAGED, WORK_TREE, GitFileChange
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


def test_two_commits(repo: Repo) -> None:
    """`A..B` compares the two trees, whatever lies in between."""
    repo.commit({"app.py": "two\n", "new.py": "new\n"})
    repo.commit({"app.py": "three\n", "pkg/mod.py": None})
    expected = {
        "app.py": (b"one\n", b"three\n"),
        "new.py": (None, b"new\n"),
        "pkg/mod.py": (b"mod\n", None),
    }
    assert repo.touched("HEAD~2..HEAD") == expected
    assert repo.touched("HEAD~2..") == expected
    assert repo.touched("main~2..main") == expected


def test_since_the_merge_base(repo: Repo) -> None:
    """`A...B` leaves out what happened on the other side only."""
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"topic.py": "t\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"main.py": "m\n"})
    assert repo.touched("main...topic") == {"topic.py": (None, b"t\n")}
    assert set(repo.touched("main..topic")) == {"main.py", "topic.py"}


def test_histories_that_never_meet_have_no_merge_base(repo: Repo) -> None:
    """Without a common ancestor the answer is an error."""
    repo.git("checkout", "-q", "--orphan", "other")
    repo.commit({"other.py": "o\n"})
    with pytest.raises(UsageProblem, match="no common ancestor"):
        repo.read("main...other")


def test_one_commit_is_compared_with_its_first_parent(repo: Repo) -> None:
    """A commit by itself; a merge against its first parent; a first commit against nothing."""
    first = repo.git("rev-parse", "HEAD")
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"topic.py": "t\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"main.py": "m\n"})
    repo.git("merge", "-q", "--no-ff", "-m", "merge", "topic")
    assert repo.touched("HEAD") == {"topic.py": (None, b"t\n")}
    assert repo.touched("HEAD^2") == {"topic.py": (None, b"t\n")}
    assert repo.touched(first) == {"app.py": (None, b"one\n"), "pkg/mod.py": (None, b"mod\n")}
    with repo.read(first) as change:
        assert change.before_commit is None
        assert change.after_commit == first
        assert change.description == f"commit {first} against nothing"


def test_a_tag_and_the_beginning_of_an_id_name_a_commit(repo: Repo) -> None:
    """Annotated tags, tags, remote branches and short ids are understood."""
    repo.commit({"app.py": "two\n"})
    repo.git("tag", "-a", "v1", "-m", "v1")
    repo.git("tag", "light")
    repo.git("update-ref", "refs/remotes/origin/main", "HEAD")
    repo.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    expected = {"app.py": (b"one\n", b"two\n")}
    short = repo.git("rev-parse", "--short", "HEAD")
    names = ("v1", "light", "origin/main", "origin", short, "refs/heads/main", "heads/main", "@")
    for name in names:
        assert repo.touched(name) == expected
    repo.git("pack-refs", "--all")
    for name in names:
        assert repo.touched(name) == expected


def test_what_is_staged(repo: Repo) -> None:
    """The index against HEAD; what is in the working tree alone does not count."""
    repo.write({"app.py": "staged\n", "added.py": "a\n"})
    repo.git("add", "-A")
    repo.git("rm", "-q", "--cached", "pkg/mod.py")
    repo.write({"app.py": "not staged\n", "other.py": "o\n"})
    assert repo.touched(STAGED) == {
        "added.py": (None, b"a\n"),
        "app.py": (b"one\n", b"staged\n"),
        "pkg/mod.py": (b"mod\n", None),
    }


def test_the_working_tree(repo: Repo) -> None:
    """Staged or not, added or not; what is ignored does not count."""
    repo.commit({".gitignore": "*.log\n"})
    (repo.path / ".git/info/exclude").write_text("private\n")
    repo.write({"app.py": "staged\n", "staged.py": "s\n"})
    repo.git("add", "-A")
    repo.write(
        {"app.py": "last\n", "new/file.py": "n\n", "x.log": "l", "private": "p", "pkg/mod.py": None}
    )
    assert repo.touched(WORK_TREE) == {
        "app.py": (b"one\n", b"last\n"),
        "new/file.py": (None, b"n\n"),
        "pkg/mod.py": (b"mod\n", None),
        "staged.py": (None, b"s\n"),
    }


def test_a_clean_working_tree_has_no_changes(repo: Repo) -> None:
    """Nothing changed is nothing listed."""
    assert repo.changes(WORK_TREE) == ()
    assert repo.changes(STAGED) == ()
    assert repo.changes("HEAD..HEAD") == ()


def test_before_the_first_commit(tmp_path: Path) -> None:
    """In an empty repository everything is new."""
    repo = Repo(tmp_path / "repo")
    repo.write({"a.py": "a\n", "b.py": "b\n"})
    repo.git("add", "a.py")
    assert repo.touched(STAGED) == {"a.py": (None, b"a\n")}
    assert repo.touched(WORK_TREE) == {"a.py": (None, b"a\n"), "b.py": (None, b"b\n")}
    with pytest.raises(UsageProblem, match="`HEAD` is not a commit"):
        repo.read("HEAD")


def test_modes_and_links(repo: Repo) -> None:
    """The executable bit and links are part of a file; a link's content is where it leads."""
    repo.write({"run.sh": "echo\n"})
    (repo.path / "link").symlink_to("/etc/passwd")
    (repo.path / "app.py").chmod(0o755)
    expected = (
        GitFileChange("app.py", "app.py", Blob(b"one\n"), Blob(b"one\n", "100755")),
        GitFileChange(None, "link", None, Blob(b"/etc/passwd", "120000")),
        GitFileChange(None, "run.sh", None, Blob(b"echo\n")),
    )
    assert repo.changes(WORK_TREE) == expected
    repo.git("add", "-A")
    assert repo.changes(STAGED) == expected
    repo.commit({})
    assert repo.changes("HEAD") == expected


def test_a_link_in_place_of_a_folder_hides_nothing_and_leads_nowhere(
    repo: Repo, tmp_path: Path
) -> None:
    """Files below a link are not read: the folder's files are gone, and the link is new."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "mod.py").write_text("mod\n")
    (repo.path / "pkg/mod.py").unlink()
    (repo.path / "pkg").rmdir()
    (repo.path / "pkg").symlink_to(outside)
    assert repo.touched(WORK_TREE) == {
        "pkg": (None, os.fsencode(outside)),
        "pkg/mod.py": (b"mod\n", None),
    }


def test_files_in_place_of_folders_and_the_reverse(repo: Repo) -> None:
    """A name that changes its kind is both gone and new."""
    repo.commit({"app.py": None, "pkg/mod.py": None})
    (repo.path / "pkg").rmdir()
    repo.commit({"app.py/inner.py": "i\n", "pkg": "p\n"})
    assert repo.touched("HEAD~2..HEAD") == {
        "app.py": (b"one\n", None),
        "app.py/inner.py": (None, b"i\n"),
        "pkg": (None, b"p\n"),
        "pkg/mod.py": (b"mod\n", None),
    }


def test_names_of_any_bytes(repo: Repo) -> None:
    """Names that are not UTF-8, with line breaks, quotes, tabs and leading dashes."""
    names = [
        b"caf\xe9.py",
        b"two\nlines.py",
        b'quo"te\\.py',
        b"tab\t.py",
        b"--output=x",
        "é.py".encode(),
    ]
    for name in names:
        (repo.path / os.fsdecode(name)).write_bytes(name)
    expected = {name.decode("utf-8", "surrogateescape"): (None, name) for name in names}
    assert repo.touched(WORK_TREE) == expected
    repo.git("add", "-A")
    assert repo.touched(STAGED) == expected
    repo.commit({})
    assert repo.touched("HEAD") == expected
    with repo.read("HEAD") as change:
        for name in expected:
            assert change.after_tree.has(name)


def test_renames(repo: Repo) -> None:
    """The same content, or much the same, under another name is one change with two paths."""
    body = "".join(f"line {number}\n" for number in range(20))
    repo.commit({"old.py": body, "exact.py": "exact\n" * 5})
    repo.commit(
        {"old.py": None, "exact.py": None, "new.py": body + "more\n", "sub/exact.py": "exact\n" * 5}
    )
    assert [(each.path_before, each.path_after) for each in repo.changes("HEAD")] == [
        ("old.py", "new.py"),
        ("exact.py", "sub/exact.py"),
    ]


def test_a_new_file_that_shares_little_is_no_rename(repo: Repo) -> None:
    """Files that have less than half in common stay apart, and so do empty ones."""
    repo.commit({"old.py": "a\nb\nc\nd\n", "empty.py": ""})
    repo.commit({"old.py": None, "new.py": "a\nx\ny\nz\n", "empty.py": None, "void.py": ""})
    assert set(repo.touched("HEAD")) == {"old.py", "new.py", "empty.py", "void.py"}


def test_submodules(repo: Repo, tmp_path: Path) -> None:
    """A submodule is its commit; one that is checked out is looked into in the working tree."""
    inner = Repo(tmp_path / "inner")
    first = inner.commit({"inner.py": "1\n"})
    repo.git("submodule", "--quiet", "add", str(inner.path), "sub")
    repo.commit({})
    added = {each.path_after: each for each in repo.changes("HEAD")}["sub"]
    assert added.after == Blob(f"Subproject commit {first}\n".encode(), "160000")
    assert (added.submodule_before, added.submodule_after) == (None, first)
    assert repo.changes(WORK_TREE) == ()

    repo.write({"sub/inner.py": "2\n", "sub/new.py": "n\n"})
    assert repo.touched(WORK_TREE) == {
        "sub/inner.py": (b"1\n", b"2\n"),
        "sub/new.py": (None, b"n\n"),
    }

    second = Repo(repo.path / "sub").commit({})
    (moved,) = repo.changes(WORK_TREE)
    assert (moved.path_after, moved.submodule_before, moved.submodule_after) == (
        "sub",
        first,
        second,
    )
    assert moved.before != moved.after


def test_a_submodule_that_is_not_checked_out_is_as_it_was(repo: Repo, tmp_path: Path) -> None:
    """An empty or missing folder of a submodule is no change."""
    inner = Repo(tmp_path / "inner")
    inner.commit({"inner.py": "1\n"})
    repo.git("submodule", "--quiet", "add", str(inner.path), "sub")
    repo.commit({})
    clone = tmp_path / "clone"
    repo.git("clone", "-q", str(repo.path), str(clone))
    copy = Repo(clone)
    assert copy.changes(WORK_TREE) == ()
    (clone / "sub").rmdir()
    assert copy.changes(WORK_TREE) == ()


def test_a_repository_that_nobody_added_is_named_as_not_read(repo: Repo) -> None:
    """Files cannot be hidden by making their folder a repository."""
    Repo(repo.path / "hidden").write({"evil.py": "x\n"})
    with repo.read(WORK_TREE) as change:
        assert [each.path_after for each in change.changes] == ["hidden"]
        assert [each.path for each in change.not_read] == ["hidden"]


def test_an_index_that_calls_a_folder_a_submodule_hides_nothing(repo: Repo) -> None:
    """Files below a folder that is no repository, whatever the index says, are told of."""
    commit = repo.git("rev-parse", "HEAD")
    repo.write({"lib/evil.py": "x\n"})
    repo.git("update-index", "--add", "--cacheinfo", f"160000,{commit},lib")
    with repo.read(WORK_TREE) as change:
        assert [each.path for each in change.not_read] == ["lib"]


def test_bare_repositories(repo: Repo, tmp_path: Path) -> None:
    """Commits of a bare repository can be compared; it has nothing else."""
    repo.commit({"app.py": "two\n"})
    bare = tmp_path / "bare.git"
    repo.git("clone", "-q", "--bare", str(repo.path), str(bare))
    copy = Repo.__new__(Repo)
    copy.path = bare
    assert copy.touched("main") == {"app.py": (b"one\n", b"two\n")}
    for selection in (STAGED, WORK_TREE):
        with pytest.raises(UsageProblem, match="bare"):
            copy.read(selection)


def test_linked_working_trees(repo: Repo, tmp_path: Path) -> None:
    """A linked working tree has a HEAD and an index of its own, and shares the rest."""
    linked = tmp_path / "linked"
    repo.git("worktree", "add", "-q", "-b", "topic", str(linked))
    copy = Repo.__new__(Repo)
    copy.path = linked
    copy.write({"app.py": "linked\n"})
    assert copy.touched(WORK_TREE) == {"app.py": (b"one\n", b"linked\n")}
    copy.git("add", "-A")
    assert copy.touched(STAGED) == {"app.py": (b"one\n", b"linked\n")}
    copy.git("commit", "-q", "-m", "x")
    assert copy.touched("main..HEAD") == {"app.py": (b"one\n", b"linked\n")}
    assert repo.changes(WORK_TREE) == ()


def test_a_detached_head_and_a_folder_below_the_top(repo: Repo) -> None:
    """Where HEAD is no branch, and where the command was started below, nothing differs."""
    repo.commit({"app.py": "two\n"})
    repo.git("checkout", "-q", "--detach")
    below = Repo.__new__(Repo)
    below.path = repo.path / "pkg"
    repo.write({"app.py": "three\n"})
    assert below.touched("HEAD") == {"app.py": (b"one\n", b"two\n")}
    assert below.touched(WORK_TREE) == {"app.py": (b"two\n", b"three\n")}


def test_a_shallow_clone_says_what_it_lacks(repo: Repo, tmp_path: Path) -> None:
    """A parent that was not fetched is one clear error, and not taken for no parent."""
    repo.commit({"app.py": "two\n"})
    clone = tmp_path / "clone"
    repo.git("clone", "-q", "--depth=1", f"file://{repo.path}", str(clone))
    copy = Repo(clone)
    with pytest.raises(BadInput, match="is not in this clone") as caught:
        copy.read("HEAD")
    assert "shallow" in caught.value.help_line
    assert copy.changes(WORK_TREE) == ()


def test_repositories_with_long_ids(tmp_path: Path) -> None:
    """SHA-256 repositories are read as the others are."""
    repo = Repo(tmp_path / "repo", "--object-format=sha256")
    repo.write({"a.py": "a\n"})
    repo.git("add", "-A")
    assert repo.touched(STAGED) == {"a.py": (None, b"a\n")}
    commit = repo.commit({})
    assert len(commit) == 64
    repo.write({"a.py": "b\n"})
    assert repo.touched(WORK_TREE) == {"a.py": (b"a\n", b"b\n")}
    assert repo.touched("HEAD") == {"a.py": (None, b"a\n")}
    assert repo.touched(commit[:10]) == {"a.py": (None, b"a\n")}


def test_borrowed_objects_are_read(repo: Repo, tmp_path: Path) -> None:
    """A clone that borrows its objects has them."""
    repo.commit({"app.py": "two\n"})
    repo.git("clone", "-q", "--shared", str(repo.path), str(tmp_path / "clone"))
    copy = Repo(tmp_path / "clone")
    assert copy.touched("HEAD") == {"app.py": (b"one\n", b"two\n")}
    alternates = copy.path / ".git/objects/info/alternates"
    alternates.write_text(alternates.read_text() * 40)
    with pytest.raises(BadInput, match="places to borrow"):
        copy.read("HEAD")


def test_packed_objects_and_a_split_index(repo: Repo) -> None:
    """Packs, and an index that shares a part with an older one, are read."""
    repo.git("update-index", "--split-index")
    repo.commit({"app.py": "two\n"})
    repo.write({"app.py": "three\n"})
    repo.git("add", "-A")
    repo.git("gc", "-q")
    assert repo.touched("HEAD") == {"app.py": (b"one\n", b"two\n")}
    assert repo.touched(STAGED) == {"app.py": (b"two\n", b"three\n")}
    assert repo.touched(WORK_TREE) == {"app.py": (b"two\n", b"three\n")}


def test_a_sparse_checkout_is_no_deletion(repo: Repo) -> None:
    """A file that was left out on purpose is as HEAD has it, and can be read."""
    repo.git("sparse-checkout", "set", "--no-cone", "/app.py")
    assert not (repo.path / "pkg/mod.py").exists()
    with repo.read(WORK_TREE) as change:
        assert change.changes == ()
        assert change.after_tree.read("pkg/mod.py") == Blob(b"mod\n")


def test_a_conflict_is_seen_in_the_working_tree_and_refused_as_staged(repo: Repo) -> None:
    """In the middle of a merge there is no one staged content."""
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"app.py": "topic\n"})
    repo.git("checkout", "-q", "main")
    repo.commit({"app.py": "main\n"})
    repo.git("merge", "-q", "topic", ends_well=False)
    with pytest.raises(UsageProblem, match="in the middle of a merge"):
        repo.read(STAGED)
    before, after = repo.touched(WORK_TREE)["app.py"]
    assert before == b"main\n"
    assert after is not None
    assert b"<<<<<<<" in after


def test_both_trees_can_be_read(repo: Repo) -> None:
    """Imports are followed in the tree of their own side, lazily, file by file."""
    repo.commit({"app.py": "two\n", "pkg/other.py": "o\n"})
    with repo.read("HEAD") as change:
        before, after = change.before_tree, change.after_tree
        assert before.names() == ("app.py", "pkg/mod.py")
        assert after.names() == ("app.py", "pkg/mod.py", "pkg/other.py")
        assert not before.has("pkg/other.py")
        assert after.has("pkg/other.py")
        assert not after.has("pkg")
        assert not after.has("app.py/x")
        assert after.read("pkg/other.py") == Blob(b"o\n")
        assert before.read("app.py") == Blob(b"one\n")
        assert before.read("missing/x.py") is None
        assert before.read("pkg") is None
    repo.write({"app.py": "disk\n", "fresh.py": "f\n"})
    with repo.read(WORK_TREE) as change:
        assert change.after_tree.names() == ("app.py", "fresh.py", "pkg/mod.py", "pkg/other.py")
        assert change.after_tree.read("pkg/mod.py") == Blob(b"mod\n")
        assert change.after_tree.read("app.py") == Blob(b"disk\n")
        assert change.after_tree.read("nothing.py") is None
    repo.git("add", "-A")
    with repo.read(STAGED) as change:
        assert change.after_tree.has("fresh.py")
        assert change.after_tree.read("fresh.py") == Blob(b"f\n")

"""`consentry guard` in repositories: what is compared, and whose wish counts (GUARD §in-patch, §in-wish)."""

import json
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, Ended, assert_error
from tests.service.patches import wish_of
from tests.service.repositories import Repo

NET = wish_of(fs_read_roots=["./"], net_access="ANY", tool_classes=["python", "web"])
NOTHING = wish_of(net_access="NONE")
PLAIN = "def double(number):\n    return number * 2\n"
REACHES_OUT = f"import requests\n\n\n{PLAIN}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that is made a repository by the next fixture."""
    return tmp_path / "project"


@pytest.fixture
def repo(project: Path) -> Repo:
    """A repository with a module and a wish that allows nothing."""
    repo = Repo(project)
    repo.commit({"app.py": PLAIN, "wish.json": json.dumps(NOTHING)})
    return repo


@pytest.fixture
def guard(repo: Repo, consentry: CommandLine) -> "Guard":
    """The command, in that repository."""
    assert consentry.cwd == repo.path
    return Guard(consentry)


class Guard:
    """Runs `consentry guard`."""

    def __init__(self, consentry: CommandLine) -> None:
        self.command = consentry

    def __call__(self, *words: str) -> Ended:
        """Runs it to its end."""
        return self.command("guard", *words)

    def verdict(self, *words: str) -> dict[str, Any]:
        """The document."""
        found: dict[str, Any] = json.loads(self("--json", *words).out)
        return found


def test_the_working_tree_what_is_staged_and_commits(guard: Guard, repo: Repo) -> None:
    """Nothing named is the working tree against HEAD; `--staged`, a commit, two commits."""
    assert guard().out.startswith("PASS: the working tree against HEAD ")
    repo.write({"app.py": REACHES_OUT})
    assert (guard().status, guard("--staged").status) == (1, 0)
    repo.git("add", "-A")
    assert guard("--staged").out.startswith("BLOCKED: what is staged against HEAD ")
    repo.git("commit", "-q", "-m", "x")
    assert guard().status == 0
    for words in ("HEAD", "HEAD~1..HEAD", "HEAD~1..", "main~1...main"):
        assert guard(words).status == 1, words
    assert guard("HEAD..HEAD~1").status == 0


def test_two_sides_of_a_branch(guard: Guard, repo: Repo) -> None:
    """`A...B` asks only about what B added since they parted."""
    repo.git("checkout", "-q", "-b", "topic")
    repo.commit({"topic.py": PLAIN})
    repo.git("checkout", "-q", "main")
    repo.commit({"app.py": REACHES_OUT})
    assert guard("main...topic").status == 0
    assert guard("topic...main").status == 1


def test_from_a_folder_below_and_from_elsewhere(guard: Guard, repo: Repo, tmp_path: Path) -> None:
    """The same verdict, byte for byte, from wherever it is asked for (GUARD §deterministic)."""
    repo.commit({"pkg/mod.py": REACHES_OUT})
    here = guard("HEAD", "--json").out
    guard.command.cwd = repo.path / "pkg"
    assert guard("HEAD", "--json").out == here
    guard.command.cwd = tmp_path
    assert guard("HEAD", "--json", "--repository", str(repo.path)).out == here


def test_what_is_no_commit_and_no_repository_is_wrong_usage(guard: Guard, tmp_path: Path) -> None:
    """One clear message."""
    for words in (["nowhere"], ["main..nowhere"], ["--", "-x"], ["a:b"]):
        assert_error(guard(*words), Code.USAGE)
    outside = tmp_path / "outside"
    outside.mkdir()
    assert_error(guard("--repository", str(outside)), Code.FILE_UNUSABLE)
    assert_error(guard("--repository", str(tmp_path / "missing")), Code.FILE_UNUSABLE)


def test_a_damaged_repository_is_unknown(guard: Guard, repo: Repo) -> None:
    """What is there and cannot be read is a change that nobody knows."""
    blob = repo.git("hash-object", "-w", "--stdin", given=REACHES_OUT.encode())
    repo.commit({"app.py": REACHES_OUT})
    (repo.path / ".git/objects" / blob[:2] / blob[2:]).unlink()
    found = guard.verdict("HEAD")
    assert found["status"] == "UNKNOWN"
    assert found["reasons"][0]["tag"] == "insufficient_patch_data"


def test_an_import_is_followed_into_the_tree(guard: Guard, repo: Repo) -> None:
    """A power that moves next door is none that was gained; one that stood there already is."""
    repo.commit({"app.py": REACHES_OUT})
    repo.commit({"app.py": f"import lib\n\n\n{PLAIN}", "lib.py": "import requests\n"})
    assert guard("HEAD").status == 0
    repo.commit({"other.py": PLAIN})
    repo.commit({"other.py": f"import lib\n\n\n{PLAIN}"})
    found = guard.verdict("HEAD")
    assert (found["status"], found["delta"][0]["file"]) == ("BLOCKED", "lib.py")


def test_the_wish_on_the_disk_counts_where_the_change_leaves_it_alone(
    guard: Guard, repo: Repo, tmp_path: Path
) -> None:
    """In the repository, or anywhere else."""
    (tmp_path / "elsewhere.json").write_text(json.dumps(NET))
    repo.commit({"wish.json": json.dumps(NET)})
    repo.commit({"app.py": REACHES_OUT})
    assert guard("HEAD", "--wish", "wish.json").status == 0
    assert guard("HEAD", "--wish", str(tmp_path / "elsewhere.json")).status == 0
    assert "note:" not in guard("HEAD", "--wish", "wish.json").out


@pytest.mark.parametrize("how", ["committed", "staged", "working tree"])
def test_a_change_does_not_allow_itself_anything(guard: Guard, repo: Repo, how: str) -> None:
    """A wish that the change touches counts as it was before, and that is said."""
    repo.write({"app.py": REACHES_OUT, "wish.json": json.dumps(NET)})
    words = {"committed": ["HEAD"], "staged": ["--staged"], "working tree": []}[how]
    if how != "working tree":
        repo.git("add", "-A")
    if how == "committed":
        repo.git("commit", "-q", "-m", "x")
    ended = guard(*words, "--wish", "wish.json")
    assert ended.status == 1
    assert "note: `wish.json` is not as it was before this change: the wish counts as it\n" in (
        ended.out
    )


def test_a_wish_that_comes_with_the_change_does_not_count(guard: Guard, repo: Repo) -> None:
    """By its name, through a link that was there, through a link that comes, renamed into place."""
    repo.commit({"real/x.json": json.dumps(NET)})
    (repo.path / "link.json").symlink_to("real/new.json")
    repo.commit({})
    repo.commit(
        {"app.py": REACHES_OUT, "new.json": json.dumps(NET), "real/new.json": json.dumps(NET)}
    )
    for name in ("new.json", "link.json", "real/../new.json"):
        ended = guard("HEAD", "--wish", name)
        assert ended.status == 1, name
        assert "which cannot allow itself" in ended.out
    assert guard.verdict("HEAD", "--wish", "new.json")["required_wish_fields_missing"]


def test_a_folder_that_becomes_a_link_to_a_looser_wish(guard: Guard, repo: Repo) -> None:
    """What lies on the way to the wish is part of it, though the file at its end was never touched."""
    repo.commit({"strict/wish.json": json.dumps(NOTHING), "loose/wish.json": json.dumps(NET)})
    (repo.path / "policy").symlink_to("strict")
    repo.commit({})
    (repo.path / "policy").unlink()
    (repo.path / "policy").symlink_to("loose")
    repo.commit({"app.py": REACHES_OUT})
    allowed = guard.verdict("HEAD", "--wish", "loose/wish.json")
    assert {each["tag"] for each in allowed["reasons"]} == {"insufficient_patch_data"}  # the link
    assert guard("HEAD", "--wish", "policy/wish.json").status == 1
    assert guard("HEAD", "--wish", str(repo.path / "policy/wish.json")).status == 1


def test_what_is_staged_is_judged_by_what_was_committed(guard: Guard, repo: Repo) -> None:
    """A wish that was loosened on the disk alone is not the one that a hook judges by."""
    repo.write({"app.py": REACHES_OUT})
    repo.git("add", "-A")
    repo.write({"wish.json": json.dumps(NET)})
    assert guard("--staged", "--wish", "wish.json").status == 1
    assert guard("--staged", "--wish", "wish.json").out.count("note:") == 1


def test_the_registry_counts_as_it_was_as_well(guard: Guard, repo: Repo) -> None:
    """A tool that the change registers itself is a tool that nobody registered."""
    tool = {"id": "fetch", "class": "web", "capabilities": {}}
    recipe = {"recipe_version": "1", "nodes": [{"id": "a", "tool": "fetch"}]}
    files = {
        "x.recipe.json": json.dumps(recipe),
        "tools.json": json.dumps({"registry_version": "1", "tools": [tool]}),
    }
    repo.commit({"wish.json": json.dumps(wish_of(tool_classes=["web"]))})
    repo.commit(files)
    ended = guard("HEAD", "--wish", "wish.json", "--registry", "tools.json")
    assert ended.status == 1
    assert "no registry counts" in ended.out.replace("\n        | ", " ")
    assert "tools that no registry knows (1)\n" in ended.out
    repo.commit({"y.recipe.json": json.dumps(recipe)})
    assert guard("HEAD", "--wish", "wish.json", "--registry", "tools.json").status == 0


def test_a_bundle_that_touches_the_wish_of_the_repository(guard: Guard, repo: Repo) -> None:
    """The bundle says what the wish was before, whatever the disk has by now."""
    from tests.service.patches import bundle_of

    before = {"app.py": PLAIN, "wish.json": json.dumps(NOTHING) + "\n"}
    after = {"app.py": REACHES_OUT, "wish.json": json.dumps(NET) + "\n"}
    repo.write({"wish.json": after["wish.json"]})
    (repo.path / "b.json").write_text(json.dumps(bundle_of(before, after)))
    ended = guard("b.json", "--wish", "wish.json")
    assert (ended.status, ended.out.count("note:")) == (1, 1)


def test_much_is_read_from_what_was_read_before(guard: Guard, repo: Repo, home: Path) -> None:
    """A large change is kept in the state directory, gives the same bytes, and can be erased."""
    body = "\n".join(f"def f{n}(x):\n    return x * {n} + len(str(x))\n" for n in range(400))
    repo.commit({f"m{n}.py": f"# {n}\n{body}" for n in range(8)})
    first = guard("HEAD", "--json", "-v")
    kept = home / ".local/state/consentry/extractions"
    assert {each.name.rpartition(".")[2] for each in kept.iterdir()} == {"key", "entries"}
    second = guard("HEAD", "--json", "-v")
    assert second.out == first.out
    assert "8 files read" in first.err
    assert "0 files read" in second.err
    assert guard.command("purge", "--everything", "--yes").status == 0
    assert not kept.exists()

"""Hostile repositories: nothing that they name is run when a change is read (GUARD §in-patch).

Each attack in threes: reading the change does not set it off; the change is read whole all the same;
and plain git, called in that repository the way people call it, does set it off, so that the first of
the three could fail. The effect is looked for from outside: a file that the attack leaves behind.
"""

import os
import pty
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consentry.base.errors import BadInput, UsageProblem
from consentry.enforce import gitplace
from consentry.service.gitchange import STAGED, WORK_TREE
from tests.service.repositories import GIT, Repo

Setup = Callable[[Repo, str], None]


@pytest.fixture(autouse=True)
def made(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """Folders of ours are made where the test can see that they are gone."""
    folder = tmp_path_factory.mktemp("made")
    monkeypatch.setattr(gitplace, "_FOLDERS", (str(folder),))
    yield
    assert list(folder.iterdir()) == []


@pytest.fixture
def marker(tmp_path: Path) -> Path:
    """What an attack leaves behind."""
    return tmp_path / "marker"


@pytest.fixture
def program(tmp_path: Path, marker: Path) -> str:
    """The program of the attacker; it answers nothing and fails nothing."""
    path = tmp_path / "attack.sh"
    path.write_text(f"#!/bin/sh\ntouch '{marker}'\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    """Two commits, one staged change and one in the working tree."""
    repo = Repo(tmp_path / "repo")
    repo.commit({"app.py": "one\n", "other.py": "other\n"})
    repo.commit({"app.py": "two\n"})
    repo.write({"app.py": "three\n"})
    repo.git("add", "app.py")
    repo.write({"app.py": "four\n", "new.py": "new\n"})
    return repo


def read_everything(repo: Repo) -> None:
    """Reads every kind of change, and states that it was read as it is."""
    new = {"new.py": (None, b"new\n")}
    assert repo.touched("HEAD") == {"app.py": (b"one\n", b"two\n")}
    assert repo.touched("HEAD~1..HEAD") == {"app.py": (b"one\n", b"two\n")}
    assert repo.touched("HEAD~1...HEAD") == {"app.py": (b"one\n", b"two\n")}
    assert repo.touched(STAGED) == {"app.py": (b"two\n", b"three\n")}
    assert repo.touched(WORK_TREE) == {"app.py": (b"two\n", b"four\n"), **new}
    with repo.read(WORK_TREE) as change:
        assert change.after_tree.names() == ("app.py", "new.py", "other.py")
        assert change.after_tree.read("other.py") is not None


def config(*pairs: tuple[str, str]) -> Setup:
    """An attack that stands in the configuration; `{}` is the attacker's program."""

    def setup(repo: Repo, program: str) -> None:
        for name, value in pairs:
            repo.git("config", name, value.format(program))

    return setup


def attributes(word: str, *pairs: tuple[str, str]) -> Setup:
    """An attack that the attributes of files lead to; git reads them here without a commit."""

    def setup(repo: Repo, program: str) -> None:
        (repo.path / ".git/info/attributes").write_text(f"*.py {word}\n")
        config(*pairs)(repo, program)

    return setup


def included(repo: Repo, program: str) -> None:
    """An attack in a file that the configuration includes."""
    (repo.path / ".git/more").write_text(f'[diff]\n\texternal = "{program}"\n')
    repo.git("config", "include.path", "more")


def hook(repo: Repo, program: str) -> None:
    """A hook that runs whenever an index is written."""
    path = repo.path / ".git/hooks/post-index-change"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n'{program}' </dev/null\n")
    path.chmod(0o755)


def hooks_elsewhere(repo: Repo, program: str) -> None:
    """The same hook in a folder that the configuration names."""
    folder = Path(program).parent / "hooks"
    folder.mkdir()
    (folder / "post-index-change").symlink_to(program)
    repo.git("config", "core.hooksPath", str(folder))


def attributes_elsewhere(repo: Repo, program: str) -> None:
    """Attributes in a file that the configuration names."""
    path = Path(program).with_name("attributes")
    path.write_text("*.py diff=evil\n")
    repo.git("config", "core.attributesFile", str(path))
    repo.git("config", "diff.evil.command", program)


def signed(repo: Repo, program: str) -> None:
    """A signature that whoever shows the history checks with the attacker's program."""
    tree, parent = repo.git("rev-parse", "HEAD^{tree}", "HEAD^").split()
    text = (
        f"tree {tree}\nparent {parent}\nauthor a <a@example.org> 1 +0000\n"
        "committer a <a@example.org> 1 +0000\n"
        "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n\nx\n"
    )
    commit = repo.git("hash-object", "-t", "commit", "-w", "--stdin", given=text.encode())
    repo.git("update-ref", "refs/heads/main", commit)
    config(("gpg.program", "{}"), ("log.showSignature", "true"))(repo, program)


@pytest.mark.parametrize(
    ("setup", "plain"),
    [
        pytest.param(config(("core.fsmonitor", "{}")), ["status"], id="fsmonitor"),
        pytest.param(config(("diff.external", "{}")), ["diff"], id="external-diff"),
        pytest.param(
            attributes("diff=evil", ("diff.evil.textconv", "{}")), ["diff"], id="textconv"
        ),
        pytest.param(
            attributes("diff=evil", ("diff.evil.command", "{}")), ["diff"], id="diff-command"
        ),
        pytest.param(
            attributes("filter=evil", ("filter.evil.clean", "{}")), ["add", "-A"], id="clean"
        ),
        pytest.param(
            attributes("filter=evil", ("filter.evil.process", "{}"), ("filter.evil.clean", "cat")),
            ["add", "-A"],
            id="process",
        ),
        pytest.param(
            attributes("filter=evil", ("filter.evil.smudge", "{}")),
            ["checkout", "--", "other.py"],
            id="smudge",
        ),
        pytest.param(hook, ["add", "-A"], id="hook"),
        pytest.param(hooks_elsewhere, ["add", "-A"], id="hooks-path"),
        pytest.param(included, ["diff"], id="include"),
        pytest.param(attributes_elsewhere, ["diff"], id="attributes-file"),
        pytest.param(config(("alias.show-it", "!{}")), ["show-it"], id="alias"),
        pytest.param(signed, ["log"], id="signature"),
    ],
)
def test_what_a_repository_names_is_not_run(
    repo: Repo, marker: Path, program: str, setup: Setup, plain: list[str]
) -> None:
    """Its configuration, attributes and hooks start nothing; plain git starts it."""
    setup(repo, program)
    if plain[0] == "checkout":
        (repo.path / "other.py").write_text("other\n")
    marker.unlink(missing_ok=True)
    read_everything(repo)
    assert not marker.exists()
    if plain[0] == "checkout":
        (repo.path / "other.py").unlink()
    repo.git(*plain, ends_well=False)
    assert marker.exists()


def test_attributes_that_come_with_the_change_are_not_followed(
    repo: Repo, marker: Path, program: str
) -> None:
    """A `.gitattributes` in the tree, with a program for it in the configuration, runs nothing."""
    repo.commit({".gitattributes": "*.py diff=evil filter=evil\n", "app.py": "five\n"})
    repo.git("config", "diff.evil.textconv", program)
    repo.git("config", "filter.evil.clean", program)
    assert repo.touched("HEAD")["app.py"] == (b"two\n", b"five\n")
    repo.write({"app.py": "six\n"})
    assert repo.touched(WORK_TREE) == {"app.py": (b"five\n", b"six\n")}
    assert not marker.exists()
    repo.git("diff", ends_well=False)
    assert marker.exists()


def test_a_pager_is_not_run(repo: Repo, marker: Path, program: str) -> None:
    """A pager of the repository's starts on a terminal for plain git, and never for us."""
    repo.git("config", "core.pager", program)
    controller, terminal = pty.openpty()
    try:
        read_everything(repo)
        assert not marker.exists()
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(repo.path), "TERM": "xterm"}
        subprocess.run([GIT, "log"], cwd=repo.path, env=environment, stdout=terminal, check=False)
        assert marker.exists()
    finally:
        os.close(controller)
        os.close(terminal)


@pytest.mark.parametrize(
    "pairs",
    [
        pytest.param((("remote.origin.url", "ssh://host/x"), ("core.sshCommand", "{}")), id="ssh"),
        pytest.param(
            (("remote.origin.url", "ext::{}"), ("protocol.ext.allow", "always")), id="ext"
        ),
        pytest.param(
            (("remote.origin.url", "git://host/x"), ("core.gitProxy", "{}")), id="git-proxy"
        ),
        pytest.param(
            (("remote.origin.url", "/nowhere"), ("remote.origin.uploadpack", "{}")), id="uploadpack"
        ),
    ],
)
def test_missing_objects_are_not_fetched(
    repo: Repo, marker: Path, program: str, pairs: tuple[tuple[str, str], ...]
) -> None:
    """A partial clone's missing file is an error; plain git asks the attacker's program for it."""
    config(
        ("core.repositoryformatversion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.promisor", "true"),
        *pairs,
    )(repo, program)
    blob = repo.git("rev-parse", "HEAD:app.py")
    read_everything(repo)
    (repo.path / f".git/objects/{blob[:2]}/{blob[2:]}").unlink()
    with pytest.raises(BadInput, match="is not in the repository"):
        repo.read("HEAD")
    assert set(repo.touched("HEAD~1")) == {"app.py", "other.py"}
    assert not marker.exists()
    anything = {"GIT_ALLOW_PROTOCOL": "ssh:ext:git:file"}
    repo.git("show", "HEAD:app.py", environment=anything, ends_well=False)
    assert marker.exists()


def test_a_working_tree_elsewhere_is_not_looked_at(repo: Repo, tmp_path: Path) -> None:
    """`core.worktree` leads plain git into any folder; we look where the repository is."""
    secret = tmp_path / "secret"
    secret.mkdir()
    (secret / "diary.txt").write_text("dear diary\n")
    repo.git("config", "core.worktree", str(secret))
    read_everything(repo)
    assert "diary.txt" in repo.git("status", "--porcelain")


@pytest.mark.parametrize(
    ("variables", "plain"),
    [
        pytest.param({"GIT_EXTERNAL_DIFF": "{program}"}, ["diff"], id="external-diff"),
        pytest.param(
            {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": "core.fsmonitor",
                "GIT_CONFIG_VALUE_0": "{program}",
            },
            ["status"],
            id="config-count",
        ),
        pytest.param(
            {"GIT_CONFIG_PARAMETERS": "'core.fsmonitor={program}'"}, ["status"], id="parameters"
        ),
        pytest.param({"GIT_CONFIG_GLOBAL": "{config}"}, ["status"], id="global-config"),
        pytest.param({"GIT_TRACE": "{marker}"}, ["status"], id="trace"),
        pytest.param(
            {"GIT_CONFIG_GLOBAL": "{packing}"},
            ["clone", "-q", "--no-local", ".", "clone"],
            id="pack-objects-hook",
        ),
    ],
)
def test_variables_of_the_caller_do_not_reach_git(
    repo: Repo,
    marker: Path,
    program: str,
    monkeypatch: pytest.MonkeyPatch,
    variables: dict[str, str],
    plain: list[str],
) -> None:
    """What the environment of the command says about git is not passed on."""
    own = Path(program).with_name("gitconfig")
    own.write_text(f'[core]\n\tfsmonitor = "{program}"\n')
    packing = Path(program).with_name("packing")
    packing.write_text(f'[uploadpack]\n\tpackObjectsHook = "{program}"\n')
    filled = {
        name: value.format(program=program, config=own, packing=packing, marker=marker)
        for name, value in variables.items()
    }
    with monkeypatch.context() as changed:
        for name, value in filled.items():
            changed.setenv(name, value)
        read_everything(repo)
    assert not marker.exists()
    repo.git(*plain, environment=filled, ends_well=False)
    assert marker.exists()


@pytest.mark.parametrize(
    "name", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"]
)
def test_another_repository_in_the_environment_is_not_read(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """The repository is the one that was asked about, whatever the environment says."""
    other = Repo(tmp_path / "elsewhere")
    other.commit({"elsewhere.py": "e\n"})
    places = {
        "GIT_DIR": other.path / ".git",
        "GIT_WORK_TREE": other.path,
        "GIT_INDEX_FILE": other.path / ".git/index",
        "GIT_OBJECT_DIRECTORY": other.path / ".git/objects",
        "GIT_NAMESPACE": "x",
    }
    before = repo.git("status", "--porcelain")
    with monkeypatch.context() as changed:
        changed.setenv(name, str(places[name]))
        read_everything(repo)
    if name != "GIT_NAMESPACE":
        there = {name: str(places[name])}
        assert repo.git("status", "--porcelain", environment=there, ends_well=False) != before


def test_a_git_in_the_repository_is_not_run(repo: Repo, marker: Path, program: str) -> None:
    """A `git` that lies in the repository, or is reached through it, is passed over."""
    bin_folder = repo.path / "bin"
    bin_folder.mkdir()
    (bin_folder / "git").write_text(Path(program).read_text())
    (bin_folder / "git").chmod(0o755)
    (repo.path / ".git/info/exclude").write_text("/bin/\n")
    outside = Path(program).parent / "outside"
    outside.mkdir()
    (outside / "git").symlink_to(bin_folder / "git")
    for first in (str(bin_folder), str(outside), "bin", "", ".", str(repo.path / ".git/../bin")):
        with repo.read("HEAD", search_path=f"{first}:/usr/bin") as change:
            assert len(change.changes) == 1
    assert not marker.exists()
    with pytest.raises(UsageProblem, match="lies in the repository"):
        repo.read("HEAD", search_path=f"{bin_folder}:{outside}")
    path = {"PATH": f"{bin_folder}:/usr/bin:/bin"}
    subprocess.run(["/bin/sh", "-c", "git log"], cwd=repo.path, env=path, check=False)
    assert marker.exists()


def test_a_git_that_anybody_may_change_is_not_run(repo: Repo, tmp_path: Path) -> None:
    """A program in a folder that everybody may write is passed over."""
    folder = tmp_path / "shared"
    folder.mkdir()
    (folder / "git").symlink_to(GIT)
    folder.chmod(0o777)
    with pytest.raises(UsageProblem, match="everybody may write"):
        repo.read("HEAD", search_path=str(folder))
    folder.chmod(0o755)
    with repo.read("HEAD", search_path=str(folder)) as change:
        assert len(change.changes) == 1


def test_options_in_place_of_commits_are_refused(repo: Repo, marker: Path) -> None:
    """A word that plain git takes for an option, and writes a file for, is no commit."""
    word = f"--output={marker}"
    with pytest.raises(UsageProblem):
        repo.read(word)
    with pytest.raises(UsageProblem):
        repo.read(f"HEAD..{word}")
    assert not marker.exists()
    repo.git("diff", word)
    assert marker.exists()


def test_replaced_objects_are_not_taken(repo: Repo) -> None:
    """A replacement shows plain git another file than the commit has."""
    blob = repo.git("rev-parse", "HEAD:app.py")
    harmless = repo.git("hash-object", "-w", "--stdin", given=b"pass\n")
    repo.git("replace", blob, harmless)
    assert repo.touched("HEAD") == {"app.py": (b"one\n", b"two\n")}
    assert repo.git("show", "HEAD:app.py") == "pass"


def test_grafts_do_not_change_history(repo: Repo) -> None:
    """A graft tells plain git that the commit has no parent, or another one."""
    commit = repo.git("rev-parse", "HEAD")
    (repo.path / ".git/info/grafts").write_text(f"{commit}\n")
    read_everything(repo)
    assert repo.git("rev-list", "--count", "HEAD") == "1"


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_the_index_calls_unchanged_are_looked_at(repo: Repo, flag: str) -> None:
    """A flag in the index hides a file from plain git, and not from us."""
    repo.write({"other.py": "import socket\n"})
    repo.git("update-index", flag, "other.py")
    assert repo.touched(WORK_TREE)["other.py"] == (b"other\n", b"import socket\n")
    assert "other.py" not in repo.git("status", "--porcelain")


def test_sizes_and_times_in_the_index_are_not_believed(repo: Repo) -> None:
    """A file of the same size and time as the index has it is read all the same."""
    path = repo.path / "other.py"
    repo.git("config", "core.checkStat", "minimal")
    repo.git("config", "core.trustctime", "false")
    old = 1_600_000_000
    os.utime(path, (old, old))
    repo.git("update-index", "--refresh", ends_well=False)
    path.write_bytes(b"OTHER\n")
    os.utime(path, (old, old))
    assert repo.touched(WORK_TREE)["other.py"] == (b"other\n", b"OTHER\n")
    assert "other.py" not in repo.git("status", "--porcelain")


def test_a_tag_beside_a_branch_is_not_taken_for_it(repo: Repo) -> None:
    """A tag `main` makes plain git compare with another commit; here the name is refused."""
    repo.git("tag", "main", "HEAD~1")
    assert repo.git("rev-parse", "main") == repo.git("rev-parse", "HEAD~1")
    with pytest.raises(
        UsageProblem, match=r"`main` could be `refs/heads/main` or `refs/tags/main`"
    ):
        repo.read("main..HEAD")
    assert repo.touched("refs/heads/main") == {"app.py": (b"one\n", b"two\n")}
    repo.git("pack-refs", "--all")
    with pytest.raises(UsageProblem, match="could be"):
        repo.read("main~1..HEAD")


def test_a_branch_called_like_an_id_is_not_taken_for_it(repo: Repo) -> None:
    """A branch named after the beginning of an id stands in for that commit in plain git."""
    short = repo.git("rev-parse", "HEAD")[:8]
    repo.git("branch", short, "HEAD~1")
    assert repo.git("rev-parse", short) == repo.git("rev-parse", "HEAD~1")
    with pytest.raises(UsageProblem, match="could be"):
        repo.read(short)
    whole = repo.git("rev-parse", "HEAD")
    repo.git("update-ref", f"refs/heads/{whole}", "HEAD~1")
    assert repo.touched(whole) == {"app.py": (b"one\n", b"two\n")}


def test_a_link_in_place_of_the_git_folder_is_refused(repo: Repo, tmp_path: Path) -> None:
    """Where `.git` is a link, nobody knows whose repository it is."""
    (repo.path / ".git").rename(tmp_path / "moved")
    (repo.path / ".git").symlink_to(tmp_path / "moved")
    assert repo.git("status", "--porcelain")
    with pytest.raises(BadInput, match="is a link"):
        repo.read(WORK_TREE)


@pytest.mark.parametrize("name", ["HEAD", "index", "packed-refs", "config", "refs/heads/main"])
def test_links_and_pipes_in_the_git_folder_are_refused(repo: Repo, name: str) -> None:
    """A link leads out of the repository, and a pipe would hold the reader for ever."""
    path = repo.path / ".git" / name
    read_everything(repo)
    aside = path.with_name("aside")
    if path.exists():
        path.rename(aside)
    else:
        aside.write_text("")
    path.symlink_to(aside)
    with pytest.raises((BadInput, UsageProblem)):
        _read_by_name(repo)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises((BadInput, UsageProblem)):
        _read_by_name(repo)


def _read_by_name(repo: Repo) -> None:
    for selection in (WORK_TREE, "main~1..main", "nowhere"):
        repo.touched(selection)


def test_a_pipe_in_the_working_tree_holds_nobody(repo: Repo) -> None:
    """A pipe in place of a file is no file; the file is gone."""
    (repo.path / "other.py").unlink()
    os.mkfifo(repo.path / "other.py")
    assert repo.touched(WORK_TREE)["other.py"] == (b"other\n", None)


def test_nothing_in_the_repository_is_written(repo: Repo) -> None:
    """Reading leaves every file of the repository as it was, the index too."""

    def state() -> dict[str, tuple[int, int]]:
        found = {path: path.lstat() for path in sorted(repo.path.rglob("*"))}
        return {str(path): (each.st_mtime_ns, each.st_size) for path, each in found.items()}

    os.utime(repo.path / "other.py")
    before = state()
    assert (read_everything(repo), state())[1] == before

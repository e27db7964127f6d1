"""Where the workspace is found, on real folders."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.service.places import FoundBy, find_workspace
from consentry.service.surroundings import Home, Surroundings

MakeAround = Callable[..., Surroundings]


def _refusal(around: Surroundings, named: str | None = None) -> UsageProblem:
    with pytest.raises(UsageProblem) as caught:
        find_workspace(around, named)
    return caught.value


def test_current_folder_is_the_last_resort(around: MakeAround, project: Path) -> None:
    """Without a marker and without git the current folder is taken."""
    found = find_workspace(around())
    assert (found.path, found.found_by) == (project, FoundBy.CURRENT)


@pytest.mark.parametrize("as_file", [True, False])
def test_git_root_is_taken(around: MakeAround, project: Path, *, as_file: bool) -> None:
    """The nearest ancestor with `.git`, which is a file in a linked work tree."""
    if as_file:
        (project / ".git").write_text("gitdir: elsewhere\n", encoding="ascii")
    else:
        (project / ".git").mkdir()
    deep = project / "a/b"
    deep.mkdir(parents=True)
    found = find_workspace(around(deep))
    assert (found.path, found.found_by) == (project, FoundBy.GIT)
    assert "2 levels up" in found.why


@pytest.mark.parametrize("marker", [".consentry", ".paper/_cfg"])
def test_marker_wins_over_a_nearer_git_root(around: MakeAround, project: Path, marker: str) -> None:
    """A configuration folder decides, even when a git root lies between."""
    (project / marker).mkdir(parents=True)
    inner = project / "inner"
    (inner / ".git").mkdir(parents=True)
    found = find_workspace(around(inner))
    assert (found.path, found.found_by) == (project, FoundBy.MARKER)
    assert f"`{marker}` is 1 level up" in found.why


def test_nearest_marker_wins(around: MakeAround, project: Path) -> None:
    """Of two markers on the way up the first one met decides, whichever kind it is."""
    (project / ".consentry").mkdir()
    inner = project / "inner"
    (inner / ".paper/_cfg").mkdir(parents=True)
    assert find_workspace(around(inner)).path == inner


def test_marker_must_be_a_folder(around: MakeAround, project: Path) -> None:
    """A file of that name marks nothing; neither does `.paper` without `_cfg` in it."""
    (project / ".consentry").touch()
    (project / ".paper").mkdir()
    assert find_workspace(around()).found_by is FoundBy.CURRENT


def test_named_folder_wins_over_everything(around: MakeAround, project: Path) -> None:
    """`--workspace` decides, relative to the current folder, with links resolved."""
    (project / ".consentry").mkdir()
    real = project / "real"
    real.mkdir()
    (project / "link").symlink_to(real)
    found = find_workspace(around(), "link")
    assert (found.path, found.found_by) == (real, FoundBy.NAMED)


def test_home_folder_is_refused_unless_named(around: MakeAround, home: Path) -> None:
    """Found, it is refused, with a way out in the help; named, it is taken."""
    problem = _refusal(around(home))
    assert problem.code is Code.WORKSPACE_REFUSED
    assert "your home folder" in problem.message
    assert "--workspace" in problem.help_line
    assert find_workspace(around(home), ".").path == home


def test_home_that_became_a_git_root_is_refused(around: MakeAround, home: Path) -> None:
    """Dotfiles kept in git must not make all of the home folder a workspace from below."""
    (home / ".git").mkdir()
    below = home / "notes"
    below.mkdir()
    assert _refusal(around(below)).code is Code.WORKSPACE_REFUSED


def test_root_of_the_file_system_is_refused_unless_named(around: MakeAround) -> None:
    """`/` is never taken by chance."""
    assert _refusal(around(Path("/"))).code is Code.WORKSPACE_REFUSED
    assert find_workspace(around(), "/").path == Path("/")


@pytest.mark.parametrize("marker", [None, ".git", ".consentry"])
def test_folder_that_contains_homes_is_refused_unless_named(
    around: MakeAround, home: Path, tmp_path: Path, marker: str | None
) -> None:
    """The folder of all homes is wider than one of them; the same for what is above it.

    The control: named, it is taken; and a folder beside the homes is taken unasked.
    """
    for folder in (home.parent, tmp_path):
        if marker is not None:
            (folder / marker).mkdir()
        problem = _refusal(around(folder))
        assert problem.code is Code.WORKSPACE_REFUSED
        assert "contains your home folder" in problem.message
        assert find_workspace(around(folder), ".").path == folder
        if marker is not None:
            (folder / marker).rmdir()
    beside = tmp_path / "beside"
    beside.mkdir()
    assert find_workspace(around(beside)).path == beside


def test_folder_of_homes_is_refused_although_none_is_known(
    around: MakeAround, home: Path, project: Path
) -> None:
    """Homes may come from a directory service that is not searched: `/home` is refused as such."""
    elsewhere = around(home.parent, environ={"HOME": str(project)})
    assert "contains the home folders" in _refusal(elsewhere).message


def test_home_of_another_account_is_refused(around: MakeAround, project: Path) -> None:
    """A folder the user database calls a home is one, wherever it lies."""
    base = around()
    listed = Surroundings(
        base.environ, project, base.uid, homes=(Home(project, "the home folder of `daemon`"),)
    )
    assert "`daemon`" in _refusal(listed).message


@pytest.mark.parametrize(
    ("named", "words"),
    [
        ("missing", "no such file or directory"),
        ("file", "not a folder"),
        ("file/below", "not a directory"),
        ("loop", ""),
        ("", "an empty name"),
        ("x" * 5000, "file name too long"),
    ],
)
def test_named_folder_that_cannot_be_used_is_an_error(
    around: MakeAround, project: Path, named: str, words: str
) -> None:
    """Each way of not being a folder has its own words and the same code."""
    (project / "file").touch()
    (project / "loop").symlink_to("loop")
    problem = _refusal(around(), named)
    assert problem.code is Code.WORKSPACE_MISSING
    assert words in problem.message


def test_vanished_current_folder_is_an_error(around: MakeAround, project: Path) -> None:
    """Nothing is guessed when the current folder is gone; an absolute name still works."""
    assert _refusal(around(None)).code is Code.WORKSPACE_MISSING
    assert _refusal(around(None), "relative").code is Code.WORKSPACE_MISSING
    assert find_workspace(around(None), str(project)).path == project


def test_name_that_is_not_utf8_is_kept(around: MakeAround, project: Path) -> None:
    """A folder name is bytes; what is not UTF-8 in it survives."""
    odd = os.fsencode(project) + b"/caf\xe9"
    Path(os.fsdecode(odd)).mkdir()
    assert os.fsencode(find_workspace(around(), "caf\udce9").path) == odd


def test_marker_of_somebody_else_is_a_concern(around: MakeAround, project: Path) -> None:
    """Whoever plants a marker above decides how wide the workspace is: that must be seen.

    The attack: a stranger makes `.git` in a shared folder. Named on purpose, it is fine.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can make a file that belongs to somebody else")
    shared = project.parent
    (shared / ".git").mkdir()
    assert find_workspace(around()).concerns == ()
    os.chown(shared / ".git", 23456, 23456)
    (concern,) = find_workspace(around()).concerns
    assert concern.code is Code.WORKSPACE_OWNER
    assert "user 23456" in concern.message
    assert find_workspace(around(), str(shared)).concerns == ()
    behind_sudo = around(environ={"SUDO_UID": "23456"})
    assert find_workspace(behind_sudo).concerns == ()


@pytest.mark.parametrize("foreign", [".paper", ".paper/_cfg"])
def test_every_component_of_a_marker_counts(
    around: MakeAround, project: Path, tmp_path: Path, foreign: str
) -> None:
    """A stranger's link `.paper` to a good folder is as foreign as a stranger's `_cfg` in it.

    The control: the same link and folder of one's own are no concern; named, neither are these.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can make a link that belongs to somebody else")
    target = tmp_path / "target"
    (target / "_cfg").mkdir(parents=True)
    (project / ".paper").symlink_to(target)
    found = find_workspace(around())
    assert (found.found_by, found.concerns) == (FoundBy.MARKER, ())
    os.lchown(project / foreign, 23456, 23456)
    (concern,) = find_workspace(around()).concerns
    assert concern.code is Code.WORKSPACE_OWNER
    assert f"`{project / foreign}` belongs to user 23456" in concern.message
    assert find_workspace(around(), str(project)).concerns == ()

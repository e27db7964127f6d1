"""Where the state directory is, and what is said about one that others could reach."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.service.places import find_workspace
from consentry.service.statedir import StateDirectory, StateSource, find_state
from consentry.service.surroundings import Surroundings

MakeAround = Callable[..., Surroundings]


def _state(around: Surroundings, named: str | None = None) -> StateDirectory:
    return find_state(around, find_workspace(around, named))


def _refusal(around: Surroundings, named: str | None = None) -> ConsentryError:
    with pytest.raises(ConsentryError) as caught:
        _state(around, named)
    return caught.value


def _codes(state: StateDirectory) -> list[Code]:
    return [concern.code for concern in state.concerns]


@pytest.fixture
def place(home: Path) -> Path:
    """The default state directory, made as it should be."""
    folder = home / ".local/state/consentry"
    folder.mkdir(parents=True, mode=0o700)
    folder.chmod(0o700)
    return folder


def test_default_place_is_below_home_and_is_not_made(around: MakeAround, home: Path) -> None:
    """Missing is no concern: the first command that keeps something makes it."""
    state = _state(around())
    assert (state.path, state.source) == (home / ".local/state/consentry", StateSource.DEFAULT)
    assert (state.exists, state.concerns, state.hidden) == (False, (), False)
    assert not (home / ".local").exists()


def test_a_private_folder_of_ones_own_is_fine(around: MakeAround, place: Path) -> None:
    """Mode 0700 and owned by the user: nothing to say."""
    state = _state(around())
    assert (state.exists, state.concerns, state.path) == (True, (), place)


def test_variable_moves_it(around: MakeAround, tmp_path: Path) -> None:
    """CONSENTRY_STATE wins over the XDG variable."""
    wanted = tmp_path / "elsewhere"
    environ = {"CONSENTRY_STATE": str(wanted), "XDG_STATE_HOME": "/nowhere"}
    state = _state(around(environ=environ))
    assert (state.path, state.source) == (wanted, StateSource.CONSENTRY_STATE)


def test_relative_variable_is_refused(around: MakeAround) -> None:
    """Where a relative path leads depends on the current folder; it is never guessed."""
    problem = _refusal(around(environ={"CONSENTRY_STATE": "state"}))
    assert problem.code is Code.SETTING_VALUE
    assert "`state`" in problem.message


def test_no_home_and_no_variable_is_an_error(around: MakeAround) -> None:
    """Without a home there is no default place."""
    assert _refusal(around(environ={"HOME": ""})).code is Code.SETTING_VALUE


@pytest.mark.parametrize("how", ["inside", "the workspace itself", "through a link", "with dots"])
def test_variable_into_the_workspace_is_refused(
    around: MakeAround, project: Path, tmp_path: Path, how: str
) -> None:
    """Confined code may write the workspace, so the state must not be there, however spelled.

    The control: the same folder outside is taken.
    """
    link = tmp_path / "link"
    link.symlink_to(project)
    spelled = {
        "inside": project / "state",
        "the workspace itself": project,
        "through a link": link / "state",
        "with dots": tmp_path / "elsewhere/.." / "work" / "project" / "state",
    }[how]
    assert _refusal(around(environ={"CONSENTRY_STATE": str(spelled)})).code is Code.STATE_REFUSED
    outside = tmp_path / "outside"
    assert _state(around(environ={"CONSENTRY_STATE": str(outside)})).concerns == ()


def test_variable_into_a_named_workspace_is_refused_too(around: MakeAround, home: Path) -> None:
    """Naming the workspace excuses the default place only."""
    problem = _refusal(around(environ={"CONSENTRY_STATE": str(home / "state")}), str(home))
    assert problem.code is Code.STATE_REFUSED


def test_default_place_in_a_named_workspace_is_hidden(around: MakeAround, home: Path) -> None:
    """A home folder may be named as the workspace; the state in it is allowed and hidden."""
    state = _state(around(), str(home))
    assert (state.hidden, state.concerns) == (True, ())


def test_default_place_in_a_found_workspace_is_refused(around: MakeAround, project: Path) -> None:
    """A workspace that was found, not named, must not contain the state."""
    inside = around(environ={"XDG_STATE_HOME": str(project / "inner")})
    problem = _refusal(inside)
    assert problem.code is Code.STATE_REFUSED
    assert "--workspace" in problem.help_line
    assert str(project / "inner/consentry") in problem.message


def test_workspace_in_the_state_directory_is_refused(around: MakeAround, place: Path) -> None:
    """The other way round is no better: code would be given a part of the state."""
    inner = place / "checkout"
    inner.mkdir()
    assert _refusal(around(), str(inner)).code is Code.STATE_REFUSED


def test_bind_mount_of_the_workspace_is_seen(
    around: MakeAround, project: Path, tmp_path: Path
) -> None:
    """A second name for the workspace that no link shows is found by what the folder is."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    alias = tmp_path / "alias"
    alias.mkdir()
    mounted = subprocess.run(["/bin/mount", "--bind", project, alias], check=False)
    if mounted.returncode != 0:
        pytest.skip("this machine lets root mount nothing")
    try:
        problem = _refusal(around(environ={"CONSENTRY_STATE": str(alias / "state")}))
        assert problem.code is Code.STATE_REFUSED
    finally:
        subprocess.run(["/bin/umount", alias], check=True)
    assert _state(around(environ={"CONSENTRY_STATE": str(alias / "state")})).concerns == ()


@pytest.mark.parametrize("which", ["a part of the workspace", "from outside into it"])
def test_bind_mount_of_a_part_is_seen(
    around: MakeAround, project: Path, tmp_path: Path, which: str
) -> None:
    """Part of the workspace mounted elsewhere, or the state's folder mounted into the workspace.

    The control: without the mount, the same place is taken.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can mount")
    part, outside = project / "deep/part", tmp_path / "outside"
    part.mkdir(parents=True)
    outside.mkdir()
    source, point = (part, outside) if which.startswith("a part") else (outside, part)
    environ = {"CONSENTRY_STATE": str(outside / "state")}
    assert _state(around(environ=environ)).concerns == ()
    mounted = subprocess.run(["/bin/mount", "--bind", source, point], check=False)
    if mounted.returncode != 0:
        pytest.skip("this machine lets root mount nothing")
    try:
        assert _refusal(around(environ=environ)).code is Code.STATE_REFUSED
    finally:
        subprocess.run(["/bin/umount", point], check=True)


@pytest.mark.parametrize("made", [True, False])
@pytest.mark.parametrize("foreign", ["folder", "link"])
def test_link_of_somebody_else_on_the_way_is_unsafe(
    around: MakeAround, tmp_path: Path, foreign: str, *, made: bool
) -> None:
    """Whoever owns a link above, or the folder it stands in, chooses the place of the state.

    The control: the same link and folder of one's own are fine.
    """
    if os.geteuid() != 0:
        pytest.skip("only root can make a link that belongs to somebody else")
    mine, hop = tmp_path / "mine", tmp_path / "hop"
    mine.mkdir()
    hop.mkdir()
    (hop / "link").symlink_to(mine)
    if made:
        (mine / "state").mkdir(mode=0o700)
    here = around(environ={"CONSENTRY_STATE": str(hop / "link/state")})
    assert _codes(_state(here)) == []
    os.lchown(hop if foreign == "folder" else hop / "link", 23456, 23456)
    state = _state(here)
    assert _codes(state) == [Code.STATE_UNSAFE]
    assert f"the {foreign} `" in state.concerns[0].message
    assert "user 23456" in state.concerns[0].message


@pytest.mark.parametrize("mode", [0o755, 0o750, 0o701, 0o770])
def test_folder_open_to_others_is_unsafe(around: MakeAround, place: Path, mode: int) -> None:
    """Any right for group or others is named with the mode that was found."""
    place.chmod(mode)
    state = _state(around())
    assert _codes(state) == [Code.STATE_UNSAFE]
    assert f"{mode:04o}" in state.concerns[0].message


def test_folder_of_somebody_else_is_unsafe(around: MakeAround, place: Path) -> None:
    """Its owner could change everything in it."""
    base = around()
    if os.geteuid() == 0:
        os.chown(place, 23456, 23456)
    else:
        base = Surroundings(base.environ, base.cwd, 23456, homes_parent=base.homes_parent)
    assert Code.STATE_UNSAFE in _codes(_state(base))


def test_link_is_unsafe(around: MakeAround, place: Path, tmp_path: Path) -> None:
    """A link can be pointed elsewhere between two commands."""
    moved = tmp_path / "moved"
    place.rename(moved)
    place.symlink_to(moved)
    state = _state(around())
    assert (_codes(state), state.real) == ([Code.STATE_UNSAFE], moved)


@pytest.mark.parametrize("target", ["nowhere", "consentry"])
def test_link_that_leads_nowhere_is_unsafe(around: MakeAround, home: Path, target: str) -> None:
    """A broken link and a loop are reported, not followed and not made."""
    base = home / ".local/state"
    base.mkdir(parents=True)
    (base / "consentry").symlink_to(target)
    state = _state(around())
    assert (_codes(state), state.exists) == ([Code.STATE_UNSAFE], False)


def test_folder_above_that_everybody_may_write_is_unsafe(around: MakeAround, place: Path) -> None:
    """Whoever may write the folder above can put another in its place; sticky protects."""
    place.parent.chmod(0o777)
    assert _codes(_state(around())) == [Code.STATE_UNSAFE]
    place.parent.chmod(0o1777)
    assert _codes(_state(around())) == []


def test_missing_folder_below_an_open_one_is_unsafe(around: MakeAround, home: Path) -> None:
    """Said before it is made, not after."""
    home.chmod(0o777)
    assert _codes(_state(around())) == [Code.STATE_UNSAFE]


def test_file_in_its_place_is_unusable(around: MakeAround, home: Path) -> None:
    """Something else is in the way, at the place itself or above it."""
    (home / ".local/state").mkdir(parents=True)
    (home / ".local/state/consentry").touch()
    assert _codes(_state(around())) == [Code.STATE_UNUSABLE]
    blocked = around(environ={"CONSENTRY_STATE": str(home / ".local/state/consentry/deeper")})
    assert _codes(_state(blocked)) == [Code.STATE_UNUSABLE]


def test_name_that_is_too_long_is_unusable(around: MakeAround) -> None:
    """The system's own refusal becomes a concern and never a crash."""
    long = around(environ={"CONSENTRY_STATE": "/" + "x" * 5000})
    assert _codes(_state(long)) == [Code.STATE_UNUSABLE]


def test_folder_that_may_not_be_written_is_unusable(around: MakeAround, place: Path) -> None:
    """Without the right to write it nothing can be kept."""
    if os.geteuid() == 0:
        pytest.skip("root may write any mode; the command is tested as an ordinary user, too")
    place.chmod(0o500)
    assert _codes(_state(around())) == [Code.STATE_UNUSABLE]

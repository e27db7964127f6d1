"""The command as an ordinary user, who may not read or write everything."""

from pathlib import Path

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error


def test_ordinary_user_has_a_clean_report(as_nobody: CommandLine) -> None:
    """Nothing needs root: in a project of one's own everything is found and fine."""
    ended = as_nobody("status")
    assert (ended.status, ended.err) == (0, "")
    assert "no problem found" in ended.out


def test_ordinary_user_may_not_enter_the_named_folder(as_nobody: CommandLine) -> None:
    """A folder that cannot be read is not a workspace."""
    closed = as_nobody.cwd / "closed"
    closed.mkdir(mode=0o700)
    ended = as_nobody("status", "--workspace", "closed")
    assert_error(ended, Code.WORKSPACE_MISSING)
    assert "may not be read and entered by you" in ended.err


def test_ordinary_user_behind_a_closed_folder(as_nobody: CommandLine) -> None:
    """Neither can what lies below one."""
    (as_nobody.cwd / "closed/below").mkdir(parents=True)
    (as_nobody.cwd / "closed").chmod(0o700)
    ended = as_nobody("status", "--workspace", "closed/below")
    assert_error(ended, Code.WORKSPACE_MISSING)
    assert "permission denied" in ended.err


def test_ordinary_user_with_a_state_of_roots(as_nobody: CommandLine) -> None:
    """A state directory that belongs to root cannot be used, and both reasons are listed."""
    state = Path(as_nobody.environ["HOME"]) / ".local/state/consentry"
    state.mkdir(parents=True, mode=0o700)
    ended = as_nobody("status")
    assert ended.status == 1
    assert "[state-unsafe]" in ended.out
    assert "[state-unusable]" in ended.out


def test_ordinary_user_with_a_home_that_cannot_be_written(as_nobody: CommandLine) -> None:
    """The state directory cannot be made there, and that is said before anything needs it."""
    ended = as_nobody("status", HOME="/nonexistent")
    assert ended.status == 1
    assert "[state-unusable] `/nonexistent/.local/state/consentry` cannot be made" in ended.out


def test_ordinary_user_asks_about_a_path_of_roots(as_nobody: CommandLine) -> None:
    """The answer comes from the table; the path itself need not be reachable."""
    ended = as_nobody("explain", "/root/.ssh/id_ed25519")
    assert ended.status == 0
    assert "in a protected root" in ended.out


def test_ordinary_user_in_a_folder_closed_to_them(as_nobody: CommandLine) -> None:
    """Started where one may not be, as after `sudo -u`: a problem in the report, and no crash."""
    closed = as_nobody.cwd.parent / "closed"
    closed.mkdir(mode=0o700)
    as_nobody.cwd = closed
    ended = as_nobody("status")
    assert ended.status == 1
    assert "[workspace-missing]" in ended.out

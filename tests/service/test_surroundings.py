"""Home and base folders, as the environment and the user database decide them."""

import os
import pwd
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.service.surroundings import (
    Home,
    Surroundings,
    configuration_base,
    home_that_is,
    homes_in,
    homes_parent_on,
    look_around,
    own_home,
    owners_of_ours,
    state_base,
)

MakeAround = Callable[..., Surroundings]


def test_default_base_folders_are_below_home(around: MakeAround, home: Path) -> None:
    """Without XDG variables the specification's defaults hold."""
    assert state_base(around()).path == home / ".local/state"
    assert configuration_base(around()).path == home / ".config"


def test_absolute_xdg_values_are_taken(around: MakeAround) -> None:
    """An absolute value moves the base folder, and the answer says what decided."""
    found = around(environ={"XDG_STATE_HOME": "/srv/state", "XDG_CONFIG_HOME": "/srv/config"})
    assert (state_base(found).path, state_base(found).source) == (
        Path("/srv/state"),
        "by XDG_STATE_HOME",
    )
    assert configuration_base(found).path == Path("/srv/config")


def test_relative_xdg_values_are_ignored_and_noted(around: MakeAround, home: Path) -> None:
    """The specification calls a relative value invalid: the default holds, and a note says so."""
    found = state_base(around(environ={"XDG_STATE_HOME": "state"}))
    assert found.path == home / ".local/state"
    assert found.notes == (
        "XDG_STATE_HOME is `state`, which is not an absolute path, and is ignored",
    )


def test_empty_xdg_values_are_as_if_not_set(around: MakeAround, home: Path) -> None:
    """The specification treats empty like unset, so there is nothing to note."""
    found = configuration_base(around(environ={"XDG_CONFIG_HOME": ""}))
    assert (found.path, found.notes) == (home / ".config", ())


@pytest.mark.parametrize("value", ["", "relative/home", "~"])
def test_unusable_home_falls_back_to_the_account(around: MakeAround, value: str) -> None:
    """HOME that is unset, empty or not absolute: the account's home is taken, with a note."""
    found = own_home(around(environ={"HOME": value}, account_home=Path("/home/account")))
    assert found.path == Path("/home/account")
    assert len(found.notes) == 1


def test_no_home_at_all_is_said(around: MakeAround) -> None:
    """Neither HOME nor an account: there is no home, and the base folders have no place."""
    nowhere = around(environ={"HOME": ""})
    assert own_home(nowhere).path is None
    assert state_base(nowhere).path is None
    assert own_home(nowhere).notes == ("HOME is not set, and your account has no home folder",)


def test_own_home_is_a_home(around: MakeAround, home: Path) -> None:
    """The folder that HOME names is recognised, also when HOME is a link to it."""
    assert home_that_is(around(), home) == Home(home, "your home folder")
    link = home.parent.parent / "link"
    link.symlink_to(home)
    assert home_that_is(around(environ={"HOME": str(link)}), home) is not None


def test_every_folder_beside_is_a_home(around: MakeAround, home: Path) -> None:
    """A folder directly below the parent of homes is somebody's, listed or not."""
    neighbour = home.parent / "neighbour"
    assert home_that_is(around(), neighbour) == Home(neighbour, "a home folder")
    assert home_that_is(around(), neighbour / "project") is None


def test_homes_of_accounts_are_homes(tmp_path: Path) -> None:
    """What the user database names counts, whatever the folder is called."""
    passwd = tmp_path / "passwd"
    passwd.write_bytes(
        b"daemon:x:1:1::/srv/daemon:/bin/false\n"
        b"no-home:x:2:2:::/bin/sh\n"
        b"not a line\n"
        b"caf\xe9:x:3:3::/srv/caf\xe9:/bin/sh\n"
    )
    found = homes_in(passwd)
    assert [os.fsencode(home.path) for home in found] == [b"/srv/daemon", b"/srv/caf\xe9"]
    around = Surroundings({}, tmp_path, 1000, homes=found)
    assert home_that_is(around, Path("/srv/daemon")) == found[0]
    assert home_that_is(around, Path("/srv")) is None


def test_missing_user_database_names_no_homes(tmp_path: Path) -> None:
    """A container may have none; that is no error."""
    assert homes_in(tmp_path / "missing") == ()


def test_root_behind_sudo_shares_with_the_caller() -> None:
    """SUDO_UID counts for root alone: an ordinary user could set it to anything."""
    as_root = Surroundings({"SUDO_UID": "1000"}, None, 0)
    as_user = Surroundings({"SUDO_UID": "1000"}, None, 2000)
    odd = [Surroundings({"SUDO_UID": value}, None, 0) for value in ("-1", "x", "9" * 5000)]
    assert 1000 in owners_of_ours(as_root)
    assert owners_of_ours(as_user) == (0, 2000)
    assert [owners_of_ours(each) for each in odd] == [(0, 0)] * 3


def test_looking_around_asks_the_system() -> None:
    """The real edge: the current folder, the effective user, and the account's own home."""
    found = look_around({"HOME": "/somewhere"})
    assert found.cwd == Path.cwd()
    assert found.uid == os.geteuid()
    assert found.account_home == Path(pwd.getpwuid(os.geteuid()).pw_dir)
    assert found.environ["HOME"] == "/somewhere"


def test_homes_lie_where_the_system_has_them() -> None:
    """No folder directly in it is taken as a workspace unasked."""
    assert homes_parent_on("linux") == Path("/home")
    assert homes_parent_on("darwin") == Path("/Users")

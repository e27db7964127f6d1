"""What the command was started in: environment, current folder, user, home folders.

`look_around` is the edge that asks the system; everything that finds a place takes the value it
returns, so that tests hand in another one. A relative value of an XDG variable is ignored, as the
XDG base directory specification says, and an ignored value leaves a note.
"""

import os
import pwd
import sys
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from consentry.base.values import dataclass
from consentry.enforce.ownership import ROOT_UID

PASSWD = Path("/etc/passwd")
HOMES = Path("/home")
_HOMES_ON_MACOS = Path("/Users")
_PASSWD_FIELDS = 7
_MOST_DIGITS = 10
_LAST_UID = 2**32 - 2  # the next one stands for nobody at all


@dataclass(frozen=True, slots=True)
class Home:
    """A home folder and whose it is, in words."""

    path: Path
    owner: str


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Everything besides the file system that decides where things are.

    `cwd` is None when the current folder does not exist any more. `account_home` is the home the
    user database has for `uid`. `homes` are the folders never taken as a workspace unasked, and
    every folder directly below `homes_parent` is one of them.
    """

    environ: Mapping[str, str]
    cwd: Path | None
    uid: int
    account_home: Path | None = None
    homes: tuple[Home, ...] = ()
    homes_parent: Path = HOMES


@dataclass(frozen=True, slots=True)
class BaseFolder:
    """A base folder, what decided on it, and what was ignored on the way to it."""

    path: Path | None
    source: str
    notes: tuple[str, ...] = ()


def look_around(environ: Mapping[str, str]) -> Surroundings:
    """Asks the system. Reads the local user database only; a directory service is not searched."""
    uid = os.geteuid()
    try:
        cwd = Path.cwd()
    except OSError:
        cwd = None
    account_home = _account_home(uid)
    own = () if account_home is None else (Home(account_home, "your home folder"),)
    homes = (*own, Home(Path("/root"), "the home folder of `root`"), *homes_in(PASSWD))
    return Surroundings(environ, cwd, uid, account_home, homes, homes_parent_on(sys.platform))


def homes_parent_on(platform: str) -> Path:
    """The folder in which users have theirs."""
    return _HOMES_ON_MACOS if platform == "darwin" else HOMES


def _account_home(uid: int) -> Path | None:
    try:
        home = pwd.getpwuid(uid).pw_dir
    except KeyError:
        return None
    return Path(home) if home.startswith("/") else None


def homes_in(passwd: Path) -> tuple[Home, ...]:
    """The home folders a file in the form of /etc/passwd names."""
    try:
        return _homes_named(passwd.read_bytes())
    except OSError:
        return ()


@lru_cache(maxsize=2)
def _homes_named(content: bytes) -> tuple[Home, ...]:
    """Remembered, because a program that runs many others asks again each time."""
    lines = content.decode("utf-8", "surrogateescape").splitlines()
    rows = [fields for line in lines if len(fields := line.split(":")) == _PASSWD_FIELDS]
    return tuple(
        Home(Path(fields[5]), f"the home folder of `{fields[0]}`")
        for fields in rows
        if fields[5].startswith("/")
    )


def own_home(around: Surroundings) -> BaseFolder:
    """`$HOME` when it is an absolute path, else what the user database has."""
    value = around.environ.get("HOME", "")
    if value.startswith("/"):
        return BaseFolder(Path(value), "HOME")
    what = "not set" if value == "" else f"`{value}`, which is not an absolute path"
    if around.account_home is None:
        return BaseFolder(None, "HOME", (f"HOME is {what}, and your account has no home folder",))
    note = f"HOME is {what}; the home folder of your account is taken"
    return BaseFolder(around.account_home, "the user database", (note,))


def state_base(around: Surroundings) -> BaseFolder:
    """`$XDG_STATE_HOME`, or `.local/state` in the home folder."""
    value = around.environ.get("XDG_STATE_HOME", "")
    return _base_folder(around, "XDG_STATE_HOME", value, ".local/state")


def configuration_base(around: Surroundings) -> BaseFolder:
    """`$XDG_CONFIG_HOME`, or `.config` in the home folder."""
    value = around.environ.get("XDG_CONFIG_HOME", "")
    return _base_folder(around, "XDG_CONFIG_HOME", value, ".config")


def _base_folder(around: Surroundings, variable: str, value: str, default: str) -> BaseFolder:
    if value.startswith("/"):
        return BaseFolder(Path(value), f"by {variable}")
    ignored = (
        (f"{variable} is `{value}`, which is not an absolute path, and is ignored",)
        if value
        else ()
    )
    home = own_home(around)
    path = None if home.path is None else home.path / default
    return BaseFolder(path, "by default", ignored + home.notes)


def resolved(path: Path) -> Path:
    """With links resolved as far as they lead somewhere; never raises, whatever is on the way."""
    return Path(os.path.realpath(path))


def caller_behind_sudo(around: Surroundings) -> int | None:
    """Who called sudo, when we are root by it; the variable means nothing to anybody else."""
    caller = around.environ.get("SUDO_UID", "")
    is_number = caller.isascii() and caller.isdigit() and len(caller) <= _MOST_DIGITS
    if around.uid != ROOT_UID or not is_number or int(caller) > _LAST_UID:
        return None
    return int(caller)


def owners_of_ours(around: Surroundings) -> tuple[int, ...]:
    """Whose files may decide things for us: root's, the user's, and behind sudo the caller's."""
    caller = caller_behind_sudo(around)
    return (ROOT_UID, around.uid, *(() if caller is None else (caller,)))


def home_that_is(around: Surroundings, folder: Path) -> Home | None:
    """The home folder that `folder`, a resolved path, is; None when it is nobody's."""
    home = own_home(around).path
    known = around.homes if home is None else (Home(home, "your home folder"), *around.homes)
    for candidate in known:
        if folder in _spellings(candidate.path):
            return candidate
    if folder.parent in (around.homes_parent, resolved(around.homes_parent)):
        return Home(folder, "a home folder")
    if home is not None and folder == resolved(home):
        return Home(folder, "your home folder")
    return None


def home_within(around: Surroundings, folder: Path) -> Home | None:
    """A home folder that lies below `folder`, a resolved path; None when none is known to."""
    home = own_home(around).path
    known = around.homes if home is None else (Home(home, "your home folder"), *around.homes)
    for candidate in known:
        if any(folder in path.parents for path in _spellings(candidate.path)):
            return candidate
    parents = _spellings(around.homes_parent)
    if any(folder in (path, *path.parents) for path in parents):
        return Home(around.homes_parent, "the home folders")
    return None


def _spellings(path: Path) -> tuple[Path, Path]:
    return path, _with_resolved_parent(path)


def _with_resolved_parent(path: Path) -> Path:
    # The last component stays as it is spelled: resolving it would wake an automounter.
    return resolved(path.parent) / path.name

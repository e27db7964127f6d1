"""The view `visible`: the host's tree is there, and nothing of it can be opened, changed or reached."""

import os
import shutil
import socket
from pathlib import Path

import pytest

from tests.enforce.attacks.attackers import Attacker
from tests.enforce.shownfolders import shown_folder

FOLDER = shown_folder()
pytestmark = pytest.mark.skipif(FOLDER is None, reason="this user can write no folder it shows")

VISIBLE = {"view": "visible"}


def _reads(secret: Path) -> dict[str, str]:
    return {
        "stat": f"os.stat({str(secret)!r}).st_size",
        "read": f"read({str(secret)!r})",
        "climb": f"read({'../' * 12 + str(secret).lstrip('/')!r})",
        "by proc": f"read('/proc/self/root{secret}')",
        "by the first": f"read('/proc/1/root{secret}')",
        "list": f"os.listdir({str(secret.parent)!r})",
        "list all": "os.listdir('/')",
    }


def test_what_is_not_granted_can_be_looked_up_and_not_opened(attacker: Attacker) -> None:
    """Its size is known inside; its content, and what else is in its folder, are not."""
    secret = attacker.put("outside/secret")
    found = attacker.tries(_reads(secret), **VISIBLE)
    assert found.pop("stat") == "6"
    assert found.pop("by the first") in ("EACCES", "ENOENT")
    assert set(found.values()) == {"EACCES"}, found


def test_what_is_granted_can_be_read(attacker: Attacker) -> None:
    """The same file by the same names, with its folder granted; the folder above is not."""
    secret = attacker.put("outside/secret")
    found = attacker.tries(_reads(secret), read=["./", f"{secret.parent}/"], **VISIBLE)
    assert found["read"] == found["climb"] == found["by proc"] == "b'SECRET'"
    assert found["list"] == "['secret']"
    assert found["list all"] == "EACCES"


def test_landlock_is_what_refuses_reading(attacker: Attacker) -> None:
    """Without it, in a box that is whole otherwise, the file is read."""
    secret = attacker.put("outside/secret")
    found = attacker.tries(_reads(secret), without=["landlock"], **VISIBLE)
    assert found["read"] == found["climb"] == "b'SECRET'"


def _changes(secret: Path) -> dict[str, str]:
    new = secret.with_name("new")
    return {
        "write": f"write({str(secret)!r})",
        "make": f"write({str(new)!r})",
        "remove": f"os.unlink({str(secret)!r})",
        "rename": f"os.rename({str(secret)!r}, {str(new)!r})",
        "mode": f"os.chmod({str(secret)!r}, 0o600)",
        "time": f"os.utime({str(secret)!r}, (1, 1))",
        "mark": f"os.setxattr({str(secret)!r}, 'user.mark', b'x')",
    }


def _state(secret: Path) -> tuple[str, int, int, list[str]]:
    found = secret.stat()
    return (
        secret.read_text(),
        found.st_mode,
        found.st_mtime_ns,
        sorted(map(str, secret.parent.iterdir())),
    )


def test_nothing_outside_the_grants_is_changed(attacker: Attacker) -> None:
    """Neither content nor names, nor what Landlock does not govern: modes, times, marks."""
    secret = attacker.put("outside/secret")
    before = _state(secret)
    found = attacker.tries(_changes(secret), **VISIBLE)
    assert set(found.values()) <= {"EACCES", "EROFS", "EPERM"}, found
    assert _state(secret) == before


def test_what_is_granted_is_changed_in_the_layer(attacker: Attacker) -> None:
    """The changes succeed inside; the host's files wait for the commit."""
    secret = attacker.put("outside/secret")
    before = _state(secret)
    for name, change in _changes(secret).items():
        wish = {"read": ["./", f"{secret.parent}/"], "write": [f"{secret.parent}/"], **VISIBLE}
        found = attacker.tries({name: change}, **wish)
        assert found[name] in ("done", "None"), found
    assert _state(secret) == before


@pytest.mark.parametrize("left", ["landlock", "backdrop"])
def test_each_of_two_walls_holds_writing(attacker: Attacker, left: str) -> None:
    """Landlock over the host's own folders, and read-only folders without Landlock."""
    secret = attacker.put("outside/secret")
    taken = {"landlock": "backdrop", "backdrop": "landlock"}[left]
    wanted = {name: _changes(secret)[name] for name in ("write", "make", "remove")}
    found = attacker.tries(wanted, without=[taken], **VISIBLE)
    assert set(found.values()) == {"EACCES" if left == "landlock" else "EROFS"}
    assert secret.read_text() == "SECRET"


def test_without_both_walls_the_host_is_written(attacker: Attacker) -> None:
    """It is these two, and nothing else, that stand before the file."""
    secret = attacker.put("outside/secret")
    wanted = {"write": _changes(secret)["write"]}
    found = attacker.tries(wanted, without=["landlock", "backdrop"], **VISIBLE)
    assert found["write"] == "done"
    assert secret.read_text() == "EVIL"


def test_programs_outside_the_grants_do_not_start(attacker: Attacker) -> None:
    """Refused by Landlock; started without it, and where it is granted with any program."""
    program = attacker.put("outside/program", mode=0o755)
    shutil.copyfile("/usr/bin/true", program)
    wanted = {"start": f"status({str(program)!r})"}
    assert attacker.tries(wanted, **VISIBLE) == {"start": "EACCES"}
    assert attacker.tries(wanted, without=["landlock"], **VISIBLE) == {"start": "0"}
    wish = {"read": ["./", f"{program.parent}/"], "run_any": True, **VISIBLE}
    assert attacker.tries(wanted, **wish) == {"start": "0"}


def test_denied_places_are_hidden(attacker: Attacker) -> None:
    """Nothing is there, with or without Landlock; without the cover and Landlock, the file is."""
    secret = attacker.put("outside/denied/secret")
    wanted = {"read": f"read({str(secret)!r})", "stat": f"os.stat({str(secret)!r}).st_size"}
    wish = {"denied": [f"{secret.parent}/"], **VISIBLE}
    for taken in ([], ["landlock"]):
        found = attacker.tries(wanted, without=taken, **wish)
        assert set(found.values()) <= {"ENOENT", "EACCES"}, found
    found = attacker.tries(wanted, without=["covers", "landlock"], **wish)
    assert found == {"read": "b'SECRET'", "stat": "6"}


@pytest.mark.parametrize("place", ["/sys", "/run", "/var/log", "/boot", "/etc/shadow", "/etc/ssh"])
def test_places_of_the_system_are_not_there(attacker: Attacker, place: str) -> None:
    """Protected roots are hidden, without Landlock as well."""
    found = attacker.tries({"stat": f"os.stat({place!r})"}, without=["landlock"], **VISIBLE)
    assert found["stat"] == "ENOENT"


def test_sockets_of_the_host_lead_to_nobody(attacker: Attacker) -> None:
    """Landlock does not govern connecting; the file system between does."""
    path = attacker.place / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        path.chmod(0o777)
        listening.listen()
        wanted = {"connect": f"socket.socket(socket.AF_UNIX).connect({str(path)!r})"}
        assert attacker.tries(wanted, **VISIBLE) == {"connect": "ECONNREFUSED"}
        assert attacker.tries(wanted, without=["landlock"], **VISIBLE) == {
            "connect": "ECONNREFUSED"
        }
        assert attacker.tries(wanted, without=["backdrop"], **VISIBLE) == {"connect": "None"}


def test_sockets_of_its_own_work(attacker: Attacker) -> None:
    """What it makes in its own folder it can talk to."""
    own = (
        "[a := socket.socket(socket.AF_UNIX), a.bind('/tmp/own'), a.listen(),"
        " socket.socket(socket.AF_UNIX).connect('/tmp/own')][-1]"
    )
    assert attacker.tries({"own": own}, **VISIBLE) == {"own": "None"}


def test_pipes_of_the_host_lead_to_nobody(attacker: Attacker) -> None:
    """A named pipe is opened in the box's own file system: nobody is at the other end."""
    path = attacker.place / "pipe"
    os.mkfifo(path, 0o666)
    path.chmod(0o666)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        wanted = {"write": f"os.open({str(path)!r}, os.O_WRONLY | os.O_NONBLOCK)"}
        found = attacker.tries(wanted, without=["landlock"], **VISIBLE)
        assert found["write"] in ("ENXIO", "EROFS"), found
        found = attacker.tries(wanted, without=["landlock", "backdrop"], **VISIBLE)
        assert found["write"].isdigit(), found
    finally:
        os.close(reader)


def test_files_of_root_are_not_opened_by_number(attacker: Attacker) -> None:
    """A root caller's program is another user on the host: modes hold beside Landlock."""
    if attacker.uid != 0:
        pytest.skip("the caller is not root")
    closed = attacker.put("outside/closed", mode=0o600)
    wanted = {"read": f"read({str(closed)!r})"}
    assert attacker.tries(wanted, without=["landlock"], **VISIBLE) == {"read": "EACCES"}
    closed.chmod(0o644)
    assert attacker.tries(wanted, without=["landlock"], **VISIBLE) == {"read": "b'SECRET'"}


def test_a_closed_folder_is_passed_on_the_way_to_a_grant(attacker: Attacker) -> None:
    """The workspace is reached through a folder that only its owner may enter.

    A root caller's program could not enter it by itself, and so sees nothing else in it.
    """
    beside = attacker.put("closed/beside")
    granted = attacker.put("closed/ws/granted", "GRANTED")
    beside.parent.chmod(0o700)
    wanted = {
        "granted": "read('granted')",
        "beside": f"os.stat({str(beside)!r}).st_size",
        "read": f"read({str(beside)!r})",
    }
    found = attacker.tries(wanted, workspace=str(granted.parent), **VISIBLE)
    assert found["granted"] == "b'GRANTED'"
    assert found["beside"] == ("ENOENT" if attacker.uid == 0 else "6")
    assert found["read"] in ("ENOENT", "EACCES")

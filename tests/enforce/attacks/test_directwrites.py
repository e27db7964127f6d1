"""Writes that reach the host at once: names that other programs obey, and other ways to stay there."""

import socket
import stat
import time
from pathlib import Path
from threading import Thread

import pytest

from tests.enforce.attacks.attackers import Attacker
from tests.enforce.attacks.test_configescapes import NEW, OBEYED, VARIANTS

DIRECT = {"writes": "direct", "write": ["./", "/tmp/"]}
# Taken away, the program makes names itself, and nobody looks at them.
MAKES_ITSELF = ["landlock", "filter"]

PUT = """
def put(name):
    folder = os.path.dirname(name)
    folder and os.makedirs(folder, exist_ok=True)
    return write(name)
"""
WAYS = {
    "new": "put({0!r})",
    "renamed": "put({0!r} + '.tmp') and os.rename({0!r} + '.tmp', {0!r})",
    "moved": "put({0!r} + '.tmp') and put('evil') and os.rename('evil', {0!r})",
    "linked": "put({0!r} + '.tmp') and put('evil') and os.link('evil', {0!r})",
    "pointed": "put({0!r} + '.tmp') and os.symlink({0!r} + '.tmp', {0!r})",
}


def _there(attacker: Attacker, names: tuple[str, ...]) -> set[str]:
    return {name for name in names if (attacker.ws / name).exists()}


def test_ordinary_writes_reach_the_host_at_once(attacker: Attacker) -> None:
    """Files are made, changed, moved, linked and removed, and belong to whoever owns the folder."""
    attacker.put("ws/old", "OLD")
    attacker.put("ws/gone", "OLD")
    ways = {
        "new": "write('new')",
        "made": "os.makedirs('a/b/c') or write('a/b/c/file')",
        "changed": "write('old')",
        "moved": "write('tmp') and os.makedirs('d') or os.rename('tmp', 'd/moved')",
        "folder": "os.makedirs('from/sub') or os.rename('from', 'd/to')",
        "replaced": "write('tmp', b'NEW') and os.replace('tmp', 'new')",
        "linked": "os.link('old', 'hard')",
        "pointed": "os.symlink('../old', 'd/soft')",
        "removed": "os.unlink('gone')",
        "exclusive": "write('new', flags=os.O_CREAT | os.O_EXCL)",
        "missing": "write('nowhere/file')",
        "appended": "write('log', b'1', os.O_CREAT | os.O_APPEND) and write('log', b'2', os.O_APPEND)",
        "masked": "os.umask(0o027) and write('masked') and oct(os.stat('masked').st_mode)",
        "kept open": "os.get_inheritable(os.open('inherit', os.O_CREAT | os.O_WRONLY))",
    }
    found = attacker.tries(ways, **DIRECT)
    assert found.pop("exclusive") == "EEXIST"
    assert found.pop("missing") == "ENOENT"
    assert found.pop("masked") == "0o100750"
    assert set(found.values()) <= {"done", "None", "False"}, found
    assert (attacker.ws / "new").read_text() == "NEW"
    assert (attacker.ws / "old").read_text() == "EVIL"
    assert (attacker.ws / "log").read_text() == "12"
    assert (attacker.ws / "d/to/sub").is_dir()
    assert (attacker.ws / "d/soft").readlink() == Path("../old")
    assert not (attacker.ws / "gone").exists()
    for path in attacker.ws.rglob("*"):
        assert path.lstat().st_uid == attacker.uid, path
        assert path.lstat().st_gid == attacker.ws.stat().st_gid, path


def test_names_that_other_programs_obey_are_not_made(attacker: Attacker) -> None:
    """New, renamed, moved, linked, or pointed at, in whatever spelling."""
    names = (*OBEYED, *VARIANTS)
    attempts = {f"{way} {name}": WAYS[way].format(name) for way in WAYS for name in names}
    attempts["harmless"] = "put('some/file')"
    found = attacker.tries(attempts, setup=PUT, **DIRECT)
    assert found.pop("harmless") == "done"
    assert set(found.values()) == {"EACCES"}, found
    assert _there(attacker, names) == set()


def test_in_the_view_visible_it_is_the_same(attacker: Attacker) -> None:
    """The host's tree behind it changes nothing about who makes names."""
    attacker.put("ws/.git/config", "OURS")
    attempts = {
        "harmless": "put('some/file')",
        "obeyed": "put('.envrc')",
        "there": "put('.git/config')",
        "outside": "write('../beside')",
    }
    found = attacker.tries(attempts, setup=PUT, view="visible", **DIRECT)
    assert found.pop("harmless") == "done"
    assert set(found.values()) <= {"EACCES", "EROFS"}, found
    assert (attacker.ws / "some/file").exists()
    assert _there(attacker, (".envrc", "../beside")) == set()


def test_those_that_exist_stay_as_they_are(attacker: Attacker) -> None:
    """They can be read, and neither written nor replaced, moved or removed, nor their folders."""
    paths = [attacker.put(f"ws/{name}", "OURS") for name in OBEYED]
    attempts = {
        f"{way} {name}": code.format(name)
        for name in OBEYED
        for way, code in {
            "write": "write('{0}')",
            "remove": "os.unlink('{0}')",
            "move": "os.rename('{0}', 'away')",
            "replace": "write('tmp') and os.rename('tmp', '{0}')",
            "link": "os.unlink('{0}') or os.symlink('tmp', '{0}')",
        }.items()
    }
    for folder in (".git", ".git/hooks", ".vscode", "nested", "nested/deep"):
        attempts[f"move {folder}"] = f"os.rename({folder!r}, 'away')"
    attempts["read"] = "read('.git/config')"
    found = attacker.tries(attempts, **DIRECT)
    assert found.pop("read") == "b'OURS'"
    assert set(found.values()) <= {"EROFS", "EBUSY", "EACCES", "EXDEV"}, found
    for path in paths:
        assert path.read_text(encoding="utf-8") == "OURS"
        assert not path.is_symlink()


def test_no_folder_becomes_a_repository(attacker: Attacker) -> None:
    """Neither by moving one that was prepared, nor by a `HEAD`, in whatever order."""
    attacker.put("ws/work/HEAD", "OURS")
    ways = {
        "moved": "os.makedirs('a/hooks') or os.rename('a', '.git')",
        "deep": "os.makedirs('b/c/hooks') or os.mkdir('b/.git') or os.rename('b/c', 'b/.git/c')"
        " or os.rename('b/.git/c/hooks', 'b/.git/hooks')",
        "bare": "os.makedirs('bare/hooks') or write('bare/HEAD')",
        "head first": "os.mkdir('work/hooks')",
        "head moved": "os.makedirs('c/hooks') or write('c/x') and os.rename('c/x', 'c/HEAD')",
        "modules": "os.makedirs('m/modules/sub/hooks') or os.rename('m', '.git')",
        "closed": "os.makedirs('n/modules/sub/hooks') or os.chmod('n/modules', 0)"
        " or os.rename('n', '.git')",
    }
    found = attacker.tries(ways, **DIRECT)
    assert set(found.values()) == {"EACCES"}, found
    stopped = (".git/hooks", "b/.git/hooks", "bare/HEAD", "work/hooks", "c/HEAD", ".git/modules")
    assert _there(attacker, stopped) == set()
    (attacker.ws / "n/modules").chmod(0o700)


def test_a_program_without_a_free_descriptor_is_told_so(attacker: Attacker) -> None:
    """What was opened for it cannot be given; it does not wait for ever."""
    ways = {
        "full": "__import__('resource').setrlimit(7, (3, 3)) or write('late')",
        "next": "write('early')",
    }
    found = attacker.tries(ways, **DIRECT)
    assert found == {"full": "EMFILE", "next": "done"}


def test_nothing_is_left_that_leads_out_or_lends_an_identity(attacker: Attacker) -> None:
    """Links that climb, sockets, pipes, and bits that make others run a file as its owner."""
    attacker.put("ws/mine", "MINE", 0o755)
    ways = {
        "absolute": "os.symlink('/etc/passwd', 'x1')",
        "climbing": "os.symlink('../outside', 'x2')",
        "climbing later": "os.symlink('a/../../outside', 'x3')",
        "pipe": "os.mkfifo('x4')",
        "socket": "socket.socket(socket.AF_UNIX).bind('x5')",
        "chmod": "os.chmod('mine', 0o4755)",
        "fchmod": "os.fchmod(os.open('mine', 0), 0o2755)",
        "fchmodat2": "call(452, -100, b'mine', 0o4755, 0)",
        "unnamed": "os.link('/proc/self/fd/%d' % os.open('.', os.O_TMPFILE | os.O_RDWR), '.envrc')",
    }
    found = attacker.tries(ways, **DIRECT)
    assert set(found.values()) <= {"EACCES", "EPERM", "ENOENT", "EXDEV", "EAFNOSUPPORT"}, found
    made = {"at once": "os.close(os.open('lends', os.O_CREAT | os.O_WRONLY, 0o6755))"}
    assert attacker.tries(made, **DIRECT) == {"at once": "None"}
    assert {path.name for path in attacker.ws.iterdir()} == {"mine", "lends"}
    for path in attacker.ws.iterdir():
        assert not path.stat().st_mode & (stat.S_ISUID | stat.S_ISGID)


CLIMBING = {
    "moved": "os.symlink('../../out', 'a/b/1') or os.rename('a/b/1', 'up1')",
    "linked": "os.symlink('../../out', 'a/b/2') or os.link('a/b/2', 'up2', follow_symlinks=False)",
    "with its folder": "os.symlink('../../out', 'a/c/3') or os.rename('a/c', 'up3')",
}


def test_a_link_does_not_come_to_lead_out_by_being_moved(attacker: Attacker) -> None:
    """It climbs from where it lies: moved, linked, or lying in a folder that is moved."""
    setup = "os.makedirs('a/b'); os.makedirs('a/c'); os.makedirs('d/e')"
    found = attacker.tries(CLIMBING, setup=setup, **DIRECT)
    assert found == dict.fromkeys(CLIMBING, "EACCES")
    assert {path.name for path in attacker.ws.iterdir()} == {"a", "d"}
    inside = {
        "as deep": "os.rename('a/b/1', 'd/e/1')",
        "deeper": "os.rename('a/c', 'd/e/c')",
    }
    assert attacker.tries(inside, **DIRECT) == dict.fromkeys(inside, "None")


def test_without_the_controls_a_moved_link_leads_out(attacker: Attacker) -> None:
    """The kernel moves it like any other name."""
    setup = "os.makedirs('a/b'); os.makedirs('a/c')"
    found = attacker.tries(CLIMBING, setup=setup, without=MAKES_ITSELF, **DIRECT)
    assert found == dict.fromkeys(CLIMBING, "None")
    assert (attacker.ws / "up1").readlink() == Path("../../out")


def test_a_second_thread_does_not_help(attacker: Attacker) -> None:
    """The name is read once; a thread that changes it meanwhile makes a harmless file or none."""
    code = """
import threading
name = ctypes.create_string_buffer(b"harmless")
over = False
def flip():
    while not over:
        ctypes.memmove(name, b".envrc\\0\\0", 8)
        ctypes.memmove(name, b"harmless", 8)
thread = threading.Thread(target=flip)
thread.start()
for _ in range(400):
    descriptor = libc.syscall(257, -100, name, os.O_CREAT | os.O_WRONLY, 0o644)
    if descriptor >= 0:
        os.close(descriptor)
        try:
            os.unlink("harmless")
        except OSError:
            pass
over = True
thread.join()
write("end")
"""
    told = attacker.runs(code, **DIRECT)
    assert told.status == 0, told.err
    assert _there(attacker, (".envrc", "end")) == {"end"}


def test_granted_by_a_layer_the_same_names_can_be_named(attacker: Attacker) -> None:
    """Whoever wants them written names them, and lets the commit look."""
    state = attacker.place / "state"
    state.mkdir()
    attacker.own(state)
    told = attacker.runs(NEW, words=[".envrc"], write=["./", "./.envrc"], commit=str(state))
    assert told.status == 0, told.err
    assert (attacker.ws / ".envrc").read_text() == "EVIL"


def test_without_the_controls_they_are_made(attacker: Attacker) -> None:
    """With Landlock and the filter gone, the program's own calls make whatever they name."""
    attempts = {name: f"put({name!r})" for name in OBEYED}
    found = attacker.tries(attempts, setup=PUT, without=MAKES_ITSELF, **DIRECT)
    assert set(found.values()) == {"done"}, found
    assert _there(attacker, OBEYED) == set(OBEYED)


def test_a_socket_that_was_there_is_not_reached(attacker: Attacker) -> None:
    """It is covered; without the cover, whoever listens outside is talked to."""
    path = attacker.ws / "door"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        path.chmod(0o777)
        attacker.own(path)
        listener.listen()
        way = {"door": "socket.socket(socket.AF_UNIX).connect('door')"}
        assert attacker.tries(way, **DIRECT) == {"door": "EAFNOSUPPORT"}
        assert attacker.tries(way, without=["covers", "filter"], **DIRECT) == {"door": "None"}


UNTIL = """
def until(name):
    while not os.path.exists(name):
        time.sleep(0.01)
"""
LATE = {
    "connect": "until('door') or socket.socket(socket.AF_UNIX).connect('door')",
    "send": "until('box') or socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', 'box')",
}


def _late_doors(attacker: Attacker, kept: list[socket.socket]) -> None:
    deadline = time.monotonic() + 60
    while not (attacker.ws / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    for name, kind in (("door", socket.SOCK_STREAM), ("box", socket.SOCK_DGRAM)):
        made = socket.socket(socket.AF_UNIX, kind)
        kept.append(made)
        # Whole from the moment that it has its name.
        made.bind(str(attacker.ws / f"{name}.tmp"))
        if kind == socket.SOCK_STREAM:
            made.listen()
        (attacker.ws / f"{name}.tmp").chmod(0o777)
        (attacker.ws / f"{name}.tmp").rename(attacker.ws / name)


@pytest.mark.parametrize(
    ("without", "expected"),
    [
        ([], {"connect": "EAFNOSUPPORT", "send": "EAFNOSUPPORT"}),
        (MAKES_ITSELF, {"connect": "None", "send": "1"}),
    ],
)
def test_a_socket_that_comes_later_is_not_reached(
    attacker: Attacker, without: list[str], expected: dict[str, str]
) -> None:
    """Nothing covers it; there is no socket to reach it with, and with one it is reached."""
    kept: list[socket.socket] = []
    listener = Thread(target=_late_doors, args=(attacker, kept))
    listener.start()
    ways = {"begin": "write('begun')", **LATE}
    found = attacker.tries(ways, setup=f"import time{UNTIL}", without=without, **DIRECT)
    listener.join()
    for each in kept:
        each.close()
    assert found.pop("begin") == "done"
    assert found == expected


RACE = """
import threading, time
def maker():
    try:
        return socket.socket(socket.AF_UNIX)
    except OSError:
        return socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)[0]
address = ctypes.create_string_buffer(b"\\x01\\0/tmp/own\\0", 110)
over = False
def flip():
    while not over:
        for name in (b"././door", b"/tmp/own"):
            ctypes.memmove(ctypes.addressof(address) + 2, name, 8)
own = maker()
libc.bind(own.fileno(), address, 11)
libc.listen(own.fileno(), 4000)
write("begun")
while not os.path.exists("door"):
    time.sleep(0.01)
thread = threading.Thread(target=flip)
thread.start()
reached = 0
for _ in range(int(sys.argv[1])):
    calling = maker()
    reached += libc.connect(calling.fileno(), address, 11) == 0
    calling.close()
over = True
thread.join()
print(reached)
"""


def test_a_second_thread_finds_no_socket_to_reach_one_with(attacker: Attacker) -> None:
    """An address that is changed after the look at it leads nowhere: nothing here takes an address.

    The ends of a pair are tied to each other. With the filter gone, sockets are as above.
    """
    kept: list[socket.socket] = []
    listener = Thread(target=_late_doors, args=(attacker, kept))
    listener.start()
    told = attacker.runs(RACE, words=["300"], **DIRECT)
    listener.join()
    kept[0].setblocking(False)
    with pytest.raises(BlockingIOError):
        kept[0].accept()
    for each in kept:
        each.close()
    assert (told.status, told.out) == (0, "0\n"), told.err


def test_pairs_of_sockets_work_and_lead_nowhere_else(attacker: Attacker) -> None:
    """Streams between a program's own processes are as ever; datagrams, which have a way out, not."""
    ways = {
        "stream": "[a.send(b'x') for a, b in [socket.socketpair()]]",
        "records": "[a.send(b'x') for a, b in [socket.socketpair(type=socket.SOCK_SEQPACKET)]]",
        "datagrams": "socket.socketpair(type=socket.SOCK_DGRAM)",
        "raw": "socket.socketpair(type=socket.SOCK_RAW)",
        "flagged": "socket.socketpair(type=socket.SOCK_DGRAM | socket.SOCK_NONBLOCK)",
        "by name": "socket.socketpair()[0].sendto(b'x', '/tmp/none')",
        "records by name": "socket.socketpair(type=socket.SOCK_SEQPACKET)[0].connect('/tmp/none')",
        "network": "socket.socket(socket.AF_INET).close()",
    }
    found = attacker.tries(ways, **DIRECT)
    assert (found.pop("stream"), found.pop("records"), found.pop("network")) == (
        "[1]",
        "[1]",
        "None",
    )
    assert found == {
        **dict.fromkeys(("datagrams", "raw", "flagged"), "ESOCKTNOSUPPORT"),
        "by name": "EISCONN",
        "records by name": found["records by name"],
    }
    assert found["records by name"] in ("EISCONN", "EINVAL", "ENOENT")
    with_a_layer = attacker.tries({"datagrams": "len(socket.socketpair(type=socket.SOCK_DGRAM))"})
    assert with_a_layer == {"datagrams": "2"}


def test_denied_names_are_covered(attacker: Attacker) -> None:
    """As with a layer: neither read nor written, nor moved away; uncovered, all of it works."""
    hook = attacker.put("ws/sub/secrets/key", "OURS")
    ways = {
        "read": "read('sub/secrets/key')",
        "write": "write('sub/secrets/key')",
        "move": "os.rename('sub/secrets', 'sub/away')",
        "beside": "write('sub/notes')",
        "outside": "write('notes')",
    }
    wish = {"denied": ["./sub/secrets/"], "read": ["./"], "write": ["./sub/"], "writes": "direct"}
    found = attacker.tries(ways, **wish)
    assert (found.pop("beside"), found.pop("outside")) == ("done", "EROFS")
    assert set(found.values()) <= {"EACCES", "EROFS", "EBUSY", "ENOENT"}, found
    assert hook.read_text(encoding="utf-8") == "OURS"
    weak = attacker.tries(ways, without=["covers"], **wish)
    assert (weak["read"], weak["write"]) == ("b'OURS'", "done")

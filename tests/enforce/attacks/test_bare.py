"""Attacks on runs without namespaces: Landlock and seccomp alone stand between them and the host.

Each attack is made by root of a container and by an ordinary user without user namespaces, where
the tests run as root; what it did is looked at from outside.
"""

import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import pytest

from consentry.enforce.native import calls
from tests.enforce.attacks.attackers import PRELUDE, as_user
from tests.enforce.bareruns import TRIES, BareHost, ground, inside

pytestmark = pytest.mark.skipif(calls.landlock_abi() < 6, reason="needs Landlock's scopes")
LIBC = "ctypes.CDLL(None, use_errno=True)"


@pytest.fixture
def place(host: BareHost) -> Iterator[Path]:
    """A folder with a workspace, a granted file and a file beside."""
    with ground(host.uid) as made:
        put(made / "ws/granted", host.uid)
        put(made / "secret", host.uid)
        yield made


def put(path: Path, uid: int, content: str = "SECRET", mode: int = 0o644) -> Path:
    """A file of that user's."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)
    path.chmod(mode)
    os.chown(path, uid, uid)
    return path


@pytest.fixture
def victim(host: BareHost) -> Iterator["subprocess.Popen[bytes]"]:
    """A process of the host that belongs to the very user that the program runs as."""
    process = subprocess.Popen(["/bin/sleep", "600"], cwd="/", **as_user(inside(host.uid)))
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def test_a_secret_is_read_only_where_it_is_granted_or_landlock_is_gone(
    host: BareHost, place: Path
) -> None:
    """By its name, through /proc, or with the caller's own shadow file."""
    wanted = {
        "plain": f"read('{place}/secret')",
        "proc": f"read('/proc/self/root{place}/secret')",
        "listed": f"os.listdir('{place}')",
        "moved": f"os.rename('{place}/secret', os.environ['TMPDIR'] + '/secret')",
        "linked": f"os.link('{place}/secret', os.environ['TMPDIR'] + '/secret')",
    }
    found = host.tried(place, wanted)
    assert found["plain"] == found["proc"] == found["listed"] == "EACCES"
    assert {found["moved"], found["linked"]} <= {"EACCES", "EXDEV", "EPERM"}
    granted = host.tried(place, {"plain": wanted["plain"]}, workspace=str(place))
    assert granted == {"plain": "b'SECRET'"}
    bare = host.tried(place, {"plain": wanted["plain"]}, without=["landlock"])
    assert bare == {"plain": "b'SECRET'"}


def test_nothing_outside_is_written_or_marked(host: BareHost, place: Path) -> None:
    """Nor is a granted file, nor its mode, owner, times or marks, nor its flags on the disk."""
    outside = put(place / "outside/file", inside(host.uid), "kept", 0o666)
    granted = put(place / "ws/mine", inside(host.uid), "kept", 0o666)
    outside.parent.chmod(0o777)
    before = [each.stat() for each in (outside, granted)]
    attempts = {}
    for name, path in (("outside", outside), ("granted", granted)):
        attempts |= {
            f"{name} write": f"write('{path}')",
            f"{name} truncate": f"os.truncate('{path}', 0)",
            f"{name} remove": f"os.unlink('{path}')",
            f"{name} mode": f"os.chmod('{path}', 0o600)",
            f"{name} times": f"os.utime('{path}', (1, 1))",
            f"{name} mark": f"os.setxattr('{path}', 'user.mark', b'x')",
            f"{name} owner": f"os.chown('{path}', -1, os.getgid())",
        }
    attempts["flags"] = "fcntl.ioctl(os.open('mine', os.O_RDONLY), 0x40086602, b'\\x80' + bytes(7))"
    attempts["lease"] = "fcntl.fcntl(os.open('mine', os.O_RDONLY), 1024, fcntl.F_RDLCK)"
    attempts["made"] = f"os.mkdir('{outside.parent}/new')"
    found = host.tried(place, attempts, setup="import fcntl\n")
    assert set(found.values()) <= {"EACCES", "EPERM", "ENOTTY"}, found
    after = [each.stat() for each in (outside, granted)]
    assert [(e.st_mode, e.st_mtime_ns, e.st_ctime_ns, e.st_size) for e in after] == [
        (e.st_mode, e.st_mtime_ns, e.st_ctime_ns, e.st_size) for e in before
    ]
    own = host.tried(place, {"own": "write(os.environ['TMPDIR'] + '/file')"})
    assert own == {"own": "done"}
    weak = {name: attempts[name] for name in ("outside mode", "outside write", "lease")}
    weak |= {"outside times": attempts["outside times"]}
    found = host.tried(place, weak, setup="import fcntl\n", without=["landlock", "filters"])
    assert found["outside write"] == "done"
    assert outside.stat().st_mode & 0o777 == 0o600
    assert outside.stat().st_mtime == 1
    assert outside.read_text() == "EVIL"


def test_modes_and_times_are_held_by_the_filter_alone(host: BareHost, place: Path) -> None:
    """Landlock does not govern them."""
    path = put(place / "outside/file", inside(host.uid), "kept", 0o644)
    found = host.tried(place, {"mode": f"os.chmod('{path}', 0o600)"}, without=["filters"])
    assert found == {"mode": "None"}
    assert path.stat().st_mode & 0o777 == 0o600


CONNECT = """
def tcp(port):
    made = socket.socket()
    made.connect(("127.0.0.1", port))
    return "connected"
def udp(port):
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    return made.sendto(b"out", ("127.0.0.1", port))
def named(path, kind=socket.SOCK_STREAM):
    made = socket.socket(socket.AF_UNIX, kind)
    made.connect(path)
    return "connected"
def pair(path):
    mine, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return mine.sendto(b"out", path)
"""


def test_no_socket_of_the_host_is_reached(host: BareHost, place: Path) -> None:
    """TCP, UDP, named, abstract, or a pair of datagram sockets that is turned elsewhere."""
    with ExitStack() as held:

        def listening(kind: int, family: int, address: Any) -> socket.socket:
            made = held.enter_context(closing(socket.socket(family, kind)))
            made.bind(address)
            made.setblocking(False)
            if kind == socket.SOCK_STREAM:
                made.listen()
            return made

        tcp = listening(socket.SOCK_STREAM, socket.AF_INET, ("127.0.0.1", 0))
        udp = listening(socket.SOCK_DGRAM, socket.AF_INET, ("127.0.0.1", 0))
        path, mail = str(place / "ws/socket"), str(place / "ws/mail")
        named = listening(socket.SOCK_STREAM, socket.AF_UNIX, path)
        mailbox = listening(socket.SOCK_DGRAM, socket.AF_UNIX, mail)
        for each in (path, mail):
            Path(each).chmod(0o777)
        word = f"bare-{os.urandom(6).hex()}"
        abstract = listening(socket.SOCK_STREAM, socket.AF_UNIX, f"\0{word}")
        attempts = {
            "tcp": f"tcp({tcp.getsockname()[1]})",
            "udp": f"udp({udp.getsockname()[1]})",
            "named": f"named('{path}')",
            "pair": f"pair('{mail}')",
            "abstract": f"named('\\0{word}')",
        }
        found = host.tried(place, attempts, setup=CONNECT)
        assert set(found.values()) <= {"EAFNOSUPPORT", "ESOCKTNOSUPPORT"}, found
        for each in (tcp, named, abstract):
            with pytest.raises(BlockingIOError):
                each.accept()
        for each in (udp, mailbox):
            with pytest.raises(BlockingIOError):
                each.recv(16)
        found = host.tried(place, attempts, setup=CONNECT, without=["filters", "landlock"])
        assert found == dict.fromkeys(("tcp", "named", "abstract"), "connected") | {
            "udp": "3",
            "pair": "3",
        }
        for each in (tcp, named, abstract):
            each.accept()[0].close()
        assert udp.recv(16) == mailbox.recv(16) == b"out"


def test_a_pair_of_connected_sockets_works(host: BareHost, place: Path) -> None:
    """Event loops are built on one, and both ends stay with each other."""
    setup = "def talk():\n    a, b = socket.socketpair()\n    a.send(b'hi')\n    return b.recv(2)\n"
    assert host.tried(place, {"talk": "talk()"}, setup=setup) == {"talk": "b'hi'"}


def test_a_stream_that_is_a_socket_of_the_network_is_not_handed_in(
    host: BareHost, place: Path
) -> None:
    """It could be told to connect elsewhere, so nothing starts."""
    request = {"workspace": str(place / "ws"), "argv": ["true"], "stdin": "udp"}
    [[control, why, _]] = host.told(**request)["lacking"]
    assert control == "no-network"
    assert "socket" in why


def test_no_process_of_the_host_is_signalled_traced_or_read(
    host: BareHost, place: Path, victim: "subprocess.Popen[bytes]"
) -> None:
    """Not even one of the same user, nor are its limits and priorities changed."""
    pid = victim.pid
    attempts = {
        "environ": f"read('/proc/{pid}/environ')",
        "cmdline": f"read('/proc/{pid}/cmdline')",
        "memory": f"os.open('/proc/{pid}/mem', os.O_RDWR)",
        "listed": "os.listdir('/proc')",
        "traced": f"call(101 if os.uname().machine == 'x86_64' else 117, 0x4206, {pid}, 0, 0)",
        "limited": f"resource.prlimit({pid}, resource.RLIMIT_NOFILE, (5, 5))",
        "ranked": f"os.setpriority(os.PRIO_PROCESS, {pid}, 19)",
        "placed": f"os.sched_setaffinity({pid}, {{0}})",
        "ended": f"os.kill({pid}, {int(signal.SIGKILL)})",
    }
    # Never where nothing holds it: it means every process of the user.
    everybody = {"ranked all": "os.setpriority(os.PRIO_USER, 0, 1)"}
    # Nor those that keep the run, which are the same user's.
    everybody |= {
        "keeper ended": "os.kill(above, 9)",
        "keeper held": "os.kill(above, signal.SIGSTOP)",
        "keeper limited": "resource.prlimit(above, resource.RLIMIT_NPROC, (0, 0))",
    }
    setup = "import resource\nabove = os.getppid()\n"
    found = host.tried(place, attempts | everybody, setup=setup)
    assert set(found.values()) <= {"EACCES", "EPERM"}, found
    assert victim.poll() is None
    assert _most_files(pid) > 5
    assert os.getpriority(os.PRIO_PROCESS, pid) == 0
    # Those of the run do signal each other.
    own = "pid = os.fork()\nif pid == 0:\n    signal.pause()\nsignalled = os.kill(pid, 9)\n"
    assert host.tried(place, {"own": "signalled"}, setup=own) == {"own": "None"}
    weak = host.tried(place, attempts, setup=setup, without=["landlock", "filters"])
    assert weak["limited"].startswith("(")
    if host.uid == 0:  # the other one is in a user namespace, and the process is not
        assert weak["traced"] == "0"
    assert b"sleep" in weak["cmdline"].encode()
    assert victim.wait(30) == -signal.SIGKILL


def _most_files(pid: int) -> int:
    limits = Path(f"/proc/{pid}/limits").read_text()
    return int(limits.partition("Max open files")[2].split()[0])


def test_signals_are_held_by_landlock_s_scope(
    host: BareHost, place: Path, victim: "subprocess.Popen[bytes]"
) -> None:
    """Without it, and with everything else in place, the process is ended."""
    attempt = {"ended": f"os.kill({victim.pid}, {int(signal.SIGKILL)})"}
    assert host.tried(place, attempt, without=["scopes"]) == {"ended": "None"}
    assert victim.wait(30) == -signal.SIGKILL


SHARED = """
def segment():
    number = libc.shmget(0x{key:x}, 0, 0)
    if number < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    return number
def queue():
    made = libc.mq_open(b"/{word}", os.O_RDONLY | os.O_CREAT, 0o600, None)
    if made < 0:
        raise OSError(ctypes.get_errno(), "mq_open")
    libc.mq_unlink(b"/{word}")
    return "made"
"""


def test_what_the_host_shares_is_out_of_reach(host: BareHost, place: Path) -> None:
    """A System V segment of the same user's, message queues, and who watches a folder."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    key = int.from_bytes(os.urandom(3), "little") | 1
    segment = libc.shmget(key, 4096, 0o1666)
    assert segment >= 0
    setup = SHARED.format(key=key, word=f"bare{os.urandom(6).hex()}")
    attempts = {
        "segment": "segment()",
        "queue": "queue()",
        "watched": f"os.stat('{place}') and call(294 if os.uname().machine == 'x86_64' else 26, 0)",
    }
    try:
        assert set(host.tried(place, attempts, setup=setup).values()) == {"EPERM"}
        weak = host.tried(place, attempts, setup=setup, without=["filters"])
        assert weak["segment"] == str(segment)
        assert weak["watched"].isdigit()
    finally:
        libc.shmctl(segment, 0, None)


MEMORY = """
def from_memory():
    file = os.memfd_create("program", 0)
    with open(sys.executable, "rb") as program:
        os.write(file, program.read())
    return status("python", "-I", "-S", "-c", "pass", path=f"/proc/self/fd/{file}")
def from_tmp():
    path = os.environ["TMPDIR"] + "/program"
    with open(sys.executable, "rb") as program:
        write(path, program.read())
    return status(path, "-I", "-S", "-c", "pass")
"""


def test_only_allowed_programs_are_started(host: BareHost, place: Path) -> None:
    """Not another one, by its name or by the loader, nor one it wrote or keeps in memory."""
    loader = next(
        each
        for each in ("/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1")
        if Path(each).exists()
    )
    attempts = {
        "other": "status('/usr/bin/true')",
        "loader": f"status('{loader}', '/usr/bin/true')",
        "read": "len(read('/usr/bin/true'))",
        "memory": "from_memory()",
        "tmp": "from_tmp()",
    }
    found = host.tried(place, attempts, setup=MEMORY)
    assert found.pop("loader") == "127"
    assert set(found.values()) <= {"EACCES", "EPERM"}, found
    granted = host.tried(place, {"other": attempts["other"]}, run=["true"])
    assert granted == {"other": "0"}
    weak = host.tried(place, attempts, setup=MEMORY, without=["landlock", "filters"])
    assert {name: weak[name] for name in ("other", "loader", "memory", "tmp")} == dict.fromkeys(
        ("other", "loader", "memory", "tmp"), "0"
    )


def test_another_folder_under_a_granted_name_is_not_opened(host: BareHost, place: Path) -> None:
    """The one that was looked at was moved away when the run was about to start, a link put there."""
    put(place / "closed/secret", host.uid)
    (place / "link").symlink_to(place / "closed")
    ws = place / "ws"
    request = {
        "workspace": str(ws),
        "code": PRELUDE + TRIES,
        "words": [json.dumps({"read": f"read('{ws}/secret')"})],
        "moved": [[str(ws), str(place / "away")], [str(place / "link"), str(ws)]],
    }
    assert "filesystem-race" in host.told(**request)["refused"]
    ws.rename(place / "link")
    (place / "away").rename(ws)
    told = host.told(**request, without=["identities"])
    assert json.loads(told["stdout"]) == {"read": "b'SECRET'"}


def test_a_denied_place_inside_a_granted_one_stays_closed(host: BareHost, place: Path) -> None:
    """What lies beside it is open; its names are not told either."""
    put(place / "ws/inner/denied/file", host.uid)
    put(place / "ws/inner/beside/file", host.uid)
    attempts = {
        "denied": "read('inner/denied/file')",
        "listed": "os.listdir('inner/denied')",
        "beside": "read('inner/beside/file')",
        "around": "os.listdir('inner/beside')",
        "granted": "read('granted')",
    }
    found = host.tried(place, attempts, denied=["./inner/denied/"])
    assert found["denied"] == found["listed"] == "EACCES"
    assert found["beside"] == found["granted"] == "b'SECRET'"
    assert found["around"] == "['file']"
    assert host.tried(place, attempts)["denied"] == "b'SECRET'"
    weak = host.tried(place, attempts, denied=["./inner/denied/"], without=["landlock"])
    assert weak["denied"] == "b'SECRET'"


def test_the_program_has_no_powers(host: BareHost, place: Path) -> None:
    """A root caller's program is a user that the host does not have."""
    found = host.tried(
        place,
        {
            "who": "(os.getresuid(), os.getresgid())",
            "groups": "os.getgroups()",
            "promise": f"{LIBC}.prctl(39, 0, 0, 0, 0)",
            "root": "os.setuid(0)",
            "users": f"{LIBC}.unshare(0x10000000)",
        },
    )
    number = inside(host.uid)
    group = number if host.uid == 0 else os.getgid() if host.uid == os.getuid() else host.uid
    assert found["who"] == str(((number,) * 3, (group,) * 3))
    if host.uid == 0:
        assert found["groups"] == "[]"
    assert found["promise"] == "1"
    assert found["root"] in ("EPERM", "EINVAL")
    assert found["users"] == "-1"


def test_what_was_refused_is_told(host: BareHost, place: Path) -> None:
    """And what was read and started; each control says what held it."""
    code = f"open('granted').read()\ntry: open('{place}/secret')\nexcept OSError: pass\n"
    told = host.told(workspace=str(place / "ws"), code=code)
    assert told["mode"] == "landlock-only"
    assert told["reads"] == [str(place / "ws/granted")]
    assert ["read", str(place / "secret")] in told["violations"]
    made = "import os\npath = os.environ['HOME'] + '/history'\n"
    made += "try: open(path)\nexcept OSError: open(path, 'w').close()\n"
    assert host.told(workspace=str(place / "ws"), code=made)["violations"] == []
    assert told["complete"]
    assert "layer" not in told["held"]
    assert "written" not in told["held"]
    assert "Landlock" in told["held"]["reads"]

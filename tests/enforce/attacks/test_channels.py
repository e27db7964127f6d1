"""Channels to the host: its sockets, its network, and descriptors that were left open."""

import errno
import os
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.enforce.attacks.attackers import Attacker, as_user
from tests.enforce.boxes import PYTHON

CONNECT = """
def connect(address, kind=socket.SOCK_STREAM):
    family = socket.AF_INET if isinstance(address, tuple) else socket.AF_UNIX
    with socket.socket(family, kind) as mine:
        mine.settimeout(5)
        mine.connect(address)
    return "connected"
"""
UNSHARED = ["network", "landlock", "views", "filter"]


@pytest.fixture
def listeners(attacker: Attacker) -> Iterator[dict[str, str]]:
    """Real ones on the host, and the expression that reaches each."""
    with ExitStack() as held:

        def listening(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> socket.socket:
            made = held.enter_context(socket.socket(family, kind))
            made.bind(address)
            if kind != socket.SOCK_DGRAM:
                made.listen(16)
            if isinstance(address, str) and address.startswith("/"):
                Path(address).chmod(0o777)
                os.chown(address, attacker.uid, attacker.uid)
            return made

        inside, outside = str(attacker.ws / "inside"), str(attacker.place / "outside")
        datagrams = str(attacker.ws / "datagrams")
        abstract = f"\0attack-{os.urandom(6).hex()}"
        listening(socket.AF_UNIX, inside)
        listening(socket.AF_UNIX, outside)
        listening(socket.AF_UNIX, datagrams, socket.SOCK_DGRAM)
        listening(socket.AF_UNIX, abstract)
        port = listening(socket.AF_INET, ("127.0.0.1", 0)).getsockname()[1]
        yield {
            "in a granted folder": f"connect({inside!r})",
            "datagrams in a granted folder": f"connect({datagrams!r}, socket.SOCK_DGRAM)",
            "elsewhere": f"connect({outside!r})",
            "without a file": f"connect({abstract!r})",
            "the host's network": f"connect(('127.0.0.1', {port}))",
        }


@pytest.mark.parametrize("write", [["/tmp/"], ["./", "/tmp/"]], ids=["read", "written"])
def test_no_listener_of_the_host_is_reached(
    attacker: Attacker, listeners: dict[str, str], write: list[str]
) -> None:
    """Not even one whose socket lies in a folder that may be read, or written."""
    found = attacker.tries(listeners, setup=CONNECT, write=write)
    assert found == {
        "in a granted folder": "ECONNREFUSED",
        "datagrams in a granted folder": "ECONNREFUSED",
        "elsewhere": "ENOENT",
        "without a file": "ECONNREFUSED",
        "the host's network": "ECONNREFUSED",
    }


def test_the_box_has_sockets_of_its_own(attacker: Attacker) -> None:
    """Processes inside talk to each other by all kinds of them, and pass descriptors."""
    setup = CONNECT + (
        "def listening(address):\n"
        "    made = socket.socket(socket.AF_UNIX)\n    made.bind(address)\n    made.listen()\n"
        "    return connect(address)\n"
        "def passed():\n    a, b = socket.socketpair()\n"
        "    socket.send_fds(a, [b'x'], [os.open('mine', os.O_RDONLY)])\n"
        "    return os.read(socket.recv_fds(b, 1, 1)[1][0], 9)\n"
    )
    attacker.put("ws/mine", "MINE")
    ways = {
        "named": "listening('/tmp/own')",
        "abstract": r"listening('\0own')",
        "passed": "passed()",
    }
    found = attacker.tries(ways, setup=setup)
    assert found == {"named": "connected", "abstract": "connected", "passed": "b'MINE'"}


def test_without_namespaces_and_views_they_are_reached(
    attacker: Attacker, listeners: dict[str, str]
) -> None:
    """With the host's network, and folders bound as they are, every listener answers."""
    found = attacker.tries(
        listeners, setup=CONNECT, write=["/tmp/"], without=UNSHARED, shown=[str(attacker.place)]
    )
    assert set(found.values()) == {"connected"}


def test_a_view_alone_is_what_keeps_a_granted_folders_sockets(
    attacker: Attacker, listeners: dict[str, str]
) -> None:
    """No right and no namespace does."""
    found = attacker.tries(listeners, setup=CONNECT, write=["/tmp/"], without=["views"])
    assert found["in a granted folder"] == "connected"
    assert found["elsewhere"] == "ENOENT"


def test_where_there_can_be_no_view_nothing_is_started(
    attacker: Attacker, listeners: dict[str, str]
) -> None:
    """A file system that cannot lie below a layer is not shown as it is instead."""
    told = attacker.runs(
        CONNECT + f"print({listeners['in a granted folder']})",
        write=["/tmp/"],
        without=["layers in layers"],
    )
    assert told.out == ""
    assert told.problem == ["failed", errno.EINVAL, f"showing {attacker.ws} without its sockets"]


LOOK = "sorted(int(n) for n in os.listdir('/proc/self/fd') if os.path.exists('/proc/self/fd/' + n))"


def test_no_open_file_of_the_caller_is_seen(attacker: Attacker) -> None:
    """Whatever the caller left open, and even marked to be inherited, ends outside."""
    secret = attacker.put("outside/secret")
    code = f"print({LOOK})\nprint([os.readlink(f'/proc/self/fd/{{n}}') for n in (0, 1, 2)])"
    left_open = [(str(secret), number) for number in (157, 200, 233)]
    told = attacker.runs(code, left_open=left_open)
    assert told.out.splitlines()[0] == "[0, 1, 2]"
    assert "secret" not in told.out


def test_started_plainly_they_are_all_there(attacker: Attacker) -> None:
    """The same program with no box and no closing reads the caller's file."""
    secret = attacker.put("outside/secret")
    file = os.open(secret, os.O_RDONLY)
    try:
        done = subprocess.run(
            [PYTHON, "-I", "-S", "-c", f"import os; print(os.read({file}, 99))"],
            capture_output=True,
            check=True,
            pass_fds=[file],
            **as_user(attacker.uid),
        )
    finally:
        os.close(file)
    assert done.stdout == b"b'SECRET'\n"

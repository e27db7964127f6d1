"""Whom a confined program tried to talk to: every way to name an address is seen (CONSENT §sandbox)."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from consentry.enforce.violations import Operation, Truth
from tests.enforce.outcomes import outcome_of

SENDING = """
import ctypes, os, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_char_p), ("length", ctypes.c_size_t)]
class Message(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_void_p), ("name_length", ctypes.c_uint32),
        ("parts", ctypes.POINTER(Vector)), ("count", ctypes.c_size_t),
        ("control", ctypes.c_void_p), ("control_length", ctypes.c_size_t), ("flags", ctypes.c_int),
    ]
class Counted(ctypes.Structure):
    _fields_ = [("message", Message), ("sent", ctypes.c_uint)]
def internet(host, port, family=2):
    return struct.pack("<H", family) + struct.pack(">H", port) + socket.inet_aton(host) + bytes(8)
def several(kind, *addresses):
    kept = [ctypes.create_string_buffer(each, len(each)) for each in addresses]
    batch = (Counted * len(kept))()
    for place, address in zip(batch, kept):
        place.message.name = ctypes.addressof(address)
        place.message.name_length = len(address)
        place.message.parts = ctypes.pointer(Vector(b"x", 1))
        place.message.count = 1
    with socket.socket(kind, socket.SOCK_DGRAM) as mine:
        for number, place in enumerate(batch):
            # The kernel stops at the first that fails.
            libc.sendmmsg(mine.fileno(), ctypes.byref(place), len(kept) - number, 0)
def quietly(does, *arguments):
    try:
        does(*arguments)
    except OSError:
        pass
mine = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
six = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
local = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
"""

WAYS = {
    "sendto": ("quietly(mine.sendto, b'x', ('192.0.2.1', 53))", "192.0.2.1:53"),
    "sendto, IPv6": ("quietly(six.sendto, b'x', ('2001:db8::7', 4711))", "[2001:db8::7]:4711"),
    "sendmsg": ("quietly(mine.sendmsg, [b'x'], [], 0, ('192.0.2.2', 54))", "192.0.2.2:54"),
    "sendmmsg": ("several(2, internet('192.0.2.3', 55))", "192.0.2.3:55"),
    "sendto, no family": (
        "libc.sendto(mine.fileno(), b'x', 1, 0, internet('192.0.2.4', 56, family=0), 16)",
        "192.0.2.4:56",
    ),
    "connect": ("quietly(mine.connect, ('192.0.2.5', 57))", "192.0.2.5:57"),
}


@pytest.mark.parametrize("way", WAYS)
def test_every_way_to_send_is_a_violation_with_address_and_port(tmp_path: Path, way: str) -> None:
    """There is no network, so it was refused; whom it was meant for is told."""
    code, resource = WAYS[way]
    outcome = outcome_of(SENDING + code, tmp_path)
    told = [(each.operation, each.resource, each.truth) for each in outcome.violations]
    assert told == [(Operation.NET, resource, Truth.OBSERVED)]
    assert outcome.complete


def test_each_message_of_a_batch_is_told(tmp_path: Path) -> None:
    """A batch names an address for every message."""
    batch = ", ".join(f"internet('192.0.2.{number}', 53)" for number in (1, 2, 3))
    outcome = outcome_of(f"{SENDING}several(2, {batch})", tmp_path)
    assert [each.resource for each in outcome.violations] == [
        "192.0.2.1:53",
        "192.0.2.2:53",
        "192.0.2.3:53",
    ]


def test_a_batch_too_long_to_be_looked_at_makes_the_record_incomplete(tmp_path: Path) -> None:
    """What was left out is not passed over in silence."""
    code = "several(2, *[internet('192.0.2.1', 53)] * 65)"
    assert not outcome_of(SENDING + code, tmp_path).complete


def test_messages_between_own_processes_are_none_of_ours(tmp_path: Path) -> None:
    """Without an address, or to a socket of the box itself: nothing was refused."""
    code = """
one, two = socket.socketpair()
socket.send_fds(one, [b"x"], [0])
assert socket.recv_fds(two, 1, 1)[0] == b"x"
there = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
there.bind("/tmp/there")
local.sendto(b"to a name", "/tmp/there")
local.sendmsg([b"to a name"], [], 0, "/tmp/there")
os.chdir("/tmp")
local.sendto(b"to a name", "there")
assert [there.recv(99) for _ in range(3)] == [b"to a name"] * 3
"""
    outcome = outcome_of(SENDING + code, tmp_path)
    assert (outcome.violations, outcome.complete) == ((), True)


@pytest.fixture
def hidden() -> Iterator[socket.socket]:
    """A socket of the host that somebody listens at, in a folder that is not granted."""
    with (
        TemporaryDirectory(dir="/var/tmp") as folder,
        closing(socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)) as there,
    ):
        there.bind(f"{folder}/agent")
        there.setblocking(False)
        yield there


@pytest.mark.parametrize(
    "way",
    [
        "quietly(local.sendto, b'x', sys.argv[1])",
        "quietly(local.sendmsg, [b'x'], [], 0, sys.argv[1])",
        "several(1, struct.pack('<H', 1) + sys.argv[1].encode() + bytes(1))",
        "quietly(local.connect, sys.argv[1])",
        "os.chdir('/usr'); quietly(local.sendto, b'x', '..' + sys.argv[1])",
    ],
)
def test_a_hidden_socket_is_not_reached_and_told(
    tmp_path: Path, hidden: socket.socket, way: str
) -> None:
    """By whichever call and name; the listener hears nothing."""
    path = hidden.getsockname()
    outcome = outcome_of(SENDING + way, tmp_path, path)
    told = [(each.operation, each.resource, each.truth) for each in outcome.violations]
    assert told == [(Operation.NET, f"unix:{path}", Truth.OBSERVED)]
    with pytest.raises(BlockingIOError):
        hidden.recv(1)

"""Datagrams that are no question for a name end in the box: refused at once, and on record."""

import socket

import pytest

from consentry.enforce.native.findings import DATAGRAMS, DATAGRAMS_STAY
from consentry.enforce.native.lostdatagrams import counted
from consentry.enforce.violations import Truth
from tests.enforce.egress.grounds import Ground, denied

SENDS = """
import socket
s = socket.socket(socket.{family}, socket.SOCK_DGRAM)
s.settimeout(20)
s.connect(({host!r}, {port}))
s.send(b'out')
try: print(s.recv(10))
except ConnectionRefusedError: print('refused')
s = socket.socket(socket.{family}, socket.SOCK_DGRAM)
s.sendto(b'out', ({host!r}, {port}))
"""


@pytest.mark.parametrize(
    ("family", "granted", "host"),
    [
        ("AF_INET", "192.0.2.7", "192.0.2.7"),
        ("AF_INET", "192.0.2.7", "192.0.2.8"),
        ("AF_INET6", "2001:db8::7", "2001:db8::7"),
    ],
)
@pytest.mark.parametrize("port", [443, 4433])
def test_a_datagram_does_not_leave_the_box(
    ground: Ground, family: str, granted: str, host: str, port: int
) -> None:
    """Not even to a host and port that was granted: what is granted is connections."""
    outcome = ground.python(SENDS.format(family=family, host=host, port=port), granted)
    assert outcome.stdout == b"refused\n", outcome.stderr
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    assert (place, Truth.OBSERVED) in {(each[0], each[2]) for each in denied(outcome)}
    assert (DATAGRAMS, DATAGRAMS_STAY, Truth.KERNEL) in denied(outcome)
    [counted_lost] = [each for each in outcome.violations if each.resource == DATAGRAMS]
    assert (counted_lost.times, counted_lost.truth) == (2, Truth.KERNEL)


def test_a_peer_on_this_machine_hears_no_datagram(ground: Ground) -> None:
    """It is granted, and hears connections only."""
    with socket.socket(type=socket.SOCK_DGRAM) as peer:
        peer.bind(("127.0.0.1", 0))
        peer.settimeout(0.2)
        port = peer.getsockname()[1]
        outcome = ground.python(
            SENDS.format(family="AF_INET", host="127.0.0.1", port=port), f"127.0.0.1:{port}"
        )
        assert outcome.stdout == b"refused\n"
        with pytest.raises(TimeoutError):
            peer.recv(10)


def test_looking_up_a_granted_name_loses_nothing(ground: Ground) -> None:
    """Libraries sort addresses with sockets for datagrams, and send none."""
    code = "import socket\nprint(len(socket.getaddrinfo('example.org', 443)) > 0)"
    outcome = ground.python(code, "example.org:443")
    assert (outcome.stdout, outcome.violations) == (b"True\n", ())


def test_the_counters_are_read_from_both_kinds_of_table() -> None:
    """Rows of names and of numbers, or a name and a number a row; and none where there is none."""
    old = b"Ip: A\nIp: 1\nUdp: InDatagrams NoPorts InErrors\nUdp: 5 7 9\n"
    assert [counted(old), counted(b"Udp6InDatagrams 5\nUdp6NoPorts \t 3\n"), counted(b"")] == [
        7,
        3,
        0,
    ]

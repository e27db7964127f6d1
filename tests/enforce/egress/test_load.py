"""A box that asks for too much, too slowly or in odd ways harms itself and nobody else."""

import socket
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Thread

import pytest

from consentry.enforce.egress import conversation, relay
from consentry.enforce.egress.heads import MOST_HEAD
from tests.enforce.egress.grounds import Ground, denied
from tests.enforce.egress.peers import ProxyHere, http_peer
from tests.store.sizes import IS_FULL

CONNECTIONS = 10_000 if IS_FULL else 1000
MOST_GROWN_KIB = 40 << 10

IN_A_ROW = """
import socket
for n in range({count}):
    with socket.create_connection(("127.0.0.1", {port}), 60) as s:
        s.sendall(b"x")
        if s.recv(1) != b"y": raise SystemExit(n)
print("done")
"""


def _resident_kib(pid: int) -> int:
    for row in Path(f"/proc/{pid}/status").read_text().splitlines():
        if row.startswith("VmRSS:"):
            return int(row.split()[1])
    raise AssertionError("it is gone")


def _answer_all(listening: socket.socket) -> None:
    while True:
        try:
            line, _ = listening.accept()
        except OSError:
            return
        with line:
            line.recv(1)
            line.sendall(b"y")


@pytest.mark.timeout(600)
def test_thousands_of_connections_take_no_more_than_a_few(ground: Ground) -> None:
    """One entry on record with its count; memory and descriptors are as before."""
    with socket.create_server(("127.0.0.1", 0), backlog=128) as listening:
        port = listening.getsockname()[1]
        Thread(target=_answer_all, args=(listening,), daemon=True).start()
        place = f"127.0.0.1:{port}"
        warm = ground.python(IN_A_ROW.format(count=100, port=port), place)
        assert warm.stdout == b"done\n", warm.stderr
        proxy = ground.engine._proxy.started()._process.pid
        before = _resident_kib(proxy)
        opened = len(list(Path(f"/proc/{proxy}/fd").iterdir()))
        outcome = ground.python(IN_A_ROW.format(count=CONNECTIONS, port=port), place)
        assert outcome.stdout == b"done\n", outcome.stderr
        assert _resident_kib(proxy) - before < MOST_GROWN_KIB
        assert len(list(Path(f"/proc/{proxy}/fd").iterdir())) <= opened
    [reach] = outcome.reached.places
    assert (reach.times, reach.sent, reach.received) == (CONNECTIONS,) * 3
    assert outcome.complete


HOLDS = """
import socket, sys, time
held = [socket.create_connection(("127.0.0.1", 3128), 30) for _ in range(200)]
for each in held:
    try: each.sendall(b"GET http://")
    except OSError: pass
print("held", flush=True)
sys.stdin.read()
"""


def test_a_box_that_holds_every_line_holds_only_its_own(ground: Ground) -> None:
    """Another one, served by the same process, is served as before."""
    with http_peer() as peer, ThreadPoolExecutor(1) as threads:
        place = f"127.0.0.1:{peer.server_port}"
        code = HOLDS.replace("sys.stdin.read()", "time.sleep(6)")
        slow = threads.submit(ground.python, code, place)
        while peer.connections == 0:
            asks = (
                "import socket\n"
                f"s = socket.create_connection(('127.0.0.1', {peer.server_port}), 30)\n"
                "s.sendall(b'GET /served HTTP/1.0\\r\\n\\r\\n')\nprint(s.makefile().read()[-7:])\n"
            )
            assert ground.python(asks, place).stdout == b"/served\n"
        assert slow.result().stdout == b"held\n"


def test_whoever_says_one_byte_at_a_time_is_hung_up_on(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The time is for the whole head, and not for each part of it; the same for a greeting of TLS."""
    proxy = ProxyHere()
    monkeypatch.setattr(ground.engine._proxy, "started", lambda: proxy)
    monkeypatch.setattr(conversation, "_HEAD_SECONDS", 1.0)
    monkeypatch.setattr(relay, "_GREETING_SECONDS", 1.0)
    code = (
        "import socket, time\n"
        "def dripped(port, first):\n"
        "    s = socket.create_connection(('127.0.0.1', port), 30)\n"
        "    s.sendall(first)\n"
        "    try:\n"
        "        for n in range(400): s.sendall(b'x'); time.sleep(0.05)\n"
        "    except OSError: return 'hung up'\n"
        "    return 'heard'\n"
        "print(dripped(3128, b'GET http://'), dripped({0}, b'\\x16\\x03\\x01\\x20\\x00\\x01'))\n"
    )
    with http_peer() as peer:
        port = peer.server_port
        outcome = ground.python(code.format(port), f"127.0.0.1:{port}")
    assert outcome.stdout == b"hung up hung up\n", outcome.stderr


def test_a_head_without_end_is_refused(ground: Ground) -> None:
    """As one line, or as many; nothing is dialled."""
    code = (
        "import socket\n"
        "for filler in (b'a' * {most}, b'a: b\\r\\n' * ({most} // 6)):\n"
        "    s = socket.create_connection(('127.0.0.1', 3128), 30)\n"
        "    try:\n"
        "        s.sendall(b'GET http://127.0.0.1:{port}/ HTTP/1.1\\r\\nx: ' + filler + b'y' * 200000)\n"
        "    except OSError: pass\n"
        "    try: print(s.recv(12))\n"
        "    except OSError: print('reset')\n"
    )
    with http_peer() as peer:
        port = peer.server_port
        outcome = ground.python(code.format(most=MOST_HEAD, port=port), f"127.0.0.1:{port}")
        assert peer.connections == 0
    assert set(outcome.stdout.splitlines()) <= {b"b'HTTP/1.1 400'", b"reset"}


@pytest.mark.parametrize("way", ["plain", "tunnel"])
def test_a_program_that_has_said_all_still_hears_the_answer(ground: Ground, way: str) -> None:
    """Half a connection may be closed."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        Thread(target=_answer_when_all_was_said, args=(listening,), daemon=True).start()
        begin = {
            "plain": f"s = socket.create_connection(('127.0.0.1', {port}), 30)\n",
            "tunnel": (
                "s = socket.create_connection(('127.0.0.1', 3128), 30)\n"
                f"s.sendall(b'CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n')\n"
                "while not (b := b'') and s.recv(1, socket.MSG_PEEK) != b'!':\n"
                "    if s.recv(1) == b'\\n' and s.recv(2) == b'\\r\\n': break\n"
            ),
        }[way]
        code = (
            f"import socket\n{begin}"
            "s.sendall(b'all of it'); s.shutdown(socket.SHUT_WR)\nprint(s.makefile().read())\n"
        )
        outcome = ground.python(code, f"127.0.0.1:{port}")
    assert outcome.stdout == b"heard 9\n", outcome.stderr


def _answer_when_all_was_said(listening: socket.socket) -> None:
    line, _ = listening.accept()
    with line:
        said = line.makefile("rb").read()
        line.sendall(b"heard %d" % len(said))


def test_boxes_at_the_same_time_are_not_mixed_up(ground: Ground) -> None:
    """Each reaches what it was granted, is refused what another was, and has its own record."""
    code = (
        "import socket\n"
        "for port in ({0}, {1}):\n"
        "    try:\n"
        "        s = socket.create_connection(('127.0.0.1', 3128), 30)\n"
        "        s.sendall(b'CONNECT 127.0.0.1:%d HTTP/1.1\\r\\n\\r\\n' % port)\n"
        "        print(s.recv(12).decode())\n"
        "    except OSError as problem: print(problem)\n"
    )
    with http_peer() as one, http_peer() as two, ThreadPoolExecutor(4) as threads:
        ports = [one.server_port, two.server_port]

        def run(number: int) -> bool:
            mine, other = ports[number % 2], ports[1 - number % 2]
            outcome = ground.python(code.format(mine, other), f"127.0.0.1:{mine}")
            said = [each.resource for each in outcome.violations]
            is_right = outcome.stdout == b"HTTP/1.1 200\nHTTP/1.1 403\n"
            return is_right and said == [f"127.0.0.1:{other}"]

        assert all(threads.map(run, range(16)))
        assert len({each[0] for each in denied(ground.python("pass", "other.example"))}) == 0


def test_a_flood_of_refusals_does_not_push_out_what_was_reached(ground: Ground) -> None:
    """Nor does a name without end fill the record; the rest is counted."""
    code = (
        "import socket\n"
        "def asked(head):\n"
        "    s = socket.create_connection(('127.0.0.1', 3128), 30); s.sendall(head); return s.recv(12)\n"
        "asked(b'CONNECT ' + b'a' * 60000 + b':1 HTTP/1.1\\r\\n\\r\\n')\n"
        "for n in range(2100): asked(b'CONNECT n%d.example:1 HTTP/1.1\\r\\n\\r\\n' % n)\n"
        "print(asked(b'CONNECT 127.0.0.1:{0} HTTP/1.1\\r\\n\\r\\n'))\n"
    )
    with http_peer() as peer:
        place = f"127.0.0.1:{peer.server_port}"
        outcome = ground.python(code.format(peer.server_port), place)
    assert outcome.stdout == b"b'HTTP/1.1 200'\n", outcome.stderr
    assert [each.rule for each in outcome.reached.places if each.is_allowed] == [place]
    assert max(len(each.host) for each in outcome.reached.places) < 300
    assert (outcome.reached.left_out, outcome.complete) == (101, False)

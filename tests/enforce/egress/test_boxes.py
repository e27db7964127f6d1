"""What programs in a box reach: what was granted, by every way they know, and nothing else."""

import os
import shutil
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from consentry.base.errors import Refused
from consentry.enforce.egress.dialling import Dialler
from consentry.enforce.violations import Truth
from consentry.surface.modes import View
from tests.enforce.egress.grounds import Ground, denied
from tests.enforce.egress.peers import AnyWay, ProxyHere, http_peer, make_certificate

needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

GET = "import urllib.request as u\nprint(u.urlopen({0!r}, timeout=20).read().decode())\n"
CONNECT = (
    "import socket\nwith socket.create_connection(({0!r}, {1}), 20) as s:\n"
    "    s.sendall(b'GET /reached HTTP/1.0\\r\\n\\r\\n')\n"
    "    print(s.makefile().read())\n"
)


def test_a_granted_host_is_reached_through_the_proxy(ground: Ground) -> None:
    """By a program that honours the variables; the record has host, rule, address and bytes."""
    with http_peer() as peer:
        place = f"127.0.0.1:{peer.server_port}"
        env = {"no_proxy": "", "NO_PROXY": ""}
        outcome = ground.python(GET.format(f"http://{place}/granted"), place, env=env)
        assert (outcome.exit_code, outcome.stdout) == (0, b"/granted\n"), outcome.stderr
        assert [each[1] for each in peer.seen] == ["/granted"]
    [reach] = outcome.reached.places
    assert (reach.host, reach.port, reach.via) == ("127.0.0.1", peer.server_port, "http")
    assert (reach.is_allowed, reach.rule, list(reach.addresses)) == (True, place, ["127.0.0.1"])
    assert reach.sent > len("GET /granted HTTP/1.1")
    assert reach.received > len("/granted")
    assert outcome.violations == ()


def test_a_host_that_was_not_granted_is_not_reached_and_the_refusal_is_on_record(
    ground: Ground,
) -> None:
    """The peer outside hears nothing; the program hears why."""
    with http_peer() as peer, http_peer() as other:
        asked = f"127.0.0.1:{other.server_port}"
        code = (
            "import urllib.request as u, urllib.error\n"
            f"try: u.urlopen('http://{asked}/', timeout=20)\n"
            "except urllib.error.HTTPError as e: print(e.code, e.read().decode())\n"
        )
        env = {"no_proxy": "", "NO_PROXY": ""}
        outcome = ground.python(code, f"127.0.0.1:{peer.server_port}", env=env)
        assert other.seen == []
    assert outcome.stdout == f"403 consentry: {asked}: not granted\n\n".encode()
    assert denied(outcome) == [(asked, "not granted", Truth.MEDIATED)]
    assert outcome.violations[0].allow == f"--net {asked}"


def test_a_program_that_knows_no_proxy_reaches_what_was_granted(ground: Ground) -> None:
    """A plain connection to the address arrives, to that port alone."""
    with http_peer() as peer:
        port = peer.server_port
        granted = ground.python(CONNECT.format("127.0.0.1", port), f"127.0.0.1:{port}")
        assert b"/reached" in granted.stdout, granted.stderr
        assert [each.via for each in granted.reached.places] == ["transparent"]
        by_name = ground.python(CONNECT.format("localhost", port), f"localhost:{port}")
        assert b"/reached" in by_name.stdout, by_name.stderr
        other = ground.python(CONNECT.format("127.0.0.2", port), f"127.0.0.1:{port}")
        assert b"ConnectionReset" in other.stderr
        assert denied(other) == [(f"127.0.0.2:{port}", "not granted", Truth.MEDIATED)]
        none = ground.python(CONNECT.format("127.0.0.1", port))
        assert b"ConnectionRefused" in none.stderr
        assert len(peer.seen) == 2


def test_a_name_that_was_not_granted_has_no_address(ground: Ground) -> None:
    """And that it was asked for is on record, by its name."""
    code = "import socket\ntry: socket.getaddrinfo('phone.home.example', 443)\nexcept OSError as e: print(e)"
    outcome = ground.python(code, "example.org:443")
    assert b"Name or service not known" in outcome.stdout
    assert ("phone.home.example", "not granted", Truth.MEDIATED) in denied(outcome)


def test_a_granted_name_has_addresses_that_lead_to_us(ground: Ground) -> None:
    """Both kinds, and the same ones each time; the real one is nobody's business inside."""
    code = (
        "import socket\n"
        "found = [socket.getaddrinfo('example.org', 443, type=socket.SOCK_STREAM) for _ in '12']\n"
        "print(found[0] == found[1], sorted({each[4][0] for each in found[0]}))\n"
    )
    outcome = ground.python(code, "example.org:443")
    assert outcome.stdout == b"True ['198.18.0.1', 'fd63:6f6e:7365:6e74::1']\n", outcome.stderr
    assert outcome.violations == ()


@needs_curl
def test_curl_speaks_every_way_of_the_proxy(ground: Ground) -> None:
    """Plain HTTP, a tunnel with TLS inside, and SOCKS5 with the name left to the proxy."""
    certificate = make_certificate(ground.workspace / "peer.pem", "localhost")
    with http_peer() as plain, http_peer(certificate) as secure:
        ports = (plain.server_port, secure.server_port)
        script = (
            "unset no_proxy NO_PROXY\n"
            f"curl -sS http://localhost:{ports[0]}/one\necho\n"
            f"curl -sS --cacert peer.pem https://localhost:{ports[1]}/two\necho\n"
            f"curl -sS --socks5-hostname 127.0.0.1:3128 http://localhost:{ports[0]}/three\n"
        )
        net = [f"localhost:{port}" for port in ports]
        outcome = ground.run(["/bin/sh", "-c", script], *net)
    assert outcome.stdout == b"/one\n/two\n/three", outcome.stderr
    assert {(each.port, each.via) for each in outcome.reached.places} == {
        (ports[0], "http"),
        (ports[1], "http"),
        (ports[0], "socks5"),
    }


REBINDING = "rebound.example"
# The attack, what would be granted for it, and how to take the control away.
LED_ASTRAY: dict[str, Callable[[Any], None]] = {
    "with the rules": lambda _: None,
    "without them": lambda run: setattr(
        run, "_dialler", Dialler(AnyWay(run._rules.access), run._reached)
    ),
}


@pytest.mark.parametrize("way", LED_ASTRAY)
def test_a_granted_name_cannot_be_made_to_lead_to_this_machine(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Whoever answers for the name says 127.0.0.1; no rule, and it is reached.

    What the name leads to is made up: no name server can be had that this machine would ask.
    """
    real = socket.getaddrinfo

    def answers(host: str, *rest: Any, **more: Any) -> Any:
        return real("127.0.0.1" if host == REBINDING else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    proxy = ProxyHere(LED_ASTRAY[way])
    monkeypatch.setattr(ground.engine._proxy, "started", lambda: proxy)
    with http_peer() as peer:
        code = CONNECT.format(REBINDING, peer.server_port)
        outcome = ground.python(code, f"{REBINDING}:{peer.server_port}")
        reached = [each[1] for each in peer.seen]
    if way == "without them":
        assert reached == ["/reached"]
    else:
        assert reached == []
        [(place, why, truth)] = denied(outcome)
        assert place.startswith(REBINDING)
        assert (why, truth) == ("leads to 127.0.0.1 (loopback)", Truth.MEDIATED)


def test_no_network_means_none_at_all(ground: Ground) -> None:
    """Without a grant there is no proxy, no variable that names one, and nobody listens."""
    code = (
        "import os, socket\n"
        "print([name for name in os.environ if 'proxy' in name.lower()])\n"
        "s = socket.socket(); print(s.connect_ex(('127.0.0.1', 3128)))\n"
    )
    outcome = ground.python(code)
    assert outcome.stdout == b"[]\n111\n"
    assert outcome.reached.places == ()


@pytest.mark.parametrize("net", [(), ("example.org:443",)])
def test_without_a_grant_every_name_is_refused_and_on_record(
    ground: Ground, net: tuple[str, ...]
) -> None:
    """At once, and by its name: also where another host was granted."""
    code = (
        "import socket\n"
        "for name in ('secret.phone.home.example', 'phone.home.example'):\n"
        "    try: socket.getaddrinfo(name, 443)\n"
        "    except OSError as e: print(e)\n"
    )
    outcome = ground.python(code, *net)
    assert outcome.stdout == b"[Errno -2] Name or service not known\n" * 2
    denied = {(each.resource, each.truth, each.allow) for each in outcome.violations}
    assert denied == {
        (name, Truth.MEDIATED, f"--net {name}")
        for name in ("secret.phone.home.example", "phone.home.example")
    }
    assert outcome.complete


def test_a_name_server_of_the_host_s_network_is_not_reached(ground: Ground) -> None:
    """A question sent elsewhere than home is an attempt to get out."""
    code = "import socket\nsocket.socket(type=socket.SOCK_DGRAM).connect(('192.0.2.53', 53))"
    outcome = ground.python(code)
    assert outcome.exit_code != 0
    assert denied(outcome) == [("192.0.2.53:53", "no network", Truth.OBSERVED)]


def test_names_without_end_leave_the_record_incomplete_and_say_so(ground: Ground) -> None:
    """The list has room for a thousand; the rest is counted."""
    code = (
        "import socket\n"
        "s = socket.socket(type=socket.SOCK_DGRAM); s.connect(('127.0.0.1', 53)); s.settimeout(20)\n"
        "for n in range(1100):\n"
        "    label = b'n%d' % n\n"
        "    s.send(b'\\0\\1\\1\\0\\0\\1\\0\\0\\0\\0\\0\\0' + bytes([len(label)]) + label"
        " + b'\\7example\\0\\0\\1\\0\\1')\n"
        "    s.recv(512)\n"
        "print('done')\n"
    )
    outcome = ground.python(code)
    assert outcome.stdout == b"done\n", outcome.stderr
    assert len(outcome.violations) == 1000
    assert not outcome.complete


def test_when_the_run_is_over_nothing_of_it_goes_on(ground: Ground) -> None:
    """A connection that the program left open is closed, and the record does not wait for it."""
    with http_peer() as peer:
        port = peer.server_port
        code = (
            "import os, socket, time\n"
            f"s = socket.create_connection(('127.0.0.1', {port}), 20)\n"
            "if os.fork() == 0:\n    time.sleep(300)\n"
        )
        outcome = ground.python(code, f"127.0.0.1:{port}")
    assert outcome.exit_code == 0
    assert [each.times for each in outcome.reached.places] == [1]


def test_a_host_that_never_speaks_does_not_keep_the_run_waiting(ground: Ground) -> None:
    """The program is gone, the host says nothing: the connection is closed, and the run recorded."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        code = f"import socket\ns = socket.create_connection(('127.0.0.1', {port}), 20)\ns.sendall(b'x')\n"
        outcome = ground.python(code, f"127.0.0.1:{port}")
        assert (outcome.exit_code, [each.sent for each in outcome.reached.places]) == (0, [1])
        heard, _ = silent.accept()
        with heard:
            heard.settimeout(20)
            assert heard.recv(10) == b"x"
            assert heard.recv(10) == b""


def test_more_connections_than_are_served_at_once_do_no_harm(ground: Ground) -> None:
    """Those beyond are closed; when the others are, the next one is served as before."""
    with http_peer() as peer:
        port = peer.server_port
        code = (
            "import socket, time\n"
            f"all = [socket.create_connection(('127.0.0.1', {port}), 30) for _ in range(300)]\n"
            "for each in all: each.close()\n"
            "for _ in range(300):\n"
            "    try:\n"
            f"        with socket.create_connection(('127.0.0.1', {port}), 30) as s:\n"
            "            s.sendall(b'GET /reached HTTP/1.0\\r\\n\\r\\n')\n"
            "            if s.recv(4): print('served'); break\n"
            "    except OSError: pass\n"
            "    time.sleep(0.1)\n"
        )
        outcome = ground.python(code, f"127.0.0.1:{port}")
    assert outcome.stdout == b"served\n", outcome.stderr
    turned_away = [each for each in outcome.violations if "at once" in each.rule]
    assert [each.allow for each in turned_away] == [None]


def test_what_the_proxy_would_not_do_is_on_record(ground: Ground) -> None:
    """Words that it could not read, and wishes that are none for a connection; a hang-up is neither."""
    code = (
        "import socket\n"
        "def said(*parts):\n"
        "    with socket.create_connection(('127.0.0.1', 3128), 30) as s:\n"
        "        for part in parts: s.sendall(part); answer = s.recv(99)\n"
        "        return answer[:12]\n"
        "print(said(b'GET ftp://example.org/ HTTP/1.1\\r\\n\\r\\n'))\n"
        "print(said(b'\\5\\1\\0', b'\\5\\3\\0\\1\\xc0\\0\\2\\7\\0\\x50'))\n"
        "socket.create_connection(('127.0.0.1', 3128), 30).close()\n"
    )
    outcome = ground.python(code, "example.org")
    assert outcome.stdout.startswith(b"b'HTTP/1.1 400'\n"), outcome.stderr
    said = {(each.resource, each.rule, each.allow) for each in outcome.violations}
    assert said == {
        ("the proxy:3128", "the address must begin with http:// and a host", None),
        ("192.0.2.7:80", "the proxy makes connections alone", None),
    }


def test_a_proxy_that_dies_lets_nothing_through_and_the_record_says_that_it_is_not_whole(
    ground: Ground,
) -> None:
    """The program is cut off; the run is recorded all the same, and the next has a proxy again."""
    with http_peer() as peer:
        place = f"127.0.0.1:{peer.server_port}"
        ended = ground.python(CONNECT.format("127.0.0.1", peer.server_port), place)
        assert ended.complete
        proxy = ground.engine._proxy.started()
        code = (
            "import socket\n"
            f"s = socket.create_connection(('127.0.0.1', {peer.server_port}), 20)\n"
            "print('connected', flush=True)\n"
            "try: print(s.recv(1))\n"
            "except OSError: print('cut off')\n"
        )
        Thread(target=_kill_when_it_is_heard, args=(peer, proxy._process.pid)).start()
        ended = ground.python(code, place)
        assert ended.stdout in (b"connected\nb''\n", b"connected\ncut off\n"), ended.stderr
        assert (ended.exit_code, ended.complete) == (0, False)
        ended = ground.python(CONNECT.format("127.0.0.1", peer.server_port), place)
        assert b"/reached" in ended.stdout


def _kill_when_it_is_heard(peer: Any, pid: int) -> None:
    for _ in range(3000):
        if peer.connections > 1:
            break
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)


def test_a_program_that_cannot_start_leaves_nothing_at_the_proxy(ground: Ground) -> None:
    """Its sockets were handed over before; they are closed as those of every other run."""
    broken = ground.workspace / "broken"
    broken.write_bytes(b"\x7fELF, and nothing else")
    broken.chmod(0o755)
    assert ground.python("pass", "example.org:443").exit_code == 0
    opened = Path(f"/proc/{ground.engine._proxy.started()._process.pid}/fd")
    before = len(list(opened.iterdir()))
    for _ in range(3):
        with pytest.raises(Refused):
            ground.run([str(broken)], "example.org:443")
    assert len(list(opened.iterdir())) <= before


@pytest.mark.parametrize("net", [(), ("example.org:443",)])
def test_names_are_refused_by_name_in_the_other_view_as_well(
    ground: Ground, net: tuple[str, ...]
) -> None:
    """The host's own resolver configuration is in sight there, and leads nowhere else."""
    code = (
        "import socket\ntry: socket.gethostbyname('phone.example')\nexcept OSError as e: print(e)"
    )
    outcome = ground.python(code, *net, view=View.VISIBLE)
    assert outcome.stdout == b"[Errno -2] Name or service not known\n", outcome.stderr
    assert ("phone.example", Truth.MEDIATED) in {(each[0], each[2]) for each in denied(outcome)}


def test_a_granted_host_is_reached_in_the_other_view_as_well(ground: Ground) -> None:
    """By its address, and with the host's tree in sight."""
    with http_peer() as peer:
        port = peer.server_port
        code = CONNECT.format("127.0.0.1", port)
        outcome = ground.python(code, f"127.0.0.1:{port}", view=View.VISIBLE)
    assert b"/reached" in outcome.stdout, outcome.stderr

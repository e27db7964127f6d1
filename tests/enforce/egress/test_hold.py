"""Connections that wait for a person's answer: nothing is sent before a yes, and a no stays one."""

import socket
import time
from typing import Any

import pytest

from consentry.enforce.egress import rules
from consentry.enforce.egress.addresses import Kind
from consentry.enforce.egress.dialling import Dialler
from consentry.enforce.egress.heldlines import MOST_HELD
from consentry.enforce.held import HeldAnswer
from consentry.enforce.violations import Truth
from tests.enforce.egress.grounds import EVERYTHING_BY_PROXY, Ground, denied
from tests.enforce.egress.peers import AnyWay, ProxyHere, http_peer
from tests.enforce.egress.persons import Person, no, nobody_yet, yes

NAME = "asked.example"
OTHER = "other.example"
GET = (
    "import urllib.request as u, urllib.error\n"
    "try: print(u.urlopen({0!r}, timeout=20).read().decode())\n"
    "except urllib.error.HTTPError as e: print(e.code, e.read().decode())\n"
)
CONNECT = (
    "import socket\ntry:\n"
    "    with socket.create_connection(({0!r}, {1}), 20) as s:\n"
    "        s.sendall(b'GET /reached HTTP/1.0\\r\\n\\r\\n')\n"
    "        print(s.makefile().read().splitlines()[-1])\n"
    "except OSError as e: print(type(e).__name__)\n"
)
SOCKS = (
    "import socket\n"
    "s = socket.create_connection(('127.0.0.1', 3128), 20)\n"
    "s.sendall(b'\\x05\\x01\\x00'); s.recv(2)\n"
    "name = {0!r}.encode()\n"
    "s.sendall(b'\\x05\\x01\\x00\\x03' + bytes([len(name)]) + name + ({1}).to_bytes(2, 'big'))\n"
    "code = s.recv(10)[1]; print('socks', code)\n"
    "if code == 0:\n"
    "    s.sendall(b'GET /reached HTTP/1.0\\r\\n\\r\\n'); print(s.makefile().read().splitlines()[-1])\n"
)


@pytest.fixture
def looked_up(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The two names lead to this machine's loopback, and which of them was looked up."""
    real, seen = socket.getaddrinfo, list[str]()

    def answers(host: str, *rest: Any, **more: Any) -> Any:
        if host in (NAME, OTHER):
            seen.append(host)
        return real("127.0.0.1" if host in (NAME, OTHER) else host, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answers)
    return seen


@pytest.fixture
def held(ground: Ground, monkeypatch: pytest.MonkeyPatch, looked_up: list[str]) -> Ground:
    """A ground whose proxy takes loopback for a public place: there is no other to be had here."""
    assert looked_up == []
    monkeypatch.setattr(rules, "kind_of", lambda *_: Kind.PUBLIC)
    proxy = ProxyHere()
    monkeypatch.setattr(ground.engine._proxy, "started", lambda: proxy)
    return ground


def test_an_answer_of_no_reaches_nobody(held: Ground, looked_up: list[str]) -> None:
    """The program hears 403 and why; nothing was looked up, and the record says who refused."""
    person = Person(no)
    with http_peer() as peer:
        place = f"{NAME}:{peer.server_port}"
        outcome = held.python(GET.format(f"http://{place}/secret"), holds=person)
        assert peer.connections == 0
    assert outcome.stdout.startswith(
        f"403 consentry: {place}: refused when it was asked for".encode()
    )
    assert person.asked_for == [place]
    assert looked_up == []
    assert denied(outcome) == [(place, "refused when it was asked for", Truth.MEDIATED)]
    [record] = [each for each in outcome.held_operations if each.held.path_or_host == place]
    assert (record.answer, record.request_id) == (HeldAnswer.REFUSED, f"request-of-{place}")


def test_an_answer_of_yes_reaches_that_place_and_is_on_record(held: Ground) -> None:
    """Where no network was granted at all: the rule is the place, held by an answer."""
    person = Person(yes)
    with http_peer() as peer:
        place = f"{NAME}:{peer.server_port}"
        outcome = held.python(GET.format(f"http://{place}/word"), holds=person)
        assert [each[1] for each in peer.seen] == ["/word"]
    assert outcome.stdout == b"/word\n", outcome.stderr
    [reach] = outcome.reached.places
    assert (reach.is_allowed, reach.is_held, reach.rule) == (True, True, place)
    assert list(reach.addresses) == ["127.0.0.1"]
    [record] = outcome.held_operations
    assert (record.answer, record.times) == (HeldAnswer.GRANTED, 1)
    assert denied(outcome) == []


def test_without_the_rules_nobody_is_asked_and_it_is_reached(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, looked_up: list[str]
) -> None:
    """The control taken away: the same program gets through without a question."""

    def unruled(run: Any) -> None:
        run._dialler = Dialler(AnyWay(run._rules.access), run._reached, run._held)

    proxy = ProxyHere(unruled)
    monkeypatch.setattr(ground.engine._proxy, "started", lambda: proxy)
    person = Person(no)
    with http_peer() as peer:
        place = f"{NAME}:{peer.server_port}"
        outcome = ground.python(GET.format(f"http://{place}/secret"), holds=person)
        assert [each[1] for each in peer.seen] == ["/secret"]
    assert outcome.stdout == b"/secret\n"
    assert person.asked_for == []
    assert looked_up == [NAME]


@pytest.mark.parametrize("answer", [HeldAnswer.REFUSED, HeldAnswer.EXPIRED])
@pytest.mark.parametrize("way", ["transparent", "socks5"])
def test_every_way_is_held_and_refused_as_ever(held: Ground, way: str, answer: HeldAnswer) -> None:
    """A plain connection is reset, SOCKS hears `not allowed`; no answer in time is a no."""
    person = Person(lambda _: answer)
    code = {"transparent": CONNECT, "socks5": SOCKS}[way].format(NAME, 80)
    outcome = held.python(code, holds=person)
    assert outcome.stdout == {"transparent": b"ConnectionResetError\n", "socks5": b"socks 2\n"}[way]
    assert person.asked_for == [f"{NAME}:80"]
    [(place, why, _)] = denied(outcome)
    assert place == f"{NAME}:80"
    assert ("time" in why) == (answer is HeldAnswer.EXPIRED)


@pytest.mark.parametrize("code", [CONNECT, SOCKS])
def test_every_way_is_let_through_by_a_yes(held: Ground, code: str) -> None:
    """The same programs, granted; a name that was only asked about has an address inside."""
    with http_peer() as peer:
        port = peer.server_port
        # A plain connection is heard at the ports that were granted, and the usual ones.
        net = f"unused.example:{port}"
        outcome = held.python(code.format(NAME, port), net, holds=Person(yes))
        assert len(peer.seen) == 1, outcome.stderr
    assert b"/reached" in outcome.stdout


def test_a_connection_that_was_granted_goes_on_while_another_waits(held: Ground) -> None:
    """A sibling is served in full before anybody has answered."""
    person = Person(nobody_yet)
    with http_peer() as asked, http_peer() as granted:
        code = (
            "import threading, urllib.request as u\n"
            "get = lambda at: print(u.urlopen(at, timeout=20).read().decode(), flush=True)\n"
            f"one = threading.Thread(target=get, args=('http://{NAME}:{asked.server_port}/one',))\n"
            "one.start()\n"
            f"get('http://localhost:{granted.server_port}/two'); get('http://localhost:{granted.server_port}/go')\n"
            "one.join()\n"
        )

        def once_the_sibling_is_through() -> None:
            person.wait(1)
            while len(granted.seen) < 2:
                time.sleep(0.02)
            assert asked.connections == 0
            person.answer(HeldAnswer.GRANTED)

        thread = person.meanwhile(once_the_sibling_is_through)
        net = f"localhost:{granted.server_port}"
        outcome = held.python(code, net, env=EVERYTHING_BY_PROXY, holds=person)
        thread.join()
        assert [each[1] for each in asked.seen] == ["/one"]
    assert outcome.stdout == b"/two\n/go\n/one\n", outcome.stderr


def test_the_same_place_is_asked_for_once_and_a_no_stays_one(held: Ground) -> None:
    """Five at once wait for one answer, and one that comes later gets it too."""
    person = Person(nobody_yet)
    code = (
        "import threading, urllib.request as u, urllib.error\n"
        "def get():\n"
        f"    try: u.urlopen('http://{NAME}/', timeout=20)\n"
        "    except urllib.error.HTTPError as e: print(e.code)\n"
        "all = [threading.Thread(target=get) for _ in range(5)]\n"
        "for each in all: each.start()\n"
        "for each in all: each.join()\n"
        "get()\n"
    )

    def refuse() -> None:
        person.wait(1)
        person.answer(HeldAnswer.REFUSED)

    thread = person.meanwhile(refuse)
    outcome = held.python(code, holds=person)
    thread.join()
    assert outcome.stdout == b"403\n" * 6
    assert person.asked_for == [f"{NAME}:80"]
    [record] = outcome.held_operations
    assert (record.answer, record.times) == (HeldAnswer.REFUSED, 6)


def test_a_yes_is_for_one_host_on_one_port(held: Ground) -> None:
    """Another port of the same host is another question."""

    def says(place: str) -> HeldAnswer:
        return HeldAnswer.GRANTED if place == granted else HeldAnswer.REFUSED

    person = Person(says)
    with http_peer() as peer, http_peer() as other:
        granted = f"{NAME}:{peer.server_port}"
        places = [granted, f"{NAME}:{other.server_port}", f"{OTHER}:{peer.server_port}"]
        code = "".join(GET.format(f"http://{place}/word") for place in places)
        outcome = held.python(code, holds=person)
        assert (len(peer.seen), other.connections) == (1, 0)
    assert person.asked_for == places
    assert outcome.stdout.count(b"403 consentry") == 2


NEVER_ASKED_FOR = [
    "localhost:80",
    "box.localhost:80",
    "127.0.0.1:80",
    "[::1]:80",
    "169.254.169.254:80",
    "[fe80::1]:80",
    "0.0.0.0:80",
    "[::ffff:127.0.0.1]:80",
    "[64:ff9b::169.254.169.254]:80",
]


@pytest.mark.parametrize("place", NEVER_ASKED_FOR)
def test_what_a_person_cannot_open_is_refused_without_a_question(
    ground: Ground, place: str
) -> None:
    """This machine, the link and metadata: whoever would say yes is not asked."""
    person = Person(yes)
    code = GET.format(f"http://{place}/latest")
    outcome = ground.python(code, holds=person, env=EVERYTHING_BY_PROXY)
    assert outcome.stdout.startswith(b"403"), outcome.stderr
    assert person.asked_for == []


def test_what_a_person_could_open_is_asked_for_in_the_same_way(ground: Ground) -> None:
    """An address of somebody else's network is a question like a name is."""
    person = Person(no)
    outcome = ground.python(GET.format("http://192.168.7.7:8080/"), holds=person)
    assert person.asked_for == ["192.168.7.7:8080"]
    assert outcome.stdout.startswith(b"403")


def test_a_name_that_leads_to_this_machine_is_refused_after_the_yes(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, looked_up: list[str]
) -> None:
    """Whoever answers for the name cannot turn a yes for it into one for loopback."""
    proxy = ProxyHere()
    monkeypatch.setattr(ground.engine._proxy, "started", lambda: proxy)
    person = Person(yes)
    with http_peer() as peer:
        place = f"{NAME}:{peer.server_port}"
        outcome = ground.python(GET.format(f"http://{place}/"), holds=person)
        assert peer.connections == 0
    assert person.asked_for == [place]
    assert looked_up == [NAME]
    assert denied(outcome) == [(place, "leads to 127.0.0.1 (loopback)", Truth.MEDIATED)]


@pytest.mark.parametrize("way", ["the program hangs up", "the program ends"])
def test_a_question_ends_with_whoever_asked(held: Ground, way: str) -> None:
    """The person is told that nobody waits, and the run ends without an answer."""
    person = Person(nobody_yet)
    code = (
        "import socket, sys, time\n"
        "s = socket.create_connection(('127.0.0.1', 3128), 20)\n"
        f"s.sendall(b'CONNECT {NAME}:443 HTTP/1.1\\r\\n\\r\\n')\n"
        "time.sleep(1)\n"
    )
    if way == "the program hangs up":
        code += "s.close(); time.sleep(1)\n"
    outcome = held.python(code, holds=person)
    assert outcome.exit_code == 0
    assert person.asked_for == [f"{NAME}:443"]
    assert len(person.left) == 1
    [record] = outcome.held_operations
    assert record.answer is HeldAnswer.GONE
    assert denied(outcome) == [(f"{NAME}:443", "given up before it was answered", Truth.MEDIATED)]


def test_what_waits_leaves_room_for_what_need_not(held: Ground) -> None:
    """More than may wait are refused, and a granted host is reached all the same."""
    person = Person(nobody_yet)
    with http_peer() as peer:
        code = (
            "import select, socket, urllib.request as u\n"
            "def ask(n):\n"
            "    s = socket.create_connection(('127.0.0.1', 3128), 20)\n"
            "    s.sendall(b'CONNECT n%d.example:443 HTTP/1.1\\r\\n\\r\\n' % n); return s\n"
            f"held = [ask(n) for n in range({MOST_HELD + 1})]\n"
            "print([each.recv(12) for each in select.select(held, [], [], 20)[0]])\n"
            f"print(u.urlopen('http://localhost:{peer.server_port}/granted').read())\n"
        )
        net = f"localhost:{peer.server_port}"
        outcome = held.python(code, net, env=EVERYTHING_BY_PROXY, holds=person)
    # Which of them was one too many is for the threads to say.
    assert outcome.stdout == b"[b'HTTP/1.1 403']\nb'/granted'\n", outcome.stderr
    assert len(person.asked_for) == MOST_HELD


def test_a_run_that_holds_nothing_asks_nobody(ground: Ground) -> None:
    """Without a keeper a name that was not granted has no address, as ever."""
    outcome = ground.python(CONNECT.format(NAME, 80))
    assert outcome.stdout == b"gaierror\n"


@pytest.mark.parametrize("is_granted", [False, True], ids=["asked and refused", "granted"])
def test_a_name_that_leads_into_a_private_network_is_asked_about_by_its_address(
    held: Ground,
    monkeypatch: pytest.MonkeyPatch,
    is_granted: bool,  # noqa: FBT001 - of a table
) -> None:
    """A program chose the name, and whoever answers for it chose where it leads: a yes says neither.

    A name that leads to the public network needs no second yes, as the tests above show.
    """
    monkeypatch.setattr(rules, "kind_of", lambda *_: Kind.PRIVATE)

    def says(place: str) -> HeldAnswer:
        is_yes = is_granted or place.startswith(NAME)
        return HeldAnswer.GRANTED if is_yes else HeldAnswer.REFUSED

    person = Person(says)
    with http_peer() as peer:
        place, address = f"{NAME}:{peer.server_port}", f"127.0.0.1:{peer.server_port}"
        outcome = held.python(GET.format(f"http://{place}/word") * 2, holds=person)
        assert len(peer.seen) == (2 if is_granted else 0)
    assert person.asked_for == [place, address]
    assert len(outcome.held_operations) == 2
    if not is_granted:
        assert denied(outcome) == [(place, "leads to 127.0.0.1 (private)", Truth.MEDIATED)]

"""No spelling leads past the rules: each is tried by every way, at a host that was not granted."""

import json

import pytest

from consentry.enforce.egress.dialling import Dialler
from tests.enforce.egress.grounds import Ground
from tests.enforce.egress.peers import AnyWay, ProxyHere, http_peer

SPELLED = {
    "plain": b"127.0.0.1",
    "a name": b"localhost",
    "upper case": b"LOCALHOST",
    "a final dot": b"localhost.",
    "an address with a final dot": b"127.0.0.1.",
    "decimal": b"2130706433",
    "hexadecimal": b"0x7f000001",
    "octal": b"017700000001",
    "octal, dotted": b"0177.0.0.1",
    "short": b"127.1",
    "NUL": b"127.0.0.1\0.granted.example",
    "NUL before": b"granted.example\0.127.0.0.1",
    "percent": b"127.0.0.1%00",
    "percent, encoded": b"%31%32%37.0.0.1",
    "brackets": b"[127.0.0.1]",
    "dressed as IPv6": b"[::ffff:127.0.0.1]",
    "dressed as IPv6, hexadecimal": b"[::ffff:7f00:1]",
    "a zone": b"[::1%25lo]",
    "a user": b"granted.example@127.0.0.1",
    "a backslash": b"granted.example\\@127.0.0.1",
    "other letters": "\uff11\uff12\uff17.0.0.1".encode(),
    "other dots": "127。0。0。1".encode(),
    "IDN": "ⓛocalhost".encode(),
    "a space": b"127.0.0.1 ",
    "a tab": b"\t127.0.0.1",
    "unspecified": b"0.0.0.0",
    "nothing": b"",
}
REACHED_WITHOUT_RULES = {
    "plain",
    "a name",
    "upper case",
    "a final dot",
    "dressed as IPv6",
    "unspecified",
}

TRIES = """
import json, socket, sys
def heard(*parts):
    try:
        with socket.create_connection(("127.0.0.1", 3128), 30) as s:
            for part in parts:
                s.sendall(part)
                answer = s.recv(4096)
            return answer[:12].decode("latin-1")
    except OSError as problem:
        return type(problem).__name__
port = {port}
found = {{}}
for name, host in {spelled!r}.items():
    place = host + b":%d" % port
    found[name] = [
        heard(b"CONNECT " + place + b" HTTP/1.1\\r\\n\\r\\n"),
        heard(b"GET http://" + place + b"/x HTTP/1.1\\r\\nHost: " + place + b"\\r\\n\\r\\n"),
        heard(b"GET http://" + place + b"/x HTTP/1.1\\r\\nHost: granted.example\\r\\n\\r\\n"),
        heard(b"GET http://granted.example/x HTTP/1.1\\r\\nHost: " + place + b"\\r\\n\\r\\n"),
        heard(b"\\5\\1\\0", b"\\5\\1\\0\\3" + bytes([len(host)]) + host + port.to_bytes(2, "big")),
    ]
print(json.dumps(found))
"""


@pytest.mark.parametrize("granted", ["granted.example", "127.0.0.1:1", "*:1", "10.0.0.0/8"])
def test_no_spelling_reaches_a_host_that_was_not_granted(ground: Ground, granted: str) -> None:
    """Whatever else was granted: another name, another port, any host on another port, a block."""
    with http_peer() as peer:
        code = TRIES.format(port=peer.server_port, spelled=SPELLED)
        outcome = ground.python(code, granted)
        assert peer.connections == 0
    found = json.loads(outcome.stdout)
    for name, answers in found.items():
        assert not any(each.startswith("HTTP/1.1 200") for each in answers), (name, answers)
        assert not answers[-1].startswith("\5\0"), (name, answers)


def test_the_same_place_is_reached_when_it_is_granted(ground: Ground) -> None:
    """In the spellings that can be read in one way only, and in no other."""
    with http_peer() as peer:
        code = TRIES.format(port=peer.server_port, spelled=SPELLED)
        place = f"127.0.0.1:{peer.server_port}"
        found = json.loads(ground.python(code, place, f"localhost:{peer.server_port}").stdout)
    reached = {name for name, answers in found.items() if answers[0].startswith("HTTP/1.1 200")}
    expected = REACHED_WITHOUT_RULES - {"unspecified"} | {"dressed as IPv6, hexadecimal"}
    assert reached == expected


def test_without_the_rules_the_host_is_reached(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the tests above could fail."""

    def no_rules(run: object) -> None:
        rules = AnyWay(run._rules.access)  # type: ignore[attr-defined]
        run._dialler = Dialler(rules, run._reached)  # type: ignore[attr-defined]

    proxy = ProxyHere(no_rules)
    monkeypatch.setattr(ground.engine._proxy, "started", lambda: proxy)
    with http_peer() as peer:
        code = TRIES.format(port=peer.server_port, spelled=SPELLED)
        found = json.loads(ground.python(code, "granted.example").stdout)
        assert peer.connections > 0
    reached = {name for name, answers in found.items() if answers[0].startswith("HTTP/1.1 200")}
    assert reached >= REACHED_WITHOUT_RULES

"""`consentry code --net`: a snippet reaches what is named, by the same proxy and on the same record."""

import json

from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record, put
from tests.enforce.egress.peers import http_peer

FETCHES = """
import urllib.error, urllib.request
def fetched(place):
    try:
        return urllib.request.urlopen(place, timeout=20).read().decode()
    except urllib.error.HTTPError as problem:
        return problem.code
    except OSError:
        return "no network"
[fetched(place) for place in places]
"""


def test_what_is_named_is_reached_and_nothing_else(line: CommandLine) -> None:
    """Refused without a grant, reached with one; what was refused is told with its option."""
    put(line, "fetches.py", FETCHES)
    with http_peer() as granted, http_peer() as other:
        hosts = [f"localhost:{each.server_port}" for each in (granted, other)]
        places = [f"http://{host}/word" for host in (*hosts, "phone.home.example")]
        words = ["fetches.py", "--arg", f"places={json.dumps(places)}"]
        closed = line("code", *words)
        assert json.loads(closed.out) == ["no network"] * 3
        assert "phone.home.example" in closed.err
        ended = line("code", *words, "--net", hosts[0])
        assert json.loads(ended.out) == ["/word", "no network", 403]
        assert [len(each.seen) for each in (granted, other)] == [1, 0]
        assert "allow it with --net phone.home.example:80" in ended.err
        sandbox = last_record(line)["sandbox"]
        both = line("code", *words, "--net", hosts[0], "--net", hosts[1])
        assert json.loads(both.out)[:2] == ["/word"] * 2
    network = [(each["host"], each["allowed"], each["rule"]) for each in sandbox["network"]]
    assert network == [("localhost", True, hosts[0]), ("phone.home.example", False, None)]
    assert sandbox["truth"]["network"] == "mediated"
    held = {each["control"]: each["mechanism"] for each in sandbox["controls"]}
    assert "proxy" in held["no-network"]


def test_without_a_grant_each_name_is_on_record(line: CommandLine) -> None:
    """As for a program: refused at once, by its name, `mediated`."""
    code = (
        "import socket\ntry: socket.gethostbyname('phone.example')\nexcept OSError: result = 'no'"
    )
    put(line, "asks.py", code)
    assert json.loads(line("code", "asks.py").out) == "no"
    [denied] = last_record(line)["sandbox"]["violations"]
    assert (denied["resource"], denied["truth"]) == ("phone.example", "mediated")

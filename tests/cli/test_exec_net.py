"""`consentry exec --net`: a granted host is reached, all others are refused, told of and on record."""

import pytest

from consentry.enforce.egress.reached import MOST_ENTRIES
from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record, put
from tests.enforce.egress.peers import http_peer

ASKS = """
import sys, urllib.request, urllib.error
for asked in sys.argv[1:]:
    try:
        print(urllib.request.urlopen(asked, timeout=20).read().decode())
    except urllib.error.HTTPError as problem:
        print(problem.code)
    except OSError as problem:
        print("no network")
"""


def test_what_is_named_is_reached_and_nothing_else(line: CommandLine) -> None:
    """ESCALATION's `net`: what was refused is told, with the option that would allow it."""
    put(line, "asks.py", ASKS)
    with http_peer() as granted, http_peer() as other:
        hosts = [f"localhost:{each.server_port}" for each in (granted, other)]
        asked = [f"http://{host}/word" for host in (*hosts, "phone.home.example")]
        words = ["--", "python3", "asks.py", *asked]
        assert line("exec", *words).out == "no network\n" * 3
        ended = line("exec", "--net", hosts[0], *words)
        assert ended.out == "/word\nno network\n403\n"
        assert [len(each.seen) for each in (granted, other)] == [1, 0]
        assert ended.err == (
            "consentry: 1 thing was stopped\n"
            "  net phone.home.example:80: not granted;"
            " allow it with --net phone.home.example:80\n"
        )
        network = last_record(line)["sandbox"]["network"]
        assert line("exec", "--net", hosts[0], "--net", hosts[1], *words).out.count("/word") == 2
    places = [(each["host"], each["allowed"], each["rule"]) for each in network]
    assert places == [("localhost", True, hosts[0]), ("phone.home.example", False, None)]
    assert network[0]["bytesReceived"] > 0
    assert last_record(line)["sandbox"]["truth"]["network"] == "mediated"


def test_a_set_that_opens_every_host_is_narrowed_by_what_is_named(line: CommandLine) -> None:
    """CONTRACTS §10-network-api: any public host, or the list where one is given."""
    code = "import socket\nfor name in ('a.example', 'b.example'):\n    try: print(socket.gethostbyname(name))\n    except OSError: print('refused')\n"
    words = ["exec", "--set", "network-api"]
    rest = ["--", "python3", "-c", code]
    assert line(*words, *rest).out == "198.18.0.1\n198.18.0.2\n"
    assert line(*words, "--net", "b.example", *rest).out == "refused\n198.18.0.1\n"
    assert line(*words, "--net", "none", *rest).out == "refused\nrefused\n"


@pytest.mark.parametrize("host", ["*", "a b", "127.1", "exämple.org", "example.org:0", "[::1"])
def test_a_host_that_cannot_be_read_in_one_way_starts_nothing(line: CommandLine, host: str) -> None:
    """One clear error, and its code."""
    ended = line("exec", "--net", host, "--", "true")
    assert "error[surface-host]" in ended.err
    assert ended.status != 0


def test_more_places_than_the_list_has_room_for_are_counted(line: CommandLine) -> None:
    """Nothing that was refused is passed over in silence."""
    code = (
        "import socket\n"
        "for n in range(2030):\n"
        "    try: socket.gethostbyname(f'n{n}.example')\n"
        "    except OSError: pass\n"
    )
    line("exec", "--net", "example.org", "--", "python3", "-c", code)
    sandbox = last_record(line)["sandbox"]
    assert (len(sandbox["network"]), sandbox["networkUnlisted"]) == (MOST_ENTRIES, 30)
    assert sandbox["violationsComplete"] is False

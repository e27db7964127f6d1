"""`--hold` and the network, from the command to a server that is not this machine."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record, put
from tests.cli.terminals import at_terminal
from tests.enforce.egress.neighbours import Neighbour, neighbour

TALL = (200, 60)
ASKS = """
import sys, urllib.request, urllib.error
for asked in sys.argv[1:]:
    try: print("got", urllib.request.urlopen(asked, timeout=30).read().decode(), flush=True)
    except urllib.error.HTTPError as problem: print("got", problem.code, flush=True)
"""


@pytest.fixture
def peer(tmp_path: Path) -> Iterator[Neighbour]:
    """A server on another network."""
    with neighbour(tmp_path) as found:
        yield found


@pytest.fixture
def line(consentry: CommandLine, peer: Neighbour) -> CommandLine:
    """A user beside it, with a program that asks it for things."""
    consentry.program = peer.there(*consentry.program)
    put(consentry, "asks.py", ASKS)
    return consentry


def test_a_no_reaches_nobody(line: CommandLine, peer: Neighbour) -> None:
    """The server hears nothing; the program is refused as ever, and the record says why."""
    words = ("exec", "--hold", "--", "python3", "asks.py", f"http://{peer.place}/secret")
    with at_terminal(line, *words, size=TALL) as terminal:
        shown = terminal.see("\n> ")
        assert "it wants to connect to" in shown
        assert f"\n  {peer.place}\n" in shown
        assert peer.seen == []
        terminal.type("d\n")
        terminal.see("got 403")
        assert terminal.ended() == 0, terminal.screen
    assert peer.seen == []
    [network] = last_record(line)["sandbox"]["network"]
    assert (network["allowed"], network["held"]) == (False, None)


def test_a_yes_reaches_it_for_the_rest_of_the_run(line: CommandLine, peer: Neighbour) -> None:
    """Twice with one question; the record names the request, the bytes and the address."""
    asked = [f"http://{peer.place}/{each}" for each in ("one", "two")]
    words = ("exec", "--hold", "--", "python3", "asks.py", *asked)
    with at_terminal(line, *words, size=TALL) as terminal:
        terminal.answer(peer.place, "a")
        terminal.see("got there")
        terminal.see("got there")
        assert terminal.ended() == 0, terminal.screen
    assert peer.seen == ["/one", "/two"]
    record = last_record(line)
    [network] = record["sandbox"]["network"]
    [held] = record["impact"]["held"]
    assert (network["allowed"], network["rule"], network["times"]) == (True, peer.place, 2)
    assert network["held"] == held["requestId"]
    assert network["addresses"] == [peer.place.partition(":")[0]]
    assert (held["answer"], held["truth"]) == ("granted", "mediated")
    assert record["sandbox"]["truth"]["network"] == "mediated"


def test_what_was_granted_before_is_reached_without_a_question(
    line: CommandLine, peer: Neighbour
) -> None:
    """With the refusal taken away nobody is asked."""
    asked = f"http://{peer.place}/granted"
    ended = line("exec", "--hold", "--net", peer.place, "--", "python3", "asks.py", asked)
    assert ended.out == "got there\n"
    assert peer.seen == ["/granted"]
    assert last_record(line)["impact"]["held"] == []

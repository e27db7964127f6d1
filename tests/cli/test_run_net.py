"""A tool's own list of hosts: shown in the prompt, held by the proxy, on record (CONSENT §prompt-network)."""

from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import entries_of, write_consent, write_tool
from tests.enforce.egress.peers import http_peer

ASKS = """\
import os, sys, urllib.request
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""
sys.excepthook = lambda kind, problem, _: print("refused:", problem)
print(urllib.request.urlopen("http://PLACE/word", timeout=5).read().decode())
"""


def reached(line: CommandLine) -> list[tuple[str, bool]]:
    """Which places the last run asked for, and whether they were allowed."""
    places = entries_of(line)[-1]["sandbox"]["network"]
    return [(f"{each['host']}:{each['port']}", each["allowed"]) for each in places]


def test_a_tool_reaches_the_hosts_of_its_manifest_and_no_other(line: CommandLine) -> None:
    """The list is on the screen before the yes; without an entry the same request hears nothing."""
    with http_peer() as peer:
        place = f"localhost:{peer.server_port}"
        code = ASKS.replace("PLACE", place)
        write_tool(line, "closed", code, networkAccess=["other.example:443"])
        write_tool(line, "fetch", code, networkAccess=[place])
        write_consent(line, {"none": {"allowedTools": ["closed"]}})
        ended = line("run", "closed")
        assert ("refused:" in ended.out, peer.seen) == (True, [])
        assert reached(line) == [(place, False)]
        with at_terminal(line, "run", "fetch", size=(100, 60)) as terminal:
            assert f"Network: {place}" in terminal.see("\n> ")
            terminal.type("a\n")
            assert terminal.ended() == 0
    assert "/word" in terminal.screen
    assert reached(line) == [(place, True)]

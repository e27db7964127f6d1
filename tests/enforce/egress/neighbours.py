"""Two networks side by side, joined by one cable: in one the command runs, in the other a web server.

The address of the server is nobody's here but its own, as on any network; the machine's own network is
left alone. Needs root and the usual tools.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ADDRESS, PORT = "10.213.7.2", 8080
_ALONE = ("unshare", "--net")
_OURS = "10.213.7.1"
_SERVES = """
import http.server, sys
class Peer(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open(sys.argv[1], "a") as seen: seen.write(self.path + "\\n")
        self.send_response(200); self.send_header("content-length", "5"); self.end_headers()
        self.wfile.write(b"there")
    def log_message(self, *_): pass
server = http.server.ThreadingHTTPServer(("0.0.0.0", int(sys.argv[2])), Peer)
print("ready", flush=True)
server.serve_forever()
"""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The server, and how a program is started where it can be reached."""

    network: str
    seen_in: Path

    @property
    def place(self) -> str:
        """Its address and port."""
        return f"{ADDRESS}:{PORT}"

    @property
    def seen(self) -> list[str]:
        """What it was asked for."""
        return self.seen_in.read_text().split() if self.seen_in.exists() else []

    def there(self, *words: str) -> tuple[str, ...]:
        """The same words, on the network beside the server's."""
        return ("nsenter", f"--net={self.network}", "--", *words)


@contextmanager
def neighbour(folder: Path) -> Iterator[Neighbour]:
    """Skips where there can be none."""
    tools = all(map(shutil.which, ("ip", "nsenter", "unshare")))
    if os.geteuid() != 0 or not tools:
        pytest.skip("networks are made by root, with `ip`, `nsenter` and `unshare`")
    with ExitStack() as held:
        ours, theirs = held.enter_context(_network()), held.enter_context(_network())
        try:
            _do(ours, "ip", "link", "add", "cable0", "type", "veth", "peer", "name", "cable1")
            _do(ours, "ip", "link", "set", "cable1", "netns", str(theirs))
        except subprocess.CalledProcessError as problem:
            pytest.skip(f"no network can be made here: {problem.stderr!r}")
        for network, cable, address in ((ours, "cable0", _OURS), (theirs, "cable1", ADDRESS)):
            _do(network, "ip", "address", "add", f"{address}/30", "dev", cable)
            for each in ("lo", cable):
                _do(network, "ip", "link", "set", each, "up")
        seen = folder / "seen"
        inside = ("nsenter", f"--net=/proc/{theirs}/ns/net", "--", sys.executable, "-c", _SERVES)
        server = held.enter_context(
            subprocess.Popen([*inside, str(seen), str(PORT)], stdout=subprocess.PIPE)
        )
        held.callback(server.kill)
        assert server.stdout is not None
        assert server.stdout.readline() == b"ready\n"
        yield Neighbour(f"/proc/{ours}/ns/net", seen)


@contextmanager
def _network() -> Iterator[int]:
    """A process that does nothing but have one."""
    keeper = subprocess.Popen([*_ALONE, "sh", "-c", "echo; exec sleep 600"], stdout=subprocess.PIPE)
    try:
        assert keeper.stdout is not None
        keeper.stdout.readline()
        yield keeper.pid
    finally:
        keeper.kill()
        keeper.communicate()


def _do(network: int, *words: str) -> None:
    inside = ("nsenter", f"--net=/proc/{network}/ns/net", "--")
    subprocess.run([*inside, *words], check=True, capture_output=True)

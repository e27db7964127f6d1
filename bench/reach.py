"""What the proxy costs: the time until the first byte of a connection, and how fast bytes pass.

One small program measures itself, first as it is and then in a box, towards the same server on this
machine: connections that are asked one byte each, and one long download. It connects plainly, as
programs do that know no proxy, and by a tunnel through the proxy.
"""

import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import consentry
from bench.report import Sample, heading, shown

TURNS, CONNECTIONS, MEGABYTES = 5, 60, 200
TARGET_NANOSECONDS, TARGET_SHARE = 2_000_000, 0.35

_PYTHON = "/usr/bin/python3"
_PROGRAM = """
import socket, sys, time
way, port, connections, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]) << 20
def line():
    if way == "plain":
        return socket.create_connection(("127.0.0.1", port))
    s = socket.create_connection(("127.0.0.1", 3128))
    s.sendall(b"CONNECT 127.0.0.1:%d HTTP/1.1\\r\\n\\r\\n" % port)
    said = b""
    while not said.endswith(b"\\r\\n\\r\\n"): said += s.recv(1)
    return s
for _ in range(connections):
    begun = time.perf_counter_ns()
    with line() as s:
        s.sendall(b"1")
        s.recv(1)
        print(time.perf_counter_ns() - begun)
with line() as s:
    s.sendall(b"m")
    held, left = bytearray(1 << 20), size
    begun = time.perf_counter_ns()
    while left: left -= s.recv_into(held)
    print(time.perf_counter_ns() - begun)
"""


def run() -> bool:
    """Prints the table; returns whether the targets are met."""
    heading(f"reach ({CONNECTIONS} connections and {MEGABYTES} MB x {TURNS}, in turns)")
    ways = ("plain", "tunnel")
    firsts: dict[str, list[int]] = {name: [] for name in ("bare", *ways)}
    downloads: dict[str, list[int]] = {name: [] for name in ("bare", *ways)}
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder, _server() as port:
        project = Path(folder)
        project.chmod(0o755)
        words = [_PYTHON, "-I", "-c", _PROGRAM]
        rest = [str(port), str(CONNECTIONS), str(MEGABYTES)]
        for _ in range(TURNS):
            bare = subprocess.run([*words, "plain", *rest], check=True, capture_output=True)
            _take(bare.stdout, firsts["bare"], downloads["bare"])
            for way in ways:
                boxed = consentry.exec(
                    [*words, way, *rest], workspace=project, network=[f"127.0.0.1:{port}"]
                )
                if boxed.exit_code != 0:
                    raise RuntimeError(boxed.stderr.decode(errors="replace"))
                _take(boxed.stdout, firsts[way], downloads[way])
    return all([*_rows(firsts, downloads, ways)])


def _rows(
    firsts: dict[str, list[int]], downloads: dict[str, list[int]], ways: tuple[str, ...]
) -> Iterator[bool]:
    bare = Sample("", tuple(firsts["bare"])).p50
    fastest = min(downloads["bare"])
    print(f"{'first byte, bare':<34} p50 {shown(bare):>9}")
    for way in ways:
        added = Sample("", tuple(firsts[way])).p50 - bare
        is_met = added <= TARGET_NANOSECONDS
        print(
            f"{f'first byte, {way}':<34} added {shown(added):>9}  target <="
            f" {shown(TARGET_NANOSECONDS)}: {'met' if is_met else 'NOT MET'}"
        )
        yield is_met
    print(f"{'download, bare':<34} {MEGABYTES * 1e9 / fastest:>9.0f} MB/s")
    for way in ways:
        share = fastest / min(downloads[way])
        is_met = share >= TARGET_SHARE
        print(
            f"{f'download, {way}':<34} {MEGABYTES * 1e9 / min(downloads[way]):>9.0f} MB/s"
            f"  {share:.2f} x  target >= {TARGET_SHARE} x: {'met' if is_met else 'NOT MET'}"
        )
        yield is_met


def _take(printed: bytes, firsts: list[int], downloads: list[int]) -> None:
    *each, long = map(int, printed.split())
    firsts += each
    downloads.append(long)


@contextmanager
def _server() -> Iterator[int]:
    """Says one byte for one, or as many as are wanted."""
    listening = socket.create_server(("127.0.0.1", 0))
    Thread(target=_serve, args=(listening,), daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.close()


def _serve(listening: socket.socket) -> None:
    block = bytes(1 << 20)
    while True:
        try:
            line, _ = listening.accept()
        except OSError:
            return
        with line:
            if line.recv(1) == b"1":
                line.sendall(b"1")
            else:
                for _ in range(MEGABYTES):
                    line.sendall(block)

"""Programs as they come, through the proxy: each with the variables it honours, and without them.

Each is refused without a grant, and the server hears nothing of it; with one it does its work.
"""

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine, Ended
from tests.cli.execs import last_record, put
from tests.enforce.egress.packages import git_repository, npm_registry, simple_index
from tests.enforce.egress.peers import http_peer, make_certificate

BY_PROXY = "unset no_proxy NO_PROXY; "
"""Asks the proxy for this machine's own names as well, which programs else reach directly."""

WAYS = pytest.mark.parametrize("first", [BY_PROXY, "unset http_proxy HTTP_PROXY; "])


def _needs(program: str) -> pytest.MarkDecorator:
    is_missing = shutil.which(program, path="/usr/bin:/bin") is None
    return pytest.mark.skipif(is_missing, reason=f"{program} is not installed")


def _run(line: CommandLine, place: str, script: str, *words: str) -> Ended:
    return line(
        "exec", "--net", place, "--exec", "any", "--write", "out", *words, "--", "sh", "-c", script
    )


def _refused_first(
    line: CommandLine, count: Callable[[], int], script: str, place: str, *words: str
) -> Ended:
    """The same words reach nothing while another host is granted."""
    other = _run(line, "other.example", script, *words)
    assert (other.status != 0, count()) == (True, 0), other
    return _run(line, place, script, *words)


@_needs("git")
@WAYS
def test_git_clones(line: CommandLine, tmp_path: Path, first: str) -> None:
    """From a plain web server; the files arrive with the commit."""
    with http_peer(files=git_repository(tmp_path, "/word.git")) as peer:
        place = f"localhost:{peer.server_port}"
        script = f"{first}git clone -q http://{place}/word.git out/word"
        ended = _refused_first(line, lambda: len(peer.seen), script, place)
    assert ended.status == 0, ended
    assert (line.cwd / "out/word/word.txt").read_text() == "cloned\n"


@WAYS
def test_pip_installs(consentry: CommandLine, first: str) -> None:
    """From an index of its own: the page and the wheel."""
    with http_peer(files=simple_index("tinyword")) as peer:
        place = f"localhost:{peer.server_port}"
        script = (
            f"{first}{sys.executable} -m pip install -q --isolated --no-cache-dir --retries 0 "
            f"--disable-pip-version-check --target out --index-url http://{place}/simple tinyword"
        )
        # The interpreter of the tests need not be one of the system's.
        prefix = ("--read", sys.prefix, "--read", sys.base_prefix)
        ended = _refused_first(consentry, lambda: len(peer.seen), script, place, *prefix)
    assert ended.status == 0, ended
    assert (consentry.cwd / "out/tinyword.py").read_text() == "WORD = 'installed'\n"


@_needs("npm")
def test_npm_installs(line: CommandLine) -> None:
    """From a registry of its own: the document and the archive."""
    files = npm_registry("tinyword")
    with http_peer(files=files) as peer:
        place = f"localhost:{peer.server_port}"
        files["/tinyword"] = files["/tinyword"].replace(b"PLACE", place.encode())
        script = (
            f"{BY_PROXY}mkdir -p out/app && cd out/app && npm install --no-audit --no-fund "
            f"--fetch-retries 0 --loglevel error --registry http://{place} tinyword"
        )
        ended = _refused_first(line, lambda: len(peer.seen), script, place)
    assert ended.status == 0, ended
    installed = line.cwd / "out/app/node_modules/tinyword/index.js"
    assert installed.read_text() == "module.exports = 'installed'\n"


@_needs("curl")
@pytest.mark.parametrize("is_ipv6", [False, True])
def test_curl_by_every_way(line: CommandLine, tmp_path: Path, is_ipv6: bool) -> None:  # noqa: FBT001
    """Plain, TLS with a certificate of its own, SOCKS5 with the name left to the proxy, and directly."""
    host = "[::1]" if is_ipv6 else "localhost"
    certificate = make_certificate(tmp_path / "peer.pem", "localhost")
    put(line, "ca.pem", certificate.read_text())
    with http_peer(is_ipv6=is_ipv6) as plain, http_peer(certificate, is_ipv6=is_ipv6) as secure:
        port, tls = plain.server_port, secure.server_port
        script = (
            f"{BY_PROXY}set -e\n"
            f"curl -sS -f http://{host}:{port}/one\n"
            f"curl -sS -f --cacert ca.pem --connect-to localhost:{tls}:{host}:{tls} "
            f"https://localhost:{tls}/two\n"
            f"curl -sS -f --socks5-hostname 127.0.0.1:3128 http://{host}:{port}/three\n"
            f"curl -sS -f --noproxy '*' http://{host}:{port}/four\n"
            f"curl -sS -f -d {'x' * 2000} http://{host}:{port}/five > /dev/null\n"
        )
        places = [f"{host}:{each}" for each in (port, tls)]
        refused = _run(line, "other.example", script)
        assert (refused.status != 0, plain.seen, secure.seen) == (True, [], [])
        ended = _run(line, places[0], script, "--net", places[1])
    assert (ended.status, ended.out) == (0, "/one/two/three/four"), ended
    ways = {(each["port"], each["via"]) for each in last_record(line)["sandbox"]["network"]}
    assert ways == {(port, "http"), (tls, "http"), (port, "socks5"), (port, "transparent")}


PYTHON = """
import http.client, os, ssl, sys, urllib.request
host, port = sys.argv[1], int(sys.argv[2])
os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""
sys.excepthook = lambda kind, problem, _: print(problem)
context = ssl.create_default_context(cafile="ca.pem")
print(urllib.request.urlopen(f"https://localhost:{port}/one", context=context).read().decode())
direct = http.client.HTTPSConnection("localhost", port, context=context)
direct.request("GET", "/two")
print(direct.getresponse().read().decode())
"""


def test_python_by_its_own_libraries(line: CommandLine, tmp_path: Path) -> None:
    """One that honours the variables, and one that does not, each with TLS to the host itself."""
    certificate = make_certificate(tmp_path / "peer.pem", "localhost")
    put(line, "ca.pem", certificate.read_text())
    put(line, "asks.py", PYTHON)
    with http_peer(certificate) as peer:
        words = ["--", "python3", "asks.py", "localhost", str(peer.server_port)]
        refused = line("exec", "--net", "other.example", *words)
        assert (refused.status != 0, peer.seen) == (True, [])
        ended = line("exec", "--net", f"localhost:{peer.server_port}", *words)
    assert ended.out == "/one\n/two\n", ended


ASKS = """\
const answer = await fetch(Deno.args[0]);
console.log(await answer.text());
Deno.exit(answer.ok ? 0 : 1);
"""


@pytest.mark.skipif(
    importlib.util.find_spec("deno") is None, reason="the wheel of deno is not installed"
)
def test_deno_fetches(consentry: CommandLine) -> None:
    """With its own permission for the host, and ours."""
    from deno import find_deno_bin  # type: ignore[import-not-found]

    put(consentry, "asks.ts", ASKS)
    with http_peer() as peer:
        place = f"localhost:{peer.server_port}"
        put(consentry, "place.json", json.dumps(place))
        deno = find_deno_bin()
        words = [deno, "run", "--no-prompt", f"--allow-net={place}", "asks.ts"]
        script = " ".join([BY_PROXY, "DENO_DIR=/tmp/deno", "exec", *words, f"http://{place}/word"])
        ended = _refused_first(consentry, lambda: len(peer.seen), script, place, "--read", deno)
    assert (ended.status, ended.out) == (0, "/word\n"), ended

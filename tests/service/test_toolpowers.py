"""What a manifest does not list is refused to its tool, and the refusal says which key is missing.

In threes: refused; allowed when it is listed; and done where nothing of ours stands around it, so that
the attack itself is known to work.
"""

import subprocess
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from tests.service.conftest import MakeAround
from tests.service.toolplaces import PATH, OtherPlace, OwnPlace, others_place

Place = OwnPlace | OtherPlace


@pytest.fixture
def own(around: MakeAround, project: Path) -> OwnPlace:
    """Tools of whoever runs the tests."""
    return OwnPlace(around(environ={**PATH, "MINE": "1", "OTHER": "2"}), project)


@pytest.fixture(params=["as we are", "as an ordinary user"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    """Tools of whoever runs the tests, and of an ordinary user."""
    if request.param == "as we are":
        yield request.getfixturevalue("own")
        return
    with others_place() as found:
        yield found


def sh(script: str) -> dict[str, Any]:
    """A command that is a line of shell."""
    return {"command": "sh", "arguments": ["-c", script], "purpose": "a step"}


def unconfined(place: Place, script: str) -> str:
    """What the same line does when nothing of ours stands around it."""
    return subprocess.run(
        ["/bin/sh", "-c", script], cwd=place.project, capture_output=True, check=True, text=True
    ).stdout


CAT = {"command": "cat", "arguments": ["/dev/null"], "purpose": "what it starts"}


def needs(*patterns: str) -> list[dict[str, str]]:
    """Files, and why."""
    return [{"pattern": each, "purpose": "needed"} for each in patterns]


def test_reading(place: Place) -> None:
    """A file of the workspace that is not listed, then listed, then without the manifest's rule."""
    (place.project / "notes").mkdir()
    (place.project / "notes/secret.txt").write_text("the secret")
    steps = [sh("cat notes/secret.txt"), CAT]
    place.tool("reads", processExecution=steps)
    told = place.told("reads")
    assert "the secret" not in told.out
    path = str(place.project / "notes/secret.txt")
    key = '`capabilities.fileRead: [{"pattern": "notes/secret.txt", "purpose": "…"}]` in the manifest of `reads`'
    assert ("read", path, key) in told.denied
    place.tool("reads", processExecution=steps, fileRead=needs("./notes/secret.txt"))
    assert place.told("reads").out == "the secret"
    assert unconfined(place, "cat notes/secret.txt") == "the secret"


def test_writing(place: Place) -> None:
    """What it may not write does not arrive; the entry names the key."""
    (place.project / "out").mkdir()
    steps = [sh("echo made > out/made.txt; echo made > other.txt")]
    place.tool("writes", processExecution=steps, fileWrite=needs("out/*.txt"))
    told = place.told("writes")
    assert [each["path"] for each in told.entry["impact"]["filesWritten"]] == ["out/made.txt"]
    assert (place.project / "out/made.txt").exists()
    assert not (place.project / "other.txt").exists()
    key = '`capabilities.fileWrite: [{"pattern": "other.txt", "purpose": "…"}]` in the manifest of `writes`'
    assert ("write", str(place.project / "other.txt"), key) in told.denied
    place.tool("writes", processExecution=steps, fileWrite=needs("out/*.txt", "./other.txt"))
    told = place.told("writes")
    assert told.denied == []
    assert (place.project / "other.txt").read_text() == "made\n"
    unconfined(place, "echo again > third.txt")
    assert (place.project / "third.txt").exists()


def test_starting(place: Place) -> None:
    """A program that is not listed is not started; the entry names the key."""
    place.tool("starts", processExecution=[sh("cat /dev/null && echo done")])
    told = place.told("starts")
    assert "done" not in told.out
    [denied] = [each for each in told.denied if each[0] == "run"]
    assert denied[2] is not None
    assert denied[2].startswith('`capabilities.processExecution: [{"command": "/usr/bin/cat"')
    place.tool("starts", processExecution=[sh("cat /dev/null && echo done"), CAT])
    assert place.told("starts").out == "done\n"
    assert unconfined(place, "cat /dev/null && echo done") == "done\n"


class _Hello(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        """Says hello."""
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - as it is called
        """Nothing is printed."""


@pytest.fixture
def listening() -> Iterator[str]:
    """A server of the host's own, which says hello."""
    with HTTPServer(("127.0.0.1", 0), _Hello) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_network(own: OwnPlace, listening: str) -> None:
    """A host that is not listed is not reached, and the key names it."""
    code = (
        "import os, urllib.request as u; [os.environ.pop(n, 0) for n in ('no_proxy', 'NO_PROXY')]; "
        f"print(u.urlopen('http://{listening}/').read().decode())"
    )
    command = {"command": "python3", "arguments": ["-c", code], "purpose": "talk"}
    own.tool("talks", processExecution=[command], networkAccess=["example.com:443"])
    told = own.told("talks")
    assert "hello" not in told.out
    key = f'`capabilities.networkAccess: ["{listening}"]` in the manifest of `talks`'
    assert ("net", listening, key) in told.denied
    own.tool("talks", processExecution=[command], networkAccess=[listening])
    assert own.told("talks").out == "hello\n"
    assert unconfined(own, f'python3 -c "{code}"') == "hello\n"


def test_an_address_beyond_the_box(own: OwnPlace) -> None:
    """Without any network there is still the key that would open it."""
    code = "import socket; socket.create_connection(('192.0.2.7', 443), 5)"
    command = {"command": "python3", "arguments": ["-c", code], "purpose": "talk"}
    own.tool("talks", processExecution=[command])
    key = '`capabilities.networkAccess: ["192.0.2.7:443"]` in the manifest of `talks`'
    assert ("net", "192.0.2.7:443", key) in own.told("talks").denied


def test_every_host_is_open_only_to_a_trusted_manifest_that_says_so(own: OwnPlace) -> None:
    """`networkAccess: true` opens nothing while `restrictNetwork` holds."""
    own.tool("any", processExecution=[CAT], networkAccess=True)
    assert own.bind("any").surface.net_access.level == "NONE"
    own.tool(
        "any",
        processExecution=[CAT],
        networkAccess=True,
        sandboxRequirements={"restrictNetwork": False},
    )
    assert own.bind("any").surface.net_access.level == "ANY"
    own.tool("list", processExecution=[CAT], networkAccess=["example.com:443"])
    assert own.bind("list").surface.net_access.level == "ALLOWLIST"


def test_the_environment(own: OwnPlace) -> None:
    """Only the names that are listed are there; HOME and PATH have our values (CONTRACTS §12)."""
    env = {"command": "env", "arguments": [], "purpose": "look"}
    read = {"read": ["PATH", "HOME", "MINE", "ABSENT"], "write": []}
    own.tool("looks", processExecution=[env], environmentVariables=read)
    rows = own.run("looks").outcome.stdout.decode().splitlines()
    found = dict(row.split("=", 1) for row in rows)
    assert found["MINE"] == "1"
    assert (found["HOME"], found["PATH"].split(":")[0]) == ("/home/user", "/usr/local/sbin")
    assert not {"OTHER", "ABSENT"} & set(found)
    own.tool("looks", processExecution=[env])
    assert b"MINE" not in own.run("looks").outcome.stdout


def test_allowed_paths_and_profile_narrow_what_is_listed(place: Place) -> None:
    """Only what all three leave is open, and each that is missing is named (CONTRACTS §7)."""
    for folder in ("a", "b", "c"):
        (place.project / folder).mkdir()
        (place.project / folder / "file").write_text(f"{folder} ")
    place.profile("narrow", filesystem={"readOnly": ["${WORKSPACE}/a", "${WORKSPACE}/b"]})
    place.tool(
        "meets",
        fileRead=needs("./**"),
        processExecution=[sh("cat a/file; cat b/file; cat c/file; true"), CAT],
        sandboxRequirements={"profile": "narrow", "allowedPaths": ["a/", "c/"]},
    )
    told = place.told("meets")
    assert told.out.startswith("a ")
    assert not {"b ", "c "} & {told.out[2:4], told.out[4:6]}
    keys = {resource: allow for operation, resource, allow in told.denied if operation == "read"}
    at_b, at_c = (keys[str(place.project / folder / "file")] for folder in ("b", "c"))
    assert at_b == '`sandboxRequirements.allowedPaths: ["b/file"]` in the manifest of `meets`'
    assert at_c == '`filesystem.readOnly: ["${WORKSPACE}/c/file"]` in the profile `narrow`'
    assert told.entry["sandbox"]["profile"] == "narrow"


def test_what_the_profile_closes_nothing_in_a_manifest_opens(own: OwnPlace) -> None:
    """`noAccess` wins at any depth, and no key is offered."""
    (own.project / "a/private").mkdir(parents=True)
    (own.project / "a/private/key").write_text("the key")
    (own.project / "a/open").write_text("open ")
    tool = {
        "fileRead": needs("a/**"),
        "processExecution": [sh("cat a/open a/private/key"), CAT],
        "sandboxRequirements": {"profile": "closes"},
    }
    files: dict[str, Any] = {"readOnly": ["${WORKSPACE}/a"]}
    own.profile("closes", filesystem={**files, "noAccess": ["${WORKSPACE}/a/private"]})
    own.tool("opens", **tool)
    told = own.told("opens")
    assert told.out.startswith("open ")
    assert "the key" not in told.out
    assert [allow for _, resource, allow in told.denied if "private" in resource] == [None]
    own.profile("closes", filesystem=files)
    assert own.told("opens").out == "open the key"


def test_system_files_of_a_profile_are_added_and_named(own: OwnPlace) -> None:
    """What it opens for reading outside of the workspace is there, and shown as such."""
    own.profile("system", filesystem={"readOnly": ["/usr/share/common-licenses", "${WORKSPACE}"]})
    own.tool("reads", processExecution=[CAT], sandboxRequirements={"profile": "system"})
    bound = own.bind("reads")
    assert bound.system_files == ("/usr/share/common-licenses",)
    assert list(bound.surface.fs_read_roots) == ["/usr/share/common-licenses/"]
    assert not bound.surface.fs_write_roots


def test_limits_are_the_smaller_ones(own: OwnPlace) -> None:
    """Of the manifest and of the profile, each by itself (CONTRACTS §7, §12)."""
    own.profile("bounds", resources={"maxCPU": 60, "maxMemory": "256M", "maxProcesses": 50})
    wants = {"limitCPU": "5s", "limitMemory": "512MB", "profile": "bounds"}
    own.tool("bounded", processExecution=[CAT], sandboxRequirements=wants)
    limits = own.bind("bounded").bound.confinement.limits
    assert (limits.cpu_seconds, limits.memory_bytes, limits.processes) == (5, 256 << 20, 50)
    wants = {"limitCPU": "1500ms"}
    own.tool("bounded", processExecution=[CAT], sandboxRequirements=wants)
    limits = own.bind("bounded").bound.confinement.limits
    assert (limits.cpu_seconds, limits.memory_bytes, limits.processes) == (2, None, None)


def test_a_limit_on_memory_ends_the_run(own: OwnPlace) -> None:
    """With the limit it is ended, without it the same command is done."""
    code = "b = bytearray(200 << 20); print(len(b) >> 20)"
    command = {"command": "python3", "arguments": ["-c", code], "purpose": "grow"}
    own.tool("grows", processExecution=[command], sandboxRequirements={"limitMemory": "64MB"})
    assert own.told("grows").entry["execution"]["status"] in ("limit", "failure")
    own.tool("grows", processExecution=[command])
    assert own.told("grows").out == "200\n"


def test_a_limit_on_processor_time_ends_the_run(own: OwnPlace) -> None:
    """Over all of its commands together (CONTRACTS §12)."""
    spins = sh("i=0; while test $i -lt 100000000; do i=$((i+1)); done")
    own.tool("spins", processExecution=[spins, spins], sandboxRequirements={"limitCPU": "1s"})
    entry = own.told("spins").entry
    assert (entry["execution"]["status"], entry["execution"]["limit"]) == ("limit", "cpu_seconds")

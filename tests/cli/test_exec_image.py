"""`consentry exec --image`: the real command, a real daemon, and an image of this host's files.

CONSENT §sandbox-3: `docker` with an image that the user names is the engine of macOS.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.execs import last_record, put, started
from tests.elsewhere import folder_elsewhere
from tests.enforce.engines.container.images import PATH
from tests.enforce.engines.container.named import WITH_NOTHING, WITH_PYTHON, images_of_host

_PATIENCE = 30.0
_HERE = Path(__file__).parent
_APART = 'mount -t tmpfs none /proc && mount -t tmpfs none /sys && exec "$@"'


@pytest.fixture(scope="module")
def images() -> Iterator[dict[str, str]]:
    """The variables that lead to a daemon with images."""
    with images_of_host() as variables:
        yield variables


@pytest.fixture
def line(images: dict[str, str]) -> Iterator[CommandLine]:
    """The command in a project that lies where containers can be given it."""
    with folder_elsewhere() as place:
        place.chmod(0o755)
        (place / "project" / ".git").mkdir(parents=True)
        (place / "home").mkdir()
        environ = {"HOME": str(place / "home"), "PATH": PATH, "LC_ALL": "C.UTF-8", **images}
        made = CommandLine(place / "project", environ)
        put(made, "granted", "granted\n")
        yield made


def _in_image(*words: str, options: tuple[str, ...] = ()) -> tuple[str, ...]:
    return ("exec", "--image", WITH_PYTHON, "--exec", "any", *options, "--", *words)


def _containers(line: CommandLine) -> list[str]:
    words = ["docker", "ps", "--all", "--format={{.Names}}"]
    said = subprocess.run(words, env=line.environ, capture_output=True, check=True)
    return said.stdout.decode().split()


def _eventually(holds: Callable[[], bool]) -> bool:
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        if holds():
            return True
        time.sleep(0.1)
    return holds()


def test_the_record_names_image_and_path(line: CommandLine) -> None:
    """The image by its id, the program by its path in it; both are in the permit that was spent."""
    ended = line(*_in_image("sh", "-c", "cat granted; exit 3"))
    assert (ended.status, ended.out) == (3, "granted\n")
    record = last_record(line)
    tool, sandbox = record["tool"], record["sandbox"]
    assert tool["image"]["name"] == WITH_PYTHON
    assert tool["version"] == tool["image"]["id"]
    assert tool["path"] == "/usr/bin/sh"
    assert (sandbox["engine"], record["impact"]["filesReadSeen"]) == ("docker", False)
    words = ("audit", "log", "--json", "--type", "permit.made")
    assert tool["image"]["id"] in line(*words).out
    assert f"image     {WITH_PYTHON}" in line("why").out
    assert not _containers(line)


def test_an_image_is_taken_by_its_id(line: CommandLine) -> None:
    """A name that means another image a moment later changes nothing of what was resolved."""
    first = line(*_in_image("true")).status, last_record(line)["tool"]["image"]["id"]
    by_id = line("exec", "--image", first[1], "--exec", "any", "--", "true")
    assert (first[0], by_id.status) == (0, 0)
    assert last_record(line)["tool"]["image"]["id"] == first[1]


def test_the_users_own_setting_names_it(line: CommandLine) -> None:
    """With the engine named; `auto` stays on this host's own means on Linux."""
    words = ("exec", "--engine", "docker", "--exec", "any", "--", "true")
    assert line(*words, CONSENTRY_IMAGE=WITH_PYTHON).status == 0
    assert "image" in last_record(line)["tool"]
    assert line("exec", "--", "true", CONSENTRY_IMAGE=WITH_PYTHON).status == 0
    assert "image" not in last_record(line)["tool"]


def test_no_file_of_a_workspace_names_an_image(line: CommandLine) -> None:
    """Its documents have no word for it, and a file that sets variables is nothing to us."""
    document = "sandboxConfig:\n  engine: docker\n  image: other\n  profiles:\n    p: {}\n"
    put(line, "box.yaml", document)
    put(line, ".consentry/sandbox-config.yaml", document)
    put(line, ".env", "CONSENTRY_IMAGE=other\n")
    refused = line("exec", "--profile", "box.yaml", "--image", WITH_PYTHON, "--", "true")
    assert refused.status == 3
    assert "image" in refused.err


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--image", "nowhere:1", "--", "sh"), Code.NOT_ENFORCEABLE, "none is pulled"),
        (("--image", "--privileged", "--", "sh"), Code.USAGE, "not the name of an image"),
        (("--image", "a/../b", "--", "sh"), Code.USAGE, "not the name of an image"),
        (("--image", WITH_PYTHON, "--", "nosuch"), Code.PROGRAM_UNKNOWN, "not on this host"),
        (("--image", WITH_PYTHON, "--", "./granted"), Code.PROGRAM_UNKNOWN, "`sh ./script`"),
        (("--image", WITH_PYTHON, "--", "sh"), Code.NOT_ENFORCEABLE, "--exec any"),
        (("--image", WITH_NOTHING, "--", "sh"), Code.PROGRAM_UNKNOWN, "has no program `sh`"),
        (
            ("--image", WITH_PYTHON, "--engine", "podman", "--", "sh"),
            Code.USAGE,
            "is for the engine `docker`",
        ),
        (
            ("--image", WITH_PYTHON, "--exec", "any", "--net", "example.org", "--", "sh"),
            Code.NOT_ENFORCEABLE,
            "no-network",
        ),
        (
            ("--image", WITH_PYTHON, "--exec", "any", "--write", "out", "--", "sh"),
            Code.NOT_ENFORCEABLE,
            "writes: direct",
        ),
        (
            ("--image", WITH_PYTHON, "--exec", "any", "--rehearse", "--write", ".", "--", "sh"),
            Code.NOT_ENFORCEABLE,
            "writes: direct",
        ),
    ],
)
def test_what_cannot_be_is_refused(
    line: CommandLine, words: tuple[str, ...], code: Code, said: str
) -> None:
    """With a stable code, the reason, and a way out; and nothing is left in the daemon."""
    ended = line("exec", *words)
    assert_error(ended, code)
    assert said in ended.err
    assert not _containers(line)


def test_a_host_that_is_not_local_is_refused(line: CommandLine) -> None:
    """It would bind its own files."""
    ended = line(*_in_image("true"), DOCKER_HOST="tcp://192.0.2.1:2375")
    assert_error(ended, Code.NOT_ENFORCEABLE)
    assert "another host's daemon" in ended.err


def test_our_own_status_is_told_apart(line: CommandLine, tmp_path: Path) -> None:
    """By `--status-fd`: ours is 0 where the program ran, whatever it ended with."""
    place = tmp_path / "status"
    words = " ".join(_in_image("sh", "-c", "'exit 9'", options=("--status-fd", "3")))
    assert line.in_shell(f"consentry {words} 3>{place}").status == 9
    assert place.read_text() == "0\n"


def test_an_interrupt_reaches_the_program(line: CommandLine) -> None:
    """Which may do something about it; nothing is left of the container."""
    script = "trap 'echo heard; exit 7' INT; echo ready; while :; do sleep 0.05; done"
    running = started(line, *_in_image("sh", "-c", script))
    assert running.stdout is not None
    assert running.stdout.readline() == b"ready\n"
    running.send_signal(signal.SIGINT)
    out, _ = running.communicate(timeout=_PATIENCE)
    assert (running.returncode, out) == (7, b"heard\n")
    assert not _containers(line)


def test_a_killed_caller_leaves_nothing_behind(line: CommandLine) -> None:
    """Who waits for our death removes the container; killed as well, the next run sweeps it."""
    words = _in_image("sh", "-c", "echo ready; sleep 600")
    with started(line, *words) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        running.kill()
    assert _eventually(lambda: not _containers(line))
    with started(line, *words) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"ready\n"
        [name] = _containers(line)
        for mourner in _waiting_for(running.pid):
            os.kill(mourner, signal.SIGKILL)
        running.kill()
    assert _containers(line) == [name]
    assert line(*_in_image("true")).status == 0
    assert not _containers(line)


def _waiting_for(pid: int) -> list[int]:
    """The shells that wait for its death."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [each for each in map(int, children) if b"mourner" in _words_of(each)]


def _words_of(pid: int) -> bytes:
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def test_a_terminal_is_the_containers_own(line: CommandLine) -> None:
    """With the size of the caller's, which docker tells it a moment after its start."""
    script = '\'test -t 1 && until [ "$(stty size </dev/tty)" != "0 0" ]; do :; done; stty size </dev/tty\''
    command = " ".join([*line.program, *_in_image("sh", "-c", script)])
    words = ["script", "--quiet", "--return", "--command", f"stty rows 31 cols 97; {command}"]
    ended = subprocess.run(
        [*words, "/dev/null"],
        cwd=line.cwd,
        env=line.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    assert b"31 97" in ended.stdout


def _as_if_on(system: str, line: CommandLine, notes: Path) -> CommandLine:
    """The command on another system, as far as that can be here; see `othersystem`."""
    program = (*line.program[:1], str(_HERE / "othersystem.py"), str(notes), system)
    apart = ("unshare", "--mount", "sh", "-c", _APART, "sh")
    return CommandLine(line.cwd, line.environ, program=(*apart, *program))


def test_it_runs_without_anything_of_linux(line: CommandLine, tmp_path: Path) -> None:
    """The whole path with the name of macOS, and without what Python lacks there.

    macOS cannot be here. There is neither `/proc` nor `/sys`, no call of Linux's own can be made by
    ctypes, and what Linux alone has is taken out of the standard library. Of `/proc` only two files
    are asked for, whose absence is an answer: the mount table, and who leads the session.
    """
    notes = tmp_path / "notes"
    elsewhere = _as_if_on("darwin", line, notes)
    put(
        line,
        "box.yaml",
        "sandboxConfig:\n  profiles:\n    p:\n      writes: direct\n      filesystem:\n"
        "        readOnly: ['${WORKSPACE}']\n        readWrite: ['${WORKSPACE}/out']\n"
        "        noAccess: ['${WORKSPACE}/out/keys']\n",
    )
    put(line, "out/keys/key", "secret")
    (line.cwd / "out").chmod(0o777)
    script = "cat granted; echo page >out/page; cat out/keys/key; exit 5"
    ended = elsewhere(*_in_image("sh", "-c", script, options=("--profile", "box.yaml")))
    assert (ended.status, ended.out) == (5, "granted\n"), ended.err
    assert (line.cwd / "out/page").read_text() == "page\n"
    assert set(notes.read_text().split()) <= {"/proc/self/mountinfo", "/proc/self/stat"}
    record = json.loads(elsewhere("why", "--json").out)["run"]
    assert (record["tool"]["image"]["name"], record["execution"]["exitCode"]) == (WITH_PYTHON, 5)
    assert elsewhere("audit", "verify").status == 0
    late = elsewhere(*_in_image("sleep", "60", options=("--timeout", "1s")))
    assert late.status == 124
    assert not _containers(line)


@pytest.mark.parametrize(
    "words", [("exec", "--", "true"), ("exec", "--engine", "docker", "--", "true")]
)
def test_without_an_image_macos_is_told_what_to_name(
    line: CommandLine, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """One error that names `docker`, the option, the setting, and what is not supported."""
    ended = _as_if_on("darwin", line, tmp_path / "notes")(*words)
    assert_error(ended, Code.NOT_ENFORCEABLE)
    for said in ("macOS", "`docker`", "--image", "CONSENTRY_IMAGE", "Windows Sandbox"):
        assert said in ended.err


def test_other_engines_and_snippets_are_linux_alone(line: CommandLine, tmp_path: Path) -> None:
    """Named, each is refused by that reason; `engines` tries the image of the setting."""
    elsewhere = _as_if_on("darwin", line, tmp_path / "notes")
    put(line, "snippet.py", "1")
    for words in (("exec", "--engine", "native", "--", "true"), ("code", "snippet.py")):
        ended = elsewhere(*words)
        assert_error(ended, Code.NOT_ENFORCEABLE)
        assert "Linux alone" in ended.err
    shown = json.loads(elsewhere("engines", "--json", CONSENTRY_IMAGE=WITH_PYTHON).out)
    [tried] = shown["engines"]
    assert (tried["name"], tried["usable"]) == ("docker", True)


def test_windows_is_told_that_nothing_runs_there(line: CommandLine, tmp_path: Path) -> None:
    """Windows cannot be here; without the modules it lacks, one message with a stable code is left."""
    ended = _as_if_on("win32", line, tmp_path / "notes")("exec", "--image", "x", "--", "true")
    assert_error(ended, Code.NOT_ENFORCEABLE)
    for said in ("`docker`", "Windows Sandbox is not supported"):
        assert said in ended.err

"""Containers of an image that the user names: attacks in threes, and what is refused by name."""

import json
import os
import shutil
import socket
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.permit import Permit
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.engine import Control, Ending, NotEnforceable
from consentry.enforce.engines.container import namedbox, namedengine, namedwords
from consentry.enforce.engines.container.namedplan import HELD, LACKS
from consentry.enforce.engines.container.words import Container
from consentry.enforce.native.seccompfilter import FilterWish
from consentry.enforce.native.streamends import Io
from consentry.surface.dimensions import Level
from consentry.surface.lattice import Surface
from consentry.surface.modes import Denials, Reads, View, Writes
from tests.enforce.engines.container.images import PATH
from tests.enforce.engines.container.named import WITH_NOTHING, WITH_SHELL, NamedRuns

_ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/home/user"}


def python(code: str) -> list[str]:
    """The words that run this code."""
    return ["python3", "-I", "-S", "-c", code]


def test_it_holds_what_it_claims(named: NamedRuns) -> None:
    """Every control was attacked in a container of the image, and none of the attacks worked."""
    engine = named.engine()
    trial = engine.try_out()
    engine.close()
    assert trial.card is not None, trial.probe.lacking[0].why
    held = {each.control for each in trial.probe.held}
    assert {each.control for each in HELD} <= held
    assert {Control.MEMORY, Control.PROCESSES, Control.CPU, Control.FILE_SIZE} <= held
    assert not {each.control for each in LACKS} & held
    assert not [row for row in trial.card.broken if Control(row.control) in held]


def test_a_shell_shows_it_where_there_is_no_python(named: NamedRuns) -> None:
    """By what a shell can try and what the kernel tells it; with neither, nothing is shown."""
    engine = named.engine(WITH_SHELL)
    trial = engine.try_out()
    engine.close()
    assert trial.card is None
    assert {each.control for each in HELD} <= {each.control for each in trial.probe.held}
    bare = named.engine(WITH_NOTHING)
    probe = bare.try_out().probe
    bare.close()
    assert not probe.is_usable
    assert "neither `python3` nor `sh`" in probe.lacking[0].why


@pytest.mark.parametrize(
    ("control", "broken"),
    [
        (Control.NO_NEW_POWERS, ("--cap-drop=ALL", "--cap-add=CHOWN")),
        (Control.NO_NEW_POWERS, ("--security-opt=no-new-privileges", "--init")),
    ],
)
def test_a_shell_sees_what_is_taken_away(
    named: NamedRuns, monkeypatch: pytest.MonkeyPatch, control: Control, broken: tuple[str, str]
) -> None:
    """A daemon that did not do as it is told would not be believed."""
    told = namedengine.run_words

    def without(*given: object) -> tuple[str, ...]:
        words = told(*given)  # type: ignore[arg-type]
        return tuple(broken[1] if word == broken[0] else word for word in words)

    monkeypatch.setattr(namedengine, "run_words", without)
    engine = named.engine(WITH_SHELL)
    probe = engine.try_out().probe
    engine.close()
    assert control not in {each.control for each in probe.held}


def test_only_the_environment_that_was_given_is_there(
    named: NamedRuns, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the image sets is taken away; without that, its names are there."""
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:1")
    given = {**_ENVIRONMENT, "ODD": "a b=c#\"'$x", "EMPTY": ""}
    shown = python("import json,os; print(json.dumps(dict(os.environ)))")

    def seen(change: Callable[[Container], Container] = lambda same: same) -> dict[str, str]:
        outcome = named.run(shown, project, env=given, change=change)
        found: dict[str, str] = json.loads(outcome.stdout)
        found.pop("LC_CTYPE", None)  # the interpreter's own doing
        return found

    assert seen() == given

    def untouched(container: Container) -> Container:
        kept = tuple(each for each in container.also if not each.startswith("--env="))
        return replace(container, also=kept)

    assert seen(untouched) == {**given, "LEAKED": "by-the-image"}


def test_values_are_in_no_list_of_processes(named: NamedRuns, project: Path) -> None:
    """They go by a file of the caller's; names may be seen."""
    told: list[tuple[str, ...]] = []

    def noted(words: tuple[str, ...]) -> tuple[str, ...]:
        told.append(words)
        return words

    named.run(python("1"), project, env={**_ENVIRONMENT, "TOKEN": "s3cr3t"}, words=noted)
    assert not [word for words in told for word in words if "s3cr3t" in word]


def test_nothing_of_the_host_is_there_but_the_grants(named: NamedRuns, project: Path) -> None:
    """A file beside the workspace is not; granted it is; with the host's root bound, it could be read."""
    beside = project.with_name(project.name + "-beside")
    beside.write_text("beside")
    try:
        words = python(f"print(open({str(beside)!r}).read())")
        assert named.run(words, project).stdout == b""
        both = Surface.of(read=["./", str(beside)])
        assert named.run(words, project, surface=both).stdout == b"beside\n"

        def with_host(told: tuple[str, ...]) -> tuple[str, ...]:
            return (*told[:2], "--volume=/srv:/srv:ro", *told[2:])

        assert named.run(words, project, words=with_host).stdout == b"beside\n"
    finally:
        beside.unlink()


def test_writes_reach_only_what_may_be_written(named: NamedRuns, project: Path) -> None:
    """The image and the workspace are read-only; a folder that is granted is written at once."""
    (project / "out").mkdir()
    (project / "out").chmod(0o777)
    words = python("""
for path in ("file", "out/page", "/usr/new", "/kept/new", "/tmp/own", "/home/user/own"):
    try: open(path, "w"); print(path)
    except OSError: pass
""")
    surface = Surface.of(read=["./"], write=["/tmp/"])
    own = ["/tmp/own", "/home/user/own"]
    assert named.run(words, project, surface=surface).stdout.decode().split() == own
    at_once = Surface.of(read=["./"], write=["/tmp/", "./out/"])
    granted = named.run(words, project, surface=at_once, writes=Writes.DIRECT)
    assert granted.stdout.decode().split() == ["out/page", *own]
    assert (project / "out/page").exists()
    project.chmod(0o777)
    (project / "file").chmod(0o666)

    def writable(container: Container) -> Container:
        return replace(
            container, bound=tuple(replace(each, is_writable=True) for each in container.bound)
        )

    bare = named.run(words, project, surface=surface, change=writable)
    assert bare.stdout.decode().split() == ["file", "out/page", *own]


def test_denied_inside_a_grant_stays_closed(named: NamedRuns, project: Path) -> None:
    """A mount lies over what is denied, folder or file; without it, it can be read."""
    (project / "key").write_text("key")
    words = python("""
for path in ("denied/file", "key"):
    try: print(open(path).read())
    except OSError: pass
""")
    denied = ["./denied/", "./key"]
    assert named.run(words, project, denied=denied).stdout.strip() == b""
    assert named.run(words, project).stdout == b"denied\nkey\n"

    def uncovered(container: Container) -> Container:
        covers = {str(project / "denied"), str(project / "key")}
        return replace(
            container,
            in_memory=tuple(each for each in container.in_memory if each.path not in covers),
            bound=tuple(each for each in container.bound if each.path not in covers),
        )

    assert named.run(words, project, denied=denied, change=uncovered).stdout == b"denied\nkey\n"


def test_the_network_is_not_there(named: NamedRuns, project: Path) -> None:
    """A port of the host is not reached, its own loopback is; with the host's network it is reached."""
    with socket.create_server(("127.0.0.1", 0)) as listens:
        port = listens.getsockname()[1]
        words = python(
            f"import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('in')"
        )
        assert named.run(words, project).stdout == b""
        own = """
import socket
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname())
print("own")
"""
        assert named.run(python(own), project).stdout == b"own\n"

        def on_host(told: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(each.replace("--network=none", "--network=host") for each in told)

        assert named.run(words, project, words=on_host).stdout == b"in\n"


def test_a_socket_in_a_granted_folder_reaches_nobody(
    named: NamedRuns, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the daemon's own, which commands the host; another filter would let it through."""
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind(str(project / "socket"))
        listens.listen()
        (project / "socket").chmod(0o777)
        words = python(
            "import socket; socket.socket(socket.AF_UNIX).connect('socket'); print('in')"
        )
        assert named.run(words, project).stdout == b""
        pair = "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))"
        assert named.run(python(pair), project).stdout == b"b'x'\n"
        monkeypatch.setattr(namedwords, "FilterWish", lambda **_: FilterWish(observed=False))
        assert named.run(words, project).stdout == b"in\n"


def test_calls_deep_into_the_kernel_are_refused(named: NamedRuns, project: Path) -> None:
    """`unshare` is; an ordinary call is not; without any filter it is the kernel's to say."""
    words = python("import ctypes; print(ctypes.CDLL(None).unshare(0x10000000))")
    assert named.run(words, project).stdout == b"-1\n"
    assert named.run(python("import os; print(os.getpid() > 0)"), project).stdout == b"True\n"

    def unfiltered(told: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            "--security-opt=seccomp=unconfined" if "seccomp=" in each else each for each in told
        )

    assert named.run(words, project, words=unfiltered).stdout == b"0\n"


def test_other_processes_are_not_there(named: NamedRuns, project: Path) -> None:
    """It sees its first process and itself; in the host's namespace it would see all."""
    words = python("import os; print(len([n for n in os.listdir('/proc') if n.isdigit()]))")
    assert int(named.run(words, project).stdout) == 2
    others = python(
        "import os; p = os.fork(); print(os.waitpid(p, 0)[0] == p) if p else os._exit(0)"
    )
    assert named.run(others, project).stdout == b"True\n"

    def among_all(told: tuple[str, ...]) -> tuple[str, ...]:
        kept = [each for each in told if each != "--init"]
        return (*kept[:2], "--pid=host", *kept[2:])

    assert int(named.run(words, project, words=among_all).stdout) > 2


def test_a_root_callers_program_is_nobody_on_the_host(named: NamedRuns, project: Path) -> None:
    """Root's own files stay closed to it, unless all may read them; as user 0 it would read them."""
    secret = project / "secret"
    secret.write_text("root's")
    secret.chmod(0o600)
    words = python("print(open('secret').read())")
    assert named.run(words, project).stdout == b""
    as_root = named.run(words, project, change=lambda each: replace(each, user="0:0"))
    assert as_root.stdout == b"root's\n"
    secret.chmod(0o644)
    assert named.run(words, project).stdout == b"root's\n"


def test_limits_end_it(named: NamedRuns, project: Path) -> None:
    """Memory, processor time, processes, files and time; with more of each, it ends by itself."""
    hungry = python("x = bytearray(200 << 20); print('all')")
    small = named.run(hungry, project, limits=Limits(memory_bytes=64 << 20))
    assert (small.ending, small.limit) == (Ending.LIMIT, "memory_bytes")
    assert named.run(hungry, project, limits=Limits(memory_bytes=512 << 20)).stdout == b"all\n"
    busy = named.run(python("while True: pass"), project, limits=Limits(cpu_seconds=1))
    assert (busy.ending, busy.limit) == (Ending.LIMIT, "cpu_seconds")
    late = named.run(["sleep", "60"], project, limits=Limits(wall_seconds=1.0))
    assert late.ending is Ending.TIMEOUT
    forks = python("""
import os
ends, held = os.pipe()
try:
    for _ in range(20):
        if os.fork() == 0: os.close(held); os.read(ends, 1); os._exit(0)
    print("all")
except OSError: print("no more")
""")
    few = named.run(forks, project, limits=Limits(processes=8))
    assert few.stdout == b"no more\n"
    assert named.run(forks, project, limits=Limits(processes=64)).stdout == b"all\n"
    long = python("open('/tmp/long', 'wb').write(bytes(2 << 20)); print('all')")
    assert named.run(long, project, limits=Limits(file_bytes=1 << 20)).stdout == b""
    assert named.run(long, project).stdout == b"all\n"


def test_what_it_cannot_hold_is_refused_by_name(named: NamedRuns, project: Path) -> None:
    """A list of programs, a layer, hosts, reads and denials, the host's tree; each with a way out."""
    engine = named.engine()
    path = Path(engine.find("python3"))
    program = Program(path, ("python3",), project, image=engine.program_image)
    surface = Surface.of(read=["./"], write=["/tmp/"], run=Level.ANY)
    wanted = Confinement(surface, project, program, _ENVIRONMENT)
    engine.compile(wanted)
    asked = {
        Control.PROGRAMS: replace(
            wanted, surface=replace(surface, proc_exec=Surface.of(run=["sh"]).proc_exec)
        ),
        Control.LAYER: replace(wanted, surface=surface | Surface.of(write=["./out/"])),
        Control.NO_NETWORK: replace(wanted, surface=surface | Surface.of(net=["example.org"])),
        Control.FILES_READ: replace(wanted, reads=Reads.EXACT),
        Control.DENIALS: replace(wanted, denials=Denials.ATTESTED),
        Control.READS: replace(wanted, view=View.VISIBLE),
        Control.WRITTEN: replace(wanted, limits=Limits(written_bytes=1 << 20)),
        Control.ENVIRONMENT: replace(wanted, environment={"TWO": "a\nb"}),
    }
    for control, each in asked.items():
        with pytest.raises(NotEnforceable) as found:
            engine.compile(each)
        assert control in {lacking.control for lacking in found.value.lacking}
        assert found.value.help_line
    engine.close()


def test_nothing_starts_without_a_permit_for_this_image(named: NamedRuns, project: Path) -> None:
    """A permit for another image is refused; what was made for the run is gone by then."""
    engine = named.engine()
    path = Path(engine.find("touch"))
    wanted = Confinement(
        Surface.of(read=["./"], write=["/tmp/"], run=Level.ANY),
        project,
        Program(path, ("touch", "ran"), project, image=engine.program_image),
        _ENVIRONMENT,
    )
    plan = engine.compile(wanted)

    def refused() -> Permit:
        raise Refused(Code.PERMIT_REFUSED, "no")

    before = set(_containers(named))
    with pytest.raises(Refused, match="no"):
        engine.launch(plan, refused, (), Io(keeps=True))
    assert set(_containers(named)) == before
    engine.close()
    assert not _containers(named)


def _containers(named: NamedRuns) -> list[str]:
    environ = {**os.environ, **named.variables, "PATH": PATH}
    said = subprocess.run(
        [str(shutil.which("docker", path=PATH)), "ps", "--all", "--format={{.Names}}"],
        env=environ,
        capture_output=True,
        check=True,
    )
    return said.stdout.decode().split()


def test_a_program_goes_by_the_name_it_was_found_by(named: NamedRuns, project: Path) -> None:
    """As programs need that are many in one file; the image's own words are not there."""
    words = ["called-otherwise", "-c", 'echo "$0" "$@"; pwd']
    told = named.run(words, project).stdout.decode().splitlines()
    assert told == ["/usr/bin/called-otherwise", str(project)]


def test_a_grant_over_the_programs_place_is_refused(named: NamedRuns, project: Path) -> None:
    """Or a file of the host's would run under the digest of the image."""
    engine = named.engine()
    program = Program(
        Path(engine.find("called-otherwise")), ("x",), project, image=engine.program_image
    )
    surface = Surface.of(read=["./"], write=["/tmp/"], run=Level.ANY)
    wanted = Confinement(surface, project, program, _ENVIRONMENT)
    engine.compile(wanted)
    covering = replace(wanted, surface=surface | Surface.of(read=["/usr/bin/"]))
    with pytest.raises(Refused) as found:
        engine.compile(covering)
    engine.close()
    assert found.value.code is Code.PROGRAM_UNSTARTABLE


def test_who_is_gone_before_the_container_tells_of_no_success(
    named: NamedRuns, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command that stays with it is ended: the container is killed, and the run is, too."""
    monkeypatch.setattr(namedbox, "_PAUSE", 0.05)
    ended: list[int] = []
    looked = namedbox.NamedBox.sample

    def ending(box: namedbox.NamedBox, seconds: float | None) -> str | None:
        if box._command is not None and not ended and box._used[1]:
            ended.append(box._command.pid)
            box._command.kill()
        return looked(box, seconds)

    monkeypatch.setattr(namedbox.NamedBox, "sample", ending)
    outcome = named.run(["sleep", "60"], project)
    assert ended
    assert (outcome.ending, outcome.exit_code) == (Ending.KILLED, None)
    assert not _containers(named)

"""Containers of Docker and Podman as boxes: attacks in threes, and how a run ends."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest

from consentry.base.errors import Refused
from consentry.enforce.confinement import Confinement, Limits, Program
from consentry.enforce.engine import Control, Ending, NotEnforceable
from consentry.enforce.engines.container import driver, giving
from consentry.enforce.engines.container.mounting import Bound
from consentry.enforce.engines.container.words import Container
from consentry.enforce.native.seccompfilter import FilterWish
from consentry.enforce.native.streamends import Io
from consentry.enforce.programfiles import look_at_program
from consentry.enforce.sealing import seal
from consentry.surface.lattice import Surface
from consentry.surface.modes import View, Writes
from tests.enforce.boxes import PYTHON, program_of
from tests.enforce.engines.container.runs import Containers

ROOT = os.geteuid() == 0


def python(code: str) -> list[str]:
    """The words that run this code."""
    return [PYTHON, "-I", "-c", code]


def test_it_holds_what_it_claims(containers: Containers) -> None:
    """Every control of the probe was attacked in a real container, and none of the attacks worked."""
    trial = containers.engine.try_out()
    assert trial.card is not None, trial.probe.lacking[0].why
    held = {each.control for each in trial.probe.held}
    claimed = {each.control for each in containers.engine.claims()}
    assert claimed <= held
    limits = {Control.MEMORY, Control.PROCESSES, Control.CPU, Control.FILE_SIZE}
    if ROOT:
        assert limits <= held
    assert not [row for row in trial.card.broken if Control(row.control) in held]


def test_only_the_environment_that_was_given_is_there(
    containers: Containers, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the image, nor the command, nor our own environment adds a name; line breaks stay."""
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example:1")
    monkeypatch.setenv("SECRET_OF_OURS", "1")
    given = {"PATH": "/usr/bin:/bin", "TWO": "first\nsecond", "EMPTY": ""}
    shown = "import json,os; print(json.dumps(dict(os.environ)))"
    found = json.loads(containers.run(python(shown), project, env=given).stdout)
    found.pop("LC_CTYPE", None)  # the interpreter's own doing
    assert found == given


def test_a_users_settings_add_nothing(
    containers: Containers, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Docker's `config.json` names proxies for containers, and Podman's `containers.conf` variables."""
    settings = tmp_path / ".docker" / "config.json"
    settings.parent.mkdir()
    settings.write_text('{"proxies": {"default": {"httpProxy": "http://proxy.example:1"}}}')
    conf = tmp_path / "containers.conf"
    conf.write_text('[containers]\nenv = ["ADDED=1"]\nvolumes = ["/etc:/etc-of-host"]\n')
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("DOCKER_CONFIG", str(settings.parent))
    monkeypatch.setenv("CONTAINERS_CONF", str(conf))
    code = "import os; print(sorted(os.environ), os.path.exists('/etc-of-host'))"
    assert containers.run(python(code), project, env={}).stdout in (
        b"[] False\n",
        b"['LC_CTYPE'] False\n",
    )


def test_denied_inside_a_grant_stays_closed(containers: Containers, project: Path) -> None:
    """A folder in memory lies over what is denied; without it, it can be read."""
    words = python("print(open('denied/file').read())")
    attack = containers.run(words, project, denied=["./denied/"])
    assert (attack.exit_code, attack.stdout) == (1, b"")
    assert containers.run(words, project).stdout == b"denied\n"

    def uncovered(container: Container) -> Container:
        left = tuple(e for e in container.in_memory if e.path != str(project / "denied"))
        return replace(container, in_memory=left)

    bare = containers.run(words, project, denied=["./denied/"], change=uncovered)
    assert bare.stdout == b"denied\n"


def test_other_programs_cannot_be_started(
    containers: Containers, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By name, by the loader, from a file in the workspace; allowed, or without our means, they can."""
    (project / "own").write_bytes(Path("/usr/bin/true").read_bytes())
    (project / "own").chmod(0o755)
    loader = str(look_at_program(Path("/usr/bin/true")).loaders[0])
    tries = (["/usr/bin/true"], [loader, "/usr/bin/true"], [str(project / "own")])
    code = f"""
import subprocess
for words in {tries!r}:
    try: print(subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0)
    except OSError: print(False)
"""
    assert containers.run(python(code), project).stdout.split() == [b"False"] * 3
    assert containers.run(python(code), project, run_any=True).stdout.split() == [b"True"] * 3
    monkeypatch.setattr(giving, "_rules", lambda _: None)
    monkeypatch.setattr(giving, "covered_programs", lambda *_: ())
    assert containers.run(python(code), project).stdout.split() == [b"True"] * 3


def test_our_interpreter_cannot_be_started_by_the_program(
    containers: Containers, project: Path
) -> None:
    """The first process's own program lies in the box, and can be neither started nor read."""
    code = """
import subprocess, glob
for words in (["/.consentry/python", "-V"], [glob.glob("/lib*/ld-linux*")[0], "/.consentry/python"]):
    try: print(subprocess.run(words, stderr=subprocess.DEVNULL).returncode == 0)
    except OSError: print(False)
for name in ("order", "start", "report", "python", "alive"):
    for mode in "r+", "rb":
        try: open("/.consentry/" + name, mode); print(name, mode)
        except OSError: pass
"""
    assert containers.run(python(code), project).stdout.split() == [b"False"] * 2


def test_a_socket_in_a_granted_folder_reaches_nobody(
    containers: Containers, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as the daemon's own, which commands the host; another filter would let it through."""
    with socket.socket(socket.AF_UNIX) as listens:
        listens.bind(str(project / "socket"))
        listens.listen()
        (project / "socket").chmod(0o777)
        code = "import socket; socket.socket(socket.AF_UNIX).connect('socket'); print('in')"
        assert containers.run(python(code), project).stdout == b""
        pair = "import socket; a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))"
        assert containers.run(python(pair), project).stdout == b"b'x'\n"
        loose = property(lambda _: FilterWish(observed=False))
        monkeypatch.setattr(giving.Given, "filter", loose)
        assert containers.run(python(code), project).stdout == b"in\n"


def test_the_network_is_not_there(containers: Containers, project: Path) -> None:
    """A port of the host; its own loopback works; with the host's network it is reached."""
    with socket.create_server(("127.0.0.1", 0)) as listens:
        port = listens.getsockname()[1]
        code = f"import socket; socket.create_connection(('127.0.0.1', {port}), 2); print('in')"
        assert containers.run(python(code), project).stdout == b""
        own = """
import socket
s = socket.create_server(("127.0.0.1", 0)); c = socket.create_connection(s.getsockname())
print("own")
"""
        assert containers.run(python(own), project).stdout == b"own\n"
        if not ROOT:
            return

        def on_host(words: tuple[str, ...]) -> tuple[str, ...]:
            return tuple(w.replace("--network=none", "--network=host") for w in words)

        with pytest.MonkeyPatch.context() as patched:
            made = driver.run_words
            patched.setattr(driver, "run_words", lambda *given: on_host(made(*given)))
            assert containers.run(python(code), project).stdout == b"in\n"


@pytest.mark.skipif(not ROOT, reason="it is about a root caller")
def test_a_root_callers_program_is_nobody_on_the_host(
    containers: Containers, project: Path
) -> None:
    """Root's own files stay closed to it, unless all may read them; as user 0 it would read them."""
    secret = project / "secret"
    secret.write_text("root's")
    secret.chmod(0o600)
    words = python("import os; print(open('secret').read()); print(os.getuid())")
    assert containers.run(words, project).stdout == b""

    def user_0(container: Container) -> Container:
        [report] = [each for each in container.bound if each.path.endswith("/report")]
        Path(report.source).chmod(0o666)
        return replace(container, user="0:0")

    as_root = containers.run(words, project, change=user_0)
    assert as_root.stdout.startswith(b"root's")
    secret.chmod(0o644)
    opened = containers.run(words, project).stdout.split()
    assert opened[0] == b"root's"
    assert int(opened[1]) > 1 << 16


def test_grants_are_read_only_with_all_that_is_mounted_below(
    containers: Containers, project: Path
) -> None:
    """A folder of the workspace cannot be written, unless it is granted and written at once."""
    place = project / "out"
    place.mkdir()
    place.chmod(0o777)
    code = "open('out/new', 'w').write('x'); print('written')"
    assert containers.run(python(code), project, run_any=True).stdout == b""
    assert list(place.iterdir()) == []
    surface = Surface.of(read=["./"], write=["./out/"])
    direct = containers.run(python(code), project, surface=surface, writes=Writes.DIRECT)
    assert direct.stdout == b"written\n", direct.stderr
    assert (place / "new").read_text() == "x"
    (place / "new").unlink()

    def writable(container: Container) -> Container:
        bound = (*container.bound, Bound(str(place), str(place), is_writable=True))
        return replace(container, bound=bound)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(giving, "_rules", lambda _: None)
        bare = containers.run(python(code), project, change=writable)
    assert bare.stdout == b"written\n"


def test_a_layer_is_refused_with_what_would_help(containers: Containers, project: Path) -> None:
    """Nothing is weakened: what goes to a layer goes nowhere else."""
    surface = Surface.of(read=["./"], write=["./out/"])
    engine = containers.engine
    shown = engine.try_out().probe
    program = program_of(["true"], project)
    run = Surface.of(run=[str(program.path)])
    wanted = Confinement(surface | run, project, program, {})
    with pytest.raises(NotEnforceable) as refused:
        engine._compiled(wanted, shown)
    assert [each.control for each in refused.value.lacking] == [Control.LAYER]
    assert "writes: direct" in (refused.value.help_line or "")
    for change in (
        {"view": View.VISIBLE},
        {"surface": Surface.of(read=["./"], net=["example.org"]) | run},
    ):
        with pytest.raises(NotEnforceable):
            engine._compiled(replace(wanted, **change), shown)  # type: ignore[arg-type]


def test_the_sealed_bytes_run_whatever_is_at_their_path(
    containers: Containers, project: Path
) -> None:
    """A script that is rewritten after it was hashed runs as it was hashed; unsealed, it does not."""
    script = project / "script"
    script.write_text(f"#!{PYTHON}\nprint('as hashed')\n")
    script.chmod(0o755)
    started = look_at_program(script)
    program = Program(
        script, (str(script),), project, copies=(script,), startable=started.files[1:]
    )
    sealed = seal(script)
    try:
        script.write_text(f"#!{PYTHON}\nprint('another')\n")
        run = containers.run([], project, program=program, sealed=[sealed])
    finally:
        sealed.close()
    assert run.stdout == b"as hashed\n", run.stderr
    unsealed = Program(script, (str(script),), project, startable=started.files)
    assert containers.run([], project, program=unsealed).stdout == b"another\n"


def test_ends_are_told_exactly(containers: Containers, project: Path) -> None:
    """A status above 128 is a status, a signal a signal; orphans are gone with the program."""
    assert containers.run(python("raise SystemExit(139)"), project).exit_code == 139
    killed = containers.run(python("import os; os.kill(os.getpid(), 11)"), project)
    assert (killed.exit_code, killed.signal, killed.ending) == (None, 11, Ending.KILLED)
    orphan = "import os, time\nif os.fork() == 0:\n    os.setsid(); time.sleep(60)\n"
    before = time.monotonic()
    assert containers.run(python(orphan), project).exit_code == 0
    assert time.monotonic() - before < 50


def test_input_reaches_it(containers: Containers, project: Path) -> None:
    """What is given as standard input is read to its end; without any, it is empty."""
    reader, writer = os.pipe()
    os.write(writer, b"typed")
    os.close(writer)
    words = python("import sys; print(repr(sys.stdin.read()))")
    try:
        given = containers.run(words, project, io=Io(stdin=reader, keeps=True))
    finally:
        os.close(reader)
    assert given.stdout == b"'typed'\n"
    assert containers.run(words, project).stdout == b"''\n"


def test_a_program_that_cannot_start_is_told(containers: Containers, project: Path) -> None:
    """A file that is no program; nothing is left of the container."""
    file = project / "program"
    file.write_bytes(b"\x7fELF, but no more")
    file.chmod(0o755)
    program = Program(file, (str(file),), project, startable=(file,))
    with pytest.raises(Refused):
        containers.run([], project, program=program)


LIMITED = [
    (Limits(wall_seconds=2), "import time; time.sleep(60)", Ending.TIMEOUT, None),
    (Limits(output_bytes=1000), "while True: print('x' * 100)", Ending.LIMIT, "output"),
]
BY_GROUPS = [
    (Limits(memory_bytes=64 << 20), "x = bytearray(256 << 20)", Ending.LIMIT, "memory_bytes"),
    (Limits(cpu_seconds=1), "while True: pass", Ending.LIMIT, "cpu_seconds"),
]


@pytest.mark.parametrize(("limits", "code", "ending", "limit"), [*LIMITED, *BY_GROUPS])
def test_limits_end_it_and_say_which(
    containers: Containers,
    project: Path,
    limits: Limits,
    code: str,
    ending: Ending,
    limit: str | None,
) -> None:
    """Time, output, memory and processor time each end the whole container."""
    if not ROOT and (limits.memory_bytes or limits.cpu_seconds):
        pytest.skip("an ordinary user's containers have no control groups of version 1")
    run = containers.run(python(code), project, limits=limits)
    assert (run.ending, run.limit) == (ending, limit)


def test_signals_are_passed_on(containers: Containers, project: Path) -> None:
    """A program that takes SIGTERM goes on as it likes."""
    code = """
import signal, sys, time
signal.signal(15, lambda *_: (print("taken"), sys.exit(7)))
print("ready", flush=True)
time.sleep(60)
"""
    io = Io(keeps=True)

    def when_ready() -> None:
        for _ in range(600):
            supervisor = io.supervisor
            if supervisor is not None and any(b"ready" in pipe.kept for pipe in supervisor.pipes):
                supervisor.pass_signal(signal.SIGTERM)
                return
            time.sleep(0.05)

    timer = Timer(0.1, when_ready)
    timer.start()
    run = containers.run(python(code), project, io=io)
    timer.join()
    assert (run.exit_code, run.stdout) == (7, b"ready\ntaken\n")


KILLED = """
import sys
from pathlib import Path
import pytest
from tests.enforce.engines.container.runs import Containers, made_engine
engine = made_engine(sys.argv[1])
Containers(engine, pytest.MonkeyPatch()).run(["sleep", "300"], Path(sys.argv[2]))
"""


def test_a_container_ends_with_whoever_started_it(
    containers: Containers, project: Path, keeper: tuple[str, dict[str, str]]
) -> None:
    """Killed by SIGKILL, we leave a container that ends by itself, and a folder that is swept."""
    engine = containers.engine
    assert containers.run(["true"], project).exit_code == 0
    command = engine.keeper(engine._folder.settings)  # type: ignore[union-attr]
    told = getattr(command, "by_command", command)
    owner = subprocess.Popen(
        [sys.executable, "-c", KILLED, keeper[0], str(project)],
        cwd=Path(__file__).parents[4],
    )

    def listed() -> str:
        found: str = told.said("ps", "--all", "--format={{.Names}}")
        return found

    def until(condition: Callable[[], bool]) -> bool:
        late = time.monotonic() + 60
        while not condition() and time.monotonic() < late:
            time.sleep(0.2)
        return condition()

    assert until(lambda: "consentry-" in listed())
    name = listed().split()[0]
    owner.kill()
    owner.wait()
    assert until(lambda: name not in listed())
    another = type(engine)(engine._ground)
    try:
        another._ready()  # unless somebody else has swept it meanwhile
    finally:
        another.close()
    assert not list(Path("/tmp").glob(f"consentry-container-*/{name}"))


def test_odd_names_of_folders(containers: Containers, project: Path) -> None:
    """Commas, quotes, colons and spaces in a path are parts of it."""
    place = project / 'a, "b": c'
    place.mkdir()
    (place / "file").write_text("odd")
    run = containers.run(python("print(open('file').read())"), place)
    assert run.stdout == b"odd\n", run.stderr


def test_the_image_is_made_again(containers: Containers, project: Path) -> None:
    """Nothing is pulled: an image that somebody removed is made from nothing again."""
    assert containers.run(["true"], project).exit_code == 0
    engine = containers.engine
    keeper = engine.keeper(engine._folder.settings)  # type: ignore[union-attr]
    told = getattr(keeper, "by_command", keeper)
    told.said("rmi", "--force", engine._makers.image)  # type: ignore[union-attr]
    another = type(engine)(engine._ground)
    try:
        assert another._ready()[1].image == engine._makers.image  # type: ignore[union-attr]
        assert keeper.has_image(another._ready()[1].image)
    finally:
        another.close()

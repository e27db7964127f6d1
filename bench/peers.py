"""Other sandboxes, each as its own documentation has it run, in a folder that is removed afterwards.

They get what our box gets: one folder to read, the system's programs, and no network. Before anything
is measured each must show that it holds this: a short script reads the folder, tries a file beside it
and a port of the host. One that cannot be had here, or does not hold it, is left out with its reason.
"""

import json
import re
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from bench.dockerdaemon import docker_run
from bench.installing import Absent, from_node, from_wheel, said_by, unpacked
from bench.keptprograms import SANDLOCK, SRT, Kept
from bench.processes import status_of

_SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/sbin", "/etc/ld.so.cache")
_SRT = "@anthropic-ai/sandbox-runtime"
_SRT_NEEDS = {"bwrap": "bubblewrap", "socat": "socat", "rg": "ripgrep"}
_PROBE = """\
bad=0
cat {readable} >/dev/null 2>&1 || bad=$((bad + 1))
cat {secret} >/dev/null 2>&1 && bad=$((bad + 2))
{connect} && bad=$((bad + 4))
exit $bad
"""
_CONNECTS = {
    "bash": "(: <>/dev/tcp/127.0.0.1/{port}) >/dev/null 2>&1",
    "sh": "nc -w 1 127.0.0.1 {port} </dev/null >/dev/null 2>&1",
}
UNCONFINED = 6  # what the probe says of a program that nothing holds


@dataclass(frozen=True, slots=True)
class Ground:
    """Where all of it happens: `project` may be read, `secret` beside it may not."""

    folder: Path
    project: Path
    secret: Path

    @classmethod
    def made_in(cls, folder: Path, port: int) -> "Ground":
        """Writes what the probe looks at."""
        project, secret = folder / "project", folder / "secret"
        project.mkdir()
        secret.write_text("not for them\n")
        readable = project / "readable"
        readable.write_text("for them\n")
        for shell, connect in _CONNECTS.items():
            text = _PROBE.format(
                readable=readable, secret=secret, connect=connect.format(port=port)
            )
            (project / f"probe.{shell}").write_text(text)
        return cls(folder, project, secret)

    def probe(self, shell: str = "bash") -> list[str]:
        """The words that run it; its status is 0 in a box that holds."""
        return [f"/bin/{shell}", str(self.project / f"probe.{shell}")]


@dataclass(frozen=True, slots=True)
class Peer:
    """Another sandbox, ready: `run` runs words in it and returns their exit status.

    `asked_by` is the shell in it that can run the probe.
    """

    version: str
    run: Callable[[Sequence[str]], int]
    is_slow: bool = False
    asked_by: str = "bash"


@contextmanager
def open_port() -> Iterator[int]:
    """A port of this host that anything outside a box can reach."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as server:
        yield server.getsockname()[1]


def gathered(ground: Ground, stack: ExitStack) -> tuple[dict[str, Peer], dict[str, str]]:
    """All that can be had here, and why the others cannot; the stack removes them."""
    found: dict[str, Peer] = {}
    missing: dict[str, str] = {}
    for name, made in _PEERS.items():
        print(f"preparing {name}", flush=True)
        try:
            peer = stack.enter_context(made(ground))
            _check(peer, ground)
        except Absent as reason:
            missing[name] = _told(str(reason), ground)
        else:
            found[name] = peer
    return found, missing


def _check(peer: Peer, ground: Ground) -> None:
    status = peer.run(ground.probe(peer.asked_by))
    if status not in range(UNCONFINED + 2):
        raise Absent(f"the probe in it ended with {status}")
    problems = (
        "the folder cannot be read",
        "a file beside it can be read",
        "a port can be reached",
    )
    broken = [text for bit, text in enumerate(problems) if status & 1 << bit]
    if broken:
        raise Absent(f"does not hold what is asked: {', '.join(broken)}")
    if peer.run(["/usr/bin/true"]) != 0:
        raise Absent("`true` fails in it")


def _told(reason: str, ground: Ground) -> str:
    """Without the machine's own addresses and folders; the page is read elsewhere."""
    return re.sub(r"\w+://\S+", "…", reason).replace(str(ground.folder), "…")


@contextmanager
def _bwrap(ground: Ground) -> Iterator[Peer]:
    program, environ = _found("bwrap", "bubblewrap", ground.folder / "bwrap")
    words = [program, "--unshare-all", "--die-with-parent", "--new-session"]
    for path in map(Path, _SYSTEM):
        how = ("--symlink", path.readlink()) if path.is_symlink() else ("--ro-bind-try", path)
        words += [how[0], str(how[1]), str(path)]
    words += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]  # noqa: S108 - the box's own
    words += ["--ro-bind", str(ground.project), str(ground.project)]
    version = said_by([program, "--version"], environ)
    yield Peer(version, lambda command: status_of([*words, *command], environ))


@contextmanager
def _firejail(ground: Ground) -> Iterator[Peer]:
    program = shutil.which("firejail")
    if program is None:
        raise Absent("not installed; its program must be set up by root")
    project = ground.project
    words = [program, "--quiet", "--noprofile", "--net=none", "--private-dev", "--private-tmp"]
    words += [f"--whitelist={project}", f"--read-only={project}"]
    words += ["--caps.drop=all", "--nonewprivs", "--seccomp"]
    if not project.is_relative_to(Path.home()):
        words.append("--private")
    yield Peer(said_by([program, "--version"]), lambda command: status_of([*words, *command]))


@contextmanager
def _sandlock(ground: Ground) -> Iterator[Peer]:
    python = str(from_wheel(ground.folder / "sandlock", "sandlock"))
    version = said_by([python, "-c", "import sandlock; print(sandlock.__version__)"])
    with Kept([python, "-c", SANDLOCK, str(ground.project), *_SYSTEM]) as kept:
        yield Peer(f"sandlock {version}", kept.run)


@contextmanager
def _codex(ground: Ground) -> Iterator[Peer]:
    """The program itself, without the script in Node that starts it and takes longer than it."""
    folder = ground.folder / "codex"
    modules = from_node(folder, "@openai/codex")
    programs = [each for each in modules.rglob("bin/codex") if each.is_file()]
    if not programs:
        raise Absent("its package has no program for this machine")
    environ = _apart(unpacked(folder / "debian", {"bwrap": "bubblewrap"}), folder)
    # Its second stage is started inside the box and must be readable there.
    Path(environ["HOME"], "config.toml").write_text(
        'default_permissions = "bench"\n[permissions.bench.filesystem]\n":minimal" = "read"\n'
        f'{json.dumps(str(ground.project))} = "read"\n{json.dumps(str(folder))} = "read"\n'
        "[permissions.bench.network]\nenabled = false\n"
    )
    environ["CODEX_HOME"] = environ["HOME"]
    words = [str(programs[0]), "sandbox", "--"]
    version = said_by([str(programs[0]), "--version"], environ)
    yield Peer(version, lambda command: status_of([*words, *command], environ))


@contextmanager
def _srt(ground: Ground, *, is_kept: bool) -> Iterator[Peer]:
    """As a command, or as a library in a Node that is kept open as ours is."""
    node, folder, environ = _installed_srt(ground)
    program, settings = str(folder / "node_modules/.bin/srt"), str(folder / "settings.json")
    said = (folder / f"node_modules/{_SRT}/package.json").read_text()
    version = f"srt {json.loads(said)['version']}"
    if not is_kept:
        words = [node, program, "--settings", settings]
        yield Peer(version, lambda command: status_of([*words, *command], environ), is_slow=True)
        return
    script = folder / "kept.mjs"
    script.write_text(SRT)
    with Kept([node, str(script), settings], environ) as kept:
        yield Peer(version, kept.run, is_slow=True)


@cache
def _installed_srt(ground: Ground) -> tuple[str, Path, dict[str, str]]:
    """It reads everything that it is not denied; its own tools and the project are given back."""
    folder = ground.folder / "srt"
    node = shutil.which("node")
    if node is None:
        raise Absent("`node` is not installed")
    from_node(folder, _SRT)
    tools = unpacked(folder / "debian", _SRT_NEEDS)
    files = {
        "denyRead": ["/home", "/root", "/etc", str(ground.folder)],
        "allowRead": ["/etc/ld.so.cache", str(ground.project), str(folder)],
        "allowWrite": [],
        "denyWrite": [],
    }
    network: dict[str, list[str]] = {"allowedDomains": [], "deniedDomains": []}
    (folder / "settings.json").write_text(json.dumps({"filesystem": files, "network": network}))
    return node, folder, _apart(tools, folder)


@contextmanager
def _docker(ground: Ground) -> Iterator[Peer]:
    with docker_run(ground.folder / "docker", ground.project) as (version, run):
        yield Peer(version, run, is_slow=True, asked_by="sh")


def _found(name: str, package: str, folder: Path) -> tuple[str, dict[str, str]]:
    environ = unpacked(folder, {name: package})
    program = shutil.which(name, path=environ["PATH"])
    if program is None:
        raise Absent(f"the package {package} has no `{name}`")
    return program, environ


def _apart(environ: dict[str, str], folder: Path) -> dict[str, str]:
    """With a home and a place for temporary files that go when the bench ends."""
    home, temporary = folder / "home", folder / "tmp"
    home.mkdir()
    temporary.mkdir()
    return environ | {"TMPDIR": str(temporary), "HOME": str(home)}


_PEERS: dict[str, Callable[[Ground], AbstractContextManager[Peer]]] = {
    "bwrap": _bwrap,
    "firejail": _firejail,
    "sandlock": _sandlock,
    "codex": _codex,
    "srt, library": partial(_srt, is_kept=True),
    "srt": partial(_srt, is_kept=False),
    "docker": _docker,
}

"""Which sandbox programs are on PATH, who may change them, and what each would need besides.

Nothing is started, not even to ask for a version. `found` is about the program file alone;
`needs` holds the facts it stands on, such as the Docker socket or a set-user-id bit. Finding an
engine does not mean that Consentry can drive it: `driver` says whether this version can.
"""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from consentry.base.values import dataclass
from consentry.enforce.facts import Fact, Found, HostView
from consentry.enforce.hops import leads_through
from consentry.enforce.ownership import stranger_over_file

NATIVE = "native"
DENO = "deno"
DOCKER = "docker"
# Those with a driver, a file of the engine's name in `enforce/engines`.
BUILT = (NATIVE, "bubblewrap", "firejail", "nsjail", "docker", "podman", DENO)
# Engine and the program that makes it; native needs none.
PROGRAMS = (
    ("bubblewrap", "bwrap"),
    ("firejail", "firejail"),
    ("nsjail", "nsjail"),
    ("docker", "docker"),
    ("podman", "podman"),
    (DENO, "deno"),
)
ENGINE_MEANINGS = {
    NATIVE: "Consentry's own engine: namespaces, Landlock and seccomp, with nothing to install",
    "bubblewrap": "the program bwrap: namespaces and mounts for an ordinary user",
    "firejail": "the program firejail: a set-user-id sandbox with ready profiles",
    "nsjail": "the program nsjail: namespaces, limits and seccomp policies",
    "docker": "containers through the Docker daemon, which whoever reaches its socket commands",
    "podman": "containers without a daemon, driven like Docker",
    "deno": "a JavaScript and TypeScript runtime with permissions of its own, inside one process",
}
_NAMESPACES = "user-namespaces"
_NATIVE_NEEDS = (_NAMESPACES, "landlock", "seccomp")
_ABI_WITH_SCOPES = 6
_NEEDS_NAMESPACES = ("bubblewrap", "nsjail", "podman")
_DOCKER_SOCKET = "/var/run/docker.sock"


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine: whether it is here, and why we say so.

    `safe` is about who may change the program: `yes` when only root and the asking user may, `no`
    when somebody else may too, `unknown` when it has no program or could not be looked at.
    """

    name: str
    found: Found
    why: str
    program: Path | None = None
    safe: Found = Found.UNKNOWN
    needs: tuple[Fact, ...] = ()

    @property
    def lacking(self) -> Fact | None:
        """The first need the host does not meet."""
        return next((need for need in self.needs if need.found is Found.NO), None)

    @property
    def driver(self) -> bool:
        """Whether this version of Consentry can run anything in it."""
        return self.name in BUILT


def look_for_engines(
    view: HostView, facts: Sequence[Fact], *, avoid: Path | None = None
) -> tuple[Engine, ...]:
    """Every engine, always all of them, in order. One in or through `avoid` is a stranger's."""
    by_name = {fact.name: fact for fact in facts}
    return (
        _native(by_name),
        *(_on_path(view, name, program, by_name, avoid) for name, program in PROGRAMS),
    )


def _native(facts: dict[str, Fact]) -> Engine:
    needs = tuple(facts[name] for name in _NATIVE_NEEDS)
    refused = [need.name for need in needs if need.found is Found.NO]
    unsettled = [need.name for need in needs if need.found is Found.UNKNOWN]
    if refused == [_NAMESPACES] and _landlock_abi(facts["landlock"]) >= _ABI_WITH_SCOPES:
        why = f"in its landlock-only mode: the kernel does not offer {refused[0]}"
        return Engine(NATIVE, Found.YES, why, needs=needs)
    if refused:
        why = f"the kernel does not offer {', '.join(refused)}"
        return Engine(NATIVE, Found.NO, why, needs=needs)
    if unsettled:
        why = f"not settled by what can be read: {', '.join(unsettled)}"
        return Engine(NATIVE, Found.UNKNOWN, why, needs=needs)
    why = "nothing to install; the kernel offers what it needs"
    return Engine(NATIVE, Found.YES, why, needs=needs)


def _landlock_abi(fact: Fact) -> int:
    number = fact.value.removeprefix("ABI ")
    return int(number) if number.isdigit() else 0


def _on_path(
    view: HostView, engine: str, program: str, facts: dict[str, Fact], avoid: Path | None
) -> Engine:
    folders = _folders_of_path(view)
    if not folders:
        return Engine(engine, Found.UNKNOWN, "PATH names no absolute folder")
    path = next((folder / program for folder in folders if _runnable(folder / program)), None)
    if path is None:
        return Engine(engine, Found.NO, f"no `{program}` on PATH")
    safe, why = _who_may_change(path, view.uid, avoid)
    needs = _needs(view, engine, path, facts)
    return Engine(engine, Found.YES, why, program=path, safe=safe, needs=needs)


def _folders_of_path(view: HostView) -> list[Path]:
    # An empty or relative entry means the current folder, which anybody may have filled.
    entries = view.environ.get("PATH", "").split(os.pathsep)
    return [Path(entry) for entry in entries if entry.startswith("/")]


def _runnable(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode) and os.access(path, os.X_OK)
    except OSError:
        return False


def _who_may_change(path: Path, uid: int, avoid: Path | None) -> tuple[Found, str]:
    try:
        if avoid is not None and leads_through(path, avoid):
            return Found.NO, f"`{path}` lies in the workspace, or is reached through it"
        stranger = stranger_over_file(path, uid)
    except OSError as problem:
        return Found.UNKNOWN, f"`{path}`; who may change it is not known: {problem.strerror}"
    if stranger is not None:
        return Found.NO, f"`{path}`, but {stranger}"
    return Found.YES, f"`{path}`"


def _needs(view: HostView, engine: str, path: Path, facts: dict[str, Fact]) -> tuple[Fact, ...]:
    privileged = _set_user_id(path)
    if engine == "firejail" or (engine == "bubblewrap" and privileged.found is Found.YES):
        return (privileged,)
    if engine in _NEEDS_NAMESPACES:
        return (facts["user-namespaces"],)
    if engine == "docker":
        return (docker_socket(view),)
    return ()


def _set_user_id(path: Path) -> Fact:
    source = f"read from the mode of {path}"
    try:
        mode = path.stat().st_mode
    except OSError as problem:
        return Fact("set-user-id", Found.UNKNOWN, "", f"{path}: {problem.strerror}")
    if mode & stat.S_ISUID:
        return Fact("set-user-id", Found.YES, "set", source)
    return Fact("set-user-id", Found.NO, "no set-user-id bit", source)


def docker_socket(view: HostView) -> Fact:
    """Whether the socket that `docker` would speak to is there and open to this user."""
    name = "docker-socket"
    named = view.environ.get("DOCKER_HOST", "")
    if named and not named.startswith("unix://"):
        return Fact(name, Found.UNKNOWN, "not local", "DOCKER_HOST names no local socket")
    path = named.removeprefix("unix://") or _DOCKER_SOCKET
    try:
        mode = view.at(path).stat().st_mode
    except OSError as problem:
        return Fact(
            name,
            Found.NO,
            f"no {path}",
            f"looking at it says: {(problem.strerror or 'nothing').lower()}",
        )
    if not stat.S_ISSOCK(mode):
        return Fact(name, Found.NO, f"{path} is no socket", f"read from the mode of {path}")
    if not os.access(view.at(path), os.R_OK | os.W_OK):
        return Fact(name, Found.NO, f"{path} is closed to you", f"read from the mode of {path}")
    return Fact(name, Found.YES, f"{path} is open to you", f"read from the mode of {path}")

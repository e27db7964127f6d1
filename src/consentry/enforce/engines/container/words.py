"""The words of `docker run` and `podman run` for one box; pure.

Nothing is left to a default that a daemon, an image or a user's settings could change: what is not
said here is switched off here.
"""

from collections.abc import Iterator
from typing import Final

from consentry.base.values import dataclass
from consentry.enforce.engines.container.image import LABEL
from consentry.enforce.engines.container.mounting import Bound, InMemory

INSIDE: Final = "/.consentry"
"""Where the first process finds its code and order, and leaves its report."""

_HOSTNAME: Final = "box"


@dataclass(frozen=True, slots=True)
class Dialect:
    """What one command says otherwise than the other."""

    first_words: tuple[str, ...]
    own_words: tuple[str, ...]
    closed_in_memory: str
    open_in_memory: str


DOCKER: Final = Dialect(
    first_words=(),
    # No name that the daemon adds by itself, and no copy of what is printed on its disk.
    own_words=("--env=HOSTNAME", "--env=PATH", "--env=HOME"),
    closed_in_memory=",readonly",
    open_in_memory="",
)
PODMAN: Final = Dialect(
    # A file of the user's or the host's names folders that are copied into every container.
    first_words=("--default-mounts-file=/dev/null",),
    own_words=("--unsetenv-all", "--http-proxy=false", "--read-only-tmpfs=false"),
    closed_in_memory=",ro,noexec,nosuid,nodev,notmpcopyup",
    open_in_memory=",noexec,nosuid,nodev,notmpcopyup",
)


@dataclass(frozen=True, slots=True)
class Container:
    """One container: what it is called, what it sees, and what it may use."""

    name: str
    owner: str
    image: str
    user: str
    profile: str
    bound: tuple[Bound, ...]
    in_memory: tuple[InMemory, ...]
    shared_bytes: int
    memory_bytes: int | None
    processes: int | None
    rlimits: tuple[tuple[str, int], ...]
    words: tuple[str, ...]
    environment: tuple[tuple[str, str], ...] = ()
    has_input: bool = False
    has_terminal: bool = False
    verb: tuple[str, ...] = ("run", "--rm")
    entry: str = ""
    folder: str = "/"
    also: tuple[str, ...] = ()
    """Options that only some containers need."""


def run_words(container: Container, dialect: Dialect) -> tuple[str, ...]:
    """What stands behind the program's name."""
    return tuple(_words(container, dialect))


def _words(container: Container, dialect: Dialect) -> Iterator[str]:
    yield from (*dialect.first_words, *container.verb, "--pull=never", f"--name={container.name}")
    yield f"--label={LABEL}={container.owner}"
    yield from ("--network=none", "--read-only", "--cap-drop=ALL", "--log-driver=none")
    yield from ("--security-opt=no-new-privileges", f"--security-opt=seccomp={container.profile}")
    yield from ("--ipc=private", f"--hostname={_HOSTNAME}")
    yield from (f"--workdir={container.folder}", f"--entrypoint={container.entry}")
    yield from (f"--user={container.user}", f"--shm-size={container.shared_bytes}")
    if container.memory_bytes is not None:
        yield f"--memory={container.memory_bytes}"
        yield f"--memory-swap={container.memory_bytes}"
    if container.processes is not None:
        yield f"--pids-limit={container.processes}"
    yield from (f"--ulimit={name}={most}:{most}" for name, most in container.rlimits)
    if container.has_input:
        yield "--interactive"
    if container.has_terminal:
        yield "--tty"
    yield from (*dialect.own_words, *container.also)
    yield from (f"--env={name}={value}" for name, value in container.environment)
    for each in sorted(container.bound, key=lambda bound: bound.path):
        fields = ["type=bind", f"source={each.source}", f"target={each.path}"]
        fields += [] if each.is_writable else ["readonly"]
        yield f"--mount={_line(*fields, 'bind-propagation=rprivate')}"
    for place in sorted(container.in_memory, key=lambda each: each.path):
        fields = ["type=tmpfs", f"target={place.path}"]
        fields += [f"tmpfs-size={place.size}", f"tmpfs-mode={place.mode:04o}"]
        rest = dialect.open_in_memory if place.is_writable else dialect.closed_in_memory
        yield f"--mount={_line(*fields)}{rest}"
    yield container.image
    yield from container.words


def _line(*fields: str) -> str:
    """As the line of a table, which is how the option is read."""
    return ",".join(
        '"' + field.replace('"', '""') + '"' if set(field) & set(',"\n\r') else field
        for field in fields
    )

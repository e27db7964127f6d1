"""How a container of a named image is made: files for it in the run's folder, and the words for docker.

The values of variables go by a file that only the caller can read, never by words that others see in a
list of processes. What the image adds by itself (variables, volumes, its own first program, its health
checks) is taken away again.
"""

import json
import os
from collections.abc import Iterator
from typing import Final

from consentry.base.values import replace
from consentry.enforce.engines.boxplan import Hidden, Own
from consentry.enforce.engines.container.folder import RunFolder
from consentry.enforce.engines.container.giving import OWN_PROCESSES
from consentry.enforce.engines.container.mounting import (
    CLOSED_BYTES,
    SYSTEM,
    InMemory,
    mounting_of,
)
from consentry.enforce.engines.container.namedplan import NamedPlan
from consentry.enforce.engines.container.profile import profile_of
from consentry.enforce.engines.container.words import DOCKER, Container, Dialect
from consentry.enforce.facts import HostView
from consentry.enforce.mounts import read_mounts
from consentry.enforce.native.seccompfilter import FilterWish
from consentry.enforce.usage import Control as Limited

DIALECT: Final[Dialect] = replace(DOCKER, own_words=("--env=HOSTNAME",))
# What every kernel of the daemon's has there; what it tells is of the whole machine.
_COVERED_IN_SYSTEM: Final = (
    "block", "bus", "class", "dev", "devices", "firmware", "kernel", "module", "power",
)  # fmt: skip
_TMP: Final = "/tmp"  # noqa: S108 - the container's own
_SHARE: Final = 4


def container_of(
    plan: NamedPlan,
    folder: RunFolder,
    ids: tuple[int, int],
    *,
    has_input: bool,
    has_terminal: bool,
) -> Container:
    """Writes the files into the folder; nothing is made by this."""
    wanted, limits = plan.wanted, plan.limits
    files = {
        item.path: folder.write(f"hidden{number}", b"", 0)
        for number, item in enumerate(plan.items)
        if isinstance(item, Hidden) and not item.is_folder
    }
    written = wanted.limits.written_bytes
    sizes = {
        item.path: max(1, written * (2 if item.path == _TMP else 1) // _SHARE)
        for item in plan.items
        if isinstance(item, Own)
    }
    mounting = mounting_of(plan.items, files, sizes, read_mounts(HostView()) or ())
    # There is no Landlock in there that would keep a folder of its own closed.
    closed = {item.path for item in plan.items if isinstance(item, Own) and not item.is_writable}
    own = (_empty(each.path) if each.path in closed else each for each in mounting.in_memory)
    in_memory = {each.path: each for each in (*_covered(plan), *own)}
    bound = {each.path for each in mounting.bound}
    memory, processes = limits.limit(Limited.MEMORY), limits.limit(Limited.PROCESSES)
    return Container(
        name=folder.path.name,
        owner=str(os.getpid()),
        image=plan.image.digest,
        user=f"{ids[0]}:{ids[1]}",
        profile=folder.write("profile", _profile(plan), 0o600),
        bound=mounting.bound,
        in_memory=tuple(each for path, each in in_memory.items() if path not in bound),
        shared_bytes=max(1, written // _SHARE),
        memory_bytes=None if memory is None else int(memory),
        processes=None if processes is None else int(processes) + OWN_PROCESSES,
        rlimits=tuple(_rlimits(plan)),
        words=wanted.program.words[1:],
        has_input=has_input,
        has_terminal=has_terminal,
        verb=("create",),
        entry=str(wanted.program.path),
        folder=str(wanted.program.folder),
        also=(
            # A first process that hands signals on and reaps; the program alone would ignore them.
            "--init",
            "--no-healthcheck",
            "--stop-signal=SIGTERM",
            f"--env-file={folder.write('variables', _variables(plan), 0o600)}",
            *(f"--env={name}" for name in plan.image.variables if name not in wanted.environment),
        ),
    )


def _profile(plan: NamedPlan) -> bytes:
    if plan.image.machine is None:
        raise ValueError("a plan for a machine that our filter is not written for")
    wish = FilterWish(
        observed=False,
        memory_files=True,
        # A bound folder may have sockets in it that somebody outside listens on.
        named_sockets=False,
        lends_identity=plan.plan.direct is None,
    )
    return json.dumps(profile_of(plan.image.machine, wish)).encode()


def _variables(plan: NamedPlan) -> bytes:
    given = plan.wanted.environment
    return "".join(f"{name}={value}\n" for name, value in given.items()).encode()


def _covered(plan: NamedPlan) -> Iterator[InMemory]:
    places = (*(f"{SYSTEM}/{name}" for name in _COVERED_IN_SYSTEM), *plan.image.volumes)
    yield from map(_empty, places)


def _empty(path: str) -> InMemory:
    return InMemory(path, CLOSED_BYTES, 0o555, is_writable=False)


def _rlimits(plan: NamedPlan) -> Iterator[tuple[str, int]]:
    yield "core", 0
    names = {Limited.FILE: "fsize", Limited.DESCRIPTORS: "nofile"}
    for control, name in names.items():
        most = plan.limits.limit(control)
        if most is not None:
            yield name, int(most)
    seconds = plan.limits.limit(Limited.CPU)
    if seconds is not None:
        # Each process alone, for when we look too late; all together are counted.
        yield "cpu", int(seconds) + 1

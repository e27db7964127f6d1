"""One copy of the worker: prepared ahead, used for one run, and gone with it.

Everything that does not depend on the snippet is done before there is one: the mounts, what is given
up for good, and the filter. Then the copy waits for its one order, confined as the code will be. It
is the first process of its own pid namespace, so that everything it starts ends with it.
"""

import _socket
import marshal
import os
import resource
import sys

from consentry.enforce.native import box, calls, restraint, snippetcode, waysout, wire
from consentry.enforce.native.reaper import keep_only

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

READY, WITH_LAYER, FAILED = b"r", b"l", b"f"
"""The first letter of what a copy says; a large one where it is in its control groups already."""
ORDERED = 5
"""Descriptors that come with an order: three streams, the result, and the snippet."""

_MOST_ORDER = 1 << 16
_STREAMS = 3
_NOT_RUN = 125


def live(plan: "Mapping[str, Any]", gate: int, doors: "Sequence[int]") -> None:
    """Confines this process for good, waits, runs the code, and never returns.

    `doors` are what is written to in order to join its control groups, which takes its time.
    """
    status = _NOT_RUN
    try:
        with_gate = _socket.socket(fileno=gate)
        if _is_confined(plan, with_gate, doors) and (told := _ordered(with_gate)) is not None:
            snippetcode.give_variables(plan["env"])
            status = snippetcode.run(*told)
            _flush("stdout", "stderr")
    finally:
        os._exit(status)


def _is_confined(plan: "Mapping[str, Any]", gate: _socket.socket, doors: "Sequence[int]") -> bool:
    has_joined = _joins(doors)
    snippetcode.rehearse()
    try:
        built, ways, listener = _confine(plan, gate.fileno())
    except OSError as problem:
        said = (problem.errno or 0, str(problem.filename or problem.strerror))
        gate.send(FAILED + marshal.dumps(said))
        return False
    handed = [listener] if built.store is None else [listener, built.store]
    word = WITH_LAYER if built.has_layer else READY
    # They stay open until the order comes, and by then they were fetched; the ways out only then.
    greeting = (word.upper() if has_joined else word) + bytes([len(handed)])
    gate.send(greeting + wire.numbers([*handed, *ways]))
    return True


def _joins(doors: "Sequence[int]") -> bool:
    """Whether it could; a kernel may let only whoever opened them do that."""
    try:
        for door in doors:
            os.write(door, b"0")
    except OSError:
        return False
    return bool(doors)


def _confine(plan: "Mapping[str, Any]", gate: int) -> "tuple[box.Box, list[int], int]":
    calls.prctl(calls.PR_SET_PDEATHSIG, 9)
    built = box.Box(plan, ())
    built.take_steps()
    keep_only((gate,) if built.store is None else (gate, built.store))
    waysout.bring_up_loopback()
    ways = waysout.opened(plan["ways"]) if plan["ways"] else waysout.for_questions()
    os.umask(plan["umask"])
    os.chdir(plan["cwd"])
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    calls.drop_capabilities()
    restraint.restrict_files(plan["landlock"])
    return built, ways, calls.seccomp(plan["filter"], listening=True)


def _ordered(gate: _socket.socket) -> "tuple[str, bytes, dict[str, Any]] | None":
    """The snippet, its name and its variables; None when there will be none."""
    space = _socket.CMSG_SPACE(4 * ORDERED)
    body, ancillary, _, _ = gate.recvmsg(_MOST_ORDER, space, _socket.MSG_CMSG_CLOEXEC)
    if not body:
        return None
    *streams, result, code = wire.passed(ancillary)
    name, source, arguments = marshal.loads(_whole(code))  # noqa: S302 - from our own owner
    for number, descriptor in enumerate(streams):
        os.dup2(descriptor, number)
    os.dup2(result, snippetcode.RESULT)
    gate.detach()
    calls.close_from(snippetcode.RESULT + 1)
    for which, soft, hard in marshal.loads(body):  # noqa: S302 - from our own launcher
        resource.setrlimit(which, (soft, hard))
    _draw_anew()
    return name, source, arguments


def _draw_anew() -> None:
    """No run draws the numbers that another one drew, whenever its copy was made."""
    for name in ("random", "numpy.random"):
        module = sys.modules.get(name)
        if module is not None:
            module.seed()


def _flush(*streams: str) -> None:
    """What the snippet printed and its interpreter still holds."""
    for name in streams:
        getattr(sys, name).flush()


def _whole(descriptor: int) -> bytes:
    content = b""
    while part := os.pread(descriptor, 1 << 20, len(content)):
        content += part
    return content

"""What the launcher is told of one run of the native engine."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from consentry.enforce.engines.interface import Compiled
from consentry.surface.modes import Denials

_UMASK: Final = 0o022


def request_of(
    plan: Compiled,
    bare: Mapping[str, Any] | None,
    ids: tuple[int, int],
    given: int,
    *,
    ahead: int,
    has_terminal: bool,
) -> dict[str, object]:
    """All that is known before its limits; `given` descriptors come before the files it copies.

    `bare` is what is told besides where there are no namespaces.
    """
    wanted, compiled = plan.wanted, plan.plan
    return {
        "ids": ids,
        "steps": tuple(_with_file_numbers(compiled.steps, given + 1)),
        "alike": compiled.alike,
        "ahead": ahead if compiled.alike else 0,
        "hostname": "box",
        "ways": compiled.ways,
        "streams": (1, 2, 3),
        "go": 4,
        "terminal": given if has_terminal else None,
        "umask": _UMASK,
        "cwd": str(wanted.program.folder),
        "landlock": compiled.landlock,
        "direct": compiled.makes,
        "exact": compiled.exact,
        # To the one who does it, nothing is refused that the kernel could attest of the program.
        "moves": bool(compiled.layered) and wanted.denials is Denials.OBSERVED,
        "filter": compiled.filter,
        "listens": True,
        "program": str(wanted.program.path),
        "argv": list(wanted.program.words),
        "then": [(str(step.path), list(step.words)) for step in wanted.program.then],
        "env": dict(wanted.environment),
        **(bare or {}),
    }


def _with_file_numbers(
    steps: Sequence[tuple[object, ...]], first: int
) -> Sequence[tuple[object, ...]]:
    """Copies name their file by its place among the descriptors that are passed."""
    return [
        ("copy", first + int(str(step[1])), *step[2:]) if step[0] == "copy" else step
        for step in steps
    ]

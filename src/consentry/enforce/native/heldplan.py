"""What the launcher is told where calls are held, and what is refused without a question.

The launcher gets the grants as tables of names, so that it can tell what they refuse. What may never be
asked for is decided here, by the name of the very thing that was pinned: protected roots, what the run
denies or hides, and our own state directory. Nor is anybody asked to have names written that other programs
obey: a yes is for this run, and whoever obeys them is outside of it, later.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from consentry.base.errors import BadInput
from consentry.enforce.confinement import Confinement
from consentry.enforce.facts import HostView
from consentry.enforce.layer import FileType
from consentry.enforce.mounts import read_mounts
from consentry.enforce.native.findings import USUAL
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.planparts import existing_places
from consentry.enforce.native.visibleplan import doors_to_the_kernel
from consentry.enforce.newnames import NewNames
from consentry.enforce.roots import OWN_FOLDERS
from consentry.enforce.writerules import WriteRules
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.patterns import PatternScope
from consentry.surface.protected import ProtectedRoots

# Doors to the kernel and to services, and what every program asks for when it starts.
_NEVER: Final = ("/proc", "/sys", "/dev", "/run", *OWN_FOLDERS, "/etc/locale.alias", *USUAL)


def held_wish(plan: Plan, line: int) -> dict[str, Any]:
    """What the launcher is told; `line` is the number of the socket to ask by, among its files."""
    granted = plan.landlock or {"paths": (), "picked": (), "fs": 0}
    if plan.exact is not None:
        granted = plan.exact["landlock"]
    rules = [*granted["paths"], *granted["picked"]]
    if plan.makes is not None:
        rules += [*plan.makes["landlock"]["paths"], *plan.makes["landlock"]["picked"]]
    rights: dict[bytes, int] = {}
    for path, right in rules:
        name = os.fsencode(path)
        rights[name] = rights.get(name, 0) | right
    writable: dict[bytes, bool] = {}
    for path, may in plan.places:
        name = os.fsencode(path)
        writable[name] = writable.get(name, False) or may
    layered = [str(layer.root.path) for layer in plan.layered]
    shown = [*layered, *(str(root.path) for root in plan.readable)]
    doors = map(str, doors_to_the_kernel(read_mounts(HostView()) or ()))
    return {
        "line": line,
        "rights": rights,
        "handled": granted["fs"],
        "writable": writable,
        "layered": [os.fsencode(path) for path in layered],
        "shown": [os.fsencode(path) for path in shown],
        # What is written into the runtime is no business of a run, whoever asks.
        "never": [os.fsencode(path) for path in (*_NEVER, *doors, *plan.runtime.roots)],
    }


class NeverHeld:
    """What one run is refused without anybody being asked, by names of the host."""

    def __init__(
        self,
        wanted: Confinement,
        plan: Plan,
        protected: ProtectedRoots,
        state: Path | None = None,
    ) -> None:
        self._protected = protected
        home = None if plan.home is None else Path(plan.home)
        nothing = PatternScope.parse([])
        self._rules = WriteRules.bound(
            nothing, workspace=wanted.workspace, home=home, denied=wanted.denied
        )
        self._hidden = frozenset(self._hidden_places(wanted, plan, home, state))
        self._names: NewNames | None = None

    @staticmethod
    def _hidden_places(
        wanted: Confinement, plan: Plan, home: Path | None, state: Path | None
    ) -> Iterator[str]:
        yield from plan.hidden
        # A denied link means what it leads to.
        yield from map(str, existing_places(wanted.denied, wanted.workspace, home))
        if state is not None:
            yield os.path.realpath(state)

    def rule_against_writing(self, path: str, *, is_folder: bool) -> str | None:
        """Why nobody is asked to have it written; None where somebody is."""
        if self._names is None:
            self._names = NewNames()  # a table to be read, which most runs do not need
        kind = FileType.FOLDER if is_folder else FileType.FILE

        def siblings() -> list[bytes]:
            try:
                return os.listdir(os.fsencode(os.path.dirname(path)))  # noqa: PTH120, PTH208 - bytes
            except OSError:
                return []

        return self._names.rule_against(os.fsencode(path), b"/", kind, siblings)

    def rule_against(self, path: str) -> str | None:
        """Why nobody is asked about it; None where somebody is."""
        names = tuple(name for name in path.split("/") if name)
        try:
            row = self._protected.over(Pattern.literal(Anchor.ABSOLUTE, names)) if names else None
        except BadInput:
            return "a name that no rule could be held against"
        if row is not None:
            return f"protected root {row.pattern.text}"
        denial = self._rules.denial(names)
        if denial is not None:
            return f"denied by `{denial.text}`"
        above = ("/" + "/".join(names[:end]) for end in range(1, len(names) + 1))
        return "hidden from this run" if self._hidden.intersection(above) else None

"""What Deno refused by itself, read from what it printed: the program's own word, and no more.

Its refusals never reach the kernel, so nothing else tells of them. Whoever runs in it can print the
same words; each denial therefore says `reported`, and stands back where the record itself knows of
the same refusal.
"""

import os
import re
import shlex
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass, field
from consentry.enforce.roots import OWN_FOLDERS
from consentry.enforce.violations import Operation, PermissionDenied, Truth
from consentry.examine.denialtext import DeniedText, denials_in
from consentry.surface.pattern import Anchor, Pattern
from consentry.surface.protected import ProtectedRoots
from consentry.surface.targets import Target

MOST_DENIALS: Final = 1000
MOST_READ: Final = 10_000
"""After so many, repeats included, nothing more is read: reading them is our time, not the run's."""

ENGINE: Final = "deno"
ANYTHING: Final = "any"
"""The resource of a denial that names none: everything of its kind was asked for."""

_MOST_HELD: Final = 1 << 16
_RULE: Final = "refused by deno, by the program's own word"
_OPTIONS: Final = {Operation.READ: "--read", Operation.WRITE: "--write"}
_VARIABLE: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_PLACEHOLDER: Final = re.compile(r"<[A-Za-z_]+>", re.ASCII)


@dataclass(slots=True)
class HeardDenials:
    """Listens to a stream while it passes; holds one unfinished line and so many denials."""

    found: dict[DeniedText, int] = field(default_factory=dict)
    is_complete: bool = True
    _held: bytes = b""
    _left: int = MOST_READ

    def hear(self, part: bytes) -> None:
        """The next bytes; they are looked at line by line."""
        if self._left == 0:
            return
        lines, _, rest = (self._held + part).rpartition(b"\n")
        self._take(lines)
        self._held = rest
        if len(rest) > _MOST_HELD:
            self.finish()

    def finish(self) -> None:
        """What was printed last had no end of line."""
        held, self._held = self._held, b""
        self._take(held)

    def _take(self, content: bytes) -> None:
        for each in denials_in(content.decode("utf-8", "replace")):
            if self._left == 0:
                self.is_complete = False
                return
            self._left -= 1
            if each in self.found or len(self.found) < MOST_DENIALS:
                self.found[each] = self.found.get(each, 0) + 1
            else:
                self.is_complete = False


def reported_denials(
    heard: HeardDenials, folder: Path, workspace: Path, protected: ProtectedRoots
) -> Iterator[PermissionDenied]:
    """As the record has them, with what would allow each."""
    for said, times in heard.found.items():
        resource = said.resource or ANYTHING
        if said.operation in _OPTIONS and _PLACEHOLDER.fullmatch(resource) is None:
            resource = os.path.normpath(folder / resource) if said.resource else ANYTHING
        allow = _allowing(said.operation, resource, workspace, protected) if said.resource else None
        yield PermissionDenied(
            said.operation, resource, ENGINE, Truth.REPORTED, _RULE, allow, times
        )


def besides(
    known: Iterable[PermissionDenied], reported: Iterable[PermissionDenied]
) -> tuple[PermissionDenied, ...]:
    """What the record knows, and what was reported beyond it."""
    seen = {(each.operation, each.resource): each for each in known}
    for each in reported:
        seen.setdefault((each.operation, each.resource), each)
    return tuple(seen.values())


def _allowing(
    operation: Operation, resource: str, workspace: Path, protected: ProtectedRoots
) -> str | None:
    match operation:
        case Operation.READ | Operation.WRITE:
            is_never = not resource.startswith("/") or _is_never_granted(
                resource, workspace, protected
            )
            return None if is_never else f"{_OPTIONS[operation]} {shlex.quote(resource)}"
        case Operation.NET:
            return f"--net {shlex.quote(resource)}" if _is_target(resource) else None
        case Operation.ENV if _VARIABLE.fullmatch(resource):
            return f"--env {resource}"
        case _:
            return None


def _is_target(resource: str) -> bool:
    try:
        Target.parse(resource)
    except ConsentryError:
        return False
    return True


def _is_never_granted(resource: str, workspace: Path, protected: ProtectedRoots) -> bool:
    is_ours = Path(resource).is_relative_to(workspace)
    if not is_ours and any(
        resource == own or resource.startswith(f"{own}/") for own in OWN_FOLDERS
    ):
        return True
    names = tuple(name for name in resource.split("/") if name)
    try:
        return bool(names) and protected.over(Pattern.literal(Anchor.ABSOLUTE, names)) is not None
    except ConsentryError:
        return True

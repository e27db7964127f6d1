"""Compares what a tool is granted with what its last runs were seen to use, and offers the smaller manifest.

Only runs that ended well and were watched whole count; the others are left out, and how many is said. What
a run made and removed again, or wrote as it was before, is not in its entry: a smaller manifest may be too
small for that, which is why a person looks at the difference. The file is written only on request, and
only if it is what was read.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.declare.manifestnarrow import Narrowed, Observed, narrowed
from consentry.declare.tool import LogLevel, Origin
from consentry.record.auditfields import ExecutionStatus
from consentry.record.events import EventType
from consentry.record.reportpowers import Power, is_watched, uses_of
from consentry.service.audit import whole_event
from consentry.service.consentrecord import most_listed
from consentry.service.linediff import hunks
from consentry.service.placedfile import replace_whole
from consentry.service.places import Workspace
from consentry.service.protection import protected_here
from consentry.service.rundecision import TOOL
from consentry.service.surroundings import Surroundings
from consentry.service.tooltable import LoadedTool
from consentry.service.userfiles import read_named
from consentry.store.history import EventFilter, History

USUAL_RUNS: Final = 20

UNFINISHED: Final = "did not run to a good end"
UNWATCHED: Final = "ran where nobody watches what is read"
UNLISTED: Final = "has lists that are not complete"


@dataclass(frozen=True, slots=True)
class Narrowing:
    """A smaller manifest; `left_out` says of how many runs nothing could be learned, and why."""

    tool: LoadedTool
    before: str
    result: Narrowed
    runs: int
    left_out: Mapping[str, int]

    @property
    def is_smaller(self) -> bool:
        """Whether there is anything to take out."""
        return bool(self.result.removed)

    def diff(self) -> Iterator[str]:
        """The difference, as unified diffs have it."""
        old, new = (each.splitlines() for each in (self.before, self.result.text))
        yield f"--- {self.tool.file}"
        yield f"+++ {self.tool.file}"
        for hunk in hunks(old, new):
            yield hunk.header
            yield from (f"{sign.replace('=', ' ')}{line}" for sign, line in hunk.lines)


def narrow(
    history: History | None, tool: LoadedTool, around: Surroundings, most: int = USUAL_RUNS
) -> Narrowing:
    """What its last runs did not use; raises where none of them says anything."""
    name = tool.manifest.name
    usable, left_out = _sorted(_last_runs(history, name, most))
    if not usable:
        why = "; ".join(f"{count} {reason}" for reason, count in left_out.items())
        raise UsageProblem(
            Code.RUN_UNKNOWN,
            f"no run of `{name}` says what it uses{f' ({why})' if why else ''}",
            help_line=f"run it with `consentry run {name}` on the engine `native`, then ask again",
        )
    content = read_named(str(tool.file))
    found = narrowed(content, str(tool.file), _observed(usable), roots=protected_here(around))
    return Narrowing(tool, content.decode(), found, len(usable), dict(left_out))


def write(narrowing: Narrowing, workspace: Workspace) -> None:
    """Puts the smaller manifest in the place of the one that was read."""
    file = narrowing.tool.file
    if narrowing.tool.origin is Origin.WORKSPACE:
        _require_inside(file, workspace.path)
    if file.is_symlink():
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{file}` is a link, and what it leads to is not written",
            help_line="apply the difference to that file yourself",
        )
    if read_named(str(file)).decode() != narrowing.before:
        message = f"`{file}` was changed meanwhile, and is left as it is"
        raise UsageProblem(Code.FILE_UNUSABLE, message, help_line="run the command again")
    try:
        replace_whole(file, narrowing.result.text.encode())
    except OSError as problem:
        message = f"`{file}`: {(problem.strerror or 'cannot be written').lower()}"
        raise UsageProblem(Code.FILE_UNUSABLE, message) from problem


def _require_inside(file: Path, workspace: Path) -> None:
    """The workspace may be a stranger's, links in it included."""
    if not file.parent.resolve().is_relative_to(workspace.resolve()):
        raise UsageProblem(
            Code.FILE_UNUSABLE,
            f"`{file}` lies behind a link that leads out of the workspace",
            help_line="apply the difference to that file yourself",
        )


def _last_runs(history: History | None, name: str, most: int) -> Iterator[Mapping[str, Any]]:
    if history is None:
        return
    wanted = EventFilter(subject=f"{TOOL}:{name}", type=EventType.TOOL_AUDIT.value)
    for row in history.latest(wanted, most):
        yield cast("Mapping[str, Any]", whole_event(row)["payload"])


def _sorted(
    entries: Iterable[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], Counter[str]]:
    usable: list[Mapping[str, Any]] = []
    left_out: Counter[str] = Counter()
    for entry in entries:
        why = _why_not(entry)
        if why is None:
            usable.append(entry)
        else:
            left_out[why] += 1
    return usable, left_out


def _why_not(entry: Mapping[str, Any]) -> str | None:
    impact = entry["impact"]
    if entry["execution"]["status"] != ExecutionStatus.SUCCESS:
        return UNFINISHED
    if not impact.get("filesReadSeen"):
        return UNWATCHED
    level = LogLevel((entry["tool"].get("auditConfig") or {}).get("logLevel", LogLevel.DETAILED))
    longest = max(len(impact[key]) for key in ("filesWritten", "filesDeleted"))
    if not is_watched(entry) or longest >= most_listed(level) or _has_odd_names(entry):
        return UNLISTED
    return None


def _has_odd_names(entry: Mapping[str, Any]) -> bool:
    r"""Names that are no Unicode are recorded as `\xNN`, which no document can spell."""
    files = (*entry["impact"]["filesRead"], *entry["impact"]["filesWritten"])
    return any("\\x" in str(each["path"]).replace("\\\\", "") for each in files)


def _observed(entries: Iterable[Mapping[str, Any]]) -> Observed:
    found: dict[Power, set[str]] = {each: set() for each in Power}
    for entry in entries:
        for power, name in uses_of(entry):
            found[power].add(name)
    return Observed(*(frozenset(found[each]) for each in Power))

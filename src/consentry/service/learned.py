"""What the record of a watched run says of a tool's needs, as the draft of a manifest.

Only what the record shows: files that were read and written, programs that were started, hosts that
were reached, and the names of the environment that the line gave. What was refused is no need; it is
told beside the draft, because without it the tool may have done less than it does elsewhere.
"""

import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, Final, TypeAlias

from consentry.base.errors import BadInput
from consentry.base.values import dataclass
from consentry.declare.manifestdraft import DraftCommand, DraftPattern, ManifestDraft
from consentry.declare.names import is_program
from consentry.declare.narrowest import Seen, covers_any, literal, narrowest
from consentry.surface.sensitive import sensitive_names

Entry: TypeAlias = Mapping[str, Any]

_LEAST_CPU_SECONDS: Final = 10
_LEAST_MEGABYTES: Final = 64
_ROOM: Final = 2
_MIB: Final = 1 << 20
_NOT_IN_NAMES: Final = re.compile(r"[^a-z0-9._-]+")
_LONGEST_NAME: Final = 64
_OWN_FOLDERS: Final = ("/tmp/", "/home/user/")  # noqa: S108 - the box's own
# What `mkstemp` puts at the end of a name, and what Python does behind `tmp`.
_RANDOM: Final = re.compile(r"((?<=tmp)[a-z0-9_]{8}|[A-Za-z0-9]{6})(?=\.[^.]*$|$)")
_ODD_BYTE: Final = re.compile(r"\\x[0-9a-f]{2}")


@dataclass(frozen=True, slots=True)
class Touched:
    """A name in the workspace that was to be written, and whether it was there before the run."""

    path: str
    was_there: bool


@dataclass(frozen=True, slots=True)
class Learned:
    """A draft, and what a person should know of it.

    `sensitive` are files that were read and often hold secrets, with why; `left_out` are names that no
    document can spell.
    """

    draft: ManifestDraft
    sensitive: tuple[tuple[str, str], ...]
    left_out: tuple[str, ...]
    is_complete: bool


def learned_from(
    entry: Entry,
    *,
    name: str,
    given: Sequence[str],
    there: Iterable[str],
    touched: Sequence[Touched] = (),
    command_of: Callable[[str, str], str],
) -> Learned:
    """The draft that a run's record gives.

    Args:
        entry: the record.
        name: how the tool is called.
        given: names of the environment that the line gave it.
        there: files of the workspace with names that often hold secrets, used or not.
        touched: what was written, also where it is as it was before, or gone again.
        command_of: how a document names a program, by its path and the word it was called by.
    """
    impact, sandbox = entry["impact"], entry["sandbox"]
    words = entry["tool"]["arguments"]
    workspace, folder = entry["context"]["workspace"], entry["context"]["folder"]
    left_out: list[str] = []
    touched = tuple(_not_refused(touched, sandbox["violations"], workspace))
    changed = set(_usable(_paths(impact["filesWritten"], impact["filesDeleted"]), left_out))
    written = changed | {each.path for each in touched if each.was_there}
    fleeting = [each.path for each in touched if not each.was_there and each.path not in changed]
    # What it made itself it may read back.
    read = set(_usable(_paths(impact["filesRead"]), left_out)) - written
    apart = {*there, *(path for path in (*read, *written) if _why(path) is not None)}
    own = str(PurePosixPath(entry["tool"]["path"]))
    entrypoint = command_of(own, words[0])
    inner = folder.removeprefix(workspace).strip("/")
    commands = tuple(_commands(sandbox["programs"], command_of, workspace, entrypoint))
    left_out += [each.command for each in commands if not is_program(each.command)]
    limits = _limits(sandbox["resourceUsage"])
    draft = ManifestDraft(
        name=name,
        command=_within(entrypoint, workspace),
        arguments=tuple(words[1:]),
        folder=literal(inner).text if inner else ".",
        read=tuple(_patterns(narrowest(read, apart), "read")),
        write=(
            *_patterns(narrowest(written, apart), "written"),
            *_fleeting(fleeting, written, apart),
        ),
        commands=tuple(each for each in commands if is_program(each.command)),
        hosts=tuple(_hosts(sandbox["network"])),
        environment=tuple(sorted(given)),
        cpu_seconds=limits.get("cpu_seconds"),
        memory_megabytes=limits.get("memory_megabytes"),
        refused=tuple(_refused(sandbox["violations"])),
    )
    return Learned(
        draft,
        tuple(sorted((path, why) for path in read if (why := _why(path)) is not None)),
        tuple(sorted(set(left_out))),
        is_complete=impact["filesReadUnlisted"] == 0 and impact.get("filesReadSeen", True),
    )


def name_from(word: str) -> str:
    """A name for the tool, from the word that starts it."""
    stem = PurePosixPath(word).stem.lower()
    return _NOT_IN_NAMES.sub("-", stem).strip("-._")[:_LONGEST_NAME] or "tool"


def _paths(*lists: Sequence[Entry]) -> Iterator[str]:
    for each in lists:
        yield from (str(item["path"]) for item in each)


def _usable(paths: Iterable[str], left_out: list[str]) -> Iterator[str]:
    """Without the run's own folders, and without names that are no Unicode or too long."""
    for path in paths:
        if path.startswith(_OWN_FOLDERS):
            continue
        plain = _plain(path)
        if plain is None or not _is_spellable(plain):
            left_out.append(path)
        else:
            yield plain


def _not_refused(
    touched: Iterable[Touched], violations: Sequence[Entry], workspace: str
) -> Iterator[Touched]:
    """Without what was written and may not leave the layer, and without names too long to spell."""
    refused = {str(each["resource"]) for each in violations if each["operation"] == "write"}
    for each in touched:
        place = PurePosixPath(workspace, each.path.replace("\\", "\\\\"))
        is_refused = not refused.isdisjoint(map(str, (place, *place.parents)))
        if not is_refused and _is_spellable(each.path):
            yield each


def _plain(path: str) -> str | None:
    """As the file is called: the record doubles backslashes, and spells odd bytes by numbers."""
    halves = path.split("\\\\")
    if any(_ODD_BYTE.search(half) for half in halves):
        return None
    return "\\".join(halves)


def _is_spellable(path: str) -> bool:
    try:
        literal(path)
    except BadInput:
        return False
    return True


def _why(path: str) -> str | None:
    return sensitive_names().why(path)


def _patterns(seen: Iterable[Seen], verb: str) -> Iterator[DraftPattern]:
    for each in seen:
        many = f"{each.files} files were {verb}"
        yield DraftPattern(
            each.text,
            f"it was {verb}" if each.files == 1 else many,
            _why(each.text) if each.pattern.is_literal else None,
        )


def _fleeting(
    paths: Iterable[str], written: Collection[str], apart: Collection[str]
) -> Iterator[DraftPattern]:
    """What was made and is gone again: temporary names will be others the next time.

    `apart` is what none of them may stand for: the tool chose the names.
    """
    folders = {str(above) for path in written for above in PurePosixPath(path).parents}
    found: dict[str, int] = {}
    for path in paths:
        if path not in folders:
            own = literal(path).text
            around, _, name = own.rpartition("/")
            spelled = "/".join(filter(None, (around, _RANDOM.sub(_any_letters, name))))
            if covers_any(spelled, apart):
                spelled = own
            found[spelled] = found.get(spelled, 0) + 1
    for spelled, count in sorted(found.items()):
        often = "it was" if count == 1 else f"{count} such files were"
        yield DraftPattern(spelled, f"{often} made and removed again", _why(spelled))


def _any_letters(found: re.Match[str]) -> str:
    return "?" * len(found[0])


def _commands(
    programs: Sequence[Entry],
    command_of: Callable[[str, str], str],
    workspace: str,
    entrypoint: str,
) -> Iterator[DraftCommand]:
    times: dict[str, int] = {}
    for each in programs:
        path = str(each["path"])
        absolute = path if path.startswith("/") else f"{workspace}/{path}"
        word = str(each["arguments"][0]) if each["arguments"] else path
        command = command_of(absolute, word)
        if command != entrypoint:
            shown = _within(command, workspace)
            times[shown] = times.get(shown, 0) + int(each["times"])
    for command, count in sorted(times.items()):
        often = "once" if count == 1 else f"{count} times"
        yield DraftCommand(command, f"it was started {often}")


def _within(command: str, workspace: str) -> str:
    inside = workspace.rstrip("/") + "/"
    return f"./{command.removeprefix(inside)}" if command.startswith(inside) else command


def _hosts(network: Sequence[Entry]) -> Iterator[str]:
    reached = {
        f"{_bracketed(str(each['host']))}:{each['port']}"
        for each in network
        if each["allowed"] and each["port"]
    }
    yield from sorted(reached)


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host and not host.startswith("[") else host


def _limits(usage: Entry) -> dict[str, int]:
    """Twice what was used, and never less than a small run needs."""
    if usage["cpuTime"] is None:
        return {}
    seconds = math.ceil(float(str(usage["cpuTime"]).removesuffix("s")) * _ROOM)
    megabytes = math.ceil(int(usage["memoryPeakBytes"]) * _ROOM / _MIB)
    return {
        "cpu_seconds": max(_LEAST_CPU_SECONDS, seconds),
        "memory_megabytes": max(_LEAST_MEGABYTES, megabytes),
    }


def _refused(violations: Sequence[Entry]) -> Iterator[str]:
    for each in violations:
        remedy = each.get("allow")
        said = f"{each['operation']} {each['resource']}: {each['rule']}"
        yield f"{said}; {remedy}" if remedy else said

"""Which of a run's changes may reach the host, and why the others may not.

A change is dropped, and reported as a violation that the kernel's own layer attests, when it lies
under a denied name, at a name that other programs obey (`configescapes`) and that no grant spells
out, or outside the granted patterns; when a link would lead out of its writable folder; and when it
is no file, folder or link. Folders follow what is in them: a new one is made for what may be put
there, a deleted one goes only if everything in it may, and one that took the place of something else
is all or nothing.
"""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Final, TypeAlias

from consentry.base.values import dataclass
from consentry.enforce.configescapes import ConfigEscapes, config_escapes, is_repository_mark
from consentry.enforce.foldertree import by_place
from consentry.enforce.layer import Change, ChangeKind, Changes, FileType, LayerRoot, Odd, path_text
from consentry.enforce.violations import Operation, PermissionDenied, Truth
from consentry.enforce.writerules import WriteRules

MOST_VIOLATIONS: Final = 10_000

_OUTSIDE: Final = "outside the paths that may be written"
_SET_ID: Final = "bits that lend the owner's identity are not taken over"
_PART_OF_REFUSED: Final = "what it was part of stays as it was"
_LEADS_OUT: Final = "a link that is absolute, or climbs, may lead out of the writable folder"

_Item: TypeAlias = Change | Odd


@dataclass(frozen=True, slots=True)
class Verdicts:
    """The changes that may be committed, and the violations that the others are.

    `violations_left_out` counts those that were too many to list.
    """

    changes: Changes
    accepted: tuple[Change, ...]
    violations: tuple[PermissionDenied, ...]
    violations_left_out: int

    @property
    def written(self) -> Iterator[Change]:
        """Files and links that are made or changed."""
        for change in self.accepted:
            if change.kind is not ChangeKind.DELETED and change.type is not FileType.FOLDER:
                yield change

    @property
    def deleted(self) -> Iterator[Change]:
        """Files and links that are deleted."""
        for change in self.accepted:
            if change.kind is ChangeKind.DELETED and change.type is not FileType.FOLDER:
                yield change


@dataclass(frozen=True, slots=True)
class _Reason:
    """Why a change is dropped; whether a grant of that very path would allow it."""

    rule: str
    is_grantable: bool = False
    least: int = 0
    """How many names of the path a grant must spell out."""


def judge(changes: Changes, rules: WriteRules, escapes: ConfigEscapes | None = None) -> Verdicts:
    """Holds every change against the rules."""
    return _Judge(rules, escapes or config_escapes()).judged(changes)


class _Judge:
    def __init__(self, rules: WriteRules, escapes: ConfigEscapes) -> None:
        self._rules = rules
        self._escapes = escapes
        self._violations: list[PermissionDenied] = []
        self._left_out = 0

    def judged(self, changes: Changes) -> Verdicts:
        accepted: list[Change] = []
        heads = _folders_with_head(changes.entries)
        for root in changes.roots:
            items: list[_Item] = [each for each in changes.entries if each.root is root]
            items += [each for each in changes.odd if each.root is root]
            items.sort(key=lambda each: by_place(each.path))
            reasons = [self._reason(item, heads) for item in items]
            insides = _settle_folders(items, reasons)
            for item, reason, inside in zip(items, reasons, insides, strict=True):
                if reason is not None:
                    if not _speaks_for_itself(item, inside):
                        self._report(item, reason)
                elif isinstance(item, Change):
                    accepted.append(item)
                    if item.drops_set_id:
                        self._report(item, _Reason(_SET_ID))
        return Verdicts(changes, tuple(accepted), tuple(self._violations), self._left_out)

    def _reason(self, item: _Item, heads: Mapping[LayerRoot, frozenset[bytes]]) -> _Reason | None:
        """Why this one, looked at alone, may not be written; None if it may."""
        if isinstance(item, Odd):
            return _Reason(item.why)
        names = _host_names(item)
        denial = self._rules.denial(names)
        if denial is not None:
            return _Reason(f"denied by `{denial.text}`")
        escape = self._escape(item, names, heads.get(item.root, frozenset()))
        if escape is not None:
            return escape
        if not self._rules.is_allowed(names):
            return _Reason(_OUTSIDE, is_grantable=True)
        if item.kind is not ChangeKind.DELETED and _leads_out(item):
            return _Reason(_LEADS_OUT)
        return None

    def _escape(
        self, change: Change, names: tuple[str, ...], heads: frozenset[bytes]
    ) -> _Reason | None:
        parts = _parts(change.path)
        beside = [at for at in range(len(parts)) if b"/".join(parts[:at]) in heads] if heads else ()
        # Names above the writable folder matter only for rows that end below it; a row that ends
        # above it was granted with the folder.
        host = _parts(change.root.host)
        ends = host[max(0, len(host) - self._escapes.longest) :]
        skipped, above = len(host) - len(ends), len(ends)
        beside_head = [above + at for at in beside]
        for hit in self._escapes.hits((*ends, *parts), change.type, beside_head=beside_head):
            if hit.end <= above:
                continue
            if hit.escape.is_never_lifted:
                return _Reason(f"`{hit.escape.text}` is never written: {hit.escape.why}")
            if not self._rules.is_named(names, skipped + hit.end):
                return _Reason(
                    f"`{hit.escape.text}` is written only where it is named: {hit.escape.why}",
                    is_grantable=True,
                    least=skipped + hit.end,
                )
        return None

    def _report(self, item: _Item, reason: _Reason) -> None:
        if len(self._violations) >= MOST_VIOLATIONS:
            self._left_out += 1
            return
        self._violations.append(
            PermissionDenied(
                operation=Operation.WRITE,
                resource=path_text(item.inside),
                engine=self._rules.engine,
                truth=Truth.KERNEL,
                rule=reason.rule,
                allow=_option(item, reason) if reason.is_grantable else None,
            )
        )


def _option(item: _Item, reason: _Reason) -> str | None:
    """What to type, in whatever folder, to allow this path.

    The path itself, or a folder around it where the path cannot be named: a new file without an
    ending, which would be taken for a folder, one in a folder that is not there yet, one whose name
    is not text.
    """
    exact = place = PurePosixPath("/", *_host_names(item))
    is_new_file = (
        isinstance(item, Change)
        and item.kind is ChangeKind.CREATED
        and item.type is not FileType.FOLDER
    )
    if (reason.rule == _OUTSIDE and is_new_file and not place.suffix) or not _is_text(place.name):
        place = place.parent
    while not os.path.isdir(place.parent) and len(place.parent.parts) > max(1, reason.least):  # noqa: PTH112
        place = place.parent
    if not _is_text(str(place)):
        return None
    return f"--write {shlex.quote(str(place) if place == exact else f'{place}/')}"


def _is_text(name: str) -> bool:
    """Whether it can be typed, and recorded."""
    return not any("\udc80" <= character <= "\udcff" for character in name)


@dataclass(slots=True)
class _Inside:
    """What lies below an item: where it ends in the list, and how much of it is dropped or not."""

    parent: int | None
    end: int
    accepted: int = 0
    dropped: int = 0


def _settle_folders(items: Sequence[_Item], reasons: list[_Reason | None]) -> list[_Inside]:
    """Makes folders follow what is in them; `items` has each right before what is in it."""
    insides = _insides(items)
    for index in reversed(range(len(items))):
        item, inside = items[index], insides[index]
        if isinstance(item, Change):
            reasons[index] = _settled(item, reasons[index], inside)
            if item.kind is ChangeKind.REPLACED and reasons[index] is not None:
                for each in range(index + 1, inside.end):
                    reasons[each] = reasons[each] or _Reason(_PART_OF_REFUSED)
                inside.dropped, inside.accepted = inside.dropped + inside.accepted, 0
        if inside.parent is not None:
            is_dropped = reasons[index] is not None
            insides[inside.parent].dropped += inside.dropped + is_dropped
            insides[inside.parent].accepted += inside.accepted + (not is_dropped)
    return insides


def _settled(change: Change, reason: _Reason | None, inside: _Inside) -> _Reason | None:
    """The verdict on a change, once those on everything below it are known."""
    if change.kind is ChangeKind.CREATED:
        return None if inside.accepted else reason
    is_deleting = change.kind is ChangeKind.DELETED or (
        change.kind is ChangeKind.REPLACED and change.type is not FileType.FOLDER
    )
    if is_deleting and inside.dropped:
        return reason or _Reason(_PART_OF_REFUSED)
    return reason


def _insides(items: Sequence[_Item]) -> list[_Inside]:
    insides: list[_Inside] = []
    around: list[int] = []
    for index, item in enumerate(items):
        # A folder that cannot be listed has a second entry for itself, which counts as inside.
        while around and not (item.path + b"/").startswith(items[around[-1]].path + b"/"):
            insides[around.pop()].end = index
        insides.append(_Inside(around[-1] if around else None, len(items)))
        around.append(index)
    return insides


def _speaks_for_itself(item: _Item, inside: _Inside) -> bool:
    """Whether a dropped folder needs no line of its own, because what is in it has one."""
    return (
        isinstance(item, Change)
        and item.type is FileType.FOLDER
        and item.kind in (ChangeKind.CREATED, ChangeKind.DELETED)
        and inside.dropped > 0
    )


def _folders_with_head(changes: Sequence[Change]) -> Mapping[LayerRoot, frozenset[bytes]]:
    """The folders that the run left with a `HEAD` of its own in them."""
    found: dict[LayerRoot, set[bytes]] = {}
    for change in changes:
        folder, _, name = change.path.rpartition(b"/")
        if change.kind is not ChangeKind.DELETED and is_repository_mark(name):
            found.setdefault(change.root, set()).add(folder)
    return {root: frozenset(folders) for root, folders in found.items()}


def _leads_out(change: Change) -> bool:
    """Whether a link could lead out of its writable folder.

    It may climb first and then go down; a name before a `..` could itself be a link that has
    climbed, so that form is not judged but refused.
    """
    if change.target is None:
        return False
    if change.target.startswith(b"/"):
        return True
    rest = len(_parts(change.root.rest))
    may_climb = len(_parts(change.path)) - 1 - rest
    has_gone_down = False
    for part in change.target.split(b"/"):
        if part == b"..":
            may_climb -= 1
            if has_gone_down or may_climb < 0:
                return True
        elif part not in (b"", b"."):
            has_gone_down = True
    return False


@lru_cache(maxsize=1024)
def _parts(path: bytes) -> tuple[bytes, ...]:
    return tuple(part for part in path.split(b"/") if part)


def _host_names(item: _Item) -> tuple[str, ...]:
    """The names of the path on the host, as patterns spell them."""
    whole = (*_parts(item.root.host), *_parts(item.path))
    return tuple(part.decode("utf-8", "surrogateescape") for part in whole)

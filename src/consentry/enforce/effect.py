"""The effect of a run in a form that outlives its process: every change, and what stood there before.

The bytes are the same for the same effect, and their SHA-256 is the digest that a record, an approval
and a commit mean. Names are bytes and times nanoseconds, which canonical JSON cannot say; so it is
plain JSON of lists, in one fixed order.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.values import dataclass, replace
from consentry.enforce.layer import Change, ChangeKind, Changes, FileType, LayerRoot, Was
from consentry.enforce.violations import PermissionDenied
from consentry.enforce.writeverdicts import Verdicts

VERSION: Final = 1
EFFECT: Final = "effect"
"""The name of the file that holds one."""

_BOOT: Final = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Dropped:
    """A write that may not leave the layer: its path, why, and what would allow it."""

    path: str
    rule: str
    allow: str | None


@dataclass(frozen=True, slots=True)
class Effect:
    """What one run changed and may commit, and what of it is dropped.

    `boot` says since when the numbers of devices hold; `dropped_unlisted` counts those that were too
    many to list.
    """

    run: str
    roots: tuple[LayerRoot, ...]
    changes: tuple[Change, ...]
    dropped: tuple[Dropped, ...]
    dropped_unlisted: int
    started_ns: int
    boot: str

    @classmethod
    def of(cls, run: str, verdicts: Verdicts, accepted: Sequence[Change]) -> "Effect":
        """The effect of a run that was judged; `accepted` are the changes with all their hashes."""
        return cls(
            run,
            verdicts.changes.roots,
            tuple(accepted),
            tuple(map(_dropped, verdicts.violations)),
            verdicts.violations_left_out,
            verdicts.changes.started_ns,
            boot_id(),
        )

    @property
    def replaced_bytes(self) -> int:
        """The size of all that goes away or is replaced."""
        return sum(
            each.was.size
            for each in self.changes
            if each.was is not None and each.kind is not ChangeKind.MODE
        )

    def verdicts(self) -> Verdicts:
        """As a commit takes it, bound to the devices of today."""
        roots = {root: _of_this_boot(root, self.boot) for root in self.roots}
        accepted = tuple(
            _rebound(each, roots[each.root], each.root.identity[0]) for each in self.changes
        )
        changes = Changes(
            tuple(roots.values()), accepted, (), (), 0, is_complete=True, started_ns=self.started_ns
        )
        return Verdicts(changes, accepted, (), 0)

    def to_bytes(self) -> bytes:
        """As it is kept."""
        numbers = {root: index for index, root in enumerate(self.roots)}
        document = {
            "version": VERSION,
            "run": self.run,
            "boot": self.boot,
            "started": self.started_ns,
            "roots": [_root_out(root) for root in self.roots],
            "changes": [_change_out(each, numbers[each.root]) for each in self.changes],
            "dropped": [[each.path, each.rule, each.allow] for each in self.dropped],
            "droppedUnlisted": self.dropped_unlisted,
        }
        return json.dumps(document, ensure_ascii=True, separators=(",", ":")).encode()

    @classmethod
    def from_bytes(cls, content: bytes) -> "Effect":
        """Reads it back; raises `ValueError` for what is none."""
        try:
            kept: dict[str, Any] = json.loads(content)
            if kept["version"] != VERSION:
                raise ValueError(f"version {kept['version']}")
            roots = tuple(map(_root_in, kept["roots"]))
            return cls(
                kept["run"],
                roots,
                tuple(_change_in(each, roots) for each in kept["changes"]),
                tuple(Dropped(*each) for each in kept["dropped"]),
                kept["droppedUnlisted"],
                kept["started"],
                kept["boot"],
            )
        except (KeyError, TypeError, AttributeError, IndexError) as problem:
            raise ValueError(str(problem)) from problem


def effect_digest(content: bytes) -> Digest:
    """The digest that means exactly this effect."""
    return digest_bytes(content)


def boot_id() -> str:
    """The kernel's word for the time since it was started; empty where it has none."""
    try:
        return _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        return ""


def _dropped(denied: PermissionDenied) -> Dropped:
    return Dropped(denied.resource, denied.rule, denied.allow)


def _of_this_boot(root: LayerRoot, boot: str) -> LayerRoot:
    """Devices are numbered anew at every start; what is at the name must have the same inode then."""
    if boot and boot == boot_id():
        return root
    try:
        found = Path(os.fsdecode(root.host)).lstat()
    except OSError:
        return root
    return replace(root, identity=(found.st_dev, root.identity[1]))


def _rebound(change: Change, root: LayerRoot, device: int) -> Change:
    if root is change.root:
        return change
    was = change.was
    if was is not None and was.device == device:
        was = replace(was, device=root.identity[0])
    return replace(change, root=root, was=was)


# Names are bytes; json spells the half characters that stand for odd ones, and reads them back.
def _out(name: bytes | None) -> str | None:
    return None if name is None else name.decode("utf-8", "surrogateescape")


def _in(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def _optional(text: str | None) -> bytes | None:
    return None if text is None else _in(text)


def _root_out(root: LayerRoot) -> list[object]:
    made = [_out(each) for each in sorted(root.made)]
    return [root.number, _out(root.host), *root.identity, _out(root.inside), _out(root.rest), made]


def _root_in(kept: list[Any]) -> LayerRoot:
    number, host, device, inode, inside, rest, made = kept
    return LayerRoot(
        number, _in(host), (device, inode), _in(inside), _in(rest), frozenset(map(_in, made))
    )


def _change_out(change: Change, root: int) -> list[object]:
    return [
        root,
        _out(change.path),
        change.kind.value,
        change.type.value,
        change.size,
        change.mode,
        change.mtime_ns,
        change.sha256,
        _out(change.target),
        None if change.was is None else _was_out(change.was),
        change.is_lost,
        change.drops_set_id,
        change.shared,
    ]


def _change_in(kept: list[Any], roots: Sequence[LayerRoot]) -> Change:
    root, path, kind, type_, size, mode, mtime, sha256, target, was, lost, drops, shared = kept
    return Change(
        root=roots[root],
        path=_in(path),
        kind=ChangeKind(kind),
        type=FileType(type_),
        size=size,
        mode=mode,
        mtime_ns=mtime,
        sha256=sha256,
        target=_optional(target),
        was=None if was is None else _was_in(was),
        is_lost=lost,
        drops_set_id=drops,
        shared=shared,
    )


def _was_out(was: Was) -> list[object]:
    return [
        was.type.value,
        was.mode,
        was.size,
        was.device,
        was.inode,
        was.mtime_ns,
        was.ctime_ns,
        was.sha256,
        _out(was.target),
    ]


def _was_in(kept: list[Any]) -> Was:
    type_, mode, size, device, inode, mtime, ctime, sha256, target = kept
    return Was(FileType(type_), mode, size, device, inode, mtime, ctime, sha256, _optional(target))

"""The exact effect of a run, for a person or a program to look at before, or after, it is committed.

One value with everything: each change with both sizes, modes and hashes, and the lines that differ
where both sides are text. What may not leave the layer is listed with the reason. Texts are what the
run wrote: whoever shows them makes them safe first.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from consentry.base.canonical import Json
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.enforce.effect import Dropped
from consentry.enforce.effectsides import Sides, sides_of
from consentry.enforce.foldertree import Tree
from consentry.enforce.keptshelf import REHEARSED, UNDO, Shelf
from consentry.enforce.layer import Change, ChangeKind, FileType, inside_of, path_text
from consentry.enforce.rehearsal import read_effect
from consentry.service.keptruns import KeptRun, Place, settled_before
from consentry.service.linediff import Hunk, hunks

MOST_TEXT: Final = 256 << 10
"""Longer files are told by size and hash alone."""
MOST_DIFF_LINES: Final = 5_000
NO_END: Final = "\\ No newline at end of file"
WAITING: Final = "waiting"
COMMITTED: Final = "committed"

_WORDS: Final = {
    ChangeKind.CREATED: "added",
    ChangeKind.MODIFIED: "changed",
    ChangeKind.DELETED: "deleted",
    ChangeKind.REPLACED: "type",
    ChangeKind.MODE: "mode",
}


@dataclass(frozen=True, slots=True)
class ShownSide:
    """One side of a change."""

    type: str
    mode: int
    size: int
    sha256: str | None
    target: str | None

    def to_json(self) -> dict[str, Json]:
        """As it stands in a document."""
        return {
            "type": self.type,
            "mode": f"{self.mode:04o}",
            "size": self.size,
            "sha256": self.sha256,
            "target": self.target,
        }


@dataclass(frozen=True, slots=True)
class ShownChange:
    """One change: the word for it, both sides, and the lines that differ where they are known.

    `note` says why there are no lines where one would look for them.
    """

    path: str
    word: str
    old: ShownSide | None
    new: ShownSide | None
    diff: tuple[Hunk, ...] = ()
    note: str | None = None

    def unified(self) -> Iterator[str]:
        """The lines of a unified diff; each begins with a sign that the text cannot choose."""
        for hunk in self.diff:
            yield hunk.header
            for sign, text in hunk.lines:
                yield sign.replace("=", " ") + text.removesuffix("\n")
                if not text.endswith("\n"):
                    yield NO_END

    def to_json(self) -> dict[str, Json]:
        """As it stands in a document."""
        return {
            "path": self.path,
            "change": self.word,
            "old": None if self.old is None else self.old.to_json(),
            "new": None if self.new is None else self.new.to_json(),
            "diff": list(self.unified()),
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class EffectView:
    """The effect of one run, and where it stands."""

    run_id: str
    state: str
    until: str
    digest: str | None
    needs_approval: bool
    changes: tuple[ShownChange, ...]
    dropped: tuple[Dropped, ...]
    dropped_unlisted: int

    @property
    def counts(self) -> dict[str, int]:
        """How many changes of each kind."""
        found = dict.fromkeys(_WORDS.values(), 0)
        for each in self.changes:
            found[each.word] += 1
        return found

    def to_json(self) -> dict[str, Any]:
        """As one document."""
        return {
            "run": self.run_id,
            "state": self.state,
            "until": self.until,
            "digest": self.digest,
            "needs_approval": self.needs_approval,
            "counts": self.counts,
            "changes": [each.to_json() for each in self.changes],
            "dropped": [
                {"path": each.path, "why": each.rule, "allow": each.allow} for each in self.dropped
            ],
            "dropped_unlisted": self.dropped_unlisted,
        }


def effect_of(place: Place, named: str | None, *, with_lines: bool = True) -> EffectView:
    """The effect of a run that waits, or that was committed and can be undone."""
    run = KeptRun.named(place.history, named)
    for name, state in ((UNDO, COMMITTED), (REHEARSED, WAITING)):
        shelf = Shelf(place.state, name)
        item = shelf.found(run.permit_id)
        if item is None:
            continue
        with shelf.taken(item) as tree:
            if tree is None:
                continue
            return view_of(run, tree, state, str(item.until), with_lines=with_lines)
    settlement = run.settlement(place.history)
    if settlement is not None:
        raise settled_before(run, settlement)
    raise UsageProblem(Code.EFFECT_ABSENT, f"nothing is kept of `{run.run_id}`")


def view_of(
    run: KeptRun, tree: Tree, state: str, until: str, *, with_lines: bool = True
) -> EffectView:
    """The effect that an item holds, for whoever has it locked."""
    effect = read_effect(tree, run.digest)
    with sides_of(effect, tree) as sides:
        shown = _Showing(run, sides, MOST_DIFF_LINES if with_lines else 0)
        changes = tuple(shown.of(each) for each in effect.changes)
    rehearsal: Mapping[str, Any] = run.rehearsal or {}
    return EffectView(
        run.run_id,
        state,
        until,
        run.digest,
        state == WAITING and bool(rehearsal.get("needsApproval")),
        changes,
        effect.dropped,
        effect.dropped_unlisted,
    )


class _Showing:
    """Changes as they are shown; the lines of all together are bounded."""

    def __init__(self, run: KeptRun, sides: Sides, lines: int) -> None:
        self._workspace = str(run.entry["context"].get("workspace", "")).rstrip("/") + "/"
        self._sides = sides
        self._wants_lines = lines > 0
        self._left = lines

    def of(self, change: Change) -> ShownChange:
        old, new = _old(change), _new(change)
        diff, note = self._lines(change) if self._wants_lines else ((), None)
        return ShownChange(self._path(change), _WORDS[change.kind], old, new, diff, note)

    def _path(self, change: Change) -> str:
        return path_text(inside_of(change.root, change.path)).removeprefix(self._workspace)

    def _lines(self, change: Change) -> tuple[tuple[Hunk, ...], str | None]:
        has_old = change.was is not None and change.was.type is FileType.FILE
        has_new = change.type is FileType.FILE and change.kind is not ChangeKind.DELETED
        if change.kind is ChangeKind.MODE or not (has_old or has_new):
            return (), None
        if self._left <= 0:
            return (), "left out: there were too many lines before"
        was = change.was.size if change.was is not None else 0
        old = _text_of(self._sides.old, change, was) if has_old else b""
        new = _text_of(self._sides.new, change, change.size) if has_new else b""
        if isinstance(old, str) or isinstance(new, str):
            return (), old if isinstance(old, str) else str(new)
        found = hunks(_lines_of(old), _lines_of(new))
        return tuple(self._fitting(found)), self._cut(found)

    def _fitting(self, found: list[Hunk]) -> Iterator[Hunk]:
        for hunk in found:
            if self._left <= 0:
                return
            kept = hunk.lines[: self._left]
            self._left -= len(kept)
            yield Hunk(hunk.old_start, hunk.old_count, hunk.new_start, hunk.new_count, kept)

    def _cut(self, found: list[Hunk]) -> str | None:
        return "the rest of its lines is left out" if found and self._left <= 0 else None


def _old(change: Change) -> ShownSide | None:
    was = change.was
    if was is None:
        return None
    target = None if was.target is None else path_text(was.target)
    return ShownSide(was.type.value, was.mode, was.size, was.sha256, target)


def _new(change: Change) -> ShownSide | None:
    if change.kind is ChangeKind.DELETED:
        return None
    target = None if change.target is None else path_text(change.target)
    return ShownSide(change.type.value, change.mode, change.size, change.sha256, target)


def _text_of(read: Callable[[Change, int], bytes | None], change: Change, size: int) -> bytes | str:
    """One side as bytes, or why it is not shown."""
    if size > MOST_TEXT:
        return "too long to be shown line by line"
    content = read(change, MOST_TEXT)
    if content is None:
        return "the file was changed since, so no lines are shown"
    return content if _is_text(content) else "binary"


def _is_text(content: bytes) -> bool:
    try:
        return "\0" not in content.decode()
    except UnicodeDecodeError:
        return False


def _lines_of(content: bytes) -> list[str]:
    """Lines with what ends them, so that a last one without an end differs."""
    *lines, last = content.decode().split("\n")
    return [*(line + "\n" for line in lines), *([last] if last else [])]

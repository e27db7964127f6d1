"""Keeps what a run would change, on disk, until somebody commits or discards it.

    files     the bytes of every new or changed file, as the layer has them, hashed on the way
    effect    every change, and what stood there before: what a conflict is judged by
    rename    only then it has its name, and is there also after a crash

What is kept has the form of a layer, so that it is committed as one: read, held against its hashes,
staged and journaled. The workspace is neither read nor changed here.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.base.values import dataclass, replace
from consentry.enforce.commitrecover import said
from consentry.enforce.commitstage import copy_content, in_layer, keep_attributes
from consentry.enforce.effect import EFFECT, Effect, effect_digest
from consentry.enforce.filecalls import sync_file_system
from consentry.enforce.foldertree import Tree, below
from consentry.enforce.keptshelf import REHEARSED, Item, Keeping, Shelf
from consentry.enforce.layer import Change, ChangeKind, FileType
from consentry.enforce.layerfiles import Upper, sha256_of, user_attributes
from consentry.enforce.writeverdicts import Verdicts

_LAYER: Final = b"layer"
_MOST_EFFECT: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """What was kept: the item, its effect and the digest that means exactly this effect."""

    item: Item
    effect: Effect
    digest: Digest


def keep(layer: int, verdicts: Verdicts, *, run: str, state: Path, keeping: Keeping) -> Rehearsed:
    """Keeps the accepted changes of a run that is over; raises `Refused` where that fails."""
    if not verdicts.changes.is_complete:
        message = "the run changed more files than can be looked at in one commit"
        raise Refused(Code.COMMIT_REFUSED, message)
    shelf = Shelf(state, REHEARSED)
    try:
        with shelf.making(run) as folder:
            accepted = _kept_files(layer, verdicts.accepted, folder)
            effect = Effect.of(run, verdicts, accepted)
            content = effect.to_bytes()
            _write(folder, EFFECT.encode(), content)
            sync_file_system(folder.descriptor)
            size = sum(each.size for each in accepted if _has_content(each))
            item = Item(run, keeping.until(), size + len(content))
            shelf.finish(item)
    except OSError as problem:
        raise Refused(Code.EFFECT_UNKEPT, said(problem)) from problem
    return Rehearsed(item, effect, effect_digest(content))


@contextmanager
def opened(tree: Tree, digest: Digest) -> Iterator[tuple[Effect, int]]:
    """A kept effect and its layer, for whoever has the item locked; raises unless it is this one."""
    effect = read_effect(tree, digest)
    try:
        layer = tree.open(_LAYER, os.O_PATH | os.O_DIRECTORY)
    except OSError as problem:
        raise Refused(
            Code.EFFECT_TAMPERED, f"what was kept is not there: {said(problem)}"
        ) from None
    try:
        yield effect, layer
    finally:
        os.close(layer)


def read_effect(tree: Tree, digest: Digest | None) -> Effect:
    """The effect that an item holds; raises unless it has this digest, where one is known."""
    try:
        content = _read(tree, EFFECT.encode())
        if digest is not None and effect_digest(content) != digest:
            raise ValueError("it is not the one that was recorded")
        return Effect.from_bytes(content)
    except (OSError, ValueError) as problem:
        reason = said(problem) if isinstance(problem, OSError) else str(problem)
        raise Refused(Code.EFFECT_TAMPERED, f"the kept effect cannot be used: {reason}") from None


def _kept_files(layer: int, accepted: Sequence[Change], folder: Tree) -> list[Change]:
    made: set[bytes] = set()
    shared: dict[tuple[int, int], str] = {}
    kept: list[Change] = []
    _make_folders(folder, _LAYER, made)
    with ExitStack() as held:
        uppers: dict[int, Upper] = {}
        for change in accepted:
            number = change.root.number
            if number not in uppers:
                uppers[number] = held.enter_context(Upper(layer, number))
                _make_folders(folder, _upper(number), made)
            if not _has_content(change):
                kept.append(change)
                continue
            known = shared.get((number, change.shared)) if change.shared else None
            path = below(_upper(number), in_layer(change))
            _make_folders(folder, path.rpartition(b"/")[0], made)
            digest = known or _kept_file(uppers[number], change, folder, path)
            if change.shared:
                shared[number, change.shared] = digest
            kept.append(replace(change, sha256=digest))
    return kept


def _kept_file(upper: Upper, change: Change, folder: Tree, path: bytes) -> str:
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    above, name = folder.place(path)
    made = os.open(name, flags, 0o600, dir_fd=above)
    try:
        source = upper.open(in_layer(change))
        try:
            copy_content(source, made, change)
            keep_attributes(made, user_attributes(source))
        finally:
            os.close(source)
        return change.sha256 or sha256_of(made, change.size)
    finally:
        os.close(made)


def _has_content(change: Change) -> bool:
    return change.type is FileType.FILE and change.kind not in (
        ChangeKind.DELETED,
        ChangeKind.MODE,
    )


def _upper(number: int) -> bytes:
    return below(_LAYER, b"upper%d" % number)


def _make_folders(folder: Tree, path: bytes, made: set[bytes]) -> None:
    missing: list[bytes] = []
    at = path
    while at and at not in made:
        missing.append(at)
        at = at.rpartition(b"/")[0]
    for each in reversed(missing):
        above, name = folder.place(each)
        os.mkdir(name, 0o700, dir_fd=above)
        made.add(each)


def _write(folder: Tree, name: bytes, content: bytes) -> None:
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with open(os.open(name, flags, 0o600, dir_fd=folder.descriptor), "wb") as kept:  # noqa: PTH123 - by descriptor
        kept.write(content)


def _read(folder: Tree, name: bytes) -> bytes:
    opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder.descriptor)
    with open(opened, "rb") as kept:  # noqa: PTH123 - by descriptor
        content = kept.read(_MOST_EFFECT + 1)
    if len(content) > _MOST_EFFECT:
        raise ValueError("it is too large")
    return content

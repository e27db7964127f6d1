"""Rehearsals made from real layers: kept, looked up, committed and undone without a ledger."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from consentry.base.canonical import Digest
from consentry.enforce.commit import CommitOutcome, CommitTerms, commit
from consentry.enforce.commitrecover import Tidying
from consentry.enforce.effect import Effect
from consentry.enforce.keptshelf import REHEARSED, UNDO, Keeping, Shelf
from consentry.enforce.rehearsal import Rehearsed, keep, opened
from tests.enforce.layers import Layer
from tests.enforce.layers import opened as opened_layer

RUN = "run-1"


def kept(layer: Layer, state: Path, keeping: Keeping = Keeping(), run: str = RUN) -> Rehearsed:  # noqa: B008 - frozen
    """What a layer would change, kept."""
    verdicts = layer.judged()
    with opened_layer(layer.folder) as descriptor:
        return keep(descriptor, verdicts, run=run, state=state, keeping=keeping)


@contextmanager
def taken(state: Path, digest: Digest, run: str = RUN) -> Iterator[tuple[Effect, int]]:
    """A kept effect, locked."""
    shelf = Shelf(state, REHEARSED)
    item = shelf.found(run)
    assert item is not None
    with shelf.taken(item) as tree:
        assert tree is not None
        with opened(tree, digest) as found:
            yield found


def committed(state: Path, digest: Digest, keeping: Keeping = Keeping()) -> CommitOutcome:  # noqa: B008 - frozen
    """Takes a kept effect over."""
    with taken(state, digest) as (effect, layer):
        terms = CommitTerms(Tidying(keeping), effect=effect)
        return commit(layer, effect.verdicts(), run=RUN, state=state, terms=terms)


def folder_of(state: Path, shelf: str = REHEARSED, run: str = RUN) -> Path:
    """Where an effect lies."""
    item = Shelf(state, shelf).found(run)
    assert item is not None
    return state / shelf / item.name


def can_be_undone(state: Path, run: str = RUN) -> bool:
    """Whether a commit is kept for that."""
    return Shelf(state, UNDO).found(run) is not None


def same_bytes_but(path: Path) -> None:
    """Changes a byte and nothing that a look at the folder would show."""
    before = path.stat()
    content = bytearray(path.read_bytes())
    content[0] ^= 1
    path.write_bytes(bytes(content))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))

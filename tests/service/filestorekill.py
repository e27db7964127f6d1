"""python -m tests.service.filestorekill FOLDER: one commit to a folder of files, for whoever kills it on the way."""

import os
import sys
from pathlib import Path

from consentry.decide.documentstore import Commit, CommitKind
from consentry.decide.statechange import ABSENT, EntityName, EntityWrite
from tests.service.filestore import FileStore

ONE, TWO, THREE = (EntityName("notes", name) for name in ("one", "two", "three"))
BEFORE = {ONE: 1, TWO: 2}
AFTER = {ONE: "one", THREE: "three"}
_TX = "tx-1"


def first_commit(store: FileStore) -> Commit:
    """What is there before."""
    writes = (EntityWrite(ONE, ABSENT, 1), EntityWrite(TWO, ABSENT, 2))
    return Commit("first", CommitKind.APPLY, _TX, 1, store.read(()).revision, "r1", writes)


def next_commit() -> Commit:
    """What may or may not be there afterwards: one entity is changed, one goes, one comes."""
    writes = (
        EntityWrite(ONE, 1, "one"),
        EntityWrite(THREE, ABSENT, "three"),
        EntityWrite(TWO, 2, ABSENT),
    )
    return Commit("next", CommitKind.APPLY, _TX, 2, "r1", "r2", writes)


if __name__ == "__main__":
    FileStore(Path(sys.argv[1]), "board").commit(next_commit(), lambda: None)
    os.write(1, b"told\n")

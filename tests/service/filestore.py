"""A document store in a folder: one JSON file for each entity, and a log that decides (MODULES §limit-write-path).

    log.jsonl      one line for each key that ended: what it committed, or that it was given up
    entities/      one file for each entity, named by the hash of its name
    applied        how many lines of the log the files have

A commit is one line of the log, synced: when it is there, whole, the commit took effect, and whoever opens the
folder next makes the files so. A line that was not finished is cut off. The files are written beside their
places, synced and moved there; doing that twice changes nothing. One lock is held for everything, so a process
that was killed leaves nothing locked.

A store that is meant to be read, and slow: every opening reads the whole log.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from consentry.base.canonical import Json, canonical_json
from consentry.base.frozenjson import thawed
from consentry.modules import (
    ABSENT,
    Commit,
    CommitKind,
    CommitRecord,
    EntityName,
    EntityWrite,
    KeyGivenUp,
    Snapshot,
    StoreConflict,
)

_NOTHING_YET = "nothing was ever written"


class FileStore:
    """One document in one folder."""

    def __init__(self, folder: Path, document_id: str) -> None:
        self._folder = folder
        self._document_id = document_id
        self._log = folder / "log.jsonl"
        self._entities = folder / "entities"
        self._entities.mkdir(parents=True, exist_ok=True)

    @property
    def document_id(self) -> str:
        """Its name."""
        return self._document_id

    def read(self, names: Iterable[EntityName] | None = None) -> Snapshot:
        """The files, as the log says they have to be."""
        with self._locked() as log:
            if names is None:
                paths = sorted(self._entities.glob("*.json"))
            else:
                paths = [self._place(each) for each in sorted(set(names))]
            found = [json.loads(path.read_text()) for path in paths if path.exists()]
        entities = {EntityName(*each["name"]): each["value"] for each in found}
        return Snapshot(_revision(log), entities)

    def commit(self, commit: Commit, check: Any) -> CommitRecord:
        """Writes beside, asks before each, and then the one line that makes it so."""
        with self._locked() as log:
            earlier = _ending(log, commit.key)
            if earlier is not None:
                return earlier
            if _revision(log) != commit.base_revision:
                raise StoreConflict(self._document_id, _revision(log), commit.base_revision)
            for each in commit.writes:
                check()
                self._write_beside(each)
            check()
            line = {
                "key": commit.key,
                "kind": commit.kind.value,
                "commitId": f"line-{len(log) + 1}",
                "revision": commit.revision,
                "writes": [each.to_json() for each in commit.writes],
            }
            self._write_line(line)
            self._make_so([*log, line])
        return _record(line)

    def settle(self, commit: Commit) -> CommitRecord | None:
        """What its line says; else one that gives it up."""
        with self._locked() as log:
            try:
                found = _ending(log, commit.key)
            except KeyGivenUp:
                return None
            if found is None:
                self._write_line({"key": commit.key, "kind": "given-up"})
        return found

    @contextmanager
    def _locked(self) -> Iterator[list[dict[str, Any]]]:
        """The log, alone, after making the files what it says."""
        with (self._folder / "lock").open("a") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            log = self._read_log()
            self._make_so(log)
            yield log

    def _read_log(self) -> list[dict[str, Any]]:
        content = self._log.read_bytes() if self._log.exists() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if whole != content:
            with self._log.open("r+b") as log:
                log.truncate(len(whole))
                os.fsync(log.fileno())
        return [json.loads(line) for line in whole.splitlines()]

    def _write_line(self, line: Mapping[str, Json]) -> None:
        with self._log.open("ab") as log:
            log.write(canonical_json(dict(line)) + b"\n")
            log.flush()
            os.fsync(log.fileno())
        _sync_names(self._folder)

    def _make_so(self, log: list[dict[str, Any]]) -> None:
        """Brings the files to the end of the log."""
        marker = self._folder / "applied"
        done = int(marker.read_text()) if marker.exists() else 0
        if done == len(log):
            return
        for line in log[done:]:
            for each in map(EntityWrite.from_json, line.get("writes", ())):
                if each.after is ABSENT:
                    self._place(each.name).unlink(missing_ok=True)
                else:
                    self._write_beside(each)
                    self._beside(each.name).replace(self._place(each.name))
        _sync_names(self._entities)
        _write_synced(marker.with_suffix(".new"), str(len(log)).encode())
        marker.with_suffix(".new").replace(marker)
        _sync_names(self._folder)

    def _write_beside(self, write: EntityWrite) -> None:
        if write.after is not ABSENT:
            content: Json = {"name": list(write.name), "value": thawed(write.after)}  # type: ignore[arg-type]
            _write_synced(self._beside(write.name), canonical_json(content))

    def _place(self, name: EntityName) -> Path:
        digest = hashlib.sha256(canonical_json(list(name))).hexdigest()
        return self._entities / f"{digest}.json"

    def _beside(self, name: EntityName) -> Path:
        return self._place(name).with_suffix(".new")


def _ending(log: list[dict[str, Any]], key: str) -> CommitRecord | None:
    """What became of a key; raises where it was given up."""
    for line in log:
        if line["key"] == key:
            if line["kind"] == "given-up":
                raise KeyGivenUp(key)
            return _record(line)
    return None


def _record(line: Mapping[str, Any]) -> CommitRecord:
    return CommitRecord(line["key"], CommitKind(line["kind"]), line["commitId"], line["revision"])


def _revision(log: list[dict[str, Any]]) -> str:
    made = [line["revision"] for line in log if "revision" in line]
    return str(made[-1]) if made else _NOTHING_YET


def _write_synced(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def _sync_names(folder: Path) -> None:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)

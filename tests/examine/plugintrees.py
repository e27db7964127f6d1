"""Trees of plugins for tests, and the tree digest a second time, written from the reference page alone."""

import hashlib
import os
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class File:
    """A file of a tree."""

    content: bytes = b"content\n"
    executable: bool = False


@dataclass(frozen=True)
class Link:
    """A link of a tree, by its text."""

    text: str


Spec = Mapping[str, File | Link]


def grow(top: Path, spec: Spec, order: Iterable[str] | None = None) -> Path:
    """Makes a tree, entry by entry in an order."""
    top.mkdir(parents=True, exist_ok=True)
    for path in order or spec:
        entry, place = spec[path], top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(entry, Link):
            place.symlink_to(entry.text)
        else:
            place.write_bytes(entry.content)
            place.chmod(0o755 if entry.executable else 0o644)
    return top


def second_digest(top: Path) -> str:
    """The digest by docs/reference/plugins-lock.md, with nothing of the product."""
    entries = []
    for whole in top.rglob("*"):
        path = os.fsencode(whole.relative_to(top))
        if whole.is_symlink():
            kind, content = b"l", os.readlink(os.fsencode(whole))  # noqa: PTH115 - its very bytes
        elif whole.is_file():
            kind = b"x" if whole.stat().st_mode & 0o100 else b"f"
            content = whole.read_bytes()
        else:
            continue
        entries.append((path, kind + struct.pack(">I", len(path)) + path + _sha(content)))
    entries.sort()
    body = b"".join(encoded for _, encoded in entries)
    return (
        "sha256:"
        + _sha(b"consentry/plugin-tree/v1\n" + struct.pack(">Q", len(entries)) + body).hex()
    )


def _sha(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()

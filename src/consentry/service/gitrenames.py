"""Pairs files that went with files that came, where one is the other under a new name.

Only for reading the answer: powers are compared over all files, whatever they are called. First the
same content, then much the same: at least half of the larger one's bytes, counted in whole lines.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from posixpath import basename
from typing import Final

from consentry.declare.patchbundle import Blob

MOST_COMPARED: Final = 100
"""Of more files than these on one side, only those with the same content are paired."""

_MOST_BYTES: Final = 1 << 20
_ALIKE: Final = 0.5
_FILE_KIND: Final = 3


def paired(gone: Mapping[str, Blob], come: Mapping[str, Blob]) -> dict[str, str]:
    """New paths and the old ones that they had; the same for the same files."""
    gone = {path: blob for path, blob in gone.items() if blob.content}
    come = {path: blob for path, blob in come.items() if blob.content}
    pairs = dict(_same(gone, come))
    taken = set(pairs.values())
    left = {path: blob for path, blob in gone.items() if path not in taken and _is_small(blob)}
    new = {path: blob for path, blob in come.items() if path not in pairs and _is_small(blob)}
    if len(left) <= MOST_COMPARED and len(new) <= MOST_COMPARED:
        pairs |= dict(_alike(left, new))
    return pairs


def _same(gone: Mapping[str, Blob], come: Mapping[str, Blob]) -> Iterator[tuple[str, str]]:
    by_content: dict[tuple[bytes, str], list[str]] = {}
    for path in sorted(gone):
        by_content.setdefault(_kind_and_content(gone[path]), []).append(path)
    for path in sorted(come):
        olds = by_content.get(_kind_and_content(come[path]))
        if olds:
            name = basename(path)
            old = next((each for each in olds if basename(each) == name), olds[0])
            olds.remove(old)
            yield path, old


def _kind_and_content(blob: Blob) -> tuple[bytes, str]:
    return blob.content, blob.mode[:_FILE_KIND]


def _is_small(blob: Blob) -> bool:
    return len(blob.content) <= _MOST_BYTES


def _alike(gone: Mapping[str, Blob], come: Mapping[str, Blob]) -> Iterator[tuple[str, str]]:
    old_lines = {path: _lines(blob) for path, blob in gone.items()}
    scores: list[tuple[float, str, str]] = []
    for new, blob in come.items():
        lines = _lines(blob)
        for old, others in old_lines.items():
            larger = max(len(blob.content), len(gone[old].content))
            if blob.mode[:_FILE_KIND] != gone[old].mode[:_FILE_KIND]:
                continue
            # What cannot reach the bound by its size alone is not compared.
            if min(len(blob.content), len(gone[old].content)) < _ALIKE * larger:
                continue
            shared = sum(len(line) * min(n, others[line]) for line, n in lines.items())
            if shared >= _ALIKE * larger:
                scores.append((-shared / larger, new, old))
    news: set[str] = set()
    olds: set[str] = set()
    for _, new, old in sorted(scores):
        if new not in news and old not in olds:
            news.add(new)
            olds.add(old)
            yield new, old


def _lines(blob: Blob) -> Counter[bytes]:
    return Counter(blob.content.splitlines(keepends=True))

"""A patch bundle as values: a proposed change, handed over whole (GUARD §in-patch, CONTRACTS §12-bundle).

The diff, the paths that it touches, the dependencies that it brings, and blobs by path as they were
before and are after. Paths are text in which a byte that is not UTF-8 is a lone surrogate, as file
names are in Python.

A bundle that cannot be read is no bad document but a change that nobody knows: whatever is wrong
raises `BundleIncomplete`, which the guard answers with `UNKNOWN`. Whether the parts fit each other is
not looked at here.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final

from consentry.base.values import dataclass, field

PLAIN_MODE: Final = "100644"
BLOB_MODES: Final = (PLAIN_MODE, "100755", "120000", "160000")

MOST_PATHS: Final = 20_000
MOST_PATH_BYTES: Final = 4096
MOST_BLOB: Final = 64 << 20
MOST_TOGETHER: Final = 256 << 20
"""All blobs of a bundle together, in bytes."""
MOST_DEPENDENCIES: Final = 10_000
MOST_DEPENDENCY: Final = 1000


class BundleIncomplete(Exception):
    """A bundle from which the change cannot be known; `path` is what it is about, where it is one file."""

    def __init__(self, reason: str, path: str | None = None) -> None:
        super().__init__(reason if path is None else f"`{path}`: {reason}")
        self.reason = reason
        self.path = path


@dataclass(frozen=True, slots=True)
class Blob:
    """A file: its bytes, the target of a link, or the line that names a submodule's commit."""

    content: bytes
    mode: str = PLAIN_MODE


_NO_BLOBS: Final[Mapping[str, Blob]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class PatchBundle:
    """A proposed change; without a diff it is incomplete, and the guard says so."""

    diff: bytes | None
    touched_paths: tuple[str, ...]
    new_deps: tuple[str, ...] = ()
    base: Mapping[str, Blob] = field(default=_NO_BLOBS)
    after: Mapping[str, Blob] = field(default=_NO_BLOBS)


def bundle_from_parts(
    *,
    diff: bytes | None,
    touched_paths: Iterable[str],
    new_deps: Iterable[str] = (),
    base: Mapping[str, Blob] = _NO_BLOBS,
    after: Mapping[str, Blob] = _NO_BLOBS,
) -> PatchBundle:
    """A bundle of these parts, each checked by itself; raises `BundleIncomplete`."""
    touched = tuple(touched_paths)
    for paths in (touched, base, after):
        if len(paths) > MOST_PATHS:
            raise BundleIncomplete(f"there are more than {MOST_PATHS:,} paths")
        for path in paths:
            check_path(path)
    if len(set(touched)) != len(touched):
        raise BundleIncomplete("`touched_paths` has a path twice")
    _check_blobs({**base}, {**after})
    return PatchBundle(diff, touched, _dependencies(new_deps), {**base}, {**after})


def check_path(path: str) -> None:
    """Raises unless it is a path inside a tree, from its top."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise BundleIncomplete("a path has half of a surrogate pair in it", path) from None
    if len(raw) > MOST_PATH_BYTES:
        raise BundleIncomplete(f"a path has more than {MOST_PATH_BYTES:,} bytes", f"{path[:80]}…")
    if b"\0" in raw or any(part in (b"", b".", b"..") for part in raw.split(b"/")):
        raise BundleIncomplete("a path is empty, absolute, or has `.` or `..` in it", path)


def _check_blobs(*sides: Mapping[str, Blob]) -> None:
    together = 0
    for side in sides:
        for path, blob in side.items():
            together += len(blob.content)
            if blob.mode not in BLOB_MODES:
                raise BundleIncomplete(f"`{blob.mode}` is not the mode of a file", path)
            if len(blob.content) > MOST_BLOB:
                raise BundleIncomplete(f"it has more than {MOST_BLOB:,} bytes", path)
            if together > MOST_TOGETHER:
                raise BundleIncomplete(f"the blobs have more than {MOST_TOGETHER:,} bytes together")


def _dependencies(given: Iterable[str]) -> tuple[str, ...]:
    found = tuple(dict.fromkeys(given))
    if len(found) > MOST_DEPENDENCIES:
        raise BundleIncomplete(f"there are more than {MOST_DEPENDENCIES:,} new dependencies")
    for each in found:
        if not each.strip() or len(each) > MOST_DEPENDENCY or not each.isprintable():
            raise BundleIncomplete("`new_deps` has an entry that names no dependency")
    return found

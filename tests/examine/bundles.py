"""Bundles of trees whose difference git itself wrote."""

from consentry.declare.patchbundle import Blob, PatchBundle, bundle_from_parts
from tests.examine.diff.gitdiffs import Entry, Repository, Tree


def blobs_of(tree: Tree) -> dict[str, Blob]:
    """The blobs of a tree by their paths."""
    return {text_of(path): Blob(each.content, each.mode) for path, each in tree.items()}


def text_of(path: bytes) -> str:
    """A path as bundles have it."""
    return path.decode("utf-8", "surrogateescape")


def touched(before: Tree, after: Tree) -> list[str]:
    """The paths at which two trees differ."""
    paths = sorted(before.keys() | after.keys())
    return [text_of(path) for path in paths if before.get(path) != after.get(path)]


def bundle_of(repository: Repository, before: Tree, after: Tree, *options: str) -> PatchBundle:
    """A bundle with everything in it."""
    return bundle_from_parts(
        diff=repository.diff(before, after, "-M", *options),
        touched_paths=touched(before, after),
        base=blobs_of(before),
        after=blobs_of(after),
    )


def line_of(entry: Entry | None) -> bytes | None:
    """The content of an entry as images have it."""
    if entry is None:
        return None
    return b"Subproject commit %s\n" % entry.content if entry.mode == "160000" else entry.content

"""What the files of a patch were and become, in whole: from a bundle whose parts fit each other.

Each touched file is there before and after as a whole, because what a line does depends on the rest
of its file. The two contents come from the blobs of the bundle, or one of them from the other by the
diff; where both are there, the diff must lead from one to the other exactly. A file that comes or
goes, a link and a submodule may stand in the diff alone.

Rules kept, each by raising `BundleIncomplete`: the diff and `touched_paths` name the same files; what
the diff was cut off from would be missed. The last file of a diff without a signature needs more than
to be read, for its next hunk may be what was cut: both blobs, or an id in the diff that is that of the
result, or a last hunk that ends with the file.

What this cannot see: a diff cut between the two halves of a file that becomes a link looks like one
that deletes it, unless the blob `after` is there. And blobs that nobody changed are believed.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from consentry.base.values import dataclass
from consentry.declare.patchbundle import PLAIN_MODE, Blob, BundleIncomplete, PatchBundle
from consentry.examine.diff.changes import (
    ChangeKind,
    DiffIncomplete,
    ParsedDiff,
    sort_of,
)
from consentry.examine.diff.parsing import parse_diff
from consentry.examine.imagecontents import Given, contents_of

MOST_TOGETHER: Final = 512 << 20
"""All contents before and after together, in bytes."""


@dataclass(frozen=True, slots=True)
class ImageChange:
    """A file before and after; one that was copied only comes, since its source stays as it is."""

    path_before: str | None
    path_after: str | None
    before: Blob | None
    after: Blob | None


@dataclass(frozen=True, slots=True)
class PatchImages:
    """All that a patch touches, and the files around it that the bundle has.

    What is in `context_before` and untouched is in `context_after`, too; the other way round only
    where the bundle has it on both sides.
    """

    changes: tuple[ImageChange, ...]
    context_before: Mapping[str, Blob]
    context_after: Mapping[str, Blob]
    new_deps: tuple[str, ...] = ()


def images_of(bundle: PatchBundle) -> PatchImages:
    """The images of every file that a bundle touches; raises `BundleIncomplete`."""
    if bundle.diff is None:
        raise BundleIncomplete("`patch.diff` is missing")
    try:
        parsed = parse_diff(bundle.diff)
    except DiffIncomplete as problem:
        message = f"`patch.diff`, line {problem.line}: {problem.reason}"
        raise BundleIncomplete(message) from None
    _check_touched(bundle, parsed)
    gone, come = _names(parsed)
    _check_places(bundle, gone, come)
    changes = tuple(_joined(list(_images(bundle, parsed))))
    touched = gone | come
    context = {path: blob for path, blob in bundle.base.items() if path not in touched}
    around = {path: blob for path, blob in bundle.after.items() if path not in touched}
    for path in sorted(context.keys() & around.keys()):
        if context[path] != around[path]:
            raise BundleIncomplete(
                "it differs before and after, and the diff does not touch it", path
            )
    return PatchImages(changes, context, context | around, bundle.new_deps)


def _check_touched(bundle: PatchBundle, parsed: ParsedDiff) -> None:
    needed: set[str] = set()
    allowed: set[str] = set()
    for change in parsed.changes:
        old, new = _text(change.old_path), _text(change.new_path)
        needed.add(new or old or "")
        allowed |= {each for each in (old, new) if each is not None}
    touched = set(bundle.touched_paths)
    for path in sorted(touched - allowed):
        raise BundleIncomplete("it is touched, and the diff does not have it", path)
    for path in sorted(needed - touched):
        raise BundleIncomplete("the diff has it, and `touched_paths` does not", path)


def _names(parsed: ParsedDiff) -> tuple[set[str], set[str]]:
    """The paths that have a content before, and after, by what the diff says; copies only come."""
    gone = {_text(each.old_path) for each in parsed.changes if each.kind is not ChangeKind.COPIED}
    come = {_text(each.new_path) for each in parsed.changes}
    return {each for each in gone if each is not None}, {each for each in come if each is not None}


def _check_places(bundle: PatchBundle, gone: set[str], come: set[str]) -> None:
    for path in sorted((come - gone) & bundle.base.keys()):
        raise BundleIncomplete("the diff says that it is new, and `base` has it", path)
    for path in sorted((gone - come) & bundle.after.keys()):
        raise BundleIncomplete("the diff says that it goes, and `after` has it", path)


def _images(bundle: PatchBundle, parsed: ParsedDiff) -> Iterator[ImageChange]:
    together = 0
    last = len(parsed.changes) - 1
    for number, change in enumerate(parsed.changes):
        old, new = _text(change.old_path), _text(change.new_path)
        base = None if old is None else bundle.base.get(old)
        after = None if new is None else bundle.after.get(new)
        path = new or old or ""
        before_mode = _mode(change.old_mode, base, path)
        after_mode = _mode(change.new_mode, after, path, otherwise=before_mode)
        given = Given(
            None if base is None else base.content,
            None if after is None else after.content,
            is_last=number == last and not parsed.is_signed,
            sort=sort_of(after_mode if old is None else before_mode) or PLAIN_MODE,
        )
        was, becomes = contents_of(change, given, path)
        together += len(was or b"") + len(becomes or b"")
        if together > MOST_TOGETHER:
            raise BundleIncomplete(f"the files have more than {MOST_TOGETHER:,} bytes together")
        before = None if was is None else Blob(was, before_mode)
        becoming = None if becomes is None else Blob(becomes, after_mode)
        if change.kind is ChangeKind.COPIED:
            old, before = None, None
        yield ImageChange(old, new, before, becoming)


def _mode(said: str | None, blob: Blob | None, path: str, *, otherwise: str = PLAIN_MODE) -> str:
    """The diff's word where it has one; the bit that makes a file executable is easily lost on blobs."""
    if said is None or blob is None:
        return said or (otherwise if blob is None else blob.mode)
    if sort_of(said) != sort_of(blob.mode) or blob.mode not in (PLAIN_MODE, said):
        raise BundleIncomplete(f"it is {blob.mode}, and the diff says {said}", path)
    return said


def _joined(changes: list[ImageChange]) -> Iterator[ImageChange]:
    """The two halves of a file that becomes another sort of file as one change."""
    at = {each.path_after: each for each in changes if each.path_before is None}
    joined: set[str] = set()
    for change in changes:
        other = None
        if change.path_after is None and change.path_before is not None:
            other = at.get(change.path_before)
        if other is not None and change.path_before is not None:
            joined.add(change.path_before)
            yield ImageChange(change.path_before, other.path_after, change.before, other.after)
        elif change.path_before is not None or change.path_after not in joined:
            yield change


def _text(path: bytes | None) -> str | None:
    return None if path is None else path.decode("utf-8", "surrogateescape")

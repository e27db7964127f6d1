"""GUARD T5: a diff cut anywhere, at any byte, is incomplete; real diffs, each cut at every byte."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.values import replace
from consentry.declare.patchbundle import BundleIncomplete, PatchBundle
from consentry.examine.images import images_of
from tests.examine.bundles import blobs_of, bundle_of, touched
from tests.examine.diff.gitdiffs import Entry, Repository, Tree, new_repository
from tests.examine.diff.samples import AFTER, BEFORE, LINES

REORDERED = b"".join(LINES.splitlines(keepends=True)[30:] + LINES.splitlines(keepends=True)[:30])
ONE_BY_ONE = sorted((BEFORE.keys() | AFTER.keys()) - {b"untouched"})
OTHER = {b"other": Entry(b"other\n")}
PAIRS: dict[str, tuple[Tree, Tree]] = {
    "all samples": (BEFORE, AFTER),
    **{
        name.decode(errors="replace"): (
            OTHER | ({name: BEFORE[name]} if name in BEFORE else {}),
            OTHER | ({name: AFTER[name]} if name in AFTER else {}),
        )
        for name in ONE_BY_ONE
    },
    "reordered": ({b"a": Entry(LINES)}, {b"b": Entry(REORDERED)}),
    "renamed": ({b"a": Entry(LINES)}, {b"b": Entry(LINES)}),
    "renamed and changed": ({b"a": Entry(LINES)}, {b"b": Entry(LINES + b"x\n", "100755")}),
}
# Cut between its halves it looks like a file that goes, unless one has what it becomes.
NEED_AFTER = {"turned", "all samples"}
# Nothing but the blobs shows that no content follows.
ONLY_A_HEADER = {"script.sh", "renamed"}


def cuts(bundle: PatchBundle) -> Iterator[PatchBundle]:
    """The bundle with its diff cut at every byte; that of a large one at every line and around."""
    assert bundle.diff is not None
    size = len(bundle.diff)
    ends = {at + 1 for at in range(size) if bundle.diff[at] == ord("\n")}
    places = range(size) if size < 2000 else sorted({at + off for at in ends for off in (-1, 0, 1)})
    for place in places:
        if place < size:
            yield replace(bundle, diff=bundle.diff[:place])


def is_complete(bundle: PatchBundle) -> bool:
    """Whether the change is taken for known."""
    try:
        images_of(bundle)
    except BundleIncomplete:
        return False
    return True


@pytest.mark.parametrize("name", PAIRS)
def test_cut_anywhere_with_all_blobs(tmp_path: Path, name: str) -> None:
    """Whatever is left of it."""
    bundle = bundle_of(new_repository(tmp_path), *PAIRS[name])
    assert is_complete(bundle)
    assert [each.diff for each in cuts(bundle) if is_complete(each)] == []


@pytest.mark.parametrize("name", sorted(PAIRS.keys() - NEED_AFTER))
@pytest.mark.parametrize("side", ["base", "after", "neither"])
def test_cut_anywhere_with_one_side_or_none(tmp_path: Path, name: str, side: str) -> None:
    """The ids in the diff show what the other blobs would have shown."""
    bundle = bundle_of(new_repository(tmp_path), *PAIRS[name])
    if side != "base":
        bundle = replace(bundle, base={})
    if side != "after":
        bundle = replace(bundle, after={})
    assert is_complete(bundle) or side == "neither" or name in ONLY_A_HEADER
    assert [each.diff for each in cuts(bundle) if is_complete(each)] == []


def mailed(repository: Repository, before: Tree, after: Tree) -> PatchBundle:
    """A bundle whose diff is a commit mail."""
    text = repository.mail(before, after)
    return PatchBundle(text, tuple(touched(before, after)), (), blobs_of(before), blobs_of(after))


def test_a_mail_cut_anywhere(tmp_path: Path) -> None:
    """Cut just before or behind its signature it is whole; the signature says nothing of the change."""
    bundle = mailed(new_repository(tmp_path), {b"x": Entry(b"1\n")}, {b"x": Entry(b"2\n")})
    assert bundle.diff is not None
    whole = [len(each.diff or b"") for each in cuts(bundle) if is_complete(each)]
    signature = bundle.diff.index(b"-- \n2.")
    assert whole == [signature, bundle.diff.index(b"\n", signature + 4) + 1]


def test_a_line_left_out_anywhere(tmp_path: Path) -> None:
    """Every line of a diff counts, but for those that say how alike two files are."""
    pair = PAIRS["renamed and changed"]
    bundle = bundle_of(new_repository(tmp_path), *pair)
    assert bundle.diff is not None
    lines = bundle.diff.splitlines(keepends=True)
    kept = [
        lines[at]
        for at in range(len(lines))
        if is_complete(replace(bundle, diff=b"".join(lines[:at] + lines[at + 1 :])))
    ]
    assert [line.split(b" ")[0] for line in kept] == [b"index"]

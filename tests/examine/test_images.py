"""Whole files before and after, from bundles whose parts fit; everything else is incomplete (GUARD T5)."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from consentry.base.values import replace
from consentry.declare.patchbundle import Blob, BundleIncomplete, PatchBundle, bundle_from_parts
from consentry.examine.images import ImageChange, PatchImages, images_of
from tests.examine.bundles import blobs_of, bundle_of, line_of, text_of
from tests.examine.diff.gitdiffs import WITHOUT_BINARY, Entry, Tree, new_repository
from tests.examine.diff.samples import AFTER, BEFORE, LINES

TEN = b"".join(b"%d\n" % number for number in range(1, 31))
EDITED = TEN.replace(b"3\n", b"three\n", 1).replace(b"28\n", b"")
PLAIN = "--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@\n-1\n+one\n 2\n 3\n"


def given(
    diff: bytes | str | None,
    *,
    touched: Iterable[str] = ("x",),
    base: dict[str, bytes] | None = None,
    after: dict[str, bytes] | None = None,
) -> PatchBundle:
    """A bundle of plain files."""
    return bundle_from_parts(
        diff=diff.encode() if isinstance(diff, str) else diff,
        touched_paths=touched,
        base={path: Blob(content) for path, content in (base or {}).items()},
        after={path: Blob(content) for path, content in (after or {}).items()},
    )


def incomplete(bundle: PatchBundle) -> str:
    """Why the change cannot be known."""
    with pytest.raises(BundleIncomplete) as caught:
        images_of(bundle)
    return str(caught.value)


def check_samples(images: PatchImages, before: Tree, after: Tree) -> None:
    """Asserts that every image is what the trees have."""
    assert images.changes
    for change in images.changes:
        for path, blob, tree in (
            (change.path_before, change.before, before),
            (change.path_after, change.after, after),
        ):
            assert (path is None) == (blob is None)
            if path is not None and blob is not None:
                entry = tree[path.encode("utf-8", "surrogateescape")]
                assert (blob.content, blob.mode) == (line_of(entry), entry.mode)


@pytest.mark.parametrize("options", [(), ("--full-index",), ("-U0",), ("-U10",)])
def test_every_sample_with_all_blobs(tmp_path: Path, options: tuple[str, ...]) -> None:
    """Every construct of a diff: whole before and after, with the mode that it has."""
    images = images_of(bundle_of(new_repository(tmp_path), BEFORE, AFTER, *options))
    check_samples(images, BEFORE, AFTER)
    assert ImageChange("turned", "turned", Blob(b"a file\n"), Blob(b"a link", "120000")) in images.changes  # fmt: skip
    renamed = [each for each in images.changes if each.path_before != each.path_after]
    assert ("old name.py", "new name.py") in [(each.path_before, each.path_after) for each in renamed]  # fmt: skip
    assert images.context_before == images.context_after == {"untouched": Blob(b"the same\n")}


def test_one_side_is_made_from_the_other(tmp_path: Path) -> None:
    """With `base` alone the diff is applied, with `after` alone it is taken back."""
    bundle = bundle_of(new_repository(tmp_path), BEFORE, AFTER)
    only_base = replace(bundle, after={})
    only_after = replace(bundle, base={})
    check_samples(images_of(only_base), BEFORE, AFTER)
    check_samples(images_of(only_after), BEFORE, AFTER)


def test_a_diff_that_holds_its_files_whole_needs_no_blobs(tmp_path: Path) -> None:
    """Files that come and go, links, submodules, binaries that come."""
    names = (b"deleted.py", b"added.py", b"link", b"turned", b"sub", b"empty-come", b"come.png", b"no-newline")  # fmt: skip
    before = {name: BEFORE[name] for name in names if name in BEFORE and name != b"no-newline"}
    after = {name: AFTER[name] for name in names if name in AFTER and name != b"no-newline"}
    before[b"all"], after[b"all"] = Entry(b"one\ntwo"), Entry(b"one\nthree")
    bundle = replace(bundle_of(new_repository(tmp_path), before, after), base={}, after={})
    check_samples(images_of(bundle), before, after)


def test_a_part_of_a_file_is_not_the_file() -> None:
    """Without a blob nobody knows the rest of it."""
    assert "neither `base` nor `after` has it" in incomplete(given(PLAIN))


def test_the_diff_leads_from_the_one_to_the_other() -> None:
    """A blob that it does not lead to was not made by this patch."""
    base, after = {"x": b"1\n2\n3\n"}, {"x": b"one\n2\n3\n"}
    assert len(images_of(given(PLAIN, base=base, after=after)).changes) == 1
    assert "does not lead to what `after` has" in incomplete(
        given(PLAIN, base=base, after={"x": b"one\n2\n3\nimport socket\n"})
    )
    assert "are not what the diff says" in incomplete(given(PLAIN, base={"x": b"1\n2\n4\n"}))
    assert "are not what the diff says" in incomplete(given(PLAIN, after={"x": b"1\n2\n3\n"}))


def test_touched_paths_are_those_of_the_diff() -> None:
    """GUARD T5: a diff that lacks a file was cut between two; one that has more is another diff."""
    base = {"x": b"1\n2\n3\n"}
    assert incomplete(given(PLAIN, touched=("x", "y"), base=base)).startswith("`y`: it is touched")
    assert incomplete(given(PLAIN, touched=(), base=base)).startswith("`x`: the diff has it")


def test_a_rename_may_be_listed_by_its_new_name_alone(tmp_path: Path) -> None:
    """Or by both; not by the old one."""
    before, after = {b"a": Entry(LINES)}, {b"b": Entry(LINES)}
    bundle = bundle_of(new_repository(tmp_path), before, after)
    assert bundle.touched_paths == ("a", "b")
    for touched in (("a", "b"), ("b",)):
        [change] = images_of(replace(bundle, touched_paths=touched)).changes
        assert (change.path_before, change.path_after) == ("a", "b")
    assert "the diff has it" in incomplete(replace(bundle, touched_paths=("a",)))


def test_a_copy_comes_and_its_source_stays(tmp_path: Path) -> None:
    """Saying that a file was copied hides nothing: it is new, whatever it was made from."""
    before, after = {b"a": Entry(LINES)}, {b"a": Entry(LINES), b"b": Entry(LINES + b"x\n")}
    text = new_repository(tmp_path).diff(before, after, "-C", "--find-copies-harder")
    assert b"copy from a" in text
    bundle = PatchBundle(text, ("b",), (), blobs_of(before), blobs_of(after))
    images = images_of(bundle)
    assert images.changes == (ImageChange(None, "b", None, Blob(LINES + b"x\n")),)
    assert images.context_before.keys() == images.context_after.keys() == {"a"}


def test_what_comes_was_not_there(tmp_path: Path) -> None:
    """A bundle that contradicts its diff is no bundle."""
    bundle = bundle_of(new_repository(tmp_path), {b"a": Entry(b"a\n")}, {b"b": Entry(b"b\n")})
    assert "`base` has it" in incomplete(replace(bundle, base={**bundle.base, "b": Blob(b"")}))
    assert "`after` has it" in incomplete(replace(bundle, after={**bundle.after, "a": Blob(b"")}))


def test_what_is_not_touched_is_the_same_on_both_sides() -> None:
    """A file that differs, and that the diff does not have, was hidden from it."""
    base, after = {"x": b"1\n2\n3\n", "y": b"a"}, {"x": b"one\n2\n3\n", "y": b"b"}
    assert incomplete(given(PLAIN, base=base, after=after)) == (
        "`y`: it differs before and after, and the diff does not touch it"
    )


def test_what_is_only_after_is_not_taken_for_something_that_was_there_before() -> None:
    """What is only before, and untouched, is there after as well."""
    base, after = {"x": b"1\n2\n3\n", "y": b"y"}, {"x": b"one\n2\n3\n", "z": b"z"}
    images = images_of(given(PLAIN, base=base, after=after))
    assert set(images.context_before) == {"y"}
    assert set(images.context_after) == {"y", "z"}


def test_a_missing_or_empty_diff() -> None:
    """GUARD T5: missing."""
    assert incomplete(given(None)) == "`patch.diff` is missing"
    assert incomplete(given(b"")) == "`patch.diff`, line 1: the diff is empty"


@pytest.mark.parametrize("mode", ["120000", "160000", "100755"])
def test_a_blob_has_the_mode_of_the_diff(tmp_path: Path, mode: str) -> None:
    """A link that is said to be a file, or the other way round, does not fit; a lost bit does."""
    bundle = bundle_of(new_repository(tmp_path), {b"x": Entry(b"1\n")}, {b"x": Entry(b"2\n")})
    wrong = replace(bundle, after={"x": Blob(b"2\n", mode)})
    assert "and the diff says 100644" in incomplete(wrong)
    script = bundle_of(
        new_repository(tmp_path),
        {b"x": Entry(b"1\n", "100755")},
        {b"x": Entry(b"2\n", "100755")},
    )
    [change] = images_of(replace(script, after={"x": Blob(b"2\n")})).changes
    assert change.after == Blob(b"2\n", "100755")


def test_a_change_of_mode_is_made_from_one_side_when_something_follows_it(tmp_path: Path) -> None:
    """At the end of a diff it may be the beginning of more."""
    before: Tree = {b"a": Entry(b"1\n"), b"b": Entry(b"1\n")}
    after: Tree = {b"a": Entry(b"1\n", "100755"), b"b": Entry(b"2\n")}
    repository = new_repository(tmp_path)
    only_base = replace(bundle_of(repository, before, after), after={})
    assert images_of(only_base).changes[0].after == Blob(b"1\n", "100755")
    alone = bundle_of(repository, {b"a": before[b"a"]}, {b"a": after[b"a"]})
    assert images_of(alone).changes[0].after == Blob(b"1\n", "100755")
    assert "may have been cut off behind it" in incomplete(replace(alone, after={}))


def test_the_last_file_needs_more_than_to_be_read() -> None:
    """Its next hunk may have been cut off: `after`, an id, or the end of the file shows that not."""
    base = {"x": TEN}
    assert "may have been cut" in incomplete(given(PLAIN, base=base))
    after = {"x": TEN.replace(b"1\n", b"one\n", 1)}
    assert len(images_of(given(PLAIN, base=base, after=after)).changes) == 1
    assert len(images_of(given(PLAIN + "-- \n2.39.5\n\n", base=base)).changes) == 1
    assert len(images_of(given(PLAIN, base={"x": b"1\n2\n3\n"})).changes) == 1


def test_an_id_that_is_not_that_of_the_result(tmp_path: Path) -> None:
    """With one side alone the diff must make what it names; with both it is shown by them."""
    bundle = bundle_of(new_repository(tmp_path), {b"x": Entry(TEN)}, {b"x": Entry(EDITED)})
    assert bundle.diff is not None
    second = bundle.diff.index(b"@@ -25")
    cut = replace(bundle, diff=bundle.diff[:second])
    assert "does not lead to what `after` has" in incomplete(cut)
    for one_side in (replace(cut, after={}), replace(cut, base={})):
        assert incomplete(one_side)
    invented = bundle.diff.replace(bundle.diff.split(b"\n")[1], b"index 1234567..89abcde 100644")
    assert len(images_of(replace(bundle, diff=invented)).changes) == 1
    assert "another content" in incomplete(replace(bundle, diff=invented, after={}))


def test_binaries_without_content_need_both_blobs(tmp_path: Path) -> None:
    """And those that the diff names."""
    before, after = {b"x": Entry(b"\0a")}, {b"x": Entry(b"\0b")}
    text = new_repository(tmp_path).diff(before, after, contents=WITHOUT_BINARY)
    bundle = PatchBundle(text, ("x",), (), blobs_of(before), blobs_of(after))
    check_samples(images_of(bundle), before, after)
    for lacking in (replace(bundle, base={}), replace(bundle, after={})):
        assert "no blob is the one that it names" in incomplete(lacking)
    assert "no blob is the one" in incomplete(replace(bundle, after={"x": Blob(b"\0c")}))


def test_a_submodule_is_a_commit(tmp_path: Path) -> None:
    """With whatever words around its id; with changes of its own it is none."""
    before = {b"sub": BEFORE[b"sub"]}
    bundle = bundle_of(new_repository(tmp_path), before, {b"sub": AFTER[b"sub"]})
    check_samples(images_of(bundle), before, {b"sub": AFTER[b"sub"]})
    odd = replace(bundle, base={"sub": Blob(b"main", "160000")})
    assert "a submodule is the id of a commit" in incomplete(odd)
    assert bundle.diff is not None
    dirty = bundle.diff.replace(b"2" * 40 + b"\n", b"2" * 40 + b"-dirty\n")
    assert "something else than a commit" in incomplete(PatchBundle(dirty, ("sub",)))


def test_a_target_of_a_link_has_no_newline() -> None:
    """One that has was probably cut before the remark."""
    text = (
        "diff --git a/x b/x\nnew file mode 120000\nindex 0000000..1234567\n"
        "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+/etc/passwd\n"
    )
    assert "as if the diff was cut" in incomplete(given(text))


def test_names_that_are_not_utf8(tmp_path: Path) -> None:
    """A byte that is no text is a lone surrogate, on all sides alike."""
    name = b"x-\xff.py"
    bundle = bundle_of(new_repository(tmp_path), {name: Entry(b"1\n")}, {name: Entry(b"2\n")})
    [change] = images_of(bundle).changes
    assert change.path_after == text_of(name) == "x-\udcff.py"


def test_a_repository_with_longer_ids(tmp_path: Path) -> None:
    """Git has two kinds of ids; a diff does not say which, and either shows a content."""
    repository = new_repository(tmp_path, "--object-format=sha256")
    bundle = bundle_of(repository, {b"x": Entry(TEN)}, {b"x": Entry(EDITED)}, "--full-index")
    assert bundle.diff is not None
    assert len(bundle.diff.split(b"\n")[1]) > 2 * 64
    check_samples(images_of(replace(bundle, after={})), {b"x": Entry(TEN)}, {b"x": Entry(EDITED)})

"""Whatever bytes come: a diff, or the one refusal; never a crash, a hang, or garbage that is taken."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.patchbundle import Blob, BundleIncomplete, PatchBundle
from consentry.examine.diff.changes import DiffIncomplete, ParsedDiff
from consentry.examine.diff.parsing import parse_diff
from consentry.examine.images import images_of
from tests.examine.bundles import bundle_of
from tests.examine.diff.gitdiffs import new_repository
from tests.examine.diff.samples import AFTER, BEFORE

PIECES = st.sampled_from(
    [
        b"diff --git a/x b/x\n", b"diff --git a/y b/y\n", b'diff --git "a/\\t" "b/\\t"\n', b"diff --cc x\n",
        b"old mode 100644\n", b"new mode 100755\n", b"new file mode 100644\n", b"deleted file mode 100644\n",
        b"similarity index 100%\n", b"rename from x\n", b"rename to y\n", b"copy from x\n", b"copy to y\n",
        b"index 0000000..e69de29\n", b"index 1234567..89abcde 100644\n", b"--- a/x\n", b"+++ b/x\n",
        b"--- /dev/null\n", b"+++ /dev/null\n", b"@@ -1 +1 @@\n", b"@@ -0,0 +1,2 @@\n", b"@@ -9,2 +9 @@ f\n",
        b"-a\n", b"+b\n", b" c\n", b"\n", b"\\ No newline at end of file\n", b"-- \n", b"2.39.5\n",
        b"GIT binary patch\n", b"literal 0\nHcmV?d00001\n\n", b"delta 5\n", b"Binary files a/x and b/x differ\n",
        b"Subject: x\n", b"\xff", b"\r\n",
    ]
)  # fmt: skip


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> PatchBundle:
    """A bundle with everything in it."""
    return bundle_of(new_repository(tmp_path_factory.mktemp("real")), BEFORE, AFTER)


def read(content: bytes) -> ParsedDiff | None:
    """The diff, or nothing where it is refused."""
    try:
        return parse_diff(content)
    except DiffIncomplete as problem:
        assert problem.reason  # noqa: PT017 - every refusal says why
        assert 0 < problem.line <= content.count(b"\n") + 2  # noqa: PT017 - and where
        return None


@given(st.binary(max_size=300))
def test_any_bytes(content: bytes) -> None:
    """No random bytes are a diff."""
    assert read(content) is None


@given(st.lists(PIECES, max_size=14))
def test_pieces_in_any_order(pieces: list[bytes]) -> None:
    """What is taken has files, and each changes something."""
    found = read(b"".join(pieces))
    if found is not None:
        assert found.changes
        for change in found.changes:
            has_content = bool(change.hunks) or change.is_binary
            assert has_content or change.kind in ("mode", "added", "deleted", "renamed", "copied")
            assert all(hunk.old != hunk.new for hunk in change.hunks)


@given(st.data())
def test_a_real_diff_that_was_damaged(real: PatchBundle, data: st.DataObject) -> None:
    """Bytes changed, dropped, doubled: refused, or it still leads from `base` to `after`."""
    content = bytearray(real.diff or b"")
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        match data.draw(st.integers(0, 3)):
            case 0:
                content[at] = data.draw(st.integers(0, 255))
            case 1:
                del content[at : at + data.draw(st.integers(1, 60))]
            case 2:
                content[at:at] = content[at : at + 40]
            case _:
                content[at:at] = data.draw(PIECES)
    damaged = PatchBundle(bytes(content), real.touched_paths, (), real.base, real.after)
    try:
        images = images_of(damaged)
    except BundleIncomplete as problem:
        assert problem.reason  # noqa: PT017 - every refusal says why
        return
    assert images == images_of(real)


@pytest.mark.parametrize(
    "content",
    [
        b"diff --git a/x b/x\n" * 30_000,
        b"--- a/x\n" * 30_000,
        b"--- a/x\n+++ b/x\n@@ -1,9999999999 +1,9999999999 @@\n" + b" x\n" * 100_000,
        b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n" + b"-" * 5_000_000,
        b'diff --git "a/' + b"\\303" * 500_000 + b"\n",
        b'diff --git "a/' + b"\\" * 500_000 + b"\n",
        b"diff --git a/x b/x\nBinary files " + b" and " * 300_000 + b" differ\n",
        b"Subject: x\n" * 300_000,
    ],
)
def test_much_of_the_same(content: bytes) -> None:
    """Nothing grows faster than the input; the time-out of the tests is the witness."""
    assert read(content) is None


def test_an_empty_file_that_comes() -> None:
    """The least that is a diff; the same with a name that no file can have is none."""
    added = b"diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n"
    assert images_of(PatchBundle(added, ("x",))).changes[0].after == Blob(b"")
    assert read(added.replace(b"a/x b/x", b'"a/\\000" "b/\\000"')) is None

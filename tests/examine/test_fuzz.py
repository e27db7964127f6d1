"""Fuzzing of the whole guard: source, diffs, wishes and bundles, from bytes to the verdict.

No input raises anything but the refusal that its document has, none keeps the guard, and none that
nobody could judge passes. Two oracles are independent of the guard: Python's own parser says what is
source, and a power that is put behind any source is still there. A hang is what the limit of a test
ends.
"""

import ast
import json
from base64 import b64encode
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consentry.base.canonical import canonical_json
from consentry.base.errors import BadInput
from consentry.base.values import dataclass, replace
from consentry.declare.patchbundle import Blob, BundleIncomplete, PatchBundle
from consentry.declare.patchbundlefile import read_bundle_json
from consentry.declare.wish import Wish
from consentry.declare.wishfile import read_wish
from consentry.examine.guard import Flags
from consentry.examine.verdict import Status, Verdict
from consentry.service.extracting import Extractor
from consentry.service.guarding import BlobTree, Change, Terms, change_of_bundle, check_change
from tests.examine.bundles import bundle_of
from tests.examine.damagedsource import REPEATED, SOURCE, SOURCES, damaged, tree_of
from tests.examine.diff.gitdiffs import Entry, new_repository

POWER = (b"import subprocess as zq", b"zq.run(['zq'])")


@dataclass(frozen=True, slots=True)
class OneFile:
    """The only file of a change."""

    path_before: str | None
    path_after: str | None
    before: Blob | None
    after: Blob | None


def judged(
    after: bytes, before: bytes | None = None, *, path: str = "a.py", wish: Wish | None = None
) -> Verdict:
    """The verdict on a change of one file; the same twice, and a document in any case."""
    was = None if before is None else Blob(before)
    file = OneFile(None if was is None else path, path, was, Blob(after))
    trees = ({} if was is None else {path: was}, {path: Blob(after)})
    return answered(Change((file,), *map(BlobTree, trees)), Terms(wish))


def answered(change: Change, terms: Terms) -> Verdict:
    """Judged twice."""
    verdict = check_change(change, terms, Extractor(workers=1))
    again = check_change(change, terms, Extractor(workers=1))
    assert canonical_json(verdict.to_json()) == canonical_json(again.to_json())
    return verdict


@settings(max_examples=4 * settings().max_examples)
@given(SOURCE)
def test_source_that_nobody_can_parse_is_never_passed(content: bytes) -> None:
    """GUARD §extract-closed: no exception, and UNKNOWN where Python itself has no answer."""
    verdict = judged(content)
    # Bytes that are only white space are no code, even where the parser wants other ones.
    if tree_of(content) is None and content.strip():
        assert verdict.status is Status.UNKNOWN


@given(damaged())
def test_source_that_nobody_can_parse_and_nobody_changed_is_not_new(content: bytes) -> None:
    """GUARD §vector-2: what is the same before and after is no gain, readable or not."""
    assert judged(content, content).status is Status.PASS


def with_power(content: bytes, line: int) -> bytes | None:
    """The source with a program started before that line; None where it is not code there."""
    lines = content.split(b"\n")
    following = next((each for each in lines[line:] if each.strip()), b"")
    indent = following[: len(following) - len(following.lstrip())]
    whole = b"\n".join([*lines[:line], *(indent + each for each in POWER), *lines[line:]])
    tree = tree_of(whole)
    imports = [each for each in ast.walk(tree) if isinstance(each, ast.Import)] if tree else []
    is_code = any(alias.asname == "zq" for each in imports for alias in each.names)
    return whole if is_code else None


@settings(max_examples=4 * settings().max_examples)
@given(st.one_of(damaged(), st.sampled_from(SOURCES)), st.data())
def test_no_source_around_a_power_hides_it(content: bytes, data: st.DataObject) -> None:
    """GUARD §decide-proc: at whichever line of whichever source, the guard sees a program started."""
    whole = with_power(content, data.draw(st.integers(0, content.count(b"\n") + 1)))
    # What only type checkers read is not run, and a first line may name another program than Python.
    if whole is None or b"TYPE_CHECKING" in content or b"#!" in content:
        return
    verdict = judged(whole)
    assert verdict.status is Status.BLOCKED
    assert "PROC_EXEC" in verdict.delta.dimensions


@pytest.mark.parametrize(("before", "after"), REPEATED, ids=lambda part: repr(part)[2:-1])
def test_what_is_repeated_a_thousand_times_ends(before: bytes, after: bytes) -> None:
    """GUARD §extract-closed: depth and length cost time in proportion, and hide nothing."""
    for count in (30, 90, 1500):
        content = before * count + b"a" + after * count
        verdict = judged(b"\n".join((content, *POWER)))
        assert verdict.status is not Status.PASS


@given(st.data())
def test_any_file_of_a_project_is_judged(data: st.DataObject) -> None:
    """GUARD §extract-closed: whatever a file is called and holds, there is a verdict."""
    path = data.draw(
        st.sampled_from(
            [
                "a.js", "a.ts", "a.tsx", "a.sh", "Makefile", "Dockerfile", "package.json", "pyproject.toml",
                "requirements.txt", "setup.py", "setup.cfg", ".github/workflows/a.yml", ".mcp.json", "a.pth",
                "a.ipynb", ".git/hooks/pre-commit", "README.md", "a.rs", "a.recipe.yaml", "a.recipe.json",
                "package-lock.json", "uv.lock", ".pre-commit-config.yaml", "compose.yaml", "a.png", "a",
            ]
        )
    )  # fmt: skip
    content = data.draw(SOURCE)
    may_be_refused = ".recipe." in path
    with suppress(*[BadInput] if may_be_refused else []):
        assert judged(content, path=path).status in Status


@given(st.binary(max_size=400), st.lists(st.text(min_size=1, max_size=8), max_size=3, unique=True))
def test_a_diff_of_random_bytes_is_unknown(diff: bytes, touched: list[str]) -> None:
    """GUARD T5, §decide-incomplete: with whatever paths beside it."""
    assert answered(change_of_bundle(PatchBundle(diff, tuple(touched))), Terms()).status is (
        Status.UNKNOWN
    )


BEFORE = {
    b"app.py": Entry(b"def total(values):\n    return sum(values)\n"),
    b"b.py": Entry(b"x = 1\n"),
}
AFTER = {
    b"app.py": Entry(b"import requests\n\n\ndef total(values):\n    return sum(values)\n"),
    b"c.py": Entry(b"exec(open('/etc/passwd').read())\n"),
}


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> PatchBundle:
    """A change that is blocked."""
    bundle = bundle_of(new_repository(tmp_path_factory.mktemp("real")), BEFORE, AFTER)
    assert answered(change_of_bundle(bundle), Terms()).status is Status.BLOCKED
    return bundle


@given(data=st.data())
def test_a_damaged_diff_does_not_pass(real: PatchBundle, data: st.DataObject) -> None:
    """GUARD §in-patch: with both images beside it, it leads from one to the other or is refused."""
    diff = data.draw(damaged((real.diff or b"",)))
    verdict = answered(change_of_bundle(replace(real, diff=diff)), Terms())
    assert verdict.status is not Status.PASS


@given(data=st.data())
def test_a_cut_diff_is_unknown(real: PatchBundle, data: st.DataObject) -> None:
    """GUARD T5: at whichever byte it was cut."""
    diff = real.diff or b""
    cut = diff[: data.draw(st.integers(0, len(diff) - 1))]
    verdict = answered(change_of_bundle(replace(real, diff=cut)), Terms())
    assert verdict.status is Status.UNKNOWN


def as_json(bundle: PatchBundle) -> bytes:
    """A bundle as its document."""
    sides = {"base": bundle.base, "after": bundle.after}
    blobs = {
        side: {
            path: {"base64": b64encode(blob.content).decode(), "mode": blob.mode}
            for path, blob in files.items()
        }
        for side, files in sides.items()
    }
    diff = (bundle.diff or b"").decode()
    document = {"patch.diff": diff, "touched_paths": list(bundle.touched_paths), **blobs}
    return json.dumps(document).encode()


def of_document(content: bytes) -> Verdict | None:
    """The verdict on a bundle in JSON; None where it is refused as a whole."""
    try:
        bundle = read_bundle_json(content)
    except BundleIncomplete:
        return None
    return answered(change_of_bundle(bundle), Terms())


@given(data=st.data())
def test_a_damaged_bundle_does_not_pass(real: PatchBundle, data: st.DataObject) -> None:
    """GUARD §decide-incomplete: it is refused, unknown, or still blocked."""
    content = as_json(real)
    undamaged = of_document(content)
    assert undamaged is not None
    assert undamaged.status is Status.BLOCKED
    verdict = of_document(data.draw(damaged((content,))))
    assert verdict is None or verdict.status is not Status.PASS


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=12,
)
PARTS = st.sampled_from(["patch.diff", "touched_paths", "new_deps", "base", "after", "base/", "x"])


@given(st.dictionaries(PARTS, VALUES, max_size=6))
def test_any_json_is_no_bundle_that_passes(document: dict[str, object]) -> None:
    """GUARD §decide-incomplete: values of any kind where parts of a bundle belong."""
    verdict = of_document(json.dumps(document).encode())
    assert verdict is None or verdict.status is Status.UNKNOWN


WISHES = (
    (
        b'wish_ir_version: "1"\nid: a\nscope: [all]\nnon_goals: []\nallowed_capabilities:\n'
        b"  fs_read_roots: ['./', '/', '~']\n  fs_write_roots: ['./']\n  net_access: ANY\n"
        b"  proc_exec: ANY\n  env_read: ANY\n  dynamic_code_load: LIMITED\n"
        b"  tool_classes: [python, filesystem, web, shell]\n"
    ),
    (
        b'{"wish_ir_version": "1", "id": "a", "scope": [], "non_goals": [], "allowed_capabilities":'
        b' {"net_access": "ALLOWLIST", "allowlists": {"net_access": ["a.example.org:443"]}}}'
    ),
)


@given(
    st.one_of(damaged(WISHES), st.binary(max_size=200)),
    st.builds(Flags, offline=st.booleans(), strict=st.booleans()),
)
def test_no_wish_lets_code_be_loaded_or_a_protected_root_be_read(
    content: bytes, flags: Flags
) -> None:
    """GUARD §decide-dynamic, §decide-protected: a wish is refused as a document, or does not help."""
    try:
        wish = read_wish(content, "a.yaml")
    except BadInput:
        return
    after = Blob(b"exec(open('/etc/shadow').read())\n")
    change = Change((OneFile(None, "a.py", None, after),), BlobTree(), BlobTree({"a.py": after}))
    verdict = answered(change, Terms(wish, flags=flags))
    assert verdict.status is Status.BLOCKED


def test_the_samples_are_there() -> None:
    """Without them there would be nothing to damage."""
    assert len(SOURCES) > 400

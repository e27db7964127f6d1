"""Patch bundles as one JSON document, and the lists of those that are folders (CONTRACTS §12-bundle)."""

import json
from base64 import b64encode
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.declare.patchbundle import (
    MOST_PATH_BYTES,
    Blob,
    BundleIncomplete,
    PatchBundle,
    bundle_from_parts,
)
from consentry.declare.patchbundlefile import read_bundle_json, read_list

LEAST: dict[str, Any] = {"patch.diff": "d\n", "touched_paths": ["x"]}


def read(**parts: object) -> PatchBundle:
    """The bundle with these parts, beside the ones that must be there."""
    return read_bundle_json(json.dumps({**LEAST, **parts}).encode())


def reason(content: str | bytes) -> str:
    """Why a document is no bundle."""
    with pytest.raises(BundleIncomplete) as caught:
        read_bundle_json(content.encode() if isinstance(content, str) else content)
    return str(caught.value)


def test_the_least_bundle() -> None:
    """CONTRACTS §12-bundle: a diff, and the paths that it touches."""
    assert read() == PatchBundle(b"d\n", ("x",), (), {}, {})


def test_every_part() -> None:
    """Blobs are text, text with a mode, or base64."""
    found = read(
        new_deps=["httpx>=1", "rich"],
        base={"x": "ä\n", "l": {"text": "t", "mode": "120000"}},
        after={"x": {"base64": b64encode(b"\0\xff").decode(), "mode": "100755"}},
    )
    assert found.new_deps == ("httpx>=1", "rich")
    assert found.base == {"x": Blob("ä\n".encode()), "l": Blob(b"t", "120000")}
    assert found.after == {"x": Blob(b"\0\xff", "100755")}


def test_folders_may_be_spelled_as_such() -> None:
    """`base/` is `base`; both are one too many."""
    found = read(**{"base/": {"x": "a"}, "after/": {"x": "b"}})
    assert (found.base, found.after) == ({"x": Blob(b"a")}, {"x": Blob(b"b")})
    document = {**LEAST, "base": {}, "base/": {}}
    assert reason(json.dumps(document)) == "`base` is there twice"


def test_bytes_that_are_no_text() -> None:
    """A lone surrogate stands for one, in paths, texts and the diff."""
    found = read(**{"patch.diff": "\udcff\n", "touched_paths": ["\udcfe"], "base": {"\udcfe": "\udcfd"}})  # fmt: skip
    assert found.diff == b"\xff\n"
    assert found.touched_paths == ("\udcfe",)
    assert found.base == {"\udcfe": Blob(b"\xfd")}


def test_a_diff_may_be_missing() -> None:
    """GUARD T5: that is read, and answered later."""
    assert read_bundle_json(b'{"touched_paths": []}').diff is None
    assert read(**{"patch.diff": None}).diff is None
    assert read(**{"patch.diff": {"base64": "AA=="}}).diff == b"\0"


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "the bundle is not JSON"),
        (b"\xff", "the bundle is not JSON"),
        ("{", "the bundle is not JSON"),
        ("[" * 100_000, "the bundle is not JSON"),
        ('{"touched_paths": [NaN]}', "the bundle is not JSON"),
        ("1" * 10_000, "the bundle is not JSON"),
        ("[]", "the bundle is not a JSON object"),
        ("{}", "`touched_paths` is missing"),
        ('{"touched_paths": "x"}', "`touched_paths` is not a list of texts"),
        ('{"touched_paths": [1]}', "`touched_paths` is not a list of texts"),
        ('{"touched_paths": [], "touched_paths": []}', "the bundle has a key twice"),
        ('{"touched_paths": [], "base": {"x": "a", "x": "b"}}', "the bundle has a key twice"),
        ('{"touched_paths": ["x", "x"]}', "`touched_paths` has a path twice"),
        ('{"touched_paths": [], "aftre": {}}', "`aftre` is not a part of a bundle"),
        ('{"touched_paths": [], "new_deps": {}}', "`new_deps` is not a list of texts"),
        ('{"touched_paths": [], "new_deps": [" "]}', "`new_deps` has an entry that names no dependency"),
        ('{"touched_paths": [], "base": []}', "`base` is not an object of blobs by path"),
        ('{"touched_paths": [], "base": {"x": 1}}', "`x`: a blob is a text, or has `text` or `base64`, and `mode`"),
        ('{"touched_paths": [], "base": {"x": {}}}', "`x`: a blob has either `text` or `base64`"),
        ('{"touched_paths": [], "base": {"x": {"text": "a", "base64": ""}}}', "`x`: a blob has either `text` or `base64`"),
        ('{"touched_paths": [], "base": {"x": {"base64": "!"}}}', "`x`: a blob is not base64"),
        ('{"touched_paths": [], "base": {"x": {"text": "a", "mode": 33188}}}', "`x`: the mode of a blob is a text"),
        ('{"touched_paths": [], "base": {"x": {"text": "a", "mode": "040000"}}}', "`x`: `040000` is not the mode of a file"),
        ('{"touched_paths": [], "base": {"x": "\\ud800"}}', "`x`: a text has half of a surrogate pair in it"),
        ('{"touched_paths": [], "patch.diff": 1}', "`patch.diff`: a blob is a text, or has `text` or `base64`, and `mode`"),
    ],
)  # fmt: skip
def test_what_is_no_bundle(content: str | bytes, why: str) -> None:
    """GUARD §extract-closed: nothing is guessed, and nothing is a bad document."""
    assert reason(content) == why


@pytest.mark.parametrize(
    "path", ["", "/x", "x/", "x//y", ".", "./x", "..", "x/../y", "x\0", "\ud800", "x" * (MOST_PATH_BYTES + 1)]
)  # fmt: skip
@pytest.mark.parametrize("place", ["touched_paths", "base", "after"])
def test_paths_lie_inside_a_tree(path: str, place: str) -> None:
    """In each part that has paths."""
    value: object = [path] if place == "touched_paths" else {path: ""}
    with pytest.raises(BundleIncomplete):
        read(**{place: value})


@pytest.mark.parametrize(
    ("name", "content", "entries"),
    [
        ("touched_paths", b"a\nb c\n", ("a", "b c")),
        ("touched_paths", b"a\r\nb", ("a", "b")),
        ("touched_paths", b'["a", "b"]', ("a", "b")),
        ("touched_paths", b"[slug].tsx\n", ("[slug].tsx",)),
        ("touched_paths.txt", b'["a"]\n', ('["a"]',)),
        ("touched_paths.json", b"[]", ()),
        ("touched_paths", b"", ()),
        ("touched_paths", b"\xff\n", ("\udcff",)),
        ("touched_paths", b'"\\303\\244\\t"\n', ("ä\t",)),
    ],
)
def test_lists(name: str, content: bytes, entries: tuple[str, ...]) -> None:
    """JSON or lines; a line in quotes is a name as git writes it."""
    assert read_list(content, name) == entries


def test_lists_that_are_none() -> None:
    """What is said to be JSON is not taken for lines."""
    for content, name in ((b"a\n", "t.json"), (b'{"a": 1}', "t.json"), (b'"\\q"\n', "t")):
        with pytest.raises(BundleIncomplete):
            read_list(content, name)


def test_too_much() -> None:
    """Counts are bounded."""
    with pytest.raises(BundleIncomplete, match="20,000 paths"):
        bundle_from_parts(diff=b"", touched_paths=map(str, range(20_001)))
    with pytest.raises(BundleIncomplete, match="10,000 new dependencies"):
        bundle_from_parts(diff=b"", touched_paths=(), new_deps=map(str, range(10_001)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["patch.diff", "touched_paths", "new_deps", "base", "after", "text", "base64", "mode", "x"]),
        inner,
        max_size=5,
    ),
    max_leaves=12,
)  # fmt: skip


@given(JSON)
def test_any_json(document: object) -> None:
    """A bundle or the one error, and nothing else."""
    try:
        found = read_bundle_json(json.dumps(document).encode())
    except BundleIncomplete:
        return
    assert isinstance(document, dict)
    assert list(found.touched_paths) == document["touched_paths"]


@given(st.binary(max_size=200), st.sampled_from(["touched_paths", "t.json", "t.txt"]))
def test_any_bytes(content: bytes, name: str) -> None:
    """The same for lists and for whole documents."""
    with pytest.raises(BundleIncomplete):
        read_bundle_json(b"\xff" + content)
    try:
        entries = read_list(content, name)
    except BundleIncomplete:
        return
    assert all(isinstance(each, str) for each in entries)

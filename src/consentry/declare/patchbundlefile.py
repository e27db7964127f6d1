r"""Reads a patch bundle that is one JSON document, and the lists of one that is a folder.

    {"patch.diff": "diff --git …", "touched_paths": ["app.py"], "new_deps": ["httpx"],
     "base": {"app.py": "import os\n"},
     "after": {"app.py": {"text": "import os\n…", "mode": "100755"}, "x.png": {"base64": "iVBO…"}}}

`base/` and `after/` are taken as keys, too. A byte that is not UTF-8 is written as a lone surrogate
(`\udcff`), in paths and in texts; `base64` takes anything. A key that is unknown or there twice is
refused: what was meant by it would be lost.

Why not the reader of the other documents: a bundle is made by programs and may be large, what is
wrong with it is no fault of a person's writing, and the answer is `UNKNOWN`, not a list of lines.
"""

from typing import Final, NoReturn

from consentry.declare.patchbundle import (
    PLAIN_MODE,
    Blob,
    BundleIncomplete,
    PatchBundle,
    bundle_from_parts,
)

MOST_JSON: Final = 256 << 20

_DIFF: Final = "patch.diff"
_TOUCHED: Final = "touched_paths"
_NEW_DEPS: Final = "new_deps"
_KEYS: Final = (_DIFF, _TOUCHED, _NEW_DEPS, "base", "after")
_SPELLINGS: Final = {"base/": "base", "after/": "after"}
_BLOB_KEYS: Final = frozenset({"text", "base64", "mode"})


def read_bundle_json(content: bytes) -> PatchBundle:
    """The bundle in a JSON document; raises `BundleIncomplete`."""
    if len(content) > MOST_JSON:
        raise BundleIncomplete(f"the bundle has more than {MOST_JSON:,} bytes")
    document = _loaded(content)
    if not isinstance(document, dict):
        raise BundleIncomplete("the bundle is not a JSON object")
    parts: dict[str, object] = {}
    for written, value in document.items():
        key = _SPELLINGS.get(written, written)
        if key not in _KEYS:
            raise BundleIncomplete(f"`{written[:80]}` is not a part of a bundle")
        if key in parts:
            raise BundleIncomplete(f"`{key}` is there twice")
        parts[key] = value
    if _TOUCHED not in parts:
        raise BundleIncomplete(f"`{_TOUCHED}` is missing")
    return bundle_from_parts(
        diff=_diff(parts.get(_DIFF)),
        touched_paths=_texts(parts[_TOUCHED], _TOUCHED),
        new_deps=_texts(parts.get(_NEW_DEPS, []), _NEW_DEPS),
        base=_blobs(parts.get("base", {}), "base"),
        after=_blobs(parts.get("after", {}), "after"),
    )


def read_list(content: bytes, name: str) -> tuple[str, ...]:
    """The entries of a list in a folder: a JSON list of texts, or one entry in each line.

    Where `name` does not end in `.json` or `.txt`, a list of JSON is known by being one. A line in
    quotes is a name as git quotes it.
    """
    if not name.endswith(".txt"):
        try:
            return _texts(_loaded(content), name)
        except BundleIncomplete:
            if name.endswith(".json"):
                raise
    lines = content.split(b"\n")
    if lines[-1] == b"":
        lines.pop()
    return tuple(_unquoted(line, name).decode("utf-8", "surrogateescape") for line in lines)


def _unquoted(line: bytes, name: str) -> bytes:
    if not line.startswith(b'"'):
        return line.removesuffix(b"\r")
    from consentry.declare.quotedname import unquoted  # noqa: PLC0415 - few names are in quotes

    found = unquoted(line)
    if found is None:
        raise BundleIncomplete(f"`{name}` has a name in quotes that cannot be read")
    return found


def _loaded(content: bytes) -> object:
    import json  # noqa: PLC0415 - only bundles pay for it

    try:
        return json.loads(
            content.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_refuse_constant
        )
    except (ValueError, RecursionError):
        raise BundleIncomplete("the bundle is not JSON") from None


def _pairs(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise BundleIncomplete("the bundle has a key twice")
    return found


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(word)


def _texts(value: object, name: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise BundleIncomplete(f"`{name}` is not a list of texts")
    return tuple(value)


def _diff(value: object) -> bytes | None:
    return None if value is None else _blob(value, _DIFF).content


def _blobs(value: object, name: str) -> dict[str, Blob]:
    if not isinstance(value, dict):
        raise BundleIncomplete(f"`{name}` is not an object of blobs by path")
    return {path: _blob(each, path) for path, each in value.items()}


def _blob(value: object, path: str) -> Blob:
    if isinstance(value, str):
        return Blob(_encoded(value, path))
    if not isinstance(value, dict) or not value.keys() <= _BLOB_KEYS:
        raise BundleIncomplete("a blob is a text, or has `text` or `base64`, and `mode`", path)
    text, coded, mode = value.get("text"), value.get("base64"), value.get("mode", PLAIN_MODE)
    if not isinstance(mode, str):
        raise BundleIncomplete("the mode of a blob is a text", path)
    if isinstance(text, str) and coded is None:
        return Blob(_encoded(text, path), mode)
    if isinstance(coded, str) and text is None:
        return Blob(_decoded(coded, path), mode)
    raise BundleIncomplete("a blob has either `text` or `base64`", path)


def _encoded(text: str, path: str) -> bytes:
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raise BundleIncomplete("a text has half of a surrogate pair in it", path) from None


def _decoded(coded: str, path: str) -> bytes:
    from base64 import b64decode  # noqa: PLC0415 - few bundles have such blobs

    try:
        return b64decode(coded, validate=True)
    except ValueError:
        raise BundleIncomplete("a blob is not base64", path) from None

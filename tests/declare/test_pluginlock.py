"""`PLUGINS.lock`: written so that a merge can be read, read so that nothing is guessed (TRUST §lock-1)."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.canonical import digest_bytes
from consentry.base.errors import BadDocument
from consentry.declare import pluginlockfile
from consentry.declare.pluginlock import (
    MOST_LOCK,
    FileKind,
    LockedFile,
    LockedPlugin,
    PluginLock,
    lock_text,
    locked_digest,
)
from consentry.declare.pluginlockfile import read_lock
from consentry.declare.reader import read_document

ONE = digest_bytes(b"1")
FILES = {
    "plugin.yaml": LockedFile(FileKind.FILE, ONE),
    "run.sh": LockedFile(FileKind.EXECUTABLE, digest_bytes(b"2")),
    "l": LockedFile(FileKind.LINK, digest_bytes(b"run.sh")),
}
LOCK = PluginLock(
    {"hello": LockedPlugin("1.0.0", locked_digest(FILES), FILES)},
    {"count-words": ONE},
    {"files": {"read": ONE, "write": ONE}},
)
TEXT = lock_text(LOCK)

NAMES = st.from_regex(r"[a-z0-9][a-z0-9-]{0,9}", fullmatch=True)
PATHS = st.lists(
    st.text(
        st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=5
    ).filter(lambda part: part not in (".", "..")),
    min_size=1,
    max_size=3,
).map("/".join)
DIGESTS = st.binary(max_size=3).map(digest_bytes)
LABELS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=5)


@st.composite
def locks(draw: st.DrawFn) -> PluginLock:
    """Any lock that can be."""
    plugins = {}
    for name in draw(st.sets(NAMES, max_size=3)):
        kinds = st.builds(LockedFile, st.sampled_from(FileKind), DIGESTS)
        files = draw(st.dictionaries(PATHS, kinds, min_size=1, max_size=4))
        plugins[name] = LockedPlugin("0.1.0-rc.1", locked_digest(files), files)
    tools = draw(st.dictionaries(LABELS, DIGESTS, max_size=3))
    servers = draw(
        st.dictionaries(LABELS, st.dictionaries(LABELS, DIGESTS, max_size=2), max_size=2)
    )
    return PluginLock(plugins, tools, servers)


def strictly(content: bytes) -> PluginLock:
    """By the long way, whatever the short one says."""
    return read_document(content, "L", pluginlockfile._document, pluginlockfile._parsed)


@given(locks())
def test_what_is_written_is_read(lock: PluginLock) -> None:
    """By both ways, and written again it is the same bytes; it is JSON to everybody else, too."""
    content = lock_text(lock)
    assert pluginlockfile._as_written(content) == lock == strictly(content)
    assert lock_text(read_lock(content)) == content
    assert content.isascii()
    assert json.dumps(json.loads(content), indent=2).encode() + b"\n" == content


@given(locks())
def test_another_layout_is_the_same_lock(lock: PluginLock) -> None:
    """Line ends of another system, no white space, another order of keys."""
    document = json.loads(lock_text(lock))
    shuffled = json.dumps(dict(reversed(document.items())), ensure_ascii=True).encode()
    assert read_lock(lock_text(lock).replace(b"\n", b"\r\n")) == lock
    assert read_lock(shuffled) == lock


@given(st.data())
def test_the_short_way_takes_nothing_that_the_long_one_refuses(data: st.DataObject) -> None:
    """Whatever single byte of a lock is changed."""
    place = data.draw(st.integers(0, len(TEXT) - 1))
    byte = data.draw(st.integers(0x20, 0x7E))
    changed = TEXT[:place] + bytes([byte]) + TEXT[place + 1 :]
    short = pluginlockfile._as_written(changed)
    if short is not None:
        assert short == strictly(changed)


def test_every_entry_has_a_line_of_its_own() -> None:
    """So that two branches that change two files merge, and a conflict shows which file."""
    lines = TEXT.decode().splitlines()
    for wanted in ("plugin.yaml", "run.sh", "count-words", "read"):
        assert sum(f'"{wanted}": ' in line for line in lines) == 1
    assert [line.strip() for line in lines if " sha256:" in line and '"f' in line]


def problems_of(content: bytes) -> str:
    """All that is wrong with a document."""
    with pytest.raises(BadDocument) as raised:
        read_lock(content)
    return str(raised.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"lockVersion": 1',
            '"lockVersion": 2',
            "PLUGINS.lock:2:18: version 2 of the lock is not known",
        ),
        ('"lockVersion": 1', '"lockVersion": "1"', "PLUGINS.lock:2:18: lockVersion: "),
        ('  "lockVersion": 1,\n', "", "lockVersion: this key is missing"),
        (
            '"version": "1.0.0",',
            "",
            "PLUGINS.lock:4:14: plugins.hello.version: this key is missing",
        ),
        ('"version": "1.0.0"', '"version": "1"', "plugins.hello.version: `1` is not a version"),
        ('"tools": {', '"tool": {', "`tool` is not a key that is known here"),
        ('"read": ', '"write": ', "is already in line"),
        ('"hello": {', '"Hello": {', "`Hello` is not the name of a plugin"),
        ('"run.sh": ', '"../run.sh": ', "`../run.sh` is not the path of a file in a plugin"),
        ('"run.sh": ', '"/run.sh": ', "is not the path of a file in a plugin"),
        ('"run.sh": ', '"\\ud800": ', "the text contains half of a surrogate pair"),
        ('"run.sh": ', '"a\\u0000": ', "the text contains NUL"),
        (
            '"executable sha',
            '"file sha',
            "plugins.hello.digest: the digest is not that of the files below it",
        ),
        ('"executable sha', '"program sha', "is not a kind and a digest"),
        ('"l": "link', '"m": "link', "the digest is not that of the files below it"),
        ('"read": "sha256:', '"read": "sha512:', "mcpTools.files.read: "),
        ("}\n}\n", "}\n", "this is not JSON"),
        ("}\n}\n", "}\n}\n}", "something follows the end of the document"),
        (
            '  "tools": {',
            '<<<<<<< HEAD\n  "tools": {',
            "a merge left its marks here; finish the merge",
        ),
        ('  "tools": {', '=======\n  "tools": {', "a merge left its marks here"),
        ('"hello"', '"h\\u0000"', "the text contains NUL"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(old: str, new: str, said: str) -> None:
    """One fault planted in a lock that is in order; the message names the line or the field."""
    text = TEXT.decode()
    assert old in text
    assert said in problems_of(text.replace(old, new, 1).encode())


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"null", b"no lock", b"{" * 100_000])
def test_what_is_no_lock_at_all(content: bytes) -> None:
    """Nothing but one typed error comes of it."""
    assert problems_of(content)


@pytest.mark.parametrize("cut", [1, 10, len(TEXT) // 2, len(TEXT) - 3])
def test_a_lock_that_was_cut_off(cut: int) -> None:
    """Not JSON any more, with the place."""
    assert "PLUGINS.lock:" in problems_of(TEXT[:cut])


def test_a_lock_beyond_its_bound() -> None:
    """It is not even parsed."""
    assert "more than 33,554,432 bytes" in problems_of(b" " * (MOST_LOCK + 1))


def test_a_lock_of_a_large_plugin_is_read() -> None:
    """More than other documents may have."""
    files = {f"d/{n}": LockedFile(FileKind.FILE, ONE) for n in range(12_000)}
    lock = PluginLock({"big": LockedPlugin("1.0.0", locked_digest(files), files)})
    assert read_lock(lock_text(lock)) == lock
    assert strictly(lock_text(lock)) == lock


def test_a_digest_that_was_computed_of_nothing_is_refused() -> None:
    """A plugin has at least one file."""
    empty = PluginLock({"hello": LockedPlugin("1.0.0", locked_digest({}), {})})
    assert "there is no file" in problems_of(lock_text(empty))

"""Reading a plugin's tree: its digest covers everything, and what no plugin may have is refused.

TRUST §lock-1.
"""

import os
import socket
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from consentry.examine import plugintree
from consentry.examine.pluginproblems import Rejection, VerificationError
from consentry.examine.plugintree import EntryKind, read_tree
from tests.examine.plugintrees import File, Link, grow, second_digest

PLAIN: dict[str, File | Link] = {
    "plugin.yaml": File(b"name: p\n"),
    "src/a.py": File(),
    "run.sh": File(executable=True),
}


def refusal_of(top: Path) -> VerificationError:
    """Why a tree is refused; it must be."""
    with pytest.raises(VerificationError) as raised:
        read_tree(top, keep_contents=True)
    assert raised.value.plugin == top.name
    return raised.value


def test_a_second_implementation_has_the_same_digest(tmp_path: Path) -> None:
    """TRUST §lock-1: written from the reference page, over names, bits, contents and links."""
    spec = {
        **PLAIN,
        "src/é/deep.py": File(b"\0" * 70_000),
        "latest": Link("src/a.py"),
        "empty": File(b""),
    }
    top = grow(tmp_path / "p", spec)
    assert read_tree(top, keep_contents=False).digest == second_digest(top)


def test_entries_are_sorted_by_bytes_and_say_what_they_are(tmp_path: Path) -> None:
    """Files and links, no folders; the size is that of the content or of the link's text."""
    tree = read_tree(grow(tmp_path / "p", {**PLAIN, "l": Link("src")}), keep_contents=False)
    assert [(each.path, each.kind, each.executable, each.size) for each in tree.entries] == [
        ("l", EntryKind.LINK, False, 3),
        ("plugin.yaml", EntryKind.FILE, False, 8),
        ("run.sh", EntryKind.FILE, True, 8),
        ("src/a.py", EntryKind.FILE, False, 8),
    ]
    assert tree.contents is None


def test_the_bytes_that_were_hashed_are_handed_on(tmp_path: Path) -> None:
    """So that nothing has to be read a second time to be loaded."""
    tree = read_tree(grow(tmp_path / "p", PLAIN), keep_contents=True)
    assert tree.contents == {
        path: each.content for path, each in PLAIN.items() if isinstance(each, File)
    }


def test_the_digest_of_a_fixed_tree_never_changes(tmp_path: Path) -> None:
    """Locks outlive releases: this value is a promise."""
    top = grow(
        tmp_path / "p", {"a": File(b"1"), "b/c": File(b"2", executable=True), "l": Link("a")}
    )
    assert (
        read_tree(top, keep_contents=False).digest
        == "sha256:6ee7b82093f7e4aee117755c2def86987437984e9fef4bde1d23097376cd887f"
    )


@pytest.mark.parametrize(
    "name",
    [
        *("x.pyc", "x.pyo", "X.PYC", "__pycache__/x.txt", "src/__PyCache__/y"),
        *("x.\uff50\uff59\uff43", "x.p\u200dyc", "__py\u00adcache__/x", "x.pyc.", "__pycache__ /x"),
    ],
)
def test_bytecode_is_refused(tmp_path: Path, name: str) -> None:
    """It would be loaded in place of the source that was read; also in names that fold to it."""
    top = grow(tmp_path / "p", {**PLAIN, name: File()})
    assert refusal_of(top).reason is Rejection.BYTECODE


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        ({"l": "/etc/passwd"}, Rejection.LINK_LEAVES),
        ({"l": "../other"}, Rejection.LINK_LEAVES),
        ({"src/l": "../../p/plugin.yaml"}, Rejection.LINK_LEAVES),
        ({"l": "src/../../p/plugin.yaml"}, Rejection.LINK_LEAVES),
        ({"a": "src", "l": "a/../../p/src"}, Rejection.LINK_LEAVES),
        ({"l": "nothing"}, Rejection.LINK_DANGLES),
        ({"l": "plugin.yaml/"}, Rejection.LINK_DANGLES),
        ({"l": "plugin.yaml/."}, Rejection.LINK_DANGLES),
        ({"l": "plugin.yaml/more"}, Rejection.LINK_DANGLES),
        ({"l": "l"}, Rejection.LINK_CYCLE),
        ({"l": "m", "m": "l"}, Rejection.LINK_CYCLE),
        ({"l": "."}, Rejection.LINK_CYCLE),
        ({"src/l": ".."}, Rejection.LINK_CYCLE),
        ({"src/l": "../other", "other/m": "../src"}, Rejection.LINK_CYCLE),
    ],
)
def test_links_that_do_not_stay_inside_are_refused(
    tmp_path: Path, links: dict[str, str], reason: Rejection
) -> None:
    """Each kind with its own reason; nothing of it is followed to find that out."""
    spec: dict[str, File | Link] = {**PLAIN, **({"other/x": File()} if "other/m" in links else {})}
    top = grow(tmp_path / "p", {**spec, **{path: Link(text) for path, text in links.items()}})
    assert refusal_of(top).reason is reason


@pytest.mark.parametrize(
    "links",
    [
        {"l": "src/a.py"},
        {"l": "./src//a.py"},
        {"l": "src/"},
        {"src/l": "../run.sh"},
        {"l": "m", "m": "src/a.py"},
        {"l": "src", "m": "l/a.py"},
        {"a/l": "../src", "m": "a/l/../run.sh"},
    ],
)
def test_links_that_stay_inside_are_taken(tmp_path: Path, links: dict[str, str]) -> None:
    """The harmless thing beside each of the above."""
    top = grow(tmp_path / "p", {**PLAIN, **{path: Link(text) for path, text in links.items()}})
    assert all((top / path).exists() for path in links)
    assert read_tree(top, keep_contents=False).digest == second_digest(top)


def test_links_that_make_long_ways_are_refused(tmp_path: Path) -> None:
    """A chain of texts that go to and fro: each link to it costs as much again, and the tree is small."""
    around = "./d/../" * 500
    chain = {f"c{number}": Link(f"{around}c{number + 1}") for number in range(38)}
    links = {f"l{number}": Link("c0") for number in range(200)}
    spec = {**PLAIN, "d/x": File(), **chain, "c38": Link("d/x")}
    assert read_tree(grow(tmp_path / "few", spec), keep_contents=False).entries
    refusal = refusal_of(grow(tmp_path / "p", {**spec, **links}))
    assert refusal.reason is Rejection.TOO_LARGE


def test_folders_with_nothing_in_them_are_refused(tmp_path: Path) -> None:
    """Git would lose them, and no digest would show it; the plugin's own folder, too."""
    top = grow(tmp_path / "p", PLAIN)
    (top / "src" / "void").mkdir()
    assert refusal_of(top).reason is Rejection.EMPTY_FOLDER
    (tmp_path / "q").mkdir()
    assert refusal_of(tmp_path / "q").reason is Rejection.EMPTY_FOLDER


def test_pipes_sockets_and_devices_are_refused_without_waiting(tmp_path: Path) -> None:
    """None of them is opened: a pipe without a writer would hold the reader for ever."""
    pipe = grow(tmp_path / "pipe", PLAIN)
    os.mkfifo(pipe / "in")
    assert refusal_of(pipe).reason is Rejection.SPECIAL_FILE
    listening = grow(tmp_path / "sock", PLAIN)
    with socket.socket(socket.AF_UNIX) as server:
        here = os.open(listening, os.O_RDONLY)
        server.bind(f"/proc/self/fd/{here}/s")
        os.close(here)
        assert refusal_of(listening).reason is Rejection.SPECIAL_FILE


def test_a_device_is_refused(tmp_path: Path) -> None:
    """Where one can be made."""
    top = grow(tmp_path / "p", PLAIN)
    try:
        os.mknod(top / "zero", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")
    assert refusal_of(top).reason is Rejection.SPECIAL_FILE


@pytest.mark.parametrize("bit", [stat.S_ISUID, stat.S_ISGID])
def test_set_id_bits_are_refused(tmp_path: Path, bit: int) -> None:
    """No plugin needs one, and the digest has no place for it."""
    top = grow(tmp_path / "p", PLAIN)
    (top / "run.sh").chmod(0o755 | bit)
    assert refusal_of(top).reason is Rejection.SET_ID


def test_names_that_are_not_utf8_are_refused(tmp_path: Path) -> None:
    """Of files, folders and in the texts of links."""
    for number, place in enumerate((b"a\xff", b"d\xfe/inner")):
        top = grow(tmp_path / f"p{number}", PLAIN)
        whole = top / os.fsdecode(place)
        whole.parent.mkdir(exist_ok=True)
        whole.touch()
        assert refusal_of(top).reason is Rejection.NAME_NOT_UTF8
    top = grow(tmp_path / "q", PLAIN)
    (top / "l").symlink_to(os.fsdecode(b"to\xff"))
    assert refusal_of(top).reason is Rejection.NAME_NOT_UTF8


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("README", "readme"),
        ("src/é.py", "src/e\u0301.py"),
        ("straße", "STRASSE"),
        ("ﬁle", "file"),
        ("Sub/x", "sub/y"),
        ("K", "k"),
        ("a.py", "a\u200d.py"),
        ("\ufeffa.py", "A\u00ad.py"),
        ("a.py", "a.py."),
        ("notes", "notes "),
    ],
)
def test_names_that_others_take_for_the_same_are_refused(
    tmp_path: Path, one: str, other: str
) -> None:
    """By case, normalisation, what nobody sees or what stands at the end, of files and of folders."""
    top = grow(tmp_path / "p", {**PLAIN, one: File(b"1"), other: File(b"2")})
    refusal = refusal_of(top)
    assert refusal.reason is Rejection.NAME_CLASH


def test_a_plugin_that_is_not_there_or_is_a_link(tmp_path: Path) -> None:
    """A link in place of the plugin's own folder is not followed."""
    assert refusal_of(tmp_path / "gone").reason is Rejection.MISSING_PLUGIN
    real = grow(tmp_path / "real", PLAIN)
    (tmp_path / "p").symlink_to(real)
    assert refusal_of(tmp_path / "p").reason is Rejection.SPECIAL_FILE
    (tmp_path / "f").write_text("")
    assert refusal_of(tmp_path / "f").reason is Rejection.SPECIAL_FILE


def test_bounds_on_number_size_and_depth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them ends the reading; a sparse file costs no disk and is too large all the same."""
    top = grow(tmp_path / "p", PLAIN)
    with (top / "big").open("wb") as file:
        file.truncate(plugintree.MOST_FILE + 1)
    assert refusal_of(top).reason is Rejection.TOO_LARGE
    deep = grow(tmp_path / "deep", {"/".join(["d"] * plugintree.MOST_DEPTH) + "/f": File()})
    assert refusal_of(deep).reason is Rejection.TOO_LARGE
    assert read_tree(
        grow(tmp_path / "fits", {"/".join(["d"] * (plugintree.MOST_DEPTH - 1)) + "/f": File()}),
        keep_contents=False,
    ).entries
    many = grow(tmp_path / "many", PLAIN)
    monkeypatch.setattr(plugintree, "MOST_ENTRIES", len(PLAIN) - 1)
    assert refusal_of(many).reason is Rejection.TOO_LARGE
    monkeypatch.undo()
    monkeypatch.setattr(plugintree, "MOST_BYTES", 20)
    assert refusal_of(many).reason is Rejection.TOO_LARGE
    monkeypatch.undo()
    far = grow(tmp_path / "far", {f"{'d' * 60}/{'e' * 60}": File()})
    monkeypatch.setattr(plugintree, "MOST_PATH", 120)
    assert refusal_of(far).reason is Rejection.TOO_LARGE


@contextmanager
def as_ordinary_user() -> Iterator[Path]:
    """A folder in which this process is not allowed everything, even if it was started by root."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        Path(folder).chmod(0o777)
        is_root = os.geteuid() == 0
        if is_root:
            os.seteuid(65534)
        try:
            yield Path(folder)
        finally:
            if is_root:
                os.seteuid(0)


def test_what_may_not_be_read_is_refused() -> None:
    """A file and a folder; asked as a user who is not allowed everything."""
    with as_ordinary_user() as folder:
        top = grow(folder / "p", PLAIN)
        assert read_tree(top, keep_contents=False).entries
        for path, mode in (("src/a.py", 0o644), ("src", 0o755)):
            (top / path).chmod(0)
            assert refusal_of(top).reason is Rejection.UNREADABLE
            (top / path).chmod(mode)

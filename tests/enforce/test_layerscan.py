"""Every kind of change that a layer can hold is told apart, and nothing else is told."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

from consentry.base.errors import Refused
from consentry.enforce.layer import (
    Change,
    ChangeKind,
    FileType,
    LayerRoot,
    file_clock_ns,
    path_text,
)
from consentry.enforce.layerscan import ScanLimits, scan
from consentry.surface.modes import LayerPlace
from tests.enforce.layers import Layer, made_layer, opened

pytestmark = pytest.mark.usefixtures("layer_kind")

ODD_NAME = "new\nline \udcff*?\\"

# For each kind: what is there before, what the run does in a folder of that name, what is found.
# "before" maps a path to its content; a folder ends in `/`, a link is given as a 1-tuple.
KINDS: dict[str, tuple[dict[str, object], str, list[tuple[str, str, str]]]] = {
    "new-file": ({}, "open('n', 'w').write('x')", [("created", "n", "file")]),
    "new-empty": ({}, "open('n', 'w')", [("created", "n", "file")]),
    "new-tree": (
        {},
        "os.makedirs('a/b/c'); open('a/b/f', 'w').write('x')",
        [
            ("created", "a", "folder"),
            ("created", "a/b", "folder"),
            ("created", "a/b/c", "folder"),
            ("created", "a/b/f", "file"),
        ],
    ),
    "new-link": ({}, "os.symlink('somewhere', 'n')", [("created", "n", "link")]),
    "other-bytes": ({"f": "old"}, "open('f', 'w').write('longer')", [("modified", "f", "file")]),
    "same-size": ({"f": "old"}, "open('f', 'w').write('new')", [("modified", "f", "file")]),
    "same-size-and-time": (
        {"f": "old"},
        "s = os.stat('f'); open('f', 'w').write('new'); os.utime('f', ns=(1, s.st_mtime_ns))",
        [("modified", "f", "file")],
    ),
    "appended": ({"f": "old"}, "open('f', 'a').write('more')", [("modified", "f", "file")]),
    "emptied": ({"f": "old"}, "open('f', 'w')", [("modified", "f", "file")]),
    "deleted-file": ({"f": "old"}, "os.unlink('f')", [("deleted", "f", "file")]),
    "deleted-link": ({"l": ("t",)}, "os.unlink('l')", [("deleted", "l", "link")]),
    "deleted-tree": (
        {"d/e/f": "1", "d/g": "2", "d/l": ("t",)},
        "os.unlink('d/e/f'); os.rmdir('d/e'); os.unlink('d/g'); os.unlink('d/l'); os.rmdir('d')",
        [
            ("deleted", "d", "folder"),
            ("deleted", "d/e", "folder"),
            ("deleted", "d/e/f", "file"),
            ("deleted", "d/g", "file"),
            ("deleted", "d/l", "link"),
        ],
    ),
    "mode-of-file": ({"f": "old"}, "os.chmod('f', 0o755)", [("mode", "f", "file")]),
    "mode-of-folder": ({"d/f": "old"}, "os.chmod('d', 0o700)", [("mode", "d", "folder")]),
    "touched": ({"f": "old"}, "os.utime('f')", []),
    "rewritten": ({"f": "old"}, "open('f', 'w').write('old')", []),
    "opened-for-writing": ({"f": "old"}, "open('f', 'a').close()", []),
    "made-and-removed": ({}, "open('n', 'w'); os.unlink('n'); os.mkdir('d'); os.rmdir('d')", []),
    "file-to-folder": (
        {"x": "old"},
        "os.unlink('x'); os.mkdir('x'); open('x/n', 'w').write('1')",
        [("replaced", "x", "folder"), ("created", "x/n", "file")],
    ),
    "folder-to-file": (
        {"x/f": "old"},
        "os.unlink('x/f'); os.rmdir('x'); open('x', 'w').write('1')",
        [("replaced", "x", "file"), ("deleted", "x/f", "file")],
    ),
    "file-to-link": (
        {"x": "old"},
        "os.unlink('x'); os.symlink('t', 'x')",
        [("replaced", "x", "link")],
    ),
    "link-to-file": (
        {"x": ("t",)},
        "os.unlink('x'); open('x', 'w').write('1')",
        [("replaced", "x", "file")],
    ),
    "folder-to-link": (
        {"x/f": "old"},
        "os.unlink('x/f'); os.rmdir('x'); os.symlink('t', 'x')",
        [("replaced", "x", "link"), ("deleted", "x/f", "file")],
    ),
    "link-to-folder": (
        {"x": ("t",)},
        "os.unlink('x'); os.mkdir('x')",
        [("replaced", "x", "folder")],
    ),
    "link-elsewhere": (
        {"l": ("t",)},
        "os.unlink('l'); os.symlink('u', 'l')",
        [("modified", "l", "link")],
    ),
    "renamed": (
        {"a": "old"},
        "os.rename('a', 'b')",
        [("deleted", "a", "file"), ("created", "b", "file")],
    ),
    "folder-anew": (
        {"d/same": "1", "d/other": "2", "d/gone/f": "3", "d/sub/in": "4"},
        """import subprocess; subprocess.run(['rm', '-r', 'd'], check=True); os.makedirs('d/sub')
open('d/same', 'w').write('1'); open('d/other', 'w').write('9'); open('d/n', 'w')""",
        [
            ("created", "d/n", "file"),
            ("deleted", "d/gone", "folder"),
            ("deleted", "d/gone/f", "file"),
            ("modified", "d/other", "file"),
            ("deleted", "d/sub/in", "file"),
        ],
    ),
    "several-names": (
        {},
        "open('a', 'w').write('x'); os.link('a', 'b')",
        [("created", "a", "file"), ("created", "b", "file")],
    ),
    "odd-names": (
        {ODD_NAME: "old"},
        f"n = {ODD_NAME!r}; open(n, 'w').write('2'); os.mkdir(n + 'd')",
        [("modified", ODD_NAME, "file"), ("created", ODD_NAME + "d", "folder")],
    ),
    "attributes": (
        {"f": "old"},
        "os.setxattr('f', 'user.mark', b'1')",
        [("modified", "f", "file")],
    ),
    "unreadable": (
        {},
        "os.mkdir('d'); open('d/f', 'w').write('x'); os.chmod('d/f', 0); os.chmod('d', 0)",
        [("created", "d", "folder"), ("created", "d/f", "file")],
    ),
    "read-only-folder": (
        {"d/f": "old"},
        "open('d/f', 'w').write('2'); open('d/n', 'w'); os.chmod('d', 0o555)",
        [("mode", "d", "folder"), ("modified", "d/f", "file"), ("created", "d/n", "file")],
    ),
    "sparse": ({}, "f = open('s', 'wb'); f.truncate(1 << 22)", [("created", "s", "file")]),
}


def host_with_all_kinds(place: Path) -> Path:
    """The tree that every kind of change is made to."""
    host = place / "host"
    for kind, (before, _, _) in KINDS.items():
        (host / kind).mkdir(parents=True)
        for name, content in before.items():
            path = host / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            if isinstance(content, tuple):
                path.symlink_to(content[0])
            else:
                path.write_text(str(content), encoding="utf-8")
    return host


SCRIPT_OF_ALL_KINDS = (
    "top = os.getcwd()\n"
    + "".join(f"os.chdir(top + '/{kind}')\n{act}\n" for kind, (_, act, _) in KINDS.items())
    + "os.chdir(top)\n"
)


@pytest.fixture(scope="module")
def layer(tmp_path_factory: pytest.TempPathFactory, layer_kind: LayerPlace) -> Layer:
    """One layer with every kind of change."""
    place = tmp_path_factory.mktemp(f"kinds-{layer_kind}")
    return made_layer(place, host_with_all_kinds(place), SCRIPT_OF_ALL_KINDS)


@pytest.fixture(scope="module")
def changes(layer: Layer) -> dict[bytes, Change]:
    """What a scan of it finds."""
    return {change.path: change for change in layer.scanned().entries}


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_change_is_found(kind: str, changes: dict[bytes, Change]) -> None:
    """What the run did shows as these changes and no others, folders before what is in them."""
    prefix = f"{kind}/".encode()
    found = [
        (str(each.kind), os.fsdecode(path.removeprefix(prefix)), str(each.type))
        for path, each in changes.items()
        if path.startswith(prefix)
    ]
    order = sorted(KINDS[kind][2], key=lambda each: each[1].replace("/", "\0"))
    assert found == order


def test_changes_carry_hashes_of_new_and_old_bytes(changes: dict[bytes, Change]) -> None:
    """SHA-256 and size of what is there now, and of what was."""
    change = changes[b"same-size/f"]
    assert change.was is not None
    assert change.sha256 == hashlib.sha256(b"new").hexdigest()
    assert change.was.sha256 == hashlib.sha256(b"old").hexdigest()
    assert (change.size, change.was.size) == (3, 3)


def test_changes_carry_who_the_old_file_was(layer: Layer, changes: dict[bytes, Change]) -> None:
    """Device, inode, size and both times, so that a later change is noticed."""
    was = changes[b"same-size/f"].was
    found = os.lstat(os.fsdecode(layer.root.host) + "/same-size/f")
    assert was is not None
    assert (was.device, was.inode, was.size) == (found.st_dev, found.st_ino, found.st_size)
    assert (was.mtime_ns, was.ctime_ns) == (found.st_mtime_ns, found.st_ctime_ns)


def test_links_are_read_and_not_followed(changes: dict[bytes, Change]) -> None:
    """A link is its target's spelling, new and old."""
    change = changes[b"link-elsewhere/l"]
    assert change.target == b"u"
    assert change.was is not None
    assert change.was.target == b"t"


def test_modes_are_those_the_run_left(changes: dict[bytes, Change]) -> None:
    """Also where nobody but root may read the file, and also when it is scanned again."""
    assert changes[b"mode-of-file/f"].mode == 0o755
    assert changes[b"unreadable/d"].mode == 0
    assert changes[b"unreadable/d/f"].mode == 0
    assert changes[b"unreadable/d/f"].sha256 is not None


def test_scanning_changes_nothing(layer: Layer, changes: dict[bytes, Change]) -> None:
    """A second scan finds the very same."""
    assert {each.path: each for each in layer.scanned().entries} == changes


def test_paths_are_given_as_the_run_knew_them(tmp_path: Path) -> None:
    """The path inside is the root's place in the box, and the rest."""
    host = tmp_path / "host"
    host.mkdir()
    root = LayerRoot.over(0, host, inside="/project")
    layer = made_layer(tmp_path, host, "open('n', 'w')", root=root)
    assert [each.inside for each in layer.scanned().entries] == [b"/project/n"]


def test_odd_files_are_listed_and_refused(tmp_path: Path) -> None:
    """Pipes and sockets are in no list of changes."""
    host = tmp_path / "host"
    host.mkdir()
    script = "import _socket; os.mkfifo('p'); s = _socket.socket(1); s.bind('s'); open('f', 'w')"
    found = made_layer(tmp_path, host, script).scanned()
    assert [(each.path, each.type) for each in found.odd] == [
        (b"p", FileType.FIFO),
        (b"s", FileType.SOCKET),
    ]
    assert [each.path for each in found.entries] == [b"f"]


def test_hashing_stops_at_its_budget_and_says_so(tmp_path: Path) -> None:
    """What does not fit is left out by name; smaller files after it are still read."""
    host = tmp_path / "host"
    host.mkdir()
    layer = made_layer(tmp_path, host, "open('a', 'w').write('x' * 99); open('b', 'w').write('y')")
    found = layer.scanned(ScanLimits(hashed_bytes=50))
    hashed = {each.path: each.sha256 is not None for each in found.entries}
    assert hashed == {b"a": False, b"b": True}
    assert found.unhashed_count == 1
    assert found.unhashed == (os.fsencode(host) + b"/a",)


def test_a_scan_looks_at_a_bounded_number_of_names(tmp_path: Path) -> None:
    """More names than the limit end it, and the result says that it is not all."""
    host = tmp_path / "host"
    host.mkdir()
    layer = made_layer(tmp_path, host, "for n in range(300): open(str(n), 'w')")
    found = layer.scanned(ScanLimits(most_entries=100))
    assert not found.is_complete
    assert len(found.entries) <= 100
    assert layer.scanned().is_complete


def test_a_deleted_folder_counts_with_everything_in_it(tmp_path: Path) -> None:
    """One deletion in the layer may stand for more files than may be looked at."""
    host = tmp_path / "host"
    (host / "d").mkdir(parents=True)
    for number in range(50):
        (host / "d" / str(number)).touch()
    layer = made_layer(tmp_path, host, "import subprocess; subprocess.run(['rm', '-r', 'd'])")
    assert len(layer.scanned().entries) == 51
    assert not layer.scanned(ScanLimits(most_entries=20)).is_complete


def test_deep_trees_are_walked_and_too_deep_ones_refused(tmp_path: Path) -> None:
    """Depth needs no stack; a path that no program could open is refused where it gets too long."""
    host = tmp_path / "host"
    host.mkdir()
    script = (
        "top = os.getcwd()\nfor _ in range(2500):\n os.mkdir('d'); os.chdir('d')\nos.chdir(top)"
    )
    # The folder cannot be shown by a walk of whole paths: it is too deep for that.
    script += "\nimport treesight; treesight.sight_of = lambda _: {}"
    layer = made_layer(tmp_path, host, script)
    try:
        found = layer.scanned()
    finally:
        # Too deep for Python's own way to remove a folder.
        subprocess.run(["/bin/rm", "-rf", "--", layer.folder], check=True)
    assert found.is_complete
    assert len(found.entries) == 2000
    assert [each.why for each in found.odd] == ["its path is too long for any program to open"]


def test_a_root_that_does_not_exist_yet_is_new_with_the_way_to_it(tmp_path: Path) -> None:
    """The folders to it are changes; without anything in them there is no change at all."""
    (tmp_path / "ws").mkdir()
    root = LayerRoot.over(0, tmp_path / "ws" / "out" / "deep")
    assert root.rest == b"out/deep"
    layer = made_layer(tmp_path, tmp_path, "open('f', 'w')", root=root)
    paths = [(each.kind, each.path) for each in layer.scanned().entries]
    assert paths == [(ChangeKind.CREATED, each) for each in (b"out", b"out/deep", b"out/deep/f")]
    empty = made_layer(tmp_path, tmp_path, "", root=root, name="empty-layer")
    assert empty.scanned().entries == ()


def test_folders_of_the_engine_are_no_change_until_written_to(tmp_path: Path) -> None:
    """The engine makes writable folders in the layer before the run; their modes are its own."""
    host = tmp_path / "host"
    (host / "src").mkdir(parents=True, mode=0o700)
    root = LayerRoot.over(0, host, made=["src/gen", "out"])
    script = "os.makedirs('src/gen'); os.chmod('src', 0o755); os.mkdir('out'); open('out/f', 'w')"
    found = made_layer(tmp_path, host, script, root=root).scanned()
    assert [each.path for each in found.entries] == [b"out", b"out/f"]


def test_another_folder_at_the_name_of_a_root_is_refused(tmp_path: Path) -> None:
    """What the layer lies over must be the folder that the run saw."""
    host = tmp_path / "host"
    host.mkdir()
    layer = made_layer(tmp_path, host, "open('f', 'w')")
    host.rename(tmp_path / "away")
    host.mkdir()
    with pytest.raises(Refused, match="another folder stands at"):
        layer.scanned()


def test_a_link_at_the_name_of_a_root_is_refused(tmp_path: Path) -> None:
    """Nobody is led elsewhere by swapping the root for a link."""
    host = tmp_path / "host"
    host.mkdir()
    layer = made_layer(tmp_path, host, "open('f', 'w')")
    host.rename(tmp_path / "away")
    host.symlink_to(tmp_path / "away")
    with pytest.raises(Refused, match="layer over"):
        layer.scanned()


def test_a_missing_layer_is_refused(tmp_path: Path) -> None:
    """A folder without `upper0` is no layer."""
    with opened(tmp_path) as folder, pytest.raises(Refused, match="no such file"):
        scan(folder, [LayerRoot.over(0, tmp_path)], started_ns=file_clock_ns())


def test_links_in_the_layer_are_not_followed_by_the_scan(tmp_path: Path) -> None:
    """A link to a folder outside shows as a link, and nothing behind it is read."""
    host = tmp_path / "host"
    outside = tmp_path / "outside"
    host.mkdir()
    outside.mkdir()
    (outside / "secret").write_text("s", encoding="utf-8")
    layer = made_layer(tmp_path, host, f"os.symlink({str(outside)!r}, 'd')")
    assert [(each.path, each.type) for each in layer.scanned().entries] == [(b"d", FileType.LINK)]


def test_a_folder_deleted_meanwhile_is_marked_as_lost(tmp_path: Path) -> None:
    """What the run changed in a folder of the host must not bring a deleted folder back."""
    host = tmp_path / "host"
    (host / "d").mkdir(parents=True)
    (host / "d" / "f").write_text("old", encoding="utf-8")
    layer = made_layer(tmp_path, host, "open('d/f', 'w').write('new')")
    (host / "d" / "f").unlink()
    (host / "d").rmdir()
    assert {each.path: each.is_lost for each in layer.scanned().entries}[b"d"]


def test_paths_as_text_are_unicode_and_read_back_apart() -> None:
    """Odd bytes and backslashes have spellings that no other name shares."""
    assert path_text(b"a b") == "a b"
    assert path_text("ä".encode()) == "ä"
    assert path_text(b"\xff") == "\\xff"
    assert path_text(b"\\xff") == "\\\\xff"

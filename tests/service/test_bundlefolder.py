"""Patch bundles on the disk: folders and files, read without following a link (CONTRACTS §12-bundle)."""

import json
import os
from pathlib import Path

import pytest

from consentry.base.errors import UsageProblem
from consentry.declare.patchbundle import Blob, BundleIncomplete, PatchBundle
from consentry.examine.images import images_of
from consentry.service import bundlefolder
from consentry.service.bundlefolder import read_bundle

DIFF = b"--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A bundle of one file."""
    made = tmp_path / "bundle"
    for side, content in (("base", b"a\n"), ("after", b"b\n")):
        (made / side).mkdir(parents=True)
        (made / side / "x").write_bytes(content)
    (made / "patch.diff").write_bytes(DIFF)
    (made / "touched_paths").write_text("x\n")
    return made


def incomplete(folder: Path) -> str:
    """Why a folder is no bundle."""
    with pytest.raises(BundleIncomplete) as caught:
        read_bundle(str(folder))
    return str(caught.value)


def test_a_folder(folder: Path) -> None:
    """CONTRACTS §12-bundle: diff, touched paths, blobs before and after."""
    found = read_bundle(str(folder))
    assert found == PatchBundle(DIFF, ("x",), (), {"x": Blob(b"a\n")}, {"x": Blob(b"b\n")})
    assert len(images_of(found).changes) == 1


def test_a_file(folder: Path, tmp_path: Path) -> None:
    """The same as one JSON document."""
    file = tmp_path / "bundle.json"
    document = {
        "patch.diff": DIFF.decode(),
        "touched_paths": ["x"],
        "base": {"x": "a\n"},
        "after": {"x": "b\n"},
    }
    file.write_text(json.dumps(document))
    assert read_bundle(str(file)) == read_bundle(str(folder))


def test_everything_that_lies_in_it(folder: Path) -> None:
    """Folders at any depth, the executable bit, links as their targets, names that are no text."""
    (folder / "after" / "deep" / "er").mkdir(parents=True)
    script = folder / "after" / "deep" / "er" / "run.sh"
    script.write_bytes(b"echo\n")
    script.chmod(0o755)
    (folder / "after" / "link").symlink_to("/etc/passwd")
    (folder / "after" / "dangling").symlink_to("nowhere")
    with open(os.fsencode(folder) + b"/after/\xff", "wb") as odd:  # noqa: PTH123 - no text
        odd.write(b"odd")
    (folder / "new_deps.txt").write_text("httpx\nrich>=13\n")
    (folder / "wish.yaml").write_text("not looked at")
    found = read_bundle(str(folder))
    assert found.after == {
        "x": Blob(b"b\n"),
        "deep/er/run.sh": Blob(b"echo\n", "100755"),
        "link": Blob(b"/etc/passwd", "120000"),
        "dangling": Blob(b"nowhere", "120000"),
        "\udcff": Blob(b"odd"),
    }
    assert found.new_deps == ("httpx", "rich>=13")


@pytest.mark.parametrize("name", ["touched_paths.json", "touched_paths.txt"])
def test_the_list_under_its_other_names(folder: Path, name: str) -> None:
    """One of them; two are one too many."""
    (folder / name).write_text('["x"]' if name.endswith("json") else "x\n")
    assert incomplete(folder) == "`touched_paths` is there twice"
    (folder / "touched_paths").unlink()
    assert read_bundle(str(folder)).touched_paths == ("x",)
    (folder / name).unlink()
    assert incomplete(folder) == "`touched_paths` is missing"


def test_a_missing_diff(folder: Path) -> None:
    """GUARD T5: the bundle is read, and has none."""
    (folder / "patch.diff").unlink()
    assert read_bundle(str(folder)).diff is None


def test_no_link_leads_out(folder: Path, tmp_path: Path) -> None:
    """Neither in place of a part nor in place of a folder."""
    (tmp_path / "secret").write_bytes(DIFF)
    (folder / "patch.diff").unlink()
    (folder / "patch.diff").symlink_to(tmp_path / "secret")
    assert incomplete(folder) == "`patch.diff`: it is no plain file"
    (folder / "patch.diff").unlink()
    (folder / "base" / "x").unlink()
    (folder / "base").rmdir()
    (folder / "base").symlink_to(tmp_path)
    assert incomplete(folder).startswith("the bundle cannot be read: ")


def test_what_is_no_file(folder: Path) -> None:
    """A pipe is not waited for."""
    os.mkfifo(folder / "after" / "pipe")
    assert incomplete(folder) == "`after/pipe`: it is neither a file, a folder nor a link"


def test_a_folder_that_is_a_file(folder: Path) -> None:
    """`base` must be a folder if it is there."""
    (folder / "base" / "x").unlink()
    (folder / "base").rmdir()
    (folder / "base").write_text("")
    assert incomplete(folder) == "the bundle cannot be read: not a directory"


def test_too_much(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes, files and names are bounded."""
    monkeypatch.setattr(bundlefolder, "MOST_BLOB", 100)
    (folder / "after" / "y").write_bytes(b"y" * 101)
    assert incomplete(folder) == "`after/y`: the bundle is too large"
    monkeypatch.setattr(bundlefolder, "MOST_BLOB", 1000)
    monkeypatch.setattr(bundlefolder, "MOST_PATHS", 1)
    assert incomplete(folder) == "a folder has more than 1 names"


def test_a_name_that_leads_nowhere(tmp_path: Path) -> None:
    """That is a mistake of whoever typed it."""
    with pytest.raises(UsageProblem):
        read_bundle(str(tmp_path / "nothing"))

"""The way to a path, name by name, on real folders and links."""

from pathlib import Path

import pytest

from consentry.enforce.hops import hops_to, leads_through


def _below(base: Path, path: Path, start: Path = Path("/")) -> list[str]:
    hops = hops_to(path, start)
    return [str(hop.path.relative_to(base)) for hop in hops if base in hop.path.parents]


def test_links_and_what_they_lead_to_are_hops(tmp_path: Path) -> None:
    """An absolute and a relative link, one through the other, each seen where it stands."""
    (tmp_path / "end").mkdir()
    (tmp_path / "middle").mkdir()
    (tmp_path / "middle/second").symlink_to("../end")
    (tmp_path / "first").symlink_to(tmp_path / "middle/second")
    found = _below(tmp_path, tmp_path / "first/file")
    assert found == ["first", "middle", "middle/second", "end", "end/file"]


def test_dots_follow_the_folders_and_not_the_spelling(tmp_path: Path) -> None:
    """`..` after a link leads up from where the link led."""
    (tmp_path / "far/away").mkdir(parents=True)
    (tmp_path / "link").symlink_to("far/away")
    assert _below(tmp_path, tmp_path / "link/../x")[-1] == "far/x"


def test_missing_names_are_hops_that_were_not_found(tmp_path: Path) -> None:
    """What will be made there lies on the same way."""
    last = hops_to(tmp_path / "missing/deeper")[-1]
    assert (last.path, last.found) == (tmp_path / "missing/deeper", None)


def test_relative_way_begins_in_its_start(tmp_path: Path) -> None:
    """The start itself is no hop: nobody looked it up."""
    assert _below(tmp_path, Path("a/../b"), tmp_path) == ["a", "b"]


def test_loop_of_links_raises(tmp_path: Path) -> None:
    """A way without an end is an error, not an endless walk."""
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(OSError, match="symbolic links"):
        hops_to(tmp_path / "loop")


def test_leading_through_a_folder(tmp_path: Path) -> None:
    """Ending in it, or being sent on by a link in it; passing by is not enough."""
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (folder / "out").symlink_to(outside)
    (outside / "in").symlink_to(folder)
    (outside / "through").symlink_to(folder / "out")
    (folder / "loop").symlink_to("loop")
    for path in (folder, folder / "x", folder / "out", outside / "in", outside / "through"):
        assert leads_through(path, folder)
    assert leads_through(folder / "loop", folder)
    for path in (outside, outside / "x", folder / "../outside", tmp_path):
        assert not leads_through(path, folder)

"""One side of a change: what its files give together, with links, submodules and imports followed."""

from typing import Any

import pytest

from consentry.declare.patchbundle import Blob
from consentry.examine import sides
from consentry.examine.atoms import Extraction, calling, connecting, reading, starting
from consentry.examine.sides import LINK, SUBMODULE, Side, examine_side
from consentry.surface.pattern import ABSOLUTE_PATH_MARK
from tests.examine.changes import Files, extract, side_of


def with_mode(content: bytes, mode: str, **files: str) -> Side:
    """A side that touches `touched.py` with that mode, in a tree of files."""
    return examine_side({"touched.py": Blob(content, mode)}, Files(files), extract)


def keys(side: Side) -> list[str]:
    """What is not known, without digests."""
    return [each.about.key.partition("sha256:")[0].strip() for each in side.doubts]


def test_a_file_that_no_extractor_reads_is_not_known() -> None:
    """GUARD §extract-closed: what it is written in is said, and nothing passed over."""
    side = side_of({"lib/thing.rb": "system('ls')\n"})
    assert side.files == ("lib/thing.rb",)
    assert len(side.doubts) == 1


def test_text_that_no_program_runs_gives_nothing() -> None:
    """Documentation is no code, whatever it tells of."""
    side = side_of({"README.md": "run `import subprocess` and read /etc/passwd\n"})
    assert (side.found, side.doubts) == ((), ())


def test_classes_of_tools_follow_from_what_a_file_does() -> None:
    """GUARD §vector-1: `web`, `shell`, `filesystem`, and for Python with powers `python`."""
    assert {calling("python"), calling("web")} <= side_of({"a.py": "import socket\n"}).atoms
    assert calling("shell") in side_of({"a.py": "import subprocess\n"}).atoms
    assert calling("filesystem") in side_of({"a.py": "open('x')\n"}).atoms
    assert side_of({"a.py": "x = 1\n"}).atoms == frozenset()


def test_imports_are_followed_as_far_as_they_go() -> None:
    """GUARD §extract-1: two steps away is still here; nothing is read twice, or without need."""
    files = Files(
        {
            "a.py": "import b\n",
            "b.py": "import a, c\n",
            "c.py": "import socket\n",
            "unused.py": "import subprocess\n",
        }
    )
    side = examine_side({"a.py": files.blobs["a.py"]}, files, extract)
    assert side.files == ("a.py", "b.py", "c.py")
    assert [each.file for each in side.found if each.found.atom == connecting()] == ["c.py"]
    assert starting() not in side.atoms
    assert sorted(files.reads) == ["b.py", "c.py"]


def test_a_module_that_nobody_knows_is_a_doubt() -> None:
    """GUARD §extract-closed: in no table, and no file of the tree."""
    side = side_of({"a.py": "import surely_nobody_knows.this\nfrom . import missing\n"})
    assert keys(side) == ["import surely_nobody_knows", "import  ."]


def test_too_many_files_are_not_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    """GUARD §extract-closed: a bound that is reached is said, not kept to in silence."""
    monkeypatch.setattr(sides, "MOST_FOLLOWED", 2)
    chain = {f"m{at}.py": f"import m{at + 1}\n" for at in range(5)}
    side = side_of({"a.py": "import m0\n"}, chain)
    assert "too many files" in keys(side)
    assert "too many files" not in keys(side_of({"a.py": "import m3\n"}, chain))


def test_a_link_is_what_it_leads_to() -> None:
    """Read as what the link calls it: text under the name of a program is one."""
    side = with_mode(b"notes.txt", LINK, **{"notes.txt": "import socket\n"})
    assert connecting() in side.atoms


@pytest.mark.parametrize("target", ["/etc/passwd", "/srv/x", "~/.ssh/id"])
def test_a_link_out_of_the_tree_is_a_reference(target: str) -> None:
    """GUARD §extract-absolute, §extract-protected: whoever opens the link opens that."""
    side = with_mode(target.encode(), LINK)
    assert {reading(target), reading(ABSOLUTE_PATH_MARK)} <= side.atoms


def test_a_link_that_climbs_out_has_the_mark() -> None:
    """Where it leads depends on where the tree lies."""
    assert reading(ABSOLUTE_PATH_MARK) in with_mode(b"../../x", LINK).atoms


def test_a_link_to_nothing_or_to_a_link_is_not_known() -> None:
    """GUARD §extract-closed: and so is one in a circle."""
    assert keys(with_mode(b"missing.py", LINK)) == ["link"]
    assert keys(with_mode(b"touched.py", LINK)) == ["link"]


def test_a_submodule_is_not_known() -> None:
    """GUARD §extract-closed: its code is elsewhere."""
    assert keys(with_mode(b"Subproject commit 1\n", SUBMODULE)) == ["submodule"]


def test_what_is_touched_counts_and_not_what_the_tree_has() -> None:
    """A module that the change brings is read as the change has it."""
    touched = {"a.py": "import b\n", "b.py": "import socket\n"}
    assert connecting() in side_of(touched, {"b.py": "x = 1\n"}).atoms


def test_the_order_of_files_does_not_count() -> None:
    """GUARD §deterministic: the same side, entry by entry."""
    texts = {f"m{at}.py": f"import socket\nopen('f{at}')\nimport nobody{at}\n" for at in range(6)}
    turned = dict(reversed(texts.items()))
    assert side_of(texts) == side_of(turned)
    placed = [(each.file, each.found.line) for each in side_of(texts).found]
    assert placed == sorted(placed)


def test_each_round_is_handed_over_at_once() -> None:
    """Whoever extracts may use more than one core: files come in batches, not one by one."""
    batches: list[int] = []

    def counted(jobs: Any) -> list[Extraction]:
        listed = list(jobs)
        batches.append(len(listed))
        return extract(listed)

    files = Files({"a.py": "import c, d\n", "b.py": "import d\n", "c.py": "", "d.py": ""})
    examine_side({name: files.blobs[name] for name in ("a.py", "b.py")}, files, counted)
    assert batches == [2, 2]

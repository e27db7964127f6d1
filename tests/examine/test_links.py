"""Links of a tree (GUARD §extract-1): what a link leads to is read as what the link calls it."""

import pytest

from consentry.declare.patchbundle import Blob
from consentry.examine.sides import LINK, Side, examine_side
from consentry.service.extracting import Extractor
from consentry.service.guarding import BlobTree

STARTS = Blob(b"import os\nos.system('id')\n")
PLAIN = Blob(b"x = 1\n")


def link(target: str) -> Blob:
    """A link as git keeps it."""
    return Blob(target.encode(), LINK)


def side(touched: dict[str, Blob], tree: dict[str, Blob]) -> Side:
    """One side of a change in a tree."""
    return examine_side(touched, BlobTree(tree, touched), Extractor())


def operations(given: Side) -> set[str]:
    """What is done, without where."""
    return {atom.operation.value for atom in given.atoms}


@pytest.mark.parametrize(
    ("touched", "tree"),
    [
        pytest.param({"x.py": link("data.txt")}, {"data.txt": STARTS}, id="root"),
        pytest.param({"x.py": link("./data.txt")}, {"data.txt": STARTS}, id="root, with a dot"),
        pytest.param({"x.py": link("p/data.txt")}, {"p/data.txt": STARTS}, id="root, downwards"),
        pytest.param({"p/x.py": link("data.txt")}, {"p/data.txt": STARTS}, id="folder"),
        pytest.param({"p/x.py": link("../data.txt")}, {"data.txt": STARTS}, id="upwards"),
        pytest.param(
            {"x.py": link("data.txt"), "data.txt": STARTS}, {}, id="both in the same change"
        ),
        pytest.param(
            {"a.py": Blob(b"import evil\n")},
            {"evil.py": link("data.txt"), "data.txt": STARTS},
            id="imported",
        ),
    ],
)
def test_what_a_link_leads_to_is_read_as_code(
    touched: dict[str, Blob], tree: dict[str, Blob]
) -> None:
    """A link called `x.py` makes Python of what it leads to, wherever the link lies."""
    assert "start" in operations(side(touched, tree))


@pytest.mark.parametrize("target", ["/etc/passwd", "../outside", "~/x"])
def test_a_link_that_leaves_the_tree_reads_there(target: str) -> None:
    """Nothing of the tree is read: the link itself is a way out."""
    assert "read" in operations(side({"x.py": link(target)}, {}))


@pytest.mark.parametrize(
    ("touched", "tree"),
    [
        ("p/data.txt", {"p/x.py": link("data.txt")}),
        ("data.txt", {"x.py": link("data.txt")}),
        ("data.txt", {"x.py": link("y"), "y": link("data.txt")}),
        ("real/data.txt", {"p": link("real"), "x.py": link("p/data.txt")}),
    ],
)
def test_a_touched_file_is_what_a_link_of_the_tree_calls_it(
    touched: str, tree: dict[str, Blob]
) -> None:
    """A change of `data.txt` is a change of code where `x.py` has always been a link to it."""
    assert "start" in operations(side({touched: STARTS}, tree))
    assert operations(side({touched: PLAIN}, tree)) == set()


def test_a_folder_by_another_name() -> None:
    """What lies in a folder that a link calls `requirements` are requirements."""
    given = {"data/notes.txt": Blob(b"requests\n")}
    assert "connect" in operations(side(given, {"requirements": link("data")}))
    assert operations(side(given, {})) == set()


@pytest.mark.parametrize("target", ["other.txt", "/data.txt", "../data.txt", "x.py", "."])
def test_links_elsewhere_change_nothing(target: str) -> None:
    """A link that leads to something else, or round in a circle, makes nothing of a text."""
    assert operations(side({"data.txt": STARTS}, {"x.py": link(target)})) == set()

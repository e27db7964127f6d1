"""What code in one place can do: folders, files, links, what is left out, memory and speed in bounds."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import ClassVar

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.examine.atoms import Ends, Extraction
from consentry.examine.sides import Job
from consentry.examine.tabledigest import tables_digest
from consentry.service import surfaces
from consentry.service.codeplace import find_code
from consentry.service.extractioncache import ExtractionCache
from consentry.service.sources import NotRead, Skipped
from consentry.service.surfaces import Means, compare, examine_source
from consentry.surface.dimensions import Level
from tests.service.codesamples import COUNTS, FETCHES, STARTS, examined, write_tree


def test_a_folder_has_the_powers_of_all_its_files(tmp_path: Path) -> None:
    """GUARD §vector-1: powers are joined over files, and each says where it stands."""
    write_tree(tmp_path, {"app/fetch.py": FETCHES, "run.py": STARTS, "README.md": "words"})
    found = examined(tmp_path)
    assert found.surface.net_access.level is Level.ALLOWLIST
    assert list(found.surface.net_access.targets) == ["feeds.example.org:443"]
    assert list(found.surface.proc_exec.targets) == ["git"]
    places = {(each.file, each.found.line) for each in found.side.found}
    assert {("app/fetch.py", 5), ("run.py", 5)} <= places
    assert (found.files, found.side.doubts) == (3, ())


def test_an_empty_folder_can_do_nothing(tmp_path: Path) -> None:
    """GUARD §vector-3: no files, the empty surface."""
    (tmp_path / "inner").mkdir()
    found = examined(tmp_path)
    assert (bool(found.surface), found.files, found.not_read) == (False, 0, ())


def test_imports_within_the_folder_are_known(tmp_path: Path) -> None:
    """An import that leads to a file of the folder is settled; one that leads nowhere is not."""
    write_tree(
        tmp_path,
        {
            "pkg/__init__.py": "from . import inner\n",
            "pkg/inner.py": "import pkg.other\nfrom ..nowhere import x\n",
            "pkg/other.py": "import in_no_table_at_all\n",
        },
    )
    reasons = [each.about.reason for each in examined(tmp_path).side.doubts]
    assert len(reasons) == 2
    assert "..nowhere" in reasons[0]
    assert reasons[1] == "import in_no_table_at_all: in no table, and not in this tree"


def test_what_is_left_out_is_said(tmp_path: Path) -> None:
    """Version control, compiled modules and virtual environments; whatever else is there is read."""
    write_tree(
        tmp_path,
        {
            ".git/hooks/pre-commit": "#!/bin/sh\ncurl example.org\n",
            "__pycache__/app.cpython-312.pyc": "x",
            "__pycache__/hidden.py": STARTS,
            "env/pyvenv.cfg": "home = /usr/bin\n",
            "env/lib/app.py": FETCHES,
            "node_modules/a/index.js": "require('child_process')\n",
        },
    )
    os.mkfifo(tmp_path / "pipe")
    found = examined(tmp_path)
    assert found.not_read == (
        NotRead(".git", Skipped.VERSIONS),
        NotRead("__pycache__", Skipped.COMPILED),
        NotRead("env", Skipped.ENVIRONMENT),
        NotRead("pipe", Skipped.SPECIAL),
    )
    assert {each.file for each in found.side.found} == {
        "__pycache__/hidden.py",
        "node_modules/a/index.js",
    }
    assert found.surface.net_access.level is Level.NONE


def test_a_virtual_environment_that_is_named_is_read(tmp_path: Path) -> None:
    """Only what lies below the folder that was asked about can be left out."""
    write_tree(tmp_path, {"pyvenv.cfg": "home = /usr/bin\n", "lib/app.py": STARTS})
    assert list(examined(tmp_path).surface.proc_exec.targets) == ["git"]


def test_a_virtual_environment_that_is_new_is_not_known(tmp_path: Path) -> None:
    """A folder cannot be hidden from a comparison by a file that makes it look like one."""
    before = write_tree(tmp_path / "a", {"app.py": COUNTS})
    after = write_tree(tmp_path / "b", {"app.py": COUNTS, "x/pyvenv.cfg": "", "x/y.py": STARTS})
    delta = compare(examined(before), examined(after))
    assert [each.file for each in delta.doubts] == ["x"]
    assert delta.gained == ()


def test_links(tmp_path: Path) -> None:
    """Inside the tree they are what they lead to; out of it they read; in a circle nobody knows."""
    write_tree(tmp_path, {"data.txt": STARTS, "pkg/a.py": COUNTS})
    (tmp_path / "code.py").symlink_to("data.txt")
    (tmp_path / "again.py").symlink_to("code.py")
    (tmp_path / "folder").symlink_to("pkg")
    (tmp_path / "pkg/up").symlink_to("..")
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "one").symlink_to("two")
    (tmp_path / "two").symlink_to("one")
    (tmp_path / "gone").symlink_to("nowhere.py")
    found = examined(tmp_path)
    assert {each.file for each in found.side.found} == {"code.py", "again.py", "out"}
    assert "/etc/passwd" in found.surface.fs_read_roots
    assert [each.file for each in found.side.doubts] == ["gone", "one", "two"]


def test_names_that_are_no_text(tmp_path: Path) -> None:
    """Names are bytes; they are read, and kept as they are."""
    name = os.fsdecode(b"caf\xe9.py")
    (tmp_path / name).write_text(STARTS)
    assert {each.file for each in examined(tmp_path).side.found} == {name}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_unclassified(tmp_path: Path) -> None:
    """What should have been read and was not may do anything."""
    write_tree(tmp_path, {"app.py": COUNTS, "closed/x.py": STARTS})
    (tmp_path / "app.py").chmod(0)
    (tmp_path / "closed").chmod(0)
    try:
        found = examined(tmp_path)
    finally:
        (tmp_path / "closed").chmod(0o755)
    assert [each.file for each in found.side.doubts] == ["app.py", "closed"]


def test_a_file_that_grows_too_large_is_unclassified(tmp_path: Path) -> None:
    """A size is no reason to take a file for harmless, and holes do not fill memory."""
    with (tmp_path / "large.py").open("wb") as file:
        file.truncate(65 << 20)
    (doubt,) = examined(tmp_path).side.doubts
    assert (doubt.file, "64 MB" in doubt.about.reason) == ("large.py", True)


def test_a_tree_too_deep_for_a_path(tmp_path: Path) -> None:
    """Folders deeper than any path can name are not walked into a crash."""
    write_tree(tmp_path, {"app.py": STARTS})
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(30):
            os.mkdir("d" * 200, dir_fd=here)
            inner = os.open("d" * 200, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
    finally:
        os.close(here)
    found = examined(tmp_path)
    assert list(found.surface.proc_exec.targets) == ["git"]
    assert [each.about.reason for each in found.side.doubts] == [
        "cannot be read: file name too long"
    ]


def test_a_file_is_read_with_what_it_imports(tmp_path: Path) -> None:
    """The tree of a file is where its outermost package lies; the rest of that tree is not read."""
    write_tree(
        tmp_path,
        {
            "pkg/__init__.py": "",
            "pkg/a.py": "from . import b\nimport helper\n",
            "pkg/b.py": STARTS,
            "helper.py": COUNTS,
            "other.py": FETCHES,
        },
    )
    found = examined(tmp_path / "pkg/a.py")
    assert {each.file for each in found.side.found} == {"pkg/b.py"}
    assert found.surface.net_access.level is Level.NONE
    assert found.side.doubts == ()


def test_a_file_that_imports_through_a_link(tmp_path: Path) -> None:
    """A link next door is followed inside the tree, and nowhere else."""
    write_tree(tmp_path / "tree", {"a.py": "import b\nimport c\n", "real.py": STARTS})
    write_tree(tmp_path, {"outside.py": FETCHES})
    (tmp_path / "tree/b.py").symlink_to("real.py")
    (tmp_path / "tree/c.py").symlink_to("../outside.py")
    found = examined(tmp_path / "tree/a.py")
    assert list(found.surface.proc_exec.targets) == ["git"]
    assert found.surface.net_access.level is Level.NONE
    assert [each.about.key for each in found.side.doubts] == ["import c"]


def test_recipes_are_documents(tmp_path: Path) -> None:
    """Their nodes are judged by a registry, and here there is none."""
    recipe = 'recipe_version: "1"\nnodes: [{id: fetch, tool: web-fetch}]\n'
    write_tree(tmp_path, {"a.recipe.yaml": recipe, "b.recipe.yaml": "nonsense"})
    reasons = [each.about.reason for each in examined(tmp_path).side.doubts]
    assert len(reasons) == 2
    assert "web-fetch" in reasons[0]


def test_two_thousand_files_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However they are cut into batches, on however many cores, the answer is the same."""
    files = {
        f"pkg{n % 20}/m{n}.py": f"N = {n}\n{STARTS if n % 500 == 0 else COUNTS}"
        for n in range(2000)
    }
    write_tree(tmp_path, files)
    told: list[tuple[int, int]] = []
    whole = examine_source(
        find_code(str(tmp_path)), Means(progress=lambda done, total: told.append((done, total)))
    )
    assert (whole.files, len({each.file for each in whole.side.found})) == (2000, 4)
    assert told[-1] == (2000, 2000)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    monkeypatch.setattr(surfaces, "BATCH_FILES", 300)
    assert examined(tmp_path).side == whole.side


HELPER, USER = b"import os as o\n", b"from helper import o\n\no.system(input())\n"


class _Leaving:
    """Extraction that says only where the two files leave off, so that batches alone are tried."""

    ENDS: ClassVar = {
        HELPER: Ends(exports=(("o", "os"),)),
        USER: Ends(outside=(("helper.o.system", 3),)),
    }

    def __init__(self, *_given: object, **_options: object) -> None:
        """Takes what the real one takes, and needs none of it."""

    def __call__(self, jobs: Iterable[Job]) -> list[Extraction]:
        """The ends by content."""
        return [Extraction(ends=self.ENDS[content]) for _, content in jobs]


@pytest.mark.parametrize("way", ["together", "one by one", "by a link"])
def test_what_one_file_gives_another_counts(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A power is not hidden by being cut into two batches, or by a link."""
    monkeypatch.setattr(surfaces, "Extractor", _Leaving)
    (tmp_path / "helper.py").write_bytes(HELPER)
    if way == "by a link":
        (tmp_path / "notes.txt").write_bytes(USER)
        (tmp_path / "main.py").symlink_to("notes.txt")
    else:
        (tmp_path / "main.py").write_bytes(USER)
    if way == "one by one":
        monkeypatch.setattr(surfaces, "BATCH_FILES", 1)
    found = examined(tmp_path)
    assert found.surface.proc_exec.level is Level.ANY
    assert {(each.file, each.found.line) for each in found.side.found} == {("main.py", 3)}
    assert "shell" in found.surface.tool_classes


def test_a_second_run_reads_nothing_again(tmp_path: Path) -> None:
    """What was read before is found by its content, and gives the same."""
    tree = write_tree(
        tmp_path / "tree", {f"m{n}.py": f"N = {n}\n" + STARTS + COUNTS * 20 for n in range(100)}
    )
    kept = tmp_path / "kept"
    kept.mkdir(mode=0o700)

    def cache() -> ExtractionCache:
        return ExtractionCache(kept, kept / "key", tables_digest())

    first = examine_source(find_code(str(tree)), Means(cache, workers=1))
    entries = {path.name: path.stat().st_size for path in kept.iterdir()}
    assert len(entries) == 2
    assert examine_source(find_code(str(tree)), Means(cache, workers=1)) == first
    assert {path.name: path.stat().st_size for path in kept.iterdir()} == entries


@pytest.mark.parametrize("name", ["nowhere", "nowhere/a.py", "", "a\0b", "../../nowhere.whl"])
def test_what_is_not_there(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error with a code, and nothing was looked for elsewhere."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageProblem) as problem:
        find_code(name)
    assert problem.value.code is Code.FILE_UNUSABLE


def test_what_is_no_code(tmp_path: Path) -> None:
    """A pipe would hold us for ever, and some archives are not read."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.tar.xz").write_bytes(b"x")
    for name in ("pipe", "a.tar.xz"):
        with pytest.raises(UsageProblem):
            find_code(str(tmp_path / name))

"""Where imports lead within the same tree: which files run when they do."""

import pytest

from consentry.examine.atoms import ModuleImport
from consentry.examine.filekinds import FileKind
from consentry.examine.importing import files_of_import
from tests.examine.changes import Files


def followed(
    given: ModuleImport, importer: str, *names: str, kind: FileKind = FileKind.PYTHON
) -> tuple[str, ...] | None:
    """The files of a tree with these names that the import runs."""
    return files_of_import(given, importer, kind, Files(dict.fromkeys(names, "")))


def absolute(module: str, *names: str) -> ModuleImport:
    """`import module`, or `from module import names`."""
    return ModuleImport(module, 0, names, 1, is_known=False)


def relative(level: int, module: str = "", *names: str) -> ModuleImport:
    """The same with dots before it."""
    return ModuleImport(module, level, names, 1, is_known=False)


@pytest.mark.parametrize(
    "place", ["helper.py", "helper/__init__.py", "src/helper.py", "lib/helper.py", "app/helper.py"]
)
def test_a_module_is_looked_for_where_programs_find_theirs(place: str) -> None:
    """Below the root, the usual folders for sources, and every folder above the importing file."""
    assert followed(absolute("helper"), "app/deep/main.py", place) == (place,)


def test_every_place_that_it_may_be_found_at_counts() -> None:
    """Which one it is depends on how the program is started."""
    found = followed(absolute("helper"), "app/main.py", "app/helper.py", "helper.py")
    assert found is not None
    assert sorted(found) == ["app/helper.py", "helper.py"]


def test_what_is_not_in_the_tree_leads_nowhere() -> None:
    """None, and not the empty list: then a table must know it."""
    assert followed(absolute("requests"), "app/main.py", "app/main.py") is None


def test_packages_on_the_way_run_too() -> None:
    """`import a.b.c` runs both `__init__` files before the module."""
    names = ("a/__init__.py", "a/b/__init__.py", "a/b/c.py")
    assert followed(absolute("a.b.c"), "main.py", *names) == names


def test_names_may_be_modules() -> None:
    """`from a import b, c`: those that are files of the package run, too."""
    names = ("a/__init__.py", "a/b.py", "a/c/__init__.py")
    assert followed(absolute("a", "b", "c", "d"), "main.py", *names) == names


def test_a_folder_without_an_init_file_is_a_package() -> None:
    """Namespace packages: `import a.b` needs no file for `a`."""
    assert followed(absolute("a.b"), "main.py", "a/b.py") == ("a/b.py",)
    assert followed(absolute("a", "b"), "main.py", "a/b.py") == ("a/b.py",)


def test_dots_count_from_the_importing_file() -> None:
    """One is its own folder, each further one the folder above."""
    names = ("a/__init__.py", "a/x.py", "a/b/__init__.py", "a/b/x.py")
    assert followed(relative(1, "x"), "a/b/main.py", *names) == ("a/b/x.py",)
    assert followed(relative(2, "x"), "a/b/main.py", *names) == ("a/x.py",)
    assert followed(relative(1, "", "x"), "a/b/main.py", *names) == ("a/b/x.py", "a/b/__init__.py")
    assert followed(relative(1, "y"), "a/b/main.py", *names) is None


@pytest.mark.parametrize(
    ("module", "file"),
    [
        ("./b", "src/b.js"),
        ("./b.js", "src/b.js"),
        ("./b.js", "src/b.ts"),
        ("../c", "c.mjs"),
        ("./d", "src/d/index.tsx"),
    ],
)
def test_relative_names_of_scripts(module: str, file: str) -> None:
    """The endings that resolvers try; TypeScript names the file that will be made from it."""
    given = relative(1, module)
    assert followed(given, "src/a.js", file, kind=FileKind.JAVASCRIPT) == (file,)


@pytest.mark.parametrize("module", ["../../outside", "/etc/passwd", "./missing"])
def test_scripts_do_not_lead_out_of_the_tree(module: str) -> None:
    """A name that leaves is no file of the tree, whatever it is."""
    given = relative(1, module)
    assert followed(given, "src/a.js", "src/a.js", kind=FileKind.JAVASCRIPT) is None

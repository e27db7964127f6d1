"""GUARD §extract-1: packages by name, and the form of the tables that they stand in."""

from consentry.examine.atoms import ANYTHING, NAMELESS, connecting, starting
from consentry.examine.javascript.constantcalls import FUNCTIONS
from consentry.examine.javascript.effects import bare_atoms
from consentry.examine.javascript.npmpackages import npm_package
from consentry.examine.javascript.tables import (
    node_rows,
    npm_rows,
    package_of,
    row_of_module,
)
from consentry.examine.knowledge.effects import Power


def test_a_package_with_powers() -> None:
    """What depending on a package gives is what importing it gives."""
    package = npm_package("axios")
    assert package is not None
    assert list(bare_atoms(package.effects)) == [connecting(NAMELESS)]


def test_a_pure_package() -> None:
    """A package without power is known, and has none."""
    package = npm_package("lodash")
    assert package is not None
    assert package.effects == ()


def test_an_unknown_package() -> None:
    """A package that no table has is not known."""
    assert npm_package("left-of-nowhere") is None


def test_types_of_a_package() -> None:
    """Declarations of types are no code."""
    package = npm_package("@types/whatever")
    assert package is not None
    assert package.effects == ()


def test_names_of_modules() -> None:
    """A module belongs to the package before its first slash, or the second with a scope."""
    assert package_of("lodash/fp/get") == "lodash"
    assert package_of("@a/b/c") == "@a/b"
    assert package_of("npm:chalk@5/x") == "chalk"
    assert package_of("npm:@a/b@1.2/x") == "@a/b"


def test_modules_of_the_runtime() -> None:
    """Modules that come with the runtime are told from packages of the same name."""
    assert row_of_module("node:fs") == "fs"
    assert row_of_module("fs/promises") == "fs/promises"
    assert row_of_module("node:test") == "node:test"
    assert row_of_module("test") is None
    assert row_of_module("globalThis") is None
    assert row_of_module("require") is None


def test_size_of_the_tables() -> None:
    """The tables have the packages that are used most, those without power too."""
    powerful = [name for name, row in npm_rows().items() if row.imported or row.members]
    assert len(powerful) > 150
    assert len(npm_rows()) > 1000


def test_every_object_leads_to_a_row() -> None:
    """A member that is another object of the tables names one that is there."""
    rows = {**npm_rows(), **node_rows()}
    for row in rows.values():
        for thing in row.objects.values():
            assert thing.row in rows, (row.name, thing)


def test_every_result_leads_to_a_row() -> None:
    """What a member is said to return is a module, a class of its own row, or another row."""
    rows = {**npm_rows(), **node_rows()}
    for row in rows.values():
        for effects in row.members.values():
            for effect in effects:
                if effect.power is Power.RETURNS:
                    known = {"module", *row.known, *rows}
                    assert effect.constant in known, (row.name, effect.constant)


def test_every_constant_function_has_a_row() -> None:
    """A function that is folded is found only through the tables."""
    for row, member in FUNCTIONS:
        assert member in node_rows()[row].known, (row, member)


def test_floor_of_a_bare_import() -> None:
    """GUARD §extract-allowlist: importing a network or process module is the step to a list."""
    for name in ("http", "https", "http2", "net", "tls", "dgram", "dns"):
        assert list(bare_atoms(node_rows()[name].imported)) == [connecting(NAMELESS)]
    assert list(bare_atoms(node_rows()["child_process"].imported)) == [starting(NAMELESS)]
    assert starting(ANYTHING) in list(bare_atoms(node_rows()["child_process"].handed))

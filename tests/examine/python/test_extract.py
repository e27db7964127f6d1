"""A file of Python as a whole: what is named counts, wherever it is kept, and what is too much is said."""

import gc

import pytest

from consentry.examine.atoms import ModuleImport, connecting, starting
from consentry.examine.python import resolve
from consentry.examine.python.extract import extract_python
from tests.examine.extractionwords import as_expected, words_of


def words(code: str) -> str:
    """All that is found in some code, without imports."""
    kept = [word for word in words_of(extract_python(code.encode())).split() if word[0] != ">"]
    return " ".join(kept)


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import requests", "net:"),
        ("import socket", "net:"),
        ("import subprocess", "proc:"),
        ("import pickle", ""),
        ("import pickle\npickle.loads(x)", "load:ANY"),
        ("eval(x)", "load:ANY"),
        ("import importlib\nimportlib.import_module('json')", "load:LIMITED"),
        ("import os\nos.environ['A']", "env:A"),
        ("import os\n'A' in os.environ", "env:A"),
        ("open('x')", "read:x"),
        ("open('/etc/passwd')", "read:/etc/passwd read:ABSOLUTE_PATH"),
        ("place = '/etc/passwd'", "read:/etc/passwd read:ABSOLUTE_PATH"),
        ("place = '/dev/null'", ""),
        ("place = '/etc is a folder'", ""),
        ("place = '/etcetera'", ""),
        ("x = 1", ""),
        ("import math\nmath.sqrt(2)", ""),
        ("# import os; os.system('x')", ""),
        ("'''import os'''", ""),
        ("import subprocess  # noqa, nosec", "proc:"),
    ],
)
def test_powers(code: str, expected: str) -> None:
    """GUARD §extract-net, -proc, -absolute, -protected, -dynamic; comments suppress nothing."""
    assert words(f"{code}\n") == as_expected(expected)


def test_what_is_named_counts_like_what_is_called() -> None:
    """GUARD §extract-allowlist: it can be called from anywhere then, with whatever arguments."""
    called = {each.atom for each in extract_python(b"import os\nos.system('ls')\n").found}
    named = {each.atom for each in extract_python(b"import os\nkeep = os.system\n").found}
    assert starting("ls") in called
    assert starting("*") in named


def test_a_module_that_is_handed_on_counts_for_what_it_can_do() -> None:
    """Whoever gets it may use all of it; what the file itself takes from it is what it does."""
    assert "proc:*" in words("import os\nf(os)\n")
    assert "proc:*" not in words("import os\nm = os\nm.getenv('A')\n")


def test_each_power_stands_at_its_first_line() -> None:
    """GUARD §verdict-1: in the order of lines."""
    found = extract_python(b"x = 1\nimport socket\nimport socket\nimport subprocess\n").found
    assert [(each.line, each.reason) for each in found] == [
        (2, "import socket"),
        (4, "import subprocess"),
    ]


def test_imports_are_told_with_what_the_tables_know() -> None:
    """Relative ones never are known; whoever has the tree follows them."""
    found = extract_python(b"import os\nimport strange\nfrom . import near\n").imports
    assert found == (
        ModuleImport("os", 0, (), 1, is_known=True),
        ModuleImport("strange", 0, (), 2, is_known=False),
        ModuleImport("", 1, ("near",), 3, is_known=False),
    )


def test_modules_imported_by_a_name_in_quotes_are_imported() -> None:
    """GUARD §extract-dynamic: with the powers of the import, on top of loading it."""
    found = extract_python(b"__import__('socket')\n")
    assert connecting() in {each.atom for each in found.found}
    assert "socket" in {each.module for each in found.imports}


def test_whoever_takes_only_modules_from_a_package_does_not_use_the_package() -> None:
    """`from os import path` gives what `os.path` gives."""
    assert words("from os import path\n") == ""


def test_code_in_a_constant_that_is_executed_is_read() -> None:
    """At the line of the call; as deep as three times."""
    found = extract_python(b"\nexec('import socket')\n").found
    assert (connecting(), 2) in {(each.atom, each.line) for each in found}
    assert "load:ANY" in words("x = 'exec(x)'\nexec(x)\n")


@pytest.mark.parametrize("content", [b"x = (", b"\xff\xfe\x00", b"def"])
def test_what_cannot_be_parsed_is_not_known(content: bytes) -> None:
    """GUARD §extract-closed: by its digest, so that the same file elsewhere is not new."""
    [doubt] = extract_python(content).unclassified
    assert doubt.key.startswith("source sha256:")
    assert extract_python(content) == extract_python(content)


def test_what_leads_to_too_much_is_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    """GUARD §extract-closed: a bound that is met is said, and what was found so far does not pass."""
    content = b"import os\n" + b"".join(b"x = os.x%d\n" % at for at in range(99)) + b"x()\n"
    assert extract_python(content).unclassified == ()
    monkeypatch.setattr(resolve, "MOST_STEPS", 50)
    [doubt] = extract_python(content).unclassified
    assert doubt.reason == "leads to more than can be worked out"


def test_the_collector_is_left_as_it_was() -> None:
    """Whatever comes of reading a file."""
    for content in (b"x = 1\n", b"x = (\n"):
        extract_python(content)
        assert gc.isenabled()
    gc.disable()
    try:
        extract_python(b"x = 1\n")
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_the_same_bytes_give_the_same_extraction() -> None:
    """GUARD §deterministic."""
    content = b"import os, socket\nfor m in {os, socket}: f(m)\nopen(x, y)\nos.system(z)\n"
    assert len({repr(extract_python(content)) for _ in range(3)}) == 1


def test_other_files_of_the_tree_can_follow_what_is_exported() -> None:
    """What the file has from elsewhere, and what it uses of modules that no table knows."""
    ends = extract_python(b"from os import system as go\nimport near\nnear.thing()\n").ends
    assert ("go", "os.system") in ends.exports
    assert [name for name, _ in ends.outside] == ["near.thing"]

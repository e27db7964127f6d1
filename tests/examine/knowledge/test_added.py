"""Tables that plugins add: both are read, nothing of ours is lost, and what has not the form is refused."""

import pytest

from consentry.examine.atoms import Extraction, connecting, starting
from consentry.examine.filekinds import FileKind
from consentry.examine.knowledge.added import MOST_TABLES, compile_added, extended_knowledge
from consentry.examine.knowledge.reader import knowledge, shipped_knowledge, used
from consentry.examine.knowledge.tables import BadTable
from consentry.service.extracting import extract_job, read_one
from consentry.service.extractioncodec import decode_extraction

TABLE = b"""
[[module]]
name = "math"
import = ["net"]
[module.members]
floor = ["proc=mail"]

[[module]]
name = "subprocess"
import = []
[module.members]
run = []

[[module]]
name = "acme_notes"
[module.members]
send = ["net@0/url"]

[[distribution]]
name = "Acme-Notes"
modules = ["acme_notes"]

[[distribution]]
name = "click"
modules = ["acme_notes"]

[[attribute]]
name = "send_note"
effects = ["net=notes.test:443"]
"""
ADDED = (compile_added({"notes.toml": TABLE}),)


def extracted(source: str, tables: tuple[bytes, ...] = ADDED) -> Extraction:
    """What Python source gives."""
    return read_one(FileKind.PYTHON, source.encode(), tables)


def atoms(source: str, tables: tuple[bytes, ...] = ADDED) -> set[str]:
    """The powers alone, as words."""
    return {f"{each.atom.operation} {each.atom.target}" for each in extracted(source, tables).found}


@pytest.mark.parametrize(
    ("source", "more"),
    [
        ("import math", {"connect "}),
        ("import math\nmath.floor(1)", {"connect ", "start mail"}),
        ("import acme_notes\nacme_notes.send('https://a.test')", {"connect a.test:443"}),
        ("x.send_note()", {"connect notes.test:443"}),
    ],
)
def test_a_row_adds_powers(source: str, more: set[str]) -> None:
    """To names that our tables know and to others; without the table there are none."""
    assert atoms(source, ()) == set()
    assert atoms(source) == more


@pytest.mark.parametrize(
    "source",
    [
        "import subprocess\nsubprocess.run(['ls'])",
        "from subprocess import run as r\nr('ls -l', shell=True)",
        "import os, socket\nos.system('x')\nsocket.create_connection(('a.test', 80))",
        "open('/etc/passwd').read()",
        "exec(input())",
        "import nobody_knows_this\nnobody_knows_this.f()",
    ],
)
def test_a_row_takes_nothing_away(source: str) -> None:
    """Also where it says that a name of ours gives nothing: found, doubts and imports stay."""
    before, after = extracted(source, ()), extracted(source)
    assert set(before.found) <= set(after.found)
    assert set(before.unclassified) <= set(after.unclassified)
    assert (before.imports, before.ends) == (after.imports, after.ends)


def test_a_row_settles_nothing() -> None:
    """A module that our tables do not know is not known because a plugin says something of it."""
    (given,) = extracted("import acme_notes").imports
    assert not given.is_known


def test_a_dependency_has_what_both_say() -> None:
    """By the name of the distribution, written as indexes compare it."""
    tables = extended_knowledge(ADDED)
    assert tables.distribution("acme.notes") == ()
    assert set(shipped_knowledge().modules_of("click") or ()) < set(
        tables.modules_of("click") or ()
    )


def test_tables_are_in_use_in_their_block_alone() -> None:
    """Afterwards ours are again."""
    with used(extended_knowledge(ADDED)):
        assert knowledge() is extended_knowledge(ADDED)
        inner = {each.atom for each in read_one(FileKind.PYTHON, b"import math").found}
    assert connecting() in inner
    assert knowledge() is shipped_knowledge()
    assert starting("mail") not in {each.atom for each in extracted("import math", ()).found}


def test_workers_are_given_the_tables() -> None:
    """What a worker process answers is what this one would find."""
    source = b"import math\nmath.floor(1)"
    found = decode_extraction(extract_job(FileKind.PYTHON.value, source, ADDED))
    assert found == read_one(FileKind.PYTHON, source, ADDED)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (b"\xff", "codec"),
        (b"[[module]", "line 1"),
        (b"[[modul]]\nname = 'a'", "`modul` is not one of"),
        (b"module = 1", "not a list of rows"),
        (b"[[module]]\nimport = []", "module 1 has no name"),
        (b"[[module]]\nname = ''", "has no name"),
        (b'[[module]]\nname = "a\\tb"', "has no name"),
        (b"[[module]]\nname = 'a'\nsafe = ['b']", "calls nothing safe"),
        (b"[[module]]\nname = 'a'\npowers = []", "`powers` is not a key"),
        (b"[[module]]\nname = 'a'\nimport = 'net'", "not a list of texts"),
        (b"[[module]]\nname = 'a'\nimport = ['fly']", "`fly` is not an effect"),
        (b"[[module]]\nname = 'a'\nimport = ['load=all']", "`limited` or `any`"),
        (b"[[module]]\nname = 'a'\nimport = ['tool']", "names no class"),
        (b"[[module]]\nname = 'a'\nmembers = []", "`members` is not a table"),
        (b"[[module]]\nname = 'a'\nmembers = {b = 1}", "not a list of texts"),
        (b"[[module]]\nname = 'a'\nsame = {b = 1}", "`same` is not a table of names"),
        (b"[[module]]\nname = 'a'\ntwin = 1", "`twin` is not a name"),
        (b"[[module]]\nname = 'a'\n[[module]]\nname = 'a'", "stands twice"),
        (b"[[distribution]]\nname = 'a'", "`modules` is missing"),
        (b"[[attribute]]\nname = 'a'", "`effects` is missing"),
    ],
)
def test_what_has_not_the_form_is_refused(text: bytes, said: str) -> None:
    """With the file, the row and what is wrong with it."""
    with pytest.raises(BadTable, match=r"t\.toml") as caught:
        compile_added({"t.toml": text})
    assert said in str(caught.value)


def test_tables_have_an_end() -> None:
    """A quarter of a mebibyte for one plugin."""
    rows = "".join(f"[[module]]\nname = 'm{number}'\n" for number in range(30_000)).encode()
    with pytest.raises(BadTable, match=f"{MOST_TABLES >> 10} KiB"):
        compile_added({"t.toml": rows})

"""Rules in Python: what they return joins what was found, and whatever goes wrong in one is not known."""

import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor

import pytest

from consentry.base.values import dataclass
from consentry.declare.patchbundle import Blob
from consentry.examine.addedrules import MOST_ROWS, NO_RULES, AddedRules
from consentry.examine.atoms import NOTHING_FOUND
from consentry.examine.sides import examine_side
from consentry.service.extracting import Extractor
from consentry.service.guarding import BlobTree

Rows = Iterable[tuple[str, str, int]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule that is a function."""

    examine: Callable[[str, str], Rows]
    name: str = "notes/rules/notes.py"


def rules(*functions: Callable[[str, str], Rows]) -> AddedRules:
    """These functions as rules."""
    return AddedRules(looks=tuple(Rule(each) for each in functions))


def answering(*rows: object) -> AddedRules:
    """A rule that always says the same."""
    return rules(lambda _path, _text: rows)  # type: ignore[arg-type,return-value] # also what has not the form


@pytest.mark.parametrize(
    ("row", "atoms"),
    [
        (("FS_READ_ROOTS", "notes/a.md", 1), {"read notes/a.md"}),
        (("FS_READ_ROOTS", "*", 1), {"read ./"}),
        (("FS_WRITE_ROOTS", "/etc/hosts", 1), {"write /etc/hosts", "write ABSOLUTE_PATH"}),
        (("NET_ACCESS", "https://a.test", 1), {"connect a.test:443"}),
        (("NET_ACCESS", "not a host", 1), {"connect *"}),
        (("NET_ACCESS", "*", 1), {"connect *"}),
        (("PROC_EXEC", "git", 1), {"start git"}),
        (("ENV_READ", "HOME", 1), {"see HOME"}),
        (("DYNAMIC_CODE_LOAD", "any", 1), {"load ANY"}),
        (("CRYPTO_PRIMITIVES", "AES", 1), {"encrypt aes"}),
        (("TOOL_CLASSES", "mail", 1), {"call mail"}),
    ],
)
def test_an_answer_becomes_a_power(row: tuple[str, str, int], atoms: set[str]) -> None:
    """With the target in the form of all others, and with the line; what is no target is any."""
    found = answering(row).extraction("a.md", b"text").found
    assert {f"{each.atom.operation} {each.atom.target}" for each in found} == atoms
    assert {(each.line, each.reason) for each in found} == {(1, "rule notes/rules/notes.py")}


def test_a_rule_may_say_that_it_cannot_tell() -> None:
    """And why."""
    (doubt,) = answering(("UNCLASSIFIED", "a macro", 3)).extraction("a.md", b"x").unclassified
    assert (doubt.line, doubt.reason) == (3, "rule notes/rules/notes.py: a macro")


def test_a_rule_is_given_the_path_and_the_text() -> None:
    """Bytes that are no text are replaced; a file with a NUL is not given to it."""
    seen: list[tuple[str, str]] = []
    rule = rules(lambda path, text: seen.append((path, text)) or ())  # type: ignore[func-returns-value,redundant-expr] # noted
    assert rule.extraction("d/a.md", "Grüße\xff".encode("latin-1")) == NOTHING_FOUND
    assert rule.extraction("d/b.md", b"a\0b") == NOTHING_FOUND
    assert seen == [("d/a.md", "Gr\ufffd\ufffde\ufffd")]


class _BesideExceptions(BaseException):
    """None of those that are caught by habit."""


def _raising(fault: BaseException) -> Callable[[str, str], Rows]:
    def examine(_path: str, _text: str) -> Rows:
        raise fault

    return examine


def _printing(_path: str, _text: str) -> Rows:
    print("looking")  # noqa: T201 - as a rule might
    return ()


def _raising_late(_path: str, _text: str) -> Rows:
    yield ("NET_ACCESS", "a.test", 1)
    raise RuntimeError


def _recursing(path: str, text: str) -> Rows:
    return _recursing(path, text)


def _endless(_path: str, _text: str) -> Rows:
    while True:
        yield ("NET_ACCESS", "a.test", 1)


@pytest.mark.parametrize(
    "rule",
    [
        rules(_raising(ValueError("\x1b[2J" * 1000))),
        rules(_raising(SystemExit(0))),
        rules(_raising(MemoryError())),
        rules(_raising(_BesideExceptions())),
        rules(_raising_late),
        rules(_recursing),
        rules(_endless),
        rules(lambda _path, _text: None),  # type: ignore[arg-type,return-value] # wrong on purpose
        answering("NET_ACCESS"),
        answering(("NET_ACCESS", "a.test")),
        answering(("net_access", "a.test", 1)),
        answering(("NET_ACCESS", b"a.test", 1)),
        answering(("NET_ACCESS", "a.test", "1")),
        answering(("NET_ACCESS", "a.test", True)),
        answering(("NET_ACCESS", "a.test", 10**5000)),
        answering((["NET_ACCESS"], "a.test", 1)),
        answering(("DYNAMIC_CODE_LOAD", "NONE", 1)),
        answering(("TOOL_CLASSES", " ", 1)),
    ],
)
def test_what_goes_wrong_is_not_known(rule: AddedRules) -> None:
    """One doubt about this very file, no powers, and no exception."""
    extraction = rule.extraction("a.md", b"text")
    (doubt,) = extraction.unclassified
    assert not extraction.found
    assert "did not answer" in doubt.reason
    assert len(doubt.reason) < 300
    assert doubt.key != rule.extraction("a.md", b"other").unclassified[0].key


def test_what_a_rule_prints_is_no_output_of_ours(capsys: pytest.CaptureFixture[str]) -> None:
    """Whoever reads our JSON reads nothing of it; afterwards our own output is where it was."""
    rules(_printing).extraction("a.md", b"text")
    print("ours")  # noqa: T201 - what is looked for
    assert capsys.readouterr() == ("ours\n", "")


def test_rules_in_threads_leave_the_output_where_it_was() -> None:
    """Also where the first that began is the first that ends: nobody puts back another's."""
    before, both, ended = sys.stdout, threading.Barrier(2), threading.Event()

    def first(_path: str, _text: str) -> Rows:
        both.wait(60)
        return ()

    def second(_path: str, _text: str) -> Rows:
        both.wait(60)
        ended.wait(60)
        return ()

    with ThreadPoolExecutor(2) as pool:
        later = pool.submit(rules(second).extraction, "a.md", b"x")
        pool.submit(rules(first).extraction, "a.md", b"x").result()
        ended.set()
        later.result()
    assert sys.stdout is before


def test_ctrl_c_is_for_us() -> None:
    """Whoever interrupts the command interrupts the rule."""
    with pytest.raises(KeyboardInterrupt):
        rules(_raising(KeyboardInterrupt())).extraction("a.md", b"text")


def test_one_rule_does_not_silence_another() -> None:
    """Each is asked, whatever the others do."""
    both = AddedRules(
        looks=(*rules(_raising(OSError())).looks, *answering(("PROC_EXEC", "git", 1)).looks)
    )
    extraction = both.extraction("a.md", b"text")
    assert (len(extraction.found), len(extraction.unclassified)) == (1, 1)


def test_as_many_answers_as_may_be_count() -> None:
    """One more, and none is believed."""
    rows = [("ENV_READ", f"V{number}", number) for number in range(MOST_ROWS)]
    assert len(answering(*rows).extraction("a.md", b"x").found) == MOST_ROWS
    assert not answering(*rows, rows[0]).extraction("a.md", b"x").found


def test_a_side_has_what_rules_add() -> None:
    """Beside what the extractors found, with the classes of tools that follow; never less."""
    files = {"a.py": Blob(b"import subprocess\nsubprocess.run(['ls'])\n"), "b.md": Blob(b"mail\n")}
    plain = examine_side(files, BlobTree(files), Extractor())
    seen = examine_side(files, BlobTree(files), Extractor(), answering(("NET_ACCESS", "a.test", 1)))
    assert plain.atoms < seen.atoms
    assert set(plain.found) <= set(seen.found)
    assert {each.file for each in set(seen.found) - set(plain.found)} == {"a.py", "b.md"}
    assert "web" in {each.target for each in seen.atoms}
    assert examine_side(files, BlobTree(files), Extractor(), NO_RULES) == plain

"""Inference: the least set that covers what saved code does, and how sure that is (CONTRACTS §5)."""

import pytest

from consentry.examine.inference import UNREADABLE, Inferred, Language, infer_permissions
from consentry.examine.inference.infer import infer
from consentry.examine.inference.inferred import MOST_LETTERS, MOST_PATTERNS
from consentry.surface.permission_sets import PermissionSet
from tests.examine.inference.inferencesamples import (
    ALL,
    CONFIDENCE,
    PYTHON,
    Band,
    Sample,
)


@pytest.mark.parametrize(
    ("language", "sample"),
    ALL,
    ids=[f"{language}-{sample.band}-{at}" for at, (language, sample) in enumerate(ALL)],
)
def test_code_gets_its_set_with_the_confidence_of_its_band(
    language: Language, sample: Sample
) -> None:
    """CONTRACTS §5, the bands and the table of sets; the same for each way in, and each time."""
    found = infer_permissions(sample.code, language)
    least, most = CONFIDENCE[sample.band]
    assert found.permission_set is sample.permission_set
    assert least <= found.confidence <= most
    assert set(sample.patterns) <= set(found.detected_patterns)
    assert found == infer(sample.code, language) == infer_permissions(sample.code, str(language))


def test_every_band_and_every_set_that_can_be_inferred_is_sampled() -> None:
    """For Python and for TypeScript each."""
    for language in (Language.PYTHON, Language.TYPESCRIPT):
        samples = [sample for each, sample in ALL if each is language]
        assert {sample.band for sample in samples} == set(Band)
        sets = {sample.permission_set for sample in samples}
        assert sets == set(PermissionSet) - {PermissionSet.TRUSTED}


def test_a_language_that_is_not_known_is_not_read() -> None:
    """Nothing is opened for it, and nothing is sure; no word raises."""
    for word in ("ruby", "", "Python", "\0"):
        assert infer_permissions("result = 1", word) == UNREADABLE
    assert Inferred(PermissionSet.MINIMAL, 0.0, ()) == UNREADABLE


def test_an_extractor_that_fails_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A save succeeds whatever the code does to whoever reads it."""

    def fails(_: bytes) -> None:
        raise RecursionError

    monkeypatch.setattr("consentry.examine.python.extract.extract_python", fails)
    assert infer_permissions("result = 1", Language.PYTHON) == UNREADABLE


def test_one_kind_more_or_a_computed_path_makes_it_less_sure() -> None:
    """Within the band for mixed kinds, from 0.80 down to 0.70."""
    two = "import requests\nopen('data/a')\nrequests.get('https://a.example')\n"
    three = f"{two}import os\nos.getenv('HOME')\n"
    computed = f"{three}open(name)\n"
    sure = [infer_permissions(code, "python").confidence for code in (two, three, computed)]
    assert sure == [0.80, 0.75, 0.70]


def test_an_import_alone_does_nothing() -> None:
    """What is imported and never used needs no power; used, it does."""
    alone = infer_permissions("import requests, socket, subprocess", "python")
    used = infer_permissions(
        "import requests, socket\nsocket.create_connection(('a.example', 1))", "python"
    )
    assert (alone.permission_set, alone.confidence) == (PermissionSet.MINIMAL, 0.95)
    assert used.permission_set is PermissionSet.NETWORK_API


def test_an_argument_is_data_and_its_members_are_no_tools() -> None:
    """Names that nothing binds are arguments; what data has no member for is a tool."""
    data = "return client.name.upper() + text.strip() + rows.pop()"
    tool = "return client.look_up('a')"
    assert infer_permissions(data, "python").permission_set is PermissionSet.MINIMAL
    assert infer_permissions(tool, "python").detected_patterns == ("tool:client.look_up",)
    script = "return client.name.toUpperCase() + rows.at(-1)"
    assert infer_permissions(script, "typescript").permission_set is PermissionSet.MINIMAL
    assert infer_permissions(tool, "typescript").detected_patterns == ("tool:client.look_up",)


def test_what_the_code_itself_defines_is_no_tool() -> None:
    """Functions, classes, parameters, imports, loops, captures and handlers bind their names."""
    python = """
from math import sqrt as root
import os.path
class Thing:
    def work(self, other): return other.work(root(2))
def helper(f=len, *rest, key, **more):
    try: f(key)
    except ValueError as problem: problem.add_note('a')
    return [each.go() for each in rest], (made := Thing())
match helper(key=1):
    case [first, *others]: first.a(), others.b()
    case {'a': 1, **left}: left.c()
    case Thing() as whole: whole.d()
with helper(key=2) as opened: opened.seek()
made.work(lambda x: x.y())
"""
    assert infer_permissions(python, "python").confidence == 0.95
    script = """
import * as path from 'node:path';
class Thing { work(other) { return other.work(path.join('a')); } }
function helper(f, ...rest) { try { f(rest[0].go()); } catch (problem) { problem.note(); } }
const made = new Thing(), { a, b: [c] } = made;
for (const each of helper(made)) each.go(a(), c());
made.work((x) => x.y());
"""
    assert infer_permissions(script, "typescript").confidence == 0.95


def test_names_of_a_starred_import_are_no_tools() -> None:
    """They may come from that module, whose powers are known or not."""
    known = infer_permissions("from math import *\nresult = sqrt(2)", "python")
    assert (known.permission_set, known.confidence) == (PermissionSet.MINIMAL, 0.95)
    unknown = infer_permissions("from ours import *\nresult = go(2)", "python")
    assert (unknown.confidence, unknown.detected_patterns) == (0.50, ("import:ours",))


def test_files_that_every_box_has_need_no_set_but_deno_asks_for_them() -> None:
    """`/dev/null` is open on the native engine; Deno refuses it in all sets but `trusted`."""
    native = infer_permissions("open('/dev/null', 'w')", "python")
    assert (native.permission_set, native.confidence) == (PermissionSet.MINIMAL, 0.95)
    assert infer_permissions("Deno.open('/dev/null')", "typescript").confidence < 0.7


def test_patterns_are_few_short_sorted_and_of_visible_characters() -> None:
    """However much there is in the code; what no set opens is kept before what one does."""
    many = "\n".join(f"open('data/{at}')" for at in range(500))
    long = f"open({'a' * 900!r})\nopen('\\u202e\\n\\x1b[31m')"
    found = infer_permissions(f"{many}\n{long}\nimport os\nos.system('zz')\n", "python")
    assert len(found.detected_patterns) == MOST_PATTERNS
    assert "run:zz" in found.detected_patterns
    for code in (many, long):
        patterns = infer_permissions(code, "python").detected_patterns
        assert list(patterns) == sorted(set(patterns))
        assert all(each.isprintable() and 0 < len(each) <= MOST_LETTERS for each in patterns)


def test_secrets_in_addresses_are_no_part_of_patterns() -> None:
    """Of an address only host and port are kept."""
    code = "import requests\nrequests.get('https://me:hunter2@a.example/x?token=hunter3')"
    found = infer_permissions(code, "python")
    assert found.detected_patterns == ("net:a.example:443", "requests.get")


def test_code_with_more_powers_than_are_weighed_is_unknown() -> None:
    """Ten thousand different files are nobody's ordinary capability."""
    code = "\n".join(f"open('data/{at}')" for at in range(10_000))
    found = infer_permissions(code, "python")
    assert (found.permission_set, found.confidence) == (PermissionSet.MCP_STANDARD, 0.50)


def test_where_a_power_stands_changes_nothing() -> None:
    """In a function that is never called, in a class, in another order."""
    plain = infer_permissions("open('data/a')\nopen('data/b')", "python")
    moved = "class Never:\n    def never(self):\n        open('data/b')\n        open('data/a')\n"
    assert infer_permissions(moved, "python") == plain


def test_the_samples_are_many() -> None:
    """At least sixty, by the table alone."""
    assert len(ALL) >= 60
    assert len(PYTHON) >= 30

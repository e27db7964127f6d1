"""The gate: our own source makes no token outside its home; and the fence is alive (TRUST §fence-1 to -4)."""

from pathlib import Path

import pytest

from consentry.examine.fence.check import check_source
from consentry.examine.fence.findings import (
    OUR_REPOSITORY,
    PACKAGE_HOMES,
    STRANGERS,
    Family,
    FenceScope,
    Rule,
)
from consentry.examine.fence.names import family_of
from tests.fence.benign import BENIGN
from tests.fence.evasions import CAUGHT, CAVEATS, EVASIONS, PERMIT, TOKENS, Evasion

REPOSITORY = Path(__file__).resolve().parents[2]
SOURCE = REPOSITORY / "src" / "consentry"
FILES = sorted(SOURCE.rglob("*.py"))
PLANTED = {
    Rule.MADE: TOKENS + "NpmInstallCapability()\n",
    Rule.COPIED: TOKENS + "def f(t: NpmInstallCapability):\n    return t.model_copy()\n",
    Rule.SUBCLASS: TOKENS + "class Mine(NpmInstallCapability): ...\n",
    Rule.HANDED_ON: TOKENS + "KINDS = [NpmInstallCapability]\n",
    Rule.RENAMED: TOKENS.strip() + " as N\n",
    Rule.BY_NAME: "import x\ngetattr(x, 'NpmInstallCapability')\n",
    Rule.PUSH: "run(['git', 'push'])\n",
    Rule.RACE: "def f(p):\n    return p.open(on_race=print)\n",
    Rule.UNREADABLE: "def f(:\n",
}


def rules_of(source: str, scope: FenceScope = STRANGERS, path: str = "plugin.py") -> set[Rule]:
    """The rules that a source breaks."""
    return {each.rule for each in check_source(path, source.encode(), scope)}


def test_our_own_source_passes() -> None:
    """TRUST §fence-2: every file of the package, as the check of `make check` and CI run it."""
    found = [
        f"{each.path}:{each.line}:{each.column} {each.rule}: {each.message}"
        for file in FILES
        for each in check_source(
            file.relative_to(REPOSITORY).as_posix(), file.read_bytes(), OUR_REPOSITORY
        )
    ]
    assert not found, "\n".join(found)
    assert len(FILES) > 500


@pytest.mark.parametrize("rule", list(Rule))
def test_a_planted_fault_in_our_own_source_is_reported(rule: Rule) -> None:
    """TRUST §fence-3: each rule sees its fault at the end of a file that passes."""
    path = "src/consentry/service/userfiles.py"
    source = (REPOSITORY / path).read_text() + "\n" + PLANTED[rule]
    found = check_source(path, source.encode(), OUR_REPOSITORY)
    assert rule in {each.rule for each in found}
    assert all(each.line > 1 for each in found)


def test_homes_and_tests_make_tokens_and_nobody_else_does() -> None:
    """TRUST §fence-1: the same line, in its home, in tests, and anywhere else."""
    made = PLANTED[Rule.MADE]
    assert rules_of(made, OUR_REPOSITORY, "src/consentry/decide/tokens.py") == set()
    assert rules_of(made, OUR_REPOSITORY, "tests/decide/test_tokens.py") == set()
    for path in ("src/consentry/decide/tokens2.py", "src/consentry/decide/permit.py", "tokens.py"):
        assert Rule.MADE in rules_of(made, OUR_REPOSITORY, path)
    permit = PERMIT + "Permit()\n"
    assert rules_of(permit, OUR_REPOSITORY, "src/consentry/decide/permit.py") == set()
    assert Rule.MADE in rules_of(permit, OUR_REPOSITORY, "src/consentry/decide/tokens.py")


def test_a_home_may_not_push_and_must_handle_races() -> None:
    """A home is pardoned for its tokens alone; tests for everything that can be read."""
    for rule in (Rule.PUSH, Rule.RACE, Rule.UNREADABLE):
        assert rule in rules_of(PLANTED[rule], OUR_REPOSITORY, "src/consentry/decide/tokens.py")
    assert rules_of(PLANTED[Rule.PUSH], OUR_REPOSITORY, "tests/x.py") == set()
    assert rules_of(PLANTED[Rule.UNREADABLE], OUR_REPOSITORY, "tests/x.py") == {Rule.UNREADABLE}


def test_a_stranger_has_neither_home_nor_tests_nor_comments() -> None:
    """TRUST §fence-1: a plugin's own `decide/tokens.py`, `tests/` and comments pardon nothing."""
    for path in ("src/consentry/decide/tokens.py", "decide/tokens.py", "tests/test_x.py"):
        assert Rule.MADE in rules_of(PLANTED[Rule.MADE], STRANGERS, path)
    hushed = "run(['git', 'push'])  # consentry-fence: command-pushes: it is fine\n"
    assert Rule.PUSH in rules_of(hushed, STRANGERS)


def test_a_comment_with_a_reason_answers_a_push_or_a_race_and_never_a_token() -> None:
    """In our own source, there or alone on the line before, for its rule, and only with a reason."""
    said = "run(['git', 'push'])  # consentry-fence: command-pushes: a person started this\n"
    before = "# consentry-fence: command-pushes: a person started this\nrun(['git', 'push'])\n"
    assert rules_of(said, OUR_REPOSITORY) == rules_of(before, OUR_REPOSITORY) == set()
    for wrong in (
        "run(['git', 'push'])  # consentry-fence: command-pushes:\n",
        "run(['git', 'push'])  # consentry-fence: race-unhandled: other rule\n",
        "x = 1  # consentry-fence: command-pushes: not alone\nrun(['git', 'push'])\n",
        "# consentry-fence: command-pushes: too far away\n\nrun(['git', 'push'])\n",
    ):
        assert Rule.PUSH in rules_of(wrong, OUR_REPOSITORY)
    token = TOKENS + "NpmInstallCapability()  # consentry-fence: token-made: please\n"
    assert Rule.MADE in rules_of(token, OUR_REPOSITORY)


@pytest.mark.parametrize("evasion", CAUGHT, ids=lambda each: each.name)
def test_an_evasion_is_caught(evasion: Evasion) -> None:
    """TRUST §fence-1, §fence-4: by the rule that the table names."""
    assert evasion.rule in rules_of(evasion.source)


@pytest.mark.parametrize("caveat", CAVEATS, ids=lambda each: each.name)
def test_a_caveat_gets_through(caveat: Evasion) -> None:
    """What the page says that the fence cannot see, it does not see; else the page is to be changed."""
    assert rules_of(caveat.source) == set()


@pytest.mark.parametrize("name", BENIGN)
def test_what_is_harmless_is_not_reported(name: str) -> None:
    """Annotations, tests of types, imports, prose, local git, handled races."""
    assert rules_of(BENIGN[name]) == set()


def test_the_tables_have_the_size_that_is_promised() -> None:
    """At least 80 evasions and 40 harmless ones, no two with one name; every rule has some."""
    names = [each.name for each in EVASIONS]
    assert len(names) == len(set(names)) >= 80
    assert len(BENIGN) >= 40
    assert {each.rule for each in CAUGHT} == set(Rule) - {Rule.UNREADABLE}


def test_every_evasion_is_python() -> None:
    """Nothing is caught, or let through, because it does not parse."""
    for source in (*(each.source for each in EVASIONS), *BENIGN.values()):
        compile(source, "snippet", "exec")


def test_a_finding_names_its_place() -> None:
    """Line and column from 1, in characters, whatever letters stand before."""
    source = TOKENS + "x = 'äöü'; NpmInstallCapability()\n"
    [found] = check_source("a/b.py", source.encode(), STRANGERS)
    assert (found.path, found.line, found.column) == ("a/b.py", 2, 12)
    assert found.rule is Rule.MADE
    assert found.message == "`NpmInstallCapability` is made here"
    assert found.help_line


def test_the_homes_are_where_the_types_are() -> None:
    """A home that was moved would pardon nothing, and the gate would say so; a made-up one is a fault."""
    for path, family in PACKAGE_HOMES:
        text = (SOURCE / path).read_text()
        word = "Permit" if family is Family.PERMIT else "Capability"
        assert word in text


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("NpmInstallCapability", Family.TOKEN),
        ("_HiddenCapability", Family.TOKEN),
        ("CapabilityBundle", Family.TOKEN),
        ("Permit", Family.PERMIT),
        ("Capability", None),
        ("_Capability", None),
        ("hasCapability", None),
        ("Capabilities", None),
        ("PermitOrder", None),
    ],
)
def test_names_of_tokens(name: str, family: Family | None) -> None:
    """`…Capability` with something before it, as types are spelled; the bundle; our permit."""
    assert family_of(name) is family

"""What a change adds and takes away, in normalised powers: another form of the same is no change."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.values import replace
from consentry.examine.atoms import (
    ANYTHING,
    NAMELESS,
    calling,
    connecting,
    loading,
    reading,
    starting,
)
from consentry.examine.delta import delta_between
from consentry.examine.sides import Sited
from consentry.examine.verdict import delta_digest
from consentry.surface.dimensions import LoadLevel
from tests.examine.changes import Texts, delta_of, found_side, gained

CODE = """\
import subprocess

def build(target):
    with open("log.txt", "w") as log:
        subprocess.run(["make", "all"], stdout=log)
"""

REWRITTEN: dict[str, Texts] = {
    "moved to another file": {"tools/build.py": CODE},
    "names changed": {"a.py": CODE.replace("build", "construct").replace("log)", "log)")},
    "laid out otherwise": {"a.py": CODE.replace("\n\n", "\n\n\n").replace("    ", "\t")},
    "comments and documentation": {"a.py": f'"""What it does."""\n# why\n{CODE}'},
    "a function pulled out": {
        "a.py": """\
import subprocess

def start(log):
    subprocess.run(["make", "all"], stdout=log)

def build(target):
    with open("log.txt", "w") as log:
        start(log)
"""
    },
    "the import inside of the function": {
        "a.py": """\
def build(target):
    import subprocess
    with open("log.txt", "w") as log:
        subprocess.run(["make", "all"], stdout=log)
"""
    },
    "imported by another name": {
        "a.py": CODE.replace("import subprocess", "from subprocess import run as go").replace(
            "subprocess.run", "go"
        )
    },
    "constants with names": {
        "a.py": CODE.replace('["make", "all"]', "COMMAND") + '\nCOMMAND = ["make", "all"]\n'
    },
    "spread over two files": {
        "a.py": 'import b\n\ndef build(target):\n    b.start(open("log.txt", "w"))\n',
        "b.py": "import subprocess\n\ndef start(log):\n"
        '    subprocess.run(["make", "all"], stdout=log)\n',
    },
}


@pytest.mark.parametrize("how", REWRITTEN)
def test_the_same_powers_in_another_form_are_no_change(how: str) -> None:
    """GUARD T1, §decide-pass: powers are compared, and not lines or names or files."""
    delta = delta_of({"a.py": CODE}, REWRITTEN[how])
    assert (delta.gained, delta.lost, delta.doubts) == ((), (), ())
    assert delta.before == delta.after


def test_a_power_in_a_module_that_is_newly_imported_is_gained() -> None:
    """GUARD §extract-1: the module itself was there before, and nothing of this change used it."""
    rest = {"helper.py": "import subprocess\nsubprocess.run(['ls'])\n"}
    delta = delta_of({"a.py": "x = 1\n"}, {"a.py": "import helper\n"}, rest)
    assert {(step.atom.target, step.file) for step in delta.gained if step.atom.target == "ls"} == {
        ("ls", "helper.py")
    }


def test_a_module_that_was_imported_before_adds_nothing() -> None:
    """GUARD §extract-1: it stands on both sides."""
    rest = {"helper.py": "import subprocess\nsubprocess.run(['ls'])\n"}
    delta = delta_of({"a.py": "import helper\n"}, {"a.py": "import helper\nx = 1\n"}, rest)
    assert delta.gained == ()


def test_what_is_taken_away_is_listed_and_not_gained() -> None:
    """CONTRACTS §7-removed: `after` stands below `before`."""
    delta = delta_of({"a.py": "import subprocess\n"}, {"a.py": "x = 1\n"})
    assert delta.gained == ()
    assert delta.dimensions == ()
    [step] = [each for each in delta.lost if each.atom == starting(NAMELESS)]
    assert (step.before, step.after) == ("ALLOWLIST", "NONE")
    assert step.reason == "removed: import subprocess"


def test_a_step_tells_where_it_stands_first() -> None:
    """GUARD §verdict-1: dimension, before, after, reason, file and line."""
    delta = delta_of({"a.py": ""}, {"a.py": "\n\nimport socket\nimport socket\n"})
    [step] = [each for each in delta.gained if each.atom == connecting()]
    assert step.to_json() == {
        "dimension": "NET_ACCESS",
        "before": "NONE",
        "after": "ALLOWLIST",
        "reason": "import socket",
        "file": "a.py",
        "line": 3,
    }


def test_a_root_is_told_as_a_list() -> None:
    """GUARD §verdict-1: of sets, what was added."""
    [step] = gained(reading("data/x")).gained
    assert (step.to_json()["before"], step.to_json()["after"]) == ([], ["data/x"])


def test_what_a_wider_power_covered_is_not_gained() -> None:
    """GUARD §vector-2: the difference is one of surfaces."""
    assert gained(reading("data/x"), before=[reading("data/")]).gained == ()
    assert gained(connecting("h:1"), before=[connecting(ANYTHING)]).gained == ()
    limited, anything = loading(LoadLevel.LIMITED), loading(LoadLevel.ANY)
    assert gained(limited, before=[anything]).gained == ()


def test_the_step_to_any_is_told_by_what_is_computed() -> None:
    """GUARD §extract-allowlist: not by the targets that are known."""
    delta = gained(connecting("h:1"), connecting(ANYTHING), before=[connecting()])
    assert [step.atom.target for step in delta.gained] == [ANYTHING]
    assert delta.dimensions == ("NET_ACCESS",)


def test_doubts_are_new_only_where_they_were_not_there_before() -> None:
    """GUARD §extract-closed: the same thing elsewhere is not new."""
    before = found_side(doubts=["import strange"])
    after = found_side(file="b.py", doubts=["import strange", "import stranger"])
    assert [each.about.key for each in delta_between(before, after).doubts] == ["import stranger"]


def test_dimensions_are_sorted() -> None:
    """CONTRACTS §7-verdict-keys: `delta_dimensions`."""
    found = gained(calling("web"), connecting(), reading("a"))
    assert found.dimensions == ("FS_READ_ROOTS", "NET_ACCESS", "TOOL_CLASSES")


MANY = found_side(
    *(reading(f"data/{number}") for number in range(5)),
    *(connecting(f"h{number}:1") for number in range(5)),
    *(connecting(), calling("web"), loading(LoadLevel.LIMITED)),
)


@given(st.permutations(MANY.found))
def test_the_order_of_what_was_found_does_not_count(turned: list[Sited]) -> None:
    """GUARD §deterministic: shuffled, the same delta, and the same digest of it."""
    expected = delta_between(found_side(), MANY)
    delta = delta_between(found_side(), replace(MANY, found=tuple(turned)))
    assert delta == expected
    assert delta_digest(delta) == delta_digest(expected)

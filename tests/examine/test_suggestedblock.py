"""The block that a person may paste: it allows exactly what was gained, and cannot say anything else."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import consentry
from consentry.declare.wish import Wish
from consentry.declare.wishfile import read_wish
from consentry.examine.suggestedblock import suggested_block
from tests.service.patches import adding

HEAD = "wish_ir_version: '1'\nid: wish-made\nscope: []\nnon_goals: []\n"


def wish_with(lines: tuple[str, ...]) -> Wish:
    """The wish that has these lines."""
    return read_wish((HEAD + "\n".join(lines) + "\n").encode("ascii"), "wish.yaml")


def passes_with_its_block(code: str, wish: Wish | None = None) -> Wish:
    """The change passes with the block that was suggested for it; the wish that has it."""
    bundle = adding(code)
    refused = consentry.check_patch(bundle, wish)
    found = suggested_block(refused.delta, None if wish is None else wish.allowed)
    assert found.never == ()
    made = wish_with(found.lines)
    assert consentry.check_patch(bundle, made)["status"] == "PASS", found.lines
    return made


@pytest.mark.parametrize(
    "code",
    [
        "import requests",
        "import subprocess\nsubprocess.run(['git', 'status'])",
        "import subprocess\nimport sys\nsubprocess.run(sys.argv)",
        "import os\nos.environ['HOME']",
        "import os\nprint(dict(os.environ))",
        "import sys\nopen(sys.argv[1])",
        "open('data/a.csv')\nopen('out/b', 'w')",
        "open('../outside')",
        "open('/srv/data', 'w')",
        "open('/etc/passwd')",
        "import importlib\nimportlib.import_module('json')",
        "import hashlib\nhashlib.md5(b'')",
        "import socket\nsocket.create_connection(('192.0.2.7', 25))",
    ],
)
def test_it_allows_what_was_gained(code: str) -> None:
    """Pasted into a wish as it is, the change passes."""
    passes_with_its_block(code)


def test_what_the_wish_says_already_stays() -> None:
    """The block is the whole block, and not only what is new in it."""
    wish = wish_with(
        (
            "allowed_capabilities:",
            "  fs_read_roots: [docs]",
            "  env_read: NONE",
            "  net_access: ALLOWLIST",
            "  allowlists: {net_access: [a.example.org]}",
        )
    )
    made = passes_with_its_block("import requests\nrequests.get('https://b.example.org/')", wish)
    assert made.allowed is not None
    assert made.allowed.said >= {"fs_read_roots", "env_read", "net_access", "tool_classes"}
    assert made.allowed.allowlists["net_access"] == ("a.example.org", "b.example.org:443")


def test_it_allows_no_more_than_that() -> None:
    """No parent, no wildcard, no level above."""
    found = suggested_block(consentry.check_patch(adding("open('data/x/a.csv')")).delta, None)
    made = wish_with(found.lines)
    for other in ("open('data/x/b.csv')", "open('data/x/a.csv', 'w')", "import requests"):
        assert consentry.check_patch(adding(other), made)["status"] == "BLOCKED"


def test_protected_paths_are_marked_and_loading_is_never_in_it() -> None:
    """A person is to see both."""
    verdict = consentry.check_patch(adding("open('/etc/passwd')\neval(input())"))
    found = suggested_block(verdict.delta, None)
    assert [step.atom.target for step in found.protected] == ["/etc/passwd"]
    assert [step.reason for step in found.never] == ["eval()"]
    assert not any("dynamic" in line for line in found.lines)


def test_nothing_to_allow_is_no_block() -> None:
    """Neither where nothing was gained, nor where no wish could help."""
    assert suggested_block(consentry.check_patch(adding("x = 1")).delta, None).lines == ()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20))
def test_no_target_leaves_its_quotes(name: str) -> None:
    """Whatever a path is called, the block is ASCII, and is read as that path and nothing else."""
    verdict = consentry.check_patch(adding(f"open({'data/' + name!a})"))
    found = suggested_block(verdict.delta, None)
    assert all(line.isascii() and line.isprintable() for line in found.lines)
    made = wish_with(found.lines)
    assert made.allowed is not None
    assert made.allowed.said <= {"fs_read_roots", "tool_classes"}
    assert consentry.check_patch(adding(f"open({'data/' + name!a})"), made)["status"] == "PASS"

"""The words that TRUST prescribes stand where operators read, and so do the gaps; our own files cover the lock."""

import re
from pathlib import Path

import pytest

from consentry.cli import plugins, pluginsverify
from consentry.examine.pluginproblems import Rejection
from tests.docs.blocks import DOCS, REPOSITORY
from tests.docs.tables import code_spans, table_with_head

RUNBOOK = DOCS / "how-to" / "operate-plugins.md"
REFERENCE = DOCS / "reference" / "plugins-lock.md"
LOCKING = DOCS / "how-to" / "lock-plugins.md"
COMMANDS = DOCS / "reference" / "cli.md"
PASSES = "whoever can commit both a plugin and its lock passes"


def flowing(page: Path) -> str:
    """The text of a page without its line ends."""
    return re.sub(r"\s+", " ", page.read_text(encoding="utf-8"))


def test_the_runbook_names_each_primitive_in_the_prescribed_words() -> None:
    """TRUST §words-1: the middle column, word for word."""
    rows = {row[0]: row[1] for row in table_with_head(RUNBOOK, "mechanism", "it is")}
    assert rows["capability tokens"] == "audit + lint"
    assert rows["`PLUGINS.lock`"] == "an integrity check"
    assert rows["`SandboxedPath`"].startswith(
        "in-jail at construction, second-line defense at open()"
    )


@pytest.mark.parametrize(
    "page", [RUNBOOK, REFERENCE, LOCKING, COMMANDS], ids=lambda each: each.name
)
def test_pages_about_the_lock_call_it_an_integrity_check(page: Path) -> None:
    """TRUST §words-1."""
    assert "integrity check" in flowing(page)


def test_the_command_calls_it_an_integrity_check_and_says_what_passes() -> None:
    """TRUST §words-1, §words-3: where it is used, not only where it is documented."""
    for page in (plugins.PAGE, pluginsverify.PAGE):
        said = " ".join(page.paragraphs)
        assert "integrity check" in said
        assert PASSES in said[0].lower() + said[1:] or PASSES.capitalize() in said


def test_the_gaps_are_written_down_beside_the_primitives() -> None:
    """TRUST §words-3: all three, in the runbook."""
    gaps = {row[0]: row[2] for row in table_with_head(RUNBOOK, "mechanism", "it is")}
    assert gaps["`PLUGINS.lock`"] == PASSES
    assert gaps["capability tokens"] == (
        "a token can be constructed by any code that imports its type"
    )
    assert gaps["`SandboxedPath`"] == "a link can be swapped between check and use"


@pytest.mark.parametrize("page", [RUNBOOK, REFERENCE], ids=lambda each: each.name)
def test_what_the_check_detects_and_what_not(page: Path) -> None:
    """TRUST §lock-4: the four things that it detects, and the one that it does not."""
    text = flowing(page)
    for detected in (
        "accidental corruption",
        "partial merges",
        "damage to the file system",
        "a plugin edited without making the lock anew",
    ):
        assert detected in text
    assert "a committer who changes plugin and lock together" in text
    assert PASSES in text


def test_the_runbook_says_what_status_4_means() -> None:
    """And what to do, beginning with a look at what changed."""
    text = flowing(RUNBOOK)
    assert "## Status 4: what to do" in RUNBOOK.read_text(encoding="utf-8")
    assert "`consentry plugins verify --rehash`" in text
    assert "`PluginRejected`" in text


def test_our_own_repository_has_what_is_made_for_users() -> None:
    """TRUST §lock-5: CODEOWNERS covers the lock, and the template calls out changes of it."""
    owners = (REPOSITORY / ".github" / "CODEOWNERS").read_text(encoding="utf-8").splitlines()
    [line] = [each for each in owners if each.startswith("/plugins/PLUGINS.lock ")]
    assert re.fullmatch(r"@[\w-]+/[\w-]+", line.split()[1])
    template = (REPOSITORY / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    assert "`plugins/PLUGINS.lock`" in template
    assert "integrity check" in template


def test_every_reason_about_a_tree_is_in_the_reference() -> None:
    """And none that does not exist."""
    tables = (("reason", "what"), ("reason against the lock", "what"))
    rows = [row for head in tables for row in table_with_head(REFERENCE, *head)]
    listed = {code_spans(row[0])[0] for row in rows}
    about_trees = {each.value for each in Rejection if each.code.value == "plugin-rejected"} - {
        Rejection.FENCE.value,
        Rejection.SIGNED_OTHER_TREE.value,
    }
    assert listed == about_trees

"""Generated pages equal their tables, byte for byte."""

import pytest

from checks import documented, reference
from checks.reference import PAGES, Page

CODES = PAGES[0]
CURRENT = {page.path: text for page in PAGES if (text := page.text()) is not None}


def test_pages_as_generated_pass(plant):
    """What the generator writes is what the check expects."""
    assert not list(documented.check(plant(CURRENT)))


def test_a_missing_page_is_found(plant):
    """A table without its page fails, and the finding says how to make it."""
    [finding] = documented.check(plant({}), (CODES,))
    assert finding.path == CODES.path
    assert "checks.reference --write" in finding.message


def test_a_page_with_one_row_less_is_found(plant):
    """An undocumented code fails at the line where its row should be."""
    lines = CURRENT[CODES.path].splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if "`path-escape`" in line)
    tree = plant({CODES.path: "".join(lines[:at] + lines[at + 1 :])})
    [finding] = documented.check(tree, (CODES,))
    assert finding.line == at + 1


@pytest.mark.parametrize(
    "change",
    [str.rstrip, lambda text: text + "\n", str.upper, lambda text: text.replace("\n", "\r\n")],
)
def test_a_page_that_differs_in_a_byte_is_found(plant, change):
    """The comparison is of bytes, not of meaning."""
    assert (
        len(list(documented.check(plant({CODES.path: change(CURRENT[CODES.path])}), (CODES,)))) == 1
    )


def test_every_code_and_status_has_its_row():
    """The codes page names each member of both tables."""
    codes = pytest.importorskip("consentry.base.codes")
    page = CURRENT[CODES.path]
    assert all(f"| `{code.value}` | {int(code.status)} |" in page for code in codes.Code)
    assert all(f"| {int(status)} | " in page for status in codes.ExitStatus)


def test_a_module_that_does_not_exist_needs_no_page(plant):
    """Tables may be planned before they are written."""
    pages = (
        Page("docs/x.md", "consentry.base.nosuch", str),
        Page("docs/y.md", "nosuch.at.all", str),
    )
    assert not list(documented.check(plant({}), pages))


def test_a_module_without_its_table_is_found(plant):
    """A table that was renamed away fails instead of vanishing from the reference."""
    page = Page("docs/x.md", "consentry.base.errors", reference.codes_page)
    [finding] = documented.check(plant({"docs/x.md": ""}), (page,))
    assert "consentry.base.errors" in finding.message


def test_prose_shows_exactly_its_characters():
    """Markup in a meaning is escaped; code spans and words with underscores stay as they are."""
    assert (
        reference.prose("use * or | or [x] in ~/A_B, _y_")
        == r"use \* or \| or \[x\] in \~/A_B, \_y\_"
    )
    assert reference.prose("see `a*b|c`") == r"see `a*b\|c`"
    assert reference.prose("two\n  lines") == "two lines"

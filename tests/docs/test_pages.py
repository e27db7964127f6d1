"""The pages as a whole: all are in the index, decisions have their form, no command is invented."""

import re
from pathlib import Path

import pytest

from checks import markdown
from consentry.cli.root import SECTIONS
from tests.docs.blocks import DOCS, page_name
from tests.docs.tables import table_with_head, text_of

DECISIONS = sorted((DOCS / "adr").glob("[0-9]*.md"))
# The specification and its list of clauses speak of what will be; everything else of what is.
SPECIFICATION = ("spec/", "conformance.md")
OUR_PAGES = [
    page for page in sorted(DOCS.rglob("*.md")) if not page_name(page).startswith(SPECIFICATION)
]
NOT_YET = "not built yet"


def linked_from(page: Path) -> set[Path]:
    """The files that a page links to."""
    targets = (link.target.partition("#")[0] for link in markdown.links(text_of(page)))
    return {(page.parent / target).resolve() for target in targets if "://" not in target}


def test_every_page_is_reached_from_the_index() -> None:
    """Directly, or through the index of decisions or of the specification."""
    reached = linked_from(DOCS / "README.md")
    reached |= linked_from(DOCS / "adr" / "README.md") | linked_from(DOCS / "spec" / "README.md")
    missing = {page_name(page) for page in DOCS.rglob("*.md")} - {
        page_name(page) for page in reached if page.is_relative_to(DOCS)
    }
    assert missing == {"README.md"}


def test_decisions_are_numbered_without_gaps_and_listed_with_their_status() -> None:
    """The index repeats title and status of each record."""
    listed = table_with_head(DOCS / "adr" / "README.md", "no.")
    assert [page.name[:4] for page in DECISIONS] == [f"{n + 1:04}" for n in range(len(listed))]
    for page, (number, title, status) in zip(DECISIONS, listed, strict=True):
        assert number == f"[{page.name[:4]}]({page.name})"
        assert text_of(page).startswith(f"# {page.name[:4]}: {title}\n\nStatus: {status}")


@pytest.mark.parametrize("page", DECISIONS, ids=page_name)
def test_a_decision_has_context_decision_and_consequences(page: Path) -> None:
    """These headings, in this order, and no other of their rank."""
    headings = re.findall(r"^## (.+)$", text_of(page), re.MULTILINE)
    assert headings == ["Context", "Decision", "Consequences"]


def unbuilt_commands(text: str, known: set[str]) -> list[str]:
    """Command lines in code spans whose command does not exist, where the text does not say so."""
    found = []
    prose = "\n".join(line.text for line in markdown.prose_lines(text))
    for passage in re.split(r"\n\s*\n|\n(?=[|-])", prose):
        words = re.findall(r"`(?:\$ )?consentry ([a-z][a-z-]*)", passage)
        if NOT_YET not in " ".join(passage.split()):
            found += [word for word in words if word not in known]
    return found


@pytest.mark.parametrize("page", OUR_PAGES, ids=page_name)
def test_a_command_that_does_not_exist_is_called_not_built_yet(page: Path) -> None:
    """In the same paragraph, list item or table row."""
    known = {row.name for section in SECTIONS for row in section.rows}
    assert unbuilt_commands(text_of(page), known) == []


def test_an_invented_command_is_found() -> None:
    """The test above can fail, and is content when the text is honest."""
    assert unbuilt_commands("Then `consentry launch` it.", {"status"}) == ["launch"]
    assert unbuilt_commands("`consentry launch` is not built\nyet.", {"status"}) == []
    assert unbuilt_commands("`consentry status`, `consentry COMMAND`", {"status"}) == []

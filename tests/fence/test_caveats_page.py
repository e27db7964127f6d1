"""The page of caveats and the tables of samples say the same; so do the page of rules and the rules."""

from consentry.examine.fence.findings import Rule
from tests.docs.blocks import DOCS
from tests.docs.tables import code_spans, table_with_head
from tests.fence.evasions import CAVEATS


def test_the_page_lists_exactly_what_gets_through() -> None:
    """TRUST §words-3: by name, in the order of the samples."""
    page = DOCS / "explanation" / "capability-fence.md"
    listed = [code_spans(row[0])[0] for row in table_with_head(page, "name", "what gets through")]
    assert listed == [each.name for each in CAVEATS]


def test_the_page_says_what_it_is() -> None:
    """TRUST §words-1."""
    for name in ("explanation/capability-fence.md", "how-to/fence-capabilities.md"):
        assert "audit + lint" in (DOCS / name).read_text()


def test_every_rule_is_documented() -> None:
    """In the reference, in their order; and each has a heading and help."""
    page = DOCS / "reference" / "fence.md"
    listed = [code_spans(row[0])[0] for row in table_with_head(page, "rule", "what is reported")]
    assert listed == [each.value for each in Rule]
    assert all(each.heading and each.help_line for each in Rule)

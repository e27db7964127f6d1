"""`consentry module catalog`: the capabilities that a module can ask for, each with scope and hard limits."""

from textwrap import wrap

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.output import Output, page_width
from consentry.cli.table import Page
from consentry.service.modulelist import catalog_document
from consentry.surface.catalog import CatalogEntry, capability_catalog

PAGE = Page(
    summary="Show the capabilities that a module can ask for, with their scope and hard limits.",
    paragraphs=(
        (
            "There are no others: no wildcard, prefix or alias is one, and none implies another. Each "
            "is denied until a person grants it. A new major version of the catalog voids all grants."
        ),
    ),
    examples=(
        ("consentry module catalog", "all of them"),
        ("consentry module catalog --quiet", "the bare ids, one on a line"),
        ("consentry explain state.read", "one of them"),
    ),
    statuses=(("0", "shown"), ("2", "wrong usage")),
    read_on=("docs/reference/capability-catalog.md.",),
)


@click.pass_context
def _catalog(ctx: click.Context) -> ExitStatus:
    output, shown = output_of(ctx), capability_catalog()
    if output.json:
        output.document("module-catalog", catalog_document(shown))
    elif output.quiet:
        output.text("\n".join(each.capability_id for each in shown.entries))
    else:
        rows = [row for each in shown.entries for row in ("", *_rows(output, each))]
        first = f"catalog of capabilities, version {shown.version}; denied unless granted"
        output.text("\n".join([first, *rows]))
    return ExitStatus.DONE


def _rows(output: Output, entry: CatalogEntry) -> list[str]:
    rows = [output.paint(entry.capability_id, "bold"), *_worded("  scope  ", entry.scope)]
    return [*rows, *(row for limit in entry.limits for row in _worded("  limit  ", limit))]


def _worded(start: str, text: str) -> list[str]:
    """Words of our own behind a label; what goes on does so below them."""
    first, *others = wrap(text, page_width() - 1 - len(start))
    return [start + first, *(" " * len(start) + each for each in others)]


catalog = PlainCommand("catalog", PAGE, _catalog)

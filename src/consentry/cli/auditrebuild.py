"""`consentry audit rebuild`: fills the tables that follow from events anew."""

import os
from contextlib import closing

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.table import Page
from consentry.service.ledgers import ledger_for_reading
from consentry.service.rebuilding import rebuild_tables
from consentry.service.sessions import journal_here
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Fill the tables that follow from events anew, from the events.",
    paragraphs=(
        (
            "These are `permission_audit_log`, `workflow_pattern`, `capability_token` and "
            "`capability_budget`. Follows every chain first."
        ),
        "A table that was changed behind the ledger's back is what the events say again.",
    ),
    examples=(
        ("consentry audit rebuild", "how many rows each table has now"),
        ("consentry audit rebuild --quiet", "the exit status alone"),
    ),
    statuses=(
        ("0", "rebuilt and recorded, or nothing was recorded yet"),
        ("2", "wrong usage"),
        ("5", "the ledger cannot be written or does not verify; the tables are as before"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _rebuild(ctx: click.Context) -> ExitStatus:
    output = output_of(ctx)
    around, clock = look_around(os.environ), SystemClock()
    if ledger_for_reading(around) is None:
        if output.json:
            output.document("audit-rebuild", {"events": 0, "tables": []})
        elif not output.quiet:
            output.text("nothing was recorded here yet")
        return ExitStatus.DONE
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        rebuilt = rebuild_tables(journal)
    tables = sorted(rebuilt.rows.items())
    if output.json:
        body = [{"table": table, "rows": rows} for table, rows in tables]
        output.document("audit-rebuild", {"events": rebuilt.events, "tables": body})
    elif not output.quiet:
        lines = [f"{len(tables)} tables filled anew from {rebuilt.events} events"]
        output.text("\n".join([*lines, *(f"  {table}  {rows} rows" for table, rows in tables)]))
    return ExitStatus.DONE


rebuild = PlainCommand("rebuild", PAGE, _rebuild)

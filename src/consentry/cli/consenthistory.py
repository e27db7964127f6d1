"""`consentry consent history`: what was asked in a session, and how it was answered."""

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.consentplace import consents_here
from consentry.cli.table import Page
from consentry.service.consentrecords import ConsentRecord, records_of_session

PAGE = Page(
    summary="Tell what was asked about tools in a session, and how it was answered.",
    paragraphs=(
        "Without an id, in the session of this terminal. `session list` names the others.",
    ),
    examples=(
        ("consentry consent history", "of this terminal"),
        ("consentry consent history --session session-0198c2f4-…", "of another session"),
    ),
    statuses=(
        ("0", "told; an empty history is an answer, too"),
        ("2", "wrong usage"),
        ("5", "the ledger cannot be read or written"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _history(ctx: click.Context, *, session: str | None) -> ExitStatus:
    output = output_of(ctx)
    with consents_here() as journal:
        records = records_of_session(journal, session or str(journal.context.session_id))
    if output.json:
        output.document("consent-history", {"records": [each.to_json() for each in records]})
    elif not output.quiet:
        output.text("\n".join(map(_line, records)) or "nothing was asked in this session")
    return ExitStatus.DONE


def _line(record: ConsentRecord) -> str:
    when = "waits" if record.at is None else record.at.shown()
    said = f"{when}  {record.decision}  {safe_line(record.tool_id)} {safe_line(record.version)}"
    by = "" if record.by is None else f"  by {safe_line(record.by)}"
    why = "" if not record.reason else f"  ({safe_line(record.reason)})"
    return f"{said}{by}{why}  {record.request_id}"


history = PlainCommand(
    "history",
    PAGE,
    _history,
    [click.Option(["--session"], type=Text(), metavar="ID", help="Of this session.")],
)

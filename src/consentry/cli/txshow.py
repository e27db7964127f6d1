"""`consentry tx show`: one transaction: where it stands, what it changes, and what happened."""

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, OneOf, PlainCommand, output_of, usage_problem
from consentry.cli.output import Output, write_message, write_pieces
from consentry.cli.table import Page
from consentry.cli.txplace import STATUSES, journal_looked_at, transaction_argument
from consentry.cli.txtext import view_lines
from consentry.decide.identity import Role
from consentry.decide.txpreview import ROLES
from consentry.service.transactionview import TxView, view_of

PAGE = Page(
    summary="Show one transaction: where it stands, why, what helps, what it changes, what happened.",
    paragraphs=(
        (
            "What waits past its deadline, or was left by a process that is gone, is settled by looking. "
            "The preview is held against its hash, and shown as a role sees it."
        ),
        (
            "--preview prints the document `tx-preview/v1` as it is, with what every role sees: it is "
            "what the hash is over."
        ),
    ),
    arguments=(
        ("ID", "A transaction's id, or the beginning of one; `consentry tx list` lists them."),
    ),
    examples=(
        ("consentry tx show 0198c2f4-71", "all about it"),
        ("consentry tx show 0198c2f4-71 --role viewer", "what a viewer sees of it"),
        ("consentry tx show 0198c2f4-71 --html change.html", "the same as a page"),
        ("consentry tx show 0198c2f4-71 --preview", "the preview itself, for a program"),
    ),
    statuses=(("0", "shown, whatever its state"), *STATUSES),
    read_on=("docs/how-to/decide-about-changes.md.",),
)

_MOST_ATTEMPT = 1_000_000


@click.pass_context
def _show(
    ctx: click.Context,
    *,
    named: str,
    attempt_no: int | None,
    role: str | None,
    html: str | None,
    preview: bool,
) -> ExitStatus:
    output = output_of(ctx)
    if preview and (role is not None or html is not None):
        raise usage_problem(
            "`--preview` prints the whole document, with what every role sees",
            "leave `--role` and `--html` out, or `--preview`",
        )
    with journal_looked_at(named, attempt_no) as (journal, attempt):
        view = view_of(journal, attempt, Role.OWNER if role is None else Role(role))
    if preview:
        _print_preview(view)
        return ExitStatus.DONE
    if html is not None:
        _write_page(view, html)
    if output.json:
        output.document("tx", view.to_json())
    elif output.quiet:
        output.text(view.attempt.state.value)
    else:
        _tell(output, view, html)
    return ExitStatus.DONE


def _tell(output: Output, view: TxView, html: str | None) -> None:
    output.text("\n".join(view_lines(output, view)))
    if html is not None:
        write_message(f"the page is in {safe_line(html)}")


def _print_preview(view: TxView) -> None:
    """The document byte for byte as its hash is over it, but for the hash itself, which it has."""
    if view.preview is None:
        raise usage_problem(
            f"`{view.attempt.tx_id}` has no preview: it is {view.attempt.state}",
            "leave --preview out to see why",
        )
    from consentry.base.canonical import canonical_json  # noqa: PLC0415 - only this form needs it

    write_pieces([canonical_json(view.preview), b"\n"])


def _write_page(view: TxView, html: str) -> None:
    from consentry.service.transactionhtml import (  # noqa: PLC0415 - one of three forms
        transaction_page,
    )
    from consentry.service.userfiles import new_file  # noqa: PLC0415 - as above

    with new_file(html) as file:
        file.writelines(each.encode() for each in transaction_page(view))


show = PlainCommand(
    "show",
    PAGE,
    _show,
    [
        click.Option(
            ["--attempt", "attempt_no"],
            type=click.IntRange(1, _MOST_ATTEMPT),
            metavar="N",
            help="This attempt; the latest unless given.",
        ),
        click.Option(
            ["--role"],
            type=OneOf(tuple(each.value for each in ROLES)),
            metavar="ROLE",
            help="As owner, approver, operator or viewer sees it; owner unless given.",
        ),
        click.Option(
            ["--html"], type=File(), metavar="FILE", help="Write a page, too, to this new file."
        ),
        click.Option(["--preview"], is_flag=True, help="Print the preview itself, as JSON."),
        transaction_argument(),
    ],
)

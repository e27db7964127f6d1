"""`consentry signoff`: GO or NO-GO from the ledger, as text, JSON or a page."""

import os

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, Text, output_of, usage_problem
from consentry.cli.lazygroup import LazyGroup
from consentry.cli.output import Output, write_message
from consentry.cli.table import CommandRow, CommandSection, Page

PAGE = Page(
    summary="Say GO or NO-GO from what the ledger holds, with every figure behind it.",
    paragraphs=(
        (
            "Nine gates and the sample floors are read from the events of a window. A gate that nothing "
            "is known of, a floor that is not reached, an event without its tags and a chain that does "
            "not verify are each a NO-GO, and so is a policy violation that nobody has resolved."
        ),
        "The same ledger and the same --until give the same answer.",
    ),
    examples=(
        ("consentry signoff", "the last 7 days"),
        ("consentry signoff --window 36h --html signoff.html", "a page to keep or pass on"),
        ("consentry signoff --until 2026-01-31T00:00:00Z --json", "as it stood then, for a script"),
        ("consentry signoff --quiet && release", "only when it is GO"),
    ),
    statuses=(
        ("0", "GO; or resolved"),
        ("1", "NO-GO"),
        ("2", "wrong usage, no such event, or the file cannot be made or written"),
        ("5", "the ledger cannot be read or written"),
        ("126", "resolved before, or the state directory is not safe to use"),
    ),
    read_on=("docs/how-to/sign-off.md; docs/explanation/sign-off.md.",),
)

SECTIONS = (
    CommandSection(
        "Commands",
        (
            CommandRow(
                "resolve",
                "consentry.cli.signoffresolve:resolve",
                "Record root cause and corrective action of a violation",
            ),
        ),
    ),
)


@click.pass_context
def _signoff(
    ctx: click.Context, *, window: str | None, until: str | None, html: str | None
) -> ExitStatus | None:
    output = output_of(ctx)
    if ctx.invoked_subcommand is not None:
        if (window, until, html) != (None, None, None):
            message = (
                f"`--window`, `--until` and `--html` do not go with `{ctx.invoked_subcommand}`"
            )
            raise usage_problem(message, "leave them out")
        return None
    return _answered(output, window, until, html)


def _answered(
    output: Output, window: str | None, until: str | None, html: str | None
) -> ExitStatus:
    # Only the verdict needs all this, and `resolve` does not pay for it.
    from consentry.service.ledgers import ledger_for_reading  # noqa: PLC0415
    from consentry.service.signoff import (  # noqa: PLC0415
        asked_window,
        behind_the_latest,
        signoff_answer,
    )
    from consentry.service.surroundings import look_around  # noqa: PLC0415
    from consentry.service.userfiles import new_file  # noqa: PLC0415

    asked = asked_window(SystemClock(), window, until)
    history = ledger_for_reading(look_around(os.environ))
    if until is None:
        asked = behind_the_latest(asked, history)
    answer = signoff_answer(history, asked)
    if html is not None:
        from consentry.record.signoffhtml import signoff_page  # noqa: PLC0415 - as above

        with new_file(html) as file:
            file.writelines(each.encode() for each in signoff_page(answer))
    if output.json:
        output.document("signoff", answer.to_json())
    elif output.quiet:
        output.text(answer.verdict)
    else:
        from consentry.cli.signofftext import signoff_text  # noqa: PLC0415 - as above

        output.text(signoff_text(answer, output))
        if history is None:
            write_message("nothing was recorded here yet")
        if html is not None:
            write_message(f"the page is in {safe_line(html)}")
    return ExitStatus.DONE if answer.is_go else ExitStatus.FOUND


signoff = LazyGroup(
    "signoff",
    SECTIONS,
    _signoff,
    [
        click.Option(
            ["--window"],
            type=Text(),
            metavar="SPAN",
            help="How long the window is: 7d unless given.",
        ),
        click.Option(
            ["--until"],
            type=Text(),
            metavar="TIME",
            help="Where it ends, itself not included: now unless given, or behind the latest event.",
        ),
        click.Option(
            ["--html"], type=File(), metavar="FILE", help="Write the answer as a page, too."
        ),
    ],
    page=PAGE,
)

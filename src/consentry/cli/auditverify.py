"""`consentry audit verify`: follows every chain to its end."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.table import Page
from consentry.service.audit import require_sound
from consentry.service.ledgers import ledger_for_reading
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Follow every chain to its end, and name the first event that is not as it was.",
    paragraphs=(
        "Finds an event that was changed, dropped, repeated or moved.",
        "A cut tail or an older copy cannot be seen without a checkpoint kept elsewhere.",
    ),
    examples=(
        ("consentry audit verify", "how many events and chains, or the first bad event"),
        ("consentry audit verify --quiet", "the exit status alone"),
    ),
    statuses=(
        ("0", "every chain is whole, or nothing was recorded yet"),
        ("5", "the ledger cannot be read, or does not verify; the first bad event is named"),
        ("126", "the state directory is not safe to use"),
    ),
)


@click.pass_context
def _verify(ctx: click.Context) -> ExitStatus:
    output = output_of(ctx)
    ledger = ledger_for_reading(look_around(os.environ))
    heads = [] if ledger is None else require_sound(ledger)
    count = sum(head.seq for head in heads)
    if output.json:
        chains = [{"writer": h.writer, "events": h.seq, "hash": h.hash} for h in heads]
        output.document("audit-verify", {"events": count, "chains": chains})
    elif output.quiet:
        pass
    elif ledger is None:
        output.text("nothing was recorded here yet")
    else:
        lines = [
            f"{count} events verify, in {len(heads)} {'chain' if len(heads) == 1 else 'chains'}"
        ]
        lines += [f"  {safe_line(h.writer)}  {h.seq} events, ends {h.hash}" for h in heads]
        lines.append("no checkpoint was compared: a cut tail or an older copy would not be seen")
        output.text("\n".join(lines))
    return ExitStatus.DONE


verify = PlainCommand("verify", PAGE, _verify)

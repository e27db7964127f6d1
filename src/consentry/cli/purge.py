"""`consentry purge`: removes what has no effect any more, or everything that this machine keeps."""

import os
import sys
from contextlib import closing

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.base.values import replace
from consentry.cli.command import PlainCommand, output_of, usage_problem
from consentry.cli.output import Output, write_message
from consentry.cli.table import Page
from consentry.service.keepsettings import keeping_of
from consentry.service.ledgers import ledger_for_reading, ledger_for_writing, ledger_place
from consentry.service.purging import (
    Purged,
    count_purgeable,
    kept_before,
    moment_before,
    purge_kept,
)
from consentry.service.purging import purge as purge_rows
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings, look_around

DEFAULT_SPAN = "30d"
WORD = "purge"

PAGE = Page(
    summary="Remove rows that have no effect any more; never an event of the ledger.",
    paragraphs=(
        "Such as settled requests, spent permits, revoked grants. How many went is recorded.",
        "Effects of runs that are kept for a commit or for undo go with them, by the same span.",
        "--everything erases this machine's ledger, key and id, and is not recorded anywhere.",
    ),
    examples=(
        ("consentry purge --dry-run", "what would go"),
        ("consentry purge --older-than 90d", "what was settled three months ago or earlier"),
        ("consentry purge --everything --dry-run", "which files would be erased"),
    ),
    statuses=(
        ("0", "removed, or there was nothing to remove"),
        ("2", "wrong usage, or --everything was not confirmed"),
        ("3", "a span that cannot be read"),
        ("5", "the ledger or the state directory cannot be written"),
        ("126", "the state directory is not safe to use, or holds what is not ours"),
    ),
)


@click.pass_context
def _purge(
    ctx: click.Context, *, older_than: str | None, dry: bool, everything: bool, yes: bool
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    if everything:
        if older_than is not None:
            raise usage_problem(
                "`--older-than` and `--everything` contradict each other",
                "leave one of the two out",
            )
        return _erase(around, output, dry=dry, yes=yes)
    if yes:
        raise usage_problem("`--yes` goes with `--everything`", "rows are removed without it")
    clock = SystemClock()
    before = moment_before(clock, older_than or DEFAULT_SPAN)
    state, keeping = ledger_place(around).folder, keeping_of(around)
    history = ledger_for_reading(around)
    if history is None:
        _tell(output, Purged(before, {}), dry=dry)
        return ExitStatus.DONE
    history.database.close()
    if dry:
        with closing(ledger_for_writing(around, clock)) as ledger:
            found = count_purgeable(ledger.database, before)
        items = kept_before(state, keeping, before)
        kept = {name: len(each) for name, each in items.items()}
        _tell(output, replace(found, kept=kept), dry=True)
        return ExitStatus.DONE
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        found = purge_rows(journal, before)
    _tell(output, replace(found, kept=purge_kept(state, keeping, before)), dry=False)
    return ExitStatus.DONE


def _tell(output: Output, found: Purged, *, dry: bool) -> None:
    if output.json:
        body = {"before": str(found.before), "rows": found.rows, "removed": found.total}
        body["kept"] = found.kept
        output.document("purge", {**body, "dry_run": dry})
    elif output.quiet:
        pass
    elif not found.total and not any(found.kept.values()):
        output.text(f"nothing has been without effect since before {found.before.shown()}")
    else:
        done = f"row{'' if found.total == 1 else 's'} {'would be removed' if dry else 'removed'}"
        rows = [f"  {table}  {count}" for table, count in found.rows.items() if count]
        rows += [
            f"  effects of runs, {name}  {count}" for name, count in found.kept.items() if count
        ]
        output.text("\n".join([f"{found.total} {done}", *rows]))


def _erase(around: Surroundings, output: Output, *, dry: bool, yes: bool) -> ExitStatus:
    from consentry.service.erasing import erase, find_belongings  # noqa: PLC0415 - seldom asked for

    found = find_belongings(around)
    files = () if found is None else found.files
    folder = None if found is None else str(found.folder)
    shared = found is not None and found.place.url is not None
    if found is not None and not dry:
        if not yes:
            _require_confirmed(str(found.folder))
        erase(found)
    if output.json:
        body = {"folder": folder, "files": list(files), "shared_store_kept": shared}
        output.document("purge-everything", {**body, "dry_run": dry})
    elif output.quiet:
        pass
    elif folder is None:
        output.text("there is nothing here to erase")
    else:
        lines = [f"{safe_line(folder)} {'would be erased' if dry else 'was erased'}"]
        lines += [f"  {safe_line(name)}" for name in files]
        if shared:
            lines.append("the shared ledger on the server stays as it is")
        output.text("\n".join(lines))
    return ExitStatus.DONE


def _require_confirmed(folder: str) -> None:
    """A person types the word; a program says --yes."""
    if sys.stdin is None or not sys.stdin.isatty():
        raise usage_problem("`--everything` needs `--yes` here", "nothing was erased")
    write_message(
        f"This erases the ledger, the key and the id in {safe_line(folder)}, for good.\n"
        f"Type {WORD} to go on:"
    )
    if sys.stdin.readline().strip() != WORD:
        raise usage_problem(f"`{WORD}` was not typed", "nothing was erased")


purge = PlainCommand(
    "purge",
    PAGE,
    _purge,
    [
        click.Option(
            ["--older-than"],
            metavar="SPAN",
            help=f"Only what was settled so long ago, 1d at least; {DEFAULT_SPAN} unless given.",
        ),
        click.Option(["--dry-run", "dry"], is_flag=True, help="Only say what would go."),
        click.Option(
            ["--everything"],
            is_flag=True,
            help="Erase all that this machine keeps, and the folder.",
        ),
        click.Option(["--yes"], is_flag=True, help="Confirm --everything without being asked."),
    ],
)

"""`consentry module mode`: shows or sets what modules may do at all, whatever was granted."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.capabilitysetting import require_passphrase
from consentry.cli.command import OneOf, PlainCommand, Text, output_of, usage_problem
from consentry.cli.moduleplace import modules_here, modules_to_read, stored_in
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.identity import Identity
from consentry.decide.modulemode import ModeSetting, ModuleMode
from consentry.service.surroundings import look_around
from consentry.store.modules import StoredModules

MEANINGS = {
    ModuleMode.DENY_ALL: "every capability is denied, whatever was granted",
    ModuleMode.INSPECT_ONLY: "modules can be imported, listed, shown and drawn; no action runs",
    ModuleMode.BLOCK_REJECTED: (
        "nobody is asked for what is missing, and an action that was rejected stays blocked"
    ),
    ModuleMode.NORMAL: "grants decide, and a person is asked for what is missing",
}

PAGE = Page(
    summary="Show or set what modules may do at all, whatever was granted.",
    paragraphs=(
        (
            "One switch for all modules of this store; it takes effect with the next check, in every "
            "process. No mode takes a grant away: going back finds them as they were. What was "
            "blocked is free again when the mode changes."
        ),
        "Every change is on record. Where a passphrase is set, a mode that lets more asks for it.",
    ),
    arguments=(("MODE", "deny-all, inspect-only, block-rejected or normal; shown without one."),),
    examples=(
        ("consentry module mode", "which one holds, and since when"),
        ("consentry module mode deny-all --reason 'odd exports'", "stop all of them"),
        ("consentry module mode normal", "let grants decide again"),
    ),
    statuses=(
        ("0", "shown or set, or it was so before"),
        ("2", "wrong usage, or no such mode"),
        ("5", "the ledger cannot be read or written, so nothing changed"),
        ("126", "the passphrase is missing, or the state directory is not safe to use"),
    ),
)


@click.pass_context
def _mode(ctx: click.Context, *, wanted: str | None, reason: str | None) -> ExitStatus:
    output = output_of(ctx)
    if wanted is None:
        if reason is not None:
            raise usage_problem("`--reason` goes with a mode", "name the mode to set")
        with modules_to_read() as journal:
            modules = stored_in(journal)
            setting = ModeSetting() if modules is None else modules.mode()
        _tell(output, setting)
        return ExitStatus.DONE
    mode = ModuleMode(wanted)
    with modules_here() as journal:
        modules = StoredModules(journal)
        before = modules.mode()
        if mode is before.mode:
            _tell(output, before, before)
            return ExitStatus.DONE
        if mode.lets_more_than(before.mode):
            what = f"letting modules do more ({mode})"
            require_passphrase(look_around(os.environ), journal, what)
        modules.set_mode(mode, Identity(journal.context.actor), reason, after=before.mode)
        _tell(output, modules.mode(), before)
    return ExitStatus.DONE


def _tell(output: Output, now: ModeSetting, before: ModeSetting | None = None) -> None:
    if output.json:
        previous = None if before is None else before.mode.value
        output.document("module-mode", {**now.to_json(), "previous": previous})
    elif output.quiet:
        output.text(now.mode.value)
    else:
        was = "" if before is None or before.mode is now.mode else f"{before.mode} → "
        lines = [f"{was}{now.mode}: {MEANINGS[now.mode]}"]
        if now.changed_at is not None:
            lines.append(f"  set {now.changed_at.shown()} by {safe_line(now.changed_by)}")
        output.text("\n".join(lines))


mode = PlainCommand(
    "mode",
    PAGE,
    _mode,
    [
        click.Option(
            ["--reason"], type=Text(), metavar="TEXT", help="Why; recorded with the change."
        ),
        click.Argument(["wanted"], type=OneOf(tuple(ModuleMode)), required=False, metavar="[MODE]"),
    ],
)

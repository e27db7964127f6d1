"""`consentry capability set`: gives a saved capability another permission set, by hand and on record."""

import os

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import Refused
from consentry.cli.capabilityplace import (
    capabilities_here,
    complete_capability,
    complete_set,
    found_capability,
)
from consentry.cli.capabilitysetting import require_passphrase
from consentry.cli.capabilitytext import document_of, opened_beyond
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.hanging import hanging
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.capabilities import Capability, determine_permission_set
from consentry.decide.identity import Identity
from consentry.service.surroundings import look_around
from consentry.store.capabilities import CapabilityStore
from consentry.surface.permission_sets import PermissionSet, definition

PAGE = Page(
    summary="Give a capability another permission set by hand; who did is recorded.",
    paragraphs=(
        (
            "A step that an escalation could take, or to a set that opens less. It holds until the "
            "code changes. A passphrase, where one is set, is asked for unless the set opens less."
        ),
        "`trusted` opens everything but protected roots: it needs --by-hand as well.",
    ),
    arguments=(
        ("NAME", "The name of a capability, or its id."),
        ("SET", "minimal, readonly, filesystem, network-api, mcp-standard or trusted."),
    ),
    examples=(
        ("consentry capability set weather network-api", "let it reach the network"),
        ("consentry capability set weather minimal", "take everything back"),
        ("consentry capability set backup trusted --by-hand", "open everything, knowingly"),
    ),
    statuses=(
        ("0", "set, or it was so before"),
        ("2", "wrong usage, nothing is saved under that name, or no such set"),
        ("5", "the ledger cannot be written, so nothing changed"),
        ("126", "no step leads there, --by-hand or the passphrase is missing"),
    ),
    read_on=("`consentry explain SET` says what a set opens.",),
)


@click.pass_context
def _set(
    ctx: click.Context, *, name: str, wanted: str, by_hand: bool, reason: str | None
) -> ExitStatus:
    output = output_of(ctx)
    target = PermissionSet.named(wanted)
    if target is PermissionSet.TRUSTED and not by_hand:
        raise Refused(
            Code.PERMISSION_STEP,
            f"`{target}` opens everything but protected roots, and is given only with --by-hand",
            help_line=f"if that is meant: `consentry capability set {name} {target} --by-hand`",
        )
    with capabilities_here() as journal:
        before = found_capability(journal, name)
        if opened_beyond(determine_permission_set(before), target):
            require_passphrase(look_around(os.environ), journal, f"giving `{name}` {target}")
        after = CapabilityStore(journal).update_permission_set(
            before.capability_id,
            target,
            approved_by=Identity(journal.context.actor),
            reason=reason,
            by_hand=True,
        )
    _tell(output, before, after)
    return ExitStatus.DONE


def _tell(output: Output, before: Capability, after: Capability) -> None:
    ran_in, runs_in = determine_permission_set(before), determine_permission_set(after)
    added = opened_beyond(ran_in, runs_in)
    if output.json:
        body = {"capability": document_of(after), "before": ran_in.value, "added": added}
        output.document("capability-set", body)
    elif not output.quiet:
        lines = [f"{after.name}: {ran_in} → {runs_in}, by hand"]
        for power in added:
            lines += hanging("  adds  ", power)
        lines += hanging("  now   ", definition(runs_in).summary)
        output.text("\n".join(lines))


set_ = PlainCommand(
    "set",
    PAGE,
    _set,
    [
        click.Option(
            ["--by-hand"], is_flag=True, help="Say that you mean it; `trusted` is refused without."
        ),
        click.Option(
            ["--reason"], type=Text(), metavar="TEXT", help="Why; recorded with the change."
        ),
        click.Argument(["name"], type=Text(), metavar="NAME", shell_complete=complete_capability),
        click.Argument(["wanted"], type=Text(), metavar="SET", shell_complete=complete_set),
    ],
)

"""`consentry plugins forget`: lets an older version, or one with less evidence, come in again."""

import os
from contextlib import closing

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import UsageProblem
from consentry.base.ids import Uuid7Ids
from consentry.base.safetext import safe_line
from consentry.cli.command import Folder, PlainCommand, Text, output_of
from consentry.cli.configoptions import workspace_option
from consentry.cli.confirming import TypedYes, require_typed_yes
from consentry.cli.pluginplace import root_of
from consentry.cli.table import Page
from consentry.decide.pluginversion import PluginVersion
from consentry.service.identity import local_user
from consentry.service.pluginsigning import memory_place
from consentry.service.sessions import journal_here
from consentry.service.surroundings import Surroundings, look_around
from consentry.store.journal import Journal
from consentry.store.pluginversions import StoredPluginVersions

_YES = TypedYes("forget", "forgetting", Code.TRUST_REFUSED)

PAGE = Page(
    summary="Forget what a plugin was accepted by, so that an older or less signed one may come.",
    paragraphs=(
        (
            "A plugin that was accepted with evidence needs as much from then on, and no older "
            "version of it is taken. This ends that for one plugin; the ledger keeps it."
        ),
    ),
    arguments=(("NAME", "The plugin."),),
    examples=(("consentry plugins forget build", "see what is remembered, and end it"),),
    statuses=(
        ("0", "forgotten"),
        ("2", "wrong usage, or nothing is remembered"),
        ("5", "the ledger cannot be written, so nothing was forgotten"),
        ("126", "you said no, or there is no terminal"),
    ),
)


@click.pass_context
def _forget(
    ctx: click.Context, *, name: str, root: str | None, own: bool, workspace: str | None, yes: bool
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    folder = memory_place(root_of(around, root, workspace, own=own))
    clock = SystemClock()
    journal = journal_here(around, clock, Uuid7Ids(clock))
    with closing(journal.ledger):
        kept = StoredPluginVersions(journal.ledger, journal.ids, journal.clock, journal.context)
        memory = kept.remembered(folder, name)
        if memory is None:
            raise UsageProblem(
                Code.ID_UNKNOWN,
                f"nothing is remembered of `{name}` in `{folder}`",
                help_line="it was never accepted with evidence, or lies elsewhere",
            )
        if not yes:
            _ask(memory, around, journal)
        kept.forget(folder, name, local_user(around, journal.machine_id))
    if output.json:
        output.document("plugins-forget", memory.to_json())
    elif not output.quiet:
        output.text(f"forgotten: {safe_line(name)} {memory.version}")
    return ExitStatus.DONE


def _ask(memory: PluginVersion, around: Surroundings, journal: Journal) -> None:
    lines = [
        f"plugin    {safe_line(memory.plugin)}",
        f"folder    {safe_line(memory.folder)}",
        f"version   {memory.version}, {memory.digest}",
        f"signed by {safe_line(', '.join(memory.signers))} ({', '.join(memory.evidence)})",
        f"accepted  {memory.accepted_at.shown()}",
        "",
        "let an older version, or one with less evidence, come in its place?",
    ]
    require_typed_yes(lines, _YES, around, journal.clock)


forget = PlainCommand(
    "forget",
    PAGE,
    _forget,
    [
        click.Argument(["name"], type=Text(), metavar="NAME"),
        click.Option(
            ["--root"], type=Folder(), metavar="DIR", help="The folder that plugins lie in."
        ),
        click.Option(["--own"], is_flag=True, help="The plugins of your own configuration."),
        workspace_option(),
        click.Option(["--yes"], is_flag=True, help="Do it unasked."),
    ],
)

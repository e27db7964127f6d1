"""`consentry plugins list`: the plugins in a folder and its lock, with version, digest and state."""

import os

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.pluginplace import (
    ROOT_ARGUMENT,
    cache_of,
    rehash_option,
    root_of,
    root_parameters,
)
from consentry.cli.pluginrows import state_document, state_rows
from consentry.cli.table import Page
from consentry.declare.pluginlock import PluginLock
from consentry.service.pluginroots import lock_file
from consentry.service.pluginverify import Given, verify_root
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="List the plugins in a folder, with version, digest and state.",
    paragraphs=(
        (
            "The state is that of `consentry plugins verify`, but nothing is recorded and a plugin "
            "that is rejected is no failure of this command."
        ),
    ),
    arguments=(ROOT_ARGUMENT,),
    examples=(
        ("consentry plugins list", "the plugins of this workspace"),
        ("consentry plugins list --own --quiet", "the bare names of your own"),
    ),
    statuses=(
        ("0", "listed; an empty list is an answer, too"),
        ("2", "wrong usage, or a folder that cannot be used"),
        ("3", "the lock cannot be read"),
    ),
    read_on=("docs/how-to/lock-plugins.md; docs/reference/plugins-lock.md.",),
)


@click.pass_context
def _list(
    ctx: click.Context, *, root: str | None, own: bool, workspace: str | None, rehash: bool
) -> ExitStatus:
    output = output_of(ctx)
    around = look_around(os.environ)
    place = root_of(around, root, workspace, own=own)
    found = lock_file(place)
    lock = PluginLock() if found is None else found.lock
    state = verify_root(place, lock, cache_of(around), Given({}, {}), rehash=rehash)
    if output.json:
        body = {"root": str(place), "plugins": [state_document(each) for each in state.plugins]}
        output.document("plugins-list", body)
    elif output.quiet:
        if state.plugins:
            output.text("\n".join(safe_line(each.name) for each in state.plugins))
    elif not state.plugins:
        output.text(f"there are no plugins in {safe_line(str(place))}")
    else:
        widest = max(len(safe_line(each.name)) for each in state.plugins)
        rows = (row for each in state.plugins for row in state_rows(output, each, widest))
        output.text("\n".join(rows))
    return ExitStatus.DONE


list_ = PlainCommand("list", PAGE, _list, [*root_parameters(), rehash_option()])

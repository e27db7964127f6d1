"""`consentry plugins lock`: writes down what the plugins in a folder consist of."""

import os
from collections.abc import Iterator, Mapping

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.output import Output
from consentry.cli.pluginplace import (
    ROOT_ARGUMENT,
    definition_options,
    given_servers,
    given_tools,
    root_of,
    root_parameters,
)
from consentry.cli.pluginrows import change_rows, changes_document
from consentry.cli.table import Page
from consentry.declare.pluginlock import LOCK_NAME, PluginLock
from consentry.examine.pluginproblems import PluginRejected, TreeChanges, VerificationError
from consentry.service.pluginlocking import (
    Definitions,
    LockChanges,
    lock_changes,
    made_lock,
    write_lock,
)
from consentry.service.pluginroots import LockFile, lock_bytes, parsed_lock
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Write PLUGINS.lock: the digest and the files of every plugin in a folder.",
    paragraphs=(
        (
            "Shows file by file what changes against the lock that is there. Making it anew accepts "
            "what lies there: look at it first. Nothing of a plugin is run."
        ),
        (
            "Digests of tool manifests and of MCP tools stay as they are unless given anew with "
            "--tool and --mcp, or dropped."
        ),
    ),
    arguments=(ROOT_ARGUMENT,),
    examples=(
        ("consentry plugins lock --check", "what would change; writes nothing"),
        ("consentry plugins lock", "write it"),
        ("consentry plugins lock --mcp files=tools.json", "with the tools that a server has"),
    ),
    statuses=(
        ("0", "written, or as it was"),
        ("1", "--check: it would change"),
        ("2", "wrong usage, or a folder or file that cannot be used"),
        ("3", "a document that cannot be read: the old lock, a plugin.yaml, a tool"),
        ("4", "a plugin has in it what no plugin may have; nothing was written"),
    ),
    read_on=("docs/how-to/lock-plugins.md; docs/reference/plugins-lock.md.",),
)


@click.pass_context
def _lock(
    ctx: click.Context,
    *,
    root: str | None,
    own: bool,
    workspace: str | None,
    check: bool,
    anew: bool,
    tools: tuple[str, ...],
    servers: tuple[str, ...],
    dropped_tools: tuple[str, ...],
    dropped_servers: tuple[str, ...],
) -> ExitStatus:
    output = output_of(ctx)
    place = root_of(look_around(os.environ), root, workspace, own=own)
    definitions = Definitions(
        given_tools(tools), given_servers(servers), dropped_tools, dropped_servers
    )
    there = lock_bytes(place)
    old = None if anew or there is None else parsed_lock(place, there)
    try:
        new = made_lock(place, PluginLock() if old is None else old.lock, definitions)
    except VerificationError as problem:
        raise PluginRejected(problem) from problem
    changes = lock_changes(old, new)
    if changes and not check:
        write_lock(place, new, over=there)
    _tell(output, str(place / LOCK_NAME), new, changes, old, check=check)
    return ExitStatus.FOUND if changes and check else ExitStatus.DONE


def _tell(
    output: Output,
    file: str,
    new: PluginLock,
    changes: LockChanges,
    old: LockFile | None,
    *,
    check: bool,
) -> None:
    if output.json:
        output.document("plugins-lock", _document(file, new, changes, check=check))
    elif not output.quiet:
        output.text("\n".join(_lines(output, file, new, changes, old, check=check)))


def _lines(
    output: Output,
    file: str,
    new: PluginLock,
    changes: LockChanges,
    old: LockFile | None,
    *,
    check: bool,
) -> Iterator[str]:
    shown = output.paint(safe_line(file), "bold")
    if not changes:
        yield f"{shown} is as it should be: {_count(new)}"
        return
    yield f"{shown} would change: {_count(new)}" if check else f"wrote {shown}: {_count(new)}"
    if changes.layout_only:
        yield "  it means the same, and is laid out as it always is"
    before: Mapping[str, object] = {} if old is None else old.lock.plugins
    for name in (*new.plugins, *(each for each in before if each not in new.plugins)):
        yield from _plugin_rows(output, name, changes)
    for section, names in (("tool", changes.tools), ("mcp", changes.mcp_tools)):
        yield from change_rows(output, names, indent=2, prefix=f"{section} ")


def _plugin_rows(output: Output, name: str, changes: LockChanges) -> Iterator[str]:
    only = TreeChanges(
        changed=tuple(each for each in changes.plugins.changed if each == name),
        added=tuple(each for each in changes.plugins.added if each == name),
        missing=tuple(each for each in changes.plugins.missing if each == name),
    )
    yield from change_rows(output, only, indent=2, prefix="plugin ")
    if name in changes.files:
        yield from change_rows(output, changes.files[name], indent=4)


def _count(lock: PluginLock) -> str:
    files = sum(len(each.files) for each in lock.plugins.values())
    mcp = sum(map(len, lock.mcp_tools.values()))
    parts = [f"plugins {len(lock.plugins)}", f"files {files}"]
    parts += [f"tools {len(lock.tools)}"] if lock.tools else []
    parts += [f"mcp tools {mcp}"] if mcp else []
    return ", ".join(parts)


def _document(
    file: str, new: PluginLock, changes: LockChanges, *, check: bool
) -> dict[str, object]:
    return {
        "file": file,
        "changed": bool(changes),
        "written": bool(changes) and not check,
        "layout_only": changes.layout_only,
        "plugins": [
            {"name": name, "version": each.version, "digest": each.digest, "files": len(each.files)}
            for name, each in sorted(new.plugins.items())
        ],
        "plugin_changes": changes_document(changes.plugins),
        "file_changes": {name: changes_document(each) for name, each in changes.files.items()},
        "tool_changes": changes_document(changes.tools),
        "mcp_tool_changes": changes_document(changes.mcp_tools),
    }


lock = PlainCommand(
    "lock",
    PAGE,
    _lock,
    [
        *root_parameters(),
        click.Option(["--check"], is_flag=True, help="Write nothing; status 1 if it would change."),
        click.Option(
            ["--anew"],
            is_flag=True,
            help="Begin with no lock; one that cannot be read is replaced.",
        ),
        *definition_options("Put into the lock"),
        click.Option(
            ["--drop-tool", "dropped_tools"],
            type=Text(),
            multiple=True,
            metavar="NAME",
            help="Take this tool out of the lock.",
        ),
        click.Option(
            ["--drop-mcp", "dropped_servers"],
            type=Text(),
            multiple=True,
            metavar="SERVER",
            help="Take this server's tools out of the lock.",
        ),
    ],
)

"""Completes the name of a tool, for shells: by the names of files alone, no document is opened.

What is imported here is imported by every run, so all that only shells ask for is imported below.
"""

import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import click

from consentry.base.errors import ConsentryError

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


def complete_tool(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> "list[CompletionItem]":
    """The tools here that begin so; words behind the first are the tool's own."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415 - only shells ask

    typed = ctx.params.get(param.name or "")
    if isinstance(typed, tuple) and typed:
        return []
    return [CompletionItem(name) for name in _names(ctx) if name.startswith(incomplete)]


def _names(ctx: click.Context) -> list[str]:
    from consentry.declare.names import is_tool_name  # noqa: PLC0415 - only shells ask
    from consentry.service import places  # noqa: PLC0415 - as above
    from consentry.service.surroundings import look_around  # noqa: PLC0415 - as above

    around = look_around(os.environ)
    try:
        workspace = places.find_workspace(around, ctx.params.get("workspace"))
        found = places.find_configuration(around, workspace, ctx.params.get("config"))
    except ConsentryError:
        return []
    stems = {
        PurePosixPath(file).stem
        for folder in found.folders
        for file in folder.files
        if file.startswith(f"{places.TOOLS_FOLDER}/")
    }
    # Files of a workspace are called as a stranger likes; a shell gets no other names than tools have.
    return sorted(filter(is_tool_name, stems))

"""`consentry plugins init`: has changes of the lock looked at, by CODEOWNERS and the pull-request template."""

import os
import re
from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of, usage_problem
from consentry.cli.configoptions import workspace_option
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.service.places import find_workspace
from consentry.service.pluginroots import PLUGINS_FOLDER, workspace_root
from consentry.service.reviewfiles import Done, ReviewFile, write_review_files
from consentry.service.surroundings import look_around

PAGE = Page(
    summary="Have changes of PLUGINS.lock looked at: by CODEOWNERS and the pull-request template.",
    paragraphs=(
        (
            "The lock is an integrity check; whoever can commit both a plugin and its lock passes. "
            "Review is what stands against that."
        ),
        (
            "Files that are missing are made in .github. To files that do not speak of the lock yet, "
            "a part is added at the end; what is there stays as it is."
        ),
    ),
    examples=(
        ("consentry plugins init --owner @example/security --show", "what would be written"),
        ("consentry plugins init --owner @example/security", "write it"),
    ),
    statuses=(
        ("0", "written, shown, or there already"),
        ("2", "wrong usage, or a file that cannot be used"),
    ),
    read_on=("docs/how-to/operate-plugins.md.",),
)
_OWNER = re.compile(r"@[\w.-]+(/[\w.-]+)?|[^\s@#]+@[^\s@#]+", re.ASCII)


@click.pass_context
def _init(
    ctx: click.Context, *, owner: str | None, show: bool, workspace: str | None
) -> ExitStatus:
    output = output_of(ctx)
    if owner is None or not _OWNER.fullmatch(owner):
        raise usage_problem(
            "no owner was given" if owner is None else f"`{owner}` is not an owner",
            "write a team as CODEOWNERS has it, such as `--owner @example/security`",
        )
    found = find_workspace(look_around(os.environ), workspace)
    root = workspace_root(found) or found.path / PLUGINS_FOLDER
    files = write_review_files(found.path, root, owner, write=not show)
    if output.json:
        rows = [{"file": each.path, "done": each.done, "text": each.text} for each in files]
        output.document("plugins-init", {"written": not show, "files": rows})
    elif not output.quiet:
        output.text("\n".join(_lines(output, files, show=show)))
    return ExitStatus.DONE


def _lines(output: Output, files: tuple[ReviewFile, ...], *, show: bool) -> Iterator[str]:
    words = {
        Done.MADE: "would make" if show else "made",
        Done.ADDED: "would add to" if show else "added to",
        Done.THERE: "left as it is, it speaks of the lock:",
    }
    for each in files:
        yield f"{words[each.done]} {output.paint(safe_line(each.path), 'bold')}"
        if show and each.done is not Done.THERE:
            yield from (f"  {line}".rstrip() for line in each.text.splitlines())


init = PlainCommand(
    "init",
    PAGE,
    _init,
    [
        click.Option(
            ["--owner"],
            type=Text(),
            metavar="TEAM",
            help="Who has to agree to a change of the lock, as CODEOWNERS has it.",
        ),
        click.Option(
            ["--show"], is_flag=True, help="Show what would be written, and write nothing."
        ),
        workspace_option(),
    ],
)

"""`consentry wish init`: a wish that allows what code does today, to be filled in."""

from pathlib import Path

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.codereading import examined_code
from consentry.cli.command import File, PlainCommand, Text, output_of, usage_problem
from consentry.cli.output import Output, write_answer
from consentry.cli.surfaceshow import site_option
from consentry.cli.table import Page
from consentry.service.placedfile import place_new
from consentry.service.wishdraft import WishDraft, draft_wish, is_wish_id, wish_id

PAGE = Page(
    summary="Write a wish that allows what code does today, to be filled in and narrowed.",
    paragraphs=(
        (
            "Every power says where it comes from. Paths outside of the folder, code that is made at "
            "run time and what cannot be told stand in remarks: they are not allowed by it."
        ),
        "Nothing is run, and no file is overwritten.",
    ),
    arguments=(
        (
            "PATH",
            "A file, folder, wheel, sdist or installed distribution; the current folder unless given.",
        ),
    ),
    examples=(
        ("consentry wish init", "print it"),
        ("consentry wish init --out wish.yaml", "write it to a new file"),
        ("consentry wish init src --id wish-reader", "of one folder, under an id of your own"),
    ),
    statuses=(
        ("0", "written"),
        ("2", "wrong usage, the code cannot be found or read, or the file is there already"),
        ("4", "a plugin failed its integrity check, so nothing was examined"),
    ),
    read_on=("docs/how-to/write-a-wish.md; docs/reference/wish.md.",),
)


@click.pass_context
def _init(
    ctx: click.Context, *, path: str, out: str | None, identity: str | None, site: str | None
) -> ExitStatus:
    output = output_of(ctx)
    if identity is not None and not is_wish_id(identity):
        raise usage_problem(
            f"`{identity}` is not an id",
            "use characters that can be seen, at most 200, without blanks around them",
        )
    examined = examined_code(path, site, quiet=output.quiet)
    named = identity or wish_id(Path(path).resolve().name)
    draft = draft_wish(examined, named)
    if out is not None:
        place_new(out, draft.text.encode())
    if output.json:
        body = {"id": named, "file": out, "text": draft.text, "left_out": draft.left_out}
        output.document("wish-init", body)
    elif out is None:
        write_answer(draft.text)
    elif not output.quiet:
        output.text(_told(output, out, draft))
    return ExitStatus.DONE


def _told(output: Output, out: str, draft: WishDraft) -> str:
    lines = [f"wrote {output.paint(safe_line(out), 'bold')}; fill in scope and non_goals"]
    if draft.left_out:
        lines.append(f"it does not allow all of it: {draft.left_out} in remarks, read them")
    return "\n".join(lines)


init = PlainCommand(
    "init",
    PAGE,
    _init,
    [
        click.Argument(["path"], type=File(), default=".", required=False, metavar="[PATH]"),
        click.Option(["--out"], type=File(), metavar="FILE", help="Write it to this new file."),
        click.Option(
            ["--id", "identity"], type=Text(), metavar="ID", help="What the wish is called."
        ),
        site_option(),
    ],
)

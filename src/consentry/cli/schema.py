"""`consentry schema`: the JSON Schema of a document, for editors that complete and check it."""

import click

from consentry.base.codes import ExitStatus
from consentry.cli.command import OneOf, PlainCommand, output_of
from consentry.cli.output import write_answer
from consentry.cli.table import Page
from consentry.declare.documentkind import DocumentKind

PAGE = Page(
    summary="Print the JSON Schema of a document, for your editor.",
    paragraphs=(
        (
            "An editor that knows it completes keys and words, and marks what is misspelt. It "
            "cannot know everything: `consentry tool lint` has the last word."
        ),
    ),
    arguments=(("NAME", f"One of {', '.join(DocumentKind)}; without it, all are listed."),),
    examples=(
        ("consentry schema", "the names, and the file that each is for"),
        ("consentry schema tool", "of tools/NAME.yaml"),
        ("consentry schema tool > tool.schema.json", "for `# yaml-language-server: $schema=…`"),
    ),
    statuses=(
        ("0", "printed"),
        ("2", "wrong usage, or a name that is not known"),
    ),
    read_on=("docs/reference/documents.md.",),
)


@click.pass_context
def _schema(ctx: click.Context, *, name: str | None) -> ExitStatus:
    output = output_of(ctx)
    if name is not None:
        # A JSON document already; `--json` would only put another one around it.
        write_answer(DocumentKind(name).schema())
    elif output.json:
        listed = [{"name": kind.value, "file": kind.file} for kind in DocumentKind]
        output.document("schemas", {"schemas": listed})
    elif output.quiet:
        output.text("\n".join(DocumentKind))
    else:
        widest = max(map(len, DocumentKind))
        output.text("\n".join(f"{kind:<{widest}}  {kind.file}" for kind in DocumentKind))
    return ExitStatus.DONE


schema = PlainCommand(
    "schema",
    PAGE,
    _schema,
    [click.Argument(["name"], type=OneOf(tuple(DocumentKind)), required=False, metavar="[NAME]")],
)

"""`consentry explain`: what a word of the product means, offline."""

from textwrap import wrap

import click
from click.shell_completion import CompletionItem

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import UsageProblem
from consentry.base.safetext import safe_line
from consentry.cli.command import Page, PlainCommand, output_of
from consentry.cli.output import Output, page_width
from consentry.cli.suggest import help_for
from consentry.service.words import Word, WordKind, all_words, words_named

PAGE = Page(
    summary="Explain a word of the product, or list them all.",
    paragraphs=("Reads its own tables only: no network, no workspace, no configuration.",),
    arguments=(("WORD", "An error code, exit status, setting, engine or host feature."),),
    examples=(
        ("consentry explain", "every word, by kind"),
        ("consentry explain state-refused", "an error code, and what to do"),
        ("consentry explain 126", "an exit status"),
        ("consentry explain landlock", "a feature of the host"),
        ("consentry explain --quiet", "the bare words, one on a line"),
    ),
    statuses=(
        ("0", "explained"),
        ("2", "wrong usage, or a word the product does not use"),
    ),
)


def _complete(
    _ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    words = all_words()
    return [
        CompletionItem(word.name, help=str(word.kind))
        for word in words
        if word.name.startswith(incomplete)
    ]


@click.pass_context
def _explain(ctx: click.Context, *, word: str | None) -> ExitStatus:
    output = output_of(ctx)
    found = all_words() if word is None else words_named(word)
    if word is not None and not found:
        names = [known.name for known in all_words()]
        help_line = help_for(word, names, Code.UNKNOWN_WORD.remedy)
        raise UsageProblem(
            Code.UNKNOWN_WORD, f"`{word}` is not a word of the product", help_line=help_line
        )
    if output.json:
        output.document("words", {"words": [_document(known) for known in found]})
    elif output.quiet:
        output.text("\n".join(known.name if word is None else known.summary for known in found))
    elif word is None:
        output.text("\n".join(_listing(output, found)))
    else:
        output.text("\n\n".join("\n".join(_explained(output, known)) for known in found))
    return ExitStatus.DONE


explain = PlainCommand(
    "explain",
    PAGE,
    _explain,
    [click.Argument(["word"], required=False, metavar="[WORD]", shell_complete=_complete)],
)


def _document(word: Word) -> dict[str, object]:
    return {
        "name": word.name,
        "kind": str(word.kind),
        "summary": word.summary,
        "details": [{"title": title, "text": text} for title, text in word.details],
    }


def _listing(output: Output, words: tuple[Word, ...]) -> list[str]:
    lines = []
    for kind in WordKind:
        named = [word.name for word in words if word.kind is kind]
        if named:
            lines += [output.paint(kind.heading, "bold"), *_paragraph("  ", ", ".join(named)), ""]
    return [*lines, "`consentry explain WORD` explains one of them."]


def _explained(output: Output, word: Word) -> list[str]:
    lines = [f"{output.paint(safe_line(word.name), 'bold')} ({word.kind})"]
    lines += _paragraph("  ", safe_line(word.summary))
    for title, text in word.details:
        lines += ["", *_paragraph("  ", safe_line(f"{title}: {text}"))]
    return lines


def _paragraph(margin: str, text: str) -> list[str]:
    return wrap(
        text,
        page_width() - 1,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )

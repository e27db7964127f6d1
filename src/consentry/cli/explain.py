"""`consentry explain`: what a word of the product means, offline."""

import os
from textwrap import wrap

import click
from click.shell_completion import CompletionItem

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import UsageProblem
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, output_of
from consentry.cli.layout import laid_out
from consentry.cli.output import Output, page_width
from consentry.cli.suggest import help_for
from consentry.cli.table import Page
from consentry.service.pathwords import explain_path, is_path
from consentry.service.surroundings import look_around
from consentry.service.words import Word, WordKind, all_words, words_named

PAGE = Page(
    summary="Explain a word of the product, or list them all.",
    paragraphs=("Reads its own tables only: no network, no workspace, no configuration.",),
    arguments=(("WORD", f"Of these kinds: {', '.join(WordKind)}. A path begins with / or ~."),),
    examples=(
        ("consentry explain", "every word, by kind"),
        ("consentry explain state-refused", "an error code, and what to do"),
        ("consentry explain 126", "an exit status"),
        ("consentry explain mcp-standard", "what a permission set opens"),
        ("consentry explain ~/.ssh/config", "whether a path is protected, and why"),
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
    if word is None:
        found = all_words()
    elif is_path(word):
        found = (explain_path(word, look_around(os.environ)),)
    else:
        found = words_named(word)
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
    return [*lines, "`consentry explain WORD` explains one of them, or a path such as ~/.ssh."]


def _explained(output: Output, word: Word) -> list[str]:
    # A path and where it leads are written by others; every other word is from our own tables.
    hanging = _marked if word.kind is WordKind.PATH else _plain
    first, *others = laid_out(safe_line(word.name), width=page_width() - len(f" ({word.kind})") - 1)
    names = [output.paint(name, "bold") for name in (first, *others)]
    lines = [*names[:-1], f"{names[-1]} ({word.kind})", *hanging("  ", safe_line(word.summary))]
    column = max((len(title) for title, _ in word.details), default=0) + 2
    for number, (title, text) in enumerate(word.details):
        lines += [""] if number == 0 else []
        lines += hanging(f"  {title:<{column}}", safe_line(text))
    return lines


def _marked(start: str, text: str) -> list[str]:
    width = len(start)
    first, *others = laid_out(text, width=page_width() - 1, start=width, margin=width)
    return [start + first, *others]


def _plain(start: str, text: str) -> list[str]:
    first, *others = _paragraph(" " * len(start), text)
    return [start + first.lstrip(" "), *others]


def _paragraph(margin: str, text: str) -> list[str]:
    return wrap(
        text,
        page_width() - 1,
        initial_indent=margin,
        subsequent_indent=margin,
        break_long_words=False,
        break_on_hyphens=False,
    )

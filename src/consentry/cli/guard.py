"""`consentry guard`: may this change land? The verdict as text, JSON, SARIF or a page.

On the way to every answer stands only what the answer needs: the rest is loaded where it is used.
"""

import gc
import os
import time
from typing import TYPE_CHECKING, Any, Final

import click

from consentry.cli.command import File, Folder, PlainCommand, output_of, usage_problem
from consentry.cli.output import Output, write_answer, write_message, write_pieces
from consentry.cli.table import Page

if TYPE_CHECKING:
    from consentry.examine.addedrules import AddedRules
    from consentry.service.extractioncache import ExtractionCache
    from consentry.service.guardruns import Answered, Asked

JSON, SARIF, HTML = "json", "sarif", "html"
_ENDINGS: Final = {".sarif": SARIF, ".html": HTML, ".htm": HTML}
_ENDING_OF: Final = {JSON: ".json", SARIF: ".sarif", HTML: ".html"}
_OBJECTS_BEFORE_A_LOOK: Final = 200_000
_STATUSES: Final = {"PASS": 0, "BLOCKED": 1, "UNKNOWN": 2}

PAGE = Page(
    summary="Say which powers a change adds to the code, and whether a wish allows them.",
    paragraphs=(
        (
            "Nothing is run: the files are read as they were before and as they are after, with what "
            "they import from the same tree. What a wish does not say is not allowed, and what cannot "
            "be told is UNKNOWN. A wish that the change itself touches counts as it was before."
        ),
        (
            "`--json` prints the verdict itself, the same bytes that `--out` writes. The exit status "
            "is the answer, whatever the format."
        ),
    ),
    arguments=(
        (
            "CHANGE",
            (
                "`A..B`, `A...B` (since they parted), a commit, or a patch bundle: a folder with "
                "`patch.diff`, or a `.json` file. Without it: the working tree against HEAD."
            ),
        ),
    ),
    examples=(
        ("consentry guard", "what was changed and not committed yet"),
        ("consentry guard --staged --wish wish.yaml", "what is about to be committed"),
        ("consentry guard main...topic --sarif --out guard.sarif", "a branch, for code scanning"),
        ("consentry guard --bundle patch/ --offline --json", "a change that somebody handed in"),
    ),
    statuses=(
        ("0", "PASS"),
        ("1", "BLOCKED"),
        ("2", "UNKNOWN; or wrong usage, no repository, a file that cannot be used"),
        ("3", "the wish, the registry, a recipe or the verdict to replay is malformed"),
        ("4", "a plugin failed its integrity check, so nothing was judged"),
    ),
    read_on=("docs/how-to/guard-a-change.md.",),
)


@click.pass_context
def _guard(ctx: click.Context, /, **given: Any) -> int:
    output = output_of(ctx)
    began = time.perf_counter()
    # A small change leaves little garbage, and looking for it costs as much as reading the change.
    gc.set_threshold(_OBJECTS_BEFORE_A_LOOK)
    form = _form_of(given["out"], given["sarif"], given["html"], output)
    asked = _asked(given)
    answer, files_read = _answered(asked, output)
    if output.verbose:
        _tell_more(answer, files_read, time.perf_counter() - began)
    if given["out"] is not None:
        _write_file(given["out"], form, answer)
    if output.json:
        _print(JSON, answer)
    elif given["out"] is None and form != JSON:
        _print(form, answer)
    else:
        from consentry.cli.guardtext import first_line, guard_text  # noqa: PLC0415 - text only

        write_answer((first_line if output.quiet else guard_text)(output, answer) + "\n")
    gc.freeze()  # this process ends here: or everything were looked at once more
    return _STATUSES[answer.verdict.status.value]


def _form_of(out: str | None, sarif: bool, html: bool, output: Output) -> str:  # noqa: FBT001 - options
    """Of what is written: by the option, else by the ending of the file."""
    if sarif and html:
        raise usage_problem("`--sarif` and `--html` contradict each other", "leave one of them out")
    if (sarif or html) and output.json and out is None:
        word = "--sarif" if sarif else "--html"
        raise usage_problem(
            f"`--json` and `{word}` contradict each other",
            f"leave one of them out, or write the other one to a file with `{word} --out FILE`",
        )
    if sarif or html:
        return SARIF if sarif else HTML
    ending = "" if out is None else os.path.splitext(out)[1]  # noqa: PTH122 - before paths are loaded
    return _ENDINGS.get(ending.lower(), JSON)


def _asked(given: dict[str, Any]) -> "Asked":
    from consentry.examine.guard import Flags  # noqa: PLC0415 - after what was typed is understood
    from consentry.service.guardruns import Asked  # noqa: PLC0415 - as above

    named = [
        word
        for word, value in (
            ("CHANGE", given["change"]),
            ("--bundle", given["bundle"]),
            ("--staged", given["staged"]),
        )
        if value
    ]
    if len(named) > 1:
        raise usage_problem(
            f"`{named[0]}` and `{named[1]}` contradict each other", "name one change"
        )
    if given["strict"] and given["no_strict"]:
        raise usage_problem(
            "`--strict` and `--no-strict` contradict each other", "leave one of them out"
        )
    return Asked(
        change=given["change"],
        bundle=given["bundle"],
        staged=given["staged"],
        repository=given["repository"],
        wish=given["wish"],
        registry=given["registry"],
        recipes=tuple(given["recipe"]),
        flags=Flags(offline=given["offline"], strict=not given["no_strict"]),
        replay=given["replay"],
        search_path=os.environ.get("PATH", ""),
    )


def _answered(asked: "Asked", output: Output) -> "tuple[Answered, int]":
    from consentry.service.extracting import Extractor  # noqa: PLC0415 - as above
    from consentry.service.guardruns import ask_guard  # noqa: PLC0415 - as above
    from consentry.service.pluginglance import rules_if_any  # noqa: PLC0415 - as above

    line = None
    if os.isatty(2) and not output.quiet:
        from consentry.cli.guardprogress import ReadingLine  # noqa: PLC0415 - at terminals only

        line = ReadingLine()
    try:
        rules = rules_if_any(os.environ, asked.repository)
        extractor = Extractor(lambda: _kept(asked, rules), progress=line, tables=rules.tables)
        return ask_guard(asked, extractor, rules), extractor.read
    finally:
        if line is not None:
            line.close()


def _kept(asked: "Asked", rules: "AddedRules") -> "ExtractionCache":
    """What was read before; asked for only where there is much to read."""
    from pathlib import Path  # noqa: PLC0415 - as above

    from consentry.service.guardplaces import kept_extractions  # noqa: PLC0415 - as above
    from consentry.service.surroundings import look_around  # noqa: PLC0415 - as above

    return kept_extractions(look_around(os.environ), Path(asked.repository), rules.digest)


def _rendered(form: str, answer: "Answered") -> str:
    if form == SARIF:
        from consentry import __version__  # noqa: PLC0415 - only where it is asked for
        from consentry.examine.sarif import sarif_text  # noqa: PLC0415 - as above

        return sarif_text(answer.verdict, __version__)
    if form == HTML:
        from consentry.examine.verdictpage import verdict_page  # noqa: PLC0415 - as above

        terms = answer.terms
        return verdict_page(answer.verdict, answer.described, terms.wish, terms.flags)
    from consentry.examine.verdict import verdict_text  # noqa: PLC0415 - as above

    return verdict_text(answer.verdict.to_json())


def _print(form: str, answer: "Answered") -> None:
    text = _rendered(form, answer)
    if form == HTML:
        write_pieces(
            (text.encode("utf-8"),)
        )  # the page says that it is UTF-8, whatever the stream is
    else:
        write_answer(text)


def _write_file(out: str, form: str, answer: "Answered") -> None:
    from consentry.service.verdictfile import place_for, write_verdict  # noqa: PLC0415 - `--out` only

    write_verdict(place_for(out, _ENDING_OF[form]), _rendered(form, answer).encode("utf-8"))


def _tell_more(answer: "Answered", files_read: int, seconds: float) -> None:
    from consentry.base.safetext import safe_line  # noqa: PLC0415 - with `--verbose` only

    lines = [f"touched {safe_line(each)}" for each in answer.touched]
    lines += [f"followed {safe_line(each)}" for each in answer.followed]
    lines += [f"witness {each}" for each in answer.verdict.witnesses]
    lines.append(f"{files_read} files read, in {seconds * 1000:.0f} ms")
    write_message("\n".join(lines))


guard = PlainCommand(
    "guard",
    PAGE,
    _guard,
    [
        click.Argument(["change"], required=False, metavar="[CHANGE]"),
        click.Option(["--staged"], is_flag=True, help="What is staged, against HEAD."),
        click.Option(
            ["--bundle"],
            type=File(),
            metavar="PATH",
            help="The patch bundle in this folder or file.",
        ),
        click.Option(
            ["--repository"],
            type=Folder(),
            default=".",
            metavar="DIR",
            help="The repository, or a folder in it; the current folder unless given.",
        ),
        click.Option(
            ["--wish"], type=File(), metavar="FILE", help="The wish that says what is allowed."
        ),
        click.Option(
            ["--registry"], type=File(), metavar="FILE", help="The tools that recipes may name."
        ),
        click.Option(
            ["--recipe"],
            type=File(),
            multiple=True,
            metavar="FILE",
            help="A recipe that goes with the change; may be repeated.",
        ),
        click.Option(
            ["--offline"], is_flag=True, help="Block whatever reaches the network afterwards."
        ),
        click.Option(
            ["--strict"],
            is_flag=True,
            help="Block powers gained without a wish; so it is unless given.",
        ),
        click.Option(
            ["--no-strict"], is_flag=True, help="Without a wish, powers gained are UNKNOWN."
        ),
        click.Option(
            ["--replay"],
            type=File(),
            metavar="FILE",
            help="Compare with this earlier verdict; UNKNOWN where it differs.",
        ),
        click.Option(["--sarif"], is_flag=True, help="Answer in SARIF 2.1.0."),
        click.Option(["--html"], is_flag=True, help="Answer with one page, without scripts."),
        click.Option(
            ["--out"],
            type=File(),
            metavar="FILE",
            help="Write the verdict to this file, or into this folder; by its ending JSON, SARIF or HTML.",
        ),
    ],
)

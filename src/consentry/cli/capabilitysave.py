"""`consentry capability save`: keeps code under a name, with the set that is inferred from it."""

import os
from pathlib import PurePath

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import Refused, UsageProblem
from consentry.cli.capabilityplace import (
    capabilities_here,
    complete_capability,
    complete_set,
    require_name,
)
from consentry.cli.capabilitysetting import require_passphrase
from consentry.cli.capabilitytext import document_of, set_lines
from consentry.cli.codevalues import STANDARD_INPUT, typed_code
from consentry.cli.command import File, OneOf, PlainCommand, Text, output_of, usage_problem
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.decide.capabilities import MOST_CODE, Capability, Language, check_code
from consentry.decide.identity import Identity
from consentry.service.capabilities import save_code
from consentry.service.surroundings import look_around
from consentry.service.userfiles import read_named
from consentry.store.capabilities import CapabilityStore
from consentry.surface.permission_sets import PermissionSet

PAGE = Page(
    summary="Save code under a name, with the permission set that is inferred from it.",
    paragraphs=(
        (
            "The same code again changes nothing. Other code is the next version, and its set is "
            "inferred anew: what was approved or set by hand was for the code before."
        ),
        (
            "Code that cannot be read is saved as well, as `minimal`. Inference opens nothing by "
            "itself: what the code does beyond its set fails, and is asked about then."
        ),
    ),
    arguments=(
        ("NAME", "Lower-case letters, digits, `.`, `_` and `-`; at most 64."),
        ("FILE", "The code, as UTF-8; `-` reads it from standard input."),
    ),
    examples=(
        ("consentry capability save word-count count.py", "Python, by the ending of the file"),
        ("consentry capability save weather - --language typescript < w.ts", "from a pipe"),
        ("consentry capability save word-count count.py --set readonly", "with a set by hand"),
    ),
    statuses=(
        ("0", "saved, or the same as before"),
        ("2", "wrong usage, or the file cannot be read or is no code"),
        ("5", "the ledger cannot be written, so nothing was saved"),
        ("126", "the set cannot be given here, or the state directory is not safe to use"),
    ),
    read_on=("docs/how-to/save-and-run-capabilities.md.",),
)

_BY_ENDING = {
    **dict.fromkeys((".py", ".pyw"), Language.PYTHON),
    **dict.fromkeys((".ts", ".mts", ".cts", ".tsx"), Language.TYPESCRIPT),
    **dict.fromkeys((".js", ".mjs", ".cjs", ".jsx"), Language.JAVASCRIPT),
}


@click.pass_context
def _save(
    ctx: click.Context, *, name: str, file: str, language: str | None, set_: str | None
) -> ExitStatus:
    output = output_of(ctx)
    require_name(name)
    by_hand = None if set_ is None else _settable(set_)
    spoken = _language(file, language)
    code = _read(file)
    with capabilities_here() as journal:
        store = CapabilityStore(journal)
        before = store.named(name)
        if by_hand is not None:
            require_passphrase(look_around(os.environ), journal, "setting a permission set")
        by = Identity(journal.context.actor)
        saved = save_code(store, name, code, spoken, by=by, set_by_hand=by_hand)
    _tell(output, before, saved)
    return ExitStatus.DONE


def _tell(output: Output, before: Capability | None, saved: Capability) -> None:
    is_same_code = before is not None and before.version == saved.version
    is_unchanged = is_same_code and before == saved
    if output.json:
        body = {"capability": document_of(saved), "unchanged": is_unchanged}
        output.document("capability-save", body)
    elif output.quiet:
        output.text(saved.capability_id)
    else:
        said = f"{saved.name}, version {saved.version} ({saved.language})"
        first = f"the code is as it was: {said}" if is_same_code else f"saved {said}"
        output.text("\n".join([f"unchanged: {said}" if is_unchanged else first, *set_lines(saved)]))


def _settable(word: str) -> PermissionSet:
    wanted = PermissionSet.named(word)
    if wanted is PermissionSet.TRUSTED:
        raise Refused(
            Code.PERMISSION_STEP,
            f"`{wanted}` cannot be given while saving",
            help_line="save it first, then `consentry capability set NAME trusted --by-hand`",
        )
    return wanted


def _language(file: str, named: str | None) -> Language:
    """What was said, or else what the ending of the file says."""
    if named is not None:
        return Language(named)
    known = _BY_ENDING.get(PurePath(file).suffix.lower())
    if known is None:
        what = "standard input" if file == STANDARD_INPUT else f"`{file}`"
        choices = ", ".join(Language)
        raise usage_problem(
            f"the language of {what} is not known", f"add --language with one of: {choices}"
        )
    return known


def _read(file: str) -> str:
    content = typed_code(MOST_CODE) if file == STANDARD_INPUT else read_named(file)
    name = "standard input" if file == STANDARD_INPUT else f"`{file}`"
    if len(content) > MOST_CODE:
        message = f"{name} has more than {MOST_CODE} bytes"
        raise UsageProblem(Code.CAPABILITY_CODE, message)
    try:
        return check_code(content.decode())
    except UnicodeDecodeError as problem:
        message = f"{name} is not UTF-8: byte {problem.start} begins no character"
        raise UsageProblem(Code.CAPABILITY_CODE, message) from None


save = PlainCommand(
    "save",
    PAGE,
    _save,
    [
        click.Option(
            ["--language"],
            type=OneOf(tuple(Language)),
            metavar="LANGUAGE",
            help="python, typescript or javascript; by the ending of the file unless given.",
        ),
        click.Option(
            ["--set", "set_"],
            type=Text(),
            metavar="SET",
            shell_complete=complete_set,
            help="This set instead of the inferred one; recorded as set by hand.",
        ),
        click.Argument(["name"], type=Text(), metavar="NAME", shell_complete=complete_capability),
        click.Argument(["file"], type=File(), metavar="FILE"),
    ],
)

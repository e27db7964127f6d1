"""`consentry wish check`: what a wish allows, in words."""

from collections.abc import Iterator

import click

from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, output_of
from consentry.cli.hanging import hanging
from consentry.cli.table import Page
from consentry.declare.wish import AllowedCapabilities, Wish
from consentry.declare.wishfile import read_wish
from consentry.service.userfiles import read_named
from consentry.surface.dimensions import Dimension, LoadLevel
from consentry.surface.sentence import in_words
from consentry.surface.wire import surface_to_json

PAGE = Page(
    summary="Read a wish, and say what it allows.",
    arguments=(("FILE", "The wish; `.json` at its end means JSON, anything else YAML."),),
    examples=(("consentry wish check wish.yaml", "what it allows, in words"),),
    statuses=(
        ("0", "in order"),
        ("2", "wrong usage, or a file that cannot be read"),
        ("3", "it is malformed: every problem with its place"),
    ),
    read_on=("docs/how-to/write-a-wish.md; docs/reference/wish.md.",),
)


@click.pass_context
def _check(ctx: click.Context, *, file: str) -> ExitStatus:
    output = output_of(ctx)
    wish = read_wish(read_named(file), file)
    if output.json:
        output.document("wish-check", _document(wish))
    elif output.quiet:
        output.text(_allows(wish))
    else:
        output.text("\n".join(_lines(wish)))
    return ExitStatus.DONE


def _document(wish: Wish) -> dict[str, object]:
    allowed = wish.allowed
    return {
        "id": wish.id,
        "scope": list(wish.scope),
        "non_goals": list(wish.non_goals),
        "allowed": None if allowed is None else surface_to_json(allowed.surface),
        "said": [] if allowed is None else sorted(allowed.said),
        "notes": list(_notes(wish)),
    }


def _lines(wish: Wish) -> Iterator[str]:
    yield from hanging("wish       ", safe_line(wish.id))
    for each in wish.scope:
        yield from hanging("scope      ", safe_line(each))
    for each in wish.non_goals:
        yield from hanging("non-goals  ", safe_line(each))
    yield from hanging("allows     ", _allows(wish))
    for note in _notes(wish):
        yield from hanging("note       ", note)


def _allows(wish: Wish) -> str:
    return "nothing" if wish.allowed is None else in_words(wish.allowed.surface)


def _notes(wish: Wish) -> Iterator[str]:
    """What a reader might not expect."""
    allowed = wish.allowed
    if allowed is None:
        yield "there is no `allowed_capabilities`: a change that gains anything is blocked"
        return
    silent = [each.key for each in Dimension if each.key not in allowed.said]
    if silent:
        yield f"it says nothing of {', '.join(silent)}: nothing of that is allowed"
    if allowed.dynamic_code_load is LoadLevel.ANY:
        yield "`dynamic_code_load: ANY` allows nothing: no wish can allow that"
    if _opens_all(allowed):
        yield "a level `ANY` allows every target, but no path outside of the repository"


def _opens_all(allowed: AllowedCapabilities) -> bool:
    levels = (allowed.net_access, allowed.proc_exec, allowed.env_read, allowed.crypto_primitives)
    return any(level.value == "ANY" for level in levels)


check = PlainCommand("check", PAGE, _check, [click.Argument(["file"], type=File(), metavar="FILE")])

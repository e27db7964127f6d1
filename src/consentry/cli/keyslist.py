"""`consentry keys list` and `show`: which keys are known, and the public half of one."""

import click

from consentry.base.clock import Instant, SystemClock
from consentry.base.codes import ExitStatus
from consentry.base.safetext import safe_line
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.keysplace import around_here, key_document, key_lines, state_of
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.declare.keydocuments import PublicKeyFile
from consentry.declare.trustedkeys import TrustedKey
from consentry.service.signingkeys import find_key, key_list
from consentry.service.statedir import find_state
from consentry.service.surroundings import Surroundings
from consentry.store.signingkeys import has_signing_key

_STATUSES = (
    ("0", "shown; an empty list is an answer, too"),
    ("2", "wrong usage, or no such key"),
    ("3", "the key list cannot be read"),
    ("126", "somebody else may change your configuration"),
)
LIST_PAGE = Page(
    summary="List the keys that are known: whose they are, and how they stand.",
    examples=(
        ("consentry keys list", "signer, state and id"),
        ("consentry keys list --json", "for a script, with the keys themselves"),
    ),
    statuses=_STATUSES,
)
SHOW_PAGE = Page(
    summary="Show one key with its fingerprint, or write its public half.",
    arguments=(("KEY", "A signer, a key id, or at least 8 digits of one."),),
    examples=(
        ("consentry keys show me", "what to read to somebody over the telephone"),
        ("consentry keys show me --public > me.pub.json", "the file that others trust"),
        ("consentry keys show me --pem > me.pem", "the bare key, for other tools"),
    ),
    statuses=_STATUSES,
)


@click.pass_context
def _list(ctx: click.Context) -> ExitStatus:
    output, around, now = output_of(ctx), around_here(), SystemClock().now()
    known = key_list(around).keys
    if output.json:
        rows = [key_document(each, now, is_own=_is_own(around, each)) for each in known]
        output.document("keys-list", {"keys": rows})
    elif output.quiet:
        if known:
            output.text("\n".join(each.key_id for each in known))
    elif not known:
        output.text("no key is known; `consentry keys make NAME` makes one")
    else:
        output.text("\n".join(_table(output, around, known, now)))
    return ExitStatus.DONE


@click.pass_context
def _show(ctx: click.Context, *, key: str, public: bool, pem: bool) -> ExitStatus:
    output, around, now = output_of(ctx), around_here(), SystemClock().now()
    found = find_key(key_list(around), key)
    if pem:
        output.text(found.key.pem.rstrip("\n"))
    elif public:
        file = PublicKeyFile(found.key, found.name, found.made_at, found.expires_at)
        output.text(file.to_bytes().decode("utf-8").rstrip("\n"))
    elif output.json:
        output.document("keys-show", key_document(found, now, is_own=_is_own(around, found)))
    elif output.quiet:
        output.text(found.key_id)
    else:
        output.text("\n".join(key_lines(found, now, is_own=_is_own(around, found))))
    return ExitStatus.DONE


def _table(
    output: Output, around: Surroundings, known: tuple[TrustedKey, ...], now: Instant
) -> list[str]:
    headings = ("signer", "id", "private", "state")
    rows = [
        (
            safe_line(each.name),
            f"{each.key_id[:16]}…",
            "here" if _is_own(around, each) else "",
            state_of(each, now),
        )
        for each in known
    ]
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (headings, *rows)
    ]
    return [output.paint(lines[0], "bold"), *lines[1:]]


def _is_own(around: Surroundings, key: TrustedKey) -> bool:
    state = find_state(around, None)
    return not state.concerns and has_signing_key(state.real, key.key_id)


list_ = PlainCommand("list", LIST_PAGE, _list)
show = PlainCommand(
    "show",
    SHOW_PAGE,
    _show,
    [
        click.Argument(["key"], type=Text(), metavar="KEY"),
        click.Option(["--public"], is_flag=True, help="Write the key file for others."),
        click.Option(["--pem"], is_flag=True, help="Write the bare public key in PEM form."),
    ],
)

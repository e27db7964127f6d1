"""`consentry keys make` and `rotate`: a first key, and another one that the old one vouches for."""

import click

from consentry.base.clock import Instant
from consentry.base.codes import ExitStatus
from consentry.cli.command import File, OneOf, PlainCommand, Text, output_of, usage_problem
from consentry.cli.keysplace import (
    expires_option,
    key_desk,
    key_document,
    key_lines,
    life_of,
    new_words,
    passphrase_options,
    words_for,
)
from consentry.cli.output import Output
from consentry.cli.table import Page
from consentry.declare.trustedkeys import TrustedKey
from consentry.record.signingkey import Algorithm
from consentry.service.placedfile import place_new
from consentry.service.signingkeys import find_key, key_list
from consentry.store.signingkeys import has_signing_key, is_sealed

_STATUSES = (
    ("0", "made"),
    ("2", "wrong usage, or there is such a key already"),
    ("3", "the key list cannot be read"),
    ("5", "the ledger cannot be written, so nothing was made"),
    ("126", "the old key is revoked or expired, or its passphrase is wrong"),
)
MAKE_PAGE = Page(
    summary="Make a key that signs plugins, without any network.",
    paragraphs=(
        (
            "The private half lies in the state directory, readable by you alone; the public half is "
            "put into your key list under the name."
        ),
    ),
    arguments=(("NAME", "Who signs with it, as policies name them."),),
    examples=(
        ("consentry keys make me --expires 365d", "an Ed25519 key, good for a year"),
        ("consentry keys make me --passphrase", "sealed with words typed at the terminal"),
        (
            "consentry keys make ci --algorithm ecdsa-p256",
            "for OMS bundles that other tools verify",
        ),
    ),
    statuses=_STATUSES,
)
ROTATE_PAGE = Page(
    summary="Make another key for the same signer, endorsed by the one before.",
    paragraphs=(
        (
            "Whoever trusts the old key can take over the new one with `keys trust --endorsed FILE`. "
            "The old key stays good until it expires or is revoked; both are one signer."
        ),
    ),
    arguments=(("NAME", "The signer."),),
    examples=(("consentry keys rotate me --out me.endorsed.json --expires 365d", "a second key"),),
    statuses=_STATUSES,
)


@click.pass_context
def _make(
    ctx: click.Context,
    *,
    name: str,
    algorithm: str,
    expires: str | None,
    passphrase: bool,
    passphrase_fd: int | None,
) -> ExitStatus:
    output, life = output_of(ctx), life_of(expires)
    words = new_words(passphrase_fd, asks=passphrase)
    with key_desk() as desk:
        key = desk.make(name, Algorithm(algorithm), life, words)
        now = desk.journal.clock.now()
    if output.json:
        output.document("keys-make", key_document(key, now, is_own=True))
    else:
        _tell(output, key, now)
    return ExitStatus.DONE


@click.pass_context
def _rotate(
    ctx: click.Context,
    *,
    name: str,
    out: str | None,
    expires: str | None,
    passphrase: bool,
    passphrase_fd: int | None,
) -> ExitStatus:
    output, life = output_of(ctx), life_of(expires)
    if out is None:
        raise usage_problem("`--out` is missing", "name the file for the endorsement")
    with key_desk() as desk:
        old = find_key(key_list(desk.around), name)
        sealed = has_signing_key(desk.state, old.key_id) and is_sealed(desk.state, old.key_id)
        before = words_for(old, passphrase_fd, sealed=sealed)
        # One open file has words for both; typed, each is asked for.
        given = before if passphrase_fd is not None else None
        words = given or new_words(None, asks=passphrase or (sealed and passphrase_fd is None))
        key, _ = desk.rotate(
            name, life, before, words, lambda endorsement: place_new(out, endorsement.to_bytes())
        )
        now = desk.journal.clock.now()
    if output.json:
        made = key_document(key, now, is_own=True)
        output.document("keys-rotate", {**made, "endorsement": out})
    else:
        _tell(output, key, now)
    return ExitStatus.DONE


def _tell(output: Output, key: TrustedKey, now: Instant) -> None:
    if output.quiet:
        output.text(key.key_id)
    else:
        output.text("\n".join(key_lines(key, now, is_own=True)))


make = PlainCommand(
    "make",
    MAKE_PAGE,
    _make,
    [
        click.Argument(["name"], type=Text(), metavar="NAME"),
        click.Option(
            ["--algorithm"],
            type=OneOf([each.value for each in Algorithm]),
            default=Algorithm.ED25519.value,
            metavar="KIND",
            help="ed25519 (usual) or ecdsa-p256.",
        ),
        expires_option(),
        click.Option(["--passphrase"], is_flag=True, help="Seal it with words you type."),
        *passphrase_options("a passphrase for it"),
    ],
)
rotate = PlainCommand(
    "rotate",
    ROTATE_PAGE,
    _rotate,
    [
        click.Argument(["name"], type=Text(), metavar="NAME"),
        click.Option(["--out"], type=File(), metavar="FILE", help="Write the endorsement here."),
        expires_option(),
        click.Option(["--passphrase"], is_flag=True, help="Seal the new one with words you type."),
        *passphrase_options("the passphrase of both keys"),
    ],
)

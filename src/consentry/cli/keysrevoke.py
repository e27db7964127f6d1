"""`consentry keys revoke`: from now on nothing counts that this key has signed.

Revoking makes things stricter, so nobody has to be asked.
"""

import click

from consentry.base.clock import SystemClock
from consentry.base.codes import ExitStatus
from consentry.cli.command import PlainCommand, Text, output_of
from consentry.cli.keysplace import around_here, key_desk, key_document, key_lines
from consentry.cli.table import Page
from consentry.service.signingkeys import revoke_in_list
from consentry.store.signingkeys import has_signing_key

PAGE = Page(
    summary="Refuse from now on all that a key has signed, whatever times it claims.",
    paragraphs=(
        (
            "It counts on this machine, for you: others have to be told. A revoked key stays in the "
            "list and does not come back; endorsements that it signed are refused as well."
        ),
    ),
    arguments=(("KEY", "A signer's newest key, a key id, or at least 8 digits of one."),),
    examples=(("consentry keys revoke author --reason 'laptop stolen'", "and tell others"),),
    statuses=(
        ("0", "revoked, now or before"),
        ("2", "wrong usage, or no such key"),
        ("3", "the key list cannot be read"),
        ("5", "revoked, but the ledger could not be written"),
    ),
)


@click.pass_context
def _revoke(ctx: click.Context, *, key: str, reason: str) -> ExitStatus:
    output, now = output_of(ctx), SystemClock().now()
    # First of all it is revoked; a ledger that cannot be written must not keep it alive.
    revoked, is_new = revoke_in_list(around_here(), key, reason.strip() or "not said", now)
    with key_desk() as desk:
        if is_new:
            desk.tell_revoked(revoked)
        is_own = has_signing_key(desk.state, revoked.key_id)
    if output.json:
        output.document("keys-revoke", key_document(revoked, now, is_own=is_own))
    elif not output.quiet:
        output.text("\n".join(key_lines(revoked, now, is_own=is_own)))
    return ExitStatus.DONE


revoke = PlainCommand(
    "revoke",
    PAGE,
    _revoke,
    [
        click.Argument(["key"], type=Text(), metavar="KEY"),
        click.Option(
            ["--reason"], type=Text(), default="not said", metavar="TEXT", help="Why; it is kept."
        ),
    ],
)

"""`consentry keys trust`: shows whose key a file says it is, and accepts it when a person says so.

A yes comes from the terminal; `--fingerprint` says the same beforehand, by naming the very key, and
`--yes` takes whatever the file holds.
"""

import click

from consentry.base.codes import Code, ExitStatus
from consentry.base.errors import Refused
from consentry.base.safetext import safe_line
from consentry.cli.command import File, PlainCommand, Text, output_of, usage_problem
from consentry.cli.confirming import TypedYes, require_typed_yes
from consentry.cli.keysplace import expires_option, key_desk, key_document, key_lines, life_of
from consentry.cli.table import Page
from consentry.declare.dsseenvelope import read_envelope
from consentry.declare.keydocuments import PublicKeyFile, read_public_key
from consentry.record.signingkey import fingerprint_lines
from consentry.service.signingkeys import KeyDesk, check_endorsement, key_list
from consentry.service.userfiles import read_named

_YES = TypedYes(
    "trust",
    "accepting a key",
    Code.KEY_REFUSED,
    without_terminal="without one, name the very key with --fingerprint",
)

PAGE = Page(
    summary="Accept somebody's public key, after its fingerprint was compared.",
    paragraphs=(
        (
            "Get the fingerprint from the key's owner on another way than the file: whoever can "
            "change the file can change what stands beside it."
        ),
    ),
    arguments=(
        ("FILE", "A key file, a public key in PEM form, or with --endorsed an endorsement."),
    ),
    examples=(
        ("consentry keys trust author.pub.json", "see it, and accept it"),
        ("consentry keys trust ci.pem --as ci --expires 90d", "a bare key needs a name"),
        ("consentry keys trust --endorsed author.endorsed.json", "the next key, by the one before"),
    ),
    statuses=(
        ("0", "accepted"),
        ("2", "wrong usage, a file that cannot be read, or a key that is known already"),
        ("3", "not a key of a known kind, or not an endorsement"),
        ("5", "the ledger cannot be written, so nothing was accepted"),
        ("126", "you said no, there is no terminal, or the key is revoked"),
    ),
)


@click.pass_context
def _trust(
    ctx: click.Context,
    *,
    file: str,
    name: str | None,
    endorsed: bool,
    fingerprint: str | None,
    yes: bool,
    expires: str | None,
) -> ExitStatus:
    output, life = output_of(ctx), life_of(expires)
    if endorsed and (name is not None or life is not None):
        raise usage_problem(
            "an endorsement says itself whose key it is and until when",
            "leave --as and --expires out",
        )
    content = read_named(file)
    envelope = read_envelope(content) if endorsed else None
    with key_desk() as desk:
        now = desk.journal.clock.now()
        if envelope is None:
            said = read_public_key(content)
            signer = name or said.name
            by = None
        else:
            said, old = check_endorsement(envelope, key_list(desk.around), now)
            signer, by = old.name, old.key_id
        if signer is None:
            raise usage_problem("the file does not say whose key it is", "say it with --as NAME")
        _require_yes(desk, said, signer, by, fingerprint, yes=yes)
        if envelope is None:
            ends = None if life is None else now.plus(life)
            key = desk.trust(said, signer, ends)
        else:
            key = desk.trust_endorsed(envelope)
        if output.json:
            output.document("keys-trust", key_document(key, now, is_own=False))
        elif output.quiet:
            output.text(key.key_id)
        else:
            output.text("\n".join(key_lines(key, now, is_own=False)))
    return ExitStatus.DONE


def _require_yes(
    desk: KeyDesk,
    said: PublicKeyFile,
    signer: str,
    endorsed_by: str | None,
    fingerprint: str | None,
    *,
    yes: bool,
) -> None:
    """Returns when somebody has accepted this very key, and raises otherwise."""
    key_id = said.key.key_id
    if fingerprint is not None:
        if "".join(fingerprint.split()).lower() != key_id:
            raise Refused(
                Code.KEY_REFUSED, f"the fingerprint of this key is another one: `{key_id}`"
            )
        return
    if yes:
        return
    grouped = fingerprint_lines(key_id)
    lines = [
        f"signer       {safe_line(signer)}",
        f"algorithm    {said.key.algorithm}",
        f"fingerprint  {grouped[:35]}",
        f"             {grouped[36:]}",
        *([] if endorsed_by is None else [f"endorsed by  {endorsed_by}"]),
        "",
        "is this the fingerprint that the key's owner told you, and may it count as theirs?",
    ]
    require_typed_yes(lines, _YES, desk.around, desk.journal.clock)


trust = PlainCommand(
    "trust",
    PAGE,
    _trust,
    [
        click.Argument(["file"], type=File(), metavar="FILE"),
        click.Option(["--as", "name"], type=Text(), metavar="NAME", help="Whose key it is."),
        click.Option(["--endorsed"], is_flag=True, help="FILE is an endorsement by a known key."),
        click.Option(
            ["--fingerprint"], type=Text(), metavar="HEX", help="Accept this very key, unasked."
        ),
        click.Option(["--yes"], is_flag=True, help="Accept whatever the file holds, unasked."),
        expires_option(),
    ],
)

"""Signs a plugin: reads its tree, says what it is, and puts the signed word beside its folder.

A second signer signs the very statement that is there, if it is about the tree as it is now; whoever
wants another one, with its own time, begins anew. With it they sign the times that it says, which are
somebody else's word: so it is only signed when known keys stand for it and its times can be true, or
whoever may write beside a plugin would choose them. Nothing is signed that our own verifier would not
find covered. The event is recorded before the file is written.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from consentry.base.canonical import Json
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused, UsageProblem
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.decide.evidencecase import EvidenceKind
from consentry.decide.plugincoverage import check_covers, check_lists
from consentry.decide.pluginevidence import CLOCK_TOLERANCE
from consentry.declare.dsseenvelope import (
    IN_TOTO,
    Envelope,
    Signed,
    read_envelope,
    signed_message,
)
from consentry.declare.omsbundle import OmsBundle, OmsStatement
from consentry.declare.pluginstatement import (
    PluginStatement,
    files_of,
    plugin_statement,
    read_statement,
)
from consentry.declare.trustedkeys import KeyList
from consentry.enforce.folderlock import WAIT, locked_folder
from consentry.examine.pluginproblems import VerificationError
from consentry.examine.plugintree import PluginTree, read_tree
from consentry.record.events import EventType
from consentry.record.signingkey import SignatureRefused
from consentry.service.placedfile import place_new, replace_whole
from consentry.service.pluginlocking import manifest_of
from consentry.service.pluginsigning import offered_beside
from consentry.store.journal import About, Journal
from consentry.store.signingkeys import SigningKey


@dataclass(frozen=True, slots=True)
class PluginSignature:
    """What was signed, and where it lies."""

    plugin: str
    version: str
    tree: PluginTree
    file: Path
    kind: EvidenceKind
    signers: tuple[str, ...]
    expires_at: Instant | None


def sign_plugin(
    folder: Path,
    key: SigningKey,
    journal: Journal,
    kind: EvidenceKind,
    *,
    keys: KeyList,
    life: Duration | None,
    anew: bool,
) -> PluginSignature:
    """Signs the plugin in this folder as it is now, and records that; `keys` are those that are known."""
    with _alone_with(folder):
        return _signed(folder, key, journal, kind, keys=keys, life=life, anew=anew)


@contextmanager
def _alone_with(folder: Path) -> Iterator[None]:
    """Of signers that add at once none overwrites another, where the file system knows locks."""
    try:
        held = locked_folder(folder, WAIT)
    except OSError:
        held = None
    try:
        yield
    finally:
        if held is not None:
            os.close(held)


def _signed(
    folder: Path,
    key: SigningKey,
    journal: Journal,
    kind: EvidenceKind,
    *,
    keys: KeyList,
    life: Duration | None,
    anew: bool,
) -> PluginSignature:
    tree = read_tree(folder, keep_contents=True)
    version = manifest_of(tree).version
    now = journal.clock.now()
    if kind is EvidenceKind.OMS:
        content, expires_at = _bundle(folder, tree, key, life, anew=anew), None
        ids: tuple[str, ...] = (key.public.key_id,)
    else:
        present = None if anew else _present(folder, tree, version)
        if present is not None:
            _check_cosigned(present, keys, now)
        envelope = _envelope(present, tree, version, key, (now, life))
        content = envelope.to_bytes()
        ids = tuple(each.key_id for each in envelope.signatures)
        expires_at = plugin_statement(read_statement(envelope.payload)).expires_at
    payload = {
        **_told(tree, version, now, expires_at),
        "keyId": key.public.key_id,
        "format": kind.value,
    }
    draft = journal.draft(EventType.PLUGIN_SIGNED, About(f"plugin:{tree.name}"), payload, now)
    journal.record(draft, change=lambda _: None)
    file = folder.parent / kind.file(tree.name)
    _put(file, content)
    return PluginSignature(tree.name, version, tree, file, kind, ids, expires_at)


def _envelope(
    present: Envelope | None,
    tree: PluginTree,
    version: str,
    key: SigningKey,
    times: tuple[Instant, Duration | None],
) -> Envelope:
    now, life = times
    if present is not None:
        if any(each.key_id == key.public.key_id for each in present.signatures):
            raise UsageProblem(
                Code.USAGE,
                f"this key has signed `{tree.name}` as it is already",
                help_line="--anew begins another envelope, with the time of now",
            )
        if life is not None:
            raise UsageProblem(
                Code.USAGE,
                "a second signer signs what is there, with the end that it has",
                help_line="leave --expires out, or begin anew with --anew",
            )
        signature = key.sign(present.signed_message())
        return present.with_signature(Signed(key.public.key_id, signature))
    statement = PluginStatement(
        tree.name,
        version,
        tree.digest,
        files_of(tree.entries),
        now,
        None if life is None else now.plus(life),
    )
    payload = statement.to_payload()
    signature = key.sign(signed_message(IN_TOTO, payload))
    return Envelope(IN_TOTO, payload, (Signed(key.public.key_id, signature),))


def _present(folder: Path, tree: PluginTree, version: str) -> Envelope | None:
    """The envelope that is there, if it is about this very tree; any other would be refused anyway."""
    content = offered_beside(tree.name, folder.parent).dsse
    if content is None:
        return None
    try:
        envelope = read_envelope(content)
        check_covers(plugin_statement(read_statement(envelope.payload)), tree, version)
    except (BadInput, VerificationError):
        return None
    return envelope


def _check_cosigned(present: Envelope, keys: KeyList, now: Instant) -> None:
    """Raises unless known keys stand for what is there, and its times can be true."""
    statement = plugin_statement(read_statement(present.payload))
    if present.payload_type != IN_TOTO or statement.to_payload() != present.payload:
        _refuse("is not written as this program writes one")
    if statement.signed_at > now.plus(CLOCK_TOLERANCE):
        _refuse(f"says that it was signed at {statement.signed_at}, which has not come")
    if statement.expires_at is not None and statement.expires_at <= now:
        _refuse(f"holds until {statement.expires_at}, by its own word")
    for each in present.signatures:
        known = keys.by_id(each.key_id)
        if known is None or known.revoked_at is not None:
            _refuse(f"has a signature of the key `{each.key_id}`, which is not known or is revoked")
        try:
            known.key.verify(each.signature, present.signed_message())
        except SignatureRefused:
            _refuse(f"has a signature that `{known.name}` did not make")


def _refuse(what: str) -> NoReturn:
    raise Refused(
        Code.KEY_REFUSED,
        f"the envelope that is there {what}",
        help_line="accept the key of whoever signed it, or begin another one with --anew",
    )


def _bundle(
    folder: Path, tree: PluginTree, key: SigningKey, life: Duration | None, *, anew: bool
) -> bytes:
    if life is not None:
        raise UsageProblem(Code.USAGE, "an OMS bundle cannot say when it ends")
    file = folder.parent / EvidenceKind.OMS.file(tree.name)
    if os.path.lexists(file) and not anew:
        raise UsageProblem(
            Code.USAGE,
            f"`{file}` is there, and an OMS bundle has one signature",
            help_line="--anew puts another in its place",
        )
    statement = OmsStatement(tree.name, files_of(tree.entries))
    check_lists(statement, tree)
    payload = statement.to_payload()
    signature = key.sign(signed_message(IN_TOTO, payload))
    return OmsBundle(payload, signature, key.public.hint).to_bytes()


def _told(
    tree: PluginTree, version: str, now: Instant, expires_at: Instant | None
) -> dict[str, Json]:
    return {
        "plugin": tree.name,
        "version": version,
        "digest": tree.digest,
        "signedAt": str(now),
        "expiresAt": None if expires_at is None else str(expires_at),
    }


def _put(file: Path, content: bytes) -> None:
    if os.path.lexists(file):
        replace_whole(file, content)
    else:
        place_new(str(file), content)

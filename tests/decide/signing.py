"""Plugins, keys and evidence in memory, for tests of what evidence is accepted."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.treedigest import EntryKind, TreeEntry, in_order, tree_digest
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.evidencecase import AcceptedEvidence, EvidenceCase, Offered, Witnessed
from consentry.decide.pluginevidence import check_plugin_evidence
from consentry.decide.pluginversion import PluginVersion
from consentry.declare.dsseenvelope import IN_TOTO, Envelope, Signed, signed_message
from consentry.declare.omsbundle import OmsBundle, OmsStatement
from consentry.declare.pluginpolicy import EvidenceRule, SigstoreRule
from consentry.declare.pluginstatement import PluginStatement, files_of
from consentry.declare.trustedkeys import KeyList, TrustedKey
from consentry.examine.plugintree import PluginTree
from consentry.record.signingkey import Algorithm
from consentry.store.signingkeys import SigningKey
from tests.record.payloads import sample_id
from tests.record.samples import WRITER

NOW = Instant.parse("2026-06-01T12:00:00.000Z")
DAY = Duration(24 * 3600 * 1000)
FILES = {"plugin.yaml": b'pluginVersion: "1"\n', "tools/a.yaml": b"tool: {}\n"}


def ago(days: int) -> Instant:
    """So many days before now; less than none is the future."""
    return Instant(NOW.unix_ms - days * DAY.milliseconds)


def entry(path: str, content: bytes, letter: str = "f") -> TreeEntry:
    """One entry: `f` a file, `x` an executable one, `l` a link whose text is the content."""
    digest = Digest(f"sha256:{hashlib.sha256(content).hexdigest()}")
    kind = EntryKind.LINK if letter == "l" else EntryKind.FILE
    return TreeEntry(path, kind, letter == "x", len(content), digest)


def tree(
    files: Mapping[str, bytes] = FILES, name: str = "build", more: tuple[TreeEntry, ...] = ()
) -> PluginTree:
    """A plugin with these files."""
    entries = in_order((*(entry(path, content) for path, content in files.items()), *more))
    return PluginTree(name, entries, tree_digest(entries), dict(files))


def secret(number: int, algorithm: Algorithm = Algorithm.ED25519) -> SigningKey:
    """The same key for the same number."""
    return SigningKey.of(algorithm, bytes([number]) * 32)


def known(
    name: str,
    key: SigningKey,
    *,
    made: Instant | None = None,
    expires: Instant | None = None,
    revoked: Instant | None = None,
) -> TrustedKey:
    """A row of the key list."""
    why = None if revoked is None else "lost"
    made = made or ago(100)
    return TrustedKey(name, key.public, made, expires, made, None, revoked, why)


AUTHOR, BUILDER, CHECKER = secret(1), secret(2), secret(3)
EVA = secret(9)
"""Whose key nobody knows."""
KEYS = KeyList((known("author", AUTHOR), known("builder", BUILDER), known("checker", CHECKER)))
ANY = EvidenceRule(signers=("author", "builder"), threshold=1)


def statement(
    of: PluginTree,
    version: str = "1.0.0",
    signed_at: Instant = NOW,
    expires_at: Instant | None = None,
) -> PluginStatement:
    """What is said about a tree."""
    return PluginStatement(of.name, version, of.digest, files_of(of.entries), signed_at, expires_at)


def envelope_of(payload: bytes, *signers: SigningKey, payload_type: str = IN_TOTO) -> Envelope:
    """A payload, signed by these."""
    message = signed_message(payload_type, payload)
    signed = tuple(Signed(each.public.key_id, each.sign(message)) for each in signers)
    return Envelope(payload_type, payload, signed)


def dsse(of: PluginTree, *signers: SigningKey, **said: object) -> bytes:
    """An envelope about a tree."""
    return envelope_of(statement(of, **said).to_payload(), *signers).to_bytes()  # type: ignore[arg-type]


def oms(of: PluginTree, signer: SigningKey, name: str | None = None) -> bytes:
    """An OMS bundle about a tree."""
    payload = OmsStatement(name or of.name, files_of(of.entries)).to_payload()
    signature = signer.sign(signed_message(IN_TOTO, payload))
    return OmsBundle(payload, signature, signer.public.hint).to_bytes()


def nobody(_content: bytes, _rule: SigstoreRule) -> Witnessed:
    """No bundle is good."""
    raise AssertionError("nothing asks for an identity here")


@dataclass
class Case:
    """One plugin as it is offered; tests change what they are about."""

    tree: PluginTree = field(default_factory=tree)
    version: str = "1.0.0"
    rule: EvidenceRule = ANY
    offered: Offered = field(default_factory=Offered)
    keys: KeyList = KEYS
    now: Instant = NOW
    remembered: PluginVersion | None = None

    def checked(self) -> AcceptedEvidence | None:
        """What it is accepted by; raises otherwise."""
        return check_plugin_evidence(
            EvidenceCase(
                self.tree,
                self.version,
                self.rule,
                self.offered,
                self.keys,
                self.now,
                self.remembered,
                nobody,
            )
        )


def memory(
    of: PluginTree, version: str = "1.0.0", *, strength: int = 1, kinds: tuple[str, ...] = ("dsse",)
) -> PluginVersion:
    """What is remembered after this was accepted."""
    return PluginVersion(
        sample_id("pluginmemory"),
        WRITER,
        "/place/plugins",
        of.name,
        version,
        of.digest,
        strength,
        kinds,
        ("author",),
        NOW,
        NOW,
    )


def with_key(keys: KeyList, key: TrustedKey) -> KeyList:
    """The list with this row in the place of the one that has its id."""
    return KeyList(tuple(key if each.key_id == key.key_id else each for each in keys.keys))


def revoked(key: TrustedKey, at: Instant = NOW) -> TrustedKey:
    """The same key, revoked."""
    return replace(key, revoked_at=at, revoked_why="lost")

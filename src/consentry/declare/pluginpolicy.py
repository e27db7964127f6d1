"""Reads `plugin-policy.yaml`: what evidence a plugin needs before anything of it is loaded.

    pluginPolicyVersion: "1"
    default: integrity
    plugins:
      build:
        signedBy: {anyOf: [author, builder, checker]}
        threshold: 2
        freshness: 90d
        oms: true
      release:
        sigstore:
          trustRoot: /home/me/trusted_root.json
          identities: [{identity: ci@example.org, issuer: https://issuer.example.org}]

It counts from the user's own configuration folder alone. `integrity` asks for the lock and nothing
more. Where a row has both `signedBy` and `sigstore`, both must hold. Empty lists are refused: a rule
that names nobody is met by nobody. A threshold counts signers of `anyOf`, and there is none beside
`allOf`, which asks for every one.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.declare.nodes import Kind
from consentry.declare.quantities import duration
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.repeats import without_repeats
from consentry.declare.trustedkeys import signer_name
from consentry.declare.values import Fields, Value

FILE_NAME: Final = "plugin-policy.yaml"
POLICY_VERSION: Final = "1"
KEYS: Final = ("pluginPolicyVersion", "default", "plugins")
KEYS_OF_RULE: Final = ("signedBy", "threshold", "freshness", "oms", "sigstore")
KEYS_OF_SIGSTORE: Final = ("trustRoot", "identities")

_INTEGRITY = "integrity"
_MOST_SIGNERS = 32
_PLUGIN = re.compile(r"[a-z0-9][a-z0-9-]{0,63}")
_PATH = re.compile(r"/[^\0]{1,4095}")
_LINE = re.compile(r"[!-~]{1,1024}")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who signs without a key of their own: what the certificate must say, to the letter."""

    identity: str
    issuer: str


@dataclass(frozen=True, slots=True)
class SigstoreRule:
    """One of these identities, under this trust root."""

    trust_root: str
    identities: tuple[Identity, ...]


@dataclass(frozen=True, slots=True)
class EvidenceRule:
    """What one plugin needs beyond its lock; nothing of it asked is `integrity`.

    `signers` and `threshold`: that many different ones of these must have signed.
    """

    signers: tuple[str, ...] = ()
    threshold: int = 0
    freshness: Duration | None = None
    oms: bool = False
    sigstore: SigstoreRule | None = None

    @property
    def strength(self) -> int:
        """How many different signers it takes; 0 asks for the integrity check alone."""
        return self.threshold + (self.sigstore is not None)


INTEGRITY_ONLY: Final = EvidenceRule()


@dataclass(frozen=True, slots=True)
class PluginPolicy:
    """The rule of each plugin that is named, and of all others."""

    default: EvidenceRule = INTEGRITY_ONLY
    plugins: Mapping[str, EvidenceRule] = MappingProxyType({})

    def rule(self, plugin: str) -> EvidenceRule:
        """What this plugin needs."""
        return self.plugins.get(plugin, self.default)


def read_plugin_policy(content: bytes, name: str, *, parse: Parse = parsed) -> PluginPolicy:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def _document(root: Value) -> PluginPolicy:
    fields = root.fields(KEYS)
    if fields is None:
        return PluginPolicy()
    fields.need("pluginPolicyVersion", _version, "")
    return PluginPolicy(
        fields.may("default", _rule, INTEGRITY_ONLY), fields.may("plugins", _plugins, {})
    )


def _version(value: Value) -> str | None:
    found = value.text()
    if found is not None and found != POLICY_VERSION:
        value.refuse(f"version `{found[:16]}` is not known", f'write "{POLICY_VERSION}"')
    return found


def _plugins(value: Value) -> Mapping[str, EvidenceRule] | None:
    entries = value.entries()
    if entries is None:
        return None
    found = {}
    for name, entry in entries.items():
        if _PLUGIN.fullmatch(name) is None:
            entry.key.refuse(
                f"`{name[:64]}` is no plugin's name", "use a to z, digits and `-`, at most 64"
            )
        rule = _rule(entry.value)
        if rule is not None:
            found[name] = rule
    return MappingProxyType(found)


def _rule(value: Value) -> EvidenceRule | None:
    if value.is_kind(Kind.TEXT):
        if value.text() != _INTEGRITY:
            value.refuse(
                "the only word that stands for a rule is `integrity`",
                "write `integrity`, or `signedBy:` or `sigstore:` with what it asks for",
            )
        return INTEGRITY_ONLY
    fields = value.fields(KEYS_OF_RULE)
    if fields is None:
        return None
    if not {"signedBy", "sigstore"} & fields.said:
        value.refuse("this rule asks for nobody", "write `integrity` if nobody has to sign")
    signers, threshold = fields.may("signedBy", _signed_by, ((), 0))
    sigstore = fields.may("sigstore", _sigstore, None)
    return EvidenceRule(
        signers,
        _threshold(fields, signers, threshold),
        fields.may("freshness", duration, None),
        fields.may("oms", Value.flag, otherwise=False),
        sigstore,
    )


def _signed_by(value: Value) -> tuple[tuple[str, ...], int] | None:
    """Who may sign, and how many of them must: all of them for `allOf`, which 0 stands for elsewhere."""
    fields = value.fields(("anyOf", "allOf"))
    if fields is None:
        return None
    if len(fields.said) != 1:
        value.refuse("either `anyOf` or `allOf` is meant", "write one of the two")
        return None
    any_of = fields.may("anyOf", _signers, None)
    all_of = fields.may("allOf", _signers, None)
    if all_of is not None:
        return all_of, len(all_of)
    return None if any_of is None else (any_of, 0)


def _signers(value: Value) -> tuple[str, ...] | None:
    found = without_repeats(value, signer_name, lambda name: name)
    if found is not None and not 1 <= len(found) <= _MOST_SIGNERS:
        value.refuse("nobody, or too many, are named", f"name from 1 to {_MOST_SIGNERS} signers")
        return None
    return found


def _threshold(fields: Fields, signers: tuple[str, ...], all_of: int) -> int:
    value = fields.find("threshold")
    if value is None:
        return all_of or min(1, len(signers))
    if all_of or not signers:
        value.refuse("a threshold counts the signers of `anyOf`", "leave it out, or write `anyOf`")
        return all_of
    found = value.whole(1, len(signers))
    return 1 if found is None else found


def _sigstore(value: Value) -> SigstoreRule | None:
    fields = value.fields(KEYS_OF_SIGSTORE)
    if fields is None:
        return None
    return SigstoreRule(
        fields.need("trustRoot", _trust_root, ""), fields.need("identities", _identities, ())
    )


def _trust_root(value: Value) -> str | None:
    return value.matching(_PATH, "an absolute path", "name the file from the root on")


def _identities(value: Value) -> tuple[Identity, ...] | None:
    found = without_repeats(value, _identity, lambda each: each)
    if found is not None and not 1 <= len(found) <= _MOST_SIGNERS:
        value.refuse("nobody, or too many, are named", f"name from 1 to {_MOST_SIGNERS} identities")
        return None
    return found


def _identity(value: Value) -> Identity | None:
    fields = value.fields(("identity", "issuer"))
    if fields is None:
        return None
    return Identity(
        fields.need("identity", _line, ""),
        fields.need("issuer", _line, ""),
    )


def _line(value: Value) -> str | None:
    return value.matching(_LINE, "an identity or issuer", "write it as the certificate has it")

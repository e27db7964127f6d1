"""Sigstore bundles under a trust root that the user names, verified by the real library (TRUST §lock-6).

The instance is one of the tests' own (`sigstoreinstance`): the public one cannot be reached here, and
nothing that this file shows depends on it. No connection is made: the tests run without a network.
"""

import base64
import json
import subprocess
import sys
from collections.abc import Callable
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from consentry.base.clock import Instant
from consentry.base.units import Duration
from consentry.base.values import replace
from consentry.decide.evidencecase import EvidenceKind
from consentry.declare.pluginpolicy import Identity, SigstoreRule
from consentry.examine.pluginproblems import Rejection, VerificationError
from consentry.examine.plugintree import read_tree
from consentry.service.sigstorebundles import witness_bundle
from tests.decide.signing import DAY, dsse, oms, statement, tree
from tests.decide.signing import secret as key_of
from tests.service.signing import Home, home_in
from tests.service.sigstoreinstance import ISSUER, MADE, WHO, Instance

INSTANCE = Instance()
OTHER = Instance()
Document = dict[str, Any]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The trust root of the instance."""
    return INSTANCE.trusted_root(tmp_path_factory.mktemp("sigstore") / "trusted_root.json")


@pytest.fixture
def rule(root: Path) -> SigstoreRule:
    """One identity, under that root."""
    return SigstoreRule(str(root), (Identity(WHO, ISSUER),))


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A user with one plugin, some time after the instance signed."""
    made = home_in(tmp_path)
    made.plugin(note="hello")
    made.clock.set_to(Instant(int(MADE.timestamp() * 1000) + DAY.milliseconds))
    return made


def put(home: Home, document: Document) -> None:
    """Lays the bundle beside the plugin."""
    (home.plugins / "build.sigstore.json").write_text(json.dumps(document))


def signed(home: Home, **other: Any) -> Document:
    """A bundle about the plugin as it is now."""
    read = read_tree(home.plugins / "build", keep_contents=True)
    at = Instant(int(MADE.timestamp() * 1000))
    return INSTANCE.bundle(statement(read, signed_at=at).to_payload(), **other)


def ask(home: Home, root: Path, who: str = WHO, issuer: str = ISSUER, more: str = "") -> None:
    """A policy that asks for this identity."""
    identities = f"[{{identity: {who}, issuer: {issuer}}}]"
    home.ask(f"{{sigstore: {{trustRoot: {root}, identities: {identities}}}{more}}}")


def test_a_bundle_of_the_identity_is_accepted(home: Home, root: Path) -> None:
    """The certificate, its log, the transparency log and the tree: all as the library wants them."""
    ask(home, root)
    assert home.refusal() is Rejection.UNSIGNED
    put(home, signed(home))
    accepted = home.load()
    assert accepted is not None
    assert (accepted.kinds, accepted.signers) == ((EvidenceKind.SIGSTORE,), (WHO,))
    minute_before = (MADE - timedelta(minutes=1)).timestamp() * 1000
    assert accepted.signed_at == Instant(int(minute_before))


def test_somebody_else_or_another_issuer_is_refused(home: Home, root: Path) -> None:
    """Identity and issuer, to the letter: the same address from elsewhere is another person."""
    put(home, signed(home))
    ask(home, root, who="eva@example.org")
    assert home.refusal() is Rejection.IDENTITY_REFUSED
    ask(home, root, issuer="https://issuer.example.com")
    assert home.refusal() is Rejection.IDENTITY_REFUSED
    ask(home, root)
    assert home.load() is not None


def test_another_instance_is_not_believed(home: Home, root: Path, tmp_path: Path) -> None:
    """It may claim whatever it likes; under its own root the very same bundle is good."""
    read = read_tree(home.plugins / "build", keep_contents=True)
    at = Instant(int(MADE.timestamp() * 1000))
    put(home, OTHER.bundle(statement(read, signed_at=at).to_payload()))
    ask(home, root)
    assert home.refusal() is Rejection.SIGNATURE_INVALID
    ask(home, OTHER.trusted_root(tmp_path / "other_root.json"))
    assert home.load() is not None


def test_a_tree_that_changed_after_it_was_signed_is_refused(home: Home, root: Path) -> None:
    """As with keys."""
    ask(home, root)
    put(home, signed(home))
    home.plugin(note="changed")
    assert home.refusal() is Rejection.SIGNED_OTHER_TREE


def _material(document: Document) -> Document:
    found: Document = document["verificationMaterial"]
    return found


def _log_entry(document: Document) -> Document:
    found: Document = _material(document)["tlogEntries"][0]
    return found


def _flipped(text: str) -> str:
    raw = bytearray(base64.b64decode(text))
    raw[-1] ^= 1
    return base64.b64encode(raw).decode()


def _flip(place: Callable[[Document], Document], name: str) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        found = place(document)
        found[name] = _flipped(found[name])

    return change


def _set(place: Callable[[Document], Document], **to: object) -> Callable[[Document], None]:
    return lambda document: place(document).update(to)


TAMPERINGS: dict[str, Callable[[Document], None]] = {
    "signature": _flip(lambda each: each["dsseEnvelope"]["signatures"][0], "sig"),
    "payload": _flip(lambda each: each["dsseEnvelope"], "payload"),
    "payload type": _set(lambda each: each["dsseEnvelope"], payloadType="text/plain"),
    "certificate": _flip(lambda each: _material(each)["certificate"], "rawBytes"),
    "time of the log": _set(_log_entry, integratedTime=str(int(MADE.timestamp()) + 60)),
    "signed entry timestamp": _flip(
        lambda each: _log_entry(each)["inclusionPromise"], "signedEntryTimestamp"
    ),
    "root of the log": _flip(lambda each: _log_entry(each)["inclusionProof"], "rootHash"),
    "proof of inclusion": _set(lambda each: _log_entry(each)["inclusionProof"], hashes=[]),
    "body of the entry": _flip(_log_entry, "canonicalizedBody"),
    "no entry": lambda each: _material(each).update(tlogEntries=[]),
    "no certificate": lambda each: _material(each).pop("certificate"),
    "no envelope": lambda each: each.pop("dsseEnvelope"),
}


@pytest.mark.parametrize("name", TAMPERINGS)
def test_a_tampered_bundle_is_refused(home: Home, root: Path, name: str) -> None:
    """Every part that the library looks at, one at a time."""
    ask(home, root)
    document = deepcopy(signed(home))
    TAMPERINGS[name](document)
    put(home, document)
    structural = name.startswith("no ")
    expected = Rejection.BAD_ENVELOPE if structural else Rejection.SIGNATURE_INVALID
    assert home.refusal() is expected


@pytest.mark.parametrize("content", [b"", b"{}", b"[" * 50_000, b"\xff", dsse(tree(), key_of(1))])
def test_what_is_no_bundle_is_refused(content: bytes, rule: SigstoreRule) -> None:
    """One typed error, whatever the bytes are."""
    with pytest.raises(VerificationError) as refusal:
        witness_bundle("build", content, rule)
    assert refusal.value.reason is Rejection.BAD_ENVELOPE


def test_a_bundle_with_a_key_is_not_one_with_an_identity(rule: SigstoreRule) -> None:
    """An OMS bundle under the other name."""
    with pytest.raises(VerificationError) as refusal:
        witness_bundle("build", oms(tree(), key_of(1)), rule)
    assert refusal.value.reason is Rejection.BAD_ENVELOPE


def test_a_trust_root_that_is_missing_or_broken_refuses(home: Home, tmp_path: Path) -> None:
    """Nothing is fetched in its place."""
    put(home, signed(home))
    ask(home, tmp_path / "nowhere.json")
    assert home.refusal() is Rejection.POLICY_UNREADABLE
    open_to_all = INSTANCE.trusted_root(tmp_path / "open.json")
    open_to_all.chmod(0o666)
    ask(home, open_to_all)
    assert home.refusal() is Rejection.POLICY_UNREADABLE
    broken = tmp_path / "broken.json"
    broken.write_text("{}")
    ask(home, broken)
    assert home.refusal() is Rejection.POLICY_UNREADABLE


def test_freshness_counts_from_the_log_and_not_from_the_signer(home: Home, root: Path) -> None:
    """A signer who claims to have signed today is as old as the log says."""
    read = read_tree(home.plugins / "build", keep_contents=True)
    home.clock.advance(Duration(100 * DAY.milliseconds))
    put(home, INSTANCE.bundle(statement(read, signed_at=home.clock.now()).to_payload()))
    ask(home, root, more=", freshness: 90d")
    assert home.refusal() is Rejection.STALE
    ask(home, root, more=", freshness: 120d")
    assert home.load() is not None


def test_a_certificate_that_was_over_when_it_was_logged_is_refused(home: Home, root: Path) -> None:
    """An entry in the log from after the certificate's minutes."""
    ask(home, root)
    document = signed(home)
    late = INSTANCE.bundle(b"{}", at=MADE + timedelta(hours=1))
    _material(document)["tlogEntries"] = _material(late)["tlogEntries"]
    put(home, document)
    assert home.refusal() is Rejection.SIGNATURE_INVALID


def test_a_model_signature_by_an_identity_counts_where_oms_does(home: Home, root: Path) -> None:
    """The other statement that may stand in a bundle, under the same rules of coverage."""
    read = read_tree(home.plugins / "build", keep_contents=True)
    listed = json.loads(oms(read, key_of(1)))["dsseEnvelope"]["payload"]
    put(home, INSTANCE.bundle(base64.b64decode(listed)))
    ask(home, root)
    assert home.refusal() is Rejection.BAD_ENVELOPE
    ask(home, root, more=", oms: true")
    assert home.load() is not None
    home.plugin(more="not listed")
    assert home.refusal() in (Rejection.NOT_COVERED, Rejection.ROLLED_BACK)


def test_keys_and_identity_are_both_asked_for_where_both_are_named(home: Home, root: Path) -> None:
    """A row with both is met by both."""
    author = home.make_key("author")
    identities = f"[{{identity: {WHO}, issuer: {ISSUER}}}]"
    both = f"{{signedBy: {{anyOf: [author]}}, sigstore: {{trustRoot: {root}, identities: {identities}}}}}"
    home.ask(both)
    put(home, signed(home))
    assert home.refusal() is Rejection.UNSIGNED
    home.sign(author)
    accepted = home.load()
    assert accepted is not None
    assert accepted.signers == ("author", WHO)


def test_a_rule_without_an_identity_is_met_by_nobody(home: Home, rule: SigstoreRule) -> None:
    """The reader refuses such a policy; made by hand it fails as well."""
    content = json.dumps(signed(home)).encode()
    assert witness_bundle("build", content, rule).identity == WHO
    with pytest.raises(VerificationError) as refusal:
        witness_bundle("build", content, replace(rule, identities=()))
    assert refusal.value.reason is Rejection.IDENTITY_REFUSED


WITHOUT = """
import sys
sys.modules["sigstore"] = None
from consentry.declare.pluginpolicy import Identity, SigstoreRule
from consentry.examine.pluginproblems import VerificationError
from consentry.service.sigstorebundles import witness_bundle
try:
    witness_bundle("build", b"{}", SigstoreRule("/nowhere", (Identity("a", "b"),)))
except VerificationError as problem:
    print(problem.reason, problem.help_line)
"""


def test_without_the_extra_one_error_names_it() -> None:
    """In an interpreter that does not find the library; nothing else of ours needs it."""
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=True
    )
    assert ran.stdout == 'extra_missing install it: pip install "consentry[sigstore]"\n'

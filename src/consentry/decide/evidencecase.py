"""What a decision about a plugin's evidence depends on, and what comes out of it, as values."""

from collections.abc import Callable
from enum import StrEnum
from typing import NoReturn

from consentry.base.clock import Instant
from consentry.base.values import dataclass
from consentry.decide.pluginversion import PluginVersion
from consentry.declare.pluginpolicy import EvidenceRule, SigstoreRule
from consentry.declare.trustedkeys import KeyList
from consentry.examine.pluginproblems import Rejection, VerificationError
from consentry.examine.plugintree import PluginTree


class EvidenceKind(StrEnum):
    """The formats, each with the end of its file's name beside the plugin."""

    DSSE = "dsse"
    OMS = "oms"
    SIGSTORE = "sigstore"

    def file(self, plugin: str) -> str:
        """The name of the file that holds it."""
        return f"{plugin}.{self}.json"


@dataclass(frozen=True, slots=True)
class Witnessed:
    """What a Sigstore bundle says, after its certificate and its log entry were found good."""

    payload_type: str
    payload: bytes
    identity: str
    at: Instant


@dataclass(frozen=True, slots=True)
class Offered:
    """The evidence that lies beside a plugin, as bytes; what is not there is None."""

    dsse: bytes | None = None
    oms: bytes | None = None
    sigstore: bytes | None = None


@dataclass(frozen=True, slots=True)
class EvidenceCase:
    """All that the decision depends on."""

    tree: PluginTree
    version: str
    rule: EvidenceRule
    offered: Offered
    keys: KeyList
    now: Instant
    remembered: PluginVersion | None
    witness: Callable[[bytes, SigstoreRule], Witnessed]

    def refuse(self, reason: Rejection, message: str, help_line: str | None = None) -> NoReturn:
        """Raises: this plugin does not have what it needs."""
        raise VerificationError(reason, self.tree.name, message, help_line=help_line)


@dataclass(frozen=True, slots=True)
class AcceptedEvidence:
    """What the plugin was accepted by."""

    kinds: tuple[EvidenceKind, ...]
    signers: tuple[str, ...]
    signed_at: Instant | None

"""The policy hash names the rules and nothing else (CONTRACTS §9-policy-hash)."""

from dataclasses import replace

import pytest

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.base.errors import Where
from consentry.decide.policyhash import policy_hash
from consentry.declare.consent import ConsentConfig
from consentry.declare.consentconfig import read_consent_config
from consentry.declare.policy import CommitRule, PolicyEntry
from consentry.declare.profile import SandboxConfig
from consentry.declare.sandboxconfig import read_sandbox_config
from tests.decide.samples import DIGEST, OTHER_DIGEST

ENTRY = PolicyEntry("build", "1.0.0", DIGEST)
OTHER = PolicyEntry("lint", "1.0.0", DIGEST)


def consent(keys: str = "") -> ConsentConfig:
    """A consent configuration with these keys."""
    return read_consent_config(f'consentSystem: {{version: "1.0.0"{keys}}}'.encode(), "c.yaml")


def sandbox(keys: str = "") -> SandboxConfig:
    """A sandbox configuration with one profile of these keys."""
    return read_sandbox_config(
        f"sandboxConfig: {{profiles: {{build: {{{keys}}}}}}}".encode(), "s.yaml"
    )


def hashed(
    config: ConsentConfig | None = None,
    box: SandboxConfig | None = None,
    *entries: PolicyEntry,
    roots: Digest = DIGEST,
    catalog: str = "1.0.0",
) -> Digest:
    """The hash of these rules."""
    return policy_hash(
        config or consent(),
        box or sandbox(),
        entries,
        protected_roots=roots,
        catalog_version=catalog,
    )


@pytest.mark.parametrize(
    "keys",
    [
        "defaultPolicy: deny",
        "consentLevels: {none: {allowedTools: [a]}}",
        "consentLevels: {none: {notification: true}}",
        "consentLevels: {explicit: {confirmationRequired: false}}",
        "consentLevels: {explicit: {showPreview: false}}",
        "consentLevels: {strict: {showImpactAnalysis: false}}",
        "consentLevels: {strict: {recordReason: false}}",
        "consentLevels: {strict: {description: other words}}",
        "userPreferences: {rememberChoices: false}",
        "userPreferences: {rememberDuration: 1day}",
        "userPreferences: {allowBatchApproval: true}",
    ],
)
def test_every_key_of_a_consent_configuration_is_in_it(keys: str) -> None:
    """CONSENT §config-2: changing a key is changing the rules."""
    assert hashed(consent(f", {keys}")) != hashed()


@pytest.mark.parametrize(
    "keys",
    [
        "filesystem: {readOnly: [/opt/a]}",
        "filesystem: {readWrite: [/opt/a]}",
        "filesystem: {noAccess: [/opt/a]}",
        "network: {enabled: true}",
        'network: {enabled: true, allow: ["a.example:443"]}',
        "capabilities: [{cap_sys_admin: false}]",
        "resources: {maxCPU: 1}",
        "resources: {maxMemory: 1M}",
        "resources: {maxProcesses: 1}",
        "resources: {maxFileSize: 1M}",
        "resources: {maxWritten: 1M}",
        "timeout: 1s",
        "view: visible",
        "writes: direct",
        "layer: disk",
        "reads: exact",
        "patterns: exact",
        "denials: attested",
    ],
)
def test_every_key_of_a_profile_is_in_it(keys: str) -> None:
    """CONSENT §sandbox-1, and the added keys."""
    assert hashed(box=sandbox(keys)) != hashed()


def test_engines_tables_and_entries_are_in_it() -> None:
    """The engines, the table of protected roots, the catalog, and each field of an entry."""
    engines = [
        read_sandbox_config(f"sandboxConfig: {{{keys}, profiles: {{build: {{}}}}}}".encode(), "s")
        for keys in ("engine: docker", "fallbackEngine: docker")
    ]
    entries = [
        ENTRY,
        OTHER,
        replace(ENTRY, version="2.0.0"),
        replace(ENTRY, digest=OTHER_DIGEST),
        replace(ENTRY, arguments=()),
        replace(ENTRY, machines=("label:farm",)),
        replace(ENTRY, expires=Instant(0)),
        replace(ENTRY, commit=CommitRule.AUTO),
    ]
    found = [
        hashed(),
        hashed(roots=OTHER_DIGEST),
        hashed(catalog="2.0.0"),
        *(hashed(None, box) for box in engines),
        *(hashed(None, None, entry) for entry in entries),
    ]
    assert len(set(found)) == len(found)


def test_places_and_order_are_not_in_it() -> None:
    """Moving a line, or listing the same in another order, changes no rule."""
    moved = replace(ENTRY, where=Where("elsewhere.yaml", 99))
    assert hashed(None, None, ENTRY, OTHER) == hashed(None, None, OTHER, moved)
    one = consent(", consentLevels: {none: {allowedTools: [a, b]}}")
    other = consent(",\n\n consentLevels: {none: {allowedTools: [b, a]}}")
    assert hashed(one) == hashed(other)

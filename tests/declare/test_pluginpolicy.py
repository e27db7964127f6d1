"""The plugin policy: what it asks for, and that no rule can be met by nobody."""

import pytest

from consentry.base.errors import BadDocument
from consentry.base.units import Duration
from consentry.declare.pluginpolicy import (
    INTEGRITY_ONLY,
    EvidenceRule,
    Identity,
    PluginPolicy,
    SigstoreRule,
    read_plugin_policy,
)


def read(text: str) -> PluginPolicy:
    """The document with these lines behind its version."""
    return read_plugin_policy(f'pluginPolicyVersion: "1"\n{text}'.encode(), "plugin-policy.yaml")


def test_without_rows_the_integrity_check_is_all() -> None:
    """The default, said or not."""
    for text in ("", "default: integrity\n", "plugins: {}\n"):
        assert read(text).rule("any") == INTEGRITY_ONLY
    assert INTEGRITY_ONLY.strength == 0


def test_a_row_counts_for_its_plugin_and_the_default_for_all_others() -> None:
    """A row takes the default's place; nothing of the two is mixed."""
    policy = read(
        "default: {signedBy: {anyOf: [author]}, freshness: 90d}\n"
        "plugins: {build: integrity, site: {signedBy: {allOf: [builder, checker]}}}\n"
    )
    assert policy.rule("build") == INTEGRITY_ONLY
    assert policy.rule("site") == EvidenceRule(("builder", "checker"), 2)
    assert policy.rule("other") == EvidenceRule(("author",), 1, Duration.parse("90d"))


def test_threshold_and_oms_are_as_they_are_said() -> None:
    """One of `anyOf`, unless more are asked for."""
    any_of = "{signedBy: {anyOf: [a, b, c]}, threshold: 2, oms: true}"
    assert read(f"default: {any_of}").default == EvidenceRule(("a", "b", "c"), 2, oms=True)
    assert read("default: {signedBy: {anyOf: [a, b]}}").default.strength == 1


def test_an_identity_is_a_signer_more() -> None:
    """Beside keys, or alone."""
    identity = "sigstore: {trustRoot: /r.json, identities: [{identity: a@b, issuer: 'https://c'}]}"
    rule = SigstoreRule("/r.json", (Identity("a@b", "https://c"),))
    assert read(f"default: {{{identity}}}").default == EvidenceRule(sigstore=rule)
    both = read(f"default: {{signedBy: {{anyOf: [a]}}, {identity}}}").default
    assert (both.sigstore, both.strength) == (rule, 2)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("default: {signedBy: {anyOf: []}}", "nobody"),
        ("default: {signedBy: {allOf: []}}", "nobody"),
        ("default: {}", "asks for nobody"),
        ("default: {oms: true}", "asks for nobody"),
        ("default: none", "integrity"),
        ("default: {signedBy: {anyOf: [a]}, threshold: 2}", "out of range"),
        ("default: {signedBy: {allOf: [a]}, threshold: 1}", "anyOf"),
        ("default: {signedBy: {anyOf: [a, a]}}", "already in line"),
        ("default: {sigstore: {trustRoot: /r, identities: []}}", "nobody"),
        ("plugins: {a: integrity, a: integrity}", "already in line"),
        ("plugin: {}", "not a key"),
    ],
)
def test_a_rule_that_could_be_met_by_nobody_is_refused(text: str, said: str) -> None:
    """With its line."""
    with pytest.raises(BadDocument) as refusal:
        read(text)
    assert said in str(refusal.value)
    assert refusal.value.problems[0].where.line == 2

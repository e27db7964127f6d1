"""The pages about documents say what the readers do: their examples load, their tables are complete."""

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path

import pytest

from consentry.base.units import Duration
from consentry.declare import (
    consentconfig,
    nodes,
    pluginmanifest,
    pluginpolicy,
    policyfile,
    problems,
    recipefile,
    sandboxconfig,
    settingsfile,
    source,
    surfaceblock,
    toolcapabilities,
    toolindex,
    toolmanifest,
    toolregistryfile,
    wishfile,
)
from consentry.declare.anydocument import read_any
from consentry.declare.consent import DefaultPolicy, LevelRules, RememberDuration
from consentry.declare.documentkind import DocumentKind
from consentry.declare.policy import CommitRule
from consentry.declare.preferences import ApprovalSettings
from consentry.declare.profile import EngineName
from consentry.declare.tool import ConsentLevel, LogLevel, RiskLevel
from consentry.surface.dimensions import Level, LoadLevel
from consentry.surface.modes import Denials, Reads, Rounding, View, Writes
from tests.docs.blocks import DOCS, blocks_of
from tests.docs.tables import code_spans, table_with_head

SANDBOX = DOCS / "reference" / "sandbox-config.md"
MANIFEST = DOCS / "reference" / "tool-manifest.md"
DOCUMENTS = DOCS / "reference" / "documents.md"
CONSENT = DOCS / "reference" / "consent-config.md"
INDEX = DOCS / "reference" / "tool-index.md"
POLICY = DOCS / "reference" / "policy.md"
SETTINGS = DOCS / "reference" / "settings-file.md"
WISH = DOCS / "reference" / "wish.md"
REGISTRY = DOCS / "reference" / "tool-registry.md"
RECIPE = DOCS / "reference" / "recipe.md"
PLUGIN = DOCS / "reference" / "plugin.md"
PLUGIN_POLICY = DOCS / "reference" / "plugin-policy.md"
GUARD = DOCS / "spec" / "guard.md"
SPECIFICATION = DOCS / "spec" / "consent.md"
KINDS = {
    "consentSystem": DocumentKind.CONSENT_CONFIG,
    "sandboxConfig": DocumentKind.SANDBOX_CONFIG,
    "tool": DocumentKind.TOOL,
    "tools": DocumentKind.TOOL_MANIFEST,
    "policyVersion": DocumentKind.POLICY,
    "approvals": DocumentKind.SETTINGS,
    "wish_ir_version": DocumentKind.WISH,
    "registry_version": DocumentKind.TOOL_REGISTRY,
    "recipe_version": DocumentKind.RECIPE,
    "pluginVersion": DocumentKind.PLUGIN,
    "pluginPolicyVersion": DocumentKind.PLUGIN_POLICY,
}
OF_FOLDERS = (CONSENT, SANDBOX, MANIFEST, INDEX, POLICY, SETTINGS)
PAGES = (*OF_FOLDERS, WISH, REGISTRY, RECIPE, PLUGIN, PLUGIN_POLICY, SPECIFICATION, GUARD)


def examples() -> Iterator[tuple[Path, str, str]]:
    """Every example in YAML on these pages, and those of the specification that have a reader."""
    for page in PAGES:
        for block in blocks_of(page.read_text(encoding="utf-8"), "yaml"):
            root = block.text.partition(":")[0]
            if root in KINDS:
                yield page, root, block.text


EXAMPLES = list(examples())


@pytest.mark.parametrize(("page", "root", "text"), EXAMPLES, ids=lambda each: str(each)[-20:])
def test_examples_load(page: Path, root: str, text: str) -> None:
    """Without a single problem."""
    assert read_any(KINDS[root], text.encode(), f"{page.name}.yaml")


def test_there_are_examples() -> None:
    """The test above looks at something: one on each page, four in the specification."""
    assert [(page, root) for page, root, _ in EXAMPLES] == [
        (CONSENT, "consentSystem"),
        (SANDBOX, "sandboxConfig"),
        (MANIFEST, "tool"),
        (INDEX, "tools"),
        (POLICY, "policyVersion"),
        (SETTINGS, "approvals"),
        (WISH, "wish_ir_version"),
        (REGISTRY, "registry_version"),
        (RECIPE, "recipe_version"),
        (PLUGIN, "pluginVersion"),
        (PLUGIN_POLICY, "pluginPolicyVersion"),
        (SPECIFICATION, "consentSystem"),
        (SPECIFICATION, "tool"),
        (SPECIFICATION, "sandboxConfig"),
        (GUARD, "wish_ir_version"),
    ]


def keys(page: Path, *head: str) -> set[str]:
    """The keys of a table, without what stands behind a dot."""
    rows = table_with_head(page, *head)
    return {code_spans(row[0])[0].partition(".")[0] for row in rows}


def test_every_key_is_listed() -> None:
    """No key more, none less."""
    assert keys(SANDBOX, "key of a profile") == set(sandboxconfig._KEYS_OF_PROFILE)
    assert keys(MANIFEST, "key of a tool") == set(toolmanifest._KEYS)
    assert keys(MANIFEST, "key of `capabilities`") == set(toolcapabilities._KEYS)
    assert keys(MANIFEST, "key of `sandboxRequirements`") == set(toolmanifest._KEYS_OF_REQUIREMENTS)
    assert keys(CONSENT, "key of `consentSystem`") == set(consentconfig.KEYS)
    assert keys(CONSENT, "key of a level") == set(consentconfig.KEYS_OF_LEVEL)
    assert keys(CONSENT, "key of `userPreferences`") == set(consentconfig.KEYS_OF_PREFERENCES)
    assert keys(INDEX, "key of a tool") == set(toolindex.KEYS_OF_TOOL)
    assert keys(POLICY, "key") == set(policyfile.KEYS)
    assert keys(POLICY, "key of an entry") == set(policyfile.KEYS_OF_ENTRY)
    assert keys(SETTINGS, "key of `approvals`") == set(settingsfile.KEYS_OF_APPROVALS)
    assert keys(WISH, "key") == set(wishfile.KEYS)
    assert keys(WISH, "key of `allowed_capabilities`") == set(surfaceblock.KEYS)
    assert keys(WISH, "key of `allowlists`") == set(surfaceblock.KEYS_OF_ALLOWLISTS)
    assert keys(REGISTRY, "key") == set(toolregistryfile.KEYS)
    assert keys(REGISTRY, "key of a tool") == set(toolregistryfile.KEYS_OF_TOOL)
    assert keys(RECIPE, "key") == set(recipefile.KEYS)
    assert keys(RECIPE, "key of a node") == set(recipefile.KEYS_OF_NODE)
    assert keys(PLUGIN, "key") == set(pluginmanifest.KEYS)
    assert keys(PLUGIN, "key of `rules`") == set(pluginmanifest.KEYS_OF_RULES)
    assert keys(PLUGIN_POLICY, "key") == set(pluginpolicy.KEYS)
    assert keys(PLUGIN_POLICY, "key of a rule") == set(pluginpolicy.KEYS_OF_RULE)
    assert keys(PLUGIN_POLICY, "key of `sigstore`") == set(pluginpolicy.KEYS_OF_SIGSTORE)
    resources = [
        code_spans(row[0])[0].removeprefix("resources.")
        for row in table_with_head(SANDBOX, "key of a profile")
        if row[0].startswith("`resources.")
    ]
    assert tuple(resources) == sandboxconfig._KEYS_OF_RESOURCES


@pytest.mark.parametrize(
    ("page", "head", "key", "words"),
    [
        (SANDBOX, "key of a profile", "view", View),
        (SANDBOX, "key of a profile", "writes", Writes),
        (SANDBOX, "key of a profile", "reads", Reads),
        (SANDBOX, "key of a profile", "patterns", Rounding),
        (SANDBOX, "key of a profile", "denials", Denials),
        (MANIFEST, "key of a tool", "riskLevel", RiskLevel),
        (MANIFEST, "key of a tool", "consentLevel", ConsentLevel),
        (MANIFEST, "key of a tool", "auditConfig.logLevel", LogLevel),
        (CONSENT, "key of `consentSystem`", "defaultPolicy", DefaultPolicy),
        (CONSENT, "key of `consentSystem`", "consentLevels", ConsentLevel),
        (CONSENT, "key of `userPreferences`", "rememberDuration", RememberDuration),
        (POLICY, "key of an entry", "commit", CommitRule),
        (WISH, "key of `allowed_capabilities`", "net_access", Level),
        (WISH, "key of `allowed_capabilities`", "dynamic_code_load", LoadLevel),
        (WISH, "key of `allowed_capabilities`", "crypto_primitives", Level),
    ],
)
def test_every_word_is_listed(page: Path, head: str, key: str, words: type[StrEnum]) -> None:
    """In the order of the enumeration."""
    [row] = [row for row in table_with_head(page, head) if row[0] == f"`{key}`"]
    assert code_spans(row[1]) == list(words)


def test_defaults_of_levels_are_those_that_hold() -> None:
    """Each flag with the levels at which it is on where nothing is said."""
    names = {
        "notification": "notification",
        "confirmationRequired": "confirmation_required",
        "showPreview": "show_preview",
        "showImpactAnalysis": "show_impact_analysis",
        "recordReason": "record_reason",
    }
    rows = {code_spans(row[0])[0]: row for row in table_with_head(CONSENT, "key of a level")}
    for key, name in names.items():
        on = [level.value for level in ConsentLevel if getattr(LevelRules.usual(level), name)]
        assert code_spans(rows[key][2]) == on


def test_deadlines_are_those_that_hold() -> None:
    """Where nothing is said."""
    usual = ApprovalSettings()
    rows = {code_spans(row[0])[0]: row for row in table_with_head(SETTINGS, "key of `approvals`")}
    for name in settingsfile.KEYS_OF_DEADLINES:
        [written] = code_spans(rows[f"deadlines.{name}"][2])
        assert Duration.parse(written) == getattr(usual, f"{name}_deadline")


def test_every_document_has_its_row() -> None:
    """On the page about documents, under the name it has in a folder."""
    files = {code_spans(row[0])[0] for row in table_with_head(DOCUMENTS, "file", "is")}
    assert files == {kind.file for kind in DocumentKind}


def test_every_engine_is_listed() -> None:
    """In the order in which errors name them."""
    rows = table_with_head(SANDBOX, "engine", "is")
    assert [code_spans(row[0])[0] for row in rows] == list(EngineName)


def test_limits_are_listed_with_their_values() -> None:
    """Those of the reader."""
    rows = table_with_head(DOCUMENTS, "limit")
    limits = {
        name: f"{value:,}"
        for module in (source, nodes, problems)
        for name, value in vars(module).items()
        if name.startswith("MOST_")
    }
    assert {row[0].strip("`"): row[1] for row in rows} == limits

"""The hash of all rules that a decision was made under (CONTRACTS §9).

It is over canonical JSON of the effective consent configuration, sandbox configuration and policy
entries, the table of protected roots and the version of the capability catalog. Where a rule stands
in which file is not part of it: moving a line changes no rule.
"""

from collections.abc import Iterable, Sequence

from consentry.base.canonical import Digest, Json, digest_json
from consentry.base.clock import Instant
from consentry.base.units import Duration, Size
from consentry.declare.consent import ConsentConfig, LevelRules
from consentry.declare.pathentries import PathEntry
from consentry.declare.policy import PolicyEntry
from consentry.declare.profile import DeclaredLimits, Profile, SandboxConfig
from consentry.surface.lattice import spellings


def policy_hash(
    consent: ConsentConfig,
    sandbox: SandboxConfig,
    entries: Sequence[PolicyEntry],
    *,
    protected_roots: Digest,
    catalog_version: str,
) -> Digest:
    """The hash of these rules; the order in which documents list things does not matter."""
    return digest_json(
        {
            "consentSystem": _consent(consent),
            "sandboxConfig": _sandbox(sandbox),
            "policy": sorted((_entry(entry) for entry in entries), key=digest_json),
            "protectedRoots": protected_roots,
            "capabilityCatalogVersion": catalog_version,
        }
    )


def _consent(consent: ConsentConfig) -> dict[str, Json]:
    preferences = consent.preferences
    return {
        "version": consent.version,
        "defaultPolicy": consent.default_policy.value,
        "consentLevels": {
            level.value: _level(rules) for level, rules in sorted(consent.levels.items())
        },
        "userPreferences": {
            "rememberChoices": preferences.remember_choices,
            "rememberDuration": preferences.remember_duration.value,
            "allowBatchApproval": preferences.allow_batch_approval,
        },
    }


def _level(rules: LevelRules) -> dict[str, Json]:
    return {
        "description": rules.description,
        "allowedTools": sorted(tool.name for tool in rules.allowed_tools),
        "notification": rules.notification,
        "confirmationRequired": rules.confirmation_required,
        "showPreview": rules.show_preview,
        "showImpactAnalysis": rules.show_impact_analysis,
        "recordReason": rules.record_reason,
    }


def _sandbox(sandbox: SandboxConfig) -> dict[str, Json]:
    fallback = sandbox.fallback_engine
    return {
        "engine": sandbox.engine.value,
        "fallbackEngine": None if fallback is None else fallback.value,
        "profiles": {name: _profile(profile) for name, profile in sandbox.profiles.items()},
    }


def _profile(profile: Profile) -> dict[str, Json]:
    files = profile.filesystem
    return {
        "capabilities": sorted(profile.dropped),
        "readOnly": _paths(files.read_only),
        "readWrite": _paths(files.read_write),
        "noAccess": _paths(files.no_access.entries),
        "network": [profile.network.level.value, *spellings(profile.network)],
        "secrets": sorted(
            f"{each.host}:{each.port}={each.header}:{each.kind}:{each.kept_in}"
            for each in profile.secrets.entries
        ),
        "vouchers": profile.secrets.vouchers,
        "resources": _limits(profile.limits),
        "view": profile.view.value,
        "writes": profile.writes.value,
        "layer": profile.layer.value,
        "reads": profile.reads.value,
        "patterns": profile.patterns.value,
        "denials": profile.denials.value,
    }


def _limits(limits: DeclaredLimits) -> dict[str, Json]:
    return {
        "maxCPU": _amount(limits.cpu),
        "maxMemory": _amount(limits.memory),
        "maxProcesses": limits.processes,
        "maxFileSize": _amount(limits.file_size),
        "maxWritten": _amount(limits.written),
        "timeout": _amount(limits.timeout),
    }


def _entry(entry: PolicyEntry) -> dict[str, Json]:
    return {
        "tool": entry.tool,
        "version": entry.version,
        "digest": entry.digest,
        "arguments": None if entry.arguments is None else list(entry.arguments),
        "machines": None if entry.machines is None else sorted(entry.machines),
        "expires": _instant(entry.expires),
        "commit": entry.commit.value,
    }


def _paths(entries: Iterable[PathEntry]) -> list[str]:
    return sorted(entry.pattern.text for entry in entries)


def _amount(amount: Size | Duration | None) -> int | None:
    if amount is None:
        return None
    return amount.count if isinstance(amount, Size) else amount.milliseconds


def _instant(moment: Instant | None) -> str | None:
    return None if moment is None else str(moment)

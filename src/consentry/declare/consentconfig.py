"""Reads `consent-config.yaml`: root key `consentSystem` (CONSENT §config).

    consentSystem:
      version: "1.0.0"
      defaultPolicy: require_explicit
      consentLevels:
        strict: {allowedTools: [make-site], recordReason: true}
      userPreferences: {rememberDuration: 1hour}

Only `version` must be there, and of it the first number must be one that is known. A level that is
left out, or leaves keys out, does what its name says. A tool stands at one level: one that stands at
two is refused with both lines.
"""

from collections.abc import Iterable
from functools import partial
from types import MappingProxyType
from typing import Final

from consentry.declare.consent import (
    CONSENT_VERSION,
    ConsentConfig,
    DefaultPolicy,
    LevelRules,
    ListedTool,
    Preferences,
    RememberDuration,
    usual_levels,
)
from consentry.declare.names import tool_name, version
from consentry.declare.nodes import clipped
from consentry.declare.reader import Parse, parsed, read_document
from consentry.declare.repeats import without_repeats
from consentry.declare.tool import ConsentLevel
from consentry.declare.values import Value, one_of

KEYS: Final = ("version", "defaultPolicy", "consentLevels", "userPreferences")
KEYS_OF_LEVEL: Final = (
    "description",
    "allowedTools",
    "notification",
    "confirmationRequired",
    "showPreview",
    "showImpactAnalysis",
    "recordReason",
)
KEYS_OF_PREFERENCES: Final = ("rememberChoices", "rememberDuration", "allowBatchApproval")

_MAJOR: Final = CONSENT_VERSION.partition(".")[0]


def read_consent_config(content: bytes, name: str, *, parse: Parse = parsed) -> ConsentConfig:
    """Reads the document, or raises `document-invalid` with all that is wrong with it.

    Args:
        content: The bytes of the document.
        name: How errors call it; `.json` at its end means JSON.
        parse: Where the nodes come from, if not from the text itself.
    """
    return read_document(content, name, _document, parse)


def _document(root: Value) -> ConsentConfig:
    nothing = ConsentConfig()
    fields = root.fields(("consentSystem",))
    return nothing if fields is None else fields.need("consentSystem", _system, nothing)


def _system(value: Value) -> ConsentConfig | None:
    fields = value.fields(KEYS)
    if fields is None:
        return None
    return ConsentConfig(
        fields.need("version", _version, ""),
        fields.may("defaultPolicy", one_of(DefaultPolicy), DefaultPolicy.REQUIRE_EXPLICIT),
        MappingProxyType(fields.may("consentLevels", _levels, dict(usual_levels()))),
        fields.may("userPreferences", _preferences, Preferences()),
        said=fields.said,
    )


def _version(value: Value) -> str | None:
    found = version(value)
    if found is not None and found.partition(".")[0] != _MAJOR:
        value.refuse(
            f"version {clipped(found)} of this document is not known, only those from "
            f"{_MAJOR}.0.0 and below {int(_MAJOR) + 1}.0.0",
            f'write "{CONSENT_VERSION}" if it follows that, or install a release that knows it',
        )
    return found


def _levels(value: Value) -> dict[ConsentLevel, LevelRules] | None:
    fields = value.fields(tuple(ConsentLevel))
    if fields is None:
        return None
    levels = {
        level: fields.may(level, partial(_level, level), LevelRules.usual(level))
        for level in ConsentLevel
    }
    _check_one_level_each(levels.values(), value)
    return levels


def _level(level: ConsentLevel, value: Value) -> LevelRules | None:
    fields = value.fields(KEYS_OF_LEVEL)
    if fields is None:
        return None
    usual = LevelRules.usual(level)
    flag = partial(fields.may, read=Value.flag)
    return LevelRules(
        level,
        description=fields.may("description", Value.words, ""),
        allowed_tools=fields.may("allowedTools", _tools, ()),
        notification=flag("notification", otherwise=usual.notification),
        confirmation_required=flag("confirmationRequired", otherwise=usual.confirmation_required),
        show_preview=flag("showPreview", otherwise=usual.show_preview),
        show_impact_analysis=flag("showImpactAnalysis", otherwise=usual.show_impact_analysis),
        record_reason=flag("recordReason", otherwise=usual.record_reason),
        said=fields.said,
    )


def _tools(value: Value) -> tuple[ListedTool, ...] | None:
    return without_repeats(value, _tool, lambda tool: tool.name)


def _tool(value: Value) -> ListedTool | None:
    name = tool_name(value)
    return None if name is None else ListedTool(name, value.where)


def _check_one_level_each(levels: Iterable[LevelRules], value: Value) -> None:
    listed = [(tool, rules.level) for rules in levels for tool in rules.allowed_tools]
    listed.sort(key=lambda each: (each[0].where.line or 0, each[0].where.column or 0))
    first: dict[str, tuple[ListedTool, ConsentLevel]] = {}
    for tool, level in listed:
        other, other_level = first.setdefault(tool.name, (tool, level))
        if other_level is not level:
            message = f"`{tool.name}` is already at level {other_level} in line {other.where.line}"
            value.problems.add_at(tool.where, message, "keep it at one level")


def _preferences(value: Value) -> Preferences | None:
    fields = value.fields(KEYS_OF_PREFERENCES)
    if fields is None:
        return None
    usual = Preferences()
    return Preferences(
        fields.may("rememberChoices", Value.flag, usual.remember_choices),
        fields.may("rememberDuration", one_of(RememberDuration), usual.remember_duration),
        fields.may("allowBatchApproval", Value.flag, usual.allow_batch_approval),
        said=fields.said,
    )

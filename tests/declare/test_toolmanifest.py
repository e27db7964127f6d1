"""A tool's manifest to the letter: CONSENT's own document, every key, every way to be wrong."""

import json
from pathlib import Path

import pytest

from consentry.base.units import Duration, Size
from consentry.declare.tool import (
    AuditConfig,
    Command,
    ConsentLevel,
    LogLevel,
    Requirements,
    RiskLevel,
)
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.dimensions import Level
from tests.declare.documents import read_manifest, with_capability, with_key
from tests.declare.reading import values_of

REFERENCE = Path(__file__).parent / "consent" / "build-latex.yaml"


# CONSENT's own document


def test_the_reference_manifest_is_read_as_it_is() -> None:
    """CONSENT §manifest-reference: every value of `build-latex`."""
    found = read_tool_manifest(REFERENCE.read_bytes(), "build-latex.yaml")
    assert (found.name, found.display_name) == ("build-latex", "Build LaTeX")
    assert (found.description, found.version) == ("Compile LaTeX document to PDF", "1.0.0")
    asked = found.capabilities
    assert [(need.entry.written, need.purpose) for need in asked.file_read] == [
        ("latex/**/*.tex", "Read LaTeX source files"),
        ("latex/**/*.bib", "Read bibliography"),
        ("latex/**/*.sty", "Read style files"),
    ]
    assert [(need.entry.written, need.purpose) for need in asked.file_write] == [
        ("output-final/pdf/*.pdf", "Write compiled PDF"),
        ("latex/*.aux", "LaTeX auxiliary files"),
        ("latex/*.log", "Build log"),
    ]
    here = asked.commands[0].where
    assert asked.commands == (
        Command("pdflatex", ("main.tex",), "LaTeX compilation", here),
        Command("bibtex", ("main",), "Bibliography processing", here),
    )
    assert asked.network.level is Level.NONE
    assert (asked.env_read, asked.env_write) == (("PATH", "HOME", "TEXINPUTS"), ())
    assert found.risk is RiskLevel.MEDIUM
    needed = found.requirements
    assert (needed.isolate_file_system, needed.restrict_network) == (True, True)
    assert (needed.cpu, needed.memory) == (Duration(60_000), Size(512 * 1024**2))
    assert [entry.written for entry in needed.allowed_paths or ()] == ["latex/", "output-final/"]
    assert (needed.profile, found.entrypoint) == (None, None)
    assert found.consent_level is ConsentLevel.STRICT
    assert found.audit == AuditConfig(LogLevel.DETAILED, Duration(30 * 86_400_000), True)


# Every key


def test_what_is_left_out_asks_for_nothing() -> None:
    """Confined as usual, no level of its own, the name shown as it is."""
    found = read_manifest(with_key(""))
    assert found.display_name == "t"
    assert found.requirements == Requirements()
    assert found.consent_level is None
    assert found.audit == AuditConfig(LogLevel.STANDARD, None, True)
    assert (found.capabilities.file_read, found.capabilities.commands) == ((), ())
    assert found.capabilities.network.level is Level.NONE


@pytest.mark.parametrize("risk", RiskLevel)
def test_risk_levels(risk: RiskLevel) -> None:
    """CONTRACTS §12-risk."""
    assert read_manifest(with_key("").replace("low", risk)).risk is risk
    assert list(RiskLevel) == ["low", "medium", "high", "critical"]


@pytest.mark.parametrize("level", LogLevel)
def test_log_levels(level: LogLevel) -> None:
    """CONTRACTS §12-log-level."""
    assert read_manifest(with_key(f"auditConfig: {{logLevel: {level}}}")).audit.log_level is level
    assert list(LogLevel) == ["minimal", "standard", "detailed"]


def test_consent_levels_go_from_loose_to_strict() -> None:
    """CONSENT §level-1."""
    assert [level.rank for level in ConsentLevel] == [0, 1, 2, 3]
    assert [
        read_manifest(with_key(f"consentLevel: {level}")).consent_level for level in ConsentLevel
    ] == [
        "none",
        "implicit",
        "explicit",
        "strict",
    ]


@pytest.mark.parametrize(
    ("written", "level", "targets"),
    [
        ("false", Level.NONE, []),
        ("true", Level.ANY, []),
        ("[]", Level.NONE, []),
        (
            '[example.com, "*.example.org:443", 192.0.2.0/24]',
            Level.ALLOWLIST,
            ["*.example.org:443", "192.0.2.0/24", "example.com"],
        ),
    ],
)
def test_network_access(written: str, level: Level, targets: list[str]) -> None:
    """Closed, open, or open to a list; an empty list opens nothing."""
    found = read_manifest(with_capability(f"networkAccess: {written}")).capabilities.network
    assert (found.level, list(found.targets)) == (level, targets)


def test_entrypoint() -> None:
    """CONTRACTS §7-entry: command, arguments, and a folder of the workspace."""
    entry = "entrypoint: {command: ./run.sh, arguments: [-v, ''], workingDirectory: src/./x/}"
    found = read_manifest(with_key(entry)).entrypoint
    assert found is not None
    assert (found.command, found.arguments) == ("./run.sh", ("-v", ""))
    assert found.working_directory == "src/x"
    plain = read_manifest(with_key("entrypoint: {command: make}")).entrypoint
    assert plain is not None
    assert (plain.arguments, plain.working_directory) == ((), ".")


def test_the_same_command_may_be_started_twice() -> None:
    """In order; LaTeX needs a second pass."""
    one = "{command: pdflatex, purpose: p}"
    found = read_manifest(with_capability(f"processExecution: [{one}, {one}]"))
    assert len(found.capabilities.commands) == 2


@pytest.mark.parametrize("version", ["0.0.1", "1.2.3-rc.1", "1.0.0+build.5", "10.20.30-a-b.0+x"])
def test_versions(version: str) -> None:
    """SemVer; a version without quotes is text as well."""
    assert read_manifest(with_key("").replace('"1.0.0"', version)).version == version


# Digest


def test_the_digest_is_of_the_values() -> None:
    """CONTRACTS §8-digest: formatting, remarks, order of keys, JSON or YAML make no difference."""
    text = REFERENCE.read_text(encoding="utf-8")
    original = read_manifest(text)
    values = values_of(text)
    shuffled = json.dumps(values, sort_keys=True, indent=3)
    as_json = read_tool_manifest(shuffled.encode(), "t.json")
    assert original.digest == as_json.digest
    assert original.digest == read_manifest(shuffled).digest
    assert original.digest.startswith("sha256:")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Compile LaTeX document to PDF", "Compile LaTeX document to PDF."),
        ('"Build log"', '"A log"'),
        ('["main.tex"]', '["-shell-escape", "main.tex"]'),
        ("riskLevel: medium", "riskLevel: low"),
        ("    networkAccess: false\n", ""),
    ],
)
def test_every_value_counts(old: str, new: str) -> None:
    """Description and purposes included: a person consented to what they read."""
    text = REFERENCE.read_text(encoding="utf-8")
    assert old in text
    assert read_manifest(text).digest != read_manifest(text.replace(old, new)).digest

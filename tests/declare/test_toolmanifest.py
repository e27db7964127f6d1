"""A tool's manifest to the letter: CONSENT's own document, every key, every way to be wrong."""

import json
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import BadDocument
from consentry.base.units import Duration, Size
from consentry.declare.tool import (
    AuditConfig,
    Command,
    ConsentLevel,
    LogLevel,
    Requirements,
    RiskLevel,
    ToolManifest,
)
from consentry.declare.toolmanifest import read_tool_manifest
from consentry.surface.dimensions import Level
from tests.declare.reading import values_of

REFERENCE = Path(__file__).parent / "consent" / "build-latex.yaml"

LEAST = """\
tool:
  name: t
  description: d
  version: "1.0.0"
  riskLevel: low
"""


def read(text: str) -> ToolManifest:
    """The manifest in a text."""
    return read_tool_manifest(text.encode(), "t.yaml")


def with_capability(line: str) -> str:
    """The least manifest with one line, the seventh, in its capabilities."""
    return f"{LEAST}  capabilities:\n    {line}\n"


def with_key(line: str) -> str:
    """The least manifest with one more line, the seventh."""
    return f"{LEAST}  capabilities: {{}}\n  {line}\n"


def problems(text: str) -> list[str]:
    """What is wrong, without the name of the file."""
    with pytest.raises(BadDocument) as caught:
        read(text)
    return [str(each).removeprefix("t.yaml:") for each in caught.value.problems]


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
    found = read(with_key(""))
    assert found.display_name == "t"
    assert found.requirements == Requirements()
    assert found.consent_level is None
    assert found.audit == AuditConfig(LogLevel.STANDARD, None, True)
    assert (found.capabilities.file_read, found.capabilities.commands) == ((), ())
    assert found.capabilities.network.level is Level.NONE


@pytest.mark.parametrize("risk", RiskLevel)
def test_risk_levels(risk: RiskLevel) -> None:
    """CONTRACTS §12-risk."""
    assert read(with_key("").replace("low", risk)).risk is risk
    assert list(RiskLevel) == ["low", "medium", "high", "critical"]


@pytest.mark.parametrize("level", LogLevel)
def test_log_levels(level: LogLevel) -> None:
    """CONTRACTS §12-log-level."""
    assert read(with_key(f"auditConfig: {{logLevel: {level}}}")).audit.log_level is level
    assert list(LogLevel) == ["minimal", "standard", "detailed"]


def test_consent_levels_go_from_loose_to_strict() -> None:
    """CONSENT §level-1."""
    assert [level.rank for level in ConsentLevel] == [0, 1, 2, 3]
    assert [read(with_key(f"consentLevel: {level}")).consent_level for level in ConsentLevel] == [
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
    found = read(with_capability(f"networkAccess: {written}")).capabilities.network
    assert (found.level, list(found.targets)) == (level, targets)


def test_entrypoint() -> None:
    """CONTRACTS §7-entry: command, arguments, and a folder of the workspace."""
    entry = "entrypoint: {command: ./run.sh, arguments: [-v, ''], workingDirectory: src/./x/}"
    found = read(with_key(entry)).entrypoint
    assert found is not None
    assert (found.command, found.arguments) == ("./run.sh", ("-v", ""))
    assert found.working_directory == "src/x"
    plain = read(with_key("entrypoint: {command: make}")).entrypoint
    assert plain is not None
    assert (plain.arguments, plain.working_directory) == ((), ".")


def test_the_same_command_may_be_started_twice() -> None:
    """In order; LaTeX needs a second pass."""
    one = "{command: pdflatex, purpose: p}"
    found = read(with_capability(f"processExecution: [{one}, {one}]"))
    assert len(found.capabilities.commands) == 2


@pytest.mark.parametrize("version", ["0.0.1", "1.2.3-rc.1", "1.0.0+build.5", "10.20.30-a-b.0+x"])
def test_versions(version: str) -> None:
    """SemVer; a version without quotes is text as well."""
    assert read(with_key("").replace('"1.0.0"', version)).version == version


# Digest


def test_the_digest_is_of_the_values() -> None:
    """CONTRACTS §8-digest: formatting, remarks, order of keys, JSON or YAML make no difference."""
    text = REFERENCE.read_text(encoding="utf-8")
    original = read(text)
    values = values_of(text)
    shuffled = json.dumps(values, sort_keys=True, indent=3)
    as_json = read_tool_manifest(shuffled.encode(), "t.json")
    assert original.digest == as_json.digest
    assert original.digest == read(shuffled).digest
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
    assert read(text).digest != read(text.replace(old, new)).digest


# What is wrong


def test_what_must_be_there() -> None:
    """Each is named with its path."""
    assert problems("tool: {}") == [
        f"1:7: tool.{name}: this key is missing; add `{name}:`"
        for name in ("name", "description", "version", "capabilities", "riskLevel")
    ]
    assert problems("{}") == ["1:1: tool: this key is missing; add `tool:`"]


@pytest.mark.parametrize(
    "item",
    [
        "fileRead: [{pattern: a}]",
        "fileWrite: [{pattern: a}]",
        "processExecution: [{command: a}]",
    ],
)
def test_everything_states_its_purpose(item: str) -> None:
    """CONSENT §manifest-3: a purpose that is missing or empty is refused."""
    key = item.partition(":")[0]
    column = item.index("{") + 5
    assert problems(with_capability(item)) == [
        f"7:{column}: tool.capabilities.{key}[0].purpose: this key is missing; add `purpose:`"
    ]
    [said] = problems(with_capability(item.replace("}", ", purpose: ''}")))
    assert "purpose: the text is empty" in said


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("fileReed: []", "7:5: {}.fileReed: `fileReed` is not a key that is known here; did you mean `fileRead`?"),
        ("fileRead: {pattern: a}", "7:15: {}.fileRead: this is a mapping, and a list is meant; write a list; `[]` is an empty one"),
        ("fileRead: [{pattern: ../x, purpose: p}]", "7:26: {}.fileRead[0].pattern: `../x` leaves the folder it is relative to; name the path inside the workspace, or grant the absolute path"),
        ("fileRead: [{pattern: ABSOLUTE_PATH, purpose: p}]", "7:26: {}.fileRead[0].pattern: `ABSOLUTE_PATH` stands for any absolute path, which no tool may ask for; name the path, or write `./ABSOLUTE_PATH` for a file of that name"),
        ("fileRead: [{pattern: a, purpose: p}, {pattern: ./a, purpose: q}]", "7:42: {}.fileRead[1]: this is already in line 7; keep one of the two"),
        ("processExecution: [pdflatex]", "7:24: {}.processExecution[0]: `pdflatex` is text, and a mapping is meant; write `key: value` lines; `{}` has none"),
        ('processExecution: [{command: "*", purpose: p}]', "7:34: {}.processExecution[0].command: `*` names no single program; name each program by itself"),
        ("processExecution: [{command: make, arguments: [1], purpose: p}]", '7:52: {}.processExecution[0].arguments[0]: `1` is a whole number, and text is meant; put it in quotes: "1"'),
        ("networkAccess: no", "7:20: {}.networkAccess: `no` is text, and true, false or a list of hosts is meant; write false, or a list such as [example.com:443]"),
        ('networkAccess: ["*"]', "7:21: {}.networkAccess[0]: `*` is not a network target: `*` without a port is the level ANY, not an entry; " + Code.SURFACE_HOST.remedy),
        ("networkAccess: [a.example, A.example]", "7:32: {}.networkAccess[1]: this is already in line 7; keep one of the two"),
        ('environmentVariables: {read: ["AWS_*"]}', "7:35: {}.environmentVariables.read[0]: `AWS_*` is not the name of a variable; name each variable by itself"),
        ("environmentVariables: {write: PATH}", "7:35: {}.environmentVariables.write: `PATH` is text, and a list is meant; write a list; `[]` is an empty one"),
    ],
)  # fmt: skip
def test_wrong_capability(line: str, said: str) -> None:
    """The exact place, what is wrong, what to write."""
    assert problems(with_capability(line)) == [said.replace("{}", "tool.capabilities", 1)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("consentLevel: Strict", "7:17: tool.consentLevel: `Strict` is not one of none, implicit, explicit, strict; did you mean `strict`?"),
        ("sandboxRequirements: {limitMemory: 512}", "7:38: tool.sandboxRequirements.limitMemory: this size has no unit; write a unit behind it, such as 512MB"),
        ("sandboxRequirements: {allowedPaths: [/usr]}", "7:40: tool.sandboxRequirements.allowedPaths[0]: `/usr` does not lie in the workspace; write a path relative to the workspace"),
        ("sandboxRequirements: {profile: 'tool:t'}", "7:34: tool.sandboxRequirements.profile: `tool:t` is not a name for a profile; use letters, digits, `-` and `_`, at most 64"),
        ("auditConfig: {retainLogs: 30}", "7:29: tool.auditConfig.retainLogs: this time has no unit; write a unit behind it, such as 60s"),
        ("auditConfig: {includeInReport: 'yes'}", "7:34: tool.auditConfig.includeInReport: `yes` in quotes is text, and true or false is meant; write true, without quotes"),
        ("entrypoint: {}", "7:15: tool.entrypoint.command: this key is missing; add `command:`"),
        ("entrypoint: {command: a, workingDirectory: /tmp}", "7:46: tool.entrypoint.workingDirectory: `/tmp` does not lie in the workspace; write a path relative to the workspace"),
        ("entrypoint: {command: a, workingDirectory: 'x/*'}", "7:46: tool.entrypoint.workingDirectory: `x/*` is not one folder; name a folder, without wildcards"),
        ("requiresConsent: true", "7:3: tool.requiresConsent: `requiresConsent` is not a key that is known here; the keys still free here are displayName, sandboxRequirements, consentLevel, auditConfig, entrypoint"),
    ],
)  # fmt: skip
def test_wrong_key(line: str, said: str) -> None:
    """The exact place, what is wrong, what to write."""
    assert problems(with_key(line)) == [said]


@pytest.mark.parametrize("name", ["", "Build", "a b", "-a", "../a", "a/b", "a" * 65, "ä"])
def test_wrong_name(name: str) -> None:
    """A name is also the name of a file."""
    [said] = problems(with_key("").replace("name: t", f'name: "{name}"'))
    assert said.startswith("2:9: tool.name: ")


@pytest.mark.parametrize(
    "version", ['"1.0"', "1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-", "latest", "1.0.0-01"]
)
def test_wrong_version(version: str) -> None:
    """Three numbers, and what SemVer lets follow."""
    [said] = problems(with_key("").replace('"1.0.0"', version))
    assert said.startswith("4:12: tool.version: ")


@pytest.mark.parametrize("pattern", ["/etc/passwd", "~/.ssh/id_rsa", "/home/*/.aws/**", "/dev/sda"])
def test_protected_roots_are_not_asked_for(pattern: str) -> None:
    """Neither as a file nor as a program; the rule is named."""
    for line in (
        f"fileRead: [{{pattern: '{pattern}', purpose: p}}]",
        f"fileWrite: [{{pattern: '{pattern}', purpose: p}}]",
    ):
        [said] = problems(with_capability(line))
        assert "which is never granted: " in said
    if "*" not in pattern:
        [said] = problems(
            with_capability(f"processExecution: [{{command: {pattern}, purpose: p}}]")
        )
        assert "which is never granted: " in said


def test_a_pattern_that_allowed_paths_leaves_nothing_of() -> None:
    """Both lines are told; a pattern that is only narrowed is fine, and so is an absolute one."""
    capability = "fileWrite: [{pattern: build/*.o, purpose: p}, {pattern: '**/*.tex', purpose: p}]"
    text = with_capability(capability) + "  sandboxRequirements:\n    allowedPaths: [src/]\n"
    assert problems(text) == [
        (
            "7:27: tool.capabilities.fileWrite[0].pattern: `build/*.o` lies outside of allowedPaths "
            "(line 9), so nothing is left of it; add its folder there, or leave it out"
        )
    ]
    assert read(text.replace("build/*.o", "/opt/data/x"))
    assert problems(text.replace("[src/]", "[]"))


def test_entangled_patterns_are_refused_and_not_compared_without_end() -> None:
    """Many wildcards in many patterns."""
    tangled = ", ".join(f"{{pattern: '{'*a' * 60}{n}*', purpose: p}}" for n in range(60))
    [said] = problems(with_capability(f"fileRead: [{tangled}]"))
    assert "cannot be compared in bounded work" in said

"""What a tool manifest may not say, with the exact place and what to write instead."""

from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.declare.documents import manifest_problems, read_manifest, with_capability, with_key

REFERENCE = Path(__file__).parent / "consent" / "build-latex.yaml"


def test_what_must_be_there() -> None:
    """Each is named with its path."""
    assert manifest_problems("tool: {}") == [
        f"1:7: tool.{name}: this key is missing; add `{name}:`"
        for name in ("name", "description", "version", "capabilities", "riskLevel")
    ]
    assert manifest_problems("{}") == ["1:1: tool: this key is missing; add `tool:`"]


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
    assert manifest_problems(with_capability(item)) == [
        f"7:{column}: tool.capabilities.{key}[0].purpose: this key is missing; add `purpose:`"
    ]
    [said] = manifest_problems(with_capability(item.replace("}", ", purpose: ''}")))
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
    assert manifest_problems(with_capability(line)) == [said.replace("{}", "tool.capabilities", 1)]


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
    assert manifest_problems(with_key(line)) == [said]


@pytest.mark.parametrize("name", ["", "Build", "a b", "-a", "../a", "a/b", "a" * 65, "ä"])
def test_wrong_name(name: str) -> None:
    """A name is also the name of a file."""
    [said] = manifest_problems(with_key("").replace("name: t", f'name: "{name}"'))
    assert said.startswith("2:9: tool.name: ")


@pytest.mark.parametrize(
    "version", ['"1.0"', "1", "1.0", "v1.0.0", "1.0.0.0", "01.0.0", "1.0.0-", "latest", "1.0.0-01"]
)
def test_wrong_version(version: str) -> None:
    """Three numbers, and what SemVer lets follow."""
    [said] = manifest_problems(with_key("").replace('"1.0.0"', version))
    assert said.startswith("4:12: tool.version: ")


@pytest.mark.parametrize("pattern", ["/etc/passwd", "~/.ssh/id_rsa", "/home/*/.aws/**", "/dev/sda"])
def test_protected_roots_are_not_asked_for(pattern: str) -> None:
    """Neither as a file nor as a program; the rule is named."""
    for line in (
        f"fileRead: [{{pattern: '{pattern}', purpose: p}}]",
        f"fileWrite: [{{pattern: '{pattern}', purpose: p}}]",
    ):
        [said] = manifest_problems(with_capability(line))
        assert "which is never granted: " in said
    if "*" not in pattern:
        [said] = manifest_problems(
            with_capability(f"processExecution: [{{command: {pattern}, purpose: p}}]")
        )
        assert "which is never granted: " in said


def test_a_pattern_that_allowed_paths_leaves_nothing_of() -> None:
    """Both lines are told; a pattern that is only narrowed is fine, and so is an absolute one."""
    capability = "fileWrite: [{pattern: build/*.o, purpose: p}, {pattern: '**/*.tex', purpose: p}]"
    text = with_capability(capability) + "  sandboxRequirements:\n    allowedPaths: [src/]\n"
    assert manifest_problems(text) == [
        (
            "7:27: tool.capabilities.fileWrite[0].pattern: `build/*.o` lies outside of allowedPaths "
            "(line 9), so nothing is left of it; add its folder there, or leave it out"
        )
    ]
    assert read_manifest(text.replace("build/*.o", "/opt/data/x"))
    assert manifest_problems(text.replace("[src/]", "[]"))


def test_entangled_patterns_are_refused_and_not_compared_without_end() -> None:
    """Many wildcards in many patterns."""
    tangled = ", ".join(f"{{pattern: '{'*a' * 60}{n}*', purpose: p}}" for n in range(60))
    [said] = manifest_problems(with_capability(f"fileRead: [{tangled}]"))
    assert "cannot be compared in bounded work" in said

"""Documents that schemas and readers are held against: right ones, wrong ones, and subtly wrong ones."""

from pathlib import Path

from consentry.declare.documentkind import DocumentKind
from tests.docs.blocks import DOCS, blocks_of

_FOLDER = Path(__file__).parent / "consent"
_DIGEST = "sha256:" + "ab" * 32
_ROOTS = {
    "consentSystem": DocumentKind.CONSENT_CONFIG,
    "tool": DocumentKind.TOOL,
    "sandboxConfig": DocumentKind.SANDBOX_CONFIG,
    "tools": DocumentKind.TOOL_MANIFEST,
    "policyVersion": DocumentKind.POLICY,
    "approvals": DocumentKind.SETTINGS,
}


def _of_the_pages() -> list[tuple[DocumentKind, str]]:
    found = []
    for page in sorted((*(DOCS / "reference").glob("*.md"), *(DOCS / "spec").glob("*.md"))):
        for block in blocks_of(page.read_text(encoding="utf-8"), "yaml"):
            kind = _ROOTS.get(block.text.partition(":")[0])
            if kind is not None:
                found.append((kind, block.text))
    return found


def _tool(more: str, capabilities: str = "{}") -> str:
    return (
        'tool:\n  name: t\n  description: d\n  version: "1.0.0"\n  riskLevel: low\n'
        f"  capabilities: {capabilities}\n  {more}\n"
    )


def _system(more: str) -> str:
    return f'consentSystem:\n  version: "1.0.0"\n  {more}\n'


def _profile(more: str) -> str:
    return f"sandboxConfig: {{profiles: {{p: {{{more}}}}}}}"


def _entry(more: str = "", version: str = '"1.0.0"', digest: str = _DIGEST) -> str:
    entry = f"{{tool: t, version: {version}, digest: '{digest}'{more and ', '}{more}}}"
    return f'policyVersion: "1"\nentries: [{entry}]'


C, T, S, I, P, O = (  # noqa: E741 - one letter each keeps the table readable
    DocumentKind.CONSENT_CONFIG,
    DocumentKind.TOOL,
    DocumentKind.SANDBOX_CONFIG,
    DocumentKind.TOOL_MANIFEST,
    DocumentKind.POLICY,
    DocumentKind.SETTINGS,
)

ACCEPTED = [
    *_of_the_pages(),
    (C, (_FOLDER / "consent-config.yaml").read_text(encoding="utf-8")),
    (T, (_FOLDER / "build-latex.yaml").read_text(encoding="utf-8")),
    (S, (_FOLDER / "sandbox-config.yaml").read_text(encoding="utf-8")),
    (C, 'consentSystem: {version: "1.9.3-rc.1+b.5"}'),
    (C, _system("consentLevels: {none: {}, strict: {description: ''}}")),
    (C, _system("defaultPolicy: deny")),
    (T, _tool("displayName: x")),
    (T, _tool("entrypoint: {command: ./x.sh}")),
    (T, _tool("sandboxRequirements: {limitCPU: 60, limitMemory: 1g}")),
    (T, _tool("sandboxRequirements: {limitCPU: 0.5s, limitMemory: 64 KB}")),
    (T, _tool("auditConfig: {retainLogs: 2weeks}")),
    (T, _tool("consentLevel: none", "{networkAccess: [], fileRead: []}")),
    (T, _tool("consentLevel: none", "{networkAccess: true}")),
    (T, _tool("consentLevel: none", "{processExecution: [{command: a, arguments: [''], purpose: p}]}")),
    (S, "sandboxConfig: {}"),
    (S, _profile("filesystem: {readOnly: ['${WORKSPACE}', /opt/x], noAccess: ['*']}")),
    (S, _profile("capabilities: [{cap_sys_admin: false}], timeout: 1min")),
    (S, _profile("network: {enabled: true, secrets: ['a.example=X-Key:env:KEY'], secretCA: /ca.pem}")),
    (I, "tools: []"),
    (I, "tools: [{name: a, file: b/c/d.yml, requiresConsent: false}, {name: b}]"),
    (I, "tools: [{name: a, file: ..yaml}]"),
    (P, 'policyVersion: "1"\nentries: []'),
    (P, _entry("arguments: [], machines: ['label:x'], expires: 2027-01-01T00:00:00.000Z, commit: ask")),
    (O, "{}"),
    (O, "approvals: {passphrase: true, deadlines: {parked: 36h, prompt: 90 s}}"),
]  # fmt: skip

REFUSED = [
    (C, "{}"),
    (C, "consentSystem: {}"),
    (C, "consentSystem: []"),
    (C, 'consentSystem: {version: "2.0.0"}'),
    (C, 'consentSystem: {version: "1"}'),
    (C, "consentSystem: {version: 1.0}"),
    (C, _system("defaultPolicy: allow")),
    (C, _system("consentLevels: {loose: {}}")),
    (C, _system("consentLevels: {none: {allowedTools: [A]}}")),
    (C, _system("consentLevels: {none: {allowedTools: [a, a]}}")),
    (C, _system("consentLevels: {none: {recordReason: 'true'}}")),
    (C, _system("consentLevels: {none: null}")),
    (C, _system("userPreferences: {rememberDuration: 2days}")),
    (T, "tool: {}"),
    (T, _tool("displayName: ''")),
    (T, _tool("riskLevl: low")),
    (T, _tool("consentLevel: maximal")),
    (T, _tool("entrypoint: {}")),
    (T, _tool("entrypoint: {command: 'a*'}")),
    (T, _tool("sandboxRequirements: {limitCPU: 0}")),
    (T, _tool("sandboxRequirements: {limitCPU: 0s}")),
    (T, _tool("sandboxRequirements: {limitCPU: 1.5min}")),
    (T, _tool("sandboxRequirements: {limitMemory: 512}")),
    (T, _tool("sandboxRequirements: {limitMemory: 1.5G}")),
    (T, _tool("sandboxRequirements: {profile: 'a:b'}")),
    (T, _tool("auditConfig: {logLevel: all}")),
    (T, _tool("auditConfig: {retainLogs: forever}")),
    (T, _tool("consentLevel: none", "{fileRead: [a]}")),
    (T, _tool("consentLevel: none", "{fileRead: [{pattern: a}]}")),
    (T, _tool("consentLevel: none", "{fileRead: [{pattern: a, purpose: ''}]}")),
    (T, _tool("consentLevel: none", "{networkAccess: no}")),
    (T, _tool("consentLevel: none", "{processExecution: [{command: a, arguments: [1], purpose: p}]}")),
    (T, _tool("consentLevel: none", "{environmentVariables: {read: ['AWS_*']}}")),
    (S, "{}"),
    (S, "sandboxConfig: {engine: none}"),
    (S, "sandboxConfig: {fallbackEngine: auto}"),
    (S, "sandboxConfig: {profiles: {'a:b': {}}}"),
    (S, _profile("capabilities: [{cap_sys_admin: true}]")),
    (S, _profile("capabilities: [{cap_everything: false}]")),
    (S, _profile("capabilities: [{}]")),
    (S, _profile("filesystem: {readOnly: [notes]}")),
    (S, _profile("filesystem: {readOnly: [~/x]}")),
    (S, _profile("network: {}")),
    (S, _profile("network: {enabled: true, secrets: [password]}")),
    (S, _profile("network: {enabled: true, secretCA: ca.pem}")),
    (S, _profile("resources: {maxProcesses: 0}")),
    (S, _profile("timeout: 60")),
    (S, _profile("view: open")),
    (I, "{}"),
    (I, "tools: {}"),
    (I, "tools: [{}]"),
    (I, "tools: [{name: a, file: /etc/x.yaml}]"),
    (I, "tools: [{name: a, file: ../x.yaml}]"),
    (I, "tools: [{name: a, file: b/../x.yaml}]"),
    (I, "tools: [{name: a, file: x.txt}]"),
    (I, "tools: [{name: a, requiresConsent: 1}]"),
    (P, "entries: []"),
    (P, 'policyVersion: "2"\nentries: []'),
    (P, "policyVersion: 1\nentries: []"),
    (P, _entry(version="'*'")),
    (P, _entry(digest="sha256:ab")),
    (P, _entry("machines: []")),
    (P, _entry("machines: [here]")),
    (P, _entry("expires: tomorrow")),
    (P, _entry("commit: never")),
    (O, "[]"),
    (O, "approvals: {passphrase: secret}"),
    (O, "approvals: {deadlines: {prompt: 900}}"),
    (O, "approvals: {deadlines: {prompt: never}}"),
]  # fmt: skip

ONLY_THE_READER = [
    (C, _system("consentLevels: {none: {allowedTools: [a]}, strict: {allowedTools: [a]}}")),
    (T, _tool("consentLevel: none", "{fileRead: [{pattern: a, purpose: p}, {pattern: ./a, purpose: q}]}")),
    (T, _tool("consentLevel: none", "{fileRead: [{pattern: /etc/shadow, purpose: p}]}")),
    (T, _tool("consentLevel: none", "{networkAccess: ['127.1']}")),
    (S, "sandboxConfig: {engine: docker, fallbackEngine: docker}"),
    (S, _profile("filesystem: {readOnly: [/opt/x], noAccess: ['*', /opt/y]}")),
    (S, _profile("network: {enabled: false, allow: [a.example]}")),
    (I, "tools: [{name: a}, {name: a}]"),
    (P, _entry("expires: 2027-13-45T00:00:00Z")),
    (O, "approvals: {deadlines: {prompt: 99999999999999999d}}"),
]  # fmt: skip

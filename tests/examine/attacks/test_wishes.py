"""GUARD §decide-implicit: a wish that allows one target does not allow another that looks like it.

The wish allows the host `good.example:443`, the program `git`, the variable `HOME` and the folder
`data`, and nothing else.
"""

import json

import pytest

from consentry.declare.patchbundle import Blob
from consentry.declare.wishfile import read_wish
from consentry.examine.verdict import Status
from consentry.service.guarding import Terms
from tests.examine.attacks.reader import Attack, failures, judged

ALLOWED = {
    "fs_read_roots": ["data"],
    "fs_write_roots": ["data"],
    "net_access": "ALLOWLIST",
    "proc_exec": "ALLOWLIST",
    "env_read": "ALLOWLIST",
    "dynamic_code_load": "NONE",
    "tool_classes": ["python", "filesystem", "web", "shell"],
    "allowlists": {"net_access": ["good.example:443"], "proc_exec": ["git"], "env_read": ["HOME"]},
}
FETCH = "import requests\nrequests.get({})"
RUN = "import subprocess\nsubprocess.run({})"
OPEN = "open({})"

ALIKE = [
    (FETCH, "'https://good.example@evil.example/'"),
    (FETCH, "'https://good.example:443@evil.example/'"),
    (FETCH, "'https://good.example.evil.example/'"),
    (FETCH, "'https://good.example%2eevil.example/'"),
    (FETCH, "'https://good.example%00.evil.example/'"),
    (FETCH, "'https://evil.example#@good.example/'"),
    (FETCH, "'https://evil.example?@good.example/'"),
    (FETCH, "'https://evil.example/@good.example/'"),
    (FETCH, "'https://[good.example]/'"),
    (FETCH, "'https:good.example'"),
    (FETCH, "'https:/good.example'"),
    (FETCH, "' https://good.example/'"),
    (FETCH, r"'https://good.example\t.evil.example/'"),
    (FETCH, "'https://good.example :80@evil.example'"),
    (FETCH, r"'https://good.exam\u200bple/'"),
    (FETCH, r"'https://g\u043eod.example/'"),
    (FETCH, r"'https://good\u3002example/'"),
    (FETCH, r"'https://\uff47ood.example/'"),
    (FETCH, "'http://good.example/'"),
    (FETCH, "'https://good.example:8443/'"),
    (FETCH, "'https://sub.good.example/'"),
    (FETCH, "'https://good.example' + x"),
    (FETCH, "url='https://evil.example/'"),
    (FETCH, "*['https://evil.example/']"),
    (FETCH, "**{'url': 'https://evil.example/'}"),
    (RUN, "['./git']"),
    (RUN, "['/tmp/git']"),
    (RUN, "['/usr/bin/git']"),
    (RUN, "['Git']"),
    (RUN, "['git;sh']"),
    (RUN, r"['git\n']"),
    (RUN, r"['git\x00sh']"),
    (RUN, "['git/../sh']"),
    (RUN, "['sh', 'git']"),
    (RUN, "'git log; sh'"),
    (RUN, r"'git log\nsh'"),
    (RUN, "'git log & sh'"),
    (RUN, "'git log|sh'"),
    (RUN, "'git log `sh`'"),
    (RUN, "'git log $(sh)'"),
    (RUN, "'env -S sh git'"),
    (RUN, r"'git\\ x/y'"),
    (RUN, "'gi?'"),
    (RUN, "'[g]it'"),
    (RUN, "'~/git'"),
    (RUN, "['git'], executable='sh'"),
    (RUN, "'git', executable='./sh'"),
    (RUN, "['git log; sh'], shell=True"),
    (RUN, "args=['sh']"),
    (RUN, "*[['sh']]"),
    (RUN, "**{'args': ['sh']}"),
    (OPEN, "'data/../src/x'"),
    (OPEN, "'data/../../x'"),
    (OPEN, "'DATA/x'"),
    (OPEN, "'/data/x'"),
    (OPEN, r"'data\x00/../../x'"),
    (OPEN, "'~/data/x'"),
    (OPEN, "'~root/x'"),
    (OPEN, "'file:///etc/passwd'"),
    (OPEN, "'datas/x'"),
    (OPEN, "x"),
    (OPEN, "'%s' % x"),
    ("import glob\nglob.glob({})", "'data/**/../../src/*', recursive=True"),
    ("import glob\nglob.glob({})", "'data/*/../../src/*'"),
    ("import os\nos.rename({})", "'data/a', 'src/b'"),
    ("import os\nos.getenv({})", "'home'"),
    ("import os\nos.getenv({})", "'HOME', os.getenv('TOKEN')"),
    ("import os\nos.environ.get({})", "key='TOKEN'"),
]
"""A call, and the arguments that are like allowed ones."""

NAMED = [
    ("open('/etc/passwd')", ["/etc"]),
    ("open('/etc/passwd')", ["/etc/"]),
    ("open('/etc/passwd')", ["/**"]),
    ("open('/etc/passwd')", ["./"]),
    ("open('/opt/x')", ["ABSOLUTE_PATH"]),
    ("open('/opt/x')", ["./ABSOLUTE_PATH"]),
    ("open('../x')", ["./"]),
    ("open('~/.ssh/id')", ["~/"]),
]
"""Code, and the roots of a wish that do not name its path."""


def terms(**more: object) -> Terms:
    """The wish above, or another."""
    document = {
        "wish_ir_version": "1",
        "id": "wish-attacked",
        "scope": ["fetch and keep"],
        "non_goals": ["anything else"],
        "allowed_capabilities": {**ALLOWED, **more},
    }
    return Terms(wish=read_wish(json.dumps(document).encode(), "wish.json"))


def attack(source: str) -> Attack:
    """A new file with that source."""
    return Attack("app.py", after={"app.py": Blob(f"{source}\n".encode(), "100644")})


@pytest.mark.parametrize(("call", "given"), ALIKE)
def test_what_looks_like_an_allowed_target(call: str, given: str) -> None:
    """Another spelling of a host, a program or a path is another one, unless it is the same for sure."""
    verdict = judged(attack(call.format(given)), terms())
    assert not failures(verdict)
    assert verdict.status is not Status.PASS


@pytest.mark.parametrize(
    ("call", "given"),
    [
        (FETCH, "'https://good.example/x'"),
        (FETCH, "'HTTPS://GOOD.EXAMPLE./'"),
        (RUN, "['git', 'log']"),
        (OPEN, "'./data//x'"),
        ("import os\nos.getenv({})", "'HOME'"),
    ],
)
def test_what_is_allowed_passes(call: str, given: str) -> None:
    """The wish does allow what it names, or the rest would prove nothing."""
    assert judged(attack(call.format(given)), terms()).status is Status.PASS


@pytest.mark.parametrize(("source", "roots"), NAMED)
def test_no_root_stands_for_a_path_outside(source: str, roots: list[str]) -> None:
    """GUARD §extract-absolute, §extract-protected: only that very path allows itself."""
    assert judged(attack(source), terms(fs_read_roots=roots)).status is Status.BLOCKED

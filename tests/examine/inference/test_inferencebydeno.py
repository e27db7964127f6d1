"""Inference held against Deno: what is inferred surely is enough for it, and less is not.

Deno is the judge, with the flags of the set. Samples that write the host's `/tmp` are left out, and so
is every name of the network: a proxy that refuses stands before it, which Deno asks after its flags.
"""

import subprocess
from pathlib import Path

import pytest

from consentry.examine.inference import Language, infer_permissions
from consentry.surface.permission_sets import PermissionSet, definition
from tests.denos import deno_or_skip
from tests.examine.inference.inferencesamples import SCRIPT, TYPED, Band

ARGUMENTS = (
    "const url = 'https://c.example', path = 'README.md', f = path, name = 'a', text = '{}',"
    " items = [], names = [], user = { name: 'a' };"
)
SURE = (Band.NO_IO, Band.ONE, Band.SEVERAL, Band.MIXED, Band.COMPUTED_PATH)
CODES = [
    sample.code
    for sample in (*SCRIPT, *TYPED)
    if sample.band in SURE
    and not any(word in sample.code for word in ("/tmp", "Temp", "import ", "WebSocket"))
]
REFUSED = "NotCapable"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """What the samples read and write."""
    for name in ("data", "output"):
        (tmp_path / name).mkdir()
    for name in ("data/a.csv", "data/a", "data/b", "data/url", "README.md"):
        (tmp_path / name).write_text("a")
    return tmp_path


def said(code: str, permission_set: PermissionSet, workspace: Path) -> str:
    """What Deno says to the code under the flags of the set."""
    script = workspace / "script.ts"
    script.write_text(f"{ARGUMENTS}\n(async () => {{\n{code}\n}})();\n")
    gone = "http://127.0.0.1:9"
    run = subprocess.run(
        [deno_or_skip(), "run", *definition(permission_set).deno_flags, script.name],
        cwd=workspace,
        env={"HTTP_PROXY": gone, "HTTPS_PROXY": gone, "NO_COLOR": "1", "HOME": str(workspace)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    return run.stderr


@pytest.mark.parametrize("code", CODES)
def test_deno_refuses_nothing_in_the_set_and_something_in_minimal(
    code: str, workspace: Path
) -> None:
    """The inferred set opens what the code does; where it is more than `minimal`, that is too little."""
    inferred = infer_permissions(code, Language.TYPESCRIPT).permission_set
    assert REFUSED not in said(code, inferred, workspace)
    is_more = inferred is not PermissionSet.MINIMAL
    assert (REFUSED in said(code, PermissionSet.MINIMAL, workspace)) == is_more


def test_most_samples_are_judged() -> None:
    """So that leaving out some does not leave out all."""
    assert len(CODES) >= 15

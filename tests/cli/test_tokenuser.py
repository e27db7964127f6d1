"""Tokens in the hands of an ordinary user: minted, used in the box, refused beyond their budget (TRUST §token-3)."""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import CommandLine
from tests.service.tokening import MANIFEST

pytestmark = pytest.mark.timeout(120)

PROGRAM = """
import json, sys
from pathlib import Path
import consentry
from consentry.base.errors import ConsentryError
from consentry.decide.identity import Identity, Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Channel, Outcome

class Owner:
    def ask(self, request, look):
        who = Identity("local:65534:owner@host")
        return Answer(Outcome.APPROVED, who, Role.OWNER, Channel.TERMINAL, lasts=Lasts.SESSION)
    def tell(self, request):
        pass

project = Path.cwd()
manager = consentry.ConsentManager(str(project), asker=Owner())
agreed = manager.request_consent("steward", {})
bundle = consentry.mint(
    consentry.CapabilityBundle,
    files={"read": ["./"], "write": ["notes/"]},
    git={"operations": ["init", "add", "commit", "log"]},
    npm={"packages": ["./vendor/local"]},
    budget={"npm_install": 1, "fs_write": 2},
    consent=agreed.consent_id, tool="steward", workflow="work", workspace=project,
)
told = {}
files = consentry.files(bundle)
files.make_folder("notes")
files.create("notes/a.md", b"one")
for words in (["init", "-q"], ["add", "notes"], ["commit", "-q", "-m", "Begin"]):
    done = consentry.git_local(bundle, words[0], words[1:], identity=("Steward", "s@example.org"))
    told[words[0]] = done.status
if "npm" in sys.argv:
    told["npm"] = consentry.npm_install(bundle, packages=["./vendor/local"]).status
for name, call in {
    "third write": lambda: files.create("notes/b.md", b"two"),
    "other place": lambda: files.create("elsewhere.md", b"two"),
    "push": lambda: consentry.git_local(bundle, "push"),
    "forged": lambda: consentry.files(bundle.files.model_copy(update={"write": ("./",)})).create("x", b""),
}.items():
    try:
        call()
        told[name] = "done"
    except ConsentryError as problem:
        told[name] = problem.code.value
manager.close()
print(json.dumps(told))
"""


def _as_user(line: CommandLine, *words: str) -> dict[str, Any]:
    file = Path(line.environ["HOME"]) / ".config/consentry/tools/steward.yaml"
    file.parent.mkdir(parents=True, mode=0o700)
    file.write_text(MANIFEST)
    for each in (file, *file.parents[:3]):
        shutil.chown(each, 65534, 65534)
    program = [word for word in line.program if word not in ("-m", "consentry")]
    interpreter = (
        program if program[0].endswith("python3") else [f"{Path(program[0]).parent}/python"]
    )
    done = subprocess.run(
        [*interpreter, "-c", PROGRAM, *words],
        cwd=line.cwd,
        env=line.environ,
        capture_output=True,
        text=True,
        check=False,
        **line.options,
    )
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


def test_an_ordinary_user_works_with_tokens(as_nobody: CommandLine) -> None:
    """Files and git work without root; what goes beyond the token does nothing."""
    shutil.rmtree(as_nobody.cwd / ".git")
    told = _as_user(as_nobody)
    assert [told[word] for word in ("init", "add", "commit")] == ["success"] * 3
    assert told["third write"] == "budget-exhausted"
    assert told["other place"] == told["push"] == told["forged"] == "token-refused"
    assert (as_nobody.cwd / ".git/refs/heads").is_dir()
    assert sorted(each.name for each in as_nobody.cwd.iterdir()) == [".git", "notes"]
    assert [each.name for each in (as_nobody.cwd / "notes").iterdir()] == ["a.md"]


@pytest.mark.skipif(
    shutil.which("npm", path="/usr/bin:/bin") is None, reason="npm is not installed"
)
def test_an_ordinary_user_installs_with_a_token(as_nobody: CommandLine) -> None:
    """An install runs in the box of an ordinary user, and leaves what an install leaves."""
    shutil.rmtree(as_nobody.cwd / ".git")
    vendor = as_nobody.cwd / "vendor/local"
    vendor.mkdir(parents=True)
    (vendor / "package.json").write_text('{"name": "local", "version": "1.0.0"}')
    (as_nobody.cwd / "package.json").write_text('{"name": "app", "version": "1.0.0"}')
    shutil.chown(as_nobody.cwd / "package.json", 65534, 65534)
    told = _as_user(as_nobody, "npm")
    assert told["npm"] == "success"
    assert (as_nobody.cwd / "node_modules/local/package.json").is_file()

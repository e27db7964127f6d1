"""The gates that come with the project: the pre-commit hook, and the script of the GitHub Action."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.cli.conftest import CommandLine
from tests.service.patches import wish_of
from tests.service.repositories import Repo

REPOSITORY = Path(__file__).resolve().parents[2]
PLAIN = "def double(number):\n    return number * 2\n"
REACHES_OUT = f"import requests\n\n\n{PLAIN}"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder that is made a repository by the next fixture."""
    return tmp_path / "project"


@pytest.fixture
def repo(project: Path) -> Repo:
    """A repository with a module and a wish that allows the network."""
    repo = Repo(project)
    wish = wish_of(net_access="ANY", tool_classes=["python", "web"])
    repo.commit({"app.py": PLAIN, "wish.json": json.dumps(wish)})
    return repo


def test_the_hook_asks_about_what_is_staged(consentry: CommandLine, repo: Repo) -> None:
    """GUARD §in-patch: as pre-commit runs it, without file names, for every commit."""
    hooks = yaml.safe_load((REPOSITORY / ".pre-commit-hooks.yaml").read_text())
    [hook] = [each for each in hooks if each["id"] == "consentry-guard"]
    assert (hook["id"], hook["pass_filenames"], hook["always_run"]) == (
        "consentry-guard",
        False,
        True,
    )
    program, *words = hook["entry"].split()
    assert program == "consentry"
    repo.write({"app.py": REACHES_OUT})
    assert consentry(*words).status == 0
    repo.git("add", "-A")
    assert consentry(*words).status == 1
    assert consentry(*words, "--wish", "wish.json").status == 0


class Action:
    """The script of the action, run as a runner does."""

    def __init__(self, repo: Repo, folder: Path) -> None:
        self.document: dict[str, Any] = yaml.safe_load((REPOSITORY / "action.yml").read_text())
        self.repo = repo
        self.temp = folder / "runner"
        python = self.temp / "consentry-guard/bin/python"
        python.parent.mkdir(parents=True)
        python.write_text(f'#!/bin/sh\nexec {sys.executable} "$@"\n')
        python.chmod(0o755)
        self.outputs = folder / "outputs"

    def __call__(self, **inputs: str) -> tuple[int, dict[str, str]]:
        """Its exit status and its outputs."""
        step = self.document["runs"]["steps"][-1]
        given = {name: str(each["default"]) for name, each in self.document["inputs"].items()}
        given |= {"base": "HEAD~1", "head": "HEAD", **inputs}
        self.outputs.write_text("")
        environ = {
            "PATH": "/usr/bin:/bin",
            "RUNNER_TEMP": str(self.temp),
            "GITHUB_OUTPUT": str(self.outputs),
            **{name.upper(): value for name, value in given.items()},
        }
        assert {f"${{{{ inputs.{name} }}}}" for name in given} == set(step["env"].values())
        done = subprocess.run(
            ["/bin/bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.repo.path,
            env=environ,
            capture_output=True,
            check=False,
        )
        lines = self.outputs.read_text().splitlines()
        return done.returncode, dict(line.split("=", 1) for line in lines)


@pytest.fixture
def action(repo: Repo, tmp_path: Path) -> Action:
    """The action, with a change that reaches the network."""
    repo.commit({"app.py": REACHES_OUT})
    return Action(repo, tmp_path)


def test_the_action_fails_unless_it_passes_and_leaves_its_files(action: Action) -> None:
    """GUARD §out: verdict and SARIF lie where the outputs say, whatever the answer."""
    for inputs, status, answer in (
        ({}, 1, "BLOCKED"),
        ({"strict": "false"}, 2, "UNKNOWN"),
        ({"wish": "wish.json"}, 0, "PASS"),
        ({"wish": "wish.json", "offline": "true"}, 1, "BLOCKED"),
    ):
        ended, outputs = action(**inputs)
        assert (ended, outputs["status"]) == (status, answer)
        assert json.loads(Path(outputs["verdict"]).read_text())["status"] == answer
        log = json.loads(Path(outputs["sarif"]).read_text())
        assert log["runs"][0]["properties"]["status"] == answer


def test_the_action_fails_where_nothing_can_be_judged(action: Action) -> None:
    """An unknown base, a malformed wish: no outputs, and no success."""
    assert action(base="nowhere") == (2, {})
    (action.repo.path / "bad.json").write_text("{")
    assert action(wish="bad.json") == (3, {})


def test_names_are_data_to_the_action(action: Action, tmp_path: Path) -> None:
    """No expression stands in a script, and a name with a command in it is a name."""
    for step in action.document["runs"]["steps"]:
        assert "${{" not in step["run"]
    mark = tmp_path / "mark"
    ended, _ = action(head=f"$(touch {mark})", wish=f"`touch {mark}`;touch {mark}")
    assert ended == 2
    assert not mark.exists()

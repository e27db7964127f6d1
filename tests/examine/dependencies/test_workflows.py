"""Workflows, pipelines and hooks (GUARD §extract-1)."""

import pytest

from tests.examine.dependencies.reading import read

PATH = ".github/workflows/ci.yml"


def workflow(step: str) -> str:
    """A workflow with one step, whose lines are indented as a step's."""
    indented = step.replace("\n", "\n        ")
    return f"on: push\njobs:\n  t:\n    runs-on: ubuntu-latest\n    steps:\n      - {indented}\n"


def test_scripts_with_their_lines() -> None:
    """GUARD §extract-proc: a block of lines, at the lines of the file."""
    found = read(PATH, workflow("run: |\n  true\n  fetch-it now"))
    assert found.lines_of("start", "fetch-it") == {8}


@pytest.mark.parametrize(
    ("shell", "script"),
    [
        ("python", "import os; os.system('fetch-it')"),
        ("bash -e {0}", "fetch-it"),
        ("sh", "fetch-it"),
    ],
)
def test_shells_that_are_read(shell: str, script: str) -> None:
    """The program that reads the script says which extractor does."""
    assert "fetch-it" in read(PATH, workflow(f"shell: {shell}\nrun: {script}")).programs


@pytest.mark.parametrize("shell", ["pwsh", "cmd", "perl {0}"])
def test_shells_that_are_not_read(shell: str) -> None:
    """Any other language is unclassified."""
    assert read(PATH, workflow(f"shell: {shell}\nrun: fetch-it")).is_unreadable


def test_windows_has_another_shell() -> None:
    """Without a word about the shell, the system decides."""
    text = workflow("run: fetch-it").replace("ubuntu-latest", "windows-latest")
    assert read(PATH, text).is_unreadable


def test_actions_are_dependencies() -> None:
    """Well-known ones are known, others are not; one of the tree is read where it lies."""
    assert "git" in read(PATH, workflow("uses: actions/checkout@v4")).programs
    found = read(PATH, workflow("uses: Evil/Action/sub@main"))
    assert found.unknown == {"dependency action:evil/action"}
    assert read(PATH, workflow("uses: ./.github/actions/x")).unknown == set()
    assert read(PATH, workflow("uses: docker://a/b:1")).unknown == {"dependency image:a/b"}


def test_another_version_of_an_action_is_no_new_power() -> None:
    """A tag or a commit behind `@` is not compared."""
    one, two = (read(PATH, workflow(f"uses: a/b@{ref}")) for ref in ("v1", "0a1b2c"))
    assert one.unknown == two.unknown


@pytest.mark.parametrize(
    ("expression", "variable"),
    [
        ("secrets.TOKEN", "TOKEN"),
        ("secrets['TOKEN']", "TOKEN"),
        ("env.LEVEL || 'x'", "LEVEL"),
        ("vars.WHERE", "WHERE"),
        ("github.token", "GITHUB_TOKEN"),
        ("toJSON(secrets)", "*"),
        ("secrets[matrix.name]", "*"),
    ],
)
def test_expressions_see_variables(expression: str, variable: str) -> None:
    """A secret that is filled in is seen, one that is computed is any of them."""
    step = "uses: actions/checkout@v4\nwith:\n  x: ${{ " + expression + " }}"
    assert read(PATH, workflow(step)).variables == {variable}


def test_text_in_an_expression_sees_nothing() -> None:
    """The word in quotes is a text."""
    assert read(PATH, workflow("run: echo ${{ 'secrets.TOKEN' }}")).variables == set()


def test_a_condition_is_an_expression() -> None:
    """Also without its brackets."""
    assert read(PATH, workflow("if: env.DEPLOY == '1'\nrun: 'true'")).variables == {"DEPLOY"}


@pytest.mark.parametrize("value", ["github.event.issue.title", "github.head_ref"])
def test_a_strangers_text_in_a_script_is_code(value: str) -> None:
    """GUARD §extract-dynamic: what strangers write is run."""
    found = read(PATH, workflow("run: echo ${{ " + value + " }}"))
    assert ("load", "ANY") in found.powers
    assert ("load", "ANY") not in read(PATH, workflow("run: echo ${{ github.sha }}")).powers


def test_a_program_from_an_expression_is_any() -> None:
    """GUARD §extract-allowlist: a word that is computed."""
    assert "*" in read(PATH, workflow("run: ${{ matrix.tool }} --go")).programs


def test_workflows_and_containers_of_others() -> None:
    """A workflow that is called, secrets that it gets, images of a job."""
    text = (
        "jobs:\n  a:\n    uses: o/r/.github/workflows/w.yml@v1\n    secrets: inherit\n"
        "  b:\n    container: {image: 'a/b:1', volumes: ['/srv:/srv']}\n"
        "    services: {db: {image: postgres}}\n    steps: []\n"
    )
    found = read(PATH, text)
    assert found.unknown == {"dependency action:o/r", "dependency image:a/b"}
    assert found.variables == {"*"}
    assert ("write", "/srv") in found.powers


def test_actions_of_the_tree() -> None:
    """Steps of a composite action, and the image of another."""
    text = "runs:\n  using: composite\n  steps:\n    - run: fetch-it\n      shell: bash\n"
    assert "fetch-it" in read("act/action.yml", text).programs
    image = "runs:\n  using: docker\n  image: docker://a/b:1\n"
    assert read("action.yaml", image).unknown == {"dependency image:a/b"}


def test_gitlab() -> None:
    """Scripts at any depth, images, and what is included."""
    text = (
        "include:\n  - remote: https://x.example/a.yml\n  - project: g/p\n  - local: /b.yml\n"
        "default: {before_script: [one-it]}\nimage: python:3.12\n"
        ".hidden: &h\n  script: [two-it]\njob:\n  <<: *h\n  services: [a/b:1]\n"
        "  after_script:\n    - !reference [.hidden, script]\n    - three-it\n"
    )
    found = read(".gitlab-ci.yml", text)
    assert {"one-it", "two-it", "three-it"} <= found.programs
    assert "x.example:443" in found.hosts
    assert found.unknown == {
        "dependency https://x.example/a.yml",
        "dependency g/p",
        "dependency image:a/b",
    }


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (".circleci/config.yml", "jobs: {b: {steps: [{run: {command: fetch-it}}]}}"),
        (".circleci/config.yml", "jobs: {b: {steps: [{run: fetch-it now}]}}"),
        (".travis.yml", "script:\n  - fetch-it"),
        ("azure-pipelines.yml", "steps: [{script: fetch-it now}]"),
        ("bitbucket-pipelines.yml", "pipelines: {default: [{step: {script: [fetch-it]}}]}"),
        (".readthedocs.yaml", "build: {os: x, jobs: {post_install: [fetch-it]}}"),
        ("lefthook.yml", "pre-commit: {commands: {a: {run: fetch-it}}}"),
        ("Taskfile.yml", "tasks: {a: {cmds: [fetch-it]}}"),
        ("netlify.toml", '[build]\ncommand = "fetch-it"\n'),
        ("vercel.json", '{"buildCommand": "fetch-it"}'),
        ("deno.json", '{"tasks": {"a": "fetch-it now"}}'),
        ("k8s/pod.yaml", "apiVersion: v1\nkind: Pod\nspec: {containers: [{command: [fetch-it]}]}"),
    ],
)
def test_other_automation(path: str, text: str) -> None:
    """GUARD §extract-proc: read by the names of keys."""
    assert "fetch-it" in read(path, text + "\n").programs


def test_pre_commit() -> None:
    """Hooks of others reach their host and are not known; local ones are command lines."""
    text = (
        "repos:\n- repo: https://g.example/hooks\n  rev: v1\n  hooks:\n"
        "  - {id: a, additional_dependencies: [requests, 'nope@1.0']}\n"
        "- repo: local\n  hooks:\n  - {id: b, entry: fetch-it now, language: system}\n"
        "  - {id: c, entry: 'TODO|eval', language: pygrep}\n"
    )
    found = read(".pre-commit-config.yaml", text)
    assert found.hosts >= {"g.example:443", ""}
    assert "fetch-it" in found.programs
    assert "TODO" not in found.programs
    assert found.unknown == {
        "dependency pre-commit:https://g.example/hooks",
        "dependency npm:nope",
    }


def test_submodules() -> None:
    """Another tree from an address, and the command that an update may run."""
    text = '[submodule "x"]\n\tpath = x\n\turl = https://g.example/x.git\n\tupdate = !fetch-it\n'
    found = read(".gitmodules", text)
    assert "g.example:443" in found.hosts
    assert found.unknown == {"submodule https://g.example/x.git"}
    assert "fetch-it" in found.programs

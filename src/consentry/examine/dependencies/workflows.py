"""GitHub workflows and actions: scripts, steps that others wrote, images, secrets, variables.

Steps of the same tree are read where they lie. Which rights the token of a run has is no power of
the code and is left out; the steps that would use it count.
"""

import re
from typing import Final

from consentry.declare.nodes import Mapping, Node, Scalar
from consentry.examine.atoms import ANYTHING, seeing
from consentry.examine.dependencies.codeparts import add_javascript, add_python, add_script
from consentry.examine.dependencies.compose import add_container
from consentry.examine.dependencies.expressions import (
    add_expression,
    add_expressions,
    script_of,
)
from consentry.examine.dependencies.findings import Findings, language_key, reader
from consentry.examine.dependencies.nodewalk import (
    ANY_ONE,
    all_nodes,
    broken_in,
    scalars_in,
    text_at,
    values_at,
)
from consentry.examine.dependencies.packages import add_action, add_image, shown
from consentry.examine.dependencies.yamltext import yaml_document

_SHELLS: Final = re.compile(r"(?:\S*/)?(?:ba|da|z|k|a)?sh(?:\.exe)?")
_PYTHON: Final = re.compile(r"(?:\S*/)?python[\d.]*")
_NODE: Final = re.compile(r"(?:\S*/)?node")
_SCRIPT_ACTION: Final = "actions/github-script"


@reader
def extract_workflow(text: str, findings: Findings) -> None:
    """Reads `.github/workflows/*.yml` and `action.yml`."""
    root = yaml_document(text)
    for broken in broken_in(root):
        findings.unknown(f"document {broken.message}", broken.mark.line, broken.message)
    for node in all_nodes(root):
        if isinstance(node, Scalar):
            add_expressions(node.text, node.mark.line, findings)
    _add_conditions(root, findings)
    default = text_at(root, "defaults", "run", "shell")
    for job in values_at(root, "jobs", ANY_ONE):
        _add_job(job, default, findings)
    for step in values_at(root, "runs", "steps", ANY_ONE):
        _add_step(step, None, findings)
    for image in values_at(root, "runs", "image"):
        if isinstance(image, Scalar) and image.text.startswith("docker://"):
            add_image(image.text, image.mark.line, findings)


def _add_conditions(root: Node, findings: Findings) -> None:
    """What stands behind `if` is an expression also without its brackets."""
    for job in (*values_at(root, "jobs", ANY_ONE), *values_at(root, "runs")):
        for condition in (*values_at(job, "if"), *values_at(job, "steps", ANY_ONE, "if")):
            if isinstance(condition, Scalar):
                add_expression(condition.text, condition.mark.line, findings)


def _add_job(job: Node, default: str | None, findings: Findings) -> None:
    default = text_at(job, "defaults", "run", "shell") or default
    systems = " ".join(
        scalar.text for node in values_at(job, "runs-on") for scalar in scalars_in(node)
    )
    if default is None and "windows" in systems.lower():
        default = "pwsh"
    for uses in values_at(job, "uses"):
        if isinstance(uses, Scalar):
            add_action(uses.text, uses.mark.line, findings)
    for secrets in values_at(job, "secrets"):
        if isinstance(secrets, Scalar) and secrets.text == "inherit":
            findings.power(seeing(ANYTHING), secrets.mark.line, "secrets: inherit")
    for container in (*values_at(job, "container"), *values_at(job, "services", ANY_ONE)):
        if isinstance(container, Scalar):
            add_image(container.text, container.mark.line, findings)
        elif isinstance(container, Mapping):
            add_container(container, findings)
    for step in values_at(job, "steps", ANY_ONE):
        _add_step(step, default, findings)


def _add_step(step: Node, default: str | None, findings: Findings) -> None:
    for uses in values_at(step, "uses"):
        if isinstance(uses, Scalar):
            add_action(uses.text, uses.mark.line, findings)
            if uses.text.lower().startswith(_SCRIPT_ACTION):
                for script in values_at(step, "with", "script"):
                    if isinstance(script, Scalar):
                        code = script_of(script.text, script.mark.line, findings)
                        add_javascript(code.replace("${1}", "computed"), script.mark.line, findings)
    shell = text_at(step, "shell") or default or "bash"
    for run in values_at(step, "run"):
        if isinstance(run, Scalar):
            _add_run(run, shell, findings)


def _add_run(run: Scalar, shell: str, findings: Findings) -> None:
    script = script_of(run.text, run.mark.line, findings)
    program = shell.split(maxsplit=1)[0] if shell.split() else "bash"
    if _SHELLS.fullmatch(program):
        add_script(script, run.mark.line, findings)
    elif _PYTHON.fullmatch(program):
        add_python(script.replace("${1}", "computed"), run.mark.line, findings)
    elif _NODE.fullmatch(program):
        add_javascript(script.replace("${1}", "computed"), run.mark.line, findings)
    else:
        key = language_key(run.text.encode())
        findings.unknown(key, run.mark.line, f"this is a script for {shown(program)}")

"""What editors start: `.vscode/tasks.json`, `launch.json`, and containers to work in."""

from consentry.declare.nodes import Node, Scalar
from consentry.examine.atoms import ANYTHING, starting
from consentry.examine.constanttargets import program_atom
from consentry.examine.dependencies.codeparts import add_script, add_words
from consentry.examine.dependencies.compose import add_mount
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.jsontext import json_document
from consentry.examine.dependencies.keyed import add_document, without_editor_words
from consentry.examine.dependencies.nodewalk import (
    all_nodes,
    entries_of,
    scalars_in,
    text_at,
    values_at,
)
from consentry.examine.dependencies.packages import add_unknown, shown


@reader
def extract_tasks(text: str, findings: Findings) -> None:
    """Reads `tasks.json` and `launch.json`."""
    root = json_document(text, relaxed=True)
    add_document("tasks", root, findings)
    for node in all_nodes(root):
        for command in values_at(node, "command"):
            _add_task(node, command, findings)
        for key in ("program", "runtimeExecutable", "python", "miDebuggerPath"):
            for program in values_at(node, key):
                if isinstance(program, Scalar):
                    words = without_editor_words(program.text)
                    reason = f"{key} {shown(program.text)}"
                    findings.power(program_atom(words), program.mark.line, reason)
        for _, value, line in entries_of(node):
            if isinstance(value, Scalar) and "${env:" in value.text:
                findings.expansions(value.text, line)


def _add_task(node: Node, command: Node, findings: Findings) -> None:
    if not isinstance(command, Scalar):
        words = text_at(command, "value")
        if words is not None:
            add_script(without_editor_words(words), command.mark.line, findings)
        return
    arguments = [
        without_editor_words(each.text)
        for listed in values_at(node, "args")
        for each in scalars_in(listed)
    ]
    program = without_editor_words(command.text)
    if text_at(node, "type") == "process":
        add_words([program, *arguments], command.mark.line, findings)
    else:
        add_script(" ".join((program, *arguments)), command.mark.line, findings)


@reader
def extract_devcontainer(text: str, findings: Findings) -> None:
    """Reads `devcontainer.json`."""
    root = json_document(text, relaxed=True)
    add_document("devcontainer", root, findings)
    for features in values_at(root, "features"):
        for name, _, line in entries_of(features):
            if not name.startswith("./"):
                add_unknown(
                    f"feature:{name.partition('@')[0].rpartition(':')[0] or name}", line, findings
                )
    for key in ("mounts", "workspaceMount"):
        for node in values_at(root, key):
            for each in all_nodes(node):
                add_mount(each, findings)
    for node in (
        *values_at(root, "runArgs"),
        *values_at(root, "capAdd"),
        *values_at(root, "securityOpt"),
    ):
        for scalar in scalars_in(node):
            if scalar.text not in ("--init", "--rm"):
                findings.power(starting(ANYTHING), scalar.mark.line, shown(scalar.text))

"""Automation of many kinds without a reader of its own: services that build, deploy or watch.

What starts programs is found by the names of keys, at any depth. This finds too much rather than too
little; a kind of file whose keys say nothing is not read here and is another language.
"""

from consentry.declare.nodes import Node, Scalar
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.jsontext import json_document
from consentry.examine.dependencies.keyed import add_document
from consentry.examine.dependencies.nodewalk import all_nodes
from consentry.examine.dependencies.tomltext import toml_document


@reader
def extract_automation_yaml(text: str, findings: Findings) -> None:
    """Reads automation in YAML, of one document or several."""
    from consentry.examine.dependencies.yamltext import yaml_documents  # noqa: PLC0415 - heavy

    for root in yaml_documents(text):
        _add(root, findings)


@reader
def extract_automation_toml(text: str, findings: Findings) -> None:
    """Reads automation in TOML."""
    _add(toml_document(text), findings)


@reader
def extract_automation_json(text: str, findings: Findings) -> None:
    """Reads automation in JSON, with comments."""
    _add(json_document(text, relaxed=True), findings)


def _add(root: Node, findings: Findings) -> None:
    add_document("automation", root, findings)
    for node in all_nodes(root):
        if isinstance(node, Scalar) and "${" in node.text:
            findings.expansions(node.text, node.mark.line)

"""Environments of conda: packages by name, with those of pip in a list of their own.

A package of conda is known by the Python distribution of the same name, where there is one.
"""

import re
from typing import Final

from consentry.declare.nodes import Items, Mapping, Node, Scalar
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.keyed import add_document
from consentry.examine.dependencies.nodewalk import entries_of, scalars_in, values_at
from consentry.examine.dependencies.packages import add_pypi, add_reference, add_unknown
from consentry.examine.dependencies.requirements import add_requirement_lines
from consentry.examine.dependencies.yamltext import yaml_document

_THE_SYSTEM: Final = frozenset(("python", "pip", "setuptools", "wheel", "nomkl"))
_CHANNELS: Final = frozenset(("conda-forge", "defaults", "nodefaults", "bioconda", "pytorch"))
_NAME: Final = re.compile(r"(?:[\w./-]+::)?([A-Za-z0-9_.-]+)")


@reader
def extract_conda(text: str, findings: Findings) -> None:
    """Reads `environment.yml`."""
    root = yaml_document(text)
    add_document("conda", root, findings)
    for listed in values_at(root, "channels"):
        for scalar in scalars_in(listed):
            if "://" not in scalar.text and scalar.text not in _CHANNELS:
                add_unknown(f"conda-channel:{scalar.text}", scalar.mark.line, findings)
    for listed in values_at(root, "dependencies"):
        items = listed.items if isinstance(listed, Items) else (listed,)
        for item in items:
            if isinstance(item, Mapping):
                for _, inner, _ in entries_of(item):
                    for scalar in scalars_in(inner):
                        add_requirement_lines(scalar.text, findings, scalar.mark.line)
            else:
                _add_listed(item, findings)


def _add_listed(item: Node, findings: Findings) -> None:
    for scalar in scalars_in(item):
        _add(scalar, findings)


def _add(scalar: Scalar, findings: Findings) -> None:
    if "://" in scalar.text:
        add_reference(scalar.text, scalar.mark.line, findings)
        return
    found = _NAME.match(scalar.text.strip())
    add_conda(scalar.text if found is None else found[1], scalar.mark.line, findings)


def add_conda(name: str, line: int, findings: Findings) -> None:
    """A package of conda by name."""
    if name.lower() not in _THE_SYSTEM:
        add_pypi(name, line, findings)


def add_conda_table(node: Node, findings: Findings) -> None:
    """Packages of conda as the keys of a table."""
    for name, _, line in entries_of(node):
        add_conda(name, line, findings)

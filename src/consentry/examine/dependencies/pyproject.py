"""`pyproject.toml`: dependencies of all kinds and tools, build back ends of the tree, tasks.

Entry points and scripts only give names to code that is in the tree, and add nothing here.
"""

from typing import Final

from consentry.declare.nodes import Scalar
from consentry.examine.atoms import loading
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.initext import add_tox
from consentry.examine.dependencies.keyed import add_document
from consentry.examine.dependencies.nodewalk import scalars_in, text_at, values_at
from consentry.examine.dependencies.requirements import add_included
from consentry.examine.dependencies.requirementtext import add_requirement
from consentry.examine.dependencies.tomltext import toml_document
from consentry.surface.dimensions import LoadLevel

_LISTED: Final = (
    ("tool", "setuptools", "dynamic", "dependencies", "file"),
    ("tool", "setuptools", "dynamic", "optional-dependencies", "*", "file"),
    ("tool", "hatch", "metadata", "hooks", "requirements_txt", "files"),
    ("tool", "hatch", "metadata", "hooks", "requirements_txt", "filename"),
    ("tool", "hatch", "metadata", "hooks", "requirements_txt", "optional-dependencies", "*"),
)
"""Keys whose values are files of requirements."""


@reader
def extract_pyproject(text: str, findings: Findings) -> None:
    """Reads `pyproject.toml`."""
    root = toml_document(text)
    own_name = text_at(root, "project", "name") or ""
    # Only what is installed with the project itself can be met by the project itself.
    for keys in (("dependencies",), ("optional-dependencies", "*")):
        for node in values_at(root, "project", *keys):
            for scalar in scalars_in(node):
                add_requirement(scalar.text, scalar.mark.line, findings, own_name=own_name)
    for node in values_at(root, "tool", "hatch", "version", "source"):
        if isinstance(node, Scalar) and node.text == "code":
            findings.power(loading(LoadLevel.LIMITED), node.mark.line, "the version is code")
    for path in _LISTED:
        for node in values_at(root, *path):
            for scalar in scalars_in(node):
                add_included(scalar.text, scalar.mark.line, findings)
    for node in values_at(root, "tool", "tox", "legacy_tox_ini"):
        if isinstance(node, Scalar):
            add_tox(node.text, findings, node.mark.line)
    add_document("pyproject", root, findings)


@reader
def extract_uv_settings(text: str, findings: Findings) -> None:
    """Reads `uv.toml`."""
    add_document("uv", toml_document(text), findings)


@reader
def extract_pixi(text: str, findings: Findings) -> None:
    """Reads `pixi.toml`, whose packages of conda are read as those of an environment."""
    from consentry.examine.dependencies.conda import add_conda_table  # noqa: PLC0415 - reads YAML

    root = toml_document(text)
    add_document("pixi", root, findings)
    for keys in (("dependencies",), ("feature", "*", "dependencies")):
        for node in values_at(root, *keys):
            add_conda_table(node, findings)

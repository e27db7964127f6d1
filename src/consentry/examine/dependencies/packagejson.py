"""`package.json` and what pnpm keeps beside it: packages of all kinds, scripts, overrides.

Scripts that a package manager runs by itself and those that somebody runs are both command lines.
`bin` only gives names to code that is in the tree.
"""

from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.jsontext import json_document
from consentry.examine.dependencies.keyed import add_document


@reader
def extract_package_json(text: str, findings: Findings) -> None:
    """Reads `package.json`."""
    add_document("package-json", json_document(text), findings)


@reader
def extract_pnpm_workspace(text: str, findings: Findings) -> None:
    """Reads `pnpm-workspace.yaml`, which has the catalogs and overrides of `package.json`."""
    from consentry.examine.dependencies.yamltext import yaml_document  # noqa: PLC0415 - heavy

    add_document("package-json", yaml_document(text), findings)

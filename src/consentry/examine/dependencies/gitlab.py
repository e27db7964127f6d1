"""Pipelines of GitLab: scripts, images, and files that are included from elsewhere.

Variables that a pipeline sets for its scripts are its own; those that scripts see beyond are found
where they are used.
"""

from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.keyed import add_document
from consentry.examine.dependencies.nodewalk import scalars_in, values_at
from consentry.examine.dependencies.packages import add_reference
from consentry.examine.dependencies.yamltext import yaml_documents


@reader
def extract_gitlab(text: str, findings: Findings) -> None:
    """Reads `.gitlab-ci.yml`; a first document may hold the inputs of the second."""
    for root in yaml_documents(text):
        add_document("gitlab", root, findings)
        for included in values_at(root, "include"):
            for scalar in scalars_in(included):
                if "://" in scalar.text:
                    add_reference(scalar.text, scalar.mark.line, findings)

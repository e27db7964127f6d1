"""`.pre-commit-config.yaml` and `.pre-commit-hooks.yaml`: hooks of others, and command lines of ours.

A repository of hooks is code that somebody else writes and that runs on every commit. A local hook
is a program with words; one in the tree is read where it lies.
"""

from consentry.declare.nodes import Mapping, Node, Scalar
from consentry.examine.dependencies.codeparts import add_script
from consentry.examine.dependencies.findings import Findings, reader
from consentry.examine.dependencies.nodewalk import ANY_ONE, scalars_in, text_at, values_at
from consentry.examine.dependencies.packages import (
    add_image,
    add_npm_argument,
    add_unknown,
    shown,
)
from consentry.examine.dependencies.requirementtext import add_requirement
from consentry.examine.dependencies.yamltext import yaml_document

_OF_THE_PROGRAM = ("local", "meta", "builtin")


@reader
def extract_pre_commit(text: str, findings: Findings) -> None:
    """Reads both; the second is a list of hooks without repositories."""
    root = yaml_document(text)
    for repository in values_at(root, "repos", ANY_ONE):
        url = text_at(repository, "repo") or ""
        line = repository.mark.line
        if url not in _OF_THE_PROGRAM:
            if not url.startswith((".", "/")):
                findings.address(url, line, f"hooks of {shown(url)}")
            add_unknown(f"pre-commit:{url}", line, findings)
        for hook in values_at(repository, "hooks", ANY_ONE):
            _add_hook(hook, findings, is_local=url == "local")
    for hook in values_at(root, ANY_ONE):
        if isinstance(hook, Mapping) and text_at(hook, "entry") is not None:
            _add_hook(hook, findings, is_local=True)


def _add_hook(hook: Node, findings: Findings, *, is_local: bool) -> None:
    language = text_at(hook, "language") or ""
    for entry in values_at(hook, "entry"):
        if not isinstance(entry, Scalar):
            continue
        if language in ("pygrep", "fail"):
            continue
        if language == "docker_image":
            add_image((entry.text.split() or [""])[0], entry.mark.line, findings)
        elif is_local or text_at(hook, "entry") is not None:
            add_script(entry.text, entry.mark.line, findings)
    for node in values_at(hook, "additional_dependencies"):
        for scalar in scalars_in(node):
            _add_more(scalar, language, findings)


def _add_more(scalar: Scalar, language: str, findings: Findings) -> None:
    is_of_node = language == "node" or scalar.text.startswith("@") or _is_node_form(scalar.text)
    if is_of_node:
        add_npm_argument(scalar.text, scalar.mark.line, findings)
    else:
        add_requirement(scalar.text, scalar.mark.line, findings)


def _is_node_form(text: str) -> bool:
    """`name@1.2` is how npm writes versions; Python has ` @ ` with an address behind it."""
    name, at, version = text.partition("@")
    return bool(at) and bool(name) and version[:1].isdigit()

"""`setup.py`: the lists of requirements that it has as constants. Nothing of it is run.

All else that it does is what any Python code does, and is read as such. A list that is computed
cannot be read; then what it may hold is unclassified.
"""

import ast
import hashlib
from collections.abc import Iterator
from typing import Final

from consentry.examine.atoms import Extraction
from consentry.examine.dependencies.findings import Findings, unreadable_key
from consentry.examine.dependencies.requirementtext import add_requirement

_LISTS: Final = (
    "install_requires",
    "setup_requires",
    "tests_require",
    "extras_require",
    "requires",
)
_MOST_BYTES: Final = 1 << 20


def extract_setup_script(content: bytes) -> Extraction:
    """The requirements alone."""
    findings = Findings()
    try:
        if len(content) > _MOST_BYTES:
            raise ValueError("it is too large")
        tree = ast.parse(content)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        findings.unknown(unreadable_key(content), 1, "this cannot be read as Python")
        return findings.extraction()
    constants = _constants(tree)
    for call in _calls(tree):
        for keyword in call.keywords:
            if keyword.arg in _LISTS:
                _add_list(keyword.value, constants, findings)
    return findings.extraction()


def _calls(tree: ast.AST) -> Iterator[ast.Call]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node


def _constants(tree: ast.Module) -> dict[str, ast.expr | None]:
    """Names that are given one value in the whole file; those with several have none."""
    values: dict[str, ast.expr | None] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                values[name] = None if name in values else value
            case ast.AnnAssign(target=ast.Name(id=name), value=value):
                values[name] = None if name in values else value
            case ast.AugAssign(target=ast.Name(id=name)):
                values[name] = None
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
                # `names.append(...)`: what the list holds in the end is not known.
                if node.func.attr in ("append", "extend", "insert", "update"):  # type: ignore[attr-defined]
                    values[name] = None
    return values


def _add_list(value: ast.expr, constants: dict[str, ast.expr | None], findings: Findings) -> None:
    waiting: list[ast.expr | None] = [value]
    seen: set[str] = set()
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Constant(value=str(text)):
                for offset, part in enumerate(text.split("\n")):
                    add_requirement(part, node.lineno + offset, findings)
            case ast.Constant(value=None):
                continue
            case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
                waiting += reversed(items)
            case ast.Dict(values=values):
                waiting += reversed(values)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                waiting += (right, left)
            case ast.Starred(value=inner):
                waiting.append(inner)
            case ast.Name(id=name) if constants.get(name) is not None and name not in seen:
                seen.add(name)
                waiting.append(constants[name])
            case _:
                _add_computed(value if node is None else node, findings)


def _add_computed(node: ast.expr, findings: Findings) -> None:
    written = hashlib.sha256(_spelled(node).encode("utf-8", "replace")).hexdigest()
    findings.unknown(
        f"dependency computed sha256:{written}", node.lineno, "the requirements are computed"
    )


def _spelled(node: ast.expr) -> str:
    try:
        return ast.dump(node)
    except RecursionError:
        return "too deep"

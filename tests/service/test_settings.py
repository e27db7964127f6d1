"""The table of settings is complete and true: it is compared with the source."""

import ast
from pathlib import Path

from consentry.cli.table import COMPLETION_VARIABLE
from consentry.service.settings import SETTINGS

SOURCE = Path(__file__).parents[2] / "src/consentry"


def _names_read(path: Path) -> set[str]:
    """Names read as `environ.get("NAME", ...)`, `environ["NAME"]` or `getenv("NAME")`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            of_environ = node.func.attr == "get" and _is_environ(node.func.value)
            if of_environ or node.func.attr == "getenv":
                found |= _text(node.args[0])
        elif isinstance(node, ast.Subscript) and _is_environ(node.value):
            found |= _text(node.slice)
    return found


def _is_environ(node: ast.expr) -> bool:
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
    return name == "environ"


def _text(node: ast.expr) -> set[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return {node.value}
    return {COMPLETION_VARIABLE} if getattr(node, "id", "") == "COMPLETION_VARIABLE" else {"?"}


def test_every_variable_that_is_read_has_a_row_and_every_row_is_read() -> None:
    """No hidden setting, and no documented one that does nothing."""
    read = set().union(*(_names_read(path) for path in SOURCE.rglob("*.py")))
    # How a shell asks for completions; not for people.
    assert read - {COMPLETION_VARIABLE} == {setting.name for setting in SETTINGS}


def test_names_are_unique_and_rows_are_filled() -> None:
    """Each setting has one row that says what it does and what holds without it."""
    names = [setting.name for setting in SETTINGS]
    assert len(names) == len(set(names))
    assert all(setting.default and setting.meaning for setting in SETTINGS)

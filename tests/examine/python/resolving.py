"""What expressions resolve to, as words, with a few tables that the tests make themselves."""

import ast

from consentry.examine.knowledge.reader import Knowledge
from consentry.examine.knowledge.tables import compile_tables
from consentry.examine.python.gathered import Gathered
from consentry.examine.python.resolve import Resolver
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import (
    Const,
    ConstMethod,
    Function,
    Getter,
    Instance,
    Items,
    LocalClass,
    LocalObject,
    Method,
    Namespace,
    Partial,
    Ref,
    Table,
    Value,
    alternatives,
)
from consentry.examine.python.walk import walked

TABLES = Knowledge(
    compile_tables(
        {
            "t.toml": """
[[module]]
name = "builtins"
[module.members]
eval = ["load=any"]
open = ["open@0/file,1/mode"]
__import__ = ["load@0/name", "-> module@0/name"]

[[module]]
name = "os"
[module.members]
system = ["proc@0/command"]
getenv = ["env@0/key"]
"environ.__getitem__" = ["env@0/key"]

[[module]]
name = "os.path"

[[module]]
name = "sys"
[module.members]
"modules.__getitem__" = ["-> module@0/name"]

[[module]]
name = "posix"
twin = "os"

[[module]]
name = "net"
import = ["net"]
[module.members]
"Client.send" = ["net@0/url"]
"Client.other" = ["-> net.Client"]
make = ["net", "-> net.Client"]
"Client.__iter__" = ["-> net.Client"]

[[distribution]]
name = "d"
modules = ["pathlib", "functools", "operator", "typing", "codecs", "base64", "inspect", "copy"]

[[attribute]]
name = "__subclasses__"
effects = ["load=any"]
"""
        }
    )
)


def gathered_from(code: str) -> Gathered:
    """What a walk over the code finds."""
    return walked(ast.parse(code), TABLES.attributes)


def value_of(expression: str, code: str = "", *, inside: str | None = None) -> str:
    """What an expression is at the end of the code, or of the function `inside` in it."""
    if inside is None:
        text = f"{code}\n__asked__ = ({expression})\n"
    else:
        text = code.replace("...", f"__asked__ = ({expression})")
    gathered = gathered_from(text)
    resolver = Resolver(TABLES, gathered)
    [scope] = [each for each in gathered.scopes if "__asked__" in each.names]
    [binding] = scope.names["__asked__"]
    node = binding.payload
    assert isinstance(node, ast.expr)
    return told(resolver.resolve(node, scope), scope)


def told(value: Value, scope: Scope) -> str:  # noqa: PLR0911 - a word for each kind of value
    """A value in words; `?` where it is not known."""
    match value:
        case None:
            return "?"
        case Ref():
            return value.name
        case Const():
            return repr(value.value)
        case Partial():
            return f"{value.prefix!r}…"
        case Instance():
            path = "" if value.path is None else f" at {told(value.path, scope)}"
            return f"<{value.name}{path}>"
        case Method():
            return f"{told(value.owner, scope)}.{value.name}"
        case Namespace():
            return f"names of {'this file' if value.owner is None else told(value.owner, scope)}"
        case ConstMethod() | Getter():
            return f"{type(value).__name__} {value.name}"
        case Items() | Table() | Function() | LocalClass() | LocalObject():
            return type(value).__name__
    return " or ".join(sorted({told(each, scope) for each in alternatives(value)}))

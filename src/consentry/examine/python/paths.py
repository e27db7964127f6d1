"""Paths that code puts together: `Path` arithmetic, `os.path`, and the ways to say "home".

A home folder is written `~`, the current folder `.`. Where a part is computed the beginning is kept.
"""

import ast
import posixpath
from typing import Final, Protocol

from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import Const, Either, Instance, Method, Partial, Value

PATH: Final = "pathlib.Path"
HOME: Final = "~"

SEPARATORS: Final = {
    "os.sep": "/",
    "os.path.sep": "/",
    "os.curdir": ".",
    "os.pardir": "..",
    "os.devnull": "/dev/null",
    "os.path.devnull": "/dev/null",
    "os.linesep": "\n",
    "os.pathsep": ":",
    "os.extsep": ".",
}
"""Constants of `os` that paths are put together with."""

_CLASSES: Final = frozenset(
    f"pathlib.{name}"
    for name in ("Path", "PosixPath", "WindowsPath", "PurePath", "PurePosixPath", "PureWindowsPath")
)
_SAME: Final = frozenset(
    {
        *("os.path.expanduser", "os.path.abspath", "os.path.normpath", "os.path.realpath"),
        *("os.fspath", "os.fsdecode", "os.fsencode", "builtins.str", "os.path.normcase"),
    }
)
_SAME_METHODS: Final = frozenset(
    {"resolve", "absolute", "expanduser", "__str__", "__fspath__", "as_posix"}
)
_RENAMED: Final = frozenset({"with_suffix", "with_name", "with_stem"})
_VARIABLES: Final = frozenset(
    {"os.getenv", "os.environ.get", "os.environ.__getitem__", "os.environ"}
)


class Resolves(Protocol):
    """Whoever resolves expressions."""

    def resolve(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression may be."""
        ...

    def constant(self, node: ast.expr, scope: Scope) -> object:
        """The plain constant that it is."""
        ...


def is_path_class(name: str) -> bool:
    """Whether it is one of the classes of `pathlib`."""
    return name in _CLASSES


def as_text(value: Value) -> Value:
    """The text of a path object; anything else as it is."""
    if isinstance(value, Instance) and value.path is not None and value.name in _CLASSES:
        return value.path
    return value


def joined(parts: list[Value]) -> Value:
    """One path of several parts; an absolute part begins anew."""
    made = ""
    for number, part in enumerate(map(as_text, parts)):
        if isinstance(part, Const) and isinstance(part.value, str | bytes):
            text = (
                part.value if isinstance(part.value, str) else part.value.decode("utf-8", "replace")
            )
            made = posixpath.join(made, text) if number else text
        elif isinstance(part, Partial):
            return Partial(posixpath.join(made, part.prefix) if made else part.prefix)
        else:
            return Partial(posixpath.join(made, "")) if made else None
    return Const(made) if parts else None


def divided(left: Value, right: Value) -> Value:
    """`left / right`, which is a path where one of them is."""
    if isinstance(left, Either):
        # Several folders, one name: each is a path of its own.
        return Either(tuple(divided(each, right) for each in left.values))
    for each in (left, right):
        if isinstance(each, Instance) and each.name in _CLASSES:
            return Instance(PATH, joined([left, right]))
    return None


def property_of(owner: Instance, name: str) -> Value:
    """`path.parent`; what a path object has besides is no path of its own."""
    if owner.name not in _CLASSES:
        return None
    if name == "parent":
        path = owner.path
        if isinstance(path, Const) and isinstance(path.value, str) and "/" in path.value.strip("/"):
            return Instance(PATH, Const(posixpath.dirname(path.value)))
        return Instance(PATH)
    return None


def called(resolver: Resolves, name: str, node: ast.Call, scope: Scope) -> Value:
    """A call that makes a path or says where home is."""
    if name in _CLASSES:
        parts = [resolver.resolve(each, scope) for each in node.args]
        return Instance(PATH, joined(parts) if parts else Const("."))
    if name in ("pathlib.Path.home", "pathlib.Path.cwd"):
        return Instance(PATH, Const(HOME if name.endswith("home") else "."))
    if name == "os.path.join":
        return joined([resolver.resolve(each, scope) for each in node.args])
    if name == "os.path.expandvars" and node.args:
        return _with_home(resolver.resolve(node.args[0], scope))
    if name in _SAME and node.args:
        value = as_text(resolver.resolve(node.args[0], scope))
        known = isinstance(value, Const) and isinstance(value.value, str)
        return value if known or isinstance(value, Partial) else None
    if name == "os.path.dirname" and node.args:
        value = as_text(resolver.resolve(node.args[0], scope))
        if isinstance(value, Const) and isinstance(value.value, str):
            return Const(posixpath.dirname(value.value))
        return None
    if name == "os.getcwd":
        return Const(".")
    if name in _VARIABLES and node.args:
        return variable(name, resolver.constant(node.args[0], scope))
    return None


def method_called(resolver: Resolves, method: Method, node: ast.Call, scope: Scope) -> Value:
    """A method of a path object that gives another path."""
    if method.owner.name not in _CLASSES:
        return None
    if method.name == "joinpath":
        parts = [resolver.resolve(each, scope) for each in node.args]
        return Instance(PATH, joined([method.owner, *parts]))
    path = method.owner.path
    if method.name in _RENAMED and isinstance(path, Const) and isinstance(path.value, str):
        given = resolver.constant(node.args[0], scope) if node.args else None
        if not isinstance(given, str):
            return Instance(PATH)
        folder, name = posixpath.split(path.value)
        stem = posixpath.splitext(name)[0]
        renamed = {"with_suffix": stem + given, "with_name": given}.get(method.name)
        return Instance(PATH, Const(posixpath.join(folder, renamed or given + name[len(stem) :])))
    return method.owner if method.name in _SAME_METHODS else None


def variable(name: str, key: object) -> Value:
    """A variable of the environment that holds the home folder."""
    return Const(HOME) if name in _VARIABLES and key in ("HOME", "USERPROFILE") else None


def _with_home(value: Value) -> Value:
    if isinstance(value, Const) and isinstance(value.value, str):
        text = value.value.replace("${HOME}", HOME).replace("$HOME", HOME)
        if "$" not in text:
            return Const(text)
        before = text.partition("$")[0]
        return Partial(before) if before else None
    return None

"""Paths that code puts together: `Path` arithmetic, `os.path`, and the ways to say "home".

A home folder is written `~`, the current folder `.`. Where a part is computed the beginning is kept.
"""

import ast
import posixpath
from collections.abc import Callable
from typing import Final

from consentry.examine.python.resolves import Resolves
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import Const, Either, Instance, Method, Partial, Value, either

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
    parts = _from_last_root(list(map(as_text, parts)))
    for number, part in enumerate(parts):
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


def _from_last_root(parts: list[Value]) -> list[Value]:
    """The parts from the last one on that begins anew."""
    for number in range(len(parts) - 1, 0, -1):
        part = parts[number]
        start = part.prefix if isinstance(part, Partial) else None
        if isinstance(part, Const) and isinstance(part.value, str | bytes):
            start = part.value if isinstance(part.value, str) else part.value.decode("latin-1")
        if start is not None and start.startswith("/"):
            return parts[number:]
    return parts


def divided(left: Value, right: Value) -> Value:
    """`left / right`, which is a path where one of them is."""
    if isinstance(left, Either):
        # Several folders, one name: each is a path of its own.
        return either([divided(each, right) for each in left.values])
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
            return Instance(PATH, Const(posixpath.dirname(path.value.rstrip("/"))))
        return Instance(PATH)
    return None


def called(resolver: Resolves, name: str, node: ast.Call, scope: Scope) -> Value:
    """A call that makes a path or says where home is."""
    make = _MAKERS.get(name)
    if make is None:
        return None
    if any(isinstance(each, ast.Starred) for each in node.args):
        return Instance(PATH) if name in _CLASSES else None
    return make(resolver, name, node, scope)


def _path_made(resolver: Resolves, _: str, node: ast.Call, scope: Scope) -> Value:
    parts = [resolver.resolve(each, scope) for each in node.args]
    return Instance(PATH, joined(parts) if parts else Const("."))


def _folder_of_user(_: Resolves, name: str, __: ast.Call, ___: Scope) -> Value:
    return Instance(PATH, Const(HOME if name.endswith("home") else "."))


def _parts_joined(resolver: Resolves, _: str, node: ast.Call, scope: Scope) -> Value:
    return joined([resolver.resolve(each, scope) for each in node.args])


def _expanded(resolver: Resolves, _: str, node: ast.Call, scope: Scope) -> Value:
    return _with_home(resolver.resolve(node.args[0], scope)) if node.args else None


def _same(resolver: Resolves, _: str, node: ast.Call, scope: Scope) -> Value:
    """What gives the same place in another form."""
    value = as_text(resolver.resolve(node.args[0], scope)) if node.args else None
    known = isinstance(value, Const) and isinstance(value.value, str)
    return value if known or isinstance(value, Partial) else None


def _folder(resolver: Resolves, _: str, node: ast.Call, scope: Scope) -> Value:
    value = as_text(resolver.resolve(node.args[0], scope)) if node.args else None
    if isinstance(value, Const) and isinstance(value.value, str):
        return Const(posixpath.dirname(value.value))
    return None


def _here(_: Resolves, __: str, ___: ast.Call, ____: Scope) -> Value:
    return Const(".")


def _variable_read(resolver: Resolves, name: str, node: ast.Call, scope: Scope) -> Value:
    return variable(name, resolver.constant(node.args[0], scope)) if node.args else None


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


_MAKERS: Final[dict[str, Callable[[Resolves, str, ast.Call, Scope], Value]]] = {
    **dict.fromkeys(_CLASSES, _path_made),
    **dict.fromkeys(("pathlib.Path.home", "pathlib.Path.cwd"), _folder_of_user),
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys(_VARIABLES, _variable_read),
    "os.path.join": _parts_joined,
    "os.path.expandvars": _expanded,
    "os.path.dirname": _folder,
    "os.getcwd": _here,
}

"""Users' files are touched only through `SandboxedPath` or a descriptor that was opened before.

Reported is every use of a function that looks a file up by its path (`open`, `os.stat`, `shutil.move`,
`Path.read_text` and their kin, see `NAMES` and `METHODS`), in any module of the package that the table
`checks/userfiles.toml` does not list. A row of the table is a module, under a heading that says why its
calls are none of users' files; the heading `not-yet` is for those that are. A module that is listed and
has no such call any more is a fault, too, so that the table never allows more than there is.

A call with `dir_fd` goes by a descriptor, and one with `on_race` is a `SandboxedPath`'s own; neither
counts. Resolving a path's spelling (`resolve`, `realpath`) opens nothing and does not count. Methods are
known by their names alone, so `entry.stat()` of a folder's listing counts like that of a path, and a
descriptor handed to `os.stat` like a path: then the module belongs in the table. Functions that are
reached by a name computed at run time are not seen; this is a fence against habit.
"""

import ast
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass

from checks.finding import Finding
from checks.qualified import bindings, qualified
from checks.tree import Tree

PACKAGE = "src/consentry/"
TABLE = "checks/userfiles.toml"

_BUILTINS = frozenset({"open", "__import__"})
_OS = (
    "access chdir chmod chown chroot getxattr lchown lchmod link listdir listxattr lstat makedirs mkdir mkfifo"
    " mknod open readlink remove removedirs removexattr rename renames replace rmdir scandir setxattr stat"
    " statvfs symlink truncate unlink utime walk"
)
_OS_PATH = "exists getatime getctime getmtime getsize isdir isfile islink ismount lexists samefile"
NAMES = frozenset(
    {
        "builtins.open",
        "io.open",
        "io.FileIO",
        "codecs.open",
        "bz2.open",
        "gzip.open",
        "lzma.open",
        "tarfile.open",
        "zipfile.ZipFile",
        *(f"os.{name}" for name in _OS.split()),
        *(f"os.path.{name}" for name in _OS_PATH.split()),
    }
)
# Whole modules that work by path, but for what does not.
MODULES = frozenset({"shutil", "tempfile", "glob", "fileinput", "linecache", "filecmp"})
HARMLESS = frozenset(
    {"shutil.which", "shutil.get_terminal_size", "shutil.copyfileobj", "tempfile.gettempdir"}
)
_METHODS = (
    "chmod exists glob hardlink_to is_block_device is_char_device is_dir is_fifo is_file is_mount is_socket"
    " is_symlink iterdir lchmod lstat mkdir open read_bytes read_text readlink rglob rmdir samefile stat"
    " symlink_to touch unlink write_bytes write_text"
)
METHODS = frozenset(_METHODS.split())
# Methods that other values have, too: a path's takes one argument, by its place.
WITH_ONE_ARGUMENT = frozenset({"rename", "replace"})
_BY_DESCRIPTOR = frozenset({"dir_fd", "src_dir_fd", "dst_dir_fd", "on_race"})
_INSTEAD = (
    "open it through a SandboxedPath or by descriptor, or say in the table why it is no user's file"
)


@dataclass(frozen=True, slots=True)
class Listed:
    """A module in the table: under which heading, and in which line."""

    heading: str
    line: int


def check(tree: Tree) -> Iterator[Finding]:
    """Yields calls by path in modules that are not listed, and rows that list nothing."""
    listed = dict(_table(tree)) if TABLE in tree.paths else {}
    for path in tree.matching(PACKAGE):
        if not path.endswith(".py"):
            continue
        name = path.removeprefix(PACKAGE)
        found = tuple(calls_by_path(ast.parse(tree.text(path), filename=path)))
        row = listed.pop(name, None)
        if row is None:
            for line, what in found:
                yield Finding(path, line, f"`{what}` goes by path: {_INSTEAD}")
        elif not found:
            yield Finding(TABLE, row.line, f"`{name}` makes no call by path: remove its row")
    for name, row in listed.items():
        yield Finding(TABLE, row.line, f"`{name}` is no module of the package")


def _table(tree: Tree) -> Iterator[tuple[str, Listed]]:
    text = tree.text(TABLE)
    lines = {line.strip().strip('",'): number for number, line in enumerate(text.splitlines(), 1)}
    for heading, rows in tomllib.loads(text).items():
        if not rows.get("reason"):
            raise ValueError(f"{TABLE}: `{heading}` has no reason")
        for name in rows["modules"]:
            yield name, Listed(heading, lines.get(name, 1))


def calls_by_path(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Every use of a function that takes a path and looks it up."""
    known = bindings(module, _BUILTINS)
    callees: set[int] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            callees.add(id(node.func))
            what = _by_path(node, known)
            if what is not None:
                yield node.lineno, what
    for node in ast.walk(module):
        # Handed on as a value, it will be called elsewhere.
        if isinstance(node, ast.Attribute | ast.Name) and id(node) not in callees:
            name = qualified(node, known) if isinstance(node.ctx, ast.Load) else None
            if name is not None and name in NAMES:
                yield node.lineno, name


def _by_path(call: ast.Call, known: dict[str, str]) -> str | None:
    if any(keyword.arg in _BY_DESCRIPTOR for keyword in call.keywords):
        return None
    name = qualified(call.func, known)
    if name is not None:
        return name if _is_named(name) else None
    if not isinstance(call.func, ast.Attribute):
        return None
    method = call.func.attr
    if method in WITH_ONE_ARGUMENT:
        return f".{method}" if len(call.args) == 1 and not call.keywords else None
    return f".{method}" if method in METHODS else None


def _is_named(name: str) -> bool:
    if name in HARMLESS:
        return False
    top, _, rest = name.partition(".")
    is_path = top == "pathlib" and rest.rpartition(".")[2] in METHODS | WITH_ONE_ARGUMENT
    return name in NAMES or is_path or (top in MODULES and bool(rest))

"""Who may touch the outside: only `enforce` starts processes, only `cli` reads the environment and prints.

The import contracts keep whole modules out of a room; this check knows the single functions that
live in modules everyone may import (`os.system`, `asyncio.create_subprocess_exec`). It walks the
syntax tree and follows imports, aliases, assignments of a module to a name, and literal names
passed to `getattr`, `__import__` and `import_module`. A use counts whether or not it is called.

It is a fence against habit, not a boundary against intent: a name computed at run time gets
through. Calls through an object (`loop.subprocess_exec`) are known by their method's name.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from checks.finding import Finding
from checks.tree import Tree

PACKAGE = "src/consentry/"


@dataclass(frozen=True, slots=True)
class Fence:
    """What is fenced in, by qualified name; the rooms inside the fence; what to do instead."""

    what: str
    names: tuple[str, ...]
    rooms: frozenset[str]
    instead: str
    methods: frozenset[str] = frozenset()

    def holds(self, name: str) -> bool:
        """Whether a qualified name is, or lies below, one that is fenced in."""
        return any(fnmatchcase(name, known) or name.startswith(f"{known}.") for known in self.names)


FENCES = (
    Fence(
        what="starts a process",
        names=(
            "os.system",
            "os.popen",
            "os.fork*",
            "os.exec*",
            "os.spawn*",
            "os.posix_spawn*",
            "os.startfile",
            "pty",
            "subprocess",
            "_posixsubprocess",
            "multiprocessing",
            "concurrent.futures.ProcessPoolExecutor",
            "concurrent.futures.process",
            "asyncio.create_subprocess_*",
            "asyncio.subprocess",
        ),
        rooms=frozenset({"enforce"}),
        instead="only enforce starts processes; take a runner as a parameter",
        methods=frozenset({"subprocess_exec", "subprocess_shell"}),
    ),
    Fence(
        what="reads the environment",
        names=(
            "os.environ",
            "os.environb",
            "os.getenv",
            "os.getenvb",
            "os.putenv",
            "os.unsetenv",
            "os.path.expandvars",
        ),
        rooms=frozenset({"cli"}),
        instead="only cli reads the environment; take the mapping as a parameter",
    ),
    Fence(
        what="prints",
        names=("builtins.print", "pprint.pprint", "pprint.pp"),
        rooms=frozenset({"cli"}),
        instead="only cli prints; return the value",
    ),
)

# Another name of the same thing, spelled the way the fences spell it.
_SAME = {"posix": "os", "posixpath": "os.path"}
_IMPORTERS = frozenset({"importlib.import_module", "builtins.__import__"})
_BUILTINS = frozenset({"print", "__import__", "getattr"})


def check(tree: Tree) -> Iterator[Finding]:
    """Yields every use of a fenced name outside its room."""
    for path in tree.matching(PACKAGE):
        if path.endswith(".py"):
            room = path.removeprefix(PACKAGE).partition("/")[0]
            yield from _in_module(path, room, ast.parse(tree.text(path), filename=path))


def _in_module(path: str, room: str, module: ast.Module) -> Iterator[Finding]:
    seen: set[Finding] = set()
    for line, name in _uses(module):
        for fence in FENCES:
            if room not in fence.rooms and (fence.holds(name) or _is_method(name, fence)):
                finding = Finding(path, line, f"`{name.lstrip('.')}` {fence.what}: {fence.instead}")
                if finding not in seen:
                    seen.add(finding)
                    yield finding


def _is_method(name: str, fence: Fence) -> bool:
    return name.startswith(".") and name[1:] in fence.methods


def _uses(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Every name the module uses, qualified; a method of an unknown object as `.method`."""
    known = _bindings(module)
    for node in ast.walk(module):
        match node:
            case ast.Import(names=aliases):
                yield from ((node.lineno, _canonical(alias.name)) for alias in aliases)
            case ast.ImportFrom(module=str(source), names=aliases, level=0):
                for alias in aliases:
                    yield from _from_import(node.lineno, _canonical(source), alias.name)
            case ast.Call():
                yield from _named_by_string(node, known)
            case ast.Attribute():
                yield node.lineno, _qualified(node, known) or f".{node.attr}"
            case ast.Name(ctx=ast.Load()):
                qualified = _qualified(node, known)
                if qualified is not None:
                    yield node.lineno, qualified


def _from_import(line: int, source: str, name: str) -> Iterator[tuple[int, str]]:
    if name != "*":
        yield line, f"{source}.{name}"
        return
    # A star brings every fenced name of that module into reach.
    for fence in FENCES:
        yield from ((line, known) for known in fence.names if known.startswith(f"{source}."))
    yield line, source


def _named_by_string(call: ast.Call, known: dict[str, str]) -> Iterator[tuple[int, str]]:
    match _qualified(call.func, known), call.args:
        case name, [ast.Constant(value=str(module)), *_] if name in _IMPORTERS:
            yield call.lineno, _canonical(module)
        case "builtins.getattr", [owner, ast.Constant(value=str(attribute)), *_]:
            base = _qualified(owner, known)
            yield call.lineno, f"{base or ''}.{attribute}"


def _bindings(module: ast.Module) -> dict[str, str]:
    """Local name -> qualified name, over the whole file; a name bound twice keeps the last."""
    known = {name: f"builtins.{name}" for name in _BUILTINS}
    for node in ast.walk(module):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    top = alias.name.partition(".")[0]
                    known[alias.asname or top] = _canonical(alias.name if alias.asname else top)
            case ast.ImportFrom(module=str(source), names=aliases, level=0):
                for alias in aliases:
                    known[alias.asname or alias.name] = f"{_canonical(source)}.{alias.name}"
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name in _BUILTINS:
                known.pop(name, None)
    for node in ast.walk(module):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=value):
                qualified = _qualified(value, known)
                if qualified is not None:
                    known[target] = qualified
    return known


def _qualified(node: ast.expr, known: dict[str, str]) -> str | None:
    """The dotted name an expression stands for, if it begins with a known one."""
    match node:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Attribute(value=owner, attr=attribute):
            base = _qualified(owner, known)
            return None if base is None else _canonical(f"{base}.{attribute}")
        case ast.Call(func=function, args=[ast.Constant(value=str(module)), *_]):
            return _canonical(module) if _qualified(function, known) in _IMPORTERS else None
    return None


def _canonical(name: str) -> str:
    top, dot, rest = name.partition(".")
    return _SAME.get(top, top) + dot + rest

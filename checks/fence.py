"""Who may touch the outside: only `enforce` starts processes, only `cli` reads the environment and prints.

The import contracts keep whole modules out of a room; this check knows the single functions that
live in modules everyone may import (`os.system`, `asyncio.create_subprocess_exec`). It walks the
syntax tree and follows imports, aliases, a module bound to a name (by assignment, in a tuple, by
`:=`, as a parameter's default), and literal names passed to `getattr`, `__import__` and
`import_module`. A use counts whether or not it is called; a few functions count only, or do not
count, with certain arguments: `os.write` to descriptor 1 or 2, `shutil.which` with a path of its own.

It is a fence against habit, not a boundary against intent: a name computed at run time, or taken
from a module's dictionary, gets through. Calls through an object (`loop.subprocess_exec`,
`path.expanduser`) are known by their method's name.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase

from checks.finding import Finding
from checks.qualified import argument, bindings, canonical, qualified
from checks.tree import Tree

PACKAGE = "src/consentry/"
# The library's, which look around for their caller as `cli` does.
FRONT_DOORS = ("__init__.py", "modules.py")


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
            "anyio.run_process",
            "anyio.open_process",
            "anyio.to_process",
            "webbrowser",
            "click.launch",
            "click.edit",
            "click.echo_via_pager",
            "pydoc.*pager",
            # These ask another program (ifconfig, uname, file, gcc) when they cannot tell by themselves.
            "uuid.getnode",
            "uuid.uuid1",
            "platform.processor",
            "platform.platform",
            "platform.architecture",
            "ctypes.util.find_library",
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
            "os.get_exec_path",
            "os.path.expandvars",
            "os.path.expanduser",
            "pathlib.*.home",
            "pathlib.*.expanduser",
            "shutil.which",
            "shutil.get_terminal_size",
            "tempfile.gettempdir*",
            "getpass.getuser",
            "urllib.request.getproxies*",
        ),
        rooms=frozenset({"cli", *FRONT_DOORS}),
        instead="only cli reads the environment; take the mapping, or the value, as a parameter",
        methods=frozenset({"expanduser"}),
    ),
    Fence(
        what="prints",
        names=(
            "builtins.print",
            "pprint.pprint",
            "pprint.pp",
            "sys.stdout",
            "sys.stderr",
            "sys.__stdout__",
            "sys.__stderr__",
            "os.write(1)",
            "os.write(2)",
            "traceback.print_*",
            "logging",
        ),
        rooms=frozenset({"cli"}),
        instead="only cli prints; return the value",
    ),
)

# Fenced only without this argument, which has this place: with it, the environment is not read.
_UNLESS_GIVEN = {"shutil.which": ("path", 2)}
# Fenced only with a first argument that the fences name: `os.write(1)`.
_BY_FIRST_ARGUMENT = frozenset({"os.write"})
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
    known = bindings(module, _BUILTINS)
    pardoned = {id(call.func) for call in _calls(module) if _is_pardoned(call, known)}
    for node in ast.walk(module):
        match node:
            case ast.Attribute() | ast.Name() if id(node) in pardoned:
                pass
            case ast.Import(names=aliases):
                yield from ((node.lineno, canonical(alias.name)) for alias in aliases)
            case ast.ImportFrom(module=str(source), names=aliases, level=0):
                for alias in aliases:
                    yield from _from_import(node.lineno, canonical(source), alias.name)
            case ast.Call():
                yield from _named_by_argument(node, known)
            case ast.Attribute():
                yield node.lineno, qualified(node, known) or f".{node.attr}"
            case ast.Name(ctx=ast.Load()):
                name = qualified(node, known)
                if name is not None:
                    yield node.lineno, name


def _from_import(line: int, source: str, name: str) -> Iterator[tuple[int, str]]:
    if f"{source}.{name}" in _UNLESS_GIVEN:
        return  # its uses are looked at one by one
    if name != "*":
        yield line, canonical(f"{source}.{name}")
        return
    # A star brings every fenced name of that module into reach.
    for fence in FENCES:
        yield from ((line, known) for known in fence.names if known.startswith(f"{source}."))
    yield line, source


def _calls(module: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(module) if isinstance(node, ast.Call))


def _is_pardoned(call: ast.Call, known: dict[str, str]) -> bool:
    name = qualified(call.func, known)
    if name not in _UNLESS_GIVEN:
        return False
    given = argument(call, *_UNLESS_GIVEN[name])
    return given is not None and not (isinstance(given, ast.Constant) and given.value is None)


def _named_by_argument(call: ast.Call, known: dict[str, str]) -> Iterator[tuple[int, str]]:
    function = qualified(call.func, known)
    match function, call.args:
        case "builtins.getattr", [owner, ast.Constant(value=str(attribute)), *_]:
            yield call.lineno, f"{qualified(owner, known) or ''}.{attribute}"
        case name, [ast.Constant(value=first), *_] if name in _BY_FIRST_ARGUMENT:
            yield call.lineno, f"{name}({first!r})"
        case _:
            loaded = qualified(call, known)
            if loaded is not None:
                yield call.lineno, loaded

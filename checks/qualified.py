"""What a name in a module stands for: imports, aliases and assignments followed to a dotted name.

    known = bindings(module, builtins)
    qualified(node, known)      # `os.path.join`, or None

Followed are imports with their aliases, a module or function bound to a name (by assignment, in a tuple,
by `:=`, as a parameter's default), and `import_module` with a literal name. A name bound twice keeps the
last, over the whole file; a name computed at run time is not known.
"""

import ast
from collections.abc import Iterator

# Another name of the same thing, spelled one way.
_SAME = {"posix": "os", "posixpath": "os.path"}
_IMPORTERS = frozenset({"importlib.import_module", "importlib.__import__", "builtins.__import__"})


def argument(call: ast.Call, name: str, place: int) -> ast.expr | None:
    """The argument of a call, whether given by its name or by its place."""
    by_name = (keyword.value for keyword in call.keywords if keyword.arg == name)
    return next(by_name, call.args[place] if len(call.args) > place else None)


def bindings(module: ast.Module, builtins: frozenset[str]) -> dict[str, str]:
    """Local name -> qualified name, over the whole file; a name bound twice keeps the last."""
    known = {name: f"builtins.{name}" for name in builtins}
    for node in ast.walk(module):
        match node:
            case ast.Import(names=aliases):
                for alias in aliases:
                    top = alias.name.partition(".")[0]
                    known[alias.asname or top] = canonical(alias.name if alias.asname else top)
            case ast.ImportFrom(module=str(source), names=aliases, level=0):
                for alias in aliases:
                    known[alias.asname or alias.name] = canonical(f"{source}.{alias.name}")
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) if name in builtins:
                known.pop(name, None)
    for node in ast.walk(module):
        for target, value in _assignments(node):
            stands_for = qualified(value, known)
            if stands_for is not None:
                known[target] = stands_for
    return known


def _assignments(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Every name that a statement, an expression or a list of parameters binds, with its value."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _unpacked(target, value)
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
            yield name, value
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.arguments(posonlyargs=first, args=second, defaults=defaults):
            positional = [*first, *second]
            for parameter, value in zip(reversed(positional), reversed(defaults), strict=False):
                yield parameter.arg, value
            for parameter, default in zip(node.kwonlyargs, node.kw_defaults, strict=True):
                if default is not None:
                    yield parameter.arg, default


def _unpacked(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case ast.Name(id=name), _:
            yield name, value
        case ast.Tuple() | ast.List(), ast.Tuple() | ast.List():
            for part, piece in zip(target.elts, value.elts, strict=False):
                if isinstance(part, ast.Starred):
                    return  # what follows a star has no fixed place
                yield from _unpacked(part, piece)


def qualified(node: ast.expr, known: dict[str, str]) -> str | None:
    """The dotted name an expression stands for, if it begins with a known one."""
    match node:
        case ast.Name(id=name):
            return known.get(name)
        case ast.Attribute(value=owner, attr=attribute):
            base = qualified(owner, known)
            return None if base is None else canonical(f"{base}.{attribute}")
        case ast.NamedExpr(value=value):
            return qualified(value, known)
        case ast.Call(func=function) if qualified(function, known) in _IMPORTERS:
            match argument(node, "name", 0):
                case ast.Constant(value=str(module)):
                    return canonical(module)
    return None


def canonical(name: str) -> str:
    """The name as checks spell it."""
    top, dot, rest = name.partition(".")
    return _SAME.get(top, top) + dot + rest

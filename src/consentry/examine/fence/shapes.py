"""What expressions of Python are made of, as far as the fence asks: names, chains, what is bound to what."""

import ast
from collections.abc import Iterator


def dotted(node: ast.expr, most: int | None = None) -> str:
    """`a.b.c` of a chain of attributes; empty where it begins with anything but a name, or is too long."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        if len(parts) == most:
            return ""
        parts.append(node.attr)
        node = node.value
    return ".".join((node.id, *reversed(parts))) if isinstance(node, ast.Name) else ""


def called(node: ast.expr) -> str:
    """The last name of a chain: `c` of `a.b.c`; empty where there is none."""
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def bindings(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names and attributes, with the expressions that they get as they are."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                yield from _paired(target, value)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield from _paired(target, value)
        case ast.NamedExpr(target=target, value=value):
            yield from _paired(target, value)
        case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
            yield from _paired(target, value)
        case ast.withitem(optional_vars=ast.expr() as target, context_expr=value):
            yield from _paired(target, value)
        case ast.arguments():
            positional = [*node.posonlyargs, *node.args]
            last = positional[len(positional) - len(node.defaults) :]
            for each, default in zip(last, node.defaults, strict=True):
                yield from _alternatives(each.arg, default)
            for each, given in zip(node.kwonlyargs, node.kw_defaults, strict=True):
                if given is not None:
                    yield from _alternatives(each.arg, given)


def _paired(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    match target, value:
        case (
            (ast.Tuple(elts=targets) | ast.List(elts=targets)),
            (ast.Tuple(elts=values) | ast.List(elts=values)),
        ) if len(targets) == len(values):
            for each, given in zip(targets, values, strict=True):
                yield from _paired(each, given)
        case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
            for each in targets:
                yield from _paired(each, value)
        case ((ast.Name() | ast.Attribute()), _):
            yield from _alternatives(called(target), value)


def _alternatives(name: str, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        match each:
            case ast.IfExp(body=one, orelse=other):
                waiting += (one, other)
            case ast.BoolOp(values=values):
                waiting += values
            case ast.NamedExpr(value=inner):
                waiting.append(inner)
            case _:
                yield name, each


def types_in(value: ast.expr) -> Iterator[str]:
    """The names that a class, or a type put together from classes, may be."""
    match value:
        case ast.Name() | ast.Attribute():
            yield called(value)
        case ast.BinOp(op=ast.BitOr()) | ast.Subscript():
            for part in ast.walk(value):
                if isinstance(part, ast.Name | ast.Attribute):
                    yield called(part)


def values_in(value: ast.expr) -> Iterator[str]:
    """The names that an expression is, or is a part of."""
    while True:
        match value:
            case ast.Name(id=name):
                yield name
                return
            case ast.Attribute(value=inner, attr=name):
                yield name
                value = inner
            case ast.Subscript(value=inner) | ast.Await(value=inner) | ast.Starred(value=inner):
                value = inner
            case ast.Call(func=function):
                yield f"{called(function)}()"
                return
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                yield from (name for part in parts for name in values_in(part))
                return
            case ast.Dict(values=parts):
                yield from (name for part in parts for name in values_in(part))
                return
            case _:
                return


def without_calls(node: ast.expr) -> Iterator[ast.AST]:
    """The node and what stands in it, but not what stands in calls: each of those is looked at itself."""
    waiting: list[ast.AST] = [node]
    while waiting:
        part = waiting.pop()
        yield part
        if not isinstance(part, ast.Call):
            waiting += ast.iter_child_nodes(part)


def annotated(node: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Names and attributes, with what annotates them."""
    match node:
        case ast.arg(arg=name, annotation=ast.expr() as annotation):
            yield name, annotation
        case ast.AnnAssign(target=target, annotation=annotation):
            yield called(target), annotation

"""Statements that bind names: assignments, loops, contexts, exceptions, patterns, imports.

A handler takes what is gathered, the node, its scope and the stack, binds what the node binds and
pushes what is left to be walked. What a statement binds that stands in no other is bound for certain.
"""

import ast
from typing import Final

from consentry.examine.python.gathered import Gathered, Stack
from consentry.examine.python.scopes import Binding, How, Kind, Scope
from consentry.examine.python.typechecking import conditions, is_so_called
from consentry.examine.python.uses import position

_NAMING: Final = (ast.Name, ast.Attribute, ast.Tuple, ast.List, ast.BinOp, ast.Constant, ast.Slice)
_LOOKED_INTO: Final = frozenset({"environ", "environb", "modules"})


def assign(gathered: Gathered, node: ast.Assign, scope: Scope, stack: Stack) -> None:
    """`target = value`."""
    stack.append(node.value)
    for target in node.targets:
        _bind(gathered, target, node.value, scope, stack)
        if isinstance(target, ast.Name):
            note_certain(node, target.id, scope)
            if isinstance(node.value, ast.Name):
                gathered.aliases.append((target.id, node.value.id))


def assign_annotated(gathered: Gathered, node: ast.AnnAssign, scope: Scope, stack: Stack) -> None:
    """`target: annotation = value`."""
    push_calls(node.annotation, stack)
    if node.value is not None:
        stack.append(node.value)
        _bind(gathered, node.target, node.value, scope, stack)
        if isinstance(node.target, ast.Name):
            note_certain(node, node.target.id, scope)


def assign_augmented(gathered: Gathered, node: ast.AugAssign, scope: Scope, stack: Stack) -> None:
    """`target += value`: what it is then is not known."""
    stack.append(node.value)
    if isinstance(node.target, ast.Name):
        scope.bind(node.target.id, How.UNKNOWN, None)
    else:
        _set_loosely(gathered, node.target, stack)


def assign_named(_: Gathered, node: ast.NamedExpr, scope: Scope, stack: Stack) -> None:
    """`(target := value)` binds outside of comprehensions."""
    stack.append(node.value)
    place = scope
    while place.kind is Kind.COMPREHENSION and place.parent is not None:
        place = place.parent
    place.bind(node.target.id, How.VALUE, node.value, scope)


def loop(gathered: Gathered, node: ast.For | ast.AsyncFor, scope: Scope, stack: Stack) -> None:
    """`for target in value`."""
    stack.extend(reversed(node.orelse))
    stack.extend(reversed(node.body))
    stack.append(node.iter)
    if isinstance(node.target, ast.Name):
        scope.bind(node.target.id, How.EACH, node.iter)
    else:
        bind_unknown(gathered, node.target, scope, stack)


def enter_context(
    gathered: Gathered, node: ast.With | ast.AsyncWith, scope: Scope, stack: Stack
) -> None:
    """`with value as target`."""
    stack.extend(reversed(node.body))
    for item in node.items:
        stack.append(item.context_expr)
        if item.optional_vars is not None:
            _bind(gathered, item.optional_vars, item.context_expr, scope, stack)
        if isinstance(item.optional_vars, ast.Attribute):
            gathered.set_loosely.add(item.optional_vars.attr)


def catch(_: Gathered, node: ast.ExceptHandler, scope: Scope, stack: Stack) -> None:
    """`except Problem as name` binds the name for the lines of its block."""
    stack.extend(reversed(node.body))
    if node.type is not None:
        push_calls(node.type, stack)
    if node.name is not None:
        scope.bind(node.name, How.UNKNOWN, None)
        span = (node.lineno, node.end_lineno or node.lineno)
        scope.spans.setdefault(node.name, []).append(span)


def match(gathered: Gathered, node: ast.Match, scope: Scope, stack: Stack) -> None:
    """A name in a pattern may be the whole of what is matched, or some part of it."""
    stack.append(node.subject)
    for case in reversed(node.cases):
        stack.extend(reversed(case.body))
        if case.guard is not None:
            stack.append(case.guard)
        for part in ast.walk(case.pattern):
            name = getattr(part, "name", None) or getattr(part, "rest", None)
            if isinstance(name, str):
                scope.bind(name, How.VALUE, node.subject)
                if part is not case.pattern:
                    scope.bind(name, How.EACH, node.subject)
                    scope.bind(name, How.UNKNOWN, None)
            elif isinstance(part, ast.MatchValue):
                stack.append(part.value)
            elif isinstance(part, ast.MatchClass):
                gathered.matched += [(attr, node.lineno) for attr in part.kwd_attrs]


def delete(gathered: Gathered, node: ast.Delete, scope: Scope, stack: Stack) -> None:
    """`del name`: then it may be what it was before it was bound."""
    targets = [*node.targets]
    while targets:
        target = targets.pop()
        if isinstance(target, ast.Name):
            scope.elsewhere.get(target.id, scope).deleted.add(target.id)
        elif isinstance(target, ast.Tuple | ast.List):
            targets.extend(target.elts)
        else:
            _set_loosely(gathered, target, stack)


def declare_global(_: Gathered, node: ast.Global, scope: Scope, __: Stack) -> None:
    """`global name`."""
    scope.elsewhere.update(dict.fromkeys(node.names, scope.module))


def declare_nonlocal(_: Gathered, node: ast.Nonlocal, scope: Scope, __: Stack) -> None:
    """`nonlocal name`."""
    for name in node.names:
        place = scope.parent
        while place is not None and (place.kind is Kind.CLASS or name not in place.names):
            place = place.parent
        if place is not None:
            scope.elsewhere[name] = place


def import_modules(gathered: Gathered, node: ast.Import, scope: Scope, _: Stack) -> None:
    """`import a.b` binds `a`; `import a.b as c` binds `c` to `a.b`."""
    for alias in node.names:
        gathered.imports.append((alias.name, 0, (), node.lineno))
        top = alias.name.partition(".")[0]
        bound = alias.asname or top
        scope.bind(bound, How.REFERENCE, alias.name if alias.asname else top)
        note_certain(node, bound, scope)


def import_names(gathered: Gathered, node: ast.ImportFrom, scope: Scope, _: Stack) -> None:
    """`from a import b`; a star binds what cannot be listed here."""
    module = node.module or ""
    names = tuple(alias.name for alias in node.names)
    gathered.imports.append((module, node.level, names, node.lineno))
    start = "." * node.level + module
    for alias in node.names:
        if alias.name == "*":
            gathered.stars.append(start)
        else:
            dot = "" if start.endswith(".") else "."
            bound = alias.asname or alias.name
            scope.bind(bound, How.REFERENCE, f"{start}{dot}{alias.name}")
            note_certain(node, bound, scope)


def branch(gathered: Gathered, node: ast.If, scope: Scope, stack: Stack) -> None:
    """`if`: a block that may be for type checkers alone is put aside until all names are bound."""
    stack.extend(reversed(node.orelse))
    if any(is_so_called(test) for test in conditions(node)):
        gathered.type_checking.append((node, scope))
        # A declaration counts wherever it stands, also in a block that never runs.
        for part in ast.walk(node):
            if isinstance(part, ast.Global):
                declare_global(gathered, part, scope, stack)
        for test in conditions(node):
            push_condition(test, stack)
    else:
        stack.extend(reversed(node.body))
        push_condition(node.test, stack)
        if isinstance(node.test, ast.NamedExpr):
            note_certain(node, node.test.target.id, scope)


def note_certain(node: ast.stmt, name: str, scope: Scope) -> None:
    """Notes since when a statement binds the name, if it stands in no other."""
    if id(node) in scope.direct and name not in scope.certain:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If):
            since = position(node.body[0].lineno, node.body[0].col_offset)
        else:
            since = position(node.end_lineno or node.lineno, node.end_col_offset or 0)
        scope.certain[name] = since


def bind_unknown(gathered: Gathered, target: ast.expr, scope: Scope, stack: Stack) -> None:
    """Targets within targets: their names are bound to something that is not known."""
    parts: list[ast.expr] = [target]
    while parts:
        part = parts.pop()
        if isinstance(part, ast.Name):
            scope.bind(part.id, How.UNKNOWN, None)
        elif isinstance(part, ast.Tuple | ast.List):
            parts.extend(part.elts)
        elif isinstance(part, ast.Starred):
            parts.append(part.value)
        else:
            _set_loosely(gathered, part, stack)


def _set_loosely(gathered: Gathered, target: ast.expr, stack: Stack) -> None:
    """What is set here has some value that no assignment shows."""
    if isinstance(target, ast.Attribute):
        gathered.set_loosely.add(target.attr)
    stack.append(target)


def push_calls(annotation: ast.expr, stack: Stack) -> None:
    """Of an annotation or an exception only what runs counts: not the classes that it names."""
    if annotation.__class__ in (ast.Name, ast.Constant):
        return
    parts: Stack = [annotation]
    while parts:
        part = parts.pop()
        if isinstance(part, _NAMING):
            parts.extend(ast.iter_child_nodes(part))
        elif isinstance(part, ast.Subscript):
            if getattr(part.value, "attr", getattr(part.value, "id", "")) in _LOOKED_INTO:
                stack.append(part)
            else:
                parts.extend((part.value, part.slice))
        elif isinstance(part, ast.expr):
            stack.append(part)


def push_condition(test: ast.expr, stack: Stack) -> None:
    """What is only asked whether it is there is not used."""
    parts = [test]
    while parts:
        part = parts.pop()
        if isinstance(part, ast.Name):
            continue
        if isinstance(part, ast.BoolOp):
            parts.extend(part.values)
        elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            parts.append(part.operand)
        elif isinstance(part, ast.Compare) and _is_about_none(part):
            parts.append(part.left)
        else:
            stack.append(part)


def _is_about_none(node: ast.Compare) -> bool:
    """`value is None`, `value is not None`."""
    return all(isinstance(each, ast.Is | ast.IsNot) for each in node.ops) and all(
        isinstance(each, ast.Constant) and each.value is None for each in node.comparators
    )


def _bind(
    gathered: Gathered, target: ast.expr, value: ast.expr, scope: Scope, stack: Stack
) -> None:
    if isinstance(target, ast.Name):
        scope.bind(target.id, How.VALUE, value)
    elif isinstance(target, ast.Tuple | ast.List):
        is_plain = not any(isinstance(each, ast.Starred) for each in target.elts)
        for position, each in enumerate(target.elts):
            if isinstance(each, ast.Name) and is_plain:
                scope.bind(each.id, How.ITEM, (value, position))
            else:
                bind_unknown(gathered, each, scope, stack)
    else:
        if isinstance(target, ast.Attribute) and not _bind_member(target, value, scope):
            gathered.reassigned.add(target.attr)
        stack.append(target)


def _bind_member(target: ast.Attribute, value: ast.expr, scope: Scope) -> bool:
    """`self.name = value` in a method is a member of the class; says whether it is one."""
    holder: Scope | None = scope
    while holder is not None and holder.self_name is None:
        holder = holder.parent
    if (
        holder is not None
        and holder.owner is not None
        and isinstance(target.value, ast.Name)
        and target.value.id == holder.self_name
    ):
        holder.owner.members.setdefault(target.attr, []).append(Binding(How.VALUE, value, scope))
        return True
    return False

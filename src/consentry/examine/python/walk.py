"""One pass over a syntax tree: scopes with their bindings, and the places that may give powers.

No recursion: a scope is walked with a stack of its own and leaves the scopes in it for later, so that
depth of nesting costs nothing. This is the path that every node of every file takes; what is frequent
stands first and is written out.
"""

import ast
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any, Final

from consentry.examine.python.scopes import Binding, How, Kind, Scope

PATH_STARTS: Final = frozenset("/~")
GET: Final = 0
STORE: Final = 1
CONTAINS: Final = 2

_NO_CHILDREN: Final = frozenset({"ctx", "op", "ops", "type_comment", "type_ignores", "kind"})
_TYPE_TESTS: Final = frozenset({"isinstance", "issubclass"})
_STATIC: Final = frozenset({"staticmethod"})
_CHANGING: Final = frozenset(
    {
        *("append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "update"),
        *("setdefault", "popitem", "add", "discard", "__setitem__", "__delitem__", "__iadd__"),
    }
)
_TYPE_CHECKING: Final = "TYPE_CHECKING"
_TYPING: Final = ("typing", "typing_extensions")
_TYPING_NAMES: Final = tuple(f"{module}.{_TYPE_CHECKING}" for module in _TYPING)
_NAMESPACE_CALLS: Final = frozenset({"globals", "vars", "locals"})


class Walk:
    """What one file has: its scopes in the order they were entered, its imports, its paths."""

    def __init__(self, tree: ast.Module, watched: Iterable[str]) -> None:
        self.scopes: list[Scope] = []
        self.imports: list[tuple[str, int, tuple[str, ...], int]] = []
        self.stars: list[str] = []
        self.paths: list[ast.Constant] = []
        """Constants that look like absolute paths."""
        self.watched: list[ast.Attribute] = []
        """Attributes whose names are watched on any object."""
        self.changed: set[str] = set()
        """Names whose values are changed in place: lists, dictionaries, what others alias."""
        self.reassigned: set[str] = set()
        """Attributes that are set from outside of their class."""
        self.any_changed = False
        """Whether names are bound that are not written down: through `globals()`."""
        self.matched: list[tuple[str, int]] = []
        """Attributes that patterns look at."""
        self.classes: list[Scope] = []
        self.handed: set[str] = set()
        """Names that are given to functions of this file, which may change what they stand for."""
        self._handed: list[tuple[str, str]] = []
        self._aliases: list[tuple[str, str]] = []
        self._entered_scopes: set[Scope] = set()
        self._watched_names = frozenset(watched)
        self._waiting: deque[tuple[Scope, list[Any]]] = deque()
        self._type_checking: list[tuple[ast.If, Scope]] = []
        self.module = Scope(Kind.MODULE, None)
        self._waiting.append((self.module, list(reversed(tree.body))))
        self._walk_all()
        self._walk_typed_blocks()
        self._spread_changes()

    @property
    def bound(self) -> frozenset[str]:
        """Every name that is bound anywhere in the file."""
        return frozenset(name for scope in self.scopes for name in scope.names)

    def _walk_all(self) -> None:
        while self._waiting:
            scope, stack = self._waiting.popleft()
            if scope not in self._entered_scopes:
                self._entered_scopes.add(scope)
                self.scopes.append(scope)
                scope.direct.update(map(id, stack))
            self._walk(scope, stack)

    def _walk_typed_blocks(self) -> None:
        """Blocks for type checkers never run, unless their condition is something else."""
        blocks, self._type_checking = self._type_checking, []
        if not blocks:
            return
        is_set = _is_set_somewhere(self.scopes)
        for block, scope in blocks:
            if is_set or not any(_is_type_checking(test, scope) for test in _conditions(block)):
                self._waiting.append((scope, [*block.body, block.test]))
        self._walk_all()

    def _spread_changes(self) -> None:
        """Whoever changes an alias changes what it stands for; so may a function that is given it."""
        own = {
            name
            for scope in self.scopes
            for name, bindings in scope.names.items()
            if any(binding.how is How.FUNCTION for binding in bindings)
        }
        self.handed = {name for function, name in self._handed if function in own}
        for _ in range(len(self._aliases)):
            before = len(self.changed)
            for one, other in self._aliases:
                if one in self.changed or other in self.changed:
                    self.changed |= {one, other}
            if len(self.changed) == before:
                return

    def _walk(self, scope: Scope, stack: list[Any]) -> None:
        pop, push, extend = stack.pop, stack.append, stack.extend
        calls, attributes, bare, called = scope.calls, scope.attributes, scope.bare, scope.called
        watched_names, handlers, handed = self._watched_names, _HANDLERS, self._handed
        while stack:
            node = pop()
            kind = node.__class__
            if kind is ast.Name:
                if node.id not in bare and node.ctx.__class__ is ast.Load:
                    bare[node.id] = node
            elif kind is ast.Constant:
                value = node.value
                if value.__class__ is str and value[:1] in PATH_STARTS and len(value) > 1:
                    self.paths.append(node)
            elif kind is ast.Call:
                calls.append(node)
                func = node.func
                while func.__class__ is ast.Attribute:
                    if func.attr in watched_names:
                        self.watched.append(func)
                    func = func.value
                if func.__class__ is not ast.Name:
                    push(func)
                    extend(node.args)
                elif func is node.func:
                    if func.id not in called:
                        called[func.id] = node.lineno
                    for argument in node.args:
                        if argument.__class__ is ast.Name:
                            handed.append((func.id, argument.id))
                    if func.id in _TYPE_TESTS:
                        _push_tested(node, stack)
                    else:
                        extend(node.args)
                else:
                    if node.func.attr in _CHANGING:
                        self.changed.add(func.id)
                    extend(node.args)
                for keyword in node.keywords:
                    push(keyword.value)
            elif kind is ast.Attribute:
                attributes.append(node)
                while node.__class__ is ast.Attribute:
                    if node.attr in watched_names:
                        self.watched.append(node)
                    node = node.value
                if node.__class__ is not ast.Name:
                    push(node)
            else:
                handler = handlers.get(kind)
                if handler is not None:
                    handler(self, node, scope, stack)
                else:
                    for name in _children(kind):
                        child = getattr(node, name)
                        if child.__class__ is list:
                            extend(child)
                        elif child is not None:
                            push(child)

    # ---- statements that bind

    def _assign(self, node: ast.Assign, scope: Scope, stack: list[Any]) -> None:
        stack.append(node.value)
        for target in node.targets:
            self._bind(target, node.value, scope, stack)
            if isinstance(target, ast.Name):
                _note_certain(node, target.id, scope)
                if isinstance(node.value, ast.Name):
                    self._aliases.append((target.id, node.value.id))

    def _annotated(self, node: ast.AnnAssign, scope: Scope, stack: list[Any]) -> None:
        _push_calls(node.annotation, stack)
        if node.value is not None:
            stack.append(node.value)
            self._bind(node.target, node.value, scope, stack)
            if isinstance(node.target, ast.Name):
                _note_certain(node, node.target.id, scope)

    def _augmented(self, node: ast.AugAssign, scope: Scope, stack: list[Any]) -> None:
        stack.append(node.value)
        if isinstance(node.target, ast.Name):
            scope.bind(node.target.id, How.UNKNOWN, None)
        else:
            stack.append(node.target)

    def _named(self, node: ast.NamedExpr, scope: Scope, stack: list[Any]) -> None:
        stack.append(node.value)
        place = scope
        while place.kind is Kind.COMPREHENSION and place.parent is not None:
            place = place.parent
        place.bind(node.target.id, How.VALUE, node.value, scope)

    def _for(self, node: ast.For, scope: Scope, stack: list[Any]) -> None:
        stack.extend(reversed(node.orelse))
        stack.extend(reversed(node.body))
        stack.append(node.iter)
        self._bind_each(node.target, node.iter, scope, stack)

    def _comprehended(
        self,
        node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp,
        scope: Scope,
        stack: list[Any],
    ) -> None:
        inner = Scope(Kind.COMPREHENSION, scope)
        waiting: list[Any] = (
            [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        )
        for number, each in enumerate(node.generators):
            around = inner if number else scope
            (waiting if number else stack).append(each.iter)
            waiting.extend(each.ifs)
            if isinstance(each.target, ast.Name):
                inner.bind(each.target.id, How.EACH, each.iter, around)
                inner.certain[each.target.id] = 0
            else:
                _bind_unknown(each.target, inner, waiting)
        self._waiting.append((inner, waiting))

    def _with(self, node: ast.With, scope: Scope, stack: list[Any]) -> None:
        stack.extend(reversed(node.body))
        for item in node.items:
            stack.append(item.context_expr)
            if item.optional_vars is not None:
                self._bind(item.optional_vars, item.context_expr, scope, stack)

    def _handler(self, node: ast.ExceptHandler, scope: Scope, stack: list[Any]) -> None:
        stack.extend(reversed(node.body))
        if node.type is not None:
            _push_calls(node.type, stack)
        if node.name is not None:
            scope.bind(node.name, How.UNKNOWN, None)
            span = (node.lineno, node.end_lineno or node.lineno)
            scope.spans.setdefault(node.name, []).append(span)

    def _match(self, node: ast.Match, scope: Scope, stack: list[Any]) -> None:
        stack.append(node.subject)
        for case in node.cases:
            stack.extend(reversed(case.body))
            if case.guard is not None:
                stack.append(case.guard)
            for part in ast.walk(case.pattern):
                name = getattr(part, "name", None) or getattr(part, "rest", None)
                if isinstance(name, str):
                    scope.bind(name, How.VALUE, node.subject)
                elif isinstance(part, ast.Call):
                    stack.append(part)
                elif isinstance(part, ast.MatchClass):
                    self.matched += [(attr, node.lineno) for attr in part.kwd_attrs]

    def _delete(self, node: ast.Delete, scope: Scope, stack: list[Any]) -> None:
        for target in node.targets:
            if isinstance(target, ast.Name):
                scope.deleted.add(target.id)
            else:
                stack.append(target)

    def _bind(self, target: ast.expr, value: ast.expr, scope: Scope, stack: list[Any]) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, How.VALUE, value)
        elif isinstance(target, ast.Tuple | ast.List):
            for position, each in enumerate(target.elts):
                if isinstance(each, ast.Name):
                    scope.bind(each.id, How.ITEM, (value, position))
                else:
                    _bind_unknown(each, scope, stack)
        elif isinstance(target, ast.Attribute):
            if not _bind_member(target, value, scope):
                self.reassigned.add(target.attr)
            stack.append(target)
        else:
            stack.append(target)

    def _bind_each(
        self, target: ast.expr, through: ast.expr, scope: Scope, stack: list[Any]
    ) -> None:
        if isinstance(target, ast.Name):
            scope.bind(target.id, How.EACH, through)
        else:
            _bind_unknown(target, scope, stack)

    # ---- scopes

    def _function(
        self, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope, stack: list[Any]
    ) -> None:
        stack.extend(node.decorator_list)
        inner = self._entered(node.args, scope, stack, node.decorator_list)
        if node.returns is not None:
            _push_calls(node.returns, stack)
        scope.bind(node.name, How.FUNCTION, inner)
        _note_certain(node, node.name, scope)
        self._waiting.append((inner, list(reversed(node.body))))

    def _lambda(self, node: ast.Lambda, scope: Scope, stack: list[Any]) -> None:
        inner = self._entered(node.args, scope, stack, [])
        inner.returns.append(node.body)
        node.scope = inner  # type: ignore[attr-defined]
        self._waiting.append((inner, [node.body]))

    def _entered(
        self, given: ast.arguments, scope: Scope, stack: list[Any], decorators: list[ast.expr]
    ) -> Scope:
        owner = scope if scope.kind is Kind.CLASS else None
        inner = Scope(Kind.FUNCTION, scope, owner)
        positional = [*given.posonlyargs, *given.args]
        if owner is not None and positional and not _is_static(decorators):
            first = positional[0].arg
            inner.self_name = first
            inner.bind(first, How.FIRST, owner)
            rest = positional[1:]
        else:
            rest = positional
        others = [each for each in (given.vararg, given.kwarg) if each is not None]
        inner.certain.update((each.arg, 0) for each in (*positional, *given.kwonlyargs, *others))
        for each in (*rest, *given.kwonlyargs, *others):
            if each.annotation is None:
                inner.bind(each.arg, How.UNKNOWN, None)
            else:
                inner.bind(each.arg, How.ANNOTATED, each.annotation, scope)
        defaulted = positional[len(positional) - len(given.defaults) :]
        for each, default in (
            *zip(defaulted, given.defaults, strict=True),
            *zip(given.kwonlyargs, given.kw_defaults, strict=True),
        ):
            if default is not None:
                stack.append(default)
                inner.bind(each.arg, How.VALUE, default, scope)
        for each in (*positional, *given.kwonlyargs, *others):
            if each.annotation is not None:
                _push_calls(each.annotation, stack)
        return inner

    def _class(self, node: ast.ClassDef, scope: Scope, stack: list[Any]) -> None:
        stack.extend(node.decorator_list)
        stack.extend(node.bases)
        stack.extend(keyword.value for keyword in node.keywords)
        inner = Scope(Kind.CLASS, scope)
        inner.bases = node.bases
        scope.bind(node.name, How.CLASS, inner)
        self.classes.append(inner)
        _note_certain(node, node.name, scope)
        self._waiting.append((inner, list(reversed(node.body))))

    def _return(self, node: ast.Return, scope: Scope, stack: list[Any]) -> None:
        if node.value is not None:
            scope.returns.append(node.value)
            stack.append(node.value)

    def _global(self, node: ast.Global, scope: Scope, _: list[Any]) -> None:
        scope.elsewhere.update(dict.fromkeys(node.names, scope.module))

    def _nonlocal(self, node: ast.Nonlocal, scope: Scope, _: list[Any]) -> None:
        for name in node.names:
            place = scope.parent
            while place is not None and name not in place.names:
                place = place.parent
            if place is not None:
                scope.elsewhere[name] = place

    # ---- the rest

    def _import(self, node: ast.Import, scope: Scope, _: list[Any]) -> None:
        for alias in node.names:
            self.imports.append((alias.name, 0, (), node.lineno))
            top = alias.name.partition(".")[0]
            bound = alias.asname or top
            scope.bind(bound, How.REFERENCE, alias.name if alias.asname else top)
            _note_certain(node, bound, scope)

    def _import_from(self, node: ast.ImportFrom, scope: Scope, _: list[Any]) -> None:
        module = node.module or ""
        names = tuple(alias.name for alias in node.names)
        self.imports.append((module, node.level, names, node.lineno))
        start = "." * node.level + module
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(start)
            else:
                dot = "" if start.endswith(".") else "."
                bound = alias.asname or alias.name
                scope.bind(bound, How.REFERENCE, f"{start}{dot}{alias.name}")
                _note_certain(node, bound, scope)

    def _if(self, node: ast.If, scope: Scope, stack: list[Any]) -> None:
        stack.extend(reversed(node.orelse))
        if any(_is_so_called(test) for test in _conditions(node)):
            self._type_checking.append((node, scope))
        else:
            stack.extend(reversed(node.body))
            stack.append(node.test)
            if isinstance(node.test, ast.NamedExpr):
                _note_certain(node, node.test.target.id, scope)

    def _expression(self, node: ast.Expr, _: Scope, stack: list[Any]) -> None:
        if node.value.__class__ is not ast.Constant:
            stack.append(node.value)

    def _subscript(self, node: ast.Subscript, scope: Scope, stack: list[Any]) -> None:
        if node.slice.__class__ is not ast.Constant:
            stack.append(node.slice)
        mode = GET
        if not isinstance(node.ctx, ast.Load):
            mode = STORE
            self._note_changed(node)
        self._looked_into(node.value, node.slice, mode, scope, stack)

    def _note_changed(self, node: ast.Subscript) -> None:
        value = node.value
        if isinstance(value, ast.Name):
            self.changed.add(value.id)
        elif isinstance(value, ast.Attribute):
            self.reassigned.add(value.attr)
        elif isinstance(value, ast.Call) and _called_name(value) in _NAMESPACE_CALLS:
            key = node.slice
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                self.changed.add(key.value)
            else:
                self.any_changed = True

    def _compare(self, node: ast.Compare, scope: Scope, stack: list[Any]) -> None:
        stack.append(node.left)
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if operator.__class__ in (ast.In, ast.NotIn):
                self._looked_into(right, left, CONTAINS, scope, stack)
            else:
                stack.append(right)
            left = right

    def _looked_into(
        self, value: ast.expr, key: ast.expr, mode: int, scope: Scope, stack: list[Any]
    ) -> None:
        scope.subscripts.append((value, key, mode))
        base = value
        while isinstance(base, ast.Attribute):
            if base.attr in self._watched_names:
                self.watched.append(base)
            base = base.value
        if not isinstance(base, ast.Name):
            stack.append(base)


def _bind_unknown(target: ast.expr, scope: Scope, stack: list[Any]) -> None:
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
            stack.append(part)


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


def _note_certain(node: ast.stmt, name: str, scope: Scope) -> None:
    if id(node) in scope.direct and name not in scope.certain:
        scope.certain[name] = node.lineno


def _push_calls(annotation: ast.expr, stack: list[Any]) -> None:
    """Of an annotation or an exception only what runs counts: calls and assignments in it."""
    if annotation.__class__ in (ast.Name, ast.Constant):
        return
    stack.extend(
        part for part in ast.walk(annotation) if isinstance(part, ast.Call | ast.NamedExpr)
    )


def _push_tested(node: ast.Call, stack: list[Any]) -> None:
    """Of `isinstance(x, y)` the second argument is compared with and not used."""
    stack.extend(node.args[:1])
    for tested in node.args[1:]:
        _push_calls(tested, stack)


def _is_static(decorators: list[ast.expr]) -> bool:
    return any(isinstance(each, ast.Name) and each.id in _STATIC for each in decorators)


def _conditions(node: ast.If) -> list[ast.expr]:
    """What must all hold for the block to run."""
    if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And):
        return node.test.values
    return [node.test]


def _is_so_called(test: ast.expr) -> bool:
    name = getattr(test, "attr", None) or getattr(test, "id", None)
    return name == _TYPE_CHECKING and isinstance(test, ast.Name | ast.Attribute)


def _is_type_checking(test: ast.expr, scope: Scope) -> bool:
    """Whether a condition is the one of `typing`, or a name that is always False."""
    if not _is_so_called(test):
        return False
    is_name = isinstance(test, ast.Name)
    base = test if is_name else test.value  # type: ignore[attr-defined]
    if not isinstance(base, ast.Name):
        return False
    place: Scope | None = scope
    while place is not None and base.id not in place.names:
        place = place.parent
    meant = _TYPING_NAMES if is_name else _TYPING
    return place is not None and all(
        (binding.how is How.REFERENCE and binding.payload in meant)
        or (
            is_name and isinstance(binding.payload, ast.Constant) and binding.payload.value is False
        )
        for binding in place.names[base.id]
    )


def _is_set_somewhere(scopes: list[Scope]) -> bool:
    """Whether the file sets an attribute of that name, on whatever object."""
    return any(
        node.attr == _TYPE_CHECKING and not isinstance(node.ctx, ast.Load)
        for scope in scopes
        for node in scope.attributes
    ) or any(
        isinstance(argument, ast.Constant) and argument.value == _TYPE_CHECKING
        for scope in scopes
        for call in scope.calls
        for argument in call.args
    )


def _called_name(node: ast.Call) -> str | None:
    return node.func.id if isinstance(node.func, ast.Name) else None


# The keys of a dictionary that others are unpacked into have a None among them.
_FIELDS: dict[type, tuple[str, ...]] = {type(None): ()}


def _children(kind: type) -> tuple[str, ...]:
    found = _FIELDS.get(kind)
    if found is None:
        names: Iterable[str] = kind._fields  # type: ignore[attr-defined]
        found = tuple(name for name in names if name not in _NO_CHILDREN)
        if kind in (ast.JoinedStr, ast.List, ast.Tuple, ast.Set):
            found = tuple(name for name in found if name in ("values", "elts"))
        if kind is ast.FormattedValue:
            found = ("value", "format_spec")
        _FIELDS[kind] = found
    return found


_HANDLERS: Final[dict[type, Callable[..., None]]] = {
    ast.Assign: Walk._assign,
    ast.AnnAssign: Walk._annotated,
    ast.AugAssign: Walk._augmented,
    ast.NamedExpr: Walk._named,
    ast.For: Walk._for,
    ast.AsyncFor: Walk._for,
    ast.ListComp: Walk._comprehended,
    ast.SetComp: Walk._comprehended,
    ast.GeneratorExp: Walk._comprehended,
    ast.DictComp: Walk._comprehended,
    ast.Delete: Walk._delete,
    ast.With: Walk._with,
    ast.AsyncWith: Walk._with,
    ast.ExceptHandler: Walk._handler,
    ast.Match: Walk._match,
    ast.FunctionDef: Walk._function,
    ast.AsyncFunctionDef: Walk._function,
    ast.Lambda: Walk._lambda,
    ast.ClassDef: Walk._class,
    ast.Return: Walk._return,
    ast.Global: Walk._global,
    ast.Nonlocal: Walk._nonlocal,
    ast.Import: Walk._import,
    ast.ImportFrom: Walk._import_from,
    ast.If: Walk._if,
    ast.Expr: Walk._expression,
    ast.Subscript: Walk._subscript,
    ast.Compare: Walk._compare,
}

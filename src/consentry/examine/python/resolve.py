"""What an expression may be: names through scopes, attributes through modules and classes, calls.

The order of statements does not count, only where a name is bound; a name bound more than once may be
any of its values. Depth is bounded, and what lies deeper is not known. Nothing is guessed from the
spelling of a name: a local function called `open` is not the built-in one.
"""

import ast
from typing import Any, Final

from consentry.examine.knowledge.effects import Effect, Power
from consentry.examine.knowledge.reader import Knowledge
from consentry.examine.python import folding, paths
from consentry.examine.python.scopes import Binding, How, Kind, Scope
from consentry.examine.python.values import (
    Const,
    ConstMethod,
    Either,
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
    either,
)
from consentry.examine.python.walk import Walk

MOST_DEPTH: Final = 48
MOST_PARTS: Final = 256
BUILTINS: Final = "builtins"

_WITHOUT_ROW: Final = frozenset(
    {
        *("getattr", "setattr", "delattr", "vars", "globals", "locals", "dir", "type", "map"),
        *("filter", "chr", "ord", "str", "bytes", "bytearray", "object", "super", "reversed"),
        *("list", "tuple", "dict", "iter", "next", "sorted"),
    }
)
_ITSELF: Final = frozenset({"__builtins__"})
_PASS_ON: Final = frozenset(
    {
        *("functools.partial", "functools.partialmethod", "functools.wraps", "functools.cache"),
        *("functools.lru_cache", "staticmethod", "classmethod", "copy.copy", "copy.deepcopy"),
        *("builtins.iter", "builtins.next", "contextlib.closing", "contextlib.nullcontext"),
        *("weakref.ref", "weakref.proxy", "types.MethodType"),
    }
)
_REFLECTING: Final = frozenset(
    {
        "builtins.getattr",
        "inspect.getattr_static",
        "builtins.object.__getattribute__",
        "builtins.type.__getattribute__",
        "builtins.super.__getattribute__",
    }
)
_GETTERS: Final = frozenset({"operator.attrgetter", "operator.methodcaller", "operator.itemgetter"})
_LOOKS_UP: Final = frozenset({"get", "pop", "setdefault", "__getitem__"})
_MOST_SPLIT: Final = 1024
_NEVER: Final = 1 << 60
_BORROWED: Final = {
    **{
        name: name
        for name in (
            *("os", "sys", "subprocess", "socket", "builtins", "importlib", "shutil", "pickle"),
            *("marshal", "ctypes", "posix", "pty", "runpy", "pathlib", "tempfile", "urllib"),
        )
    },
    "cPickle": "pickle",
    "__builtins__": "builtins",
    "urllib_request": "urllib.request",
    "http_client": "http.client",
}
"""Modules that others hand on under their own names."""
_NAMESPACES: Final = frozenset({"builtins.vars", "builtins.globals", "builtins.locals"})


class Resolver:
    """Resolves expressions of one file."""

    def __init__(self, tables: Knowledge, walk: Walk) -> None:
        self.tables = tables
        self.walk = walk
        self.module = walk.module
        self.stars = walk.stars
        self._may_rebind = walk.any_changed or any(
            star.startswith(".") or not tables.is_known(star) for star in walk.stars
        )
        self._depth = 0
        self._known: dict[ast.expr, Value] = {}
        """Every expression is worked out once, or a few lines could keep us busy for ever."""

    # ---- names

    def lookup(self, scope: Scope, name: str) -> Value:
        """What a name is, seen from a scope."""
        found = scope.found
        if name in found:
            return found[name]
        place: Scope | None = scope
        while place is not None:
            if name in place.names and (place is scope or place.kind is not Kind.CLASS):
                bindings = place.names[name]
                # What leads back to the name itself meets the modules it may be.
                found[name] = either([Ref(str(each.payload)) for each in bindings if _is_ref(each)])
                value = self._named(place, name, bindings)
                find = self._uncovered if name in place.certain else self._uncertain
                built_in = find(place, scope, name)
                if built_in is not None:
                    value = either([value, built_in])
                found[name] = value
                return value
            place = place.parent
        found[name] = value = self._builtin(name)
        return value

    def _named(self, place: Scope, name: str, bindings: list[Binding]) -> Value:
        """The value of a name in the scope that binds it; one that may change is not sure."""
        own = [each for each in bindings if not _is_itself(each, name)]
        value = self.bound(own) if own else None
        if len(own) < len(bindings):
            outer = self.lookup(place.parent, name) if place.parent else self._builtin(name)
            value = either([value, outer]) if own else outer
        is_module = place.kind is Kind.MODULE
        if name in self.walk.handed and isinstance(value, Items | Table):
            return either([value, None])
        if name in self.walk.changed or (is_module and self._may_rebind and name in place.names):
            return either([value, None]) if _may_change(value) else value
        return value

    def _uncertain(self, place: Scope, scope: Scope, name: str) -> Value:
        """The built-in of that name, unless every use of it stands where something else has the name."""
        spans = place.spans.get(name)
        if spans and place is scope:
            lines = [scope.called.get(name, 0)]
            lines += [scope.bare[name].lineno] if name in scope.bare else []
            lines += scope.looked.get(name, [])
            if all(any(start <= line <= end for start, end in spans) for line in lines if line):
                return None
        return self._builtin(name)

    def _uncovered(self, place: Scope, scope: Scope, name: str) -> Value:
        """The built-in of that name, where it is used before something else gets the name, or after."""
        if name in place.deleted:
            return self._builtin(name)
        if place is not scope or place.certain[name] == 0:
            return None
        first = min(
            scope.called.get(name, _NEVER),
            scope.bare[name].lineno if name in scope.bare else _NEVER,
        )
        return self._builtin(name) if first < place.certain[name] else None

    def _builtin(self, name: str) -> Value:
        for star in self.stars:
            if self.tables.member(f"{star}.{name}"):
                return Ref(f"{star}.{name}")
        if name in _ITSELF:
            return Ref(BUILTINS)
        if name == "__name__":
            return Const("__main__")
        if name in _WITHOUT_ROW or self.tables.member(f"{BUILTINS}.{name}"):
            return Ref(f"{BUILTINS}.{name}")
        return None

    def bound(self, bindings: list[Binding]) -> Value:
        """What a name with these bindings may be."""
        if len(bindings) == 1:
            return self._value_of(bindings[0])
        return either([self._value_of(binding) for binding in bindings[:MOST_PARTS]])

    def _value_of(self, binding: Binding) -> Value:
        payload: Any = binding.payload
        match binding.how:
            case How.REFERENCE:
                return Ref(payload)
            case How.VALUE:
                return self.resolve(payload, binding.scope)
            case How.ITEM:
                node, position = payload
                return self._item(self.resolve(node, binding.scope), position)
            case How.EACH:
                return self._each(self.resolve(payload, binding.scope))
            case How.FUNCTION:
                return Function(payload)
            case How.CLASS:
                return LocalClass(payload)
            case How.FIRST:
                return LocalObject(payload)
            case How.ANNOTATED:
                return self._instance_of(self.resolve(payload, binding.scope))
        return None

    def _instance_of(self, value: Value) -> Value:
        """An object of a class that an annotation names."""
        if isinstance(value, Ref):
            name = self.tables.canonical(value.name)
            if paths.is_path_class(name) or self.tables.returned(name) == name:
                return Instance(name)
        return None

    def _item(self, value: Value, key: object) -> Value:
        if isinstance(value, Items) and isinstance(key, int):
            if -len(value.nodes) <= key < len(value.nodes):
                return self.resolve(value.nodes[key], value.scope)
        elif isinstance(value, Table):
            pairs = zip(value.node.keys, value.node.values, strict=True)
            found = [
                self.resolve(node, value.scope)
                for name, node in pairs
                if name is None or not isinstance(name, ast.Constant) or name.value == key
            ]
            return either(found) if found else None
        elif isinstance(value, Const) and isinstance(value.value, str) and isinstance(key, int):
            return folding.sliced(value.value, key, key + 1 or None, None)
        return None

    def _each(self, value: Value) -> Value:
        if isinstance(value, Items):
            return either([self.resolve(node, value.scope) for node in value.nodes[:MOST_PARTS]])
        if isinstance(value, Table):
            keys = [key for key in value.node.keys if key is not None]
            return either([self.resolve(key, value.scope) for key in keys[:MOST_PARTS]])
        if isinstance(value, Instance):
            for effect in self.tables.method(value.name, "__iter__"):
                if effect.power is Power.RETURNS and effect.constant:
                    return Instance(effect.constant)
        return None

    # ---- expressions

    def resolve(self, node: ast.expr, scope: Scope) -> Value:
        """What an expression may be."""
        kind = node.__class__
        if kind is ast.Name:
            return self.lookup(scope, node.id)  # type: ignore[attr-defined]
        if kind is ast.Constant:
            return Const(node.value)  # type: ignore[attr-defined]
        known = self._known
        if node in known:
            return known[node]
        way = _WAYS.get(kind)
        if way is None or self._depth >= MOST_DEPTH:
            return None
        known[node] = None  # what leads back to itself is not known
        self._depth += 1
        try:
            value: Value = way(self, node, scope)
        except RecursionError:
            value = None
        finally:
            self._depth -= 1
        known[node] = value
        return value

    def _attribute(self, node: ast.Attribute, scope: Scope) -> Value:
        names = [node.attr]
        base = node.value
        while isinstance(base, ast.Attribute):
            names.append(base.attr)
            base = base.value
        value = self.resolve(base, scope)
        for name in reversed(names):
            if value is None:
                return None
            value = self.attribute_of(value, name)
        return value

    def attribute_of(self, value: Value, name: str) -> Value:
        """`value.name`."""
        if value.__class__ is Ref:
            return self._member(value.name, name)  # type: ignore[union-attr]
        match value:
            case Either():
                return either([self.attribute_of(each, name) for each in value.values])
            case Instance():
                if name in ("__enter__", "__aenter__"):
                    return value
                return paths.property_of(value, name) or Method(value, name)
            case LocalObject() | LocalClass():
                return self._own_member(value.scope, name)
            case Const() | Items() | Table() | Namespace():
                return ConstMethod(value, name)
            case Method() if name == "__self__":
                return value.owner
        return None

    def _member(self, owner: str, name: str) -> Value:
        if name == "__dict__":
            return Namespace(Ref(owner))
        if name == "__self__" and owner.startswith(f"{BUILTINS}."):
            return Ref(BUILTINS)
        if name == "__call__":
            return Ref(owner)
        qualified = f"{owner}.{name}"
        if qualified in paths.SEPARATORS:
            return Const(paths.SEPARATORS[qualified])
        if (
            name in _BORROWED
            and self.tables.listed(qualified) is None
            and not (self.tables.is_module(qualified))
        ):
            # Whatever module it was taken from: it is that one.
            return Ref(_BORROWED[name])
        return Ref(qualified)

    def _own_member(self, scope: Scope, name: str) -> Value:
        bindings = [*scope.names.get(name, ()), *scope.members.get(name, ())]
        if bindings:
            key = f".{name}"
            if key not in scope.found:
                scope.found[key] = None
                # Another class may have the same attribute, and be what the object really is.
                others = [
                    each
                    for other in self.walk.classes
                    if other is not scope and other.bases
                    for each in other.names.get(name, ())
                    if each.how is How.VALUE
                ]
                value = self.bound([*bindings, *others])
                if name in self.walk.reassigned and _may_change(value):
                    value = either([value, None])
                scope.found[key] = value
            return scope.found[key]
        for base in scope.bases:
            for value in alternatives(self.resolve(base, scope.parent or scope)):
                if isinstance(value, Ref):
                    return Method(Instance(value.name), name)
                if isinstance(value, LocalClass) and value.scope is not scope:
                    return self._own_member(value.scope, name)
        return None

    def _call(self, node: ast.Call, scope: Scope) -> Value:
        function = self.resolve(node.func, scope)
        return either([self._called(each, node, scope) for each in alternatives(function)])

    def _called(self, function: Value, node: ast.Call, scope: Scope) -> Value:
        match function:
            case Ref():
                return self._reference_called(function.name, node, scope)
            case Method():
                return self._method_called(function, node, scope)
            case ConstMethod():
                return self._const_method_called(function, node, scope)
            case Function():
                if function.scope.returns:
                    return either(
                        [self.resolve(each, function.scope) for each in function.scope.returns[:8]]
                    )
            case LocalClass():
                return LocalObject(function.scope)
            case Getter() if node.args:
                return self.got(function, self.resolve(node.args[0], scope))
        return None

    def got(self, getter: Getter, value: Value) -> Value:
        """What a getter takes from a value."""
        for part in getter.name.split("."):
            value = either(
                [
                    self.looked_up(each, part)
                    if isinstance(each, Namespace)
                    else self.attribute_of(each, part)
                    for each in alternatives(value)
                ]
            )
        return value

    def _reference_called(self, given: str, node: ast.Call, scope: Scope) -> Value:
        name = self.tables.canonical(given)
        if name in _REFLECTING:
            return self._reflected(node, scope)
        if name in _NAMESPACES:
            return Namespace(self.resolve(node.args[0], scope) if node.args else None)
        if name in _GETTERS:
            got = self.constant(node.args[0], scope) if node.args else None
            return Getter(got) if isinstance(got, str) else None
        if name in _PASS_ON and node.args:
            return self.resolve(node.args[0], scope)
        if name.endswith(".__getattribute__") and node.args:
            got = self.constant(node.args[-1], scope)
            owner = Ref(name.removesuffix(".__getattribute__"))
            return self.attribute_of(owner, got) if isinstance(got, str) else None
        if name in ("builtins.list", "builtins.tuple") and node.args:
            return self.resolve(node.args[0], scope)
        if name == "builtins.reversed" and node.args:
            return _turned(self.resolve(node.args[0], scope))
        folded = paths.called(self, name, node, scope)
        if folded is not None:
            return folded
        values = [self.resolve(each, scope) for each in node.args[:4]]
        if values and all(isinstance(value, Const) for value in values):
            plain = [value.value for value in values if isinstance(value, Const)]
            found = folding.function_called(name, plain)
            if found is not None:
                return found
        return self._made_by(name, self.tables.member(name) or (), node, scope)

    def _made_by(
        self, name: str, effects: tuple[Effect, ...], node: ast.Call, scope: Scope
    ) -> Value:
        for effect in effects:
            if effect.power is Power.RETURNS and effect.arguments:
                position = effect.arguments[0].position or 0
                got = self.constant(node.args[position], scope) if node.args[position:] else None
                return Ref(got) if isinstance(got, str) and got else None
        made = self.tables.returned(name)
        return None if made is None else Instance(made)

    def _method_called(self, method: Method, node: ast.Call, scope: Scope) -> Value:
        joined = paths.method_called(self, method, node, scope)
        if joined is not None:
            return joined
        effects = self.tables.method(method.owner.name, method.name)
        return self._made_by(f"{method.owner.name}.{method.name}", effects, node, scope)

    def _reflected(self, node: ast.Call, scope: Scope) -> Value:
        if len(node.args) < 2:  # noqa: PLR2004 - an object and a name
            return None
        name = self.constant(node.args[1], scope)
        if not isinstance(name, str):
            return None
        return self.attribute_of(self.resolve(node.args[0], scope), name)

    def _const_method_called(self, method: ConstMethod, node: ast.Call, scope: Scope) -> Value:
        owner = method.owner
        if isinstance(owner, Namespace):
            key = self.constant(node.args[0], scope) if node.args else UNKNOWN
            return self.looked_up(owner, key) if method.name in _LOOKS_UP else None
        if isinstance(owner, Table):
            if method.name in _LOOKS_UP and node.args:
                return self._item(owner, self.constant(node.args[0], scope))
            return None
        if isinstance(owner, Items):
            if method.name == "pop":
                return self._each(owner)
            return None
        text = owner.value
        if method.name == "join" and isinstance(text, str) and node.args:
            return self._joined(text, self.resolve(node.args[0], scope), node.args[0], scope)
        if method.name == "split" and isinstance(text, str) and len(text) < _MOST_SPLIT:
            between = self.constant(node.args[0], scope) if node.args else None
            if between is None or (isinstance(between, str) and between):
                return Items([ast.Constant(word) for word in text.split(between)], scope)
        if method.name == "format" and isinstance(text, str):
            named = {
                each.arg: self.resolve(each.value, scope) for each in node.keywords if each.arg
            }
            return folding.formatted(text, [self.resolve(each, scope) for each in node.args], named)
        values = [self.resolve(each, scope) for each in node.args[:4]]
        if all(isinstance(value, Const) for value in values):
            plain = [value.value for value in values if isinstance(value, Const)]
            return folding.method_called(text, method.name, plain)
        return None

    def _joined(self, between: str, value: Value, node: ast.expr, scope: Scope) -> Value:
        parts: list[Value] = []
        if isinstance(value, Items):
            parts = [self.resolve(each, value.scope) for each in value.nodes[:MOST_PARTS]]
        elif isinstance(value, Const) and isinstance(value.value, str):
            parts = [Const(letter) for letter in value.value]
        elif isinstance(node, ast.ListComp | ast.GeneratorExp):
            return self._letters(node, scope)
        elif isinstance(node, ast.Call) and not between:
            return self._mapped(node, scope)
        else:
            return None
        spaced: list[Value] = []
        for part in parts:
            spaced += [part] if not spaced else [Const(between), part]
        return folding.joined_parts(spaced)

    def _letters(self, node: ast.ListComp | ast.GeneratorExp, scope: Scope) -> Value:
        """`chr(x) for x in [1, 2, 3]`, with arithmetic left out: then it is not known."""
        maker = node.elt
        if len(node.generators) != 1 or not isinstance(maker, ast.Call):
            return None
        each = node.generators[0]
        if not (
            isinstance(each.target, ast.Name) and [_name(a) for a in maker.args] == [each.target.id]
        ):
            return None
        function = self.resolve(maker.func, scope)
        return self._each_called(function, self.resolve(each.iter, scope))

    def _mapped(self, node: ast.Call, scope: Scope) -> Value:
        """`map(chr, [1, 2, 3])`."""
        function = self.resolve(node.func, scope)
        if isinstance(function, Ref) and function.name == "builtins.map" and len(node.args) == 2:  # noqa: PLR2004
            maker = self.resolve(node.args[0], scope)
            return self._each_called(maker, self.resolve(node.args[1], scope))
        return None

    def _each_called(self, function: Value, value: Value) -> Value:
        if not isinstance(function, Ref):
            return None
        parts: list[Value] = []
        if isinstance(value, Items):
            parts = [self.resolve(each, value.scope) for each in value.nodes[:MOST_PARTS]]
        elif isinstance(value, Const) and isinstance(value.value, bytes):
            parts = [Const(number) for number in value.value[:MOST_PARTS]]
        made = [
            folding.function_called(function.name, [part.value])
            if isinstance(part, Const)
            else None
            for part in parts
        ]
        return folding.joined_parts(made) if made else None

    def _subscript(self, node: ast.Subscript, scope: Scope) -> Value:
        value = self.resolve(node.value, scope)
        if isinstance(node.slice, ast.Slice):
            return self._sliced(value, node.slice, scope)
        key = self.constant(node.slice, scope)
        return either([self.looked_up(each, key) for each in alternatives(value)])

    def looked_up(self, value: Value, key: object) -> Value:
        """`value[key]` for a key that is a constant."""
        match value:
            case Namespace() if isinstance(key, str):
                if value.owner is None:
                    if key in self.module.names:
                        return self.lookup(self.module, key)
                    return self._builtin(key)
                return self.attribute_of(value.owner, key)
            case Ref() if value.name == BUILTINS and isinstance(key, str):
                return Ref(f"{BUILTINS}.{key}")
            case Ref():
                return self._indexed(value, key)
        return self._item(value, key)

    def _indexed(self, value: Ref, key: object) -> Value:
        for effect in self.tables.listed(f"{value.name}.__getitem__") or ():
            if effect.power is Power.RETURNS and effect.arguments and isinstance(key, str):
                return Ref(key)
        return paths.variable(value.name, key)

    def _sliced(self, value: Value, node: ast.Slice, scope: Scope) -> Value:
        bounds = [
            None if bound is None else self.constant(bound, scope)
            for bound in (node.lower, node.upper, node.step)
        ]
        if isinstance(value, Const):
            return folding.sliced(value.value, *bounds)
        if isinstance(value, Items) and bounds == [None, None, -1]:
            return Items(value.nodes[::-1], value.scope)
        return None

    def _operation(self, node: ast.BinOp, scope: Scope) -> Value:
        if isinstance(node.op, ast.Add):
            return self._sum(node, scope)
        left = self.resolve(node.left, scope)
        right = self.resolve(node.right, scope)
        if isinstance(node.op, ast.Div):
            return paths.divided(left, right)
        if isinstance(node.op, ast.Mult):
            return folding.repeated(left, right)
        if isinstance(node.op, ast.Mod) and isinstance(left, Const) and isinstance(left.value, str):
            values = [right]
            if isinstance(right, Items):
                values = [self.resolve(each, right.scope) for each in right.nodes]
            return folding.filled(left.value, values)
        if isinstance(left, Const) and isinstance(right, Const):
            return _arithmetic(node.op, left.value, right.value)
        return None

    def _sum(self, node: ast.BinOp, scope: Scope) -> Value:
        """A chain of additions, which may be long, without a step down for each."""
        parts: list[ast.expr] = []
        left: ast.expr = node
        while isinstance(left, ast.BinOp) and isinstance(left.op, ast.Add):
            parts.append(left.right)
            left = left.left
        value = self.resolve(left, scope)
        for part in reversed(parts):
            if isinstance(value, Items):
                # The first word of a command stays what it is, whatever is added.
                more = self.resolve(part, scope)
                same = isinstance(more, Items) and more.scope is value.scope
                value = Items([*value.nodes, *more.nodes], scope) if same else value  # type: ignore[union-attr]
                continue
            value = folding.added(paths.as_text(value), paths.as_text(self.resolve(part, scope)))
            if value is None:
                return None
        return value

    def _f_string(self, node: ast.JoinedStr, scope: Scope) -> Value:
        parts = [
            self._filled_in(part, scope)
            if isinstance(part, ast.FormattedValue)
            else self.resolve(part, scope)
            for part in node.values
        ]
        return folding.joined_parts([paths.as_text(part) for part in parts])

    def _filled_in(self, part: ast.FormattedValue, scope: Scope) -> Value:
        plain = part.format_spec is None and part.conversion in (-1, ord("s"))
        return self.resolve(part.value, scope) if plain else None

    def _negated(self, node: ast.UnaryOp, scope: Scope) -> Value:
        value = self.resolve(node.operand, scope)
        if (
            isinstance(node.op, ast.USub)
            and isinstance(value, Const)
            and isinstance(value.value, int)
        ):
            return Const(-value.value)
        return None

    def _choice(self, node: ast.IfExp, scope: Scope) -> Value:
        return either([self.resolve(node.body, scope), self.resolve(node.orelse, scope)])

    def _any_of(self, node: ast.BoolOp, scope: Scope) -> Value:
        return either([self.resolve(each, scope) for each in node.values])

    def _inner(self, node: Any, scope: Scope) -> Value:
        return self.resolve(node.value, scope)

    def _written_out(self, node: ast.List | ast.Tuple | ast.Set, scope: Scope) -> Value:
        return Items(node.elts, scope)

    def _dictionary(self, node: ast.Dict, scope: Scope) -> Value:
        return Table(node, scope)

    def _own_function(self, node: ast.Lambda, _: Scope) -> Value:
        inner = getattr(node, "scope", None)
        return None if inner is None else Function(inner)

    # ---- constants

    def constant(self, node: ast.expr, scope: Scope) -> object:
        """The plain constant that an expression is; `UNKNOWN` where it is none, or may be others."""
        value = self.resolve(node, scope)
        return value.value if isinstance(value, Const) else UNKNOWN


class _Unknown:
    __slots__ = ()


UNKNOWN: Final = _Unknown()


def _is_ref(binding: Binding) -> bool:
    return binding.how is How.REFERENCE


def _is_itself(binding: Binding, name: str) -> bool:
    payload = binding.payload
    return isinstance(payload, ast.Name) and payload.id == name and binding.how is How.VALUE


def _may_change(value: Value) -> bool:
    """Whether a later assignment would matter: constants and containers."""
    return any(isinstance(each, Const | Items | Table | Partial) for each in alternatives(value))


def _turned(value: Value) -> Value:
    if isinstance(value, Items):
        return Items(value.nodes[::-1], value.scope)
    if isinstance(value, Const) and isinstance(value.value, str | bytes):
        return Const(value.value[::-1])
    return None


def _name(node: ast.expr) -> str | None:
    return node.id if isinstance(node, ast.Name) else None


def _arithmetic(operator: ast.operator, left: object, right: object) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        if isinstance(operator, ast.Sub):
            return Const(left - right)
        if isinstance(operator, ast.BitXor):
            return Const(left ^ right)
        if isinstance(operator, ast.BitOr):
            return Const(left | right)
    return None


_WAYS: Final[dict[type, Any]] = {
    ast.Attribute: Resolver._attribute,
    ast.Call: Resolver._call,
    ast.Subscript: Resolver._subscript,
    ast.BinOp: Resolver._operation,
    ast.UnaryOp: Resolver._negated,
    ast.JoinedStr: Resolver._f_string,
    ast.IfExp: Resolver._choice,
    ast.BoolOp: Resolver._any_of,
    ast.NamedExpr: Resolver._inner,
    ast.Await: Resolver._inner,
    ast.Starred: Resolver._inner,
    ast.List: Resolver._written_out,
    ast.Tuple: Resolver._written_out,
    ast.Set: Resolver._written_out,
    ast.Dict: Resolver._dictionary,
    ast.Lambda: Resolver._own_function,
}

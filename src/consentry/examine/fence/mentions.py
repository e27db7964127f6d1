"""Every place that names a token's class: a type may be named, and nothing else may be done with it.

What is allowed is listed, and all the rest is reported: annotations, `isinstance`, `case`, `is`,
`cast`, and attributes that only describe. So it does not matter how a class would be called later:
whoever gives it another name, puts it into a container or passes it on is reported there.
"""

import ast
from collections.abc import Callable, Mapping
from typing import Final

from consentry.examine.fence.findings import Rule
from consentry.examine.fence.known import Known
from consentry.examine.fence.names import named_in
from consentry.examine.fence.roles import (
    ASK_ABOUT,
    CHANGES,
    COPIES,
    DESCRIBES,
    FETCHERS,
    FILLS,
    LOOKS_INSIDE,
    READS_HINTS,
    SAID,
    TAKERS,
    TAKES,
    TYPE_TESTS,
    TYPING,
    TYPING_MODULES,
    VALIDATES,
    Role,
)
from consentry.examine.fence.shapes import called, dotted

Report = Callable[[ast.AST, Rule, str], None]


class Mentions:
    """Walks one file; tells every use of a token's class, and of what copies a token."""

    def __init__(self, known: Known, bound: Mapping[str, str], report: Report) -> None:
        self.known = known
        self.bound = bound
        """What the file binds, and to what it was imported; its own `isinstance` is not the built-in."""
        self.report = report
        self.stack: list[tuple[ast.AST, Role]] = []

    def walk(self, tree: ast.Module) -> None:
        """Tells all that is to be told of the file."""
        for alias, name in self.known.renamed:
            said = f"`{name}` is imported as `{alias.asname}`"
            self.report(alias, Rule.RENAMED, said)
        self.stack = [(each, Role.VALUE) for each in reversed(tree.body)]
        while self.stack:
            node, role = self.stack.pop()
            if isinstance(node, ast.expr):
                self._expression(node, role)
            else:
                self._other(node)

    def _push(self, role: Role, *nodes: ast.AST | None) -> None:
        self.stack += [(node, role) for node in reversed(nodes) if node is not None]

    # ---- expressions

    def _expression(self, node: ast.expr, role: Role) -> None:
        name = self.known.class_named(node)
        if name is not None and not isinstance(getattr(node, "ctx", None), ast.Store | ast.Del):
            if role is not Role.TYPE:
                rule, said = SAID[role]
                self.report(node, rule, f"`{name}` {said}")
            self._push_inside(node)
            return
        home = self.known.home_named(node)
        if home is not None and role is not Role.OWNER:
            self.report(node, Rule.HANDED_ON, f"the module `{home}` is handed on as a value")
            return
        handler = _EXPRESSIONS.get(node.__class__)
        if handler is not None:
            handler(self, node, role)
        else:
            self._push(Role.VALUE, *ast.iter_child_nodes(node))

    def _push_inside(self, node: ast.expr) -> None:
        match node:
            case ast.Attribute(value=inner):
                self._push(Role.OWNER, inner)
            case ast.Call(args=arguments):
                self._push(Role.OWNER, *arguments)

    def attribute(self, node: ast.Attribute, role: Role) -> None:
        """`value.name`: of a class only what describes it, of a token nothing that makes another."""
        owner = self.known.class_named(node.value)
        if owner is not None:
            is_stored = not isinstance(node.ctx, ast.Load)
            if is_stored or not (node.attr in DESCRIBES or node.attr.isupper()):
                said = "is set" if is_stored else "may make one"
                self.report(node, Rule.MADE, f"`{owner}.{node.attr}` {said}")
            self._push_inside(node.value)
            return
        if self.known.is_token(node.value):
            if node.attr in COPIES:
                self.report(node, Rule.COPIED, f"`.{node.attr}` of a token makes another one")
            elif node.attr in CHANGES:
                self.report(node, Rule.COPIED, f"`.{node.attr}` changes a token behind its type")
        if node.attr in LOOKS_INSIDE and self.known.is_named:
            said = f"`.{node.attr}` leads to classes, in a file that names a token's"
            self.report(node, Rule.HANDED_ON, said)
        if node.attr == "__class__" and isinstance(node.ctx, ast.Store) and self.known.is_named:
            self.report(node, Rule.MADE, "an object is given another class")
        self._push(Role.TYPE if role is Role.TYPE else Role.OWNER, node.value)

    def call(self, node: ast.Call, _: Role) -> None:
        """`function(…)`: some functions only ask about a class."""
        self._push(Role.CALLEE, node.func)
        name = called(node.func)
        is_plain = isinstance(node.func, ast.Name) and name not in self.bound
        is_plain &= not self.known.has_foreign_star
        as_types: tuple[int, ...] = ()
        if is_plain and name in TYPE_TESTS:
            as_types = (1,)
        elif is_plain and name in ASK_ABOUT:
            as_types = (0,)
        elif name in TYPING and self._path(node.func).rpartition(".")[0] in TYPING_MODULES:
            as_types = TYPING[name]
        elif name in TAKES and self._path(node.func) in TAKERS:
            as_types = () if self.known.has_foreign_star else (0, 1)
        self._told_what(node, name)
        for position, argument in enumerate(node.args):
            self._push(Role.TYPE if position in as_types else Role.ARGUMENT, argument)
        for keyword in node.keywords:
            is_bound = name == "TypeVar" and keyword.arg in ("bound", "default")
            is_bound |= as_types == (0, 1) and keyword.arg in ("capability", "wanted")
            self._push(Role.TYPE if is_bound else Role.ARGUMENT, keyword.value)

    def _told_what(self, node: ast.Call, name: str) -> None:
        """Functions that find a class by what they are told: its name, its hints, who has it in a field."""
        if name in FETCHERS:
            for argument in node.args:
                self._name_of_class(argument)
        elif name in READS_HINTS and self.known.is_named:
            self.report(
                node, Rule.HANDED_ON, f"`{name}` leads to classes, in a file that names a token's"
            )
        elif name in FILLS:
            for each in (*node.args, *(keyword.value for keyword in node.keywords)):
                if called(each) in self.known.holders:
                    said = f"`{called(each)}` has a token in a field, and is filled from plain data"
                    self.report(each, Rule.HANDED_ON, said)

    def _name_of_class(self, node: ast.expr) -> None:
        match node:
            case ast.Attribute(value=value, attr="__name__" | "__qualname__"):
                if self.known.class_named(value) is not None:
                    self.report(node, Rule.BY_NAME, "a token's class is fetched by its name")

    def subscript(self, node: ast.Subscript, role: Role) -> None:
        """`value[key]`; a key that is the name of a class leads back to it."""
        self._name_of_class(node.slice)
        self.same_role(node, role)

    def _path(self, function: ast.expr) -> str:
        """The dotted name of a function, by what its first name was imported as."""
        first, _, rest = dotted(function).partition(".")
        start = self.bound.get(first, "")
        return f"{start}.{rest}" if start and rest else start

    def same_role(self, node: ast.expr, role: Role) -> None:
        """What gives one of its parts as it is."""
        if isinstance(node, ast.IfExp):
            self._push(Role.VALUE, node.test)
            self._push(role, node.body, node.orelse)
        else:
            self._push(role, *ast.iter_child_nodes(node))

    def container(self, node: ast.expr, role: Role) -> None:
        """`[…]`, `(…)`, `{…}`; a tuple of types is one in the place of a type."""
        kept = Role.TYPE if role is Role.TYPE else Role.ITEM
        self._push(kept, *ast.iter_child_nodes(node))

    def named(self, node: ast.NamedExpr, _: Role) -> None:
        """`(name := value)`."""
        self._push(Role.ALIAS, node.value)

    def anonymous(self, node: ast.Lambda, _: Role) -> None:
        """`lambda: value`."""
        self._push(Role.DEFAULT, *node.args.defaults, *node.args.kw_defaults)
        self._push(Role.RESULT, node.body)

    def comparison(self, node: ast.Compare, _: Role) -> None:
        """`is` asks nobody; `==` and `in` ask the left side, which is to be a class itself."""
        is_class = isinstance(node.left, ast.Call) and called(node.left.func) == "type"
        is_class |= isinstance(node.left, ast.Attribute) and node.left.attr == "__class__"
        asks_nobody = all(isinstance(each, ast.Is | ast.IsNot) for each in node.ops)
        left = Role.TYPE if asks_nobody or is_class else Role.VALUE
        self._push(left, node.left)
        self._push(Role.TYPE if asks_nobody or is_class else Role.VALUE, *node.comparators)

    def formatted(self, node: ast.FormattedValue, _: Role) -> None:
        """`f"{value}"`."""
        self._push(Role.TYPE, node.value)
        self._push(Role.VALUE, node.format_spec)

    def given_back(self, node: ast.Yield | ast.YieldFrom | ast.Await, _: Role) -> None:
        """`yield value`."""
        self._push(Role.RESULT, node.value)

    # ---- statements, and what is neither

    def _other(self, node: ast.AST) -> None:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node)
            case ast.ClassDef():
                self._class(node)
            case ast.AnnAssign():
                self._annotated(node)
            case ast.Assign(targets=targets, value=value):
                self._push(Role.VALUE, *targets)
                is_type = isinstance(value, ast.Subscript) or (
                    isinstance(value, ast.BinOp) and isinstance(value.op, ast.BitOr)
                )
                self._push(Role.TYPE if is_type else Role.ALIAS, value)
            case ast.Return(value=value):
                self._push(Role.RESULT, value)
            case ast.Expr(value=value):
                self._push(Role.TYPE if isinstance(value, ast.Name) else Role.VALUE, value)
            case ast.ExceptHandler(type=caught, body=body):
                self._push(Role.TYPE, caught)
                self._push(Role.VALUE, *body)
            case ast.MatchClass(cls=named):
                self._push(Role.TYPE, named)
                self._push(Role.VALUE, *node.patterns, *node.kwd_patterns)
            case ast.keyword(value=value):
                self._push(Role.ARGUMENT, value)
            case _ if node.__class__.__name__ == "TypeAlias":
                self._push(Role.TYPE, getattr(node, "value", None))
            case _:
                self._push(Role.VALUE, *ast.iter_child_nodes(node))

    def _annotated(self, node: ast.AnnAssign) -> None:
        self._push(Role.TYPE, node.annotation)
        self._push(Role.VALUE, node.target)
        is_alias = called(node.annotation) == "TypeAlias" and not isinstance(
            node.value, ast.Name | ast.Attribute
        )
        self._push(Role.TYPE if is_alias else Role.ALIAS, node.value)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._push(Role.DECORATOR, *node.decorator_list)
        given = node.args
        self._push(Role.DEFAULT, *given.defaults, *given.kw_defaults)
        everyone = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        annotations = [each.annotation for each in everyone if each is not None]
        self._push(Role.TYPE, *annotations, node.returns)
        self._push(Role.VALUE, *node.body)
        decorators = [
            each.func if isinstance(each, ast.Call) else each for each in node.decorator_list
        ]
        if VALIDATES.intersection(map(called, decorators)) or any(
            map(self.known.is_model, decorators)
        ):
            self._validated(annotations, "a parameter that is validated")

    def _class(self, node: ast.ClassDef) -> None:
        self._push(Role.DECORATOR, *node.decorator_list)
        for base in node.bases:
            named = base.value if isinstance(base, ast.Subscript) else base
            if isinstance(base, ast.Subscript) and self.known.class_named(named) is None:
                self._push(Role.BASE if self.known.is_model(named) else Role.TYPE, base.slice)
                self._push(Role.BASE, named)
            else:
                self._push(Role.BASE, base)
        self._push(Role.ARGUMENT, *(keyword.value for keyword in node.keywords))
        self._push(Role.VALUE, *node.body)
        if any(map(self.known.is_model, (*node.bases, *node.decorator_list))):
            fields = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
            self._validated(fields, "a field of a model")

    def _validated(self, annotations: "list[ast.expr | None] | list[ast.expr]", what: str) -> None:
        """What pydantic validates is made from plain data."""
        for annotation in annotations:
            for part in ast.walk(annotation) if annotation is not None else ():
                name = self.known.class_named(part) if isinstance(part, ast.expr) else None
                if isinstance(part, ast.Constant) and isinstance(part.value, str):
                    name = next(filter(self.known.family, named_in(part.value)), None)
                if name is not None:
                    said = f"`{name}` types {what}, which makes one from plain data"
                    self.report(part, Rule.HANDED_ON, said)


_EXPRESSIONS: Final[dict[type, Callable[..., None]]] = {
    ast.Attribute: Mentions.attribute,
    ast.Call: Mentions.call,
    ast.IfExp: Mentions.same_role,
    ast.BoolOp: Mentions.same_role,
    ast.Starred: Mentions.same_role,
    ast.Subscript: Mentions.subscript,
    ast.BinOp: Mentions.same_role,
    ast.Tuple: Mentions.container,
    ast.List: Mentions.container,
    ast.Set: Mentions.container,
    ast.Dict: Mentions.container,
    ast.NamedExpr: Mentions.named,
    ast.Lambda: Mentions.anonymous,
    ast.Compare: Mentions.comparison,
    ast.FormattedValue: Mentions.formatted,
    ast.Yield: Mentions.given_back,
    ast.YieldFrom: Mentions.given_back,
    ast.Await: Mentions.given_back,
}

"""What a file knows of tokens: names of their classes, names of tokens themselves, and of their homes.

Scopes and the order of lines do not count: a name that stands for a token anywhere in the file does so
everywhere in it. That reports too much rather than too little, in files that name tokens at all.
"""

import ast
from typing import Final

from consentry.examine.fence.findings import Family
from consentry.examine.fence.names import (
    HOLD_CLASSES,
    LEADING_THERE,
    MAKER,
    PERMIT,
    STAND_FOR_CLASSES,
    family_of,
    named_in,
)
from consentry.examine.fence.shapes import (
    annotated,
    bindings,
    called,
    dotted,
    types_in,
    values_in,
)

_GIVES_TOKENS: Final = frozenset({"mint", MAKER, "make_and_spend"})
_VALIDATOR: Final = "pydantic"
_MODELS: Final = ("Model", "BaseSettings")
_TESTS: Final = frozenset({"isinstance", "issubclass"})
_DEEPEST: Final = max(path.count(".") for path in LEADING_THERE)
_NEVER: Final = frozenset({"", "self", "cls", "_"})


class Known:
    """What the names of one file stand for, as far as tokens go."""

    def __init__(self, tree: ast.Module, pardoned: frozenset[Family]) -> None:
        self.pardoned = pardoned
        self.classes: dict[str, Family] = {}
        """Names that stand for a token's class without being spelled like one."""
        self.tokens: set[str] = set()
        """Names and attributes that stand for a token."""
        self.homes: dict[str, str] = {}
        """Names that stand for a module in which tokens are made, or begin its dotted name."""
        self.renamed: list[tuple[ast.alias, str]] = []
        self.is_named = False
        """Whether any name of the file is that of a token's class."""
        self.models: set[str] = set()
        """Classes, and what makes them, that turn plain data into objects of their fields' types."""
        self.holders: set[str] = set()
        """Classes of the file with a token in a field: whoever fills one from data makes a token."""
        self.has_foreign_star = False
        """Whether names of somebody else's choice may stand for any name that is not bound here."""
        self._own_permit = False
        self._asked: dict[int, bool] = {}
        self.nodes = nodes = list(ast.walk(tree))
        self._read_imports(tree, nodes)
        self._follow_models(nodes)
        self._follow_classes(nodes)
        self._follow_tokens(nodes)

    # ---- asked by the walk

    def family(self, name: str) -> Family | None:
        """Whose class a name is, unless it may be made here."""
        if name == PERMIT and self._own_permit:
            return None
        found = self.classes.get(name) or family_of(name)
        return None if found in self.pardoned else found

    def class_named(self, node: ast.expr) -> str | None:
        """How an expression names a token's class, also through a token; None where it does not."""
        match node:
            case ast.Name(id=name) if self.family(name):
                return name
            case ast.Attribute(attr=attr) if (
                family_of(attr) and family_of(attr) not in self.pardoned
            ):
                return attr
            case ast.Attribute(value=value, attr="__class__") if self.is_token(value):
                return "__class__"
            case ast.Call(func=ast.Name(id="type"), args=[value], keywords=[]) if self.is_token(
                value
            ):
                return "type()"
        return None

    def is_model(self, node: ast.expr) -> bool:
        """Whether an expression is a base or a decorator that makes a class validate its fields."""
        while isinstance(node, ast.Call | ast.Subscript):
            node = node.func if isinstance(node, ast.Call) else node.value
        return dotted(node).partition(".")[0] in self.models or called(node).endswith(_MODELS)

    def home_named(self, node: ast.expr) -> str | None:
        """The module with a home that an expression names."""
        path = dotted(node, _DEEPEST)
        if not path:
            return None
        first, _, rest = path.partition(".")
        start = self.homes.get(first)
        if start is None:
            return None
        whole = f"{start}.{rest}" if rest else start
        return whole if whole in LEADING_THERE else None

    def is_token(self, node: ast.expr) -> bool:
        """Whether an expression may be a token, or a part of a bundle of them."""
        chain: list[int] = []
        # Each link of a chain is asked about, so each remembers what the rest of the chain is.
        while (answer := self._asked.get(id(node), self._is_token_itself(node))) is None:
            chain.append(id(node))
            node = node.value  # type: ignore[attr-defined] # whatever has no answer has one
        self._asked.update(dict.fromkeys(chain, answer))
        return answer

    def _is_token_itself(self, node: ast.expr) -> bool | None:
        """The answer, unless what stands inside has to give it."""
        match node:
            case ast.Name(id=name):
                return name in self.tokens
            case ast.Attribute(attr=attr):
                return True if attr in self.tokens else None
            case ast.Call(func=function):
                return f"{called(function)}()" in self.tokens
            case ast.Subscript() | ast.Starred() | ast.Await() | ast.NamedExpr():
                return None
        return False

    # ---- gathered once

    def _read_imports(self, tree: ast.Module, nodes: list[ast.AST]) -> None:
        for node in nodes:
            match node:
                case ast.ImportFrom(module=module, names=aliases):
                    for alias in aliases:
                        bound = alias.asname or alias.name
                        is_ours = (module or "consentry").partition(".")[0] == "consentry"
                        self.has_foreign_star |= alias.name == "*" and not is_ours
                        self._import(f"{module or ''}.{alias.name}", alias, bound)
                        if (module or "").partition(".")[0] == _VALIDATOR:
                            self.models.add(bound)
                case ast.Import(names=aliases):
                    for alias in aliases:
                        if alias.name.partition(".")[0] == _VALIDATOR:
                            self.models.add(alias.asname or _VALIDATOR)
                        if alias.asname is not None:
                            self._import(alias.name, alias, alias.asname)
                        elif alias.name.partition(".")[0] in LEADING_THERE:
                            top = alias.name.partition(".")[0]
                            self.homes[top] = top
                case ast.Name(id=name) | ast.Attribute(attr=name) if family_of(name):
                    self.is_named = True
        imported = {
            alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names
        }
        own = (each for each in tree.body if isinstance(each, ast.ClassDef))
        is_own = any(each.name == PERMIT for each in own)
        self._own_permit = is_own and not imported.intersection((PERMIT, "*"))

    def _import(self, path: str, alias: ast.alias, bound: str) -> None:
        name = path.rpartition(".")[2]
        for whole in (path, f"consentry.{path.strip('.')}"):
            if whole in LEADING_THERE:
                self.homes[bound] = whole
        family = family_of(name)
        if family is None:
            self.is_named |= name in STAND_FOR_CLASSES and path.rpartition(".")[0] in HOLD_CLASSES
            return
        self.is_named = True
        if bound != name and family_of(bound) is None and family not in self.pardoned:
            self.classes[bound] = family
            self.renamed.append((alias, name))

    def _follow_models(self, nodes: list[ast.AST]) -> None:
        leads: dict[str, list[str]] = {}
        waiting: list[str] = []
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    leads.setdefault(called(base), []).append(node.name)
                if any(map(self.is_model, (*node.bases, *node.decorator_list))):
                    waiting.append(node.name)
        while waiting:
            name = waiting.pop()
            if name not in self.models:
                self.models.add(name)
                waiting += leads.get(name, ())

    def _follow_classes(self, nodes: list[ast.AST]) -> None:
        """Names that get a token's class, and classes derived from one, as far as that leads."""
        pairs = [pair for node in nodes for pair in bindings(node)]
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                pairs += [(node.name, base) for base in node.bases]
            for name, annotation in annotated(node):
                match annotation:
                    case ast.Subscript(value=ast.Name(id="type" | "Type"), slice=inner):
                        pairs.append((name, inner))
        leads: dict[str, list[str]] = {}
        for name, value in pairs:
            for part in types_in(value):
                leads.setdefault(part, []).append(name)
        waiting = [name for name in leads if self.family(name)]
        while waiting:
            start = waiting.pop()
            family = self.family(start)
            for name in leads.get(start, ()):
                if family is not None and self.family(name) is None and family_of(name) is None:
                    self.classes[name] = family
                    waiting.append(name)

    def _follow_tokens(self, nodes: list[ast.AST]) -> None:
        leads: dict[str, list[str]] = {}
        for node in nodes:
            for name, annotation in annotated(node):
                if name not in self.classes and self._types_a_token(annotation):
                    self.tokens.add(name)
            for name, value in bindings(node):
                for part in values_in(value):
                    leads.setdefault(part, []).append(name)
            self._note_tested(node)
            if isinstance(node, ast.ClassDef):
                fields = [each.annotation for each in node.body if isinstance(each, ast.AnnAssign)]
                if any(map(self._types_a_token, fields)):
                    self.holders.add(node.name)
        if self.is_named and not self.pardoned:
            self.tokens.update(f"{name}()" for name in _GIVES_TOKENS)
        waiting = [*self.tokens]
        while waiting:
            new = set(leads.get(waiting.pop(), ())) - self.tokens - _NEVER
            self.tokens |= new
            waiting += new
        self.tokens -= _NEVER

    def _note_tested(self, node: ast.AST) -> None:
        """Tests for a token's class, and functions that give one."""
        match node:
            case ast.Call(func=ast.Name(id=name), args=[tested, types]) if name in _TESTS:
                if self._types_a_token(types):
                    self.tokens.add(called(tested))
            case ast.Match(subject=subject, cases=cases):
                self._match(subject, cases)
            case ast.FunctionDef(name=name, returns=ast.expr() as returns):
                if self._types_a_token(returns):
                    self.tokens.add(f"{name}()")

    def _match(self, subject: ast.expr, cases: list[ast.match_case]) -> None:
        for case in cases:
            for part in ast.walk(case.pattern):
                if isinstance(part, ast.MatchClass) and self._types_a_token(part.cls):
                    self.tokens.add(called(subject))
                match part:
                    case ast.MatchAs(name=str(name), pattern=ast.MatchClass(cls=named)):
                        if self._types_a_token(named):
                            self.tokens.add(name)

    def _types_a_token(self, annotation: ast.expr) -> bool:
        for part in ast.walk(annotation):
            match part:
                case ast.Name(id=name) | ast.Attribute(attr=name) if self.family(name):
                    return True
                case ast.Constant(value=str(text)) if any(map(self.family, named_in(text))):
                    return True
        return False

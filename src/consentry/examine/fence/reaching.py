"""Ways to a token's class that do not spell it as a name: what calls and subscripts lead to.

Every call of a file is resolved with the guard's resolver, which follows aliases, containers, own
functions, `getattr`, namespaces, imports by name and constants that are put together. Where that ends
at a token's class, or at the module that is its home, it is reported.
"""

import ast
from collections.abc import Callable, Iterator
from typing import Final

from consentry.base.values import dataclass
from consentry.examine.fence.findings import Family, Rule
from consentry.examine.fence.names import HOME_MODULES, MAKER, PERMIT, last_part
from consentry.examine.fence.roles import CHANGES, COPIES
from consentry.examine.fence.shapes import called, without_calls
from consentry.examine.python.gathered import Gathered
from consentry.examine.python.resolve import Resolver
from consentry.examine.python.scopes import Mode, Scope
from consentry.examine.python.values import (
    Const,
    Items,
    LocalClass,
    Namespace,
    Ref,
    Value,
    alternatives,
)

Report = Callable[[ast.AST, Rule, str], None]
ReadInner = Callable[[ast.Call, str | bytes], None]

_MOST_WORDS: Final = 64
_NAMES_CLASSES: Final = frozenset(
    {
        *("getattr", "getattr_static", "attrgetter", "__getattribute__", "__getattr__"),
        *("import_module", "__import__", "resolve_name", "locate", "import_string"),
        *("import_object", "import_attr", "load_object", "safeimport", "find_class"),
        *("methodcaller", "itemgetter", "delattr", "setattr"),
    }
)
"""Functions that are given the name of what they fetch, by their last name."""
_LOOKS_UP: Final = frozenset({"get", "pop", "setdefault", "__getitem__", "getitem"})
_EXECUTES: Final = frozenset({"builtins.exec", "builtins.eval", "builtins.compile"})
_RUNS_TEXT: Final = frozenset({"runsource", "exec", "eval", "compile"})
_DICTIONARIES: Final = frozenset(
    {"__dict__", "__builtins__", "__globals__", "f_globals", "f_locals"}
)
_NAMESPACES: Final = frozenset({"globals", "locals", "vars"})
_COPIERS: Final = frozenset({"copy", "deepcopy", "replace", "evolve", "__replace__"})
_RESTORERS: Final = frozenset(
    {
        *("pickle", "_pickle", "cPickle", "dill", "cloudpickle", "jsonpickle", "shelve", "joblib"),
        *("copyreg", "marshal"),
    }
)
_RESTORES: Final = frozenset({"unsafe_load", "full_load", "read_pickle", "_reconstructor"})
_FETCHES: Final = frozenset({"getattr", "getattr_static", "__getattribute__"})
_NEVER_FETCHED: Final = COPIES | CHANGES | {"__class__"}
_SETS: Final = frozenset({"setattr", "delattr", "__setattr__", "__delattr__", "vars"})


@dataclass(frozen=True, slots=True)
class Place:
    """A file that was walked: what it binds, what that stands for, and whom to tell."""

    gathered: Gathered
    resolver: Resolver
    report: Report


class Reaching:
    """Goes through the calls of one file."""

    def __init__(
        self,
        place: Place,
        family: Callable[[str], Family | None],
        read_inner: ReadInner,
        is_token: Callable[[ast.expr], bool] | None,
    ) -> None:
        self.gathered = place.gathered
        self.resolver = place.resolver
        self.report = place.report
        self.read_inner = read_inner
        self.family = family
        self.is_token = is_token
        """Whether an expression may be a token; None in a file that names none."""

    def walk(self) -> None:
        """Tells all that calls, subscripts and assigned values lead to."""
        for scope in self.gathered.scopes:
            for call in scope.calls:
                self._call(call, scope)
            for value, key, mode in scope.subscripts:
                if mode is Mode.GET:
                    self._subscript(value, key, scope)

    # ---- calls

    def _call(self, node: ast.Call, scope: Scope) -> None:
        function = node.func
        value = self.resolver.resolve(function, scope)
        spelled = called(function)
        for each in alternatives(value):
            if isinstance(each, Ref):
                self._reference(each.name, node, scope)
            elif isinstance(each, LocalClass) and not isinstance(function, ast.Name):
                self._derived(each, node)
        if spelled == MAKER and value is None and self.family(PERMIT):
            self.report(node, Rule.MADE, f"`{MAKER}` makes a permit")
        if spelled in _NAMES_CLASSES:
            self._by_name(node, scope)
        elif spelled in _LOOKS_UP and isinstance(function, ast.Attribute):
            if self._is_namespace(function.value, scope):
                self._by_name(node, scope)
        elif spelled in _RUNS_TEXT and value is None and node.args:
            self._inner(node, scope)
        self._dotted_arguments(node)
        if self.is_token is not None:
            self._token_changed(spelled, value, node)

    def _reference(self, name: str, node: ast.Call, scope: Scope) -> None:
        last = last_part(name)
        if self.family(last) is not None:
            self.report(node, Rule.MADE, f"`{last}` is made here")
        elif last == MAKER and self.family(PERMIT):
            self.report(node, Rule.MADE, f"`{MAKER}` makes a permit")
        if name in _EXECUTES and node.args:
            self._inner(node, scope)
        if last in _NAMES_CLASSES:
            self._by_name(node, scope)
        if self.is_token is not None:
            top = name.partition(".")[0]
            if (
                top in _RESTORERS and last.startswith(("load", "Unpick", "decode", "open", "_"))
            ) or (last in _RESTORES):
                said = f"`{name}` may restore a token, in a file that names one"
                self.report(node, Rule.COPIED, said)

    def _derived(self, value: LocalClass, node: ast.Call) -> None:
        for base in value.scope.bases:
            for each in alternatives(
                self.resolver.resolve(base, value.scope.parent or value.scope)
            ):
                if isinstance(each, Ref) and self.family(last_part(each.name)):
                    said = f"a class derived from `{last_part(each.name)}` is made here"
                    self.report(node, Rule.MADE, said)

    def _token_changed(self, spelled: str, value: Value, node: ast.Call) -> None:
        """Functions that copy a token that they are given, or change it."""
        if self.is_token is None or not node.args:
            return
        names = {last_part(e.name) for e in alternatives(value) if isinstance(e, Ref)}
        if names & {"copy", "deepcopy"} and self._holds_token(node.args[0]):
            self.report(node, Rule.COPIED, f"`{spelled}` makes another token of one")
        if not self.is_token(node.args[0]):
            return
        if spelled in _FETCHES:
            self._fetched(node)
        is_reference = any(isinstance(each, Ref) for each in alternatives(value))
        if spelled in _COPIERS | _SETS or is_reference:
            names = {
                spelled,
                *(last_part(e.name) for e in alternatives(value) if isinstance(e, Ref)),
            }
            if names & _COPIERS and is_reference:
                self.report(node, Rule.COPIED, f"`{spelled}` makes another token of one")
            elif names & _SETS:
                self.report(node, Rule.COPIED, f"`{spelled}` changes a token behind its type")

    def _holds_token(self, node: ast.expr) -> bool:
        is_token = self.is_token
        parts = (each for each in without_calls(node) if isinstance(each, ast.Name))
        return is_token is not None and any(map(is_token, parts))

    def _fetched(self, node: ast.Call) -> None:
        """`getattr(token, …)`: what a token says may be fetched, and what makes another may not."""
        match node.args:
            case [_, ast.Constant(value=str(word)), *_] if word not in _NEVER_FETCHED:
                return
        self.report(node, Rule.COPIED, "what is fetched from a token may make or change one")

    # ---- names in texts

    def _by_name(self, node: ast.Call, scope: Scope) -> None:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        for argument in given:
            for text in self._texts(argument, scope):
                last = last_part(text)
                if self.family(last) is not None or last == MAKER:
                    self.report(node, Rule.BY_NAME, f"`{last}` is fetched by its name")
                elif text in HOME_MODULES:
                    self.report(node, Rule.BY_NAME, f"the module `{text}` is fetched by its name")
        for each in alternatives(self.resolver.resolve(node, scope)):
            if isinstance(each, Ref) and (
                each.name in HOME_MODULES or self.family(last_part(each.name)) is not None
            ):
                self.report(node, Rule.BY_NAME, f"`{last_part(each.name)}` is fetched by its name")

    def _dotted_arguments(self, node: ast.Call) -> None:
        """`"package.module:NameCapability"`, given to whoever may load it."""
        for argument in node.args:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                text = argument.value
                if self.family(last_part(text)) and last_part(text) != text and _is_path(text):
                    said = f"`{last_part(text)}` is named by its path"
                    self.report(node, Rule.BY_NAME, said)

    def _subscript(self, value: ast.expr, key: ast.expr, scope: Scope) -> None:
        if isinstance(key, ast.Constant) and not isinstance(key.value, str):
            return
        if isinstance(key, ast.Slice) or (
            isinstance(key, ast.Constant)
            and self.family(str(key.value)) is None
            and key.value not in (MAKER, *HOME_MODULES)
        ):
            return
        texts = [*self._texts(key, scope)]
        named = [text for text in texts if self.family(text) or text == MAKER]
        if named and self._is_namespace(value, scope):
            self.report(value, Rule.BY_NAME, f"`{named[0]}` is fetched by its name")
        homes = [text for text in texts if text in HOME_MODULES]
        if homes and called(value) == "modules":
            self.report(value, Rule.BY_NAME, f"the module `{homes[0]}` is fetched by its name")

    def _is_namespace(self, node: ast.expr, scope: Scope) -> bool:
        if isinstance(node, ast.Attribute) and node.attr in _DICTIONARIES:
            return True
        if isinstance(node, ast.Call) and called(node.func) in _NAMESPACES:
            return True
        return any(
            isinstance(each, Namespace) for each in alternatives(self.resolver.resolve(node, scope))
        )

    def _texts(self, node: ast.expr, scope: Scope) -> Iterator[str]:
        for each in alternatives(self.resolver.resolve(node, scope)):
            if isinstance(each, Const) and isinstance(each.value, str):
                yield each.value
            elif isinstance(each, Items):
                for item in each.nodes[:_MOST_WORDS]:
                    if isinstance(item, ast.Constant) and isinstance(item.value, str):
                        yield item.value

    def _inner(self, node: ast.Call, scope: Scope) -> None:
        is_known = False
        for each in alternatives(self.resolver.resolve(node.args[0], scope)):
            if isinstance(each, Const) and isinstance(each.value, str | bytes):
                is_known = True
                self.read_inner(node, each.value)
        is_run = called(node.func) in ("exec", "eval") and isinstance(node.func, ast.Name)
        if is_run and not is_known and self.is_token is not None:
            said = "what is executed is not known, in a file that names a token's class"
            self.report(node, Rule.BY_NAME, said)


def _is_path(text: str) -> bool:
    return all(part.isidentifier() for part in text.replace(":", ".").split("."))

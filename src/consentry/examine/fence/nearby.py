"""Ways around the names, in files that are near a token: what looks into things, and what replaces them.

A file is near where it names a token's class, or takes something from our package. There, whatever leads
from a function, an annotation, a module or a namespace to what lies in it is reported, also where it
would lead to something harmless: such a file has little reason for it. Texts are looked at in every file
that could have one: a text that names a class by its path, and a text that is Python and makes a token.
"""

import ast
import re
from collections.abc import Callable
from typing import Final

from consentry.examine.fence.findings import Rule
from consentry.examine.fence.known import Known
from consentry.examine.fence.names import HOME_MODULES, LEADING_THERE, MAKER, family_of
from consentry.examine.fence.roles import CHANGES, COPIES, TAKES, TYPE_TESTS, TYPING
from consentry.examine.fence.shapes import called, dotted, without_calls

Report = Callable[[ast.AST, Rule, str], None]
ReadInner = Callable[[ast.AST, str | bytes], None]

_OURS: Final = "consentry"
_PACKAGE: Final = "consentry.decide"
_SAYS: Final = frozenset({"__version__", "__name__", "__doc__", "__file__", "__path__"})
_INSIDE: Final = frozenset(
    {
        *("__dict__", "__globals__", "__closure__", "__func__", "__self__", "__wrapped__"),
        *("__code__", "__annotations__", "__getattribute__", "__subclasses__", "__mro__"),
        *("__class__", "__spec__", "__loader__", "__all__"),
    }
)
"""What leads from a thing of ours to what lies in its module."""
_TYPES_INSIDE: Final = frozenset(
    {
        *("__args__", "__bound__", "__constraints__", "__supertype__", "__type_params__"),
        *("__value__", "__subclasses__", "__mro__", "f_globals", "f_locals", "cell_contents"),
        *("__origin__", "__parameters__"),
    }
)
"""What leads from a type that is put together, a frame or a base to classes."""
_ANSWERS: Final = frozenset(
    {
        *("__class_getitem__", "__instancecheck__", "__subclasscheck__", "__ror__", "__or__"),
        *("__getitem__", "__missing__"),
    }
)
"""Methods that are given a class where it seems only to be named."""
_SPELLED: Final = _TYPES_INSIDE | {"__annotations__", "__globals__", "__class__"}
_NAMESPACES: Final = frozenset({"globals", "locals", "vars"})
_LOOKERS: Final = frozenset(
    {"vars", "dir", "getattr", "getmembers", "getmembers_static", "getattr_static", "hasattr"}
)
_SETTERS: Final = frozenset({"setattr", "delattr", "__setattr__", "__delattr__"})
_BY_WORD: Final = frozenset({"attrgetter", "methodcaller"})
_READS_HINTS: Final = frozenset({"signature", "fields", "getfullargspec", "get_args", "get_origin"})
_LOADERS: Final = frozenset(
    {"find_spec", "run_module", "run_path", "load_module", "module_from_spec", "import_module"}
)
_MAKES: Final = frozenset(
    {"model_copy", "model_construct", "__reduce_ex__", "__pydantic_validator__"}
)
_REPLACED: Final = frozenset({*TYPING, *TYPE_TESTS, *TAKES})
_BY_PATH: Final = re.compile(r"consentry(?:\.\w+)*[.:\n](\w+)")
_CODE: Final = re.compile(r"(?:Capability|CapabilityBundle|Permit)\s*[(.]")
_LONGEST: Final = 32
"""Links of a chain of attributes that are followed."""
_MOST_LETTERS: Final = 1 << 16


class Nearby:
    """Looks at every node of one file once."""

    def __init__(self, known: Known, report: Report, read_inner: ReadInner) -> None:
        self.known = known
        self.report = report
        self.read_inner = read_inner
        self.taken: set[str] = set()
        """Names of what was imported from our package."""
        self.is_near = known.is_named
        """Whether a token's class could be among the names of the file."""
        self.quiet: set[int] = set()
        """Nodes that are allowed for what stands around them, and texts that only describe."""
        self.mentions_us = False
        self.copiers = {"copy.copy", "copy.deepcopy"}
        self.loaded: list[ast.AST] = []
        """Where the modules that are loaded are taken as a whole."""

    def walk(self, nodes: list[ast.AST]) -> None:
        """Tells all that is to be told of the file."""
        for node in nodes:
            self._note(node)
        for node in nodes:
            match node:
                case ast.Attribute():
                    self._attribute(node)
                case ast.Call():
                    self._call(node)
                case ast.Name():
                    self._name(node)
                case ast.Constant(value=str() | bytes() as value):
                    self._text(node, value)
                case ast.ClassDef(bases=bases) if self.known.is_named and "type" in map(
                    called, bases
                ):
                    self.report(
                        node, Rule.HANDED_ON, "a class of classes is asked where one is named"
                    )
                case ast.FunctionDef(name=name) if name in _ANSWERS and self.known.is_named:
                    said = f"`{name}` would be given classes, in a file that names a token's"
                    self.report(node, Rule.HANDED_ON, said)
                case ast.MatchClass(kwd_attrs=names) if self.known.is_named:
                    if {"__class__", "__dict__"}.intersection(names):
                        self.report(node, Rule.MADE, "a pattern takes the class of what it matches")
        for node in self.loaded if self.known.is_named or self.mentions_us else ():
            self.report(node, Rule.BY_NAME, "`sys.modules` leads to the home of tokens")

    # ---- what the file has

    def _note(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=aliases):
                self._imported(node, aliases)
            case ast.ImportFrom(module=str(module), names=aliases):
                self._taken_from(node, module, aliases)
            case ast.Expr(value=ast.Constant() as text):
                self.quiet.add(id(text))
            case ast.JoinedStr(values=parts):
                self.quiet.update(map(id, parts))
            case ast.Call(func=function):
                self.quiet.add(id(function))
            case ast.Subscript(value=value, slice=ast.Constant(value=str()), ctx=ast.Load()):
                # A namespace with a key that is written out is asked elsewhere.
                self.quiet.add(id(value))
            case ast.Constant(value=str(text)) if text.startswith(_OURS):
                self.mentions_us = True

    def _imported(self, node: ast.AST, aliases: list[ast.alias]) -> None:
        for alias in aliases:
            if alias.name.partition(".")[0] == _OURS:
                self.taken.add(alias.asname or _OURS)
            elif alias.name == "__main__" and self.known.is_named:
                self.report(node, Rule.HANDED_ON, "the running module leads to its names")

    def _taken_from(self, node: ast.AST, module: str, aliases: list[ast.alias]) -> None:
        for alias in aliases:
            if (module, alias.name) == ("sys", "modules"):
                self.loaded.append(node)
            elif module == "copy":
                self.copiers.add(alias.asname or alias.name)
            if module.partition(".")[0] != _OURS:
                continue
            self.taken.add(alias.asname or alias.name)
            self.is_near |= alias.name == "*" and module in LEADING_THERE
            if module in HOME_MODULES and alias.name.startswith("_") and not self.known.pardoned:
                said = f"`{alias.name}` is private to the home of tokens"
                self.report(alias, Rule.HANDED_ON, said)

    # ---- nodes

    def _attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._stored(node)
        elif node.attr in _INSIDE | _TYPES_INSIDE:
            self._inside(node)
        elif node.attr in _MAKES and self.known.is_named and not self.known.pardoned:
            said = f"`.{node.attr}` makes another one of what has it, in a file that names a token"
            self.report(node, Rule.COPIED, said)
        elif node.attr == "modules" and dotted(node, 1) == "sys.modules":
            if id(node) not in self.quiet:
                self.loaded.append(node)
        elif node.attr in ("copy", "deepcopy"):
            self._copier(node)
        is_private = node.attr.startswith("_") and node.attr not in _SAYS
        if is_private and self.known.home_named(node.value):
            self.report(node, Rule.HANDED_ON, f"`.{node.attr}` is private to the home of tokens")

    def _stored(self, node: ast.Attribute) -> None:
        if self._is_taken(node) or (node.attr in _REPLACED and self.known.is_named):
            self.report(node, Rule.HANDED_ON, f"`.{node.attr}` is replaced by something else")

    def _inside(self, node: ast.Attribute) -> None:
        is_ours = self._is_taken(node)
        if is_ours and node.attr in _INSIDE:
            self.report(node, Rule.HANDED_ON, f"`.{node.attr}` leads into our package")
        elif node.attr in _TYPES_INSIDE and (self.is_near or is_ours):
            said = f"`.{node.attr}` leads to classes, in a file that is near a token's"
            self.report(node, Rule.HANDED_ON, said)

    def _name(self, node: ast.Name) -> None:
        if node.id in ("__annotations__", "__builtins__") and self.known.is_named:
            self.report(node, Rule.HANDED_ON, f"`{node.id}` leads to classes")
        if not isinstance(node.ctx, ast.Load) or id(node) in self.quiet:
            return
        self._copier(node)
        if node.id == MAKER and MAKER in self.taken and not self.known.pardoned:
            self.report(node, Rule.HANDED_ON, f"`{MAKER}` is handed on as a value")
        elif node.id in _NAMESPACES and self.is_near:
            self.report(node, Rule.HANDED_ON, f"`{node.id}` is handed on as a value")

    def _copier(self, node: ast.expr) -> None:
        name = dotted(node, 1)
        if name in self.copiers and id(node) not in self.quiet and self.known.is_named:
            self.report(node, Rule.COPIED, f"`{name}` is handed on, in a file with a token")

    def _call(self, node: ast.Call) -> None:
        name = called(node.func)
        first = node.args[0] if node.args else None
        if name in _NAMESPACES and self.is_near and first is None and id(node) not in self.quiet:
            self.report(node, Rule.HANDED_ON, f"`{name}()` leads to the classes in the file")
        elif name in _LOOKERS and self._is_taken(first) and not _is_plain_name(node):
            self.report(node, Rule.HANDED_ON, f"`{name}` looks into our package")
        elif name in _SETTERS and self._is_taken(first):
            self.report(node, Rule.HANDED_ON, f"`{name}` replaces something of our package")
        elif name in _READS_HINTS and self.known.is_named and not self.known.pardoned:
            self._hints(node, name)
        elif name in _BY_WORD and self.known.is_named:
            for text in _texts(node):
                if text.rpartition(".")[2] in COPIES | CHANGES | {"__class__"}:
                    self.report(node, Rule.COPIED, f"`{text}` of a token makes or changes one")
        elif name in _LOADERS:
            self._loader(node, name)
        elif self.known.is_model(node.func) and any(map(family_of, _texts(node))):
            self.report(node, Rule.BY_NAME, "a token's class is given by its name")

    def _hints(self, node: ast.Call, name: str) -> None:
        module = dotted(node.func).partition(".")[0]
        if name != "fields" or module in ("dataclasses", "attr", "attrs", "fields"):
            said = f"`{name}` leads to classes, in a file that names a token's"
            self.report(node, Rule.HANDED_ON, said)

    def _loader(self, node: ast.Call, name: str) -> None:
        texts = _texts(node)
        inner = [
            each.value
            for argument in (*node.args, *(keyword.value for keyword in node.keywords))
            for each in without_calls(argument)
            if isinstance(each, ast.Constant) and isinstance(each.value, str)
        ]
        whole = f"{texts[1]}{texts[0]}" if len(texts) > 1 and texts[0][:1] == "." else ""
        is_put_together = any(each.startswith(_PACKAGE) for each in inner) and not texts
        if whole in LEADING_THERE or LEADING_THERE.intersection(texts) or is_put_together:
            self.report(node, Rule.BY_NAME, f"`{name}` fetches the home of tokens, or what has it")

    def _text(self, node: ast.Constant, value: str | bytes) -> None:
        if id(node) in self.quiet or len(value) > _MOST_LETTERS:
            return
        text = value.decode("latin-1") if isinstance(value, bytes) else value
        if text in _SPELLED and self.known.is_named:
            said = f"`{text}` leads to classes, in a file that names a token's"
            self.report(node, Rule.HANDED_ON, said)
        if "Capability" not in text and "Permit" not in text:
            return
        for found in _BY_PATH.finditer(text):
            if self.known.family(found[1]):
                self.report(node, Rule.BY_NAME, f"`{found[1]}` is named by its path")
        if _CODE.search(text):
            self.read_inner(node, value)

    def _is_taken(self, node: ast.expr | None) -> bool:
        """Whether a chain of attributes begins with something of ours; one without an end may."""
        for _ in range(_LONGEST):
            if not isinstance(node, ast.Attribute):
                return isinstance(node, ast.Name) and node.id in self.taken
            node = node.value
        return bool(self.taken)


def _texts(node: ast.Call) -> list[str]:
    given = (*node.args, *(keyword.value for keyword in node.keywords))
    constants = (each.value for each in given if isinstance(each, ast.Constant))
    return [each for each in constants if isinstance(each, str)]


def _is_plain_name(node: ast.Call) -> bool:
    """`getattr(x, "word")`: what is fetched is written out, and asked elsewhere."""
    match node.args:
        case [_, ast.Constant(value=str(word)), *_]:
            return not word.startswith("__")
    return False

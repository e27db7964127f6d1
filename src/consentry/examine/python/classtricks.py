"""Ways to set an attribute that no assignment shows: by name, by hook, in a loop, through a decorator.

A constant of a class is believed only in a file that has none of them.
"""

import ast
from typing import Final

_FUNCTIONS: Final = frozenset({"setattr", "vars", "delattr", "update_wrapper"})
_ATTRIBUTES: Final = frozenset({"__dict__", "__setattr__", "__slots__", "__class__"})
_HOOKS: Final = frozenset(
    {
        *("__getattr__", "__getattribute__", "__init_subclass__", "__set_name__", "__new__"),
        *("__class_getitem__", "__setattr__", "__prepare__", "__get__"),
    }
)


class ClassTricks:
    """What a file has of them."""

    def __init__(self, tree: ast.Module) -> None:
        self._has_any = False
        self._stored: set[str] = set()
        plain: set[int] = set()
        for node in ast.walk(tree):
            match node:
                case ast.Assign():
                    plain.update(map(id, node.targets))
                case ast.AnnAssign():
                    plain.add(id(node.target))
                case ast.Attribute(ctx=ast.Store() | ast.Del()) if id(node) not in plain:
                    self._stored.add(node.attr)
                case ast.Name(id=name) if name in _FUNCTIONS:
                    self._has_any = True
                case ast.Attribute(attr=name) if name in _ATTRIBUTES:
                    self._has_any = True
                case ast.FunctionDef(name=name) if name in _HOOKS:
                    self._has_any = True
                case ast.ClassDef() if node.keywords or node.decorator_list:
                    self._has_any = True

    def may_set(self, name: str) -> bool:
        """Whether an attribute of that name may be something else than what was assigned to it."""
        return self._has_any or name in self._stored

"""Ways to set an attribute that no assignment shows: by name, by hook, in a loop, through a decorator.

A constant of a class is believed only in a file that has none of them.
"""

from typing import Final

from consentry.examine.python.gathered import Gathered

_FUNCTIONS: Final = frozenset({"setattr", "vars", "delattr", "update_wrapper"})
_HOOKS: Final = frozenset(
    {
        *("__getattr__", "__getattribute__", "__init_subclass__", "__set_name__", "__new__"),
        *("__class_getitem__", "__setattr__", "__prepare__", "__get__"),
    }
)
ATTRIBUTES: Final = frozenset({"__dict__", "__setattr__", "__slots__", "__class__"})


def have_tricks(gathered: Gathered) -> bool:
    """Whether attributes of the classes of a file may be set without an assignment."""
    return (
        gathered.has_made_classes
        or not gathered.used_names.isdisjoint(_FUNCTIONS)
        or any(node.attr in ATTRIBUTES for node in gathered.watched)
        or any(
            not _FUNCTIONS.isdisjoint(scope.bare) or not _HOOKS.isdisjoint(scope.names)
            for scope in gathered.scopes
        )
    )

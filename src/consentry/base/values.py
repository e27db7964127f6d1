"""Frozen values: what `dataclasses` gives, and at run time for a fraction of what it costs to import.

A command imports some three hundred such classes and makes instances of a few dozen; writing the
methods of all of them is half of what importing costs. To a type checker these names are those of
`dataclasses`; when the program runs, `valueclasses` makes the classes.
"""

TYPE_CHECKING = False  # as `typing` has it, which the launcher should not have to load
if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    from consentry.base.valueclasses import dataclass, field, replace

__all__ = ["dataclass", "field", "replace"]

"""What may be done with a token's class and what with a token, as tables: roles, names of attributes and functions.

Whatever is not listed as harmless is reported.
"""

from enum import IntEnum
from typing import Final

from consentry.examine.fence.findings import Rule


class Role(IntEnum):
    """What an expression is to what stands around it."""

    VALUE = 0
    TYPE = 1
    CALLEE = 2
    ARGUMENT = 3
    BASE = 4
    ALIAS = 5
    ITEM = 6
    RESULT = 7
    DECORATOR = 8
    DEFAULT = 9
    OWNER = 10


SAID: Final[dict[Role, tuple[Rule, str]]] = {
    Role.VALUE: (Rule.HANDED_ON, "is used as a value"),
    Role.CALLEE: (Rule.MADE, "is made here"),
    Role.ARGUMENT: (Rule.HANDED_ON, "is passed on as an argument"),
    Role.BASE: (Rule.SUBCLASS, "is derived from"),
    Role.ALIAS: (Rule.HANDED_ON, "gets another name"),
    Role.ITEM: (Rule.HANDED_ON, "is put into a container"),
    Role.RESULT: (Rule.HANDED_ON, "is handed out as a result"),
    Role.DECORATOR: (Rule.MADE, "is called as a decorator"),
    Role.DEFAULT: (Rule.HANDED_ON, "is the default of a parameter"),
    Role.OWNER: (Rule.HANDED_ON, "is looked into"),
}
DESCRIBES: Final = frozenset(
    {
        *("__name__", "__qualname__", "__doc__", "__hash__", "__match_args__"),
        *("model_json_schema", "model_config"),
    }
)
"""Attributes of a class that say something about it and lead nowhere."""
CHANGES: Final = frozenset({"__dict__", "__setattr__", "__delattr__", "__setstate__"})
COPIES: Final = frozenset(
    {
        *("model_copy", "copy", "_replace", "__copy__", "__deepcopy__", "__replace__"),
        *("__reduce__", "__reduce_ex__", "__getstate__", "__new__", "__init__"),
        *("model_construct", "model_validate", "model_validate_json", "model_validate_strings"),
        *("parse_obj", "parse_raw", "construct", "from_json"),
        *("model_fields", "__pydantic_validator__", "__pydantic_core_schema__"),
    }
)
"""What a token has and nobody should ask of it."""
LOOKS_INSIDE: Final = frozenset({"__annotations__", "__globals__", "__closure__"})
READS_HINTS: Final = frozenset({"get_type_hints", "get_annotations"})
FILLS: Final = frozenset(
    {"TypeAdapter", "from_dict", "structure", "parse_obj_as", "convert", "decode", "loads"}
)
"""Functions that make an object of a class from plain data, with all that is in its fields."""
FETCHERS: Final = frozenset({"getattr", "attrgetter", "__getattribute__", "getattr_static"})
TYPE_TESTS: Final = frozenset({"isinstance", "issubclass"})
ASK_ABOUT: Final = frozenset({"repr", "str", "id", "hash", "help", "hasattr", "callable", "len"})
TYPING: Final[dict[str, tuple[int, ...]]] = {
    "cast": (0,),
    "TypeVar": (1, 2, 3, 4, 5, 6, 7, 8),
    "NewType": (1,),
    "assert_type": (1,),
}
TAKERS: Final = frozenset(
    {
        *("consentry.mint", "consentry.decide.tokens.mint"),
        "consentry.decide.tokenparts.part_of",
    }
)
"""Functions of ours that are told by a class which token is meant."""
TAKES: Final = frozenset(path.rpartition(".")[2] for path in TAKERS)
TYPING_MODULES: Final = frozenset({"typing", "typing_extensions"})
VALIDATES: Final = frozenset({"validate_call", "validate_arguments"})

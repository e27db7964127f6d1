"""JavaScript and TypeScript: bytes in, powers out.

Reads what the grammar can read and says so where it cannot: a file with a region that is not of the
language is `Unclassified` besides whatever else was found in it. The same goes for comments in the
manner of HTML, which modules read as code, and for files that are too large or too deep.
"""

import hashlib
from enum import StrEnum
from typing import Final

from consentry.examine.atoms import Extraction, Unclassified, unclassified
from consentry.examine.javascript.feeding import Feeding
from consentry.examine.javascript.flow import Flow
from consentry.examine.javascript.scopes import Scopes
from consentry.examine.javascript.walk import Walk
from consentry.examine.syntaxtree import Shape, Tree, read_tree


class Dialect(StrEnum):
    """Which grammar a file is read with."""

    JAVASCRIPT = "javascript"
    TYPESCRIPT = "typescript"
    TSX = "tsx"


_TYPES: Final = frozenset(
    [
        "type_annotation",
        "type_arguments",
        "type_parameters",
        "type_alias_declaration",
        "interface_declaration",
        "ambient_declaration",
        "implements_clause",
        "type_predicate_annotation",
        "asserts_annotation",
        "opting_type_annotation",
        "omitting_type_annotation",
        "function_signature",
        "method_signature",
        "abstract_method_signature",
        "predefined_type",
        "type_query",
        "generic_type",
        "object_type",
        "union_type",
        "function_type",
        "array_type",
        "tuple_type",
        "conditional_type",
        "lookup_type",
        "literal_type",
        "template_literal_type",
        "readonly_type",
        "intersection_type",
        "index_type_query",
        "constructor_type",
        "parenthesized_type",
        "nested_type_identifier",
        "index_signature",
        "adding_type_annotation",
        "extends_type_clause",
    ]
)
_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_SHAPE: Final = Shape(
    tokens=frozenset({"type", "typeof", "*", "const", "let", "var", "default", "static"}),
    dropped=_TYPES | {"comment", "html_comment", "hash_bang_line"},
    suspect=frozenset({"html_comment"}),
)


def extract_javascript(content: bytes, dialect: Dialect = Dialect.JAVASCRIPT) -> Extraction:
    """All that one file gives. Never raises, whatever the content."""
    digest = hashlib.sha256(content).hexdigest()
    tree = tree_of(content, dialect)
    if tree is None:
        return unclassified(f"too-large sha256:{digest}", 1, "larger than is read")
    scopes = Scopes(tree)
    feeding = Feeding(tree, scopes)
    flow = Flow(tree, feeding)
    flow.settle()
    found = Walk(flow).extraction()
    doubts: list[Unclassified] = []
    if tree.problem_line is not None:
        reason = "a part that the grammar does not read"
        doubts.append(Unclassified(f"syntax sha256:{digest}", tree.problem_line, reason))
    if scopes.is_too_deep or not flow.is_settled:
        reason = "nested or renamed too often to be followed"
        doubts.append(Unclassified(f"too-deep sha256:{digest}", 1, reason))
    return found | Extraction(unclassified=tuple(doubts))


def tree_of(content: bytes, dialect: Dialect) -> Tree | None:
    """The syntax of one file; None when it is larger than is read."""
    content = content.removeprefix(_BYTE_ORDER_MARK)
    if dialect is Dialect.JAVASCRIPT:
        import tree_sitter_javascript  # noqa: PLC0415 - loaded for such files only

        return read_tree(content, tree_sitter_javascript.language, _SHAPE)
    import tree_sitter_typescript  # noqa: PLC0415 - as above

    is_tsx = dialect is Dialect.TSX
    language = (
        tree_sitter_typescript.language_tsx
        if is_tsx
        else tree_sitter_typescript.language_typescript
    )
    return read_tree(content, language, _SHAPE)

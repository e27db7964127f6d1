"""Import and export statements: which module, which names, and what these are."""

from collections.abc import Iterator

from consentry.examine.javascript.literals import name_of, string_of
from consentry.examine.javascript.modules import module_thing
from consentry.examine.javascript.tables import child_of
from consentry.examine.javascript.values import Thing
from consentry.examine.syntaxtree import Syntax

_TYPE_TOKENS = ("type", "typeof")


def is_for_types(node: Syntax) -> bool:
    """Whether a statement or specifier speaks of types alone, and is gone when the program runs."""
    if any(child.kind in _TYPE_TOKENS and not child.field for child in node.children):
        return True
    clause = node.first("import_clause", "export_clause")
    if clause is None:
        return False
    if clause.kind == "import_clause":
        if any(child.kind != "named_imports" for child in clause.children):
            return False
        clause = clause.first("named_imports") or clause
    listed = clause.children
    return bool(listed) and all(map(is_for_types, listed))


def module_of(node: Syntax) -> str | None:
    """The module that a statement names."""
    source = node.child("source")
    if source is None:
        clause = node.first("import_require_clause")
        source = None if clause is None else clause.child("source")
    return None if source is None or source.kind != "string" else string_of(source)


def names_of(node: Syntax) -> tuple[str, ...]:
    """The names that a statement takes from a module; `*` for all of it."""
    return tuple(taken for taken, _ in _specifiers(node))


def imported_names(node: Syntax) -> Iterator[tuple[str, set[Thing]]]:
    """The local names of an import, and what each is."""
    module = module_of(node)
    if module is None:
        return
    thing = module_thing(module)
    is_erased = is_for_types(node)
    for taken, local in _specifiers(node):
        found = thing if taken in ("*", "default") or thing is None else child_of(thing, taken)
        yield local, set() if found is None or is_erased else {found}


def exported_things(node: Syntax) -> Iterator[Thing]:
    """What `export … from` hands on."""
    module = module_of(node)
    thing = None if module is None else module_thing(module)
    if thing is None:
        return
    clause = node.first("export_clause")
    if clause is None:
        yield thing
        return
    for specifier in clause.children:
        name = specifier.child("name")
        if name is not None and not is_for_types(specifier):
            text = string_of(name) if name.kind == "string" else name_of(name)
            found = thing if text == "default" else child_of(thing, text)
            if found is not None:
                yield found


def _specifiers(node: Syntax) -> Iterator[tuple[str, str]]:
    required = node.first("import_require_clause")
    if required is not None:
        for child in required.children:
            if child.kind == "identifier":
                yield "*", name_of(child)
    clause = node.first("import_clause", "export_clause")
    for child in () if clause is None else clause.children:
        if child.kind == "identifier":
            yield "default", name_of(child)
        elif child.kind == "namespace_import":
            for name in child.children:
                if name.kind == "identifier":
                    yield "*", name_of(name)
        else:
            for each in [child] if child.kind == "export_specifier" else child.children:
                yield from _specifier(each)


def _specifier(node: Syntax) -> Iterator[tuple[str, str]]:
    name, alias = node.child("name"), node.child("alias")
    if name is not None and not is_for_types(node):
        taken = string_of(name) if name.kind == "string" else name_of(name)
        yield taken, taken if alias is None else name_of(alias)

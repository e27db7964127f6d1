"""Imports as findings: statements, names in quotes, what a package lists, and what a star may bring."""

import ast
import builtins
from collections.abc import Iterable
from typing import Final

from consentry.examine.atoms import ModuleImport
from consentry.examine.knowledge.effects import Effect, Power
from consentry.examine.python.findings import Findings
from consentry.examine.python.place import Place
from consentry.examine.python.scopes import Scope
from consentry.examine.python.values import Const, Items, alternatives

BUILT_IN: Final = frozenset(dir(builtins))


def add_statements(findings: Findings) -> None:
    """`import` and `from … import`; those within the tree are followed by whoever has the tree."""
    tables = findings.tables
    for module, level, names, line in findings.gathered.imports:
        if level:
            findings.imports.append(ModuleImport(module, level, names, line, is_known=False))
            continue
        reason = f"from {module} import {', '.join(names)}" if names else f"import {module}"
        below = [f"{module}.{name}" for name in names]
        inner = [each for each in below if tables.is_module(each)]
        # Whoever takes nothing but modules from a package does not use the package itself.
        for each in inner if len(inner) == len(below) and inner else (module, *inner):
            findings.add_import(each, reason, line)
        is_known = tables.is_known(module) or (bool(inner) and all(map(tables.is_known, below)))
        findings.imports.append(ModuleImport(module, 0, names, line, is_known))


def add_listed_names(findings: Findings) -> None:
    """Whoever imports all names of a package imports the modules that it lists."""
    listed = findings.resolver.lookup(findings.gathered.module, "__all__")
    for each in alternatives(listed):
        if isinstance(each, Items):
            names = [node.value for node in each.nodes if isinstance(node, ast.Constant)]
            texts = tuple(name for name in names if isinstance(name, str))
            findings.imports.append(ModuleImport("", 1, texts, 1, is_known=True))


def add_by_name(
    findings: Findings, effects: Iterable[Effect], node: ast.Call, scope: Scope
) -> None:
    """A module that is imported by a name in quotes is imported all the same."""
    for effect in effects:
        if effect.power is Power.RETURNS and effect.arguments:
            _, value = Place(findings.resolver, scope, node).given(effect.arguments[0])
            for each in alternatives(value):
                if isinstance(each, Const) and isinstance(each.value, str):
                    _add_named(findings, each.value, node.lineno)


def _add_named(findings: Findings, module: str, line: int) -> None:
    if module.startswith("."):
        inner = module.lstrip(".")
        level = len(module) - len(inner)
        findings.imports.append(ModuleImport(inner, level, (), line, is_known=False))
    elif module.replace(".", "_").isidentifier():
        findings.add_import(module, f"import of {module} by name", line)
        is_known = findings.tables.is_known(module)
        findings.imports.append(ModuleImport(module, 0, (), line, is_known))


def note_through_star(findings: Findings, node: ast.expr, line: int) -> None:
    """A name that nothing binds may come with a star from a module of the same tree."""
    stars = findings.gathered.stars
    if not stars:
        return
    names: list[str] = []
    while isinstance(node, ast.Attribute):
        names.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name) and node.id not in BUILT_IN:
        dotted = ".".join([node.id, *reversed(names)])
        findings.resolver.spend(len(stars))
        for star in stars:
            if not findings.tables.is_known(star):
                dot = "" if star.endswith(".") else "."
                findings.outside.setdefault(f"{star}{dot}{dotted}", line)

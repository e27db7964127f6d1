"""The trees that JavaScript and shell are read into."""

import tree_sitter_javascript

from consentry.examine.syntaxtree import Shape, Tree, read_tree


def _tree(content: bytes, shape: Shape | None = None) -> Tree:
    tree = read_tree(content, tree_sitter_javascript.language, shape or Shape())
    assert tree is not None
    return tree


def test_children_come_before_their_parents() -> None:
    """The order is such that a node is met after everything inside of it."""
    tree = _tree(b"f(a + b);\ng(c)")
    seen = set()
    for node in tree.upwards:
        assert all(child in seen for child in node.children)
        seen.add(node)
    assert tree.upwards[-1] is tree.root


def test_parents_fields_and_lines() -> None:
    """A node knows its parent, its name in it, its text and its line."""
    tree = _tree(b"\nf(a)")
    call = next(node for node in tree.upwards if node.kind == "call_expression")
    callee = call.child("function")
    assert callee is not None
    assert (callee.text, callee.parent, tree.line(callee)) == ("f", call, 2)


def test_dropped_branches() -> None:
    """Branches of kinds that are not wanted are not there."""
    tree = _tree(b"// x\na", Shape(dropped=frozenset({"comment"})))
    assert "comment" not in {node.kind for node in tree.upwards}


def test_problem_in_a_dropped_branch() -> None:
    """What is wrong in a branch that is dropped is still said."""
    shape = Shape(dropped=frozenset({"arguments"}))
    assert _tree(b"f(a)", shape).problem_line is None
    assert _tree(b"f(a b c)", shape).problem_line is not None

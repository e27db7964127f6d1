"""Whether what was signed is this plugin, at this version, and all of it.

The rule is our own and does not follow what a format leaves out on purpose: whatever lies in the tree
must be in what was signed, and whatever was signed must lie in the tree. An OMS list has no links and
no executable bits, so a tree that has either is not covered by one; that a bundle ignored paths or
followed links when it was made neither helps nor hurts it, for its list is compared with the tree.
"""

from collections.abc import Mapping, Sequence
from typing import NoReturn

from consentry.base.canonical import Digest
from consentry.base.treedigest import EntryKind
from consentry.declare.omsbundle import OmsStatement
from consentry.declare.pluginstatement import PluginStatement, files_of
from consentry.examine.pluginproblems import Rejection, TreeChanges, VerificationError
from consentry.examine.plugintree import PluginTree


def check_covers(statement: PluginStatement, tree: PluginTree, version: str) -> None:
    """Raises unless the statement is about this plugin, this version and exactly this tree."""
    if statement.plugin != tree.name:
        _other_plugin(tree.name, statement.plugin)
    if statement.version != version:
        raise VerificationError(
            Rejection.SIGNED_OTHER_VERSION,
            tree.name,
            f"version `{statement.version}` was signed, and the plugin says it is `{version}`",
        )
    present = files_of(tree.entries)
    if statement.tree != tree.digest:
        changes = _changes(dict(statement.files), dict(present))
        raise VerificationError(
            Rejection.SIGNED_OTHER_TREE,
            tree.name,
            f"this is not the tree that was signed{_said(changes)}",
            expected=statement.tree,
            found=tree.digest,
            changes=changes,
        )
    if statement.files != present:
        raise VerificationError(
            Rejection.NOT_COVERED,
            tree.name,
            "the subjects of the statement are not the files of the tree it names",
        )


def check_lists(statement: OmsStatement, tree: PluginTree) -> None:
    """Raises unless an OMS list is about this plugin and has all of its tree, and no more."""
    if statement.name != tree.name:
        _other_plugin(tree.name, statement.name)
    links = [each.path for each in tree.entries if each.kind is EntryKind.LINK]
    if links:
        _not_covered(tree.name, "links, which this format does not have", links)
    programs = [each.path for each in tree.entries if each.executable]
    if programs:
        _not_covered(tree.name, "executable files, which this format does not tell", programs)
    signed, present = dict(statement.files), dict(files_of(tree.entries))
    changes = _changes(signed, present)
    if changes.added or changes.missing:
        raise VerificationError(
            Rejection.NOT_COVERED,
            tree.name,
            f"the list that was signed is not that of the tree{_said(changes)}",
            changes=changes,
        )
    if changes:
        raise VerificationError(
            Rejection.SIGNED_OTHER_TREE,
            tree.name,
            f"this is not the tree that was signed{_said(changes)}",
            found=tree.digest,
            changes=changes,
        )


def _changes(signed: Mapping[str, Digest], present: Mapping[str, Digest]) -> TreeChanges:
    both = signed.keys() & present.keys()
    return TreeChanges(
        tuple(sorted(path for path in both if signed[path] != present[path])),
        tuple(sorted(present.keys() - signed.keys())),
        tuple(sorted(signed.keys() - present.keys())),
    )


def _said(changes: TreeChanges) -> str:
    return f": {changes}" if changes else ""


def _other_plugin(plugin: str, signed: str) -> NoReturn:
    raise VerificationError(
        Rejection.SIGNED_OTHER_PLUGIN,
        plugin,
        f"what was signed is the plugin `{signed}`, not `{plugin}`",
    )


def _not_covered(plugin: str, what: str, paths: Sequence[str]) -> NoReturn:
    raise VerificationError(
        Rejection.NOT_COVERED,
        plugin,
        f"the tree has {what}: {TreeChanges(added=tuple(paths))}",
        help_line="sign it with `consentry plugins sign`, whose own format covers them",
    )

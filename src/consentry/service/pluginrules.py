"""The rules for examining code that plugins bring, for whoever examines some.

The user's own plugins count wherever code is examined. A workspace's count in it once it is accepted. The
tables are checked and compiled here, and Python rules are made ready; they are loaded when the first file
is examined.
"""

from collections.abc import Iterable
from pathlib import Path

from consentry.base.canonical import digest_json
from consentry.base.errors import ConsentryError, Where
from consentry.base.values import replace
from consentry.decide.acceptance import Accepted
from consentry.examine.addedrules import NO_RULES, AddedRules
from consentry.examine.knowledge.added import compile_added
from consentry.examine.knowledge.tables import BadTable
from consentry.examine.pluginproblems import Rejection, VerificationError
from consentry.service.acceptedhere import accepted_here
from consentry.service.places import Workspace, find_configuration, find_workspace
from consentry.service.pluginmodules import PluginRule
from consentry.service.pluginplaces import find_roots
from consentry.service.plugins import FoundRoot, VerifiedPlugin, loaded_root, rejected
from consentry.service.surroundings import Surroundings


def rules_here(around: Surroundings, folder: Path | None = None) -> AddedRules:
    """What counts for code in that folder, or in the current one.

    Raises `PluginRejected` where a root that counts does not pass.
    """
    here = around if folder is None else replace(around, cwd=Path(folder).resolve())
    plugins = _plugins(here)
    try:
        return rules_of(plugins)
    except VerificationError as problem:
        raise rejected((problem,), around) from problem


def rules_of(plugins: Iterable[VerifiedPlugin]) -> AddedRules:
    """The rules of these plugins; raises `VerificationError` for a table that has not the form."""
    bringing = [each for each in plugins if each.manifest.tables or each.manifest.python]
    if not bringing:
        return NO_RULES
    tables = [_tables(each) for each in bringing if each.manifest.tables]
    looks = [PluginRule(each, file) for each in bringing for file in each.manifest.python]
    digest = digest_json([[each.name, each.digest] for each in bringing])
    return AddedRules(tuple(tables), tuple(looks), digest)


def _plugins(here: Surroundings) -> tuple[VerifiedPlugin, ...]:
    workspace = _workspace(here)
    roots = find_roots(here, find_configuration(here, workspace), workspace, None)
    strangers = [root for root in roots if not root.is_own and root.lock is not None]
    if workspace is not None and strangers:
        with accepted_here(here) as accepted:
            if any(_is_covered(root, workspace, accepted) for root in strangers):
                from consentry.service.configuration import load_configuration  # noqa: PLC0415 - few

                # Whether the workspace is accepted rests on all that its configuration says.
                return load_configuration(here, workspace, None, accepted).plugins
    return tuple(
        plugin for root in roots if root.is_own for plugin in loaded_root(root, here, workspace)
    )


def _is_covered(root: FoundRoot, workspace: Workspace, accepted: Accepted) -> bool:
    name, digest = root.name_in(workspace.path), root.digest
    return digest is not None and accepted.covers(str(workspace.path), name, digest)


def _workspace(here: Surroundings) -> Workspace | None:
    try:
        return find_workspace(here)
    except ConsentryError:
        # A home folder, say, is no workspace; the user's own plugins count all the same.
        return None


def _tables(plugin: VerifiedPlugin) -> bytes:
    try:
        return compile_added({file: plugin.content(file) for file in plugin.manifest.tables})
    except BadTable as problem:
        raise VerificationError(
            Rejection.MANIFEST,
            plugin.name,
            str(problem),
            found=plugin.digest,
            where=Where(str(plugin.folder)),
            help_line="docs/reference/plugin.md describes the form of a table",
        ) from problem

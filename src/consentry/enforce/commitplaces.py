"""Where a commit works: the roots on the host, and for each a folder on the same file system.

New files are put together in that folder and renamed into place from there; what they replace is
renamed into it. It lies in the state directory where that is on the root's own mount, which is out
of sight of every run and leaves the workspace clean. Elsewhere it is a hidden folder in the root,
or in the first folder there that may be written; a note of it is kept before it is made, so that it
is swept after a crash.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from consentry.base.values import dataclass
from consentry.enforce.commitdesk import INTENT, Desk
from consentry.enforce.commitjournal import Site, intent_to_bytes
from consentry.enforce.commitplan import Step
from consentry.enforce.filecalls import is_same_mount, sync_file_system
from consentry.enforce.foldertree import Tree, below, remove_tree
from consentry.enforce.layer import LayerRoot, RootReplaced, open_root, path_text

NEW = b"new"
OLD = b"old"

_STAGING = ".consentry-staging-"


@dataclass(frozen=True, slots=True)
class Place:
    """A root that is open, with its staging folder."""

    site: Site
    host: Tree
    staging: Tree

    def sync(self) -> None:
        """Puts everything that was written to the root's file system on the disk."""
        opened = self.staging.open(b"", os.O_RDONLY | os.O_DIRECTORY)
        try:
            sync_file_system(opened)
        finally:
            os.close(opened)

    def close(self) -> None:
        """Gives the descriptors back."""
        self.staging.close()
        self.host.close()


def slot(folder: bytes, number: int) -> bytes:
    """The place of a step's new or old file in a staging folder."""
    return b"%s/%d" % (folder, number)


@contextmanager
def made_places(
    desk: Desk, steps: Sequence[Step], places: dict[LayerRoot, Place]
) -> Iterator[None]:
    """Opens the roots that the steps lie in, and makes their staging folders, into `places`."""
    roots = tuple(dict.fromkeys(step.root for step in steps))
    hosts: list[Tree] = []
    try:
        hosts.extend(Tree(root.open()) for root in roots)
        sites = tuple(
            _site(desk, index, root, host, [step.path for step in steps if step.root is root])
            for index, (root, host) in enumerate(zip(roots, hosts, strict=True))
        )
        if any(site.is_in_root for site in sites):
            desk.keep(INTENT, intent_to_bytes(sites))
        for root, site, host in zip(roots, sites, hosts, strict=True):
            around = host if site.is_in_root else desk.tree
            folder, name = around.place(site.staging)
            os.mkdir(name, 0o700, dir_fd=folder)
            staging = _opened_staging(around, site)
            places[root] = Place(site, host, staging)
            for inner in (NEW, OLD):
                os.mkdir(inner, 0o700, dir_fd=staging.descriptor)
        yield
    finally:
        for place in places.values():
            place.staging.close()
        for host in hosts:
            host.close()


@contextmanager
def reopened_places(desk: Desk, sites: Sequence[Site]) -> Iterator[list[Place]]:
    """Opens what a journal names; raises `RootReplaced` or `OSError` where that is not there."""
    places: list[Place] = []
    try:
        for site in sites:
            host = opened_host(site)
            try:
                staging = _opened_staging(host if site.is_in_root else desk.tree, site)
            except OSError:
                host.close()
                raise
            places.append(Place(site, host, staging))
        yield places
    finally:
        for place in places:
            place.close()


def opened_host(site: Site) -> Tree:
    """The root of a site; the number of its device may have changed since, its inode not."""
    opened = open_root(site.host)
    if os.fstat(opened).st_ino != site.inode:
        os.close(opened)
        raise RootReplaced(path_text(site.host))
    return Tree(opened)


def remove_staging(sites: Sequence[Site]) -> None:
    """Removes the staging folders that lie in roots; those in the state go with the desk."""
    for site in sites:
        if site.is_in_root:
            try:
                host = opened_host(site)
            except (FileNotFoundError, NotADirectoryError, RootReplaced):
                continue  # it went with the root
            with host:
                remove_tree(host, site.staging)


def _opened_staging(around: Tree, site: Site) -> Tree:
    return Tree(around.open(site.staging, os.O_PATH | os.O_DIRECTORY))


def _site(desk: Desk, index: int, root: LayerRoot, host: Tree, paths: Sequence[bytes]) -> Site:
    inode = root.identity[1]
    if is_same_mount(desk.tree.descriptor, host.descriptor):
        return Site(root.host, inode, b"staged%d" % index, is_in_root=False)
    name = os.fsencode(_STAGING + desk.run)
    folders = dict.fromkeys([b"", *(path.rpartition(b"/")[0] for path in paths)])
    folder = next((each for each in folders if _may_write(host, each)), b"")
    return Site(root.host, inode, below(folder, name), is_in_root=True)


def _may_write(host: Tree, path: bytes) -> bool:
    try:
        return os.access(".", os.W_OK | os.X_OK, dir_fd=host.folder(path), effective_ids=True)
    except OSError:
        return False

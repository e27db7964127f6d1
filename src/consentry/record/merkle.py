"""Merkle trees as RFC 6962 hashes them: roots, inclusion and consistency proofs.

A leaf is hashed with a leading 0, a pair with a leading 1, so that neither can pass for the other.
Everything here is pure: bytes in, bytes or an exception out. Roots and proofs are made in one pass
over the leaves, with memory that grows with the logarithm of their number.

A proof convinces somebody who holds only the root; it says nothing about who made the root. Nor
does a root say how many leaves are below it: there are proofs that hold for more than one size.
Whoever verifies takes the sizes from where the root came from, never from the proof.

`Frontier` is the right edge of a growing tree: enough to append and to take the root without
keeping the leaves.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Final

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.values import dataclass

HASH_BYTES: Final = 32
EMPTY_ROOT: Final = hashlib.sha256(b"").digest()


def leaf_hash(content: bytes) -> bytes:
    """The hash of one leaf."""
    return hashlib.sha256(b"\x00" + content).digest()


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of two subtrees side by side."""
    return hashlib.sha256(b"\x01" + left + right).digest()


@dataclass(frozen=True, slots=True)
class Frontier:
    """The roots of the perfect subtrees that a tree of `size` leaves is made of, largest first."""

    size: int = 0
    peaks: tuple[bytes, ...] = ()

    def __post_init__(self) -> None:
        if self.size < 0 or len(self.peaks) != self.size.bit_count():
            message = f"{len(self.peaks)} subtrees cannot make up a tree of {self.size}"
            raise BadInput(Code.PROOF, message)

    def extended(self, leaves: Iterable[bytes]) -> "Frontier":
        """The frontier after more leaves (already hashed)."""
        size, peaks = self.size, list(self.peaks)
        for leaf in leaves:
            merged = leaf
            filled = size
            while filled & 1:
                merged = node_hash(peaks.pop(), merged)
                filled >>= 1
            peaks.append(merged)
            size += 1
        return Frontier(size, tuple(peaks))

    def root(self) -> bytes:
        """The root of the tree so far."""
        if not self.peaks:
            return EMPTY_ROOT
        result = self.peaks[-1]
        for peak in reversed(self.peaks[:-1]):
            result = node_hash(peak, result)
        return result


def root_of(leaves: Iterable[bytes]) -> bytes:
    """The root over leaves that are already hashed."""
    return Frontier().extended(leaves).root()


def inclusion_proof(leaves: Iterable[bytes], index: int, size: int) -> tuple[bytes, ...]:
    """The hashes that lead from the leaf at `index` to the root over the first `size` leaves.

    Lowest first; leaves behind the first `size` are not read.
    """
    if not 0 <= index < size:
        raise BadInput(Code.PROOF, f"there is no leaf {index} in a tree of {size}")
    siblings: list[range] = []
    start, end = 0, size
    while end - start > 1:
        split = start + _largest_power_below(end - start)
        if index < split:
            siblings.append(range(split, end))
            end = split
        else:
            siblings.append(range(start, split))
            start = split
    return _subtree_roots(leaves, siblings[::-1])


def verify_inclusion(
    leaf: bytes, index: int, size: int, path: Sequence[bytes], root: bytes
) -> None:
    """Raises unless the path leads from this leaf, at this place, to the root."""
    if not 0 <= index < size:
        raise BadInput(Code.PROOF, f"leaf {index} cannot be in a tree of {size}")
    _check_hashes(leaf, root, *path)
    place, last = index, size - 1
    result = leaf
    for sibling in path:
        if last == 0:
            raise BadInput(Code.PROOF, "the inclusion proof is too long")
        if place & 1 or place == last:
            result = node_hash(sibling, result)
            while not place & 1 and place:
                place >>= 1
                last >>= 1
        else:
            result = node_hash(result, sibling)
        place >>= 1
        last >>= 1
    if last != 0:
        raise BadInput(Code.PROOF, "the inclusion proof is too short")
    if result != root:
        raise BadInput(Code.PROOF, "the inclusion proof does not lead to the root")


def consistency_proof(leaves: Iterable[bytes], old_size: int, size: int) -> tuple[bytes, ...]:
    """The hashes that show the first `old_size` leaves to be the beginning of the first `size`.

    Two trees of one size need no hashes: their roots are equal or they are not.
    """
    if not 0 < old_size <= size:
        raise BadInput(Code.PROOF, f"{old_size} is not an earlier size of a tree of {size}")
    parts: list[range] = []
    start, end = 0, size
    while old_size != end:
        split = start + _largest_power_below(end - start)
        if old_size <= split:
            parts.append(range(split, end))
            end = split
        else:
            parts.append(range(start, split))
            start = split
    # A part that begins at 0 is the whole old tree, whose root the verifier has.
    if start != 0:
        parts.append(range(start, end))
    return _subtree_roots(leaves, parts[::-1])


def verify_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, path: Sequence[bytes]
) -> None:
    """Raises unless the new tree begins with the old one."""
    if not 0 < old_size <= new_size:
        raise BadInput(Code.PROOF, f"a tree of {new_size} cannot continue one of {old_size}")
    _check_hashes(old_root, new_root, *path)
    if old_size == new_size:
        _verify_same(old_root, new_root, path)
        return
    place, last = old_size - 1, new_size - 1
    while place & 1:
        place >>= 1
        last >>= 1
    # An old tree that is one perfect subtree stands for itself; otherwise the path begins with
    # its last perfect subtree.
    hashes = list(path) if place else [old_root, *path]
    if not hashes:
        raise BadInput(Code.PROOF, "the consistency proof is too short")
    old = new = hashes[0]
    for sibling in hashes[1:]:
        if last == 0:
            raise BadInput(Code.PROOF, "the consistency proof is too long")
        if place & 1 or place == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not place & 1 and place:
                place >>= 1
                last >>= 1
        else:
            new = node_hash(new, sibling)
        place >>= 1
        last >>= 1
    if last != 0:
        raise BadInput(Code.PROOF, "the consistency proof is too short")
    if old != old_root or new != new_root:
        raise BadInput(Code.PROOF, "the new tree does not begin with the old one")


def _verify_same(old_root: bytes, new_root: bytes, path: Sequence[bytes]) -> None:
    if path:
        raise BadInput(Code.PROOF, "the consistency proof is too long")
    if old_root != new_root:
        raise BadInput(Code.PROOF, "two trees of one size have different roots")


def _subtree_roots(leaves: Iterable[bytes], parts: Sequence[range]) -> tuple[bytes, ...]:
    """The roots over these parts of the leaves, which do not overlap, in one pass."""
    stream = iter(leaves)
    position = 0
    roots: dict[range, bytes] = {}
    for part in sorted(parts, key=lambda each: each.start):
        skipped = sum(1 for _ in islice(stream, part.start - position))
        frontier = Frontier().extended(islice(stream, len(part)))
        if skipped != part.start - position or frontier.size != len(part):
            raise BadInput(Code.PROOF, f"there are fewer than {part.stop} leaves")
        roots[part] = frontier.root()
        position = part.stop
    return tuple(roots[part] for part in parts)


def _check_hashes(*hashes: bytes) -> None:
    """Hashes of other lengths could be cut apart elsewhere once they are joined."""
    if any(len(each) != HASH_BYTES for each in hashes):
        raise BadInput(Code.PROOF, f"a hash in a tree has {HASH_BYTES} bytes")


def _largest_power_below(size: int) -> int:
    """The largest power of two smaller than `size`, where RFC 6962 splits a tree."""
    return 1 << (size - 1).bit_length() - 1

"""Merkle trees: against RFC 6962 written down naively, published vectors, and every small change."""

from collections.abc import Iterator, Sequence
from hashlib import sha256

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.record.merkle import (
    EMPTY_ROOT,
    Frontier,
    consistency_proof,
    inclusion_proof,
    leaf_hash,
    node_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)

# The leaves and roots that Certificate Transparency implementations test each other with.
PUBLISHED_LEAVES = [
    leaf_hash(bytes.fromhex(content))
    for content in (
        "",
        "00",
        "10",
        "2021",
        "3031",
        "40414243",
        "5051525354555657",
        "606162636465666768696a6b6c6d6e6f",
    )
]
PUBLISHED_ROOTS = (
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
    "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
    "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
    "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
    "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
    "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
    "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
)
SMALL = 33


def leaves_of(size: int) -> list[bytes]:
    """That many different leaves."""
    return [leaf_hash(number.to_bytes(4)) for number in range(size)]


def split_of(size: int) -> int:
    """RFC 6962: the largest power of two smaller than `size`, found by doubling."""
    power = 1
    while power * 2 < size:
        power *= 2
    return power


def naive_root(leaves: Sequence[bytes]) -> bytes:
    """RFC 6962, section 2.1: MTH, on leaves that are hashed already."""
    if not leaves:
        return sha256(b"").digest()
    if len(leaves) == 1:
        return leaves[0]
    k = split_of(len(leaves))
    return sha256(b"\x01" + naive_root(leaves[:k]) + naive_root(leaves[k:])).digest()


def naive_path(index: int, leaves: Sequence[bytes]) -> list[bytes]:
    """RFC 6962, section 2.1.1: PATH."""
    if len(leaves) == 1:
        return []
    k = split_of(len(leaves))
    if index < k:
        return [*naive_path(index, leaves[:k]), naive_root(leaves[k:])]
    return [*naive_path(index - k, leaves[k:]), naive_root(leaves[:k])]


def naive_proof(old_size: int, leaves: Sequence[bytes], *, whole: bool = True) -> list[bytes]:
    """RFC 6962, section 2.1.2: SUBPROOF, and with `whole` PROOF."""
    if old_size == len(leaves):
        return [] if whole else [naive_root(leaves)]
    k = split_of(len(leaves))
    if old_size <= k:
        return [*naive_proof(old_size, leaves[:k], whole=whole), naive_root(leaves[k:])]
    rest = naive_proof(old_size - k, leaves[k:], whole=False)
    return [*rest, naive_root(leaves[:k])]


@st.composite
def places(draw: st.DrawFn) -> tuple[int, int]:
    """An index, and a size of a tree that has it."""
    size = draw(st.integers(1, 400))
    return draw(st.integers(0, size - 1)), size


@st.composite
def changes(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with one byte changed."""
    place = draw(st.integers(0, len(content) - 1))
    return (
        content[:place] + bytes([content[place] ^ draw(st.integers(1, 255))]) + content[place + 1 :]
    )


def changed_path(draw: st.DrawFn, path: Sequence[bytes]) -> list[bytes]:
    """The path with one byte changed, or one hash dropped, doubled or moved."""
    place = draw(st.integers(0, len(path) - 1))
    match draw(st.sampled_from(("byte", "drop", "double", "short"))):
        case "byte":
            fresh = [draw(changes(path[place]))]
        case "drop":
            fresh = []
        case "double":
            fresh = [path[place], path[place]]
        case _:
            fresh = [path[place][:-1]]
    return [*path[:place], *fresh, *path[place + 1 :]]


def test_the_published_roots() -> None:
    """Every size of the well-known tree, the empty one included."""
    for size, root in enumerate(PUBLISHED_ROOTS):
        assert root_of(PUBLISHED_LEAVES[:size]).hex() == root
    assert EMPTY_ROOT.hex() == PUBLISHED_ROOTS[0]


def test_the_published_proofs() -> None:
    """An inclusion and a consistency proof of that tree, as other implementations have them."""
    assert [each.hex() for each in inclusion_proof(PUBLISHED_LEAVES, 5, 8)] == [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]
    assert [each.hex() for each in consistency_proof(PUBLISHED_LEAVES, 6, 8)] == [
        "0ebc5d3437fbe2db158b9f126a1d118e308181031d0a949f8dededebc558ef6a",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
    ]
    assert [each.hex() for each in consistency_proof(PUBLISHED_LEAVES, 2, 5)] == [
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
    ]


def test_every_small_tree_agrees_with_the_naive_one() -> None:
    """All places and all earlier sizes of all trees up to 33: same hashes, and they verify."""
    for size in range(1, SMALL + 1):
        leaves = leaves_of(size)
        root = naive_root(leaves)
        for index in range(size):
            path = inclusion_proof(leaves, index, size)
            assert list(path) == naive_path(index, leaves)
            verify_inclusion(leaves[index], index, size, path, root)
        for old_size in range(1, size + 1):
            path = consistency_proof(leaves, old_size, size)
            assert list(path) == naive_proof(old_size, leaves)
            verify_consistency(old_size, naive_root(leaves[:old_size]), size, root, path)


@given(places())
def test_larger_trees_agree_with_the_naive_one(place: tuple[int, int]) -> None:
    """Root, inclusion and consistency at a random place of a random tree."""
    index, size = place
    leaves = leaves_of(size)
    assert root_of(leaves) == naive_root(leaves)
    assert list(inclusion_proof(leaves, index, size)) == naive_path(index, leaves)
    assert list(consistency_proof(leaves, index + 1, size)) == naive_proof(index + 1, leaves)


@given(st.lists(st.integers(0, 40), max_size=6))
def test_a_frontier_grows_in_any_steps(steps: list[int]) -> None:
    """Appending leaves a few at a time ends where appending them at once does."""
    leaves = leaves_of(sum(steps))
    frontier = Frontier()
    for step in steps:
        frontier = frontier.extended(leaves[frontier.size : frontier.size + step])
    assert frontier == Frontier().extended(leaves)
    assert frontier.root() == naive_root(leaves)


def test_a_frontier_has_one_peak_for_each_bit_of_its_size() -> None:
    """A frontier read back from somewhere cannot claim a size that its peaks do not make up."""
    for size, peaks in ((3, (b"a" * 32,)), (0, (b"a" * 32,)), (-1, ())):
        with pytest.raises(BadInput, match="cannot make up"):
            Frontier(size, peaks)


def test_proofs_are_made_from_a_stream() -> None:
    """The leaves are read once, in order, and not behind the size that is asked about."""
    leaves = leaves_of(100)

    def stream() -> Iterator[bytes]:
        yield from leaves[:77]
        pytest.fail("read behind the last leaf")

    assert inclusion_proof(stream(), 40, 77) == inclusion_proof(leaves, 40, 77)
    assert consistency_proof(stream(), 40, 77) == consistency_proof(leaves, 40, 77)


def test_a_stream_that_ends_early_is_noticed() -> None:
    """A tree that lacks leaves has no proof, wherever they are missing."""
    for available in (0, 3, 9):
        with pytest.raises(BadInput, match="fewer than"):
            inclusion_proof(leaves_of(available), 2, 10)
        with pytest.raises(BadInput, match="fewer than"):
            consistency_proof(leaves_of(available), 3, 10)


@given(places(), st.data())
def test_every_change_of_an_inclusion_proof_is_refused(
    place: tuple[int, int], data: st.DataObject
) -> None:
    """One byte of the path, leaf or root, one hash more or less, any other index."""
    index, size = place
    leaves = leaves_of(size)
    root, leaf = root_of(leaves), leaves[index]
    path = inclusion_proof(leaves, index, size)
    verify_inclusion(leaf, index, size, path, root)
    attempts = [
        (data.draw(changes(leaf)), index, path, root),
        (leaf, index, path, data.draw(changes(root))),
        (leaf, data.draw(st.integers(-2, size + 2).filter(lambda i: i != index)), path, root),
        (leaf, index, [*path, root], root),
    ]
    if path:
        attempts.append((leaf, index, changed_path(data.draw, path), root))
    for bad_leaf, bad_index, bad_path, bad_root in attempts:
        with pytest.raises(BadInput) as refusal:
            verify_inclusion(bad_leaf, bad_index, size, bad_path, bad_root)
        assert refusal.value.code is Code.PROOF


@given(places(), st.data())
def test_every_change_of_a_consistency_proof_is_refused(
    place: tuple[int, int], data: st.DataObject
) -> None:
    """One byte of the path or either root, one hash more or less, sizes in the wrong order."""
    old_size, new_size = place[0] + 1, place[1]
    leaves = leaves_of(new_size)
    old_root, new_root = root_of(leaves[:old_size]), root_of(leaves)
    path = consistency_proof(leaves, old_size, new_size)
    verify_consistency(old_size, old_root, new_size, new_root, path)
    attempts = [
        (old_size, data.draw(changes(old_root)), new_size, new_root, path),
        (old_size, old_root, new_size, data.draw(changes(new_root)), path),
        (old_size, old_root, new_size, new_root, [*path, new_root]),
        (new_size + 1, old_root, new_size, new_root, path),
        (0, old_root, new_size, new_root, path),
    ]
    if path:
        bad_path = changed_path(data.draw, path)
        attempts.append((old_size, old_root, new_size, new_root, bad_path))
    for attempt in attempts:
        with pytest.raises(BadInput) as refusal:
            verify_consistency(*attempt)
        assert refusal.value.code is Code.PROOF


@given(places(), st.data())
def test_another_history_has_no_consistency_proof(
    place: tuple[int, int], data: st.DataObject
) -> None:
    """One leaf of the old tree changed: the honest way to make a proof does not verify."""
    old_size, new_size = place[0] + 1, place[1]
    leaves = leaves_of(new_size)
    old_root = root_of(leaves[:old_size])
    changed = data.draw(st.integers(0, old_size - 1))
    leaves[changed] = leaf_hash(b"another")
    path = consistency_proof(leaves, old_size, new_size)
    with pytest.raises(BadInput):
        verify_consistency(old_size, old_root, new_size, root_of(leaves), path)


def test_a_path_of_another_tree_has_another_length() -> None:
    """Hashes that do lead to the root are refused where the sizes leave no room or too much of it."""
    leaves = leaves_of(4)
    root = root_of(leaves)
    with pytest.raises(BadInput, match="inclusion proof is too long"):
        verify_inclusion(leaves[1], 0, 1, [leaves[0]], root_of(leaves[:2]))
    with pytest.raises(BadInput, match="consistency proof is too short"):
        verify_consistency(1, leaves[0], 4, root_of(leaves[:2]), [leaves[1]])
    with pytest.raises(BadInput, match="consistency proof is too long"):
        verify_consistency(1, leaves[0], 2, root, consistency_proof(leaves, 1, 4))
    with pytest.raises(BadInput, match="consistency proof is too short"):
        verify_consistency(3, root_of(leaves[:3]), 4, root, ())


def test_a_proof_does_not_bind_the_size() -> None:
    """A limit of RFC 6962 trees: one path can hold for two sizes, so sizes come from the signer."""
    leaves = leaves_of(4)
    path = inclusion_proof(leaves, 0, 4)
    verify_inclusion(leaves[0], 0, 4, path, root_of(leaves))
    verify_inclusion(leaves[0], 0, 3, path, root_of(leaves))
    with pytest.raises(BadInput, match="too short"):
        verify_inclusion(leaves[0], 0, 5, path, root_of(leaves))


def test_equal_sizes_need_no_hashes() -> None:
    """Also where the size is no power of two: equal roots and nothing else."""
    for size in range(1, SMALL):
        root = root_of(leaves_of(size))
        verify_consistency(size, root, size, root, ())
        with pytest.raises(BadInput, match="different roots"):
            verify_consistency(size, root, size, leaf_hash(root), ())
        with pytest.raises(BadInput, match="too long"):
            verify_consistency(size, root, size, root, (root,))


def test_a_pair_cannot_pass_for_a_leaf() -> None:
    """The two hashes of a pair as the content of one leaf do not give the root of the pair."""
    pair = leaves_of(2)
    assert root_of([leaf_hash(pair[0] + pair[1])]) != root_of(pair)


def test_hashes_of_another_length_are_refused() -> None:
    """Two hashes cut apart one byte later join to the same bytes, and would lead to the same root."""
    left, right = leaves_of(2)
    joined = left + right
    root = node_hash(left, right)
    assert node_hash(joined[:33], joined[33:]) == root
    verify_inclusion(left, 0, 2, [right], root)
    with pytest.raises(BadInput, match="32 bytes"):
        verify_inclusion(joined[:33], 0, 2, [joined[33:]], root)


def test_no_place_outside_the_tree() -> None:
    """An index or size that the tree does not have is refused before anything is hashed."""
    for index, size in ((-1, 3), (3, 3), (0, 0)):
        with pytest.raises(BadInput, match="no leaf"):
            inclusion_proof(leaves_of(3), index, size)
        with pytest.raises(BadInput, match="cannot be in"):
            verify_inclusion(EMPTY_ROOT, index, size, (), EMPTY_ROOT)
    for old_size, size in ((0, 3), (4, 3)):
        with pytest.raises(BadInput, match="not an earlier size"):
            consistency_proof(leaves_of(3), old_size, size)

"""Every test of the suite runs in every engine on this machine, as root and as an ordinary user."""

from collections.abc import Iterator

import pytest

from tests.enforce.engines.benches import IMAGE, Bench, bench_of, engines_here, users_of

_PAIRS = [(engine, uid) for engine in (*engines_here(), IMAGE) for uid in users_of(engine)]


@pytest.fixture(
    scope="module",
    params=_PAIRS,
    ids=[f"{engine}-{'user' if uid else 'root'}" for engine, uid in _PAIRS],
)
def bench(request: pytest.FixtureRequest) -> Iterator[Bench]:
    """One engine and one user."""
    engine, uid = request.param
    with bench_of(engine, uid) as made:
        yield made

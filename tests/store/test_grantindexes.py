"""Which index answers what is asked of grants: what has ended is never read to find what stands."""

from pathlib import Path

import pytest

from consentry.store import grants, modulechecks
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase

_ALL = "SELECT * FROM capability_grant WHERE"
QUERIES = {
    "lasting": modulechecks._GRANTS,
    "of_session": modulechecks._SESSION_GRANTS,
    "standing": f"{_ALL} {grants._OTHERS}",
    "standing, of one module": f"{_ALL} {grants._OF_MODULE} AND {grants._STANDING}",
    "standing, of one capability": (
        f"{_ALL} {grants._OF_MODULE} AND capability_id = ? AND {grants._STANDING}"
    ),
    "void": modulechecks._STALE,
}


@pytest.mark.parametrize("asked", QUERIES)
def test_each_question_has_its_index(tmp_path: Path, asked: str) -> None:
    """The cost of a check does not grow with the number of grants that there ever were."""
    database = SqliteDatabase(tmp_path / "store.db")
    migrate(database)
    query = QUERIES[asked]
    values = [""] * query.count("?")
    with database.reading() as view:
        plan = [str(row[3]) for row in view.rows(f"EXPLAIN QUERY PLAN {query}", values)]
    database.close()
    used = [each for each in plan if "capability_grant" in each]
    assert any(f"USING INDEX capability_grant_{asked.partition(',')[0]} (" in each for each in used)
    assert not [each for each in used if each.startswith("SCAN")]

"""Cedar, by its Python binding, as a check of one capability among a thousand policies.

Installed from the package index into an environment that is removed afterwards. It gets the best that its
documentation offers: policies and entities are parsed once, and each call only decides.
"""

import json
from pathlib import Path

from bench.installing import Absent, from_wheel, said_by
from bench.report import Sample

POLICIES = 1_000
_PROGRAM = """\
import json, sys, time
import cedarpy
policies, repeats, calls = map(int, sys.argv[1:])
text = "\\n".join(
    'permit(principal == Module::"m-%d", action == Action::"state.read", resource);' % number
    for number in range(policies)
)
known, entities = cedarpy.PolicySet.from_str(text), cedarpy.Entities.from_json_str("[]")
request = {
    "principal": 'Module::"m-%d"' % (policies // 2),
    "action": 'Action::"state.read"',
    "resource": 'Board::"b"',
    "context": {},
}
if not cedarpy.is_authorized(request, known, entities).allowed:
    raise SystemExit("it does not allow what it should")
taken = []
for _ in range(repeats):
    begun = time.perf_counter_ns()
    for _ in range(calls):
        cedarpy.is_authorized(request, known, entities)
    taken.append((time.perf_counter_ns() - begun) // calls)
print(json.dumps(taken))
"""


def measured(folder: Path, repeats: int, calls: int) -> tuple[str, Sample]:
    """Its version, and how long a decision takes; raises `Absent`."""
    python = str(from_wheel(folder / "cedar", "cedarpy"))
    asked = "import importlib.metadata as m; print(m.version('cedarpy'))"
    version = said_by([python, "-c", asked])
    said = said_by([python, "-c", _PROGRAM, str(POLICIES), str(repeats), str(calls)])
    return f"cedarpy {version}", Sample("", tuple(json.loads(said)))


__all__ = ["POLICIES", "Absent", "measured"]

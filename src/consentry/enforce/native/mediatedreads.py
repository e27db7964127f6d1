"""A plan whose program may read no granted file by itself, so that every one is opened for it.

Landlock only adds up, and rights on a folder hold for all that lies below. So the right to read files
is taken from every rule at, below or above a granted place, and what lies there is opened by somebody
who still has it. Files that may be executed keep it: the kernel reads them when it starts them.
"""

import os

from consentry.base.values import replace
from consentry.enforce.native.planner import Plan
from consentry.enforce.native.rights import READ_FILE


def with_mediated_reads(plan: Plan) -> Plan:
    """The same grants, the reading of files among them held by the opener alone."""
    rules = plan.landlock
    startable = plan.startable
    if rules is None or startable is None:
        raise ValueError("every file may be executed, and so read")
    granted = [str(root.path) for root in (*(each.root for each in plan.layered), *plan.readable)]
    places = dict.fromkeys(granted)

    def closed(path: str, rights: int) -> tuple[str, int]:
        is_near = any(_is_at_or_below(path, at) or _is_at_or_below(at, path) for at in granted)
        if not is_near or not rights & READ_FILE or path in startable:
            return path, rights
        places[path] = None
        return path, rights & ~READ_FILE

    left = {
        name: tuple(rule for rule in (closed(*each) for each in rules[name]) if rule[1])
        for name in ("paths", "picked")
    }
    return replace(
        plan,
        landlock={**rules, **left},
        exact={"landlock": rules, "places": [os.fsencode(place) for place in places]},
    )


def is_granted(plan: Plan, place: str) -> bool:
    """Whether the grants allow to read a file there, so that what refused it were its own bits."""
    rules = {"paths": (), "picked": ()} if plan.exact is None else plan.exact["landlock"]
    return any(
        rights & READ_FILE and _is_at_or_below(place, path)
        for path, rights in (*rules["paths"], *rules["picked"])
    )


def _is_at_or_below(path: str, root: str) -> bool:
    return path == root or path.startswith(root.rstrip("/") + "/")

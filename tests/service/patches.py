"""Patches for the guard: bundles made from files before and after, and wishes in their JSON form."""

import difflib
from collections.abc import Mapping
from typing import Any

Files = Mapping[str, str]


def diff_of(before: Files, after: Files) -> str:
    """The unified diff between two sets of text files."""
    parts: list[str] = []
    for name in sorted({*before, *after}):
        old, new = before.get(name), after.get(name)
        if old == new:
            continue
        parts += difflib.unified_diff(
            (old or "").splitlines(keepends=True),
            (new or "").splitlines(keepends=True),
            "/dev/null" if old is None else f"a/{name}",
            "/dev/null" if new is None else f"b/{name}",
        )
    return "".join(parts)


def bundle_of(before: Files, after: Files, **more: Any) -> dict[str, Any]:
    """A whole bundle in its JSON form; `more` is added to it, or takes the place of a part."""
    touched = sorted(n for n in {*before, *after} if before.get(n) != after.get(n))
    return {
        "patch.diff": diff_of(before, after),
        "touched_paths": touched,
        "base": dict(before),
        "after": dict(after),
        **more,
    }


def adding(line: str, name: str = "app.py") -> dict[str, Any]:
    """A bundle that adds lines to a small module."""
    body = "def double(number):\n    return number * 2\n"
    return bundle_of({name: body}, {name: f"{line}\n\n\n{body}"})


def wish_of(**allowed: Any) -> dict[str, Any]:
    """A wish that allows these fields; without any it has no block at all."""
    wish: dict[str, Any] = {
        "wish_ir_version": "1",
        "id": "wish-test",
        "scope": ["try it"],
        "non_goals": ["anything else"],
    }
    return {**wish, "allowed_capabilities": allowed} if allowed else wish

"""A file that takes the name of a module whose word counts (GUARD §decide-implicit)."""

import pytest

import consentry

HIDDEN = "from {module} import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    import subprocess\n"


def _bundle(files: dict[str, str]) -> dict[str, object]:
    diff = "".join(
        f"diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n"
        f"@@ -0,0 +1,{len(text.splitlines())} @@\n"
        + "".join(f"+{line}\n" for line in text.splitlines())
        for path, text in files.items()
    )
    return {"patch.diff": diff, "touched_paths": list(files), "base": {}, "after": files}


@pytest.mark.parametrize("module", ["typing", "typing_extensions"])
def test_a_condition_of_a_file_that_took_the_name_is_not_believed(module: str) -> None:
    """Blocks for type checkers are passed over for the library's word, not for a namesake's."""
    honest = {"app.py": HIDDEN.format(module=module)}
    taken = {**honest, f"{module}.py": "TYPE_CHECKING = True\n"}
    assert consentry.check_patch(_bundle(honest)).status == "PASS"
    assert consentry.check_patch(_bundle(taken)).status == "UNKNOWN"

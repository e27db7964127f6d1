"""Runs the code of a snippet, and says what came of it.

What it has to say it writes to one pipe: a JSON value, or what went wrong. That is the snippet's own
word; how it ended and what it used is told by the worker, which the snippet cannot reach.
"""

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

RESULT = 3
"""The descriptor that the result is written to."""

_MOST_TRACE = 8192
_PRELUDE = "import os\nos.environ.update(variables)"


def rehearse() -> None:
    """Does what every run does, with nothing in it.

    A copy gets pages of its own as it touches them; whoever waits for a snippet need not wait for
    those that all of them need.
    """
    import json  # noqa: PLC0415 - loaded by the worker

    json.dumps({"ok": True, "result": _value_of("<nothing>", b"nothing = 1\nnothing", {})})


def give_variables(variables: "Mapping[str, str]") -> None:
    """Puts them into the snippet's own environment, as its first line would; ours is never read."""
    exec(_PRELUDE, {"variables": variables})  # noqa: S102 - ours


def run(name: str, source: bytes, arguments: "dict[str, Any]") -> int:
    """Runs it with these variables; its exit status."""
    try:
        value = _value_of(name, source, arguments)
    except SystemExit as problem:
        return problem.code if isinstance(problem.code, int) else int(problem.code is not None)
    except BaseException as problem:  # noqa: BLE001 - the snippet's own error is an answer
        trace = _trace_of(problem, name, source)
        _say(
            {
                "ok": False,
                "error": {
                    "type": type(problem).__name__,
                    "message": str(problem),
                    "traceback": trace,
                },
            }
        )
        return 1
    try:
        _say({"ok": True, "result": value})
    except (TypeError, ValueError, RecursionError) as problem:
        _say({"ok": False, "error": {"type": "ResultNotJson", "message": str(problem)}})
        return 1
    return 0


def _trace_of(problem: BaseException, name: str, source: bytes) -> str:
    """Where it happened, without our own frames, and with the snippet's own lines."""
    import linecache  # noqa: PLC0415 - only for those that fail
    import traceback  # noqa: PLC0415 - as above

    # A file of this name is not looked for: what is there now may be other lines.
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[name] = (len(source), None, lines, name)
    first = problem.__traceback__
    while first is not None and first.tb_frame.f_code.co_filename != name:
        first = first.tb_next
    return "".join(traceback.format_exception(problem.with_traceback(first)))[-_MOST_TRACE:]


def _value_of(name: str, source: bytes, names: "dict[str, Any]") -> object:
    """`result` if the code sets it, else what it returns, else its last expression."""
    import ast  # noqa: PLC0415 - loaded by the worker

    names.setdefault("__name__", "__main__")
    tree = ast.parse(source, name)
    if _returns(tree.body):
        function = ast.parse("def snippet(): pass").body[0]
        function.body = tree.body  # type: ignore[attr-defined] # it is a function
        exec(compile(ast.Module([function], []), name, "exec"), names)  # noqa: S102
        return names["snippet"]()
    last = tree.body[-1] if tree.body else None
    value: object = None
    if isinstance(last, ast.Expr):
        exec(compile(ast.Module(tree.body[:-1], []), name, "exec"), names)  # noqa: S102
        value = eval(compile(ast.Expression(last.value), name, "eval"), names)  # noqa: S307
    else:
        exec(compile(tree, name, "exec"), names)  # noqa: S102 - what a snippet is for
    return names.get("result", value)


def _returns(body: "Sequence[Any]") -> bool:
    """Whether there is a `return` that belongs to no function."""
    import ast  # noqa: PLC0415 - as above

    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return):
            return True
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            waiting.extend(ast.iter_child_nodes(node))
    return False


def _say(document: "Mapping[str, Any]") -> None:
    import json  # noqa: PLC0415 - as above

    content = json.dumps(document, allow_nan=False).encode()
    while content:
        content = content[os.write(RESULT, content) :]

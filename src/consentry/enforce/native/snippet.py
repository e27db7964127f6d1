"""One run of a snippet, in a copy of the worker: the last mounts, what is given up, then the code.

Runs as the first process of its own pid namespace, so that everything it starts ends with it. What it
has to say it writes to one pipe: a JSON value, or what went wrong. That is the snippet's own word;
how it ended and what it used is told by the worker, which the snippet cannot reach.
"""

import os
import resource
import sys

from consentry.enforce.native import box, calls
from consentry.enforce.native.reaper import hand_out

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

_RESULT = 3
_MOST_TRACE = 8192
_NAME = "snippet.py"


def live(plan: "Mapping[str, Any]", files: "Sequence[int]", gate: int) -> None:
    """Confines this process for good, runs the code, and never returns."""
    status = 125
    try:
        source = _confine(plan, files, gate)
        status = _run(source, plan["arguments"])
    except OSError as problem:
        _say({"ok": False, "error": {"type": "NotBuilt", "message": str(problem)}})
    finally:
        try:
            _flush("stdout", "stderr")
        finally:
            os._exit(status)


def _flush(*streams: str) -> None:
    """What the snippet printed and its interpreter still holds."""
    for name in streams:
        getattr(sys, name).flush()


def _confine(plan: "Mapping[str, Any]", files: "Sequence[int]", gate: int) -> bytes:
    calls.prctl(calls.PR_SET_PDEATHSIG, 9)
    source = _whole(files[plan["code"]])
    built = box.Box(plan, files)
    built.take_steps()
    hand_out(gate, b"b", built.layer)
    for number, index in enumerate(plan["streams"]):
        os.dup2(files[index], number)
    result = os.dup(files[plan["result"]])
    os.umask(plan["umask"])
    os.chdir(plan["cwd"])
    for which, soft, hard in plan["rlimits"]:
        resource.setrlimit(which, (soft, hard))
    calls.drop_bounding_set()
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)
    calls.drop_capabilities()
    box.restrict_files(plan["landlock"])
    _draw_anew()
    listener = calls.seccomp(plan["filter"], listening=plan["listens"])
    if plan["listens"]:
        hand_out(gate, b"l", listener)
        os.close(listener)
    os.dup2(result, _RESULT)
    calls.close_from(_RESULT + 1)
    return source


def _draw_anew() -> None:
    """No run draws the numbers that another one drew; `random` sees to itself when a process forks."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()


def _run(source: bytes, arguments: "Mapping[str, Any]") -> int:
    try:
        value = _value_of(source, dict(arguments))
    except SystemExit as problem:
        return problem.code if isinstance(problem.code, int) else int(problem.code is not None)
    except BaseException as problem:  # noqa: BLE001 - the snippet's own error is an answer
        trace = _trace_of(problem, source)
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


def _trace_of(problem: BaseException, source: bytes) -> str:
    """Where it happened, without our own frames, and with the snippet's own lines."""
    import linecache  # noqa: PLC0415 - only for those that fail
    import traceback  # noqa: PLC0415 - as above

    # Nothing of this name is looked for where the snippet runs.
    lines = source.decode("utf-8", "replace").splitlines(keepends=True)
    linecache.cache[_NAME] = (len(source), None, lines, _NAME)
    first = problem.__traceback__
    while first is not None and first.tb_frame.f_code.co_filename != _NAME:
        first = first.tb_next
    return "".join(traceback.format_exception(problem.with_traceback(first)))[-_MOST_TRACE:]


def _value_of(source: bytes, names: "dict[str, Any]") -> object:
    """`result` if the code sets it, else what it returns, else its last expression."""
    import ast  # noqa: PLC0415 - loaded by the worker

    names.setdefault("__name__", "__main__")
    tree = ast.parse(source, _NAME)
    if _returns(tree.body):
        function = ast.parse("def snippet(): pass").body[0]
        function.body = tree.body  # type: ignore[attr-defined] # it is a function
        exec(compile(ast.Module([function], []), _NAME, "exec"), names)  # noqa: S102
        return names["snippet"]()
    last = tree.body[-1] if tree.body else None
    value: object = None
    if isinstance(last, ast.Expr):
        exec(compile(ast.Module(tree.body[:-1], []), _NAME, "exec"), names)  # noqa: S102
        value = eval(compile(ast.Expression(last.value), _NAME, "eval"), names)  # noqa: S307
    else:
        exec(compile(tree, _NAME, "exec"), names)  # noqa: S102 - what a snippet is for
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
        content = content[os.write(_RESULT, content) :]


def _whole(descriptor: int) -> bytes:
    content = b""
    while part := os.pread(descriptor, 1 << 20, len(content)):
        content += part
    return content

"""Infers the permission set that a piece of saved code needs, from the code alone.

What is inferred opens nothing by itself: the sandbox enforces the set, so code that hides what it
does fails in it. A wrong answer costs a question or a failed run, never a power nobody agreed to.
"""

from consentry.examine.inference.inferred import UNREADABLE, Inferred, Language

__all__ = ["UNREADABLE", "Inferred", "Language", "infer_permissions"]


def infer_permissions(code: str, language: Language | str) -> Inferred:
    """The set that the code needs, with confidence and patterns; never raises, never `trusted`.

    Code that does not parse, and code of a language that is not known, is `minimal` with 0.0.
    """
    from consentry.examine.inference.infer import infer  # noqa: PLC0415 - for those who infer alone

    try:
        return infer(code, Language(language))
    except Exception:  # noqa: BLE001 - a save succeeds whatever is in the code, and opens nothing then
        return UNREADABLE

"""Saves capabilities and finds them again, by name or by id.

What is saved runs in the set that is inferred from its code, unless a person gives it another.
"""

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.nearest import closest
from consentry.decide.capabilities import Capabilities, Capability, Language, check_code
from consentry.decide.identity import Identity
from consentry.surface.permission_sets import PermissionSet


def save_code(
    store: Capabilities,
    name: str,
    code: str,
    language: Language,
    *,
    by: Identity,
    set_by_hand: PermissionSet | None = None,
) -> Capability:
    """Saves the code; the same code stays as it is, other code is a new version."""
    from consentry.examine.inference import infer_permissions  # noqa: PLC0415 - with parsers

    inferred = infer_permissions(check_code(code), language)
    return store.save(name, language, code, inferred, by=by, set_by_hand=set_by_hand)


def found_capability(store: Capabilities, name_or_id: str) -> Capability:
    """The saved capability; raises `capability-missing`, with the nearest name."""
    known = store.named(name_or_id) or store.find(name_or_id)
    if known is not None:
        return known
    near = closest(name_or_id, store.names().values())
    raise UsageProblem(
        Code.CAPABILITY_MISSING,
        f"no saved capability is called `{name_or_id}`",
        help_line=None if near is None else f"did you mean `{near}`?",
    )

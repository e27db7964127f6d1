"""What is made of an attempt that wrote nothing yet: by a change that cannot be done, or that may not be.

A refusal by the capability policy makes it `FAILED_PRE_APPLY`, from where it can be previewed again when what
was missing is there. In the operator's mode `block-rejected` it goes on to `REJECTED` in the same step of the
ledger: nothing brings that change back, also not in another mode later (MODULES §mode-block-rejected).
"""

from consentry.base.errors import BadInput
from consentry.base.values import replace
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import ErrorClass, RecoveryAction, TxError
from consentry.decide.txstep import Caller, Stage, Step
from consentry.enforce.broker import CapabilityRejected
from consentry.service.transactionplace import TxPlace


def steps_of_refusal(
    place: TxPlace, begun: Attempt, refused: CapabilityRejected, stage: Stage, caller: Caller
) -> list[Step]:
    """From where the attempt stands to where the refusal leads."""
    rejection, now = refused.rejection, place.now()
    error = TxError(
        rejection.code.value,
        ErrorClass.REJECTED,
        safe_to_retry=True,
        action=RecoveryAction.PREVIEW_AGAIN,
        why=rejection.why or rejection.code.value,
        capability_id=rejection.capability_id,
    )
    failed = begun.failed(error, now)
    steps = [Step(begun.state, failed, stage, caller)]
    if place.watch.is_final(begun.origin):
        for_good = replace(error, safe_to_retry=False, action=RecoveryAction.NONE)
        steps.append(Step(failed.state, failed.rejected(for_good, now), stage, caller))
    return steps


def not_worked_out(problem: BadInput) -> TxError:
    """Why the operations make no preview of the document as it is."""
    at = None if problem.where is None else problem.where.field
    return TxError(
        problem.code.value,
        ErrorClass.CONFLICT,
        safe_to_retry=True,
        action=RecoveryAction.PREVIEW_AGAIN,
        why=problem.message if at is None else f"{at}: {problem.message}",
    )

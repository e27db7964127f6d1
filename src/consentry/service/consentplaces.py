"""Which consents were given for another workspace, and hold only there.

A yes for once is for the run that was shown: that tool, those words, in that workspace. A remembered yes
is for the tool wherever it works, as long as the tool is the user's own. A tool that a workspace brings
along comes with the modules and data of that workspace, of which its digest knows nothing: the same bytes
in a stranger's folder are asked about there.

The workspace stands in the request that the consent answered. A consent without one is for anywhere.
"""

from collections.abc import Iterable

from consentry.decide.consent import Consent
from consentry.decide.lasting import Lasts
from consentry.declare.tool import Origin
from consentry.service.approvals import Desk, workspace_of
from consentry.service.toolcalls import ReadyTool
from consentry.store.journal import Journal


def given_elsewhere(
    journal: Journal, ready: ReadyTool, consents: Iterable[Consent]
) -> frozenset[str]:
    """The ids of those that were asked for in another workspace and do not reach this one."""
    requests, here = Desk(journal).requests, str(ready.workspace.path)
    is_own = ready.bound.tool.origin is Origin.OWN
    found = set()
    for consent in consents:
        terms = consent.terms
        is_over = consent.revoked_at is not None or consent.used_at is not None
        if is_over or terms.request_id is None or (is_own and terms.lasts is not Lasts.ONCE):
            continue
        request = requests.find(terms.request_id)
        if request is None or workspace_of(request) != here:
            found.add(consent.consent_id)
    return frozenset(found)

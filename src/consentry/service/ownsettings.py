"""The user's own settings, for commands that belong to no workspace.

They count only from the user's own configuration: a workspace says nothing about how its questions
are answered.
"""

from typing import Final

from consentry.base.errors import Refused
from consentry.declare.preferences import OwnSettings
from consentry.declare.settingsfile import read_settings
from consentry.service.places import Trust, find_configuration
from consentry.service.surroundings import Surroundings
from consentry.service.userfiles import read_named

DOCUMENT: Final = "settings.yaml"


def own_settings(around: Surroundings) -> OwnSettings:
    """What `settings.yaml` says, or the usual where there is none."""
    for folder in find_configuration(around, None).folders:
        if folder.trust is Trust.OWN and DOCUMENT in folder.files:
            for concern in folder.concerns:
                raise Refused(concern.code, concern.message, help_line=concern.help_line)
            file = str(folder.path / DOCUMENT)
            return read_settings(read_named(file), file)
    return OwnSettings()

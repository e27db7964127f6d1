"""Ways to confine a run that a document may name and an engine must hold; the words are the document's."""

from enum import StrEnum


class View(StrEnum):
    """What exists inside: only what is granted, or the host's tree with most of it closed."""

    PRIVATE = "private"
    VISIBLE = "visible"


class Writes(StrEnum):
    """Where writing goes: to a layer that is committed at the end, or to the files at once."""

    LAYER = "layer"
    DIRECT = "direct"


class LayerPlace(StrEnum):
    """Where a layer lies while a run writes to it: in memory, or on the disk of what it is over."""

    MEMORY = "memory"
    DISK = "disk"


class Reads(StrEnum):
    """How the list of files read is known: seen, or opened by the supervisor itself."""

    OBSERVED = "observed"
    EXACT = "exact"


class Denials(StrEnum):
    """Who vouches for what is refused: our observer alone, or for Landlock's part the kernel."""

    OBSERVED = "observed"
    ATTESTED = "attested"


class AnyHost(StrEnum):
    """What `ANY` means of a network: every public host, or this machine and its neighbours, too."""

    PUBLIC = "public"
    EVERY = "every"


class Rounding(StrEnum):
    """Whether a pattern may be held by its literal root, or only exactly."""

    ROUNDED = "rounded"
    EXACT = "exact"

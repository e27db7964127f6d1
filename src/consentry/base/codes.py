"""Every stable code and exit status of the product, in one table.

A code is a promise to scripts and to people searching for it: once released it keeps its meaning.
Adding one means adding a row here; `docs/reference/codes.md` is generated from this table, and
`make check` fails when the two differ. Codes that belong to a document's own wire format
(`capability-unknown-id` and its kin) live with that document, not here.
"""

from enum import StrEnum
from typing import Self

from consentry.base.exitstatus import ExitStatus

__all__ = ["Code", "ExitStatus"]


class Code(StrEnum):
    """One row per error a person or a script can meet: code, exit status, meaning, what to do."""

    status: ExitStatus
    meaning: str
    remedy: str

    def __new__(cls, code: str, status: ExitStatus, meaning: str, remedy: str) -> Self:
        """A member is its own wire string; the rest of the row hangs on it."""
        member = str.__new__(cls, code)
        member._value_ = code
        member.status = status
        member.meaning = meaning
        member.remedy = remedy
        return member

    def __str__(self) -> str:
        return str(self.value)

    INTERNAL_FAULT = (
        "internal-fault",
        ExitStatus.FAILED,
        "Consentry met a state its authors did not foresee, and stopped",
        "run the same command with --verbose and report what it prints",
    )
    USAGE = (
        "usage",
        ExitStatus.USAGE,
        "the command line was not understood",
        "read the page that --help prints for this command",
    )
    INTERRUPTED = (
        "interrupted",
        ExitStatus.INTERRUPTED,
        "the command was interrupted before it was done",
        "run it again; what it had not finished was not done",
    )
    OUTPUT_FAILED = (
        "output-failed",
        ExitStatus.FAILED,
        "the answer could not be written to standard output",
        "check that standard output is open and that there is space left where it goes",
    )
    UNKNOWN_WORD = (
        "unknown-word",
        ExitStatus.USAGE,
        "`consentry explain` was asked about a word the product does not use",
        "run `consentry explain` without a word to list them",
    )
    UNIT_SIZE = (
        "unit-size",
        ExitStatus.BAD_DOCUMENT,
        "a size is not a whole number with K, M, G, KB, MB or GB behind it",
        "write a size such as 512MB; K, M and G are powers of 1024",
    )
    UNIT_DURATION = (
        "unit-duration",
        ExitStatus.BAD_DOCUMENT,
        "a duration is not a number with a unit of time behind it",
        "write a duration such as 60s, 30d, 1hour or 1day",
    )
    CANONICAL_JSON = (
        "canonical-json",
        ExitStatus.BAD_DOCUMENT,
        "a value has no canonical JSON form (RFC 8785)",
        "use strings of valid Unicode, numbers that a double can hold, and string keys",
    )
    IDENTIFIER = (
        "identifier",
        ExitStatus.BAD_DOCUMENT,
        "an id does not have the form prefix-uuid",
        "copy the id as Consentry printed it",
    )
    TIMESTAMP = (
        "timestamp",
        ExitStatus.BAD_DOCUMENT,
        "a time is not ISO-8601 in UTC with a final Z",
        "write a time such as 2026-01-31T09:30:00.000Z",
    )
    PATH_ESCAPE = (
        "path-escape",
        ExitStatus.DENIED,
        "a path leads out of the folder it must stay in, or cannot be resolved there",
        "name a path inside that folder, without links that leave it",
    )
    PATH_KIND = (
        "path-kind",
        ExitStatus.DENIED,
        "a path is neither a plain file nor a folder",
        "remove the pipe, socket or device that stands where a file is expected",
    )
    FILESYSTEM_RACE = (
        "filesystem-race",
        ExitStatus.DENIED,
        "a path changed into a link between its check and its use",
        "find out what is changing the folder while Consentry works in it, then try again",
    )
    SURFACE_FIELD = (
        "surface-field",
        ExitStatus.BAD_DOCUMENT,
        "a surface has a missing, unknown or ill-typed field, or fields that contradict each other",
        "compare it with the surface page of the reference",
    )
    SURFACE_PATTERN = (
        "surface-pattern",
        ExitStatus.BAD_DOCUMENT,
        "a path, command or name pattern cannot be read",
        "use *, ? and ** as wildcards and \\*, \\? or \\\\ for those characters themselves",
    )
    SURFACE_PATTERN_LEAVES = (
        "surface-pattern-leaves",
        ExitStatus.BAD_DOCUMENT,
        "a pattern climbs with `..` out of the folder it is relative to",
        "name the path inside the workspace, or grant the absolute path",
    )
    SURFACE_TOO_COMPLEX = (
        "surface-too-complex",
        ExitStatus.BAD_DOCUMENT,
        "the patterns are too entangled to decide which paths they match; nothing is granted",
        "use fewer wildcards in one name, or list the folders instead",
    )
    SURFACE_HOST = (
        "surface-host",
        ExitStatus.BAD_DOCUMENT,
        "a network target is not a host, *.host, address or CIDR with an optional port",
        "write example.com:443, *.example.com, 192.0.2.7, 192.0.2.0/24 or [2001:db8::1]:443",
    )
    PROTECTED_ROOT = (
        "protected-root",
        ExitStatus.DENIED,
        "the path lies in a place that is never granted",
        "`consentry explain PATH` names the rule; copy what the tool needs into the workspace",
    )
    PERMISSION_SET = (
        "permission-set",
        ExitStatus.USAGE,
        "there is no permission set of that name",
        "`consentry explain` lists the six sets",
    )
    PERMISSION_STEP = (
        "permission-step",
        ExitStatus.DENIED,
        "there is no legal step between these two permission sets",
        "`consentry explain SET` lists the steps that are legal from a set",
    )
    WORKSPACE_REFUSED = (
        "workspace-refused",
        ExitStatus.USAGE,
        "the file system root, a home folder or one that contains homes would have become the workspace",
        "change into a project folder, or name the folder with --workspace",
    )
    WORKSPACE_MISSING = (
        "workspace-missing",
        ExitStatus.USAGE,
        "the workspace is not a folder that can be entered",
        "name an existing folder with --workspace",
    )
    WORKSPACE_OWNER = (
        "workspace-owner",
        ExitStatus.USAGE,
        "the workspace was found through a folder or marker that belongs to somebody else",
        "name the folder with --workspace if it is the one you mean",
    )
    CONFIG_MISSING = (
        "config-missing",
        ExitStatus.USAGE,
        "the configuration named with --config is not a folder that can be entered",
        "name an existing folder with --config, or leave the option out",
    )
    CONFIG_FILE = (
        "config-file",
        ExitStatus.BAD_DOCUMENT,
        "a configuration file is not a plain file that can be read",
        "replace it with a plain file that you may read, or remove it",
    )
    SETTING_VALUE = (
        "setting-value",
        ExitStatus.USAGE,
        "a setting has a value that cannot be used",
        "`consentry explain SETTING` says what it takes",
    )
    STATE_REFUSED = (
        "state-refused",
        ExitStatus.DENIED,
        "the state directory would lie where confined code may reach it",
        "set CONSENTRY_STATE to a folder outside every workspace",
    )
    STATE_UNSAFE = (
        "state-unsafe",
        ExitStatus.DENIED,
        "somebody else may read, change or replace the state directory",
        "make it a plain folder of your own with mode 0700, below folders only you or root may change",
    )
    STATE_UNUSABLE = (
        "state-unusable",
        ExitStatus.LEDGER,
        "the state directory cannot be made or written",
        "make it writable for you, or set CONSENTRY_STATE to another folder",
    )
    EVENT_FIELD = (
        "event-field",
        ExitStatus.LEDGER,
        "an event lacks a field that its type must carry, so it is not recorded and nothing runs",
        "this is a fault of the program that wrote the event; report it",
    )
    LEDGER_UNWRITABLE = (
        "ledger-unwritable",
        ExitStatus.LEDGER,
        "the ledger could not be written, so the action was not started",
        "make room on the disk or restore the right to write the state directory, then try again",
    )
    LEDGER_BUSY = (
        "ledger-busy",
        ExitStatus.LEDGER,
        "another process kept the ledger locked for too long, so the action was not started",
        "end the process that holds it (`fuser` on the database file names it), then try again",
    )
    LEDGER_CORRUPT = (
        "ledger-corrupt",
        ExitStatus.LEDGER,
        "the ledger's database is damaged or is not one of ours",
        "keep the file as it is, and restore a backup beside it",
    )
    LEDGER_NEWER = (
        "ledger-newer",
        ExitStatus.LEDGER,
        "the ledger was written by a newer Consentry than this one",
        "use that newer version; nothing was changed",
    )
    LEDGER_OLDER = (
        "ledger-older",
        ExitStatus.LEDGER,
        "the ledger was written by an older Consentry, and may not be changed here to be read",
        "run the command once where the ledger may be written; nothing was changed",
    )
    CHAIN_BROKEN = (
        "chain-broken",
        ExitStatus.LEDGER,
        "an event was changed, dropped, repeated or moved",
        "keep the ledger as it is, and compare it with a backup or a checkpoint from before",
    )
    PROOF = (
        "proof",
        ExitStatus.BAD_DOCUMENT,
        "a proof cannot be read, or does not show what it is said to show",
        "ask for the proof again, and check that it is about this event and these checkpoints",
    )
    CHECKPOINT = (
        "checkpoint",
        ExitStatus.LEDGER,
        "a checkpoint cannot be read, was not signed with a trusted key, or contradicts another",
        "compare it with the copy that was exported, and the public key with the one you were given",
    )
    LEDGER_KEY = (
        "ledger-key",
        ExitStatus.LEDGER,
        "the key that signs checkpoints cannot be made, or its file is not one to trust",
        "make it a plain file of your own, mode 0600, in a folder of mode 0700, or restore a backup",
    )
    EVENT_UNKNOWN = (
        "event-unknown",
        ExitStatus.USAGE,
        "the ledger has no event with this id",
        "`consentry audit log` lists the events with their ids",
    )
    CONFIG_UNSAFE = (
        "config-unsafe",
        ExitStatus.DENIED,
        "somebody else, or the workspace, may change or replace configuration that counts as yours",
        "make it plain files of your own, below folders and links only you or root may change",
    )
    FILE_UNUSABLE = (
        "file-unusable",
        ExitStatus.USAGE,
        "a file that was named cannot be read, or exists already where a new one is to be made",
        "name a plain file that you may read, or a new name in a folder that you may write",
    )
    CHECKPOINT_EMPTY = (
        "checkpoint-empty",
        ExitStatus.USAGE,
        "a checkpoint was asked for before anything was recorded",
        "take it after the first event; `consentry audit log` lists them",
    )
    EVENT_TWICE = (
        "event-twice",
        ExitStatus.LEDGER,
        "an event with this id was recorded before, so it is not recorded again",
        "this is a fault of the program that wrote the event; report it",
    )
    DECISION_FIELD = (
        "decision-field",
        ExitStatus.BAD_DOCUMENT,
        "a request, answer, consent, grant, permit, session or machine has a field it cannot have",
        "the message names the field; give it the form that the reference describes",
    )
    ID_UNKNOWN = (
        "id-unknown",
        ExitStatus.USAGE,
        "nothing with this id is kept here",
        "copy the id as Consentry printed it; the list command of its kind shows what there is",
    )
    REQUEST_SETTLED = (
        "request-settled",
        ExitStatus.DENIED,
        "the approval request was answered or superseded before; one answer wins",
        "the message says how it ended; ask again if it is still wanted",
    )
    REQUEST_LATE = (
        "request-late",
        ExitStatus.DENIED,
        "the approval request was not answered by its deadline, which counts as no",
        "ask again; the new request has a new deadline",
    )
    ANSWER_REFUSED = (
        "answer-refused",
        ExitStatus.DENIED,
        "whoever answered may not answer this request",
        "let a person answer it who is not the one that asks, in a role that may approve",
    )
    CONSENT_CLOSED = (
        "consent-closed",
        ExitStatus.DENIED,
        "the consent was used up or revoked, or was given before from the same request",
        "ask for consent again",
    )
    PERMIT_REFUSED = (
        "permit-refused",
        ExitStatus.DENIED,
        "the permit is unknown, spent, too old, made for another machine, or names no decision",
        "start again: a permit is made just before each start and is used once",
    )
    ARCHIVE = (
        "archive",
        ExitStatus.BAD_DOCUMENT,
        "an archive, or an exported event, was cut or changed, or is not one",
        "take another copy of the file; nothing of this one was taken over",
    )
    ARCHIVE_UNKNOWN = (
        "archive-unknown",
        ExitStatus.USAGE,
        "the ledger has no record of this archive, so nothing was taken out for it",
        "an archive that `consentry audit retain` did not finish may be deleted",
    )
    RETAIN_RACED = (
        "retain-raced",
        ExitStatus.LEDGER,
        "old events came or went while they were being archived, so none was taken out",
        "run the command again; another one archived at the same time",
    )
    DOCUMENT_INVALID = (
        "document-invalid",
        ExitStatus.BAD_DOCUMENT,
        "a document cannot be read, or breaks the rules of its format",
        "correct each place that is listed; the reference has a page for every kind of document",
    )
    SECRET_UNUSABLE = (
        "secret-unusable",
        ExitStatus.USAGE,
        "a secret is not written as it should be, or what it is kept in cannot be used",
        "write HOST=HEADER:file:PATH or HOST=HEADER:env:NAME, with a file of mode 0600 that is yours alone",
    )
    PROGRAM_UNSTARTABLE = (
        "program-unstartable",
        ExitStatus.DENIED,
        "a program cannot be started: it is not executable, or what it needs to start is missing",
        "check the file's mode and its first line",
    )
    PROGRAM_UNKNOWN = (
        "program-unknown",
        ExitStatus.NOT_FOUND,
        "there is no program of that name",
        "name a program that is installed, or give its path",
    )
    ENGINE_FAILED = (
        "engine-failed",
        ExitStatus.FAILED,
        "the engine could not build the box, so nothing was started",
        "`consentry doctor` shows what this host offers and what is missing",
    )
    NOT_ENFORCEABLE = (
        "not-enforceable",
        ExitStatus.DENIED,
        "no engine on this host enforces everything that is asked for, so nothing was started",
        "`consentry engines` lists what each engine enforces here; ask for less, or install another",
    )
    LAYER_UNREADABLE = (
        "layer-unreadable",
        ExitStatus.FAILED,
        "what a run changed cannot be read, so nothing of it was taken over",
        "check that the folders the run could write to are still there and may be read, then run it again",
    )
    COMMIT_REFUSED = (
        "commit-refused",
        ExitStatus.DENIED,
        "the changes of a run cannot be taken over as a whole, so none of them was",
        "the message says what stands in the way; the files are as they were before the run",
    )
    COMMIT_UNFINISHED = (
        "commit-unfinished",
        ExitStatus.FAILED,
        "taking over the changes of a run was interrupted, and could not be finished or undone yet",
        "remove what the message names as the obstacle; the next command tries again, and nothing is lost",
    )
    RUN_UNRECORDED = (
        "run-unrecorded",
        ExitStatus.LEDGER,
        "a program was run, and afterwards the record of the run could not be written",
        "the decision and the permit are in the ledger; make it writable, and look at what was changed",
    )
    RUN_UNKNOWN = (
        "run-unknown",
        ExitStatus.USAGE,
        "the ledger has no record of such a run",
        "`consentry audit log --type tool.audit` lists the runs",
    )
    RUN_AMBIGUOUS = (
        "run-ambiguous",
        ExitStatus.USAGE,
        "several runs have an id that begins so",
        "give more of the id; `consentry audit log --type tool.audit` lists the runs",
    )
    EFFECT_UNKEPT = (
        "effect-unkept",
        ExitStatus.DENIED,
        "what a rehearsal would change could not be kept, so it is gone; nothing was changed",
        "make room in the state directory, or make it writable, and run it again",
    )
    EFFECT_ABSENT = (
        "effect-absent",
        ExitStatus.USAGE,
        "nothing is kept of this run: it was no rehearsal, changed nothing, or its time is over",
        "`consentry why RUN` tells what became of it; run it again with --rehearse",
    )
    EFFECT_SETTLED = (
        "effect-settled",
        ExitStatus.DENIED,
        "the run was committed, discarded or undone before; that is done once",
        "the message says which; run the program again if it is still wanted",
    )
    EFFECT_EXPIRED = (
        "effect-expired",
        ExitStatus.DENIED,
        "the time is over for which the effect of this run was kept",
        "run it again with --rehearse; CONSENTRY_KEEP says how long effects are kept",
    )
    EFFECT_CONFLICT = (
        "effect-conflict",
        ExitStatus.DENIED,
        "somebody changed the same files since, so nothing was changed",
        "look at the files that are listed; put them back as they were, or run the program again",
    )
    EFFECT_TAMPERED = (
        "effect-tampered",
        ExitStatus.DENIED,
        "what was kept of a run is not what was recorded, so nothing of it is used",
        "run the program again, and find out what changes files in the state directory",
    )
    APPROVAL_PENDING = (
        "approval-pending",
        ExitStatus.PARKED,
        "a person has been asked and has not answered yet",
        "answer it, then run the same command again",
    )
    APPROVAL_DENIED = (
        "approval-denied",
        ExitStatus.DENIED,
        "the person who was asked said no, or did not answer in time, so nothing was changed",
        "`--ask-again` puts the question once more",
    )

"""The reference page of the certification corpus: every case, from the index that the corpus is read from."""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, TypeAlias

Table: TypeAlias = Callable[[tuple[str, ...], Iterable[tuple[str, ...]]], str]
Words: TypeAlias = Callable[[str], str]


def certification_body(module: ModuleType, table: Table, code_span: Words, prose: Words) -> str:
    """The page below its note; how tables and words are written is the caller's business."""
    corpus = module.certification_corpus()
    kinds = module.CaseKind

    def rows(kind: Any) -> Iterable[tuple[str, ...]]:
        for case in corpus.of_kind(kind):
            case_id, about = code_span(case.case_id), prose(case.about)
            if kind is kinds.INVALID:
                detail = f" {code_span(case.manifest_code)}" if case.manifest_code else ""
                yield case_id, about, f"{code_span(case.code)}{detail}", code_span(case.path)
            else:
                yield case_id, about

    return f"""# The certification corpus

Packages and action graphs that show whether an import takes what it has to take, and refuses what it has to
refuse, for the same reason every time (CONTRACTS §4-h-kpi-1, §4-h-kpi-2, §4-h-kpi-3). `consentry drill` tries
them all; what each was answered is a `certification.checked` event, and `consentry signoff` counts those.

The files are data in `src/consentry/declare/certification/`: `host.json` says which commands the packages bind
to, `corpus.toml` lists the cases. They can be tried with any program that reads such packages. A file that has
to have an exact size is filled up with blanks to that size.

| | |
|---|---|
| `corpusVersion` | {corpus.version} |
| digest of all files | `{corpus.digest}` |
| host | `{corpus.host.host_id}`, version {corpus.host.app_version}, {len(corpus.host.commands)} commands |

A version names one content: whoever changes a case counts the version up, and a test holds the digest.

## Valid packages

Each is imported once, with its action graph where it has one, and has to be answered `imported`.

{table(("case", "what it is"), rows(kinds.VALID))}

## Invalid packages and graphs

Each is imported three times over, each time by a fresh reading, and has to be refused with this code at this
path every time. A code of the manifest stands behind the code where there is one; `document-invalid` is about
the action graph of a sound package.

{table(("case", "what it is", "code", "path"), rows(kinds.INVALID))}

## Actions

Every action of a graph of a valid package. Its five control fields (`calls`, `mutates`, `requiresApproval`,
`undoCommand`, `surface`) are judged one by one, as they are written, by the reader of graphs and the check
against package and host; one that is left out is sound where that means something.

{table(("case", "what it is"), rows(kinds.ACTION))}"""

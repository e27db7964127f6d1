"""Previews as kept values: one JSON form, read strictly, the same bytes for the same preview."""

import json
from typing import Any

import pytest

from consentry.base.canonical import canonical_json
from consentry.base.errors import BadInput
from consentry.base.units import Duration
from consentry.decide.preview import Preview
from consentry.decide.previewfiles import Found
from consentry.decide.previewparts import Estimate
from consentry.decide.question import Question, RequestKind
from consentry.surface.dimensions import Dimension
from tests.decide import previews

VALUES = {"plain": previews.build_latex(), "full": previews.full()}
BY_NAME = pytest.mark.parametrize("preview", VALUES.values(), ids=VALUES.keys())


def through_text(preview: Preview) -> Any:
    """The JSON of a preview as it comes back from the store."""
    return json.loads(canonical_json(preview.to_json()))


@BY_NAME
def test_what_was_written_is_read_back_the_same(preview: Preview) -> None:
    """Equal values, equal bytes."""
    read = Preview.from_json(through_text(preview))
    assert read == preview
    assert canonical_json(read.to_json()) == canonical_json(preview.to_json())


@BY_NAME
def test_missing_unknown_and_wrong_fields_are_refused(preview: Preview) -> None:
    """Each field in turn: without it, with another beside it, with things it never is."""
    document = through_text(preview)
    for name in document:
        with pytest.raises(BadInput):
            Preview.from_json({key: value for key, value in document.items() if key != name})
        for wrong in (7.5, {"a": 1}, [1], "\ud800"):
            if name in ("displayName", "description") and isinstance(wrong, str):
                continue  # words of the author, whatever they are
            with pytest.raises(BadInput):
                Preview.from_json({**document, name: wrong})
    with pytest.raises(BadInput, match="no such field"):
        Preview.from_json({**document, "stranger": 1})


def test_another_version_is_refused() -> None:
    """A preview of a later program is not half understood."""
    with pytest.raises(BadInput, match="1, the one known here"):
        Preview.from_json({**through_text(previews.full()), "previewVersion": 2})
    with pytest.raises(BadInput):
        Preview.from_json([])


def test_a_question_carries_it() -> None:
    """The preview that is kept with a question is the one that was made."""
    made = previews.full()
    question = Question(RequestKind.CONSENT, "tool:build-latex", "may it run?", made.to_json())
    assert Preview.from_json(question.preview) == made


def test_what_is_new_comes_from_the_surfaces() -> None:
    """CONSENT §prompt-network: what was not agreed to before, and nothing where there was nothing before."""
    gains = previews.full().gains
    assert gains is not None
    assert [(gain.dimension, gain.added) for gain in gains] == [
        (Dimension.NET_ACCESS, ("api.example.com:443",))
    ]
    assert previews.build_latex().gains is None


def test_impossible_numbers_are_refused() -> None:
    """Fewer files than none, and an estimate from nothing."""
    with pytest.raises(BadInput):
        Found(files=-1)
    with pytest.raises(BadInput):
        Estimate(Duration(2), Duration(1), 5)
    with pytest.raises(BadInput):
        Estimate(Duration(1), Duration(1), 0)

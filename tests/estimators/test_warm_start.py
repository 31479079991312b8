"""Growing a fitted model gives what learning all bits at once gives."""

import numpy as np
import pytest

from structhash import CGHash, StructHash

MODELS = [
    CGHash(5, random_state=3, tolerance=1e-4),
    StructHash(5, random_state=3, C=100),
    StructHash(5, random_state=3, ranking="ndcg:k=10", schedule="totally_corrective", family="stump"),
    StructHash(5, random_state=3, C=1e-3),  # the dual stands still: every later bit is a redraw
]


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_growing_equals_learning_at_once(model, digits):
    X, y = digits
    grown = type(model)(**model.get_params()).set_params(warm_start=True).fit(X, y)
    first = [record["seconds"] for record in grown.history_]
    grown.set_params(n_bits=9).fit(X, y)
    whole = type(model)(**model.get_params()).set_params(n_bits=9).fit(X, y)
    np.testing.assert_array_equal(grown.encode(X), whole.encode(X))
    np.testing.assert_allclose(grown.step_weights_, whole.step_weights_, atol=1e-12)
    for ours, theirs in zip(grown.history_, whole.history_, strict=True):
        assert {**ours, "seconds": 0} == pytest.approx({**theirs, "seconds": 0})
    assert [record["seconds"] for record in grown.history_[:5]] == first


def test_without_warm_start_a_second_fit_begins_anew(digits):
    X, y = digits
    model = StructHash(3, random_state=0).fit(X, y)
    assert model.set_params(n_bits=2).fit(X, y).n_bits_ == 2


def test_a_warm_start_that_cannot_go_on_is_refused_and_the_model_stays(digits):
    X, y = digits
    model = StructHash(4, random_state=0, warm_start=True).fit(X, y)
    codes = model.encode(X)
    with pytest.raises(ValueError, match="cannot take bits away; give at least 4"):
        model.set_params(n_bits=3).fit(X, y)
    with pytest.raises(ValueError, match="needs an integer"):
        model.set_params(n_bits=6, random_state=None).fit(X, y)
    with pytest.raises(ValueError, match="same rows, family and random_state"):
        model.set_params(random_state=0).fit(X + np.arange(64), y)
    np.testing.assert_array_equal(model.encode(X), codes)

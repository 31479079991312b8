"""The methods of ours keep the contract of scikit-learn."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import parametrize_with_checks

from structhash import AdditiveHash, CGHash, DistilHash, StructHash
from structhash.pieces import names

X, Y = (array[:120] for array in load_digits(return_X_y=True))
SMALL = {"n_bits": 6, "random_state": 0}
FEW = {"n_near": 5, "n_far": 5}
ALL = [CGHash, DistilHash, StructHash]
TOO_FEW_ROWS = ("check_n_features_in_after_fitting", "check_estimators_nan_inf", "check_fit2d_1feature")


def too_few_rows(estimator):
    """Checks whose 5 or 10 rows are too few to hold out a quarter with two rows of a class."""
    auto = getattr(estimator, "C", None) == "auto"
    return dict.fromkeys(TOO_FEW_ROWS, "too few rows to choose C by") if auto else {}


@pytest.mark.slow
@parametrize_with_checks(
    [
        *(
            cls(n_bits=3, n_near=3, n_far=3, schedule=schedule)
            for cls in (StructHash, CGHash)
            for schedule in names("schedules")
        ),
        *(cls(n_bits=3, n_near=3, n_far=3, C="auto") for cls in (StructHash, CGHash)),
        DistilHash(n_bits=3),
        DistilHash(n_bits=3, embedding="centered"),
        AdditiveHash(n_bits=12),
    ],
    expected_failed_checks=too_few_rows,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("cls", ALL)
def test_settings_are_read_set_and_cloned(cls):
    encoder = cls(n_bits=3, tolerance=0.5, family="linear:max_iter=2")
    assert encoder.get_params()["tolerance"] == 0.5
    assert clone(encoder).get_params() == encoder.get_params()
    assert encoder.set_params(tolerance=0.25).tolerance == 0.25
    with pytest.raises(ValueError, match="Invalid parameter 'D'"):
        encoder.set_params(D=8)


def test_distilhash_has_eight_settings():
    assert list(DistilHash().get_params()) == sorted(
        [
            "n_bits",
            "embedding",
            "family",
            "start",
            "stop_at_optimum",
            "tolerance",
            "warm_start",
            "random_state",
        ]
    )


@pytest.mark.parametrize("cls", [*ALL, AdditiveHash])
def test_tags_say_whether_labels_are_needed_and_that_types_are_not_kept(cls):
    tags = get_tags(cls())
    assert tags.target_tags.required == (cls in (CGHash, StructHash))
    assert tags.transformer_tags.preserves_dtype == []


@pytest.mark.parametrize(
    ("encoder", "grid"),
    [
        (StructHash(**SMALL, **FEW), {"ranking": ["auc", "ndcg:k=10", "sndcg"]}),
        (DistilHash(**SMALL), {"embedding": ["centered", "metric", "posterior"]}),
        (CGHash(**SMALL, **FEW), {"C": [1e-6, 100.0]}),
    ],
)
def test_grid_search_chooses_by_score(encoder, grid):
    folds = StratifiedKFold(2)
    search = GridSearchCV(encoder, grid, cv=folds).fit(X, Y)
    ((key, values),) = grid.items()
    expected = []
    for value in values:
        fold = [
            clone(encoder).set_params(**{key: value}).fit(X[a], Y[a]).score(X[b], Y[b])
            for a, b in folds.split(X, Y)
        ]
        expected.append(np.mean(fold))
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert search.best_params_ == {key: values[int(np.argmax(expected))]}
    assert search.transform(X).shape == (120, 6)

"""The classifier whose answers `OneHot` and `ClassifierLSH` turn into codes."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from structhash._numerics.validation import check_count, check_positive
from structhash.baselines._shared import Supervised
from structhash.families.base import Family
from structhash.pieces import load


def check_classifier(encoder: Any) -> Family:
    """The family of the features; ValueError where a setting of the classifier is not allowed."""
    check_count("n_bits", encoder.n_bits)
    check_positive("C", encoder.C)
    check_count("max_iter", encoder.max_iter)
    return load("families", encoder.family)


def fit_classifier(
    encoder: Supervised,
    family: Family,
    X: NDArray[Any],
    classes: NDArray[Any],
    index: NDArray[np.int64],
    rng: np.random.Generator,
) -> None:
    """Keep a multinomial logistic regression in `encoder`.

    It minimises 1/2 sum_c ||v_c||^2 + C sum_i -log p(y_i | z_i), z being the features of the family. The
    attributes are `family_`, `state_`, `coef_`, `intercept_`, `classes_` and `n_iter_`.
    """
    kept: Any = encoder
    kept.family_, kept.state_ = family, family.prepare(X, rng)
    Z = family.features(X, kept.state_).astype(np.float64)
    with threadpool_limits(1, user_api="blas"), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The number of unique classes")  # a few rows a class are enough
        model = LogisticRegression(C=kept.C, max_iter=kept.max_iter).fit(Z, index)
    coef, intercept = model.coef_, model.intercept_
    if len(classes) == 2:  # scikit-learn keeps the difference of the two
        coef, intercept = np.concatenate([-coef, coef]), np.concatenate([-intercept, intercept])
    kept.coef_, kept.intercept_ = coef.astype(X.dtype), intercept.astype(X.dtype)
    kept.classes_, kept.n_iter_ = classes.tolist(), int(model.n_iter_.max())


def class_scores(encoder: Any, X: NDArray[Any]) -> NDArray[Any]:
    """v_c'z + b_c (n, n_classes) of a fitted encoder."""
    return encoder.family_.features(X, encoder.state_) @ encoder.coef_.T + encoder.intercept_

"""The classifier whose output `OneHot` and `ClassifierLSH` turn into codes."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from structhash._numerics.validation import check_count, check_positive
from structhash.baselines.base import SupervisedBaseline, TrainingRows
from structhash.families.base import Family
from structhash.io.fields import Field, Fields, check_fields
from structhash.pieces import Params, load, spell_checked

_FAMILY, _STATE = "family_", "state_/"
CLASSIFIER_FIELDS: Fields = (
    Field("coef_", ("n_classes", "n_family_features")),
    Field("intercept_", ("n_classes",)),
    Field("classes_", ("n_classes",), "labels"),
    Field("n_iter_", kind="int", least=0),
)  # of `ClassifierBaseline`, besides the family and its state


class ClassifierBaseline(SupervisedBaseline):
    """A method that codes the output of a multinomial logistic regression on the features of a family.

    A subclass has the settings `C`, `family` and `max_iter`.
    """

    C: Any
    family: Any
    max_iter: Any

    family_: Family
    state_: Params
    coef_: NDArray[Any]
    intercept_: NDArray[Any]
    classes_: list[Any]
    n_iter_: int

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        check_positive("C", self.C)
        check_count("max_iter", self.max_iter)
        load("families", self.family)

    def _fit_classifier(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        """Fitted attributes of the classifier.

        It minimises 1/2 sum_c ||v_c||^2 + C sum_i -log p(y_i | z_i), where z are the features of the family.
        """
        family: Family = load("families", self.family)
        state = family.prepare(rows.X, rng)
        Z = family.features(rows.X, state).astype(np.float64)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "The number of unique classes")  # a few rows a class are enough
            model = LogisticRegression(C=self.C, max_iter=self.max_iter).fit(Z, rows.class_index)
        coef, intercept = model.coef_, model.intercept_
        if len(rows.classes) == 2:  # scikit-learn keeps the difference of the two
            coef, intercept = np.concatenate([-coef, coef]), np.concatenate([-intercept, intercept])
        return {
            "family_": family,
            "state_": state,
            "coef_": coef.astype(rows.X.dtype),
            "intercept_": intercept.astype(rows.X.dtype),
            "classes_": _as_plain(rows.classes).tolist(),
            "n_iter_": int(model.n_iter_.max()),
        }

    def _class_scores(self, X: NDArray[Any]) -> NDArray[Any]:
        """v_c'z + b_c (n, n_classes) of rows X (n, d)."""
        scores: NDArray[Any] = self.family_.features(X, self.state_) @ self.coef_.T + self.intercept_
        return scores

    def _to_arrays(self) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
        """As `HashEncoder._to_arrays`; the family is stored by its name."""
        arrays, plain = super()._to_arrays()
        return arrays, {**plain, _FAMILY: spell_checked("families", plain[_FAMILY])}

    @classmethod
    def _from_arrays(cls, arrays: Mapping[str, NDArray[Any]], plain: Mapping[str, Any]) -> dict[str, Any]:
        """The inverse of `_to_arrays`."""
        state = {name.removeprefix(_STATE): each for name, each in arrays.items() if name.startswith(_STATE)}
        fitted = super()._from_arrays(
            {name: each for name, each in arrays.items() if not name.startswith(_STATE)},
            {name: each for name, each in plain.items() if name != _FAMILY},
        )
        family: Family = load("families", plain[_FAMILY])
        check_fields(family.state_fields, state, {"n_features": fitted["n_features_in_"]})
        return {**fitted, _FAMILY: family, "state_": state}


def _as_plain(classes: NDArray[Any]) -> NDArray[Any]:
    """Label values as a file can hold them: dates and durations as text."""
    if classes.dtype.kind in "mM":
        return classes.astype(str)
    return classes.astype(np.float64) if classes.dtype == np.longdouble else classes

"""The contract of a baseline: a method to compare with, in one file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.labels import first_without_one, labels_in_use, read_labels, share_a_label
from structhash._numerics.randomness import check_random_state, generator
from structhash._numerics.threads import one_blas_thread
from structhash._numerics.validation import MAX_BITS, check_count
from structhash.baselines._rows import check_finite, mean_of
from structhash.codes.planes import Planes, make_planes
from structhash.estimators._same_codes import warn_about_same_codes
from structhash.estimators.base import HashEncoder
from structhash.io.fields import Field, Fields
from structhash.pieces import classes, snake
from structhash.supervision import Supervision

__all__ = [
    "MAX_SQUARABLE",
    "PLANE_FIELDS",
    "Baseline",
    "SupervisedBaseline",
    "TrainingRows",
    "equal_bits",
    "planes_through",
    "through_mean",
]

MAX_SQUARABLE = 1e152  # the square of a larger number, or of one below its inverse, is infinite or denormal

PLANE_FIELDS: Fields = (
    Field("mean_", ("n_features",)),
    Field("planes_", ("n_bits", "n_features")),
)  # see `planes_through`


class TrainingRows(NamedTuple):
    """The rows that a baseline learns from.

    Attributes
    ----------
    X : ndarray (n, d)
        float32 or float64. At least two rows differ.
    mean : ndarray (d,) float64
        Mean of the rows.
    classes : ndarray (n_classes,)
        The label values, sorted. Empty where a baseline learns without labels.
    class_index : ndarray (n,) int64
        Class index of each row. Empty where a baseline learns without labels, and where there are `indicators`.
    indicators : ndarray (n, n_classes) bool or None
        Which labels a row has, where some row has none or several. Only methods with `takes_several_labels`
        get such rows.
    """

    X: NDArray[Any]
    mean: NDArray[np.float64]
    classes: NDArray[Any]
    class_index: NDArray[np.int64]
    indicators: NDArray[np.bool_] | None = None

    def label_matrix(self) -> NDArray[np.float64]:
        """The labels as 0/1 indicators (n, n_classes)."""
        if self.indicators is None:
            return np.eye(len(self.classes))[self.class_index]
        return self.indicators.astype(np.float64, order="C")

    def sharing(self, chosen: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Whether the chosen rows (m,) share a label with each row: (m, n)."""
        if self.indicators is None:
            return self.class_index[chosen, None] == self.class_index
        return share_a_label(self.indicators[chosen], self.indicators)


class Baseline(HashEncoder):
    """A method to compare with. It learns without labels.

    A baseline is one file with one class, which gives

    - ``__init__``, whose arguments are the settings;
    - `check_settings`, which calls that of its base class first;
    - `_learn`, which computes the fitted attributes and returns them;
    - `_bits`, or `_planes` where its bits are bits of planes.

    The class attribute `fitted_fields` declares what `_learn` returns besides ``n_bits_``, ``weights_`` and
    ``history_``; see `EncoderContract`. Those below describe the method to the benchmarks and their pages. No
    other file needs an edit.

    Attributes
    ----------
    variants : tuple of str
        What the benchmarks run: a method spec each, without the name of the method. ``""`` is the method with
        its defaults, ``"@database"`` fits it on the database rows, ``":C=3"`` changes a setting.
    source : str
        The paper, in short: authors and year. The docstring gives its address.
    original : str or None
        The public GitHub repository, ``owner/name``, whose code this method was compared with.
    settings_from : str
        What the defaults are, and who chose them.
    """

    variants: ClassVar[tuple[str, ...]] = ("", "@database")
    source: ClassVar[str] = ""
    original: ClassVar[str | None] = None
    settings_from: ClassVar[str] = ""

    n_bits: Any
    n_bits_: int
    weights_: NDArray[np.float64]
    history_: list[dict[str, Any]]

    @classmethod
    def specs(cls) -> list[str]:
        """The method specs that the benchmarks run, such as ``["itq", "itq@database"]``."""
        return [snake(cls.__name__) + variant for variant in cls.variants]

    def check_settings(self) -> None:
        """Refuse `n_bits` and `random_state` where they are not allowed; see `HashEncoder.check_settings`."""
        if self.n_bits is not None or not self.own_length:
            check_count("n_bits", self.n_bits, most=MAX_BITS)
        check_random_state(self.get_params(deep=False).get("random_state"))

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from training rows.

        Parameters
        ----------
        X : array (n, d)
            At least two rows, not all the same. Rows that float32 holds exactly are learned from in float32,
            all others in float64, whatever type they come in.
        y : array (n,), optional
            A label a row: text, bytes, booleans, whole numbers or dates; -1 is a class like any other. 0/1
            indicators (n, L) with one label a row are classes, too. Methods with `takes_several_labels` take
            indicators of no or several labels a row. Methods that learn without labels ignore y. Methods that
            learn from labels need at least two of them.

        Returns
        -------
        self
            Fitted. A fit that fails leaves the estimator as it was.

        Raises
        ------
        ValueError, TypeError
            If a setting is not allowed, X is not a finite matrix, all rows of X are the same, or the labels are
            missing or do not fit the rows. The class docstring names what else the method refuses.
        """
        self.check_settings()
        rows, columns = self._check_rows(X, y)
        rng = generator(self.get_params(deep=False).get("random_state"))
        with one_blas_thread():  # codes do not depend on the number of threads
            fitted = self._learn(rows, rng)
        self._store_with_reader(rows.X, columns, fitted)
        warn_about_same_codes(
            lambda part: self._encode_opened(part, self.n_bits_), self.n_bits_, rows.X, rows.class_index
        )
        return self

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> Mapping[str, Any]:
        """Compute the fitted attributes, by name; the estimator does not change.

        Parameters
        ----------
        rows : TrainingRows
        rng : Generator
            From the setting `random_state`, where the method has one.

        Returns
        -------
        mapping
            Arrays, dicts of arrays and plain values, among them ``n_bits_``, ``weights_`` and ``history_``.
            `equal_bits` and `planes_through` give these for most methods.
        """
        raise NotImplementedError

    def _check_rows(self, X: Any, y: Any) -> tuple[TrainingRows, dict[str, Any]]:
        """The rows to learn from, and what scikit-learn stores about the columns. Ignores y."""
        checked = self._check_input(X)
        none = np.empty(0, np.int64)
        return TrainingRows(checked.X, mean_of(checked.X), none, none), checked.columns


class SupervisedBaseline(Baseline):
    """A method to compare with that learns from labels; see `Baseline` for what a class gives.

    Attributes
    ----------
    takes_several_labels : bool
        Whether it learns from rows that have no or several labels: `TrainingRows.indicators`.
    """

    variants: ClassVar[tuple[str, ...]] = ("",)
    takes_several_labels: ClassVar[bool] = False

    def _check_rows(self, X: Any, y: Any) -> tuple[TrainingRows, dict[str, Any]]:
        """The rows with their classes, and what scikit-learn stores about the columns.

        Raises
        ------
        ValueError, TypeError
            If y does not hold labels as the method takes them, of at least two classes, or all rows are the
            same.
        """
        if isinstance(y, Supervision):
            method, given = type(self).__name__, type(y).__name__
            raise TypeError(
                f"{method} learns from labels of rows; {given} is for StructHash and CGHash; "
                "give the labels themselves"
            )
        checked = self._check_input(X)
        values, class_index, indicators = read_labels(y, len(checked.X))
        if indicators is not None:
            values, indicators = self._check_indicators(indicators)
        if len(values) < 2:
            raise ValueError(f"y has one class only, {values.tolist()[0]!r}; give labels of at least two")
        return TrainingRows(checked.X, mean_of(checked.X), values, class_index, indicators), checked.columns

    def _check_indicators(self, indicators: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """The labels (k,) in use and their indicators (n, k); ValueError if the method takes one a row."""
        if not self.takes_several_labels:
            row, n_own = first_without_one(indicators)
            able = [each.__name__ for each in classes("baselines").values() if _takes_several(each)]
            raise ValueError(
                f"labels have shape {indicators.shape}, and row {row} has {n_own} of the labels; "
                f"{type(self).__name__} learns from one label a row; give one, or fit one of "
                f"{', '.join(able)}, AdditiveHash, DistilHash, StructHash and CGHash, which take several"
            )
        used = labels_in_use(indicators)
        return used, indicators[:, used]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _takes_several(piece: type) -> bool:
    """Whether a baseline learns from rows with several labels."""
    return issubclass(piece, SupervisedBaseline) and piece.takes_several_labels


def equal_bits(n_bits: int) -> dict[str, Any]:
    """Fitted attributes of bits that all weigh 1 and have no record of their own."""
    return {"n_bits_": int(n_bits), "weights_": np.ones(int(n_bits)), "history_": []}


def planes_through(
    mean: NDArray[np.float64], planes: NDArray[np.float64], dtype: np.dtype[Any]
) -> dict[str, Any]:
    """Fitted attributes of bits that are planes through the mean of the rows; `through_mean` is their inverse.

    Parameters
    ----------
    mean : ndarray (d,)
    planes : ndarray (n_bits, d)
        One normal vector a bit.
    dtype : dtype
        What both are stored in: that of the training rows.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        If the planes are not finite.
    """
    with np.errstate(over="ignore"):
        planes = planes.astype(dtype)
    check_finite(planes)
    return {"mean_": mean.astype(dtype), "planes_": planes, **equal_bits(len(planes))}


def through_mean(mean: NDArray[Any], planes: NDArray[Any]) -> Planes:
    """`HashEncoder._planes` of the attributes that `planes_through` gives."""
    return make_planes(mean, planes, np.zeros(len(planes)))

"""Two-step hashing: the bits of the training rows first, then a classifier for each bit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC, LinearSVC

from structhash._numerics.gaussian import squared_distances
from structhash._numerics.validation import check_count, check_positive
from structhash.baselines._boosted_trees import forest, tree_bits, tree_fields
from structhash.baselines._label_pairs import draw_pairs
from structhash.baselines._two_step import (
    LOSSES,
    check_word,
    class_blocks,
    graph_cut,
    pair_loss,
    pair_weights,
    relax,
)
from structhash.baselines.base import SupervisedBaseline, TrainingRows, equal_bits
from structhash.io.fields import Field
from structhash.pieces import Params

__all__ = ["TSH"]

_FUNCTIONS = ("rbf_svm", "svm", "trees")
_INFERENCES = ("spectral", "graph_cut")
_TOTAL_C = {"rbf_svm": 1e5, "svm": 1e6}  # C times the number of rows
_BANDWIDTH_NEIGHBOURS = 50  # rows whose mean squared distance is the bandwidth of the kernel
_N_TREES, _DEPTH, _N_FEATURES, _N_SWEEPS = 200, 4, 200, 2  # as in `FastHash`


class TSH(SupervisedBaseline):
    """Two-step hashing (TSH): bits that fit pairs of training rows, then one classifier a bit.

    Step 1 finds bit after bit. D_ij is the Hamming distance of rows i and j in the bits found so far. The next
    bit is

        min over z in {-1, 1}^n of sum over pairs a_ij z_i z_j,    a_ij = l(D_ij) - l(D_ij + 1),

    where l is the loss of a code of n_bits bits, by default (s_ij - (n_bits - 2 D_ij) / n_bits)^2 with s = 1
    for similar and -1 for dissimilar pairs (the loss of KSH). "spectral" takes the signs of the eigenvector of
    smallest eigenvalue and improves them by L-BFGS-B over the box [-1, 1]^n. Step 2 trains a classifier for
    each bit, on features that are scaled to [0, 1].

    Parameters
    ----------
    n_bits : int
        Length of the code.
    loss : {"ksh", "hinge", "bre"}
        l, see `structhash.baselines._two_step.pair_loss`.
    function : {"rbf_svm", "svm", "trees"}
        The classifiers: SVMs of kernel exp(-||x - x'||^2 / s), where s is the mean squared distance to the 50
        nearest training rows; linear SVMs of squared hinge loss; or boosted trees as in `FastHash`.
    inference : {"spectral", "graph_cut"}
        How step 1 is solved; `FastHash` describes "graph_cut".
    C : float, optional
        Weight of the *mean* loss of the SVMs; by default 1e5 for the kernel, 1e6 for the linear one, as in the
        authors' code.
    n_similar, n_dissimilar : int
        Pairs drawn for each row; 100 and 100 in the authors' code.
    random_state : int, RandomState, Generator or None
        Draws pairs, the eigensolver's start, the order of the classes, the features of trees.

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    losses_ : ndarray (n_bits,)
        Mean loss of the pairs after each bit of step 1, as if all further bits were equal for all rows.
    model_ : dict of arrays
        The classifiers: ``low`` and ``scale`` of the features, with ``normals`` (n_bits, d), ``intercept``
        or with ``support`` (k, d), ``dual`` (k, n_bits), ``intercept`` and ``bandwidth``; or ``feature``,
        ``threshold`` and ``leaf`` as in `FastHash`.

    Notes
    -----
    The authors' code for FastHash has this method as a setting (not stage-wise, spectral). The defaults are
    from there, loss and classifier from the ICCV text. In that code L-BFGS-B gets half the matrix, so that the
    gradient is not that of the objective, and stops at gains of 1e-4, which are large for this objective. Here
    it goes on (isolet, 64 bits: mAP 0.886 there, 0.914 with both corrected, 0.913 here). A bit that is the same
    for all rows in step 1 stays constant.

    Many small classes need ``loss="hinge", inference="graph_cut"``, as in the demonstration of that code. With
    the defaults step 1 fails on 77 classes of about 26 rows (64 bits: mAP 0.31, that code 0.29; with these
    settings 0.80, both). The loss counts further bits as equal, so that dissimilar pairs, seven times as many
    there, at first weigh 2 n_bits - 1 times as much. The eigenvector then reflects how the pairs were drawn,
    not the classes.

    References
    ----------
    Lin, Shen, Suter, van den Hengel (2013), A general two-step approach to learning-based hashing,
    https://doi.org/10.1109/ICCV.2013.317, https://arxiv.org/abs/1309.1853

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> TSH(n_bits=8, random_state=0).fit(X[:300], y[:300]).encode(X).shape
    (1797, 1)
    """

    variants = ("", ":loss=hinge,inference=graph_cut")
    source = "Lin et al. 2013"
    original = "Fassial/Alveo-CiM"
    settings_from = "authors': KSH loss, spectral inference, kernel SVM, 100 and 100 pairs a row; see notes"
    magnitudes = (np.finfo(float).tiny, np.inf)
    fitted_fields = (
        Field("losses_", ("n_bits",)),
        *tree_fields("model_"),
        Field("model_/low", ("n_features",), optional=True),
        Field("model_/scale", ("n_features",), optional=True),
        Field("model_/intercept", ("n_bits",), optional=True),
        Field("model_/normals", ("n_bits", "n_features"), optional=True),
        Field("model_/bandwidth", positive=True, optional=True),
        Field("model_/support", ("n_support", "n_features"), optional=True),
        Field("model_/dual", ("n_support", "n_bits"), optional=True),
    )

    losses_: NDArray[np.float64]
    model_: Params

    def __init__(
        self,
        n_bits: int = 64,
        *,
        loss: str = "ksh",
        function: str = "rbf_svm",
        inference: str = "spectral",
        C: float | None = None,
        n_similar: int = 100,
        n_dissimilar: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.loss = loss
        self.function = function
        self.inference = inference
        self.C = C
        self.n_similar = n_similar
        self.n_dissimilar = n_dissimilar
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        for name in ("n_similar", "n_dissimilar"):
            check_count(name, getattr(self, name))
        check_word("loss", self.loss, LOSSES)
        check_word("function", self.function, _FUNCTIONS)
        check_word("inference", self.inference, _INFERENCES)
        if self.C is not None:
            check_positive("C", self.C)

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        bits, losses = self._infer(rows.class_index, rng)
        if self.function == "trees":
            model = forest(rows.X, bits, _N_TREES, _DEPTH, _N_FEATURES, rng)
        else:
            C = (_TOTAL_C[self.function] if self.C is None else self.C) / len(rows.X)
            model = _svms(rows.X, bits, self.function, C)
        return {"losses_": losses, "model_": model, **equal_bits(self.n_bits)}

    def _infer(
        self, class_index: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[NDArray[np.bool_], NDArray[np.float64]]:
        """Bits (n, n_bits) of the training rows, and the mean loss of the pairs after each."""
        pairs = draw_pairs(class_index, self.n_similar, self.n_dissimilar, rng)
        blocks = class_blocks(pairs, class_index)
        distance = np.zeros(len(pairs.first), np.int64)
        bits, losses = np.empty((len(class_index), self.n_bits), bool), np.empty(self.n_bits)
        for bit in range(self.n_bits):
            a = pair_weights(self.loss, distance, pairs.similar, self.n_bits)
            if self.inference == "spectral":
                z = relax(pairs, a, len(class_index), rng)
            else:
                z = graph_cut(blocks, a, _N_SWEEPS, rng)
            bits[:, bit] = z > 0
            distance += z[pairs.first] != z[pairs.second]
            loss = pair_loss(self.loss, distance, pairs.similar, self.n_bits)
            losses[bit] = loss.mean() / (4 * self.n_bits**2)
        return bits, losses

    def _bits(self, X: NDArray[Any]) -> NDArray[np.bool_]:
        model = self.model_
        if "leaf" in model:
            return tree_bits(X, model)
        Z = (X - model["low"]) * model["scale"]
        if "normals" in model:
            scores = Z @ model["normals"].T + model["intercept"]
        else:
            scores = _kernel(Z, model["support"], model["bandwidth"]) @ model["dual"] + model["intercept"]
        bits: NDArray[np.bool_] = scores > 0
        return bits


def _svms(X: NDArray[Any], bits: NDArray[np.bool_], function: str, C: float) -> dict[str, NDArray[Any]]:
    """A support vector machine for each bit.

    Parameters
    ----------
    X : ndarray (n, d)
    bits : bool ndarray (n, n_bits)
    function : {"rbf_svm", "svm"}
    C : float
        Weight of the summed loss.

    Returns
    -------
    dict of arrays
        See `TSH`. A bit that is the same for all rows has the intercept 1 or -1 and no weights.
    """
    low, high = X.min(axis=0).astype(np.float64), X.max(axis=0).astype(np.float64)
    span = high - low
    varied = span > np.finfo(float).tiny  # the inverse of a smaller span overflows
    model = {"low": low, "scale": np.where(varied, 1 / np.where(varied, span, 1), 0.0)}
    Z = (X - low) * model["scale"]
    constant = bits.all(axis=0) | ~bits.any(axis=0)
    model["intercept"] = np.where(bits[0], 1.0, -1.0)
    if function == "svm":
        model["normals"] = np.zeros((bits.shape[1], Z.shape[1]))
        for j in np.flatnonzero(~constant):
            svm = LinearSVC(C=C, dual=False, max_iter=10_000).fit(Z, bits[:, j])
            model["normals"][j], model["intercept"][j] = svm.coef_[0], svm.intercept_[0]
        return model
    D = squared_distances(Z, Z)
    near = np.partition(D, min(_BANDWIDTH_NEIGHBOURS, len(Z)) - 1, axis=1)[
        :, : min(_BANDWIDTH_NEIGHBOURS, len(Z))
    ].mean()
    model["bandwidth"] = np.asarray(near if near > 1e-12 * D.max() else D.mean())
    K = np.exp(-D / model["bandwidth"])
    dual = np.zeros((len(Z), bits.shape[1]))
    for j in np.flatnonzero(~constant):
        machine = SVC(C=C, kernel="precomputed").fit(K, bits[:, j])
        dual[machine.support_, j], model["intercept"][j] = machine.dual_coef_[0], machine.intercept_[0]
    used = dual.any(axis=1)
    return model | {"support": Z[used], "dual": dual[used]}


def _kernel(Z: NDArray[Any], support: NDArray[Any], bandwidth: NDArray[Any]) -> NDArray[np.float64]:
    """exp(-||z - s||^2 / bandwidth) (n, k)."""
    K: NDArray[np.float64] = np.exp(-squared_distances(Z, support) / float(bandwidth))
    return K

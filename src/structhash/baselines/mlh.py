"""Minimal loss hashing: pairs, exact loss-augmented inference, perceptron-like steps."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.validation import check_count, check_positive, describe
from structhash.baselines._pair_steps import curve, train
from structhash.baselines.base import (
    PLANE_FIELDS,
    SupervisedBaseline,
    TrainingRows,
    planes_through,
    through_mean,
)
from structhash.codes import hamming, pack
from structhash.codes.planes import Planes
from structhash.io.fields import Field

__all__ = ["MLH"]

_WEIGHT_DECAYS = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)  # the authors' candidates
_DEFAULT_DECAY = 1e-4  # where rho is chosen, and where no row can be held out
_FIRST_STEP = 0.1  # the authors' step size
_START_RECALL = 0.3  # of random planes, where the search for rho starts
_AVERAGED_ITERATIONS = 5  # over which the score of a candidate is averaged


class MLH(SupervisedBaseline):
    """Minimal loss hashing: linear bits that put similar rows less than rho bits apart, and others more.

    Let z be the centred row divided by its length and f(x) = Wz. The method lowers an upper bound on the loss l
    of pairs of codes h = sign f(x),

        max_{g, g'} (l(d(g, g')) + g'f(x) + g''f(x')) - max_{h, h'} (h'f(x) + h''f(x')),

        l(d) = [d - rho + 1]_+ / (n_bits - rho + 1)     for rows of one class,
        l(d) = [rho + 1 - d]_+ / (rho + 1)              for others,

    plus weight_decay / 2 ||W||^2. The maximum over g is exact and needs no sorting: l is the greater of 0 and a
    linear function of d, and with either one the bits are independent. Each step takes 100 pairs, half of them
    alike. Momentum is 0.9. The step size is 0.1 and falls linearly to 0.

    rho and weight_decay, where they are not given, are chosen as the authors do. 10 percent of the training
    rows are held out. rho0 is the number of radii at which random planes recall less than 30 percent of the
    alike pairs. Candidates for rho are rho0 + (-2, -1, 0, 1, 2) max(1, n_bits / 32), then those for the weight
    decay are 10^-2, ..., 10^-6. The method takes the candidate whose codes have the greatest area under the
    curve of precision against recall.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    rho : int, optional
        From 1 to n_bits.
    weight_decay : float, optional
    positive_share : float
        Least share of alike pairs in a step, above 0 and at most 1; the authors' lambda.
    max_iter : int
        Iterations of 10 n pairs, all of which are done. The authors take 50 of 100,000 pairs for 1,000 rows
        (500 or 2,000 for 20,000). On held-out training rows of usps the score is the same from about 10
        iterations on.
    validation_iter : int
        Iterations for each candidate, of the same size, plus 4 over which its score is averaged; the authors
        take 20 to 75.
    random_state : int, RandomState, Generator or None

    Attributes
    ----------
    n_bits_, weights_, history_ : see `HashEncoder`
    mean_ : ndarray (d,)
    planes_ : ndarray (n_bits, d)
        W: one normal vector a bit.
    rho_ : int
    weight_decay_ : float
        As given or chosen.
    losses_ : ndarray (n_iter_,)
        Mean loss of the pairs of each iteration.
    n_iter_ : int
        Iterations done: max_iter.

    Notes
    -----
    This is the method of the authors' code, which, as they say, differs from the paper. In the paper the rows
    of W have norm 1 and a constant, to be chosen, multiplies the loss; the loss of rows of one class is not
    divided by n_bits - rho + 1, and that of others is multiplied by lambda, not divided by rho + 1. No plane
    has an offset, as in their runs. Where no row can be held out, rho is n_bits / 4 and the weight decay 10^-4.

    References
    ----------
    Norouzi, Fleet (2011), Minimal loss hashing for compact binary codes, ICML,
    http://www.cs.toronto.edu/~norouzi/research/mlh/

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = MLH(n_bits=16, rho=4, weight_decay=0.01, random_state=0).fit(X[:500], y[:500])
    >>> encoder.encode(X).shape
    (1797, 2)
    >>> bool(encoder.losses_[-1] < encoder.losses_[0])
    True
    """

    source = "Norouzi, Fleet 2011"
    original = "pombredanne/min-loss-hashing"
    settings_from = "authors': rho and weight decay chosen on a tenth of the training rows; 50 iterations"
    fitted_fields = (
        Field("losses_", ("n_losses",)),
        Field("n_iter_", kind="int", least=0),
        Field("rho_", kind="int", least=0),
        Field("weight_decay_", least=0),
        *PLANE_FIELDS,
    )

    mean_: NDArray[Any]
    planes_: NDArray[Any]
    rho_: int
    weight_decay_: float
    losses_: NDArray[np.float64]
    n_iter_: int

    def __init__(
        self,
        n_bits: int = 64,
        *,
        rho: int | None = None,
        weight_decay: float | None = None,
        positive_share: float = 0.5,
        max_iter: int = 50,
        validation_iter: int = 5,
        random_state: Any = None,
    ) -> None:
        self.n_bits = n_bits
        self.rho = rho
        self.weight_decay = weight_decay
        self.positive_share = positive_share
        self.max_iter = max_iter
        self.validation_iter = validation_iter
        self.random_state = random_state

    def check_settings(self) -> None:
        """See `HashEncoder.check_settings`."""
        super().check_settings()
        for name in ("max_iter", "validation_iter"):
            check_count(name, getattr(self, name))
        check_positive("positive_share", self.positive_share, 1.0)
        if self.weight_decay is not None:
            check_positive("weight_decay", self.weight_decay)
        if self.rho is not None:
            check_count("rho", self.rho)
            if self.rho > self.n_bits:
                raise ValueError(f"rho={describe(self.rho)}: give at most n_bits, {self.n_bits}")

    def _learn(self, rows: TrainingRows, rng: np.random.Generator) -> dict[str, Any]:
        Z = normalize_rows(rows.X - rows.mean)
        rho, decay = self._choose(Z, rows.class_index, rng)
        start = self._draw_planes(Z, rng)
        iterate = train(Z, rows.class_index, start, rho, decay, self.positive_share, rng)
        losses = np.zeros(self.max_iter)
        for number in range(self.max_iter):
            W, losses[number] = iterate(_FIRST_STEP * (1 - (number + 1) / self.max_iter))
        return {
            "losses_": losses,
            "n_iter_": int(self.max_iter),
            "rho_": int(rho),
            "weight_decay_": float(decay),
            **planes_through(rows.mean, W, rows.X.dtype),
        }

    def _planes(self) -> Planes:
        return through_mean(self.mean_, self.planes_)

    def _draw_planes(self, Z: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
        return 0.1 * rng.standard_normal((self.n_bits, Z.shape[1]))

    def _choose(
        self, Z: NDArray[np.float64], class_index: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[int, float]:
        """rho and weight decay, as given or as held-out rows choose them.

        Parameters
        ----------
        Z : ndarray (n, d)
            Unit rows.
        class_index : ndarray (n,)
        rng : Generator

        Returns
        -------
        rho : int
        decay : float
        """
        rho, decay = self.rho, self.weight_decay
        if rho is not None and decay is not None:
            return rho, decay
        held, kept = np.split(rng.permutation(len(Z)), [-(-len(Z) // 10)])
        alike = class_index[held][:, None] == class_index[kept]
        if not alike.any() or alike.all() or len(np.unique(class_index[kept])) < 2:
            return rho or max(1, self.n_bits // 4), decay or _DEFAULT_DECAY

        parts = (Z[held], Z[kept], class_index[kept], alike)
        if rho is None:
            start = self._draw_planes(Z, rng)
            _, recall = curve(
                hamming(pack(Z[held] @ start.T > 0), pack(Z[kept] @ start.T > 0)), alike, self.n_bits
            )
            middle, spread = int((recall < _START_RECALL).sum()), max(1, round(self.n_bits / 32))
            rhos = np.unique(np.clip(middle + spread * np.arange(-2, 3), 1, self.n_bits))
            rho = int(self._best(parts, [(int(each), decay or _DEFAULT_DECAY) for each in rhos], rng)[0])
        if decay is None:
            decay = self._best(parts, [(rho, each) for each in _WEIGHT_DECAYS], rng)[1]
        return rho, decay

    def _best(
        self, parts: tuple[Any, ...], candidates: list[tuple[int, float]], rng: np.random.Generator
    ) -> tuple[int, float]:
        """The candidate, rho and weight decay, whose codes have the greatest area under the curve.

        Parameters
        ----------
        parts : tuple
            Held-out rows, kept rows, class index of the kept rows, and which pairs of the two are alike.
        candidates : list of (int, float)
        rng : Generator

        Returns
        -------
        (int, float)
        """
        held, kept, class_index, alike = parts
        start, areas = self._draw_planes(kept, rng), []
        for rho, decay in candidates:
            iterate = train(kept, class_index, start, rho, decay, self.positive_share, rng)
            found = []
            for number in range(1, self.validation_iter + _AVERAGED_ITERATIONS):
                W, _ = iterate(_FIRST_STEP)
                if number >= self.validation_iter:
                    apart = hamming(pack(held @ W.T > 0), pack(kept @ W.T > 0))
                    precision, recall = curve(apart, alike, self.n_bits)
                    found.append(np.trapezoid(precision, recall))
            areas.append(np.mean(found))
        return candidates[int(np.argmax(areas))]

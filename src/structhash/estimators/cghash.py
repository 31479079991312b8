"""CGHash: codes from triplets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from structhash.estimators._comparing import ComparingEncoder
from structhash.masters.base import Master
from structhash.masters.hinge import HingeMaster
from structhash.masters.triplet import TripletMaster
from structhash.pieces import spell

__all__ = ["CGHash"]


class CGHash(ComparingEncoder):
    """Binary codes from triplets by column generation (Section 2, Algorithm 1 of the paper).

    It minimises ||w||_1 + C mean f(w'dh) over weights and bits. For a triplet (i, j, k), w'dh is the distance
    from i to k minus the distance from i to j. ``regularizer="linf:bound=0.5"`` bounds every weight instead of
    ||w||_1. It weighs its bits: search with ``weights=encoder.search_weights_``.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    loss : str or piece
        Triplet loss, ``names("losses")``. ``"hinge"`` is not smooth: its weights come from cutting planes, far
        more slowly; a tolerance of 1e-4 helps.
    regularizer : str or piece
        ``names("regularizers")``.
    family : str or piece
        Kind of bit, ``names("families")``.
    start : str or piece
        Where the search for a bit begins, ``names("starts")``. Stumps and trees search exactly and ignore it.
    schedule : str or piece
        ``"totally_corrective"`` moves all weights at every bit; ``"stagewise"`` keeps them equal.
    C : float or "auto"
        Weight of the mean loss over triplets. Raise it when `history_` shows redraws. ``"auto"`` takes 30, 300
        or 3,000, whichever retrieves held-out rows best. It needs one label a row, and holds out a quarter of
        the rows. It starts no value that would probably end more than a minute after the first one started. The
        bits are then learned from all rows.
    n_near, n_far : int
        Relevant and irrelevant partners drawn for each point. Only where `y` is labels or an indicator matrix.
    tolerance : float
        Relative duality gap at which the weights are good enough; also the `violation` of `stop_at_optimum`.
    stop_at_optimum : bool
        End early, with fewer bits, where the best bit found has a `violation` of no more than the tolerance.
        That is a certificate of the optimum only for families that search exactly (stumps) with the totally
        corrective schedule; for others it only means that no better bit was found. Where a weight is at an
        upper bound (``"linf"``), a better bit may be hidden, and learning goes on.
    warm_start : bool
        Keep the bits of the last fit and learn only those that a larger `n_bits` adds. With the same X, y,
        settings and integer random_state the result equals that of learning all at once; ``C="auto"`` keeps the
        C of that fit. With another y the old bits stay, and the weights and the new bits are learned from it.
    random_state : int, RandomState, Generator or None
        Draws partners, starts and redraws.
    n_jobs : int or None
        Threads over queries, -1 for all cores; the result does not depend on it.

    Attributes
    ----------
    n_bits_, weights_, weighted_, history_ : see `HashEncoder`
    prefix_weights_ : ndarray (n_bits, n_bits)
        Row t - 1 holds the weights of the first t bits.
    hash_function_ : HashFunction
    n_skipped_ : int
        Queries that were skipped: those without a relevant or without an irrelevant partner.
    judged_ : bool
        Whether y was judgements.
    C_ : float
        C as set or, with ``C="auto"``, as chosen.

    References
    ----------
    Lin, Liu, Shen, Wu, Shen, Structured learning of binary codes with column generation,
    https://doi.org/10.1007/s11263-016-0984-4

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = CGHash(n_bits=8, random_state=0).fit(X[:300], y[:300])
    >>> encoder.encode(X[300:]).shape
    (1497, 1)
    """

    usual_C: ClassVar[float] = 300.0
    objective_kind: ClassVar[str] = "losses"

    def __init__(
        self,
        n_bits: int = 64,
        *,
        loss: Any = "squared_hinge",
        regularizer: Any = "l1",
        family: Any = "linear",
        start: Any = "spectral",
        schedule: Any = "totally_corrective",
        C: float | str = usual_C,
        n_near: int = 50,
        n_far: int = 100,
        tolerance: float = 1e-6,
        stop_at_optimum: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_bits = n_bits
        self.loss = loss
        self.regularizer = regularizer
        self.family = family
        self.start = start
        self.schedule = schedule
        self.C = C
        self.n_near = n_near
        self.n_far = n_far
        self.tolerance = tolerance
        self.stop_at_optimum = stop_at_optimum
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs

    def about(self) -> dict[str, Any]:
        """The triplet loss, and C; see `HashEncoder.about`."""
        return {"loss": spell(self.loss), **super().about()}

    def _objective(self) -> Any:
        return self.loss

    def _master_class(self, objective: Any) -> Callable[..., Master]:
        return TripletMaster if objective.smooth else HingeMaster

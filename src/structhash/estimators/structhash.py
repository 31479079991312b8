"""StructHash: codes for ranking measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from structhash.estimators._comparing import ComparingEncoder
from structhash.masters.base import Master
from structhash.masters.ranking import RankingMaster
from structhash.pieces import spell

__all__ = ["StructHash"]


class StructHash(ComparingEncoder):
    """Binary codes for a ranking measure, by column generation (Section 3, Algorithms 2 and 3 of the paper).

    It minimises ||w||_1 + C mean_i xi_i over weights and bits, where xi_i is the structured hinge loss of query
    i's ranking by weighted Hamming distance. `DistilHash` is the recommended method; this is the paper's.

    Parameters
    ----------
    n_bits : int
        Length of the code.
    ranking : str or piece
        The measure: ``"sndcg"``, ``"auc"``, ``"ndcg:k=100"``; ``names("rankings")`` lists all.
    regularizer, family, start : str or piece
        As in `CGHash`.
    schedule : str or piece
        ``"stagewise"`` trains fast and gives codes for plain Hamming distance; ``"totally_corrective"`` moves
        all weights at every bit.
    C : float or "auto"
        Weight of the mean loss over queries. Raise it when `history_` shows redraws. ``"auto"`` takes 3, 30 or
        300, chosen as in `CGHash`.
    n_near, n_far : int
        Relevant and irrelevant partners drawn for each point. Only where `y` is labels or an indicator matrix.
    tolerance : float
        Cutting-plane tolerance, in units of the mean loss; also the `violation` of `stop_at_optimum`.
    stop_at_optimum, warm_start : bool
        As in `CGHash`.
    random_state : int, RandomState, Generator or None
        Draws partners, starts and redraws.
    n_jobs : int or None
        Threads over queries, -1 for all cores; the result does not depend on it.

    Attributes
    ----------
    n_bits_, weights_, weighted_, history_, prefix_weights_ : as in `CGHash`
    hash_function_, n_skipped_, judged_, C_ : as in `CGHash`

    References
    ----------
    Lin, Liu, Shen, Wu, Shen, Structured learning of binary codes with column generation,
    https://doi.org/10.1007/s11263-016-0984-4

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> encoder = StructHash(n_bits=8, ranking="ndcg:k=10", random_state=0).fit(X[:300], y[:300])
    >>> encoder.encode(X[300:]).shape
    (1497, 1)
    """

    usual_C: ClassVar[float] = 30.0
    objective_kind: ClassVar[str] = "rankings"

    def __init__(
        self,
        n_bits: int = 64,
        *,
        ranking: Any = "sndcg",
        regularizer: Any = "l1",
        family: Any = "linear",
        start: Any = "spectral",
        schedule: Any = "stagewise",
        C: float | str = usual_C,
        n_near: int = 50,
        n_far: int = 100,
        tolerance: float = 1e-3,
        stop_at_optimum: bool = False,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_bits = n_bits
        self.ranking = ranking
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
        """The measure that the codes are trained for, and C; see `HashEncoder.about`."""
        return {"ranking": spell(self.ranking), **super().about()}

    def _objective(self) -> Any:
        return self.ranking

    def _master_class(self, objective: Any) -> Callable[..., Master]:
        return RankingMaster

"""Relevance judgements: documents that people graded for queries."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.matrices import open_matrix
from structhash._numerics.validation import describe
from structhash.io.qrels import read_qrels
from structhash.pair_weights import Comparisons
from structhash.supervision._draw import draw_others, draw_some, make_comparisons
from structhash.supervision.base import Supervision, check_partners
from structhash.supervision.judgements import by_query, gain_steps

__all__ = ["Qrels"]

logger = logging.getLogger(__name__)

_UNJUDGED = ("irrelevant", "ignore")


@dataclass(frozen=True)
class Qrels(Supervision):
    r"""Graded judgements (query, document, grade), as in TREC collections.

    A graded query becomes one binary query for each grade t > 0 that it uses: documents of grade t or more are
    relevant, those below irrelevant. The weight of the binary query is the step of the gain 2^g - 1 from the
    next lower grade to t. The steps between two grades add up to the difference of their gains, so with any
    triplet loss f

        sum over g_j > g_k of (gain_j - gain_k) f(rho_jk)
            = sum over t of (gain_t - gain_below_t) * sum over g_j >= t > g_k of f(rho_jk).

    CGHash minimises this sum as it stands; StructHash has the ranking loss of each t in place of the inner sum.
    With ``ranking="ndcg"`` it weights the ranking losses so that their sum bounds the graded NDCG loss: see
    `NDCG.ideal`. The identity is exact where n_near and n_far leave no document out; the documents of each t
    are drawn separately. The weights of one graded query are scaled to add up to 1.

    A few dozen queries are too few to learn from alone. On 32 queries of DBpedia-Entity, 32 bits learned from
    them have nDCG@10 0.12 for other queries; ITQ codes have 0.31. `DistilHash` therefore tests judgements on
    held-out queries and ignores them where they do not help; n_near, n_far and unjudged then have no effect.

    A query without a relevant or without an irrelevant document is skipped; a warning in the log counts such
    queries.

    Parameters
    ----------
    judgements : int array (m, 3)
        Rows (query, document, grade >= 0). A document is a row of X. A query is a row of Q; without Q it is a
        row of X, and a judgement of a row for itself is not used. The same judgement twice counts once; two
        grades of one document for one query are an error.
    Q : float array (n_queries, d), optional
        Vectors of the queries, in the unit of X.
    n_near, n_far : int
        Documents drawn for each binary query, all of them where there are fewer.
    unjudged : str
        ``"irrelevant"``: documents without a judgement for the query count as irrelevant. They are half of the
        irrelevant documents drawn; the share moves where judged or unjudged ones run short. ``"ignore"``: they
        are left out.

    Examples
    --------
    >>> import numpy as np
    >>> qrels = Qrels(np.array([[0, 2, 2], [0, 1, 1], [0, 0, 0]]), Q=np.ones((1, 2)))
    >>> r = qrels.comparisons(np.zeros((3, 2)), np.random.default_rng(0))
    >>> r.queries.tolist(), np.diff(r.near_ptr).tolist(), r.weights.round(3).tolist()
    ([3, 3], [2, 1], [0.333, 0.667])
    """

    judgements: NDArray[Any]
    Q: NDArray[Any] | None = None
    n_near: int = 50
    n_far: int = 100
    unjudged: str = "irrelevant"

    @classmethod
    def read(
        cls,
        path: str | PathLike[str],
        queries: Sequence[Any],
        documents: Sequence[Any],
        Q: NDArray[Any] | None = None,
        *,
        unknown: str = "error",
        **settings: Any,
    ) -> Self:
        """Read judgements by ids, of a TREC file or of a table: see `structhash.io.qrels.read_qrels`.

        Parameters
        ----------
        path : str or path
        queries, documents : sequence of str
            The id of each row of Q (of X without Q), and the id of each row of X.
        Q : float array (n_queries, d), optional
        unknown : str
            A line with another id is an ``"error"``, or is skipped (``"skip"``) and counted in the log.
        **settings
            The other parameters of `Qrels`.

        Returns
        -------
        Qrels
            A grade below 0 (junk in some collections) becomes 0.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If a line is malformed, an id is not known or belongs to two rows, or ids and Q differ in number.
        """
        if Q is not None and len(queries) != len(Q):
            raise ValueError(f"there are {len(queries)} query ids for {len(Q)} rows of Q; give one for each")
        return cls(read_qrels(path, queries, documents, unknown), Q, **settings)

    def training_matrix(self, X: NDArray[Any]) -> NDArray[Any]:
        """The documents X, with the queries Q stacked below where there are any.

        Raises
        ------
        ValueError
            If Q is not a finite matrix as wide as X, or the dtype of X cannot hold it.
        """
        vectors = self.query_vectors()
        if vectors is None:
            return X
        self.check_queries(X.shape[1])
        with np.errstate(over="ignore"):
            Q = vectors.astype(X.dtype, copy=False)
        if not np.isfinite(Q).all():
            raise ValueError(f"Q has numbers that {X.dtype}, the type of X, cannot hold; give both in one unit")
        return np.vstack([X, Q])

    def query_vectors(self) -> NDArray[Any] | None:
        """Q as an array; None without Q. ValueError or TypeError where Q is masked, sparse, or ragged."""
        if self.Q is None:
            return None
        Q = open_matrix(self.Q, "Q")
        if hasattr(Q, "toarray"):
            raise TypeError("Q is sparse; give Q.toarray()")
        return np.asarray(Q)

    def check_queries(self, width: int) -> None:
        """ValueError where Q is given and is not a finite matrix of this width."""
        Q = self.query_vectors()
        if Q is None:
            return
        if Q.ndim != 2 or len(Q) == 0 or Q.shape[1] != width or Q.dtype.kind not in "fiub":
            raise ValueError(f"Q is {Q.dtype} of shape {Q.shape}; give numbers, {width} columns as X has")
        if not np.isfinite(Q).all():
            row = int(np.isfinite(Q).all(axis=1).argmin())
            raise ValueError(f"Q holds NaN or infinite values, the first in row {row}; remove or fill them")

    def count_queries(self, X: NDArray[Any]) -> int:
        """How many queries have judgements."""
        return len(np.unique(np.asarray(self.judgements)[:, 0]))

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Draw the documents of every binary query; row numbers refer to `training_matrix(X)`.

        Raises
        ------
        ValueError
            If the judgements are not integers (m, 3), name rows that do not exist, contradict each other or
            leave no query, or a setting is not allowed.
        """
        check_partners(self.n_near, self.n_far)
        if self.unjudged not in _UNJUDGED:
            raise ValueError(f"unjudged={describe(self.unjudged)}: give {' or '.join(_UNJUDGED)}")
        within = self.Q is None
        n_queries, first = (len(X), 0) if self.Q is None else (len(self.Q), len(X))  # first: row of query 0
        queries, near, far, weights = [], [], [], []
        n_asked = n_skipped = 0
        for q, documents, grades in by_query(self.judgements, n_queries, len(X), within):
            steps = []
            taken = np.union1d(documents, [q]) if within else documents
            for grade, step in gain_steps(grades):
                high, low = documents[grades >= grade], documents[grades < grade]
                partners = self._draw_irrelevant(low, taken, len(X), rng)
                if len(partners):
                    near.append(draw_some(rng, high, self.n_near))
                    far.append(partners)
                    steps.append(step)
            queries += [first + q] * len(steps)
            weights += [step / sum(steps) for step in steps]
            n_asked, n_skipped = n_asked + 1, n_skipped + (not steps)
        if not queries:
            raise ValueError(
                f"none of the {n_asked} judged queries has both a relevant and an irrelevant document"
            )
        if n_skipped:
            logger.warning(
                "%d of %d judged queries have no relevant or no irrelevant document: skipped",
                n_skipped,
                n_asked,
            )
        return make_comparisons(queries, near, far, np.array(weights))

    def _draw_irrelevant(
        self, low: NDArray[Any], taken: NDArray[Any], n: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Far documents: drawn from those judged `low`, and from the n rows that are not `taken`."""
        n_free = n - len(taken) if self.unjudged == "irrelevant" else 0
        judged = draw_some(rng, low, max((self.n_far + 1) // 2, self.n_far - n_free))
        if not n_free:
            return judged
        return np.concatenate([judged, draw_others(rng, n, taken, self.n_far - len(judged))])

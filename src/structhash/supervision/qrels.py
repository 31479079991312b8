"""Relevance judgements: documents that people graded for queries."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.pair_weights import Comparisons
from structhash.supervision.judgements import by_query, gain_steps, read_trec
from structhash.supervision.shared import check_partners, draw, draw_outside, gather, list_triplets

logger = logging.getLogger(__name__)

UNJUDGED = ("irrelevant", "ignore")


@dataclass(frozen=True)
class Qrels:
    r"""Graded judgements (query, document, grade), as of TREC collections.

    A graded query becomes one binary query for each grade t > 0 that it uses: documents of grade t or more are
    relevant, those below irrelevant, and its weight is the step of the gain 2^g - 1 from the next lower grade
    to t. The steps between two grades add up to the difference of their gains, so with any triplet loss f

        sum over g_j > g_k of (gain_j - gain_k) f(rho_jk)
            = sum over t of (gain_t - gain_below_t) * sum over g_j >= t > g_k of f(rho_jk)

    which CGHash minimises as it stands; StructHash has the ranking loss of each t in place of the inner sum.
    With ``ranking="ndcg"`` it weighs them so that the sum is a bound on the graded NDCG loss: see `NDCG.ideal`.
    It is exact where n_near and n_far leave none out; the documents of each t are drawn for themselves. Weights
    are scaled so that those of one graded query add up to 1.

    Some dozens of queries are too few to learn from alone: on 32 queries of DBpedia-Entity, 32 bits learned so
    have nDCG@10 0.12 for other queries, those of ITQ 0.31. `StructHash` with ``ranking="auto"`` asks judged
    queries that are left out, and takes no notice of judgements by which they find no more; then n_near, n_far
    and unjudged have no part in it.

    A query without a relevant or without an irrelevant document asks nothing: it is skipped, with a warning in
    the log that counts such queries.

    Parameters
    ----------
    judgements : int array (m, 3)
        Rows (query, document, grade >= 0). A document is a row of X, a query a row of Q, or of X without Q. The
        same judgement twice counts once; two grades for one document are an error. A judgement of a row for
        itself is not used.
    Q : float array (n_queries, d), optional
        Vectors of the queries.
    n_near, n_far : int
        Documents drawn for each binary query, all where there are fewer.
    unjudged : str
        ``"irrelevant"``: documents without a judgement for the query count as irrelevant; they are half of
        those drawn, more or less where judged or unjudged ones run short. ``"ignore"``: they are left out.

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
        """Read a TREC qrels file: lines ``query-id iteration document-id grade``.

        Parameters
        ----------
        path : str or path
        queries, documents : sequence of str
            The id of each row of Q (of X without Q), and of each row of X.
        Q : float array (n_queries, d), optional
        unknown : str
            What a line with another id is: ``"error"``, or ``"skip"``, which counts them in the log.
        **settings
            The other parameters of `Qrels`.

        Returns
        -------
        Qrels
            A grade below 0 (junk in some collections) is read as 0.

        Raises
        ------
        FileNotFoundError
            If there is no such file.
        ValueError
            If a line is malformed, an id is not known or stands for two rows, or ids and Q differ in number.
        """
        if Q is not None and len(queries) != len(Q):
            raise ValueError(f"there are {len(queries)} query ids for {len(Q)} rows of Q; give one for each")
        return cls(read_trec(path, queries, documents, unknown), Q, **settings)

    def points(self, X: NDArray[Any]) -> NDArray[Any]:
        """The documents X, and after them the queries Q where there are any.

        Raises
        ------
        ValueError
            If Q is no finite matrix as wide as X, or X has a type that cannot hold it.
        """
        if self.Q is None:
            return X
        self.check_queries(X.shape[1])
        with np.errstate(over="ignore"):
            Q = np.asarray(self.Q).astype(X.dtype, copy=False)
        if not np.isfinite(Q).all():
            raise ValueError(f"Q reaches beyond what {X.dtype} holds, as which X comes; give both in one unit")
        return np.vstack([X, Q])

    def check_queries(self, width: int) -> None:
        """ValueError where Q is no finite matrix of this width; none is fine."""
        if self.Q is None:
            return
        Q = np.asarray(self.Q)
        if Q.ndim != 2 or len(Q) == 0 or Q.shape[1] != width or Q.dtype.kind not in "fiub":
            raise ValueError(f"Q is {Q.dtype} of shape {Q.shape}; give numbers, {width} columns as X has")
        if not np.isfinite(Q).all():
            row = int(np.isfinite(Q).all(axis=1).argmin())
            raise ValueError(f"Q holds NaN or infinite values, the first in row {row}; remove or fill them")

    def comparisons(self, X: NDArray[Any], rng: np.random.Generator) -> Comparisons:
        """Draw the documents of every binary query; row numbers refer to `points(X)`.

        Raises
        ------
        ValueError
            If the judgements are no integers (m, 3), name rows that are not there, contradict each other or
            leave no query, or a setting is not allowed.
        """
        check_partners(self.n_near, self.n_far)
        if self.unjudged not in UNJUDGED:
            raise ValueError(f"unjudged={describe(self.unjudged)}: give {' or '.join(UNJUDGED)}")
        alone = self.Q is None
        n_queries, own = (len(X), 0) if self.Q is None else (len(self.Q), len(X))  # own: row of query 0
        queries, near, far, weights = [], [], [], []
        n_asked = n_skipped = 0
        for q, documents, grades in by_query(self.judgements, n_queries, len(X), alone):
            steps = []
            taken = np.union1d(documents, [q]) if alone else documents
            for grade, step in gain_steps(grades):
                high, low = documents[grades >= grade], documents[grades < grade]
                partners = self.irrelevant(low, taken, len(X), rng)
                if len(partners):
                    near.append(draw(rng, high, self.n_near))
                    far.append(partners)
                    steps.append(step)
            queries += [own + q] * len(steps)
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
        return gather(queries, near, far, np.array(weights))

    def triplets(
        self, X: NDArray[Any], rng: np.random.Generator
    ) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Every (query, near, far) of `comparisons`, int32 (T, 3), each with the weight of its binary query."""
        r = self.comparisons(X, rng)
        return list_triplets(r), np.repeat(np.asarray(r.weights), np.diff(r.near_ptr) * np.diff(r.far_ptr))

    def irrelevant(
        self, low: NDArray[Any], taken: NDArray[Any], n: int, rng: np.random.Generator
    ) -> NDArray[Any]:
        """Far documents: some of those judged `low`, and of the n rows some that are not `taken`."""
        n_free = n - len(taken) if self.unjudged == "irrelevant" else 0
        judged = draw(rng, low, max((self.n_far + 1) // 2, self.n_far - n_free))
        if not n_free:
            return judged
        return np.concatenate([judged, draw_outside(rng, n, taken, self.n_far - len(judged))])

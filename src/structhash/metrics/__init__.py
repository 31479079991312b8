"""Retrieval metrics per query that treat ties in distance honestly.

Sorted by distance, the database of one query falls into *tie blocks*: items at equal distance, whose order
means nothing. `tie_blocks` finds them; a metric is a function ``metric(blocks, ...) -> float64 (Q,)``, the
exact expectation over all orders inside the blocks. A block has n items, r of them relevant; s items and c
relevant items lie before it; its query has P relevant and N irrelevant items; S is a discount.

A query without relevant items has nan where a measure divides by P or by the ideal (take `numpy.nanmean`),
and 0 for `precision` and for `ndcg` with the paper's normaliser. A cut `k` is an integer >= 1 (ValueError)
and may exceed the number of items; an unknown word for an option is a ValueError; anything but what
`tie_blocks` gives is a TypeError. Reference: McSherry, Najork (2008), Computing information retrieval
performance measures efficiently in the presence of tied scores, https://doi.org/10.1007/978-3-540-78646-7_38
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import gammaln, softmax

from structhash._numerics.rounding import merge_ties as merge_ties
from structhash._numerics.validation import describe

MAX_GRADE = 52  # 2^grade - 1 is exact in float64 up to here
_SLAB = 1 << 17  # distances turned into blocks at a time, to stay in the cache
_WORDS = {
    "ties": ("expected", "id"),
    "discount": ("paper", "standard"),
    "normalizer": ("ideal", "paper"),
    "divisor": ("relevant", "hits"),
}
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Blocks(NamedTuple):
    """Tie blocks of Q queries; query q owns the blocks ``ptr[q]:ptr[q + 1]``, nearest first."""

    ptr: Ints  # (Q + 1,)
    size: Ints  # (B,) items in the block
    hits: Ints  # (B,) relevant items in the block
    gain: Floats  # (B,) sum of 2^grade - 1; equals hits for binary relevance
    grades: Ints  # (Q, G) items of grade 1..G of the query, hence its ideal ranking; G = 1 for binary

    @property
    def relevant(self) -> Ints:
        """P of each query, int64 (Q,)."""
        return self.grades.sum(axis=1)

    @property
    def query(self) -> Ints:
        """Query of each block, int64 (B,)."""
        return np.repeat(np.arange(len(self.ptr) - 1), np.diff(self.ptr))

    def sums(self, x) -> Floats:
        """Sum of x (B,) over the blocks of each query, (Q,)."""
        return np.bincount(self.query, weights=x, minlength=len(self.ptr) - 1).astype(np.float64, copy=False)

    def before(self, x):
        """Sum of x (B,) over the earlier blocks of the same query, (B,)."""
        total = np.concatenate(([0], np.cumsum(x)))
        return total[:-1] - total[self.ptr[:-1]][self.query]


def tie_blocks(distances: ArrayLike, relevance: ArrayLike, ties: str = "expected") -> Blocks:
    """Cut each query's ranking into blocks of equal distance.

    TypeError for a wrong dtype; ValueError for unequal shapes, NaN, a grade or a word that is not allowed.

    Parameters
    ----------
    distances : array (Q, n), integer or float
        Smaller is nearer. Equal means exactly equal: round floats that carry noise. inf is allowed.
    relevance : array (Q, n), bool or integer
        Grades from 0 (irrelevant) to 52. Q = 0 and n = 0 are allowed and give no blocks.
    ties : {"expected", "id"}
        "expected": one block per distance. "id": order by (distance, column), every item its own block.

    >>> blocks = tie_blocks([[3, 1, 1, 7]], [[True, False, True, False]])
    >>> blocks.size, blocks.hits
    (array([2, 1, 1]), array([1, 1, 0]))
    """
    dist, rel = np.asarray(distances), np.asarray(relevance)
    _check_words(ties=ties)
    if dist.dtype.kind not in "iuf":
        raise TypeError(f"distances have dtype {dist.dtype}; allowed are integers and floats: convert them")
    if rel.dtype.kind not in "biu":
        raise TypeError(f"relevance has dtype {rel.dtype}; allowed are bool and integer grades: convert it")
    if dist.ndim != 2 or dist.shape != rel.shape:
        shapes = f"{dist.shape} and {rel.shape}"
        raise ValueError(f"distances and relevance are {shapes}; allowed is one (queries, items): reshape")
    if dist.dtype.kind == "f" and np.isnan(dist).any():
        raise ValueError("distances hold NaN; allowed are ordered numbers: use inf for items to put last")
    low, top = int(rel.min(initial=0)), int(rel.max(initial=0))
    if low < 0 or top > MAX_GRADE:
        raise ValueError(f"grades run from {low} to {top}; allowed are 0 to {MAX_GRADE}: shift or rescale")
    grades = np.stack([(rel == grade).sum(axis=1) for grade in range(1, max(top, 1) + 1)], axis=1)
    rows = max(1, _SLAB // max(dist.shape[1], 1))
    firsts = range(0, max(len(dist), 1), rows)
    parts = [_slab_blocks(dist[i : i + rows], rel[i : i + rows], ties == "id") for i in firsts]
    count, size, hits, gain = map(np.concatenate, zip(*parts))
    return Blocks(np.concatenate(([0], np.cumsum(count))), size, hits, gain, grades)


def without_self(
    distances: NDArray[Any], relevance: NDArray[Any], first: int = 0
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Both (q, n) without the column of each query itself, (q, n - 1): query i is row first + i of the n.

    >>> without_self(np.array([[1, 0, 2]]), np.array([[True, True, False]]), first=1)
    (array([[1, 2]]), array([[ True, False]]))
    """
    q, n = distances.shape
    others = np.ones((q, n), bool)
    others[np.arange(q), first + np.arange(q)] = False
    return distances[others].reshape(q, n - 1), relevance[others].reshape(q, n - 1)


def _slab_blocks(dist, rel, by_id):
    """Blocks of each row, then size, hits and gain of the blocks."""
    if dist.size and dist.dtype.kind in "iu" and int(dist.max()) - int(dist.min()) < 1 << 16:
        dist = np.subtract(dist, dist.min(), dtype=np.uint16, casting="unsafe")  # modulo 2^16, hence exact
    counted = by_id or dist.dtype == np.uint16  # the stable sort of uint16 counts (radix)
    order = np.argsort(dist, axis=1, kind="stable" if counted else None)
    dist, rel = np.take_along_axis(dist, order, 1), np.take_along_axis(rel, order, 1).astype(np.int64).ravel()
    new = np.ones(dist.shape, bool)
    new[:, 1:] = (dist[:, 1:] != dist[:, :-1]) | by_id
    first = np.flatnonzero(new)
    hits = np.add.reduceat(rel > 0, first, dtype=np.int64)
    gain = np.add.reduceat((np.exp2(np.arange(MAX_GRADE + 1)) - 1)[rel], first)
    return new.sum(axis=1), np.diff(first, append=new.size), hits, gain


def _check(blocks: Any, k: Any = 1, **words: Any) -> None:
    if not isinstance(blocks, Blocks):
        raise TypeError(
            f"blocks is {describe(blocks)}; allowed are Blocks: pass tie_blocks(distances, relevance)"
        )
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(
            f"k is {describe(k)}; allowed is an integer >= 1: pass the depth of the cut, such as k=100"
        )
    _check_words(**words)


def _check_words(**words: Any) -> None:
    for name, word in words.items():
        if not isinstance(word, str) or word not in _WORDS[name]:
            raise ValueError(
                f"{name} is {describe(word)}; allowed are {', '.join(_WORDS[name])}: pass one of them"
            )


def _ratio(above, below):
    return np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0)


def _top(blocks, mass, total):
    """Sum over blocks of mass / n * (total[s + n] - total[s]), with no more than len(total) - 1 ranks."""
    start, k = blocks.before(blocks.size), len(total) - 1
    inside = total[np.minimum(start + blocks.size, k)] - total[np.minimum(start, k)]
    return blocks.sums(mass / blocks.size * inside)


def ndcg(blocks: Blocks, k: int = 100, discount: str = "paper", normalizer: str = "ideal") -> Floats:
    """Normalised discounted cumulated gain, sum_{i<=k} S(i) (2^grade_i - 1) / normaliser.

    `discount` "paper": S(1) = 1, S(i) = 1/log2(i); "standard": S(i) = 1/log2(1 + i). `normalizer` "ideal":
    the sum for the best order of the query's items; "paper": sum_{i<=k} S(i), ValueError for grades above 1.
    Reference: Järvelin, Kekäläinen (2002), https://doi.org/10.1145/582415.582418

    >>> ndcg(tie_blocks([[1, 1, 2]], [[0, 1, 0]]), k=1, discount="standard")
    array([0.5])
    """
    _check(blocks, k, discount=discount, normalizer=normalizer)
    top = blocks.grades.shape[1]
    if normalizer == "paper" and top > 1:
        raise ValueError(f"normalizer='paper' met grades up to {top}; allowed are 0 and 1: use 'ideal'")
    if normalizer == "ideal":
        k = min(
            k, int(blocks.sums(blocks.size).max(initial=1))
        )  # places beyond the last item count for nothing
    rank = np.arange(1, k + 1)
    weight = 1 / np.log2(rank + 1 if discount == "standard" else np.maximum(rank, 2))
    total = np.concatenate(([0.0], np.cumsum(weight)))
    dcg = _top(blocks, blocks.gain, total)
    if normalizer == "paper":
        return dcg / total[k]
    end = np.minimum(np.cumsum(blocks.grades[:, ::-1], axis=1), k)  # of each grade, the highest first
    return _ratio(dcg, np.diff(total[end], axis=1, prepend=0.0) @ (np.exp2(np.arange(top, 0, -1)) - 1))


def precision(blocks: Blocks, k: int = 100) -> Floats:
    """Relevant items among the first k ranks / k, also where there are fewer than k items.

    >>> precision(tie_blocks([[1, 1, 2]], [[0, 1, 1]]), k=1)
    array([0.5])
    """
    _check(blocks, k)
    return _top(blocks, blocks.hits, np.arange(k + 1)) / k


def recall(blocks: Blocks, k: int = 100) -> Floats:
    """Relevant items among the first k ranks / P.

    >>> recall(tie_blocks([[1, 1, 2]], [[0, 1, 1]]), k=1)
    array([0.25])
    """
    return _ratio(k * precision(blocks, k), blocks.relevant)


def average_precision(blocks: Blocks, k: int | None = None, divisor: str = "relevant") -> Floats:
    """Average precision: the sum of precision@i over the ranks i <= k of relevant items, divided.

    A block adds r/n sum_{j=1..n} (c + 1 + (j-1)(r-1)/(n-1)) / (s + j) to the sum. k=None: the whole ranking.
    `divisor` "relevant": P; "hits": the relevant items among the first k (value 0 if there are none), whose
    mean runs over the hypergeometric number of hits in the block that k cuts.

    >>> average_precision(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    array([0.75])
    """
    _check(blocks, 1 if k is None else k, divisor=divisor)
    n, r, query = blocks.size, blocks.hits, blocks.query
    s, c = blocks.before(n), blocks.before(r)
    m = n if k is None else np.clip(k - s, 0, n)  # ranks of the block inside the cut
    harmonic = np.concatenate(([0.0], np.cumsum(1 / np.arange(1, (s + n).max(initial=0) + 1))))
    inverse = np.where(m == 1, 1 / (s + 1), harmonic[s + m] - harmonic[s])  # sum_{j<=m} 1 / (s + j)
    slope = m - (s + 1) * inverse  # sum_{j<=m} (j - 1) / (s + j)
    part = r / n * ((c + 1) * inverse + (r - 1) / np.maximum(n - 1, 1) * slope)
    total = blocks.sums(part)
    if divisor == "relevant":
        return _ratio(total, blocks.relevant)
    out = np.where(blocks.relevant > 0, total / np.maximum(blocks.sums(r * (m > 0)), 1), np.nan)
    for b in np.flatnonzero((m > 0) & (m < n) & (r > 0)):  # given x hits, the m ranks are in random order
        x = np.arange(max(0, m[b] - n[b] + r[b]), min(m[b], r[b]) + 1)
        counts = np.stack([x, r[b] - x, m[b] - x, n[b] - r[b] - m[b] + x])
        chance = softmax(-gammaln(counts + 1.0).sum(axis=0))  # hypergeometric
        inside = x / m[b] * ((c[b] + 1) * inverse[b] + (x - 1) / max(m[b] - 1, 1) * slope[b])
        out[query[b]] = chance @ ((total[query[b]] - part[b] + inside) / np.maximum(c[b] + x, 1))
    return out


def auc(blocks: Blocks) -> Floats:
    """Chance that a relevant item lies before an irrelevant one, ties 1/2: sum (n - r)(c + r/2) / (P N).

    Without irrelevant items nan. Hanley, McNeil (1982), https://doi.org/10.1148/radiology.143.1.7063747

    >>> auc(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    array([0.75])
    """
    _check(blocks)
    n, r = blocks.size, blocks.hits
    return _ratio(blocks.sums((n - r) * (blocks.before(r) + r / 2)), blocks.relevant * blocks.sums(n - r))


def sndcg(blocks: Blocks) -> Floats:
    """Simplified NDCG: mean of 1 / log2(2 + g) over the relevant items, g irrelevant ones lying before each.

    Relevant items of a block with m irrelevant ones have each g from N' to N' + m with equal chance, where N'
    lie before the block. Lin et al. (2018), eq. (sndcg), https://doi.org/10.1007/s11263-016-0984-4

    >>> sndcg(tie_blocks([[1, 2, 2]], [[0, 1, 0]])).round(4)
    array([0.5655])
    """
    _check(blocks)
    misses = blocks.size - blocks.hits
    first, last = blocks.before(misses), blocks.before(misses) + misses
    total = np.concatenate(([0.0], np.cumsum(1 / np.log2(2.0 + np.arange(last.max(initial=0) + 1)))))
    return _ratio(blocks.sums(blocks.hits / (misses + 1) * (total[last + 1] - total[first])), blocks.relevant)


def reciprocal_rank(blocks: Blocks) -> Floats:
    """1 / rank of the first relevant item, which is the j-th of its block with chance C(n-j, r-1) / C(n, r).

    >>> reciprocal_rank(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    array([0.75])
    """
    _check(blocks)
    out, start, query = np.full(len(blocks.ptr) - 1, np.nan), blocks.before(blocks.size), blocks.query
    for b in np.flatnonzero((blocks.hits > 0) & (blocks.before(blocks.hits) == 0)):
        s, n, r = start[b], blocks.size[b], blocks.hits[b]
        j = np.arange(1, n - r + 1)
        chance = r / n * np.concatenate(([1.0], np.cumprod((n - j - r + 1) / (n - j))))
        out[query[b]] = (chance / np.arange(s + 1, s + n - r + 2)).sum()
    return out


def _curves(blocks):
    """(query, expected recall (n,), precision (n,)) of each query with relevant items."""
    n_items = np.unique(blocks.sums(blocks.size)).astype(int).tolist()
    if len(n_items) > 1:
        raise ValueError(
            f"queries rank {n_items[0]} to {n_items[-1]} items; allowed is one number: use one database for all"
        )
    rank, relevant = np.arange(1, sum(n_items) + 1), blocks.relevant
    for q in np.flatnonzero(relevant):
        own = slice(blocks.ptr[q], blocks.ptr[q + 1])
        end, total = (np.concatenate(([0], np.cumsum(x[own]))) for x in (blocks.size, blocks.hits))
        found = np.interp(rank, end, total)  # linear inside a block
        yield q, found / relevant[q], found / rank


def precision_recall_curve(blocks: Blocks) -> tuple[Floats, Floats]:
    """Mean recall@i and mean precision@i, each (n,), for i = 1..n, over the queries with relevant items.

    Curves of chunks combine by the mean weighted with ``(blocks.relevant > 0).sum()``; where that is 0 the
    curve is nan, so leave the chunk out. ValueError if queries differ in n.

    >>> precision_recall_curve(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    (array([0.5, 1. , 1. ]), array([0.5       , 0.5       , 0.33333333]))
    """
    _check(blocks)
    n_items, n_used = int(blocks.sums(blocks.size).max(initial=0)), int((blocks.relevant > 0).sum())
    total = np.zeros((2, n_items)) if n_used else np.full((2, n_items), np.nan)
    for _, *curve in _curves(blocks):
        total += curve
    recall, precision = total / max(n_used, 1)
    return recall, precision


def pr_area(blocks: Blocks) -> float:
    """Area under the mean precision / mean recall curve: trapezoids between the depths 1..n.

    There is no point at recall 0, so one query ranked perfectly has 1 - 1/P. nan without relevant items.

    >>> pr_area(tie_blocks([[1, 1, 2]], [[0, 1, 0]]))
    0.25
    """
    x, y = precision_recall_curve(blocks)
    return float(np.trapezoid(y, x)) if len(x) else float("nan")


def pr_area_per_query(blocks: Blocks) -> Floats:
    """`pr_area` of each query's own expected curve, for paired tests; its mean is not `pr_area`.

    >>> pr_area_per_query(tie_blocks([[1, 1, 2], [1, 2, 3]], [[0, 1, 0], [1, 1, 0]]))
    array([0.25, 0.5 ])
    """
    _check(blocks)
    out = np.full(len(blocks.ptr) - 1, np.nan)
    for q, x, y in _curves(blocks):
        out[q] = np.trapezoid(y, x)
    return out


_NAMED: dict[str, Callable[..., Floats]] = {
    "ndcg@k": partial(ndcg, discount="standard"),
    "ndcg_paper@k": partial(ndcg, discount="paper"),
    "precision@k": precision,
    "recall@k": recall,
    "map": average_precision,
    "map@k": average_precision,
    "map_hits@k": partial(average_precision, divisor="hits"),
    "auc": auc,
    "sndcg": sndcg,
    "mrr": reciprocal_rank,
}


def parse(name: str) -> Callable[[Blocks], Floats]:
    """Return the metric called name, a function of blocks; ValueError lists the allowed forms.

    "ndcg" has the standard discount, "ndcg_paper" the paper's, both the ideal normaliser; "map" divides by P,
    "map_hits" by the hits among the first k; "mrr" is `reciprocal_rank`.

    >>> parse("precision@2")(tie_blocks([[1, 2, 3]], [[0, 1, 0]]))
    array([0.5])
    """
    word, at, k = name.partition("@") if isinstance(name, str) else ("", "", "")
    function = _NAMED.get(word + "@k" if at else word)
    if function is None or (at and not (k.isdecimal() and int(k) > 0)):
        raise ValueError(
            f"metric is {describe(name)}; allowed are {', '.join(_NAMED)}, k an integer >= 1: pass one"
        )
    return partial(function, k=int(k)) if at else function

"""Normalised discounted cumulative gain."""

from __future__ import annotations

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.special import expi

from structhash._numerics.validation import check_choice
from structhash.metrics._checks import check_cut
from structhash.metrics._expectation import expected_sum, ratio
from structhash.metrics.tie_blocks import TieBlocks

__all__ = ["NAMES", "ndcg"]

_SUMMED_RANKS = 1 << 16


def ndcg(
    blocks: TieBlocks, k: int = 100, discount: str = "paper", normalizer: str = "ideal"
) -> NDArray[np.float64]:
    """Normalised discounted cumulative gain, sum_{i<=k} S(i) (2^grade_i - 1) / normaliser.

    Parameters
    ----------
    blocks : TieBlocks
    k : int
        Number of ranks that count, >= 1.
    discount : {"paper", "standard"}
        "paper": S(1) = 1 and S(i) = 1 / log2(i). "standard": S(i) = 1 / log2(1 + i).
    normalizer : {"ideal", "paper"}
        "ideal": the sum of the best order of the query's documents. "paper": sum_{i<=k} S(i), for grades 0
        and 1 only.

    Returns
    -------
    float64 array (Q,)
        Without relevant documents the value is nan with the ideal normaliser, and 0 with the paper's.

    Raises
    ------
    TypeError
        If `blocks` are not tie blocks.
    ValueError
        If k is not an integer >= 1, a word is unknown, or the paper's normaliser meets a grade above 1.

    References
    ----------
    Järvelin, Kekäläinen, Cumulated gain-based evaluation of IR techniques, TOIS 2002,
    https://doi.org/10.1145/582415.582418

    Examples
    --------
    >>> from structhash.metrics import ndcg, tie_blocks
    >>> ndcg(tie_blocks([[1, 1, 2]], [[0, 1, 0]]), k=1, discount="standard")
    array([0.5])
    """
    depth = check_cut(blocks, k)
    check_choice("discount", discount, ("paper", "standard"))
    check_choice("normalizer", normalizer, ("ideal", "paper"))
    top = blocks.grades.shape[1]
    if normalizer == "paper" and top > 1:
        raise ValueError(f"normalizer='paper' allows grades 0 and 1, but the highest is {top}; give 'ideal'")
    total = np.concatenate(([0.0], np.cumsum(_discounts(1, depth, discount))))
    dcg = expected_sum(blocks, blocks.gain, total)
    if normalizer == "paper":
        return dcg / _sum_of_discounts(int(k), discount)
    end = np.minimum(np.cumsum(blocks.grades[:, ::-1], axis=1), depth)  # last rank of each grade, highest first
    ideal = np.diff(total[end], axis=1, prepend=0.0) @ (np.exp2(np.arange(top, 0, -1)) - 1)
    return ratio(dcg, ideal)


def _discounts(first: int, last: int, discount: str) -> NDArray[np.float64]:
    """S(i) of the ranks first..last."""
    rank = np.arange(first, last + 1)
    weights: NDArray[np.float64] = 1 / np.log2(rank + 1 if discount == "standard" else np.maximum(rank, 2))
    return weights


def _sum_of_discounts(k: int, discount: str) -> float:
    """Sum of S(i) over the ranks 1..k.

    Ranks beyond `_SUMMED_RANKS` are summed by the Euler-Maclaurin formula, with a relative error of 1e-12: the
    integral of 1 / log2(x) is ln(2) Ei(ln(x)).
    """
    total = float(np.cumsum(_discounts(1, min(k, _SUMMED_RANKS), discount))[-1])
    if k > _SUMMED_RANKS:
        first, last = (math.log(rank + (discount == "standard")) for rank in (_SUMMED_RANKS, k))
        total += math.log(2) * float(expi(last) - expi(first) + (1 / last - 1 / first) / 2)
    return total


NAMES = {"ndcg@k": partial(ndcg, discount="standard"), "ndcg_paper@k": partial(ndcg, discount="paper")}

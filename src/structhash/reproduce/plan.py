"""Which runs make a reproduction: methods, code lengths, seeds and sizes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from structhash.reproduce.sets import SETS

__all__ = ["METHODS", "N_BITS", "Kind", "Plan", "Run", "make_plan"]

N_BITS = 64  # of the tables

_LENGTHS = (16, 32, 64)
_SEEDS = {"usps": 3, "isolet": 3, "mnist": 2, "cifar10_gist512": 2}  # of the full plan
_TIMED_BITS = 32  # as in the paper
_UNSUPERVISED = ("ITQ", "SPHER", "MDSH", "AGH", "LSH")
_VARIANTS = ("StructH-N", "StructH-N-Stage", "StructH-SN-Stage")


class Kind(NamedTuple):
    """One method of the paper.

    Attributes
    ----------
    spec : str
        Its name and settings here, as `structhash.evaluation.parse_method` takes them.
    distance : str
        The distance that its codes are compared by, as `structhash.evaluation.every_distance` names it.
    by_prefix : bool
        Whether the first bits of a long code are the code that a shorter fit learns, so that one fit gives
        every length.
    costs : bool
        Whether what each bit cost is recorded.
    note : str
        What differs from the paper, or is not known of it.
    """

    spec: str
    distance: str = "plain"
    by_prefix: bool = False
    costs: bool = False
    note: str = ""


METHODS = {
    "StructH-N": Kind("structhash:ranking=ndcg:k=100,schedule=totally_corrective", "weighted", True, True),
    "StructH-A": Kind("structhash:ranking=auc,schedule=totally_corrective", "weighted", True, True),
    "CGH": Kind("cghash", "weighted", True, True),
    "StructH-N-Stage": Kind("structhash:ranking=ndcg:k=100", "plain", True, True),
    "StructH-SN-Stage": Kind("structhash:ranking=sndcg", "plain", True, True),
    "SPLH": Kind(
        "splh:eta=0.01|0.1|1", by_prefix=True, note="eta is chosen on held-out training rows, at 64 bits"
    ),
    "STHs": Kind("sth"),
    "BREs": Kind("bre"),
    "ITQ": Kind("itq"),
    "SPHER": Kind("spher", note="searched by Hamming distance"),
    "MDSH": Kind("mdsh", note="searched by Hamming distance; its authors' bandwidth, not the best of several"),
    "AGH": Kind("agh", note="two layers"),
    "LSH": Kind("lsh"),
    "StructH-Kernel": Kind(
        "structhash:ranking=ndcg:k=100,family=rbf", "plain", True, True, note="300 anchors, stage-wise"
    ),
    "KSH": Kind("ksh", note="300 anchors"),
}


class Run(NamedTuple):
    """One fit and its scores.

    Attributes
    ----------
    data, method : str
        Names of `SETS` and `METHODS`.
    n_bits : int
        Length of the code that is fitted.
    lengths : tuple of int
        Prefixes of the code that are scored; none where only the cost of training is asked for.
    seed : int
        Of the split and of the method.
    n_train : int
        Training rows.
    """

    data: str
    method: str
    n_bits: int
    lengths: tuple[int, ...]
    seed: int
    n_train: int


class Plan(NamedTuple):
    """What a reproduction is made of.

    Attributes
    ----------
    quick : bool
    runs : list of Run
        Those of one data set and seed stand together.
    left_out : list of str
        What the paper has and these runs have not, a sentence each.
    """

    quick: bool
    runs: list[Run]
    left_out: list[str]

    @property
    def sets(self) -> list[str]:
        """Names of the data sets, in the order of the runs."""
        return list(dict.fromkeys(run.data for run in self.runs))


def make_plan(quick: bool) -> Plan:
    """The plan of the command: all of the paper, or what two cores do in ten minutes.

    >>> make_plan(quick=True).sets
    ['usps', 'isolet']
    """
    left_out = ["STL10, Tiny-580K, Flickr-1M and GIST-1M are not available, so they are left out."]
    if quick:
        runs = [
            *(
                run
                for name in ("usps", "isolet")
                for seed in (0, 1)
                for run in _labelled(name, seed, ("BREs",))
            ),
            *_timed("usps", (500, 1000, 2000), 2000),
        ]
        left_out += [
            "The quick run leaves out MNIST, CIFAR-10, the large sets and BREs, and takes two seeds.",
        ]
        return Plan(True, runs, left_out)
    runs = [
        *(run for name, n_seeds in _SEEDS.items() for seed in range(n_seeds) for run in _labelled(name, seed)),
        *(run for name, info in SETS.items() if not info.labelled for run in _large(name, 0)),
        *_timed("mnist", (500, 1000, 2000, 4000, 8000), 4000),
    ]
    left_out.append(
        "SPLH, STHs, BREs and KSH learn from labels, which the large sets lack, so they have no line there."
    )
    return Plan(False, runs, left_out)


def _labelled(data: str, seed: int, without: tuple[str, ...] = ()) -> Iterator[Run]:
    """The runs of Tables 1 to 4 and of the figures of bits, on one split."""
    for method in METHODS:
        if method not in without:
            yield from _lengths(data, method, seed, 2000)


def _large(data: str, seed: int) -> Iterator[Run]:
    """The runs of a large set: 5,000 training points."""
    for method in (*_VARIANTS, "CGH", *_UNSUPERVISED, "StructH-Kernel"):
        yield from _lengths(data, method, seed, 5000)


def _lengths(data: str, method: str, seed: int, n_train: int) -> Iterator[Run]:
    """One fit whose prefixes are scored, or a fit a length."""
    if METHODS[method].by_prefix:
        yield Run(data, method, N_BITS, _LENGTHS, seed, n_train)
        return
    for n_bits in _LENGTHS:
        yield Run(data, method, n_bits, (n_bits,), seed, n_train)


def _timed(data: str, sizes: tuple[int, ...], most_corrected: int) -> Iterator[Run]:
    """The runs of the figure of training points; totally corrective ones up to so many points."""
    for n_train in sizes:
        for method in _VARIANTS:
            if method != "StructH-N" or n_train <= most_corrected:
                yield Run(data, method, _TIMED_BITS, (), 0, n_train)

"""The contract of an embedding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash._numerics.program import Program
from structhash._numerics.validation import check_count, check_nonnegative
from structhash.embeddings._targets import targets_by_cosine
from structhash.io.fields import Fields, check_fields
from structhash.pieces import Params

__all__ = ["MAX_POINTS", "Affine", "Embedded", "Embedding", "FactoredEmbedding", "LeftOut", "Temperatures"]

MAX_POINTS = 2**16  # their numbers are stored as uint16


class Affine(NamedTuple):
    """An embedding of the form (x - center)'matrix / scale."""

    center: NDArray[np.float64]  # (d,)
    matrix: NDArray[np.float64]  # (d, m)
    scale: float


class LeftOut(NamedTuple):
    """Training rows with the vectors that they would have had if the fit had not seen them."""

    rows: NDArray[np.int64]  # row numbers (k,) in X
    vectors: NDArray[Any]  # (k, m)


class Embedded(NamedTuple):
    """A fitted embedding, and the vectors of the points that bits are learned from."""

    state: Params
    vectors: NDArray[Any]  # (n_points, m)
    left_out: LeftOut | None = None  # where the embedding has it


class Temperatures(NamedTuple):
    """Temperatures at which points, rows and queries are coded.

    A temperature divides log-probabilities: at a higher one the probabilities are softer.
    """

    points: float = 1.0  # of the vectors that bits are learned from
    rows: float = 1.0
    queries: tuple[float, ...] = ()  # candidates, the preferred one first; none where they are coded as rows


@dataclass(frozen=True)
class Embedding:
    """Vectors in which similar rows are near, and how alike they are.

    A subclass is a frozen dataclass whose fields are settings; `state` is a dict of plain arrays. It gives
    `fit`, `embed` and `targets`. The other methods have defaults.

    Parameters
    ----------
    n_points : int
        Rows that bits are learned from, at most; up to 65,536.
    n_partners : int
        Partners of each point, at most; fewer where there are so many points that the pairs would exceed
        2,560,000.
    n_nearest : int
        How many of the partners are the nearest points by cosine, at most `n_partners`; the others are drawn at
        random.
    self_weight : float
        Weight of the query itself at distance 0 in the listwise loss (`structhash.masters.listwise`). A larger
        weight draws the codes of similar rows closer together.

    Attributes
    ----------
    labelled : bool
        Whether `fit` needs labels.
    wants_unlabeled : bool
        Whether labels alone are a poor basis, so that unlabeled rows should be given with them.
    takes_several_labels : bool
        Whether rows may have several labels.
    takes_single_rows : bool
        Whether one labelled row a class is enough where unlabeled rows are given.
    state_fields : tuple of Field or None
        What `state` holds. Models from files are held to it; an embedding without a declaration takes any
        numbers. "n_features" is the width of the rows.
    """

    labelled: ClassVar[bool] = False
    wants_unlabeled: ClassVar[bool] = False
    takes_several_labels: ClassVar[bool] = False
    takes_single_rows: ClassVar[bool] = False
    state_fields: ClassVar[Fields | None] = None

    n_points: int = 4000
    n_partners: int = 512
    n_nearest: int = 0
    self_weight: float = 0.0

    def __post_init__(self) -> None:
        check_count("n_points", self.n_points, 2)
        if self.n_points > MAX_POINTS:
            raise ValueError(f"n_points={self.n_points}: give at most {MAX_POINTS}")
        check_count("n_partners", self.n_partners)
        check_count("n_nearest", self.n_nearest, 0)
        check_nonnegative("self_weight", self.self_weight)

    def fit(
        self,
        X: NDArray[Any],
        labels: NDArray[Any] | None,
        unlabeled: NDArray[Any] | None,
        points: NDArray[np.int64],
        rng: np.random.Generator,
    ) -> Embedded:
        """Learn the embedding.

        Parameters
        ----------
        X : ndarray (n, d)
            Training rows.
        labels : int64 (n,), bool (n, L) or None
            Class number of each row; or which labels it has, where the embedding `takes_several_labels`; None
            where there are no labels.
        unlabeled : ndarray (m, d) or None
            Rows like those to be searched.
        points : int64 (k,)
            Numbers of the rows whose vectors are wanted: rows of `unlabeled` where it is given, else of X.
        rng : Generator

        Returns
        -------
        Embedded
            A row of X gets the vector that it would have if X lacked it, where the embedding has a closed form
            for that.

        Raises
        ------
        ValueError
            If all rows are the same.
        """
        raise NotImplementedError

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]:
        """Vectors (n, m) of rows X (n, d)."""
        raise NotImplementedError

    def targets(
        self,
        vectors: NDArray[Any],
        queries: NDArray[Any],
        partners: NDArray[Any],
        multiplicities: NDArray[Any],
        state: Params,
    ) -> NDArray[np.float64]:
        """The distribution over its partners that each point's codes should follow.

        By default it is a softmax of the cosines: see `targets_by_cosine`.

        Parameters
        ----------
        vectors : ndarray (k, m)
            Of all points.
        queries : int (q,)
        partners : int (q, p)
            Point numbers.
        multiplicities : float64 (p,)
            How many points each place in a list of partners represents.
        state : dict of arrays
            As `fit` gave it.

        Returns
        -------
        ndarray float64 (q, p)
            Each row sums to 1.
        """
        return targets_by_cosine(vectors, queries, partners, multiplicities)

    def check_state(self, state: Params, row: NDArray[Any]) -> NDArray[Any]:
        """The vector (1, m) of a row (1, d); ValueError unless a state from a file is as declared."""
        check_fields(self.state_fields, state, {"n_features": row.shape[1]})
        return self.embed(row, state)

    def new_class_share(self, X: NDArray[Any], state: Params) -> float:
        """See `DistilHash.new_class_share`, of rows X (n, d); 0 where there are no class probabilities."""
        return 0.0

    def affine(self, state: Params) -> Affine | None:
        """The affine form, if there is one; with it planes among vectors are planes among rows."""
        return None

    def express(self, program: Program, X: str, temperature: float, state: Params) -> str:
        """`embed` and `at_temperature` of a value X as steps of a program.

        Parameters
        ----------
        program : Program
        X : str
        temperature : float
        state : dict of arrays
            As `fit` gave it.

        Returns
        -------
        str
            The vectors as bits take them.

        Raises
        ------
        ValueError
            If the embedding has no such steps.
        """
        raise ValueError(f"the embedding {type(self).__name__} cannot be exported; learn with another one")

    def temperatures(self, labels: NDArray[Any] | None) -> Temperatures:
        """Temperatures for training rows of these classes; all 1 where the vectors are not probabilities."""
        return Temperatures()

    def at_temperature(self, vectors: NDArray[Any], temperature: float, state: Params) -> NDArray[Any]:
        """Vectors as bits take them, at a temperature.

        Parameters
        ----------
        vectors : ndarray (n, m)
            As `embed` gives them.
        temperature : float
        state : dict of arrays
            As `fit` gave it.

        Returns
        -------
        ndarray (n, k)
        """
        return vectors


class FactoredEmbedding(Embedding):
    """An embedding that `AdditiveHash` can code: an inner product says how alike a query and a row are."""

    def factors(self, vectors: NDArray[Any], state: Params, queries: bool = False) -> NDArray[np.float64]:
        """Vectors whose inner product says how alike a query and a row are.

        Parameters
        ----------
        vectors : ndarray (n, m)
            Of `embed`.
        state : dict
        queries : bool
            Whether they are queries.

        Returns
        -------
        float64 array (n, k)
            Numbers from -1 to 1 where they are rows.
        """
        raise NotImplementedError

    def most_alike(self, state: Params) -> float:
        """A number above any inner product, so that inexact sums have no distance below 0."""
        raise NotImplementedError

    def known_share(self, vectors: NDArray[Any], state: Params) -> float:
        """Estimated share of rows that are of classes with labels, from their vectors (n, m)."""
        return 1.0

    def n_class_numbers(self, state: Params) -> int:
        """How many factors of a row, from the first on, say its class, or that it is new; 0 for none."""
        return 0

    def n_row_numbers(self, state: Params) -> int:
        """How many factors, up to the last one, are the centred row, in queries at most 1 long; 0 for none."""
        return 0

"""What crosses the seams, and how a piece is found by its name.

A *kind* is a package or a module; its pieces are the public classes defined there. A new piece is one new
file (or one new class): nothing else needs an edit.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
from numbers import Number
from typing import Any, ClassVar, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from structhash._numerics.validation import brief

KINDS = {
    "rankings": "structhash.objectives.rankings",
    "losses": "structhash.objectives.losses",
    "regularizers": "structhash.objectives.regularizers",
    "embeddings": "structhash.embeddings",
    "families": "structhash.families",
    "starts": "structhash.families.starts",
    "schedules": "structhash.masters.schedules",
    "baselines": "structhash.baselines",
}


class Rankings(NamedTuple):
    """Which points ought to be near to, and which far from, each of Q query points.

    Query i owns ``near[near_ptr[i]:near_ptr[i+1]]`` and ``far[far_ptr[i]:far_ptr[i+1]]``; all are row numbers
    of one matrix. Neither part of a query is empty.
    """

    queries: NDArray[np.int64]
    near: NDArray[np.int32]
    near_ptr: NDArray[np.int64]
    far: NDArray[np.int32]
    far_ptr: NDArray[np.int64]
    weights: NDArray[np.float64] | None = None


class Pairs(NamedTuple):
    """Signed pair weights W = A + A' (n, n), > 0 pushes apart, and the row sums of W.

    A is kept in rows, row r being that of point ``rows[r]``: partners ``indices[indptr[r]:indptr[r+1]]`` and
    their `values`. Entries that join the same two points, in either order, add up.
    """

    rows: NDArray[np.integer]
    indptr: NDArray[np.int64]
    indices: NDArray[np.integer]
    values: NDArray[np.floating]
    degree: NDArray[np.floating]  # (n,), of the dtype of `values`

    @property
    def weights(self) -> csr_array:
        """W as a sparse matrix, made anew at each call."""
        rows, n = np.repeat(self.rows, np.diff(self.indptr)), len(self.degree)
        A = csr_array((self.values, (rows, self.indices.astype(np.int32, copy=False))), shape=(n, n))
        return csr_array(A + A.T)


class Solution(NamedTuple):
    """What a master says after one more bit: see `structhash.masters`."""

    weights: NDArray[np.float64]
    entries: NDArray[np.floating]
    objective: float
    gap: float
    rounds: int


Params = dict[str, NDArray[Any]]


@runtime_checkable
class Ranking(Protocol):
    """A ranking measure and the ranking that violates it most."""

    def score(self, relevant: NDArray[np.bool_]) -> float:
        """Value of a ranked list (n,), nearest first."""
        ...

    def most_violated(
        self,
        near: NDArray[np.float64],
        far: NDArray[np.float64],
        near_ptr: NDArray[np.int64],
        far_ptr: NDArray[np.int64],
    ) -> tuple[NDArray[np.float64], NDArray[np.int32], NDArray[np.int32]]:
        """The ranking of each query that maximises loss - w'dPsi (eq. infer), by its counts.

        w'dPsi = 2 / (P N) * (sum_k below_k far_k - sum_j above_j near_j). An irrelevant point moves ahead of a
        relevant one only for a strict gain, so that models are the same on every machine.

        Parameters
        ----------
        near, far : float64 arrays (sum P,) and (sum N,)
            Distances of the relevant and of the irrelevant points of Q queries.
        near_ptr, far_ptr : int64 arrays (Q + 1,)
            Query i owns ``near[near_ptr[i]:near_ptr[i + 1]]``, and ``far`` alike.

        Returns
        -------
        loss : float64 array (Q,)
            1 - score; 0 where a query lacks relevant or irrelevant points.
        above : int32 array (sum P,)
            Irrelevant points before each relevant one.
        below : int32 array (sum N,)
            Relevant points after each irrelevant one.

        Raises
        ------
        ValueError
            If a distance is not finite or the pointers do not cut the arrays.
        """
        ...


@runtime_checkable
class Embedding(Protocol):
    """Vectors in which near means alike, and how alike they are: see `structhash.embeddings`.

    `state` is a dict of plain arrays. `labelled` says whether labels are needed; `pull`, how much codes shall
    draw together what is alike (`structhash.masters.listwise`); `nearest`, how many of a point's partners are
    those of largest cosine; `sample`, how many points bits are learned from and how many partners each has, at
    most. One that is linear may have ``linear(state)``, a centre (d,), a matrix (d, k) and a scale, so that
    planes in it are planes among the rows. One in which points, rows and queries are not coded alike has
    ``raised(Z)``, the vectors to learn bits from, ``raised(Z, power)``, those to code rows and queries from,
    ``row_power(y)``, and a tuple `query_powers` to choose from, those best as a rule first.
    """

    labelled: ClassVar[bool]
    pull: ClassVar[float]
    nearest: ClassVar[int]
    sample: ClassVar[tuple[int, int]]

    def fit(
        self, X: NDArray[Any], y: Any, others: Any, points: NDArray[np.int64], rng: np.random.Generator
    ) -> tuple[Params, NDArray[Any]]:
        """State, learned from rows X (n, d) and labels y (n,) or None, and the vectors of the rows `points`.

        They are numbered in `others` (m, d), rows like those to be searched, or, where it is None, in X, and
        then are such as they would be had X not held them.
        """
        ...

    def embed(self, X: NDArray[Any], state: Params) -> NDArray[Any]: ...

    def targets(
        self, Z: NDArray[Any], queries: NDArray[Any], partners: NDArray[Any], counts: NDArray[Any]
    ) -> NDArray[np.float64]:
        """How the chance to be like each query (q,) is spread over its partners (q, m): rows that sum to 1.

        A partner stands for `counts` (m,) points like it.
        """
        ...


@runtime_checkable
class Start(Protocol):
    """Planes from which a family begins its search: ``normal`` (d, m) and ``offset`` (m,).

    In `memo` it may keep, under a key of its own, what depends on Z alone, which all bits of a fit share.
    """

    def __call__(
        self, Z: NDArray[Any], pairs: Pairs, rng: np.random.Generator, memo: dict[Any, Any] | None = None
    ) -> Params: ...


@runtime_checkable
class Family(Protocol):
    """A family of bits: 1 where ``decide > 0``. `state` and `params` are dicts of plain arrays.

    X comes as it was given: float32 or float64, but also float16, integers or a memory map, to be turned into
    floats some rows at a time (`_numerics.blocks.floats`). A family whose bits are sides of planes among the
    rows may have ``planes(state, params)``, which encoding then uses in place of `features` and `decide`:
    whoever overrides one of these overrides all three.
    """

    def prepare(self, X: NDArray[Any], rng: np.random.Generator) -> Params: ...

    def features(self, X: NDArray[Any], state: Params) -> NDArray[Any]: ...

    def learn(self, Z: NDArray[Any], pairs: Pairs, rng: np.random.Generator, start: Start) -> Params: ...

    def decide(self, Z: NDArray[Any], params: Params) -> NDArray[Any]: ...


@runtime_checkable
class Schedule(Protocol):
    """Which weights the master may move: columns of all bits to free columns, and back."""

    def reduce(
        self, columns: NDArray[Any], costs: NDArray[np.float64]
    ) -> tuple[NDArray[Any], NDArray[np.float64]]: ...

    def expand(self, u: NDArray[np.float64], n_bits: int) -> NDArray[np.float64]: ...


def snake(name: str) -> str:
    """Registry name of a class: ``SquaredHinge`` -> ``squared_hinge``, ``NDCG`` -> ``ndcg``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def classes(kind: str) -> dict[str, type]:
    """The pieces of a kind, by registry name.

    Raises
    ------
    ValueError
        If there is no such kind.
    """
    if kind not in KINDS:
        raise ValueError(f"no kind of piece is called {kind!r}; there are {', '.join(sorted(KINDS))}")
    root = importlib.import_module(KINDS[kind])
    modules = [root]
    for entry in pkgutil.iter_modules(getattr(root, "__path__", [])):
        if not entry.name.startswith("_"):
            modules.append(importlib.import_module(f"{root.__name__}.{entry.name}"))
    found = {}
    for module in modules:
        for name, member in vars(module).items():
            own = inspect.isclass(member) and member.__module__ == module.__name__
            if own and not name.startswith("_"):
                found[snake(name)] = member
    return dict(sorted(found.items()))


def names(kind: str) -> list[str]:
    """Sorted registry names of a kind.

    Examples
    --------
    >>> from structhash.pieces import names
    >>> names("schedules")
    ['stagewise', 'totally_corrective']
    """
    return list(classes(kind))


def is_auto(spec: Any) -> bool:
    """Whether a setting leaves the choice of a piece to the method."""
    return isinstance(spec, str) and spec == "auto"


def load(kind: str, spec: Any) -> Any:
    """Make a piece from its name and settings, such as ``"ndcg:k=10,normalizer=paper"``.

    A piece comes back as it is. A setting that the piece does
    not know belongs to the value before it, so that pieces nest:
    ``"structhash:ranking=ndcg:k=10,normalizer=paper,C=30"``; so does what stands in open parentheses.

    Parameters
    ----------
    kind : str
        One of ``KINDS``.
    spec : str or piece
        Name, then a colon and ``key=value`` settings, comma-separated, where it has any.

    Returns
    -------
    piece

    Raises
    ------
    ValueError
        If the kind, the name or a setting is not known, or a setting's value is refused.

    Examples
    --------
    >>> from structhash.pieces import load
    >>> load("rankings", "ndcg:k=10")
    NDCG(k=10, normalizer='ideal')
    """
    if isinstance(spec, type | Number | None | list | tuple | dict):
        raise ValueError(
            f"{brief(spec)} is no piece of {kind}: give a name ({', '.join(names(kind))}) or an object"
        )
    if not isinstance(spec, str):
        return spec
    return build(classes(kind), kind, spec)


def build(known: dict[str, type], kind: str, spec: str) -> Any:
    """`load` over a given table of classes."""
    name, _, rest = spec.strip().partition(":")
    if name not in known:
        raise ValueError(f"no piece of {kind} is called {name!r}; there are {', '.join(known)}")
    words = settings(known[name], spec, rest)
    try:
        return known[name](**words)
    except TypeError as error:
        raise ValueError(f"{spec!r}: a setting has a value of the wrong type ({error})") from error


def settings(piece: type, spec: str, rest: str) -> dict[str, Any]:
    """The ``key=value`` part of a spec as constructor arguments of `piece`."""
    allowed = [key for key in inspect.signature(piece).parameters if key not in ("args", "kwargs")]
    words: dict[str, str] = {}
    last = ""
    for part in rest.split(",") if rest else []:
        key, equals, value = part.partition("=")
        key = key.strip()
        if equals and key in allowed and key not in words:
            words[last := key] = value.strip()
        elif last and (":" in words[last] or words[last].count("(") > words[last].count(")")):
            words[last] += f",{part}"
        elif key in words:
            raise ValueError(f"{spec!r}: {key} is given twice; give it once")
        else:
            options = ", ".join(allowed) or "none"
            raise ValueError(f"{spec!r}: {part!r} is not one of its settings as key=value; it has {options}")
    return {key: literal(value) for key, value in words.items()}


def literal(text: str) -> Any:
    """A number, None, True or False where the text is one, else the text itself."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def spell(piece: Any) -> Any:
    """The string that `load` turns back into this dataclass piece; other values come back as they are."""
    fields = getattr(piece, "__dataclass_fields__", None)
    if fields is None:
        return piece
    changed = [f"{key}={getattr(piece, key)}" for key, f in fields.items() if getattr(piece, key) != f.default]
    return snake(type(piece).__name__) + (":" + ",".join(changed) if changed else "")

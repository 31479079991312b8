"""What `compare` compares, by name: encoders, which rows they are fitted on, which settings are chosen."""

from __future__ import annotations

import itertools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from structhash.estimators import CGHash, StructHash
from structhash.pieces import build, classes, load

PIECES = {
    "ranking": "rankings",
    "loss": "losses",
    "regularizer": "regularizers",
    "family": "families",
    "start": "starts",
    "schedule": "schedules",
}  # kind of each setting that is a piece
HELD_OUT = 0.25  # share of the training rows on which alternatives are judged


class Method(NamedTuple):
    """One line of a comparison."""

    name: str
    encoders: tuple[Any, ...]  # alternatives; none for float vectors
    on_database: bool = False

    @property
    def is_float(self) -> bool:
        return not self.encoders

    def fit(self, X: NDArray[Any], y: NDArray[Any], n_bits: int, seed: int) -> tuple[Any, str]:
        """A fitted encoder, and which alternative it is ("" where there is one only).

        Alternatives are fitted on three quarters of the rows and judged by their `score` (mAP) on the others;
        the best is fitted anew on all rows.
        """
        encoders = [prepare(encoder, n_bits, seed) for encoder in self.encoders]
        if len(encoders) == 1:
            return encoders[0].fit(X, y), ""
        order = np.random.default_rng(seed).permutation(len(X))
        held = int(HELD_OUT * len(X))
        judge, learn = order[:held], order[held:]
        scores = [clone(encoder).fit(X[learn], y[learn]).score(X[judge], y[judge]) for encoder in encoders]
        best = encoders[int(np.argmax(scores))]
        return best.fit(X, y), repr(best)


def table() -> dict[str, type]:
    """Every encoder by its name on the command line."""
    return {"structhash": StructHash, "cghash": CGHash, **classes("baselines")}


def parse_method(spec: str) -> Method:
    """A `Method` from words.

    Parameters
    ----------
    spec : str
        A name of `table`, then settings as `pieces.load` reads them. ``a|b`` in a setting gives alternatives,
        one of which is chosen on a split of the training rows. ``@database`` behind the name of a method that
        needs no labels fits it on the database rows. ``float`` ranks the float vectors by L2.

    Raises
    ------
    ValueError
        If the name or a setting is not known.

    Examples
    --------
    >>> from structhash.methods import parse_method
    >>> len(parse_method("structhash:ranking=auc|ndcg:k=10|sndcg,C=30").encoders)
    3
    >>> parse_method("itq@database").on_database
    True
    """
    spec = spec.strip()
    if spec in ("float", "float@train", "float@database"):  # nothing is fitted
        return Method("float", ())
    name, colon, rest = spec.partition(":")
    name, at, where = name.partition("@")
    if at and where not in ("train", "database"):
        raise ValueError(f"{spec!r}: fit on @train or @database rows, not @{where}")
    known = table()
    if name not in known:
        raise ValueError(f"no method is called {name!r}; there are {', '.join([*known, 'float'])}")
    choices = [part.split("|") for part in rest.split(",")]
    for parts in choices:  # "key=a|b" means key=a and key=b
        key = parts[0].partition("=")[0]
        parts[1:] = [f"{key}={part}" for part in parts[1:]]
    encoders = tuple(
        build(known, "methods", name + colon + ",".join(words)) for words in itertools.product(*choices)
    )
    for encoder in encoders:  # a piece that is not known shall be said now, not after other methods' hours
        for key, value in encoder.get_params(deep=False).items():
            if key in PIECES:
                load(PIECES[key], value)
    on_database = where == "database"
    if on_database and get_tags(encoders[0]).target_tags.required:
        raise ValueError(
            f"{spec!r}: {name} learns from labels, which database rows do not have; drop @database"
        )
    return Method(spec, encoders, on_database)


def prepare(encoder: Any, n_bits: int, seed: int) -> Any:
    """A copy for this length and seed; a seed that its settings name stays."""
    encoder = clone(encoder).set_params(n_bits=n_bits)
    if encoder.get_params().get("random_state", seed) is None:
        encoder.set_params(random_state=seed)
    return encoder


def split_specs(text: str) -> list[str]:
    """Method specs from one comma-separated text: a part that is a setting belongs to the method before it.

    Examples
    --------
    >>> from structhash.methods import split_specs
    >>> split_specs("structhash:ranking=ndcg:k=10,C=3,itq@database,lsh")
    ['structhash:ranking=ndcg:k=10,C=3', 'itq@database', 'lsh']
    """
    specs: list[str] = []
    for part in text.split(","):
        if "=" in part.partition(":")[0] and specs:
            specs[-1] += f",{part}"
        elif part.strip():
            specs.append(part.strip())
    return specs

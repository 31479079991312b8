"""What `compare` compares, by name: encoders, which rows they are fitted on, which settings are chosen."""

from __future__ import annotations

import contextlib
import inspect
import itertools
from typing import Any, NamedTuple

from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils import get_tags

from structhash._numerics.randomness import generator
from structhash.estimators.both import CGHash, StructHash
from structhash.pieces import build, classes
from structhash.supervision.base import check_partners
from structhash.training.selection import best, trials

VARIANTS = [  # of StructHash, beside its default: for new classes, without labels, and the paper's
    "structhash:embedding=metric",
    "structhash@database:embedding=cosine",
    "structhash:ranking=sndcg",
]
LONGEST = 2**20  # bits, more than any code has: settings are checked before its length is known


class Method(NamedTuple):
    """One line of a comparison."""

    name: str
    encoders: tuple[Any, ...]  # alternatives; none for float vectors
    on_database: bool = False

    @property
    def is_float(self) -> bool:
        return not self.encoders

    @property
    def own_length(self) -> bool:
        """Whether the code is as long as the method says, such as a bit a feature, whatever others have."""
        return bool(self.encoders) and has_own_length(type(self.encoders[0]))

    def lengths(self, asked: list[int]) -> list[int]:
        """Lengths to fit where those are asked for; 0 alone where they do not matter."""
        return [0] if self.is_float or self.own_length else asked

    def fit(
        self, X: NDArray[Any], y: NDArray[Any], n_bits: int, seed: int, database: NDArray[Any] | None = None
    ) -> tuple[Any, str]:
        """A fitted encoder, and which alternative it is ("" where there is one only). See `prepare` for n_bits.

        Alternatives are fitted on three quarters of the rows and judged by their `score` (mAP) on the others;
        the best is fitted anew on all rows. With `on_database` the rows of the database are what is fitted, or,
        by a method that takes unlabeled rows beside those of X, such rows.
        """
        encoders = [prepare(encoder, n_bits, seed) for encoder in self.encoders]
        more: dict[str, Any] = {}
        if self.on_database and takes_unlabeled(encoders[0]):
            more = {"unlabeled": database}
        elif self.on_database:
            return encoders[0].fit(database), ""
        if len(encoders) == 1:
            return encoders[0].fit(X, y, **more), ""
        chosen = best(trials(encoders, X, y, seed, **more))
        return chosen.fit(X, y, **more), repr(chosen)


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
        needs no labels fits it on the database rows; StructHash has these beside its labelled training rows.
        ``float`` ranks the float vectors by L2.

    Raises
    ------
    ValueError
        If the name or a setting is not known, or a setting's value is refused.

    Examples
    --------
    >>> from structhash.evaluation.methods import parse_method
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
    on_database = where == "database"
    for encoder in encoders:  # a bad setting shall be said now, not after other methods' hours
        check_settings(encoder, on_database)
    if on_database and get_tags(encoders[0]).target_tags.required:
        raise ValueError(
            f"{spec!r}: {name} learns from labels, which database rows do not have; drop @database"
        )
    return Method(spec, encoders, on_database)


def every_method() -> list[str]:
    """A spec for each method with its defaults, again with @database where labels are not needed; `VARIANTS`.

    Examples
    --------
    >>> from structhash.evaluation.methods import every_method
    >>> {"structhash", "itq", "itq@database", "float"} <= set(every_method())
    True
    """
    specs = []
    for name, encoder in table().items():
        specs += [name] if get_tags(encoder()).target_tags.required else [name, f"{name}@database"]
        specs += VARIANTS if name == "structhash" else []
    return [*specs, "float"]


def takes_unlabeled(encoder: Any) -> bool:
    """Whether an encoder can be given rows without labels beside those with labels."""
    return "unlabeled" in inspect.signature(type(encoder).fit).parameters


def has_own_length(encoder: type) -> bool:
    """Whether a class has a length of its own, n_bits=None, unless told otherwise."""
    return inspect.signature(encoder).parameters["n_bits"].default is None


def bit_by_bit(encoder: Any) -> bool:
    """Whether an encoder learns from comparisons, one `Step` a bit, and so from any supervision."""
    return hasattr(type(encoder), "steps")  # a baseline may have a setting of this name


def check_settings(encoder: Any, on_database: bool = False) -> None:
    """Refuse settings before there are data.

    `fit` begins with its settings, so one that gets as far as to touch the data has accepted them.

    Raises
    ------
    ValueError, TypeError
        What `fit` raises.
    """
    generator(getattr(encoder, "random_state", None))
    if hasattr(encoder, "n_near"):
        check_partners(encoder.n_near, encoder.n_far)
    data = Untouchable()
    more: dict[str, Any] = {"unlabeled": data} if on_database and takes_unlabeled(encoder) else {}
    with contextlib.suppress(TouchedError):  # fit knows the length
        prepare(encoder, 0 if encoder.n_bits is None else LONGEST, 0).fit(data, data, **more)


class TouchedError(BaseException):
    """No `Exception`, so that nothing on the way takes it for one of its own."""


class Untouchable:
    """Data that raise `TouchedError` when anything is asked of them."""

    def __getattr__(self, name: str) -> Any:
        raise TouchedError

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TouchedError

    def __len__(self) -> int:
        raise TouchedError


def prepare(encoder: Any, n_bits: int, seed: int) -> Any:
    """A copy for this length, 0 for the one it has, and seed; a seed that its settings name stays."""
    encoder = clone(encoder)
    if n_bits:
        encoder.set_params(n_bits=n_bits)
    if encoder.get_params().get("random_state", seed) is None:
        encoder.set_params(random_state=seed)
    return encoder


def split_specs(text: str) -> list[str]:
    """Method specs from one comma-separated text: a part that is a setting belongs to the method before it.

    Examples
    --------
    >>> from structhash.evaluation.methods import split_specs
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

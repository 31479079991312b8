"""Method specs: text such as ``"itq@database:max_iter=30"``, and the encoders that it names."""

from __future__ import annotations

import itertools
import re
from typing import Any, NamedTuple

from numpy.typing import NDArray
from sklearn.base import clone

from structhash._numerics.validation import describe
from structhash.estimators.base import HashEncoder
from structhash.estimators.contract import NEAR_READER
from structhash.estimators.loading import ESTIMATORS
from structhash.estimators.reader import EVERY_READER
from structhash.pieces import build, classes
from structhash.training.selection import best, trials

__all__ = [
    "VARIANTS",
    "Method",
    "as_method",
    "code_traits",
    "encoders_by_name",
    "every_method",
    "parse_method",
    "partner_counts",
    "prepare",
    "spec_name",
    "split_specs",
    "with_traits",
]

VARIANTS = (  # of DistilHash: for classes without labels, and without any labels
    "distilhash:embedding=metric",
    "distilhash@database:embedding=centered",
)


class Method(NamedTuple):
    """One method of a comparison.

    Attributes
    ----------
    name : str
        Its spec, or any other name.
    encoders : tuple of HashEncoder
        Alternatives, one of which is chosen on the training rows. An empty tuple means the float vectors.
    on_database : bool
        Whether to fit on the database rows, without labels.
    reader : str
        How queries are read, as `fit_reader` takes it; ``""`` for every distance that the method has.
    """

    name: str
    encoders: tuple[Any, ...]
    on_database: bool = False
    reader: str = ""

    @property
    def is_float(self) -> bool:
        """Whether the vectors themselves are ranked; nothing is fitted."""
        return not self.encoders

    @property
    def own_length(self) -> bool:
        """Whether the method derives the length of its code from the rows."""
        return bool(self.encoders) and self.encoders[0].own_length

    def lengths(self, n_bits: list[int]) -> list[int]:
        """The requested code lengths that are fitted; only 0 where the method has a length of its own."""
        return [0] if self.is_float or self.own_length else n_bits

    def fit(
        self, X: NDArray[Any], y: Any, n_bits: int, seed: int, database: NDArray[Any] | None = None
    ) -> tuple[Any, str]:
        """Fit a copy of the encoder, or of the best alternative.

        Alternatives are fitted on three quarters of the training rows and judged by their `score`, mean average
        precision, on the other quarter. The best one is then fitted on all training rows.

        Parameters
        ----------
        X, y : ndarrays (n, d), (n,) or (n, L)
            Training rows and their labels; y is None where there are none. Indicators (n, L) are of several
            labels a row.
        n_bits : int
            Length of the code; 0 for the length that the encoder has.
        seed : int
            Becomes `random_state` where that is None, and draws the held-out rows.
        database : ndarray (m, d), optional
            Used where `on_database` is true: as `unlabeled` rows, or in place of X and y where the encoder does
            not take such rows.

        Returns
        -------
        encoder : HashEncoder
            Fitted.
        chosen : str
            The alternative that was chosen; ``""`` where there is only one.

        Raises
        ------
        ValueError
            If the rows or labels do not suit the encoder.
        """
        encoders = [prepare(encoder, n_bits, seed) for encoder in self.encoders]
        more: dict[str, Any] = {}
        if self.on_database and encoders[0].takes_unlabeled:
            more = {"unlabeled": database}
        elif self.on_database:
            return encoders[0].fit(database), ""
        if len(encoders) == 1:
            return encoders[0].fit(X, y, **more), ""
        chosen = best(trials(encoders, X, y, seed, **more))
        return chosen.fit(X, y, **more), repr(chosen)


def encoders_by_name() -> dict[str, type[HashEncoder]]:
    """Every class of encoder, by its name in method specs."""
    return {**ESTIMATORS, **classes("baselines")}


def code_traits(encoder: HashEncoder | type[HashEncoder], distance: str) -> dict[str, bool]:
    """What a line of results says about the codes of its method.

    Parameters
    ----------
    encoder : HashEncoder, or its class
    distance : str
        The distance of the line.

    Returns
    -------
    dict of bool
        ``"reads_floats"``: whether the distance compares floats of both rows. ``"one_hot"``: whether the place
        of the last bit that is set says all of a code.

    Examples
    --------
    >>> from structhash.baselines.predicted_class import PredictedClass
    >>> code_traits(PredictedClass, "plain")
    {'reads_floats': False, 'one_hot': True}
    """
    reads_floats = encoder.own_distance_reads_floats and distance == encoder.own_distance_
    return {"reads_floats": reads_floats, "one_hot": encoder.codes_are_one_hot}


def spec_name(spec: str) -> str:
    """The name of the method in a method spec.

    >>> spec_name("itq@database:max_iter=30")
    'itq'
    """
    return re.split("[:@]", spec)[0]


def with_traits(saved: dict[str, Any]) -> dict[str, Any]:
    """A saved line or result with its `code_traits`.

    Traits that an earlier version did not save are those of the class of the method in `encoders_by_name`. A
    method without such a class has neither trait.
    """
    if {"reads_floats", "one_hot"} <= saved.keys():
        return saved
    encoder = encoders_by_name().get(spec_name(saved["method"]), HashEncoder)
    return code_traits(encoder, saved["distance"]) | saved


def parse_method(spec: str) -> Method:
    """Make a `Method` from a method spec.

    A spec is a name of `encoders_by_name`, then settings: ``"structhash:ranking=auc,C=3"``. In a setting,
    ``a|b`` gives alternatives, one of which is chosen on the training rows. ``@database`` after the name fits
    on the database rows: an encoder that takes unlabeled rows gets them beside its labelled training rows, any
    other learns from them alone. A name of `EVERY_READER`, such as ``@real`` or ``@auto``, reads the queries in
    this way only; readers are fitted to the rows that the method is fitted on. Codes that are no bits are read
    in one way, which ``@auto`` names, too; those of `AdditiveHash` also by ``@near``. ``"float"`` ranks the
    vectors themselves by Euclidean distance.

    Parameters
    ----------
    spec : str

    Returns
    -------
    Method

    Raises
    ------
    ValueError, TypeError
        If a name or a setting is not known, a value is not allowed, or database rows cannot be learned from.

    Examples
    --------
    >>> from structhash.evaluation import parse_method
    >>> len(parse_method("structhash:ranking=auc|ndcg:k=10|sndcg,C=30").encoders)
    3
    >>> parse_method("itq@database@tables:max_iter=30").reader
    'tables'
    """
    spec = spec.strip()
    if spec in ("float", "float@train", "float@database"):  # nothing is fitted
        return Method("float", ())
    name, colon, rest = spec.partition(":")
    name, *words = name.split("@")
    rows, reader = _rows_and_reader(spec, words)
    if name == "float":
        raise ValueError(f"{spec!r}: the vectors themselves have no settings and no reader; give 'float'")
    known = encoders_by_name()
    if name not in known:
        raise ValueError(f"no method is called {name!r}; there are {', '.join([*known, 'float'])}")
    encoders = tuple(build(known, "methods", f"{name}{colon}{settings}") for settings in _alternatives(rest))
    reader = _known_reader(spec, name, reader, encoders[0])
    method = Method(spec, encoders, rows == "database", reader)
    for encoder in encoders:  # refused now, not after other methods have been fitted for hours
        encoder.check_settings()
    if method.on_database and not encoders[0].takes_unlabeled:
        _check_without_labels(method, name)
    return method


def as_method(method: Any) -> Method:
    """A method as it is, or the one that a text names; TypeError for anything else."""
    if isinstance(method, str):
        return parse_method(method)
    if not isinstance(method, Method):
        raise TypeError(f"{describe(method)} is no method; give a text such as 'itq' or 'structhash:C=3'")
    return method


def every_method() -> list[str]:
    """The specs that ``all`` means.

    They are every method with its defaults, each that can learn without labels also with ``@database``, the
    `VARIANTS` of DistilHash, and the float vectors.

    Examples
    --------
    >>> from structhash.evaluation import every_method
    >>> {"distilhash", "structhash", "itq", "itq@database", "float"} <= set(every_method())
    True
    """
    specs = []
    for name, encoder in encoders_by_name().items():
        specs += [name] if encoder().needs_y() else [name, f"{name}@database"]
    return [*specs, *VARIANTS, "float"]


def split_specs(text: str) -> list[str]:
    """Split a comma-separated text into method specs; a part that is a setting belongs to the spec before it.

    Examples
    --------
    >>> from structhash.evaluation import split_specs
    >>> split_specs("structhash:ranking=ndcg:k=10,C=3,itq@database,lsh")
    ['structhash:ranking=ndcg:k=10,C=3', 'itq@database', 'lsh']
    """
    specs: list[str] = []
    for part in _split_at_commas(text):
        if "=" in part.partition(":")[0] and specs:
            specs[-1] += f",{part}"
        elif part.strip():
            specs.append(part.strip())
    return specs


def prepare(encoder: HashEncoder, n_bits: int, seed: int) -> Any:
    """Copy an encoder for one code length and seed.

    Parameters
    ----------
    encoder : HashEncoder
        It does not change.
    n_bits : int
        Length of the code; 0 leaves the length that the encoder has.
    seed : int
        Becomes `random_state` where the encoder has this setting and it is None.

    Returns
    -------
    HashEncoder
        Not fitted.
    """
    encoder = clone(encoder)
    if n_bits:
        encoder.set_params(n_bits=n_bits)
    if encoder.get_params().get("random_state", seed) is None:
        encoder.set_params(random_state=seed)
    return encoder


def partner_counts(encoder: HashEncoder) -> dict[str, Any]:
    """The settings `n_near` and `n_far` of an encoder, for a `Supervision`; empty where it has none."""
    settings = encoder.get_params()
    return {name: settings[name] for name in ("n_near", "n_far") if name in settings}


def _rows_and_reader(spec: str, words: list[str]) -> tuple[str, str]:
    """The rows to fit on and the reader that the words after ``@`` name; ``""`` for one that is not named."""
    kinds = {"rows": ("train", "database"), "reader": (*EVERY_READER, NEAR_READER)}
    found = dict.fromkeys(kinds, "")
    for word in words:
        kind = next((kind for kind, allowed in kinds.items() if word in allowed), None)
        if kind is None:
            raise ValueError(
                f"{spec!r}: fit on @train or @database rows, not @{word}; or read queries by one of "
                f"@{', @'.join(kinds['reader'])}"
            )
        if found[kind]:
            raise ValueError(f"{spec!r} names @{found[kind]} and @{word}; give one of them")
        found[kind] = word
    return found["rows"], found["reader"]


def _known_reader(spec: str, name: str, reader: str, encoder: HashEncoder) -> str:
    """The reader that a spec names, ``""`` for the only one of codes; ValueError if the method lacks it."""
    if reader == NEAR_READER and not encoder.reads_near:
        raise ValueError(f"{spec!r}: @near is for additivehash; drop it")
    if encoder.codes_are_bits or reader == NEAR_READER:
        return reader
    if reader not in ("", "auto"):
        ways = "by @near or in one other way" if encoder.reads_near else "in one way"
        raise ValueError(
            f"{spec!r}: codes of {name} are numbers, not bits, and are read {ways}; drop @{reader}, or "
            "give @auto"
        )
    return ""


def _alternatives(settings: str) -> list[str]:
    """Every combination of the alternatives in ``key=a|b`` settings."""
    choices = []
    for part in _split_at_commas(settings):
        first, *others = part.split("|")
        key = first.partition("=")[0]
        choices.append([first, *(f"{key}={other}" for other in others)])
    return [",".join(words) for words in itertools.product(*choices)]


def _split_at_commas(text: str) -> list[str]:
    """Split a text at the commas outside parentheses.

    >>> _split_at_commas("itq,posterior:query_candidates=(2,1),lsh")
    ['itq', 'posterior:query_candidates=(2,1)', 'lsh']
    """
    parts = [""]
    for character in text:
        if character == "," and parts[-1].count("(") == parts[-1].count(")"):
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _check_without_labels(method: Method, name: str) -> None:
    """ValueError unless the method can be fitted on the database rows alone."""
    for encoder in method.encoders:
        if encoder.needs_y():
            raise ValueError(
                f"{method.name!r}: {name} learns from labels, which database rows do not have; drop @database"
            )
    if len(method.encoders) > 1:
        raise ValueError(
            f"{method.name!r}: alternatives are chosen by labels, which database rows do not have; "
            "name one setting, or drop @database"
        )

"""``structhash fit``: a model from a data file."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from structhash._numerics.validation import check_positive
from structhash.cli.console import Unfinished, say
from structhash.cli.display import bar, print_facts, print_table
from structhash.cli.inputs import (
    Choices,
    check_columns,
    check_labels,
    read_judgements,
    split_methods,
    where_labels_are,
)
from structhash.cli.outputs import check_output
from structhash.estimators.base import HashEncoder
from structhash.evaluation.methods import Method, encoders_by_name, partner_counts, prepare
from structhash.io import Dataset, read, suffixes
from structhash.supervision import Neighbours, Qrels
from structhash.training.selection import best, trials

__all__ = ["fit", "learn"]

_DEFAULT_BITS = 64


class _Fitted(NamedTuple):
    """A fitted encoder, its name or settings in words, and the lines about what --tune tried."""

    encoder: HashEncoder
    name: str
    tried: list[dict[str, Any]]


def fit(
    data: Path,
    out: Path,
    spec: str,
    *,
    bits: int | None,
    neighbours: bool,
    unlabeled: Path | None,
    tune: float | None,
    seed: int,
    force: bool,
    as_json: bool,
    choices: Choices,
) -> None:
    """Learn a model and save it.

    Parameters
    ----------
    data : path
        A data file.
    out : path
        The model file to write.
    spec : str
        One method spec.
    bits : int or None
        None for 64, or the length that the method derives from the rows.
    neighbours : bool
        Whether to learn from nearest neighbours in place of labels.
    unlabeled : path or None
        A data file of rows like those to be searched.
    tune, seed : float or None, int
        Seconds in which settings are tried on held-out rows; the seed of everything that is drawn at random.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to report as JSON.
    choices : dict
        How DATA is read: keywords of `structhash.io.read`.
    """
    check_output(out, data, unlabeled, makes="model", force=force, refused=suffixes())
    method = _one_method(spec, bits)
    if tune is not None:
        _check_tune(tune, method, neighbours, unlabeled)
    method = method._replace(on_database=unlabeled is not None)  # `Method.fit` then gives it these rows
    n_bits = bits or (0 if method.own_length else _DEFAULT_BITS)
    dataset = read(data, **choices)
    y = _supervision(method, dataset, data, neighbours, tune is not None)
    others = None if unlabeled is None else _read_unlabeled(dataset, data, unlabeled, method, choices)
    began = time.perf_counter()
    fitted = _learn_method(method, dataset.X, y, n_bits, seed, tune, others)
    seconds = time.perf_counter() - began
    _save(fitted.encoder, dataset.names, out, force)
    facts = _facts(fitted, dataset, seconds, out)
    if as_json:
        print_facts(facts | ({"tried": fitted.tried} if fitted.tried else {}), as_json)
        return
    uses_labels = not neighbours and (tune is not None or _uses_labels(method))
    _print_tried(fitted.tried)
    print_facts(
        facts | _in_words(facts, dataset, "" if uses_labels else f" (not used by {method.name})"), False
    )


def learn(encoder: HashEncoder, X: NDArray[Any], y: Any, **more: Any) -> None:
    """Fit an encoder, with a progress bar over its bits.

    Parameters
    ----------
    encoder : HashEncoder
    X, y, **more
        The arguments of its `steps`.
    """
    with bar("fit", encoder.n_bits, "bits") as advance:
        for _ in encoder.steps(X, y, **more):
            advance()


def _learn_method(
    method: Method, X: NDArray[Any], y: Any, n_bits: int, seed: int, tune: float | None, others: Any
) -> _Fitted:
    """Learn with the settings that are given, that --tune finds, or that are the best of the alternatives."""
    if tune is not None:
        return _fit_tuned(method, X, y, n_bits, seed, tune)
    if len(method.encoders) > 1:
        return _Fitted(*method.fit(X, y, n_bits, seed, others), [])
    encoder = prepare(method.encoders[0], n_bits, seed)
    learn(encoder, X, y, **({} if others is None else {"unlabeled": others}))
    return _Fitted(encoder, method.name, [])


def _save(encoder: HashEncoder, names: list[str] | None, out: Path, force: bool) -> None:
    """Save a model with the names of its columns; where that fails, in the temporary folder, and say so."""
    if names:
        encoder.name_columns(names)
    try:
        encoder.save(out, force)
    except OSError as error:
        reason = error.strerror or str(error)
        try:
            rescued = Path(tempfile.mkdtemp(prefix="structhash-")) / "model"
            encoder.save(rescued)
        except OSError:
            raise Unfinished(f"{reason}; the model is lost") from error
        raise Unfinished(f"{reason}; the model is in {rescued}, move it from there") from error


def _one_method(spec: str, bits: int | None) -> Method:
    """The method of a spec; ValueError unless it is one, learns from the rows at hand, and has one length."""
    found = split_methods(spec)
    if len(found) > 1 or found[0].is_float or found[0].on_database:
        raise ValueError(f"--method {spec!r}: name one method that learns from DATA, such as distilhash")
    if bits and "n_bits=" in spec:
        raise ValueError(f"{spec!r} and --bits {bits}: give the length of the code once")
    return found[0]


def _supervision(method: Method, dataset: Dataset, path: Path, neighbours: bool, tuned: bool) -> Any:
    """The supervision of a method: neighbours where they are requested, else labels, else judgements.

    Parameters
    ----------
    method : Method
    dataset : Dataset
    path : path
        The file that the data set came from.
    neighbours : bool
        Whether neighbours are requested.
    tuned : bool
        Whether settings are to be tried, which needs labels.

    Returns
    -------
    Neighbours, Qrels, ndarray (n,) or (n, L), or None
    """
    encoder: HashEncoder = method.encoders[0]
    several = len(method.encoders) > 1
    counts: dict[str, Any] = partner_counts(encoder)
    if neighbours:
        if several or not encoder.takes_supervision:
            able = _names_of([name for name, each in encoders_by_name().items() if each.takes_supervision])
            raise ValueError(f"--neighbours: {method.name!r} cannot learn from them; name {able}")
        return Neighbours(**counts)
    if tuned:
        return check_labels(dataset, path, "--tune judges by them")
    judged = dataset.y is None and dataset.qrels is not None
    if judged and not several and encoder.learns_from_judgements():
        if dataset.Q is None:
            say("note", f"{path} holds no queries Q: rows of X are the queries of qrels")
        return Qrels(read_judgements(dataset, path), dataset.Q, **counts)
    if several or encoder.needs_y():
        return check_labels(dataset, path, f"{method.name!r} learns from them")
    if dataset.y is None and encoder.takes_unlabeled:  # such a method uses labels where it finds them
        held = where_labels_are(dataset)
        say("note", f"no labels found in {path}{f' ({held})' if held else ''}: learning without them")
    return dataset.y


def _read_unlabeled(
    dataset: Dataset, path: Path, unlabeled: Path, method: Method, choices: Choices
) -> NDArray[Any]:
    """Rows without labels; ValueError unless the method takes them and their columns are those of the data.

    Parameters
    ----------
    dataset : Dataset
    path : path
        The file that the data set came from.
    unlabeled : path
        The file of rows without labels.
    method : Method
    choices : dict
        How the data set was read. Where both files have one format, its choices of a header and of the columns
        of vectors and of texts hold for both.

    Returns
    -------
    ndarray (m, d)
    """
    if not all(encoder.takes_unlabeled for encoder in method.encoders):
        able = _names_of([name for name, each in encoders_by_name().items() if each.takes_unlabeled])
        raise ValueError(f"--unlabeled: {method.name!r} does not learn from such rows; name {able}")
    shared = choices if unlabeled.suffix == path.suffix else {}
    both: Choices = {name: shared.get(name) for name in ("header", "column", "text", "text_model")}
    found = read(unlabeled, features=dataset.names, **both)
    check_columns(found.names, unlabeled, dataset.names, str(path))
    return found.X


def _check_tune(tune: float, method: Method, neighbours: bool, unlabeled: Path | None) -> None:
    """ValueError unless --tune has a time, and a method with alternatives that labels can judge."""
    check_positive("--tune", tune)
    if len(method.encoders) > 1:
        raise ValueError(f"--tune: {method.name!r} names its own alternatives; leave out the one or the other")
    if len(method.encoders[0].alternatives()) == 1:
        able = _names_of([name for name, each in encoders_by_name().items() if len(each().alternatives()) > 1])
        raise ValueError(f"--tune: {method.name!r} has no grid; name {able}")
    if neighbours:
        raise ValueError("--tune judges by labels, and --neighbours takes none; leave out the one or the other")
    if unlabeled is not None:
        raise ValueError(
            "--tune judges by the classes that have labels, --unlabeled rows may be of others; leave out the "
            "one or the other"
        )


def _fit_tuned(
    method: Method, X: NDArray[Any], y: NDArray[Any], n_bits: int, seed: int, seconds: float
) -> _Fitted:
    """Try the alternatives of a method on held-out rows, then fit the best one on all rows."""
    grid = prepare(method.encoders[0], n_bits, seed).alternatives()
    tried = []
    with bar("tune", len(grid), "alternatives") as advance:
        for trial in trials([encoder for _, encoder in grid], X, y, seed, seconds):
            tried.append(trial)
            advance()
    encoder: HashEncoder = best(tried)
    lines = [
        {"settings": words, "map": trial.score, "chosen": trial.encoder is encoder}
        for (words, _), trial in zip(grid, tried, strict=True)
    ]
    learn(encoder, X, y)
    return _Fitted(encoder, repr(encoder), lines)


def _uses_labels(method: Method) -> bool:
    """Whether a method learns from the labels that it finds, or chooses by them."""
    encoder = method.encoders[0]
    return len(method.encoders) > 1 or encoder.needs_y() or encoder.takes_unlabeled


def _facts(fitted: _Fitted, dataset: Dataset, seconds: float, out: Path) -> dict[str, Any]:
    """What was learned, and why."""
    encoder = fitted.encoder
    facts = {
        "method": fitted.name,
        "rows": len(dataset.X),
        "features": dataset.X.shape[1],
        **({} if dataset.label is None else {"labels": dataset.label}),
        "bits": encoder.n_bits_,
        **encoder.about(),
        "seconds": seconds,
    }
    last_bit = encoder.history_[-1] if encoder.history_ else {}
    if "objective" in last_bit:
        facts["objective"] = last_bit["objective"]
    if dataset.qrels is not None:
        facts["judgements"] = "learned from" if encoder.judged_ else "not used"
    facts["file"] = str(out)
    return facts


def _in_words(facts: dict[str, Any], dataset: Dataset, unused: str) -> dict[str, str]:
    """Facts that people get with an explanation: features by name, labels, row bits and objective."""
    words = {}
    if dataset.names:
        words["features"] = f"{facts['features']} ({_first_and_last(dataset.names)})"
    if dataset.label is not None:
        words["labels"] = f"{dataset.label}{unused}"
    if "row bits" in facts:
        words["row bits"] = f"{facts['row bits']} (they follow the rows themselves: order inside a class)"
    if "objective" in facts:
        words["objective"] = f"{facts['objective']:.4g} (loss on the training points, lower is better)"
    return words


def _first_and_last(names: list[str]) -> str:
    """Names; of a long list the first and the last three, since columns of another kind often come last."""
    return ", ".join(names if len(names) <= 8 else [*names[:3], "...", *names[-3:]])


def _print_tried(tried: list[dict[str, Any]]) -> None:
    """Print the table of what --tune has tried; nothing where it has tried nothing."""
    if not tried:
        return
    rows = [
        (
            line["settings"],
            "no time left" if line["map"] is None else line["map"],
            "chosen" if line["chosen"] else "",
        )
        for line in tried
    ]
    print_table(("tried", "held-out mAP", ""), rows)


def _names_of(names: list[str]) -> str:
    """Names as a sentence lists them: "a, b or c"."""
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)

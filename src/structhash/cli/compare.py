"""``structhash compare``: several methods under one protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.cli.display import bar
from structhash.cli.documents import deliver, stamp
from structhash.cli.inputs import check_labels, read_judgements, split_measures, split_methods, split_numbers
from structhash.cli.outputs import check_output
from structhash.evaluation import report
from structhash.evaluation.compare import Result
from structhash.evaluation.compare import compare as compare_labelled
from structhash.evaluation.judged import compare_judged
from structhash.evaluation.methods import Method
from structhash.evaluation.splits import PROTOCOLS
from structhash.io import Dataset, read, suffixes

__all__ = ["LEGEND", "collect_results", "compare"]

LEGEND = (
    "* significantly below the best code of its length; float: the vectors themselves, by Euclidean distance"
)
_JUDGED = "judged"  # the protocol without labels


def compare(
    data: Path,
    *,
    methods: str,
    bits: str,
    protocol: str,
    seeds: str,
    n_queries: int,
    n_train: int | None,
    measures: list[str] | None,
    out: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Fit and score several methods on the same splits.

    Parameters
    ----------
    data : path
        A data file.
    methods : str
        Method specs, separated by commas, or ``"all"``.
    bits, seeds : str
        Code lengths and seeds, separated by commas.
    protocol : str
        ``"seen"``, ``"unseen"`` or ``"judged"``.
    n_queries : int
        Number of queries, for protocols by labels.
    n_train : int or None
        Number of training rows, for protocols by labels; None for the usual number.
    measures : list of str or None
        Names, maybe with commas between them; None for the usual ones.
    out : path or None
        A JSON file to write.
    force : bool
        Whether `out` may replace a file of another kind.
    as_json : bool
        Whether to print JSON.
    """
    check_output(out, data, makes="results", force=force, refused=suffixes())
    _check_protocol(protocol)
    judged = protocol == _JUDGED
    options: dict[str, Any] = {
        "methods": split_methods(methods, judged),
        "bits": split_numbers("--bits", bits, 1),
        "seeds": split_numbers("--seeds", seeds, 0),
        "measures": split_measures(measures),
    }
    dataset = read(data)
    if judged:
        results = _run_judged(dataset, data, **options)
    else:
        results = _run_labelled(dataset, data, protocol, n_queries=n_queries, n_train=n_train, **options)
    lines = report.summarise(results)
    names = [method.name for method in options["methods"]]
    sizes = {"queries": None, "train": None} if judged else {"queries": n_queries, "train": n_train}
    asked = {"protocol": protocol, "options": {**options, "methods": names, **sizes}}
    about = {"data": data.name, "rows": len(dataset.X), "features": dataset.X.shape[1], **asked, **stamp()}
    deliver(report.as_json(lines, **about), out, as_json)
    if not as_json:
        n_seeds = len(options["seeds"])
        print(f"{data.name}: {len(dataset.X)} rows, protocol {protocol}, mean of {n_seeds} seeds\n")
        print(report.as_table(lines) + LEGEND)


def collect_results(
    comparison: Callable[..., Iterator[Result]],
    *data: NDArray[Any],
    methods: Sequence[Method],
    bits: list[int],
    seeds: list[int],
    **options: Any,
) -> list[Result]:
    """All results of a comparison, with a progress bar.

    Parameters
    ----------
    comparison : callable
        `structhash.evaluation.compare` or `compare_judged`.
    *data : ndarray
        Its arguments after the methods.
    methods : sequence of Method
    bits, seeds : list of int
    **options
        Its other arguments.

    Returns
    -------
    list of Result
    """
    n_fits = len(seeds) * sum(len(method.lengths(bits)) for method in methods)
    results: list[Result] = []
    with bar("compare", n_fits, "fits") as advance:
        for result in comparison(methods, *data, bits=bits, seeds=seeds, **options):
            results.append(result)
            if result.distance in ("plain", "L2"):  # the first result of a fit
                advance()
    return results


def _check_protocol(protocol: str) -> None:
    """Refuse an unknown protocol."""
    protocols = [*PROTOCOLS, _JUDGED]
    if protocol not in protocols:
        raise ValueError(f"--protocol {describe(protocol)}: give one of {', '.join(protocols)}")


def _run_labelled(dataset: Dataset, path: Path, protocol: str, **options: Any) -> list[Result]:
    """Results of a protocol by labels; ValueError if the data file has none."""
    y = check_labels(dataset, path, f"--protocol {protocol} judges by them (--protocol judged, by Q and qrels)")
    return collect_results(compare_labelled, dataset.X, y, protocol=protocol, **options)


def _run_judged(dataset: Dataset, path: Path, **options: Any) -> list[Result]:
    """Results of the judged protocol; ValueError if the data file has no queries or no judgements."""
    if dataset.Q is None or dataset.qrels is None:
        raise ValueError(f"{path} holds no queries Q and judgements qrels; --protocol judged needs both")
    table = read_judgements(dataset, path)
    return collect_results(compare_judged, dataset.X, dataset.Q, table, **options)

"""``structhash compare``: several methods under one protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.cli._journal import describe_run, open_journal
from structhash.cli.console import Unfinished, say
from structhash.cli.display import bar
from structhash.cli.documents import deliver, stamp
from structhash.cli.inputs import (
    Choices,
    check_labels,
    read_judgements,
    split_measures,
    split_methods,
    split_numbers,
)
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
    choices: Choices,
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
    n_queries, n_train : int or None
        Number of queries and of training rows, for protocols by labels; None for the usual number.
    measures : list of str or None
        Names, maybe with commas between them; None for the usual ones.
    out : path or None
        A JSON file to write. Finished fits are kept beside it; the same command goes on from there.
    force, as_json : bool
        Whether `out` may replace a file of another kind; whether to print JSON.
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.
    """
    check_output(out, data, makes="results", force=force, refused=suffixes())
    options: dict[str, Any] = {
        "methods": split_methods(methods, _is_judged(protocol)),
        "bits": split_numbers("--bits", bits, 1),
        "seeds": split_numbers("--seeds", seeds, 0),
        "measures": split_measures(measures),
    }
    dataset = read(data, **choices)
    comparison, arrays, settings = _comparison(dataset, data, protocol, n_queries, n_train)
    run = {"protocol": protocol, "measures": options["measures"], **settings}
    finished, add = _journal(out, arrays, run, force)
    more = {**options, **settings, "failures": "keep", "finished": finished, "on_fit": add}
    lines = report.summarise(collect_results(comparison, *arrays, **more))
    names = [method.name for method in options["methods"]]
    asked = {"methods": names, "queries": settings.get("n_queries"), "train": settings.get("n_train")}
    about = {"data": data.name, "rows": len(dataset.X), "features": dataset.X.shape[1]}
    about |= {"protocol": protocol, "options": options | asked, **stamp()}
    deliver(report.as_json(lines, **about), out, as_json)
    if not as_json:
        _print_table(lines, about)
    _finish(lines, out)


def _print_table(lines: list[report.Line], about: dict[str, Any]) -> None:
    """Print the lines of a comparison."""
    n_seeds = len(about["options"]["seeds"])
    print(f"{about['data']}: {about['rows']} rows, protocol {about['protocol']}, mean of {n_seeds} seeds\n")
    print(report.as_table(lines) + LEGEND)


def collect_results(
    comparison: Callable[..., Iterator[Result]],
    *data: NDArray[Any],
    methods: Sequence[Method],
    bits: list[int],
    seeds: list[int],
    on_fit: Callable[[list[Result]], None] | None = None,
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
    on_fit : callable, optional
    **options
        Its other arguments.

    Returns
    -------
    list of Result
    """
    n_fits = len(seeds) * sum(len(method.lengths(bits)) for method in methods)
    with bar("compare", n_fits, "fits") as advance:

        def after(results: list[Result]) -> None:
            if on_fit is not None:
                on_fit(results)
            advance()

        return list(comparison(methods, *data, bits=bits, seeds=seeds, on_fit=after, **options))


def _is_judged(protocol: str) -> bool:
    """Whether a protocol is the judged one; ValueError if there is no such protocol."""
    protocols = [*PROTOCOLS, _JUDGED]
    if protocol not in protocols:
        raise ValueError(f"--protocol {describe(protocol)}: give one of {', '.join(protocols)}")
    return protocol == _JUDGED


def _comparison(
    dataset: Dataset, path: Path, protocol: str, n_queries: int, n_train: int | None
) -> tuple[Callable[..., Iterator[Result]], list[NDArray[Any]], dict[str, Any]]:
    """The comparison of a protocol, its data and its settings; ValueError if the file lacks what it needs."""
    if protocol == _JUDGED:
        if dataset.Q is None or dataset.qrels is None:
            raise ValueError(f"{path} holds no queries Q and judgements qrels; --protocol judged needs both")
        return compare_judged, [dataset.X, dataset.Q, read_judgements(dataset, path)], {}
    y = check_labels(dataset, path, f"--protocol {protocol} judges by them (--protocol judged, by Q and qrels)")
    settings = {"protocol": protocol, "n_queries": n_queries, "n_train": n_train}
    return compare_labelled, [dataset.X, y], settings


def _journal_path(out: Path) -> Path:
    """The file beside the output that keeps finished fits."""
    return out.with_name(f"{out.name}.part")


def _journal(
    out: Path | None, arrays: list[NDArray[Any]], run: dict[str, Any], force: bool
) -> tuple[list[Result], Callable[[list[Result]], None] | None]:
    """Results that an earlier run of this command finished, and where to add others; nothing without a file."""
    if out is None:
        return [], None
    first_line = describe_run(arrays, **run, versions=stamp()["versions"])
    finished, add = open_journal(_journal_path(out), first_line, force)
    if finished:
        say("note", f"{len(finished)} results are taken from {_journal_path(out)}")
    return finished, add


def _finish(lines: list[report.Line], out: Path | None) -> None:
    """Drop the journal when all is finished; otherwise name what failed, and end with status 1."""
    failed = [line for line in lines if line.error]
    for line in failed:
        length = f", {line.n_bits} bits" if line.n_bits else ""
        seeds = ", ".join(map(str, line.seeds))
        say("warning", f"{line.method}{length} failed for seeds {seeds}: {line.error}")
    if failed:
        again = "" if out is None else f"; the same command goes on from {_journal_path(out)}"
        raise Unfinished(f"{len(failed)} of {len(lines)} lines failed, the others are right{again}")
    if out is not None:
        _journal_path(out).unlink(missing_ok=True)

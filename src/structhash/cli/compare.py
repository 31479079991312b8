"""``structhash compare``: several methods under one protocol."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from numpy.typing import NDArray

from structhash._numerics.validation import describe
from structhash.cli._journal import count_fits, digest_of, open_journal
from structhash.cli._options import PageOptions
from structhash.cli._pages import Rows, write_page
from structhash.cli._replaced import check_replaced, has_fit, identity
from structhash.cli.console import Unfinished, say, say_if_interrupted
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
from structhash.evaluation.details import details
from structhash.evaluation.judged import JUDGED_MEASURES, check_judged_method, compare_judged
from structhash.evaluation.methods import Method
from structhash.evaluation.neighbours import (
    NEIGHBOUR_MEASURES,
    check_unlabelled_method,
    compare_neighbours,
)
from structhash.evaluation.protocols import find_protocol, protocol_names
from structhash.io import Dataset, read, suffixes

__all__ = ["LEGEND", "collect_results", "compare", "comparison_of", "has_own_queries"]

LEGEND = (
    "* significantly below the best code of its length; float: the vectors themselves, by Euclidean distance"
)
_JUDGED, _NEIGHBOURS = "judged", "neighbours"  # protocols without labels
_N_QUERIES = 2000
_UNLABELLED = {_JUDGED: JUDGED_MEASURES, _NEIGHBOURS: NEIGHBOUR_MEASURES}


class _Earlier(NamedTuple):
    """What earlier runs finished: the results that this run uses, the others, and where to add new ones."""

    used: list[Result]
    unused: list[Result]
    add: Callable[[list[Result]], None] | None


def compare(
    data: Path,
    *,
    methods: str,
    bits: str,
    protocol: str,
    seeds: str,
    n_queries: int | None,
    n_train: int | None,
    measures: list[str] | None,
    out: Path | None,
    force: bool,
    as_json: bool,
    choices: Choices,
    page: PageOptions | None = None,
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
        One of `protocol_names`, or ``"judged"`` or ``"neighbours"``.
    n_queries, n_train, measures
        Number of queries and of training rows where rows are split, and names; None for the usual ones.
    out, page : path or None, PageOptions or None
        A JSON file and a page to write. Finished fits are kept beside `out`; the same command goes on there.
    force, as_json : bool
        Whether `out` may replace a file of another kind or another comparison; whether to print JSON.
    choices : dict
        How the data file is read: keywords of `structhash.io.read`.
    """
    check_output(out, data, makes="comparison", force=force, refused=suffixes())
    check_output(page and page.out, data, makes="page", force=force, refused=(*suffixes(), ".json"))
    options = _options(methods, bits, protocol, seeds, measures)
    dataset = read(data, **choices)
    comparison, arrays, settings = comparison_of(dataset, data, protocol, n_queries, n_train)
    rows = page and Rows(dataset, data, has_own_queries(dataset, protocol), page.images, page.texts)
    about = {"data": data.name, "data_sha256": digest_of(arrays), "rows": len(dataset.X)}
    about |= {"features": dataset.X.shape[1], "protocol": protocol}
    about |= {"options": _asked(options, settings, choices), **stamp()}
    if out is not None and not force:
        check_replaced(out, options["methods"], about)
    earlier = _open_journal(out, options["methods"], about, force)
    more = {**options, **settings, "failures": "keep", "finished": earlier.used, "on_fit": earlier.add}
    with say_if_interrupted(lambda: _kept(out)):
        results = collect_results(comparison, *arrays, **more)
        lines = report.summarise(results)
        about["details"] = _details(lines, results, dataset, protocol)
        deliver(report.as_json(lines, **about), out, as_json)
        if page is not None:
            write_page(page.out, report.as_json(lines, **about), rows)
        if not as_json:
            _print_table(lines, about)
        _finish(lines, out, earlier.unused)


def _options(methods: str, bits: str, protocol: str, seeds: str, measures: list[str] | None) -> dict[str, Any]:
    """What is compared, read from the command line."""
    return {
        "methods": split_methods(methods, _check_of(protocol)),
        "bits": split_numbers("--bits", bits, 1),
        "seeds": split_numbers("--seeds", seeds, 0),
        "measures": split_measures(measures or _UNLABELLED.get(protocol) or find_protocol(protocol).measures),
    }


def _asked(options: dict[str, Any], settings: dict[str, Any], choices: Choices) -> dict[str, Any]:
    """The options as the document has them, with how the data are read where it was said."""
    reading = {
        name: str(value) if isinstance(value, Path) else value  # the text of an address without its secrets
        for name, value in choices.items()
        if value not in (None, ())
    }
    sizes = {"queries": settings.get("n_queries"), "train": settings.get("n_train")}
    return {**options, "methods": [method.name for method in options["methods"]], **sizes, "reading": reading}


def _details(
    lines: list[report.Line], results: list[Result], dataset: Dataset, protocol: str
) -> dict[str, Any]:
    """What lies behind the means, by labels where each row has one; queries of a file's Q have none."""
    labels = dataset.y if dataset.y is not None and dataset.y.ndim == 1 else None
    query_labels = None if has_own_queries(dataset, protocol) else labels
    return details(lines, results, labels, query_labels, dataset.ids)


def has_own_queries(dataset: Dataset, protocol: str) -> bool:
    """Whether the queries of a protocol are rows of Q, not of X."""
    return protocol in _UNLABELLED and dataset.Q is not None


def _print_table(lines: list[report.Line], about: dict[str, Any]) -> None:
    """Print the lines of a comparison."""
    n_seeds = len(about["options"]["seeds"])
    seeds = "1 seed" if n_seeds == 1 else f"mean of {n_seeds} seeds"
    print(f"{about['data']}: {about['rows']} rows, protocol {about['protocol']}, {seeds}\n")
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


def _check_of(protocol: str) -> Callable[[Method], None] | None:
    """What refuses methods that a protocol cannot fit; ValueError if there is no such protocol."""
    if protocol in _UNLABELLED:
        return check_judged_method if protocol == _JUDGED else check_unlabelled_method
    try:
        find_protocol(protocol)
    except ValueError:
        allowed = ", ".join([*protocol_names(), *_UNLABELLED])
        raise ValueError(f"--protocol {describe(protocol)}: give one of {allowed} (N from 1 on)") from None
    return None


def comparison_of(
    dataset: Dataset, path: Path, protocol: str, n_queries: int | None, n_train: int | None
) -> tuple[Callable[..., Iterator[Result]], list[NDArray[Any]], dict[str, Any]]:
    """The comparison of a protocol, its data and its settings.

    Parameters
    ----------
    dataset : Dataset
    path : path
        The file that it came from.
    protocol : str
    n_queries, n_train
        See `compare`.

    Returns
    -------
    comparison : callable
    arrays : list of ndarray
        Its arguments after the methods.
    settings : dict
        More arguments.

    Raises
    ------
    ValueError
        If the file lacks what the protocol needs, or a number of rows is given that the protocol does not draw.
    """
    if protocol == _JUDGED:
        for name, given in (("--queries", n_queries), ("--train", n_train)):
            if given is not None:
                raise ValueError(
                    f"{name} {given}: --protocol judged takes all queries and rows; leave {name} out"
                )
        if dataset.Q is None or dataset.qrels is None:
            raise ValueError(f"{path} holds no queries Q and judgements qrels; --protocol judged needs both")
        return compare_judged, [dataset.X, dataset.Q, read_judgements(dataset, path)], {}
    sizes = {"n_queries": _N_QUERIES if n_queries is None else n_queries, "n_train": n_train}
    if protocol == _NEIGHBOURS:
        if dataset.Q is not None and n_queries is not None:
            raise ValueError(
                f"--queries {n_queries}: {path} holds queries Q, and all are taken; leave --queries out"
            )
        asked = [] if dataset.Q is None else [dataset.Q]
        return compare_neighbours, [dataset.X, *asked], sizes
    others = "judged: by Q and qrels, neighbours: by X alone"
    y = check_labels(dataset, path, f"--protocol {protocol} judges by them ({others})")
    return compare_labelled, [dataset.X, y], {"protocol": protocol, **sizes}


def _journal_path(out: Path) -> Path:
    """The file beside the output that keeps finished fits."""
    return out.with_name(f"{out.name}.part")


def _open_journal(out: Path | None, methods: Sequence[Method], about: dict[str, Any], force: bool) -> _Earlier:
    """What earlier runs finished, and where to add others; nothing without a file."""
    if out is None:
        return _Earlier([], [], None)
    settings = {**identity(about), "versions": about["versions"]}
    finished, add = open_journal(_journal_path(out), settings, force)
    used: list[Result] = []
    unused: list[Result] = []
    for each in finished:
        takes = has_fit(methods, about["options"], each.method, each.n_bits, each.seed)
        (used if takes else unused).append(each)
    if used:
        say("note", f"{count_fits(used)} taken from {_journal_path(out)}")
    return _Earlier(used, unused, add)


def _kept(out: Path | None) -> str:
    """Where finished fits are; ``""`` if there are none."""
    if out is None or not _journal_path(out).exists():
        return ""
    return f"finished fits are in {_journal_path(out)}"


def _finish(lines: list[report.Line], out: Path | None, unused: list[Result]) -> None:
    """Drop the journal when all its fits are in the result; name what failed, and end with status 1."""
    failed = [line for line in lines if line.error]
    for line in failed:
        length = f", {line.n_bits} bits" if line.n_bits else ""
        seeds = ", ".join(map(str, line.seeds))
        say("warning", f"{line.method}{length} failed for seeds {seeds}: {line.error}")
    if failed:
        again = "" if out is None else f"; the same command goes on from {_journal_path(out)}"
        raise Unfinished(f"{len(failed)} of {len(lines)} lines failed, the others are right{again}")
    if out is not None and unused:
        say("note", f"{count_fits(unused)} not asked for here stay in {_journal_path(out)}")
    elif out is not None:
        _journal_path(out).unlink(missing_ok=True)

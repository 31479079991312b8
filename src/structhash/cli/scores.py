"""How good codes are: evaluate one model, compare methods."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from structhash import __version__
from structhash._numerics.validation import describe
from structhash.cli.console import bar, check_output, print_table, to_json, write_json
from structhash.cli.inputs import judgements, labels, measures, methods, numbers, retrieval
from structhash.estimators.loading import load_model
from structhash.evaluation import compare as library
from structhash.evaluation import report
from structhash.evaluation.compare import Result, every_distance
from structhash.evaluation.judged import compare_judged
from structhash.evaluation.methods import Method
from structhash.io import read

LEGEND = (
    "* significantly below the best code of its length; float: the vectors themselves, by Euclidean distance"
)
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


def evaluate(
    model: Path,
    data: Path,
    n_queries: int,
    seed: int,
    measure: list[str] | None,
    ties: str,
    as_json: bool,
    out: Path | None,
) -> None:
    """Score the codes of a model on rows it has not seen."""
    check_output(out, model, data)
    names = measures(measure)
    encoder = load_model(model)
    task = retrieval(data, n_queries, seed, encoder)
    scored = every_distance(encoder, task.queries, task.database, task.relevance)
    found = {distance: library.retrieval(blocks, names, ties).mean for distance, blocks in scored}
    lines = [{"distance": distance, "mean": mean} for distance, mean in found.items()]
    about = {
        "model": model.name,
        "data": data.name,
        "relevance": task.by,
        "n_queries": len(task.queries),
        "n_database": len(task.database),
        "n_bits": encoder.n_bits_,
        "seed": seed,
        "ties": ties,
    }
    give({**about, **stamp(), "lines": lines}, out, as_json)
    if not as_json:
        print(
            f"{len(task.queries)} queries against {len(task.database)} rows by {task.by}, "
            f"{encoder.n_bits_} bits\n"
        )
        print_table(("distance", *names), [(distance, *mean.values()) for distance, mean in found.items()])


def compare(
    data: Path,
    specs: str,
    bits: str,
    protocol: str,
    seeds: str,
    n_queries: int,
    n_train: int | None,
    measure: list[str] | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Fit and score several methods under one protocol."""
    check_output(out, data)
    protocols = [*library.PROTOCOLS, "judged"]
    if protocol not in protocols:
        raise ValueError(f"--protocol {describe(protocol)}: give one of {', '.join(protocols)}")
    parsed, names = methods(specs, protocol == "judged"), measures(measure)
    lengths, draws = numbers("--bits", bits, 1), numbers("--seeds", seeds, 0)
    dataset = read(data)
    fits: dict[str, Any] = {"bits": lengths, "seeds": draws, "measures": names}
    if protocol == "judged":
        if dataset.Q is None or dataset.qrels is None:
            raise ValueError(f"{data} holds no queries Q and judgements qrels; --protocol judged needs both")
        table = judgements(dataset.qrels, len(dataset.Q), len(dataset.X), data)
        results = run(parsed, dataset.X, dataset.Q, table, compare=compare_judged, **fits)
    else:
        y = labels(dataset, data, f"--protocol {protocol} judges by them (--protocol judged, by Q and qrels)")
        results = run(parsed, dataset.X, y, protocol=protocol, n_queries=n_queries, n_train=n_train, **fits)
    lines = report.summarise(results)
    about = {
        "data": data.name,
        "rows": len(dataset.X),
        "features": dataset.X.shape[1],
        "protocol": protocol,
        "options": {
            "methods": [method.name for method in parsed],
            "bits": lengths,
            "seeds": draws,
            "queries": None if protocol == "judged" else n_queries,
            "train": None if protocol == "judged" else n_train,
            "measures": names,
        },
    }
    give(report.as_json(lines, **about, **stamp()), out, as_json)
    if not as_json:
        print(f"{data.name}: {len(dataset.X)} rows, protocol {protocol}, mean of {len(draws)} seeds\n")
        print(report.table(lines) + LEGEND)


def run(
    methods: Sequence[Method],
    *data: NDArray[Any],
    bits: list[int],
    seeds: list[int],
    compare: Callable[..., Iterator[Result]] = library.compare,
    **more: Any,
) -> list[Result]:
    """All results of `evaluate.compare` or of another comparison, with a progress bar."""
    fits = len(seeds) * sum(len(method.lengths(bits)) for method in methods)
    results = []
    with bar("compare", fits, "fits") as advance:
        for result in compare(methods, *data, bits=bits, seeds=seeds, **more):
            results.append(result)
            if result.distance in ("plain", "L2"):  # the first line of a fit
                advance()
    return results


def give(document: dict[str, Any], out: Path | None, as_json: bool) -> None:
    """A document into its file, and on stdout for machines."""
    if out is not None:
        write_json(out, document)
    if as_json:
        print(to_json(document))


def stamp() -> dict[str, Any]:
    """When, and with what."""
    versions = {"structhash": __version__, **{name: version(name) for name in PACKAGES}}
    return {"date": datetime.now(UTC).isoformat(timespec="seconds"), "versions": versions}

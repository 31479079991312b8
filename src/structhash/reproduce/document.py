"""The reproduction as values: what all its forms show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from structhash.reproduce._verdicts import Claim
from structhash.reproduce.cache import Finished
from structhash.reproduce.claims import check_claims
from structhash.reproduce.figures import Figure, make_figures
from structhash.reproduce.plan import METHODS, Plan
from structhash.reproduce.results import Results
from structhash.reproduce.sets import SETS
from structhash.reproduce.tables import (
    Table,
    TrainingValue,
    Value,
    make_tables,
    score_values,
    training_values,
)

__all__ = ["Reproduction", "as_document", "make_reproduction"]

_PAPER = (
    "Lin, Liu, Shen, Wu, Shen: Structured learning of binary codes with column generation for optimizing "
    "ranking measures, https://doi.org/10.1007/s11263-016-0984-4"
)


class Reproduction(NamedTuple):
    """Everything that is shown.

    Attributes
    ----------
    summary : list of str
        Paragraphs at the beginning.
    claims : list of Claim
    tables : list of Table
    values : list of Value
        The numbers of Tables 1 to 3.
    training : list of TrainingValue
        The numbers of Table 4.
    figures : list of Figure
    examples : dict
        Ranking examples by data set, as `perform` returns them.
    about : list of str
        How the runs were made.
    """

    summary: list[str]
    claims: list[Claim]
    tables: list[Table]
    values: list[Value]
    training: list[TrainingValue]
    figures: list[Figure]
    examples: dict[str, list[dict[str, Any]]]
    about: list[str]


def make_reproduction(plan: Plan, finished: Sequence[Finished], versions: Mapping[str, str]) -> Reproduction:
    """Tables, figures and claims of finished runs.

    Parameters
    ----------
    plan : Plan
    finished : sequence of Finished
    versions : mapping
        Version of each package, by its name.

    Returns
    -------
    Reproduction
    """
    results = Results(finished)
    claims = check_claims(results)
    counts = {word: sum(claim.verdict == word for claim in claims) for word in ("holds", "does not hold")}
    n_holding, n_failing = counts.values()
    summary = [
        f"{_PAPER}. The tables have its numbers beside ours, the figures have ours.",
        f"Claims of the paper: {n_holding} hold in these runs, {n_failing} do not hold, "
        f"{len(claims) - n_holding - n_failing} not measured.",
        *plan.left_out,
    ]
    examples = {data: results.examples(data) for data in results.sets if results.examples(data)}
    return Reproduction(
        summary,
        claims,
        make_tables(results),
        score_values(results),
        training_values(results),
        make_figures(results),
        examples,
        _about(plan, results, versions),
    )


def as_document(made: Reproduction, **about: Any) -> dict[str, Any]:
    """A reproduction as `json.dump` takes it, below the entries of `about`."""
    return {
        **about,
        "summary": made.summary,
        "claims": [claim._asdict() for claim in made.claims],
        "tables": [value._asdict() for value in made.values],
        "training": [{**value._asdict(), "cost": value.cost._asdict()} for value in made.training],
        "figures": [
            {**figure._asdict(), "curves": [curve._asdict() for curve in figure.curves]}
            for figure in made.figures
        ],
        "examples": made.examples,
        "made": made.about,
    }


def _about(plan: Plan, results: Results, versions: Mapping[str, str]) -> list[str]:
    """How the runs were made, a line each."""
    lines = [
        "Protocol of Section 5 of the paper. Of labelled sets 2,000 random rows are queries, the others the "
        "database, and 2,000 of these train; rows of one label are relevant to each other. On the large sets "
        "5,000 rows train, and the nearest 2 percent of the database by L2 are relevant.",
        "Supervised methods get 50 relevant and 100 irrelevant partners a training row. Every method learns "
        "from the training rows only. Ties of distances are scored by their mean over all orders.",
        "StructH-N, StructH-A and CGH weigh their bits and are searched by weighted Hamming distance, all "
        "others by plain.",
        "p: paired t-test over the queries of all seeds, times the number of comparisons of a claim. It says "
        "nothing about other training runs. For precision-recall it tests the areas of single queries; the "
        "tables have the area under the mean curve, as the paper seems to.",
        "Seconds are wall-clock seconds of one thread. They mean little on a busy machine.",
    ]
    if loads := [record["load"] for _, record in results.finished if record.get("load") is not None]:
        lines.append(f"Load of the machine after a fit: {min(loads):.1f} to {max(loads):.1f}.")
    runs = [run for run, _ in results.finished]
    for data in plan.sets:
        seeds = sorted({run.seed for run in runs if run.data == data})
        difference = f"; {SETS[data].difference}" if SETS[data].difference else ""
        lines.append(f"{SETS[data].title} ({data}.npz): seeds {', '.join(map(str, seeds))}{difference}.")
    for method in dict.fromkeys(run.method for run in runs):
        kind = METHODS[method]
        lines.append(f"{method}: {kind.spec}" + (f" ({kind.note})" if kind.note else ""))
    lines.append("Versions: " + ", ".join(f"{name} {version}" for name, version in versions.items()))
    return lines

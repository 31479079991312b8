"""`--recall` of ``structhash search``: the factor is chosen on rows that are held out."""

import json

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits

from structhash import load_model

X = load_digits()["data"][200:500].astype(np.float32)


@pytest.mark.parametrize("reader", ["bits", "real"])
@pytest.mark.parametrize("named", [False, True])
def test_the_factor_is_the_least_for_held_out_rows(run, machine, done, here, tmp_path, reader, named):
    (tmp_path / "names.txt").write_text("\n".join(f"d{i:03}" for i in range(300)))
    ids = ["--rescore-ids", tmp_path / "names.txt"] if named else []
    done("index", "m.codes", "-o", tmp_path / "i", *(["--ids", tmp_path / "names.txt"] if named else []))
    words = "search", tmp_path / "i", "x.npy", "--model", "m", "--reader", reader, "-k", 5
    words += "--rescore", "x.npy", "--metric", "euclidean", *ids
    result = run(*words, "--recall", 0.9, "--json")
    model, held = load_model("m"), np.random.default_rng(0).permutation(300)[:60]  # a fifth of the rows
    others = np.delete(np.arange(300), held)
    nearest = others[np.argsort(cdist(X[held], X[others]), axis=1)[:, :5]]
    queries, codes = model.prepare_queries(X[held], reader=reader), model.encode(X[others])
    by_codes = others[np.argsort(_distances(queries, codes), axis=1, kind="stable")]
    recalls = [
        np.mean([np.isin(a, b).mean() for a, b in zip(nearest, by_codes[:, : 5 * factor])])
        for factor in range(1, 61)
    ]
    factor = next(factor for factor, recall in enumerate(recalls, 1) if recall >= 0.9)
    assert f"note: --factor {factor} finds {recalls[factor - 1]:.3f} of the 5 nearest of 60" in result.stderr
    found = json.loads(result.stdout)
    assert (found["factor"], found["recall"]) == (factor, pytest.approx(recalls[factor - 1]))
    assert found["results"] == machine(*words, "--factor", factor)["results"]


def _distances(queries, codes):
    """Distances in float64, bit by bit."""
    bits = np.unpackbits(codes, axis=1, bitorder="little", count=queries.n_bits).astype(float)
    return (queries.base[:, None] + queries.values.astype(float) @ bits.T).astype(np.float32)


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ("--rescore x.npy --recall 0.9 --factor 3", "--factor and --recall contradict each other; give one"),
        ("--recall 0.9", "--recall goes with --rescore VECTORS; give that too"),
        ("--rescore x.npy --recall 0", "recall=0.0: give a number above 0 and at most 1"),
        ("--rescore x.npy --recall 1.2", "--recall"),
        ("--rescore x.npy --recall 0.9 --among ids.npy", "--recall is measured among all codes, not those of"),
        ("--rescore x.npy --recall 0.9 -k 250", "without 60 rows, the index has less than k=250 codes; give"),
        (
            "--rescore m.npy --recall 0.9",
            "--rescore m.npy holds 2 numbers a row, a query has 64; give the rows",
        ),
    ],
)
def test_what_cannot_be_chosen_is_refused(assert_refused, words, part):
    assert_refused(f"search m.index x.npy --model m {words}", part)

"""A method that is read in one way: by an index of its codes, with readers fitted to the right rows."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from structhash import AdditiveHash, DistilHash, fit_reader
from structhash.codes import prepared_distances
from structhash.evaluation import (
    as_table,
    compare,
    compare_judged,
    compare_neighbours,
    prepared_blocks,
    read_codes,
    retrieval,
    same_label,
    seen_classes,
    summarise,
)
from structhash.evaluation.reading import other_blocks
from structhash.pieces import load
from structhash.search import Exact

X, Y = (array[:500] for array in load_digits(return_X_y=True))
SPLIT = seen_classes(Y, 1, 60, 200)


def rows(which):
    return X[getattr(SPLIT, which)]


def relevance():
    return same_label(Y[SPLIT.queries], Y[SPLIT.database])


@pytest.mark.parametrize("reader", ["bits", "real", "cells", "linear", "tables"])
@pytest.mark.parametrize("where", ["train", "database"])
def test_a_reader_is_fitted_on_the_rows_that_the_method_is_fitted_on(reader, where):
    (found,) = compare([f"itq@{where}@{reader}"], X, Y, "seen", [16], [1], ["map"], 60, 200)
    itq = load("baselines", "itq:n_bits=16,random_state=1").fit(rows(where))
    prepared = fit_reader(itq, rows(where), reader=reader, random_state=1).prepare(rows("queries"))
    distances = prepared_distances(prepared, itq.encode(rows("database")))
    expected = retrieval([(distances, relevance()(slice(0, 60)))], ["map"])
    np.testing.assert_array_equal(found.scores.per_query["map"], expected.per_query["map"])
    assert (found.distance, found.chosen, found.n_bits) == (reader, "", 16)


def test_queries_that_ask_for_near_rows_are_scored_by_their_own_distances():
    (found,) = compare(["additivehash@database@near"], X, Y, "seen", [16], [1], ["map"], 60, 200)
    model = AdditiveHash(16, random_state=1).fit(rows("train"), Y[SPLIT.train], unlabeled=rows("database"))
    prepared = model.prepare_queries(rows("queries"), reader="near")
    distances = prepared_distances(prepared, model.encode(rows("database")))
    expected = retrieval([(distances, relevance()(slice(0, 60)))], ["map"])
    np.testing.assert_array_equal(found.scores.per_query["map"], expected.per_query["map"])
    assert (found.distance, found.chosen, found.n_bits) == ("near", "", 16)


@pytest.mark.parametrize(
    ("spec", "reader", "names"),
    [
        ("itq", "", ["plain"]),
        ("itq", "tables", ["tables"]),
        ("mdsh", "", ["plain", "weighted"]),
        ("pq", "", ["tables"]),
        ("rabitq", "", ["plain"]),
    ],
)
def test_an_index_gives_the_distances_that_are_scored(spec, reader, names):
    encoder = load("baselines", f"{spec}:n_bits=16").fit(rows("train"))
    read = read_codes(encoder, rows("train"), rows("database"), reader)
    scored = {
        name: np.concatenate([each for each, _ in blocks])
        for name, blocks in read.distances(rows("queries"), relevance())
    }
    assert [each.name for each in read.index_distances()] == names
    assert set(scored) == {*names, *([encoder.own_distance_] if encoder.own_distance_ else [])}
    for name, prepare, weights in read.index_distances():
        index = Exact(16, weights)
        index.add(read.codes)
        found, ids = index.search(prepare(rows("queries")), k=len(read.codes))
        expected = np.take_along_axis(scored[name], ids, axis=1)
        np.testing.assert_allclose(found / found.max(), expected / expected.max(), atol=1e-5)  # units differ


def test_what_auto_chose_is_said():
    (found,) = compare(["itq@auto"], X, Y, "seen", [16], [1], ["map"], 60, 200)
    itq = load("baselines", "itq:n_bits=16,random_state=1").fit(rows("train"))
    chosen = fit_reader(itq, rows("train"), random_state=1).name
    (named,) = compare([f"itq@{chosen}"], X, Y, "seen", [16], [1], ["map"], 60, 200)
    assert (found.distance, found.chosen, found.scores.mean) == ("auto", chosen, named.scores.mean)
    (labelled,) = compare(["distilhash@auto"], X, Y, "seen", [16], [1], ["map"], 60, 200)
    assert (labelled.chosen, labelled.scores.mean) == (
        "bits",
        next(iter(compare(["distilhash"], X, Y, "seen", [16], [1], ["map"], 60, 200))).scores.mean,
    )


def test_both_choices_are_said():
    (found,) = compare(["itq@auto:max_iter=1|2"], X, Y, "seen", [16], [1], ["map"], 60, 200)
    assert found.chosen.startswith("ITQ(")
    assert found.chosen.rpartition(", ")[2] in ("bits", "real", "cells", "linear", "tables")


@pytest.mark.parametrize("spec", ["spher@real", "sh@cells"])
def test_bits_without_real_values_are_said_to_have_none_and_other_lines_stay(spec):
    specs = ["lsh", spec, spec.partition("@")[0] + "@tables"]
    results = compare(specs, X, Y, "seen", [16], [0], ["map"], 60, 200, failures="keep")
    plain, failed, tables = results
    assert not plain.error
    assert not tables.error
    assert "no signs of real values" in failed.error
    assert "failed" in as_table(summarise([plain, failed, tables]))


def test_judged_queries_are_read_so():
    qrels = np.array([[q, j, int(Y[j + 20] == Y[q])] for q in range(20) for j in range(200)])
    documents, asked = X[20:220], X[:20]
    found = list(compare_judged(["itq@real", "itq@auto"], documents, asked, qrels, [16], [0], ["map"]))
    itq = load("baselines", "itq:n_bits=16,random_state=0").fit(documents)
    distances = prepared_distances(itq.prepare_queries(asked), itq.encode(documents))
    expected = retrieval([(distances, Y[:20, None] == Y[20:220])], ["map"]).mean["map"]
    assert found[0].scores.mean["map"] == pytest.approx(expected)
    assert (found[0].chosen, found[1].chosen) == ("", fit_reader(itq, documents).name)


def test_the_nearest_rows_are_found_so():
    real, bits, plain = compare_neighbours(["itq@real", "itq@bits", "itq"], X, bits=[16], seeds=[0])
    assert bits.scores.mean == plain.scores.mean
    assert real.scores.mean["recall@10"] > bits.scores.mean["recall@10"]


@pytest.mark.parametrize("pairs", [1, 1500, 10**6])
@pytest.mark.parametrize("reader", ["real", "tables"])
def test_blocks_hold_the_distances_of_an_index(reader, pairs, monkeypatch):
    monkeypatch.setattr("structhash.evaluation.scoring._MAX_DISTANCES", pairs)
    itq = load("baselines", "itq:n_bits=20,random_state=0").fit(X)
    prepared, codes = fit_reader(itq, X, reader=reader).prepare(X[:9]), itq.encode(X)
    blocks = list(prepared_blocks(prepared, codes, same_label(Y[:9], Y)))
    found = np.concatenate([distances for distances, _ in blocks])
    np.testing.assert_array_equal(found, prepared_distances(prepared, codes))
    np.testing.assert_array_equal(np.concatenate([relevant for _, relevant in blocks]), Y[:9, None] == Y)


def test_real_values_are_read_where_they_say_more_than_bits():
    itq, spher = (load("baselines", f"{name}:n_bits=16").fit(X) for name in ("itq", "spher"))
    tree = DistilHash(8, family="tree", random_state=0).fit(X, Y)
    for encoder, reads in ((itq, True), (spher, False), (tree, False)):
        found = other_blocks(encoder, X[:9], encoder.encode(X), same_label(Y[:9], Y))
        assert [name for name, _ in found] == (["real"] if reads else [])
    ((_, blocks),) = other_blocks(itq, X[:9], itq.encode(X), same_label(Y[:9], Y))
    ((distances, _),) = blocks
    np.testing.assert_array_equal(
        distances, prepared_distances(itq.prepare_queries(X[:9], reader="real"), itq.encode(X))
    )


def test_codes_are_those_of_the_database():
    itq = load("baselines", "itq:n_bits=16").fit(X)
    read = read_codes(itq, X, X[:40], "linear")
    np.testing.assert_array_equal(read.codes, itq.encode(X[:40]))
    assert (read.chosen, read.reader.name) == ("", "linear")
    assert [name for name, _ in read.distances(X[:5], same_label(Y[:5], Y[:40]))] == ["linear"]
    assert read_codes(itq, X, X[:40]).reader is None

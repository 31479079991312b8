"""What lies behind the means of a comparison."""

import json

import numpy as np
import pytest

from structhash.evaluation import compare, compare_neighbours, summarise
from structhash.evaluation.details import best_lines, details


@pytest.fixture(scope="module")
def compared():
    """Data, results and lines of a comparison of two seeds."""
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[np.arange(160) % 3]
    X = rng.normal(size=(160, 5)) + 2 * (np.arange(160) % 3)[:, None] * np.eye(5)[0]
    results = list(
        compare(["itq", "lsh", "float"], X, y, bits=[4, 8], seeds=[0, 1], measures=["map", "mrr"], n_queries=30)
    )
    return X, y, results, summarise(results)


def by_query(results, line, measure):
    """{(seed, query): value} of a line."""
    same = [r for r in results if (r.method, r.distance, r.n_bits) == (line.method, line.distance, line.n_bits)]
    return {
        (r.seed, q): v for r in same for q, v in zip(r.found.queries, r.scores.per_query[measure], strict=True)
    }


def test_the_best_line_of_each_method(compared):
    *_, lines = compared
    places = best_lines(lines, "map", 5)
    assert {lines[place].method for place in places} == {"itq", "lsh", "float"}
    for place in places:
        same = [line.mean["map"] for line in lines if line.method == lines[place].method]
        assert lines[place].mean["map"] == max(same)
    assert [lines[place].mean["map"] for place in places] == sorted(
        [lines[p].mean["map"] for p in places], reverse=True
    )
    assert best_lines(lines, "map", 1) == places[:1]
    failed = lines[places[0]]._replace(error="no")
    assert places[0] not in best_lines(
        [failed if line is lines[places[0]] else line for line in lines], "map", 5
    )


def test_classes_are_means_over_their_queries(compared):
    _, y, results, lines = compared
    found = details(lines, results, y, y)
    assert found["classes"]["labels"] == ["a", "b", "c"]
    for measure, table in found["classes"]["values"].items():
        for place, means in zip(found["lines"], table, strict=True):
            values = by_query(results, lines[place], measure)
            for label, mean, count in zip("abc", means, found["classes"]["queries"], strict=True):
                own = [value for (_, query), value in values.items() if y[query] == label]
                assert len(own) == count
                assert mean == pytest.approx(np.mean(own), rel=1e-5)


def test_the_hardest_queries_have_the_least_means(compared):
    _, y, results, lines = compared
    found = details(lines, results, y, y)
    tables = [by_query(results, lines[place], "map") for place in found["lines"]]
    means = {key: np.mean([table[key] for table in tables]) for key in tables[0]}
    expected = sorted(means.values())[:20]
    assert [np.mean(each["values"]) for each in found["hardest"]] == pytest.approx(expected, rel=1e-5)
    for each in found["hardest"]:
        assert each["label"] == y[each["query"]]
        assert each["values"] == pytest.approx([t[each["seed"], each["query"]] for t in tables], rel=1e-5)


def test_examples_are_random_queries_and_the_hardest(compared):
    _, y, results, lines = compared
    found = details(lines, results, y, y, ids=np.arange(160) * 10)
    assert [each["hard"] for each in found["examples"]] == [False] * 4 + [True] * 4
    assert {each["seed"] for each in found["examples"][:4]} == {0}
    hard = [(each["seed"], each["query"]) for each in found["examples"][4:]]
    assert hard == [(each["seed"], each["query"]) for each in found["hardest"][: len(hard)]]
    for each in found["examples"]:
        for place, ranking in zip(found["lines"], each["found"], strict=True):
            line = lines[place]
            result = next(
                r
                for r in results
                if (r.method, r.distance, r.n_bits, r.seed)
                == (line.method, line.distance, line.n_bits, each["seed"])
            )
            asked = result.found.queries.index(each["query"])
            assert [row for row, _ in ranking] == result.found.documents[asked]
            assert [grade for _, grade in ranking] == [int(y[row] == each["label"]) for row, _ in ranking]
            assert all(
                found["labels"][str(row)] == y[row] and found["ids"][str(row)] == str(row * 10)
                for row, _ in ranking
            )
    json.dumps(found, allow_nan=False)


def test_without_labels_there_are_no_classes(compared):
    X = compared[0]
    results = list(compare_neighbours(["float", "lsh"], X, bits=[4], seeds=[0], n_queries=9))
    found = details(summarise(results), results)
    assert found["classes"] is None
    assert (found["labels"], found["ids"]) == ({}, {})
    assert found["hardest"][0]["label"] is None


def test_queries_without_a_value_are_not_hard(compared):
    _, y, results, lines = compared
    lines = [
        line._replace(
            per_query={
                name: np.where(np.arange(60) < 30, np.nan, values) for name, values in line.per_query.items()
            }
        )
        for line in lines
    ]
    found = details(lines, results, y, y)
    assert {each["seed"] for each in found["hardest"]} == {1}
    assert {None} == {each["values"][0] for each in found["examples"][:4]}


def test_results_that_do_not_say_what_was_found_have_no_details(compared):
    _, y, results, lines = compared
    old = [each._replace(found=type(each.found)()) for each in results]
    assert details(lines, old, y, y) == {}
    assert details([], []) == {}
    assert details([line._replace(error="no") for line in lines], results, y, y) == {}

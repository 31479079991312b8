"""Tables and tests of a comparison."""

import json

import numpy as np
import pytest
from scipy import stats

from structhash.baselines.binary_quantization import BinaryQuantization
from structhash.baselines.predicted_class import PredictedClass
from structhash.evaluation import Line, Result, Scores, as_json, as_table, compare, from_json, summarise
from structhash.evaluation.judged import compare_judged
from structhash.evaluation.methods import Method
from structhash.evaluation.neighbours import compare_neighbours
from structhash.evaluation.report import SIGNIFICANCE_LEVEL, paired_interval


def result(method, seed=0, n_bits=8, distance="plain", chosen="", seconds=(1.0, 0.5), **values):
    scores = Scores(
        {m: float(np.nanmean(v)) for m, v in values.items()}, {m: np.array(v) for m, v in values.items()}
    )
    return Result(method, distance, n_bits, seed, chosen, scores, *seconds)


def made(means, n=60, seed=0, **options):
    """Results of one seed whose values lie around these means, by method."""
    rng = np.random.default_rng(seed)
    hard = 0.1 * rng.standard_normal(n)  # queries are easy or hard for all
    return [
        result(method, map=mean + hard + 0.05 * rng.standard_normal(n), **options)
        for method, mean in means.items()
    ]


def holm(raw):
    """Holm's adjusted p-values, literally: compare the k-th smallest of m with level / (m - k + 1)."""
    adjusted = {}
    for i, p in enumerate(raw):
        smaller = sorted(q for q in raw if q <= p)
        adjusted[i] = max(min(1.0, (len(raw) - k) * q) for k, q in enumerate(smaller))
    return list(adjusted.values())


def test_lines_are_means_over_seeds_in_the_order_of_the_results():
    results = [
        result("b", 0, map=[0.1, 0.3], auc=[0.5, 0.5], seconds=(1, 3), chosen="C=1"),
        result("a", 0, map=[0.2, 0.2], auc=[0.6, 0.8]),
        result("b", 1, map=[0.5, 0.9], auc=[0.7, 0.7], seconds=(2, 5), chosen="C=3"),
        result("a", 1, map=[0.4, 0.4], auc=[0.5, 0.5]),
        result("b", 0, n_bits=4, map=[0.1, 0.1], auc=[0.5, 0.5]),
        result("b", 0, distance="weighted", n_bits=4, map=[0.2, 0.1], auc=[0.5, 0.5]),
    ]
    lines = summarise(results)
    assert [(line.method, line.distance, line.n_bits) for line in lines] == [
        ("b", "plain", 8),
        ("a", "plain", 8),
        ("b", "plain", 4),
        ("b", "weighted", 4),
    ]
    first = lines[0]
    assert (first.seeds, first.chosen) == ([0, 1], ["C=1", "C=3"])
    assert first.by_seed == {"map": [pytest.approx(0.2), pytest.approx(0.7)], "auc": [0.5, pytest.approx(0.7)]}
    assert first.mean == {"map": pytest.approx(0.45), "auc": pytest.approx(0.6)}
    assert (first.fit_seconds, first.encode_seconds) == (1.5, 4.0)
    np.testing.assert_array_equal(first.per_query["map"], [0.1, 0.3, 0.5, 0.9])


def test_p_values_are_those_of_scipy_times_holm():
    results = made({"best": 0.62, "near": 0.61, "far": 0.3, "mid": 0.59})
    lines = {line.method: line for line in summarise(results)}
    values = {r.method: r.scores.per_query["map"] for r in results}
    others = ["near", "far", "mid"]
    raw = [stats.ttest_rel(values["best"], values[name]).pvalue for name in others]
    assert raw[0] > SIGNIFICANCE_LEVEL > raw[2] > raw[1]
    assert lines["best"].p_value == {"map": 1.0}
    assert [lines[name].p_value["map"] for name in others] == pytest.approx(holm(raw))


def test_the_t_test_is_the_formula():
    a, b = np.array([0.9, 0.8, 0.7, 0.9, 0.6]), np.array([0.5, 0.6, 0.7, 0.4, 0.3])
    _, other = summarise([result("a", map=a), result("b", map=b)])
    t = np.mean(a - b) / (np.std(a - b, ddof=1) / np.sqrt(5))
    assert other.p_value["map"] == pytest.approx(2 * stats.t.sf(abs(t), 4))


def test_holm_by_hand(monkeypatch):
    raw = iter([0.01, 0.04, 0.03])
    monkeypatch.setattr("structhash.evaluation.report.paired_test", lambda a, b: next(raw))
    lines = summarise(made({"best": 0.9, "b": 0.5, "c": 0.5, "d": 0.5}))
    # sorted .01 .03 .04 times 3 2 1 is .03 .06 .04, made to rise: .03 .06 .06
    assert [line.p_value["map"] for line in lines] == pytest.approx([1, 0.03, 0.06, 0.06])
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_corrected_p_values_stop_at_one(monkeypatch):
    monkeypatch.setattr("structhash.evaluation.report.paired_test", lambda a, b: 0.7)
    assert [line.p_value["map"] for line in summarise(made({"a": 0.9, "b": 0.5, "c": 0.4}))] == [1, 1, 1]


def test_each_length_and_measure_has_its_own_best_and_its_own_test():
    rng = np.random.default_rng(0)
    up, down = 0.7 + 0.1 * rng.random(50), 0.3 + 0.1 * rng.random(50)
    results = [
        result("a", map=up, auc=down),
        result("b", map=down, auc=up),
        result("a", n_bits=4, map=down, auc=down),
        result("b", n_bits=4, map=up, auc=up),
    ]
    a8, b8, a4, b4 = summarise(results)
    p = stats.ttest_rel(up, down).pvalue
    assert (a8.p_value["map"], a8.p_value["auc"]) == (1, pytest.approx(p))
    assert (b8.p_value["map"], b8.p_value["auc"]) == (pytest.approx(p), 1)
    assert (a4.p_value, b4.p_value["map"]) == (dict.fromkeys(["map", "auc"], pytest.approx(p)), 1)


def test_queries_of_all_seeds_are_tested_together():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 40)), rng.random((2, 40)) + 0.1
    results = [result(name, seed, map=v[seed]) for seed in (0, 1) for name, v in (("a", a), ("b", b))]
    lines = {line.method: line for line in summarise(results)}
    assert lines["a"].p_value["map"] == pytest.approx(stats.ttest_rel(a.ravel(), b.ravel()).pvalue)


def test_queries_without_a_value_in_one_line_are_left_out_of_its_test():
    rng = np.random.default_rng(0)
    a, b = rng.random(30), rng.random(30) - 0.2
    a[:3], b[5] = np.nan, np.nan
    lines = summarise([result("a", map=a), result("b", map=b)])
    there = ~(np.isnan(a) | np.isnan(b))
    assert lines[1].p_value["map"] == pytest.approx(stats.ttest_rel(a[there], b[there]).pvalue)


@pytest.mark.parametrize(("shift", "expected"), [(0.0, 1.0), (0.1, 0.0)])
def test_lines_that_differ_by_the_same_amount_at_every_query_have_p_value_1_or_0(shift, expected):
    values = np.random.default_rng(0).random(40)
    lines = summarise([result("a", map=values), result("b", map=values - shift)])
    assert lines[1].p_value["map"] == expected


def test_one_query_is_never_significant():
    assert summarise([result("a", map=[0.9]), result("b", map=[0.1])])[1].p_value["map"] == 1


def test_the_float_line_is_neither_tested_nor_the_best():
    rng = np.random.default_rng(0)
    top = result("float", n_bits=0, distance="L2", map=0.9 + 0.05 * rng.random(60))
    lines = summarise([top, *made({"a": 0.6, "b": 0.2})])
    assert [line.p_value["map"] for line in lines[:2]] == [1, 1]
    assert lines[2].p_value["map"] < SIGNIFICANCE_LEVEL


def test_lines_of_different_seeds_are_refused():
    results = [result("a", 0, map=[0.1, 0.2]), result("a", 1, map=[0.1, 0.2]), result("b", 0, map=[0.3, 0.4])]
    with pytest.raises(ValueError, match=r"b has the seeds \[0\], a \[0, 1\]; compare lines of the same seeds"):
        summarise(results)


def line(method="a", n_bits=8, p=1.0, mean=0.5, distance="plain"):
    return Line(method, distance, n_bits, [0], [], {"map": mean}, {"map": [mean]}, {}, {"map": p}, 1.234, 12.5)


@pytest.mark.parametrize(
    ("p", "star"),
    [
        (SIGNIFICANCE_LEVEL * 0.99, True),
        (SIGNIFICANCE_LEVEL, False),
        (SIGNIFICANCE_LEVEL * 1.01, False),
        (1.0, False),
    ],
)
def test_a_star_marks_p_values_below_the_level_only(p, star):
    assert ("*" in as_table([line(p=p)])) is star


def test_the_columns_of_the_table_are_aligned():
    text = as_table(
        [
            line("structhash:C=3", p=0.01, mean=0.75),
            line("float", 0, mean=1.0, distance="L2"),
            line("b", 128, mean=0),
        ]
    )
    assert text == (
        "method          distance  bits     map  fit s  encode s\n"
        "--------------  --------  ----  ------  -----  --------\n"
        "structhash:C=3  plain        8  0.750*   1.23     12.50\n"
        "float           L2           -  1.000    1.23     12.50\n"
        "b               plain      128  0.000    1.23     12.50\n"
    )


def test_an_empty_comparison_is_an_empty_table():
    assert summarise([]) == []
    assert len(as_table([]).splitlines()) == 2


def test_json_holds_what_it_is_about_and_every_line_without_queries():
    lines = summarise([*made({"a": 0.6, "b": 0.2}), result("float", n_bits=0, distance="L2", map=[0.5])])
    found = json.loads(json.dumps(as_json(lines, data="digits", seed=3), allow_nan=False))
    assert (found["data"], found["seed"]) == ("digits", 3)
    assert [entry["method"] for entry in found["lines"]] == ["a", "b", "float"]
    for entry, each in zip(found["lines"], lines, strict=True):
        assert set(entry) == set(Line._fields) - {"per_query"}
        assert entry["mean"] == each.mean
        assert entry["p_value"] == each.p_value
    assert as_table(from_json(found)) == as_table(lines)


def test_a_real_comparison_becomes_a_table_and_json():
    rng = np.random.default_rng(0)
    y = np.arange(120) % 4
    X = 2 * rng.standard_normal((4, 5))[y] + rng.standard_normal((120, 5))
    lines = summarise(compare(["lsh", "itq", "float"], X, y, bits=np.array([4]), seeds=np.arange(2)))
    assert [each.seeds for each in lines] == [[0, 1]] * 3
    assert {len(row) for row in as_table(lines).splitlines()[1:]} == {len(as_table(lines).splitlines()[1])}
    json.dumps(as_json(lines), allow_nan=False)


def test_lines_that_compare_floats_are_not_tested():
    codes = made({"best": 0.6, "other": 0.5})
    floats = [each._replace(reads_floats=True) for each in made({"control": 0.9}, distance="chances")]
    alone, together = summarise(codes), summarise([*codes, *floats])
    assert [line.p_value for line in together] == [*(line.p_value for line in alone), {"map": 1.0}]
    assert [line.is_code for line in together] == [True, True, False]
    assert not summarise(made({"float": 0.9}, n_bits=0, distance="L2"))[0].is_code


def test_lines_have_the_numbers_of_rows_of_each_seed():
    X = np.random.default_rng(0).standard_normal((90, 8))
    qrels = np.array([[query, document, 1] for query in range(10) for document in (query, query + 10)])
    judged = summarise(compare_judged(["lsh", "float"], X, X[:12], qrels, bits=[8], seeds=[0, 1]))
    assert [line.sizes for line in judged] == [[(90, 10, 90)] * 2] * 2  # two queries have no judgements
    near = summarise(compare_neighbours(["lsh", "float"], X, X[:12], bits=[8], seeds=[0], n_train=50))
    assert [line.sizes for line in near] == [[(50, 12, 90)]] * 2
    drawn = summarise(compare_neighbours(["float"], X, bits=[8], seeds=[0]))
    assert drawn[0].sizes == [(68, 22, 68)]
    assert summarise([result("a", 0, map=[0.1, 0.3])])[0].sizes == []


def test_the_traits_of_a_method_are_those_of_its_class_whatever_it_is_called():
    rng = np.random.default_rng(0)
    y = np.arange(80) % 4
    X = 2 * rng.standard_normal((4, 5))[y] + rng.standard_normal((80, 5))
    methods = [Method("mine", (PredictedClass(),)), Method("signs", (BinaryQuantization(),)), "lsh", "float"]
    lines = summarise(compare(methods, X, y, bits=[8], seeds=[0]))
    judgements = np.array([[query, document, 1] for query in range(20) for document in (query, query + 20)])
    lines += summarise(compare_judged(methods[1:], X, X[:20], judgements, bits=[8], seeds=[0]))
    found = [(line.method, line.distance, line.is_code, line.one_hot) for line in lines]
    signs = [("signs", "plain", True, False), ("signs", "rescored", False, False)]
    others = [("lsh", "plain", True, False), ("float", "L2", False, False)]
    assert found[:2] == [("mine", "plain", True, True), ("mine", "posterior", False, True)]
    assert found[2:] == 2 * [*signs, *others]
    assert from_json(json.loads(json.dumps(as_json(lines))))[1].reads_floats


def test_a_line_of_an_earlier_document_has_the_traits_of_its_method():
    specs = ["predicted_class:confidence_bits=4", "binary_quantization@database", "lsh", "of another package"]
    document = as_json(
        [line(spec, distance=each) for spec in specs for each in ("plain", "posterior", "rescored")]
    )
    for entry in document["lines"]:
        for name in ("reads_floats", "one_hot", "above_vectors"):
            del entry[name]
    lines = from_json(document)
    floats = [(each.method, each.distance) for each in lines if not each.is_code]
    assert floats == [(specs[0], "posterior"), (specs[1], "rescored")]
    assert [each.one_hot for each in lines] == 3 * [True] + 9 * [False]
    assert {each.above_vectors for each in lines} == {None}


@pytest.mark.parametrize("seeds", [[0], [0, 1, 2]])
def test_the_interval_to_the_vectors_is_that_of_scipy(seeds):
    rng = np.random.default_rng(0)
    codes, floats = rng.random((2, len(seeds), 40))
    codes[:, :3] = floats[:, :3] = np.nan  # queries without relevant rows
    pairs = list(zip(seeds, codes, floats))
    results = [result("a", seed, map=a, pr_area=a, mine=a) for seed, a, _ in pairs]
    results += [result("float", seed, 0, "L2", map=b, pr_area=b, mine=b) for seed, _, b in pairs]
    line, vectors = summarise(results)
    there = ~np.isnan(codes)
    expected = stats.ttest_rel(codes[there], floats[there]).confidence_interval(0.95)
    interval = pytest.approx(tuple(expected))
    assert line.above_vectors == {"map": interval, "mine": interval}  # pr_area is no mean of its values
    assert vectors.above_vectors is None
    assert json.loads(json.dumps(as_json([line])))["lines"][0]["above_vectors"]["map"] == pytest.approx(
        [*expected]
    )


def test_there_is_no_interval_without_two_queries_or_with_other_queries():
    assert paired_interval(np.array([0.5, np.nan]), np.array([0.1, 0.2])) is None
    assert paired_interval(np.array([0.5, 0.75]), np.array([0.25, 0.5])) == (0.25, 0.25)
    code, _ = summarise([result("a", 0, map=[0.5, 0.7]), result("float", 1, 0, "L2", map=[0.1, 0.2])])
    assert code.above_vectors == {}
    assert summarise([result("a", map=[0.5, 0.7])])[0].above_vectors is None


def test_no_interval_or_star_contradicts_means_over_seeds_of_different_sizes():
    rng = np.random.default_rng(0)
    more, less = 0.7 + 0.1 * rng.random(5), 0.3 + 0.1 * rng.random(90)  # of the seeds 0 and 1
    results = [
        result(name, seed, n_bits, map=values)
        for name, n_bits, both in (("a", 8, (more, less)), ("b", 8, (more - 0.4, less + 0.05)))
        for seed, values in enumerate(both)
    ]
    results += [result("float", seed, 0, "L2", map=each) for seed, each in enumerate((more - 0.4, less + 0.05))]
    a, b, vectors = summarise(results)
    assert a.mean["map"] > b.mean["map"] == vectors.mean["map"]  # although most queries are below
    high = paired_interval(a.per_query["map"], vectors.per_query["map"])[1]
    assert high < 0
    assert stats.ttest_rel(a.per_query["map"], b.per_query["map"]).pvalue < SIGNIFICANCE_LEVEL
    assert b.p_value["map"] == 1
    assert a.above_vectors == {}
    assert "*" not in as_table([a, b])


def test_an_interval_covers_the_mean_as_often_as_it_says():
    rng = np.random.default_rng(0)
    draws = 0.3 + rng.standard_normal((4000, 6))
    intervals = [paired_interval(each, np.zeros(6), 0.9) for each in draws]
    share = np.mean([low <= 0.3 <= high for low, high in intervals])
    assert abs(share - 0.9) < 4 * np.sqrt(0.9 * 0.1 / 4000)

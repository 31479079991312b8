"""Learned estimators: warm starts, steps, and a fit that fails or stops half-way changes nothing."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from structhash import CGHash, DistilHash, StructHash
from structhash.families.linear import Linear
from structhash.training import column_generation

ALL = [CGHash, DistilHash, StructHash]
MODELS = [
    CGHash(5, random_state=3, tolerance=1e-4),
    DistilHash(5, random_state=3),
    DistilHash(5, random_state=3, embedding="metric", family="stump"),
    DistilHash(5, random_state=3, embedding="manifold", start="random_planes"),
    StructHash(5, random_state=3, ranking="ndcg:k=10", schedule="totally_corrective", family="stump"),
    StructHash(5, random_state=3, C=1e-3),  # the dual stands still: every later bit is a redraw
]


def attributes(model):
    """Every fitted attribute."""
    return {name: value for name, value in vars(model).items() if name.endswith("_")}


def unchanged(model, before):
    """Whether the model has the very objects that it had before, and no others."""
    now = attributes(model)
    return now.keys() == before.keys() and all(now[name] is before[name] for name in now)


# warm starts


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_growing_equals_learning_at_once(model, digits):
    X, y = digits
    grown = type(model)(**model.get_params()).set_params(warm_start=True).fit(X, y)
    first = [record["seconds"] for record in grown.history_]
    grown.set_params(n_bits=9).fit(X, y)
    whole = type(model)(**model.get_params()).set_params(n_bits=9).fit(X, y)
    np.testing.assert_array_equal(grown.encode(X), whole.encode(X))
    np.testing.assert_array_equal(grown.encode_queries(X), whole.encode_queries(X))
    np.testing.assert_array_equal(grown.weights_at(7), whole.weights_at(7))
    np.testing.assert_allclose(grown.prefix_weights_, whole.prefix_weights_, atol=1e-12)
    for ours, theirs in zip(grown.history_, whole.history_, strict=True):
        assert {**ours, "seconds": 0} == pytest.approx({**theirs, "seconds": 0})
    assert [record["seconds"] for record in grown.history_[:5]] == first


@pytest.mark.parametrize("cls", ALL)
def test_without_warm_start_a_second_fit_starts_from_the_beginning(cls, digits):
    X, y = digits
    model = cls(3, random_state=0).fit(X, y)
    assert model.set_params(n_bits=2).fit(X, y).n_bits_ == 2


@pytest.mark.parametrize("cls", [CGHash, StructHash])
def test_a_warm_start_with_other_labels_keeps_the_bits_and_learns_the_rest_from_them(cls, digits):
    X, y = digits
    model = cls(3, random_state=0, warm_start=True).fit(X, y)
    bits = model.transform(X)
    model.set_params(n_bits=5).fit(X, y % 2)
    same = cls(5, random_state=0, warm_start=True).fit(X, y)
    np.testing.assert_array_equal(model.transform(X)[:, :3], bits)
    assert (model.transform(X)[:, 3:] != same.transform(X)[:, 3:]).any()


@pytest.mark.slow
@pytest.mark.parametrize("cls", ALL)
def test_a_warm_start_that_cannot_go_on_is_refused_and_the_model_stays(cls, digits):
    X, y = digits
    model = cls(4, random_state=0, warm_start=True).fit(X, y)
    codes = model.encode(X)
    before = attributes(model)
    with pytest.raises(ValueError, match="cannot take bits away; give at least 4"):
        model.set_params(n_bits=3).fit(X, y)
    with pytest.raises(ValueError, match="needs an integer"):
        model.set_params(n_bits=6, random_state=None).fit(X, y)
    with pytest.raises(ValueError, match="same rows, family and random_state"):
        model.set_params(random_state=0).fit(X + np.arange(64) % 3, np.roll(y, 1))
    with pytest.raises(ValueError, match="same rows, family and random_state"):
        model.set_params(family="stump").fit(X, y)
    np.testing.assert_array_equal(model.encode(X), codes)
    assert unchanged(model, before)


@pytest.mark.slow
@pytest.mark.parametrize("cls", ALL)
def test_a_warm_start_with_as_many_bits_learns_none(cls, digits):
    X, y = digits
    model = cls(4, random_state=0, warm_start=True).fit(X, y)
    codes, history = model.encode(X), model.history_
    model.fit(X, y)
    np.testing.assert_array_equal(model.encode(X), codes)
    assert model.history_ == history


def test_a_warm_start_keeps_the_temperatures_of_the_longer_code(digits):
    X, y = digits
    grown = DistilHash(5, random_state=3, warm_start=True).fit(X, y)
    assert len(grown.hash_function_.query_temperatures) == 3
    grown.set_params(n_bits=9).fit(X, y)
    assert len(grown.hash_function_.query_temperatures) == 4


# a fit that fails or stops half-way


def fail(*args, **kwargs):
    raise RuntimeError("on purpose")


def fail_late(monkeypatch):
    """Column generation fails at the third bit."""
    calls, new_bit = itertools.count(), column_generation.new_bit
    monkeypatch.setattr(
        column_generation, "new_bit", lambda *args: fail() if next(calls) == 2 else new_bit(*args)
    )


FAILURES = {
    "family": lambda monkeypatch: monkeypatch.setattr(Linear, "prepare", fail),
    "bit": fail_late,
    "last bit": lambda monkeypatch: monkeypatch.setattr(column_generation.Learned, "from_steps", fail),
}


@pytest.mark.slow
@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("cls", ALL)
def test_an_exception_leaves_every_attribute_as_it_was(cls, failure, digits, monkeypatch):
    X, y = digits
    model, new = cls(4, random_state=0).fit(X, y), cls(4, random_state=0)
    before, codes, settings = attributes(model), model.encode(X), vars(new).copy()
    with monkeypatch.context() as patch:
        FAILURES[failure](patch)
        for each in (model, new):
            with pytest.raises(RuntimeError, match="on purpose"):
                each.fit(X[:, :60], y)
            FAILURES[failure](patch)
    assert unchanged(model, before)
    np.testing.assert_array_equal(model.encode(X), codes)
    assert vars(new) == settings


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"n_bits": 0},
        {"family": "nosuch"},
        {"start": "nosuch"},
        {"tolerance": -1},
        {"random_state": "a"},
    ],
    ids=repr,
)
@pytest.mark.parametrize("cls", ALL)
def test_a_bad_setting_leaves_every_attribute_as_it_was(cls, settings, digits):
    model = cls(4, random_state=0).fit(*digits)
    before = attributes(model)
    with pytest.raises(ValueError, match=next(iter(settings)).removesuffix("y")):
        model.set_params(**settings).fit(*digits)
    assert unchanged(model, before)


@pytest.mark.parametrize("cls", ALL)
def test_bad_rows_and_labels_leave_every_attribute_as_it_was(cls, digits):
    X, y = digits
    model = cls(4, random_state=0).fit(X, y)
    before, codes = attributes(model), model.encode(X)
    for rows, labels, message in (
        (X, np.zeros(len(X)), "give at least 2 classes"),
        (np.where(X > 15, np.nan, X), y, "NaN"),
        (np.zeros((30, 5)), np.arange(30) % 3, "the same"),
        (X[:, :5], y[:9], r"labels have shape \(9,\)"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(rows, labels)
        assert unchanged(model, before)
    np.testing.assert_array_equal(model.encode(X), codes)


@pytest.mark.slow
@pytest.mark.parametrize("taken", [0, 1, 4])
@pytest.mark.parametrize("cls", ALL)
def test_steps_that_are_closed_early_leave_every_attribute_as_it_was(cls, taken, digits):
    X, y = digits
    model, new = cls(4, random_state=0).fit(X, y), cls(4, random_state=0)
    before, codes, settings = attributes(model), model.encode(X), vars(new).copy()
    for each in (model, new):
        steps = each.steps(X[:, :60], y)
        assert len(list(itertools.islice(steps, taken))) == taken
        steps.close()
    assert unchanged(model, before)
    np.testing.assert_array_equal(model.encode(X), codes)
    assert vars(new) == settings
    with pytest.raises(NotFittedError):
        new.transform(X)


@pytest.mark.slow
@pytest.mark.parametrize("cls", ALL)
def test_the_model_is_set_once_the_steps_are_exhausted(cls, digits):
    X, y = digits
    model, plain = cls(3, random_state=0), cls(3, random_state=0).fit(X, y)
    for _ in (steps := model.steps(X, y)):
        assert not hasattr(model, "n_bits_")
    assert list(steps) == []
    np.testing.assert_array_equal(model.encode(X), plain.encode(X))


@pytest.mark.slow
@pytest.mark.parametrize("cls", ALL)
def test_a_second_fit_keeps_nothing_of_the_first(cls, digits):
    X, y = digits
    model = cls(3, random_state=0).fit(X, y)
    model.name_columns(["a"] * 64)
    model.fit(X[:, :30], y)
    fresh = clone(model).fit(X[:, :30], y)
    assert vars(model).keys() == vars(fresh).keys()
    assert model.n_features_in_ == 30
    np.testing.assert_array_equal(model.encode(X[:, :30]), fresh.encode(X[:, :30]))


# prefix weights


@pytest.mark.parametrize("cls", ALL)
def test_row_t_of_the_prefix_weights_holds_the_weights_of_t_bits(cls, digits):
    X, y = digits
    model = cls(5, random_state=0)
    steps = list(model.steps(X, y))
    assert model.prefix_weights_.shape == (5, 5)
    assert not np.triu(model.prefix_weights_, 1).any()
    for t, step in enumerate(steps, 1):
        np.testing.assert_array_equal(model.prefix_weights_[t - 1, :t], step.weights)
        np.testing.assert_array_equal(model.weights_at(t), step.weights)
    np.testing.assert_array_equal(model.prefix_weights_[-1], model.weights_)


@pytest.mark.parametrize("cls", ALL)
def test_a_row_with_nan_is_refused_in_the_name_of_the_class(cls, digits):
    X, y = digits[0][:60], digits[1][:60]
    model = cls(2, random_state=0).fit(X, y)
    holed = X[:3].copy()
    holed[1, 0] = np.nan
    for code in (model.encode, model.encode_queries, model.transform):
        with pytest.raises(ValueError, match=f"{cls.__name__}: X holds NaN in row 1, column 0; remove"):
            code(holed)


@pytest.mark.parametrize("cls", [DistilHash, StructHash, CGHash])
@pytest.mark.parametrize("name", ["warm_start", "stop_at_optimum"])
def test_text_is_no_flag(cls, name):
    with pytest.raises(ValueError, match=f"{name}='False': give True or False"):
        cls(**{name: "False"}).check_settings()


@pytest.mark.parametrize("n_alone", [0, 1, 2])
def test_classes_of_one_row_are_reported(n_alone, digits, caplog):
    X, y = digits
    rows, y = X[:60], np.arange(60) % 3
    y[:n_alone] = 100 + np.arange(n_alone)
    DistilHash(4, random_state=0).fit(rows, y)
    who = "1 class has" if n_alone == 1 else f"{n_alone} classes have"
    said = f"{who} a single training row: new rows of such a class may get the codes of other classes"
    assert (said in caplog.text) == (n_alone > 0)
    assert caplog.text.count("single training row") == (n_alone > 0)

"""Every encoder: bits, codes, prefixes, batches, the scikit-learn side."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structhash import CGHash, DistilHash, HashEncoder, StructHash
from structhash.pieces import load

X, Y = (array[:120] for array in load_digits(return_X_y=True))
MORE = load_digits().data[200:300]
SMALL = {"n_bits": 10, "random_state": 0}
FEW = {"n_near": 5, "n_far": 5}
ENCODERS = {
    "distilhash": DistilHash(**SMALL),
    "distilhash-metric": DistilHash(**SMALL, embedding="metric"),
    "structhash": StructHash(**SMALL, **FEW),
    "structhash-corrective": StructHash(**SMALL, **FEW, schedule="totally_corrective"),
    "cghash": CGHash(**SMALL, **FEW),
    "cghash-stagewise": CGHash(**SMALL, **FEW, schedule="stagewise"),
}


@pytest.fixture(scope="module", params=list(ENCODERS))
def fitted(request):
    return clone(ENCODERS[request.param]).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    return DistilHash(**SMALL).fit(X, Y)


# bits, codes, prefixes


def test_bits_are_uint8_zeros_and_ones_and_vary(fitted):
    bits = fitted.transform(MORE)
    assert (bits.dtype, bits.shape) == (np.uint8, (100, 10))
    assert set(np.unique(bits)) == {0, 1}


def test_codes_are_bits_packed_little_with_zero_pads(fitted):
    bits, codes = fitted.transform(MORE), fitted.encode(MORE)
    assert (codes.dtype, codes.shape) == (np.uint8, (100, 2))
    for j in range(10):  # bit j stands at value 2 ** (j % 8) of byte j // 8
        np.testing.assert_array_equal(codes[:, j // 8] >> (j % 8) & 1, bits[:, j])
    assert codes[:, 1].max() < 4


@pytest.mark.parametrize("k", [1, 7, 8, 9, 10])
def test_a_prefix_code_holds_the_first_bits(fitted, k):
    expected = np.packbits(fitted.transform(MORE)[:, :k], axis=1, bitorder="little")
    np.testing.assert_array_equal(fitted.encode(MORE, n_bits=k), expected)


@pytest.mark.parametrize("k", [1, 2, 7])
def test_a_prefix_is_the_model_of_that_length(fitted, k):
    short = clone(fitted).set_params(n_bits=k).fit(X, Y)
    np.testing.assert_array_equal(fitted.encode(MORE, n_bits=k), short.encode(MORE))
    np.testing.assert_array_equal(fitted.encode_queries(MORE, n_bits=k), short.encode_queries(MORE))
    np.testing.assert_array_equal(fitted.weights_at(k), short.weights_)


def test_weights_of_all_bits_are_the_weights(fitted):
    np.testing.assert_array_equal(fitted.weights_at(10), fitted.weights_)
    assert (fitted.weights_.dtype, fitted.weights_.shape) == (np.float64, (10,))


@pytest.mark.parametrize("k", [0, -1, 11, 2.0, "3", True])
def test_a_prefix_out_of_range_is_refused(model, k):
    with pytest.raises(ValueError, match="this model has 10 bits; give 1 to 10"):
        model.encode(MORE, n_bits=k)
    with pytest.raises(ValueError, match="this model has 10 bits; give 1 to 10"):
        model.encode_queries(MORE, n_bits=k)
    with pytest.raises(ValueError, match="this model has 10 bits; give 1 to 10"):
        model.weights_at(k)


@pytest.mark.parametrize("name", list(ENCODERS))
def test_nothing_works_before_fit(name, tmp_path):
    encoder = clone(ENCODERS[name])
    for use in (
        lambda: encoder.transform(X),
        lambda: encoder.encode(X),
        lambda: encoder.encode(X, n_bits=99),
        lambda: encoder.encode_queries(X),
        lambda: encoder.weights_at(1),
        lambda: encoder.score(X, Y),
        lambda: encoder.save(tmp_path / "model"),
        encoder.get_feature_names_out,
        encoder.fingerprint,
        lambda: encoder.name_columns(["a"]),
        encoder.queries_differ,
    ):
        with pytest.raises(NotFittedError):
            use()
    assert not (tmp_path / "model").exists()


# batches


def test_single_rows_give_the_bits_of_all(fitted):
    single = np.concatenate([fitted.transform(row[None]) for row in MORE])
    np.testing.assert_array_equal(single, fitted.transform(MORE))


@pytest.mark.parametrize("rows", [1, 7, 99, 100, 101])
def test_the_size_of_a_block_does_not_matter(model, rows, monkeypatch):
    whole = model.transform(MORE)
    monkeypatch.setattr("structhash.codes.encoding.BLOCK_ROWS", rows)
    np.testing.assert_array_equal(model.transform(MORE), whole)
    np.testing.assert_array_equal(model.encode(MORE), np.packbits(whole, axis=1, bitorder="little"))


# the scikit-learn side


def test_output_names_count_the_bits(fitted):
    name = type(fitted).__name__.lower()
    assert fitted.get_feature_names_out().tolist() == [f"{name}{j}" for j in range(10)]


def test_pandas_output_has_the_bits_and_leaves_encode_and_score_alone(model):
    framed = clone(model).set_output(transform="pandas").fit(X, Y)
    index = pd.Index(np.arange(100) + 7)
    found = framed.transform(pd.DataFrame(MORE, index=index).to_numpy())
    assert isinstance(found, pd.DataFrame)
    assert found.columns.tolist() == framed.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.to_numpy(), model.transform(MORE))
    np.testing.assert_array_equal(framed.encode(MORE), model.encode(MORE))
    assert framed.score(X, Y) == model.score(X, Y)


def test_pandas_output_keeps_the_index():
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)], index=np.arange(120) + 7)
    found = DistilHash(**SMALL).set_output(transform="pandas").fit(frame, Y).transform(frame)
    assert found.index.tolist() == frame.index.tolist()


def test_a_pipeline_encodes_what_its_scaler_gives():
    pipeline = make_pipeline(StandardScaler(), DistilHash(**SMALL)).fit(X, Y)
    scaled = StandardScaler().fit(X).transform(X)
    alone = DistilHash(**SMALL).fit(scaled, Y)
    np.testing.assert_array_equal(pipeline.transform(X), alone.transform(scaled))
    assert pipeline.score(X, Y) == alone.score(scaled, Y)
    assert pipeline.get_feature_names_out().tolist() == [f"distilhash{j}" for j in range(10)]


def test_fit_transform_is_fit_then_transform(model):
    np.testing.assert_array_equal(DistilHash(**SMALL).fit_transform(X, Y), model.transform(X))


# what a method may leave to the base class


def test_defaults_of_the_contract():
    encoder = HashEncoder()
    assert encoder.check_settings() is None
    assert not encoder.learns_from_judgements()
    assert not encoder.queries_differ()
    assert not encoder.takes_unlabeled
    assert [words for words, _ in encoder.alternatives()] == ["as set"]
    with pytest.raises(NotImplementedError, match="HashEncoder has plain and weighted Hamming distances only"):
        encoder.own_distances(X)


@pytest.mark.parametrize("name", list(ENCODERS))
def test_settings_are_checked_without_data(name):
    encoder = clone(ENCODERS[name])
    encoder.check_settings()
    for setting, message in (
        ({"n_bits": 0}, "n_bits=0: give an integer"),
        ({"family": "nosuch"}, "families is called 'nosuch'"),
        ({"start": "nosuch"}, "starts is called 'nosuch'"),
        ({"tolerance": -1}, "tolerance=-1: give a finite number"),
    ):
        with pytest.raises(ValueError, match=message):
            clone(encoder).set_params(**setting).check_settings()


def test_a_fingerprint_tells_what_changes_codes_and_nothing_else(model):
    fingerprint = model.fingerprint()
    other = clone(model).fit(X, Y)
    assert other.fingerprint() == fingerprint
    other.name_columns([f"pixel{j}" for j in range(64)])
    assert other.set_params(random_state=3).fingerprint() == fingerprint
    other.hash_function_ = replace(other.hash_function_, row_temperature=3.0)
    assert other.fingerprint() != fingerprint
    threads = CGHash(4, random_state=0).fit(X[:100], Y[:100])
    fingerprint = threads.fingerprint()
    assert threads.set_params(n_jobs=2).fingerprint() == fingerprint
    of = [
        load("baselines", f"classifier_lsh:n_bits=4,of={of},random_state=0")
        for of in ("scores", "probabilities")
    ]
    one, two = (each.fit(X, Y).fingerprint() for each in of)  # their arrays are the same
    assert one != two


def test_a_fingerprint_tells_models_apart(model):
    again, other = (DistilHash(**SMALL).fit(X[:n], Y[:n]) for n in (len(X), len(X) - 1))
    assert len(model.fingerprint()) == 8
    assert model.fingerprint() == again.fingerprint() != other.fingerprint()


def test_a_model_is_not_saved_over_a_data_file(fitted, tmp_path):
    path = tmp_path / "x.npz"
    np.savez(path, X=X)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"is a \.npz or other zip file; give another name"):
        fitted.save(path)
    assert path.read_bytes() == before
    fitted.save(path, force=True)
    fitted.save(path)


def test_names_of_columns_are_kept_until_the_next_fit():
    model = DistilHash(**SMALL).fit(X, Y)
    model.name_columns([f"pixel{j}" for j in range(64)])
    assert model.column_names_[3] == "pixel3"
    assert model.fit(X, Y).column_names_ is None


@pytest.mark.parametrize(
    ("encoder", "words"),
    [
        (DistilHash(), ["as set", "start=several", "structhash:family=rbf"]),
        (DistilHash(embedding="manifold"), ["as set", "start=several"]),
        (DistilHash(start="random_planes"), ["as set", "structhash:family=rbf"]),
        (DistilHash(family="stump"), ["as set", "start=several"]),
        (StructHash(), ["as set", "C=3", "C=300", "family=rbf"]),
        (StructHash(C=1), ["as set", "C=0.1", "C=10", "family=rbf"]),
        (StructHash(schedule="totally_corrective"), ["as set", "C=3", "C=300", "family=rbf"]),
        (StructHash(family="tree"), ["as set", "C=3", "C=300"]),
        (StructHash(C="auto"), ["as set", "family=rbf"]),
        (CGHash(), ["as set", "C=30", "C=3000", "family=rbf"]),
        (CGHash(C=5e7), ["as set", "C=5e+06", "family=rbf"]),
    ],
    ids=repr,
)
def test_alternatives_change_settings_that_have_their_defaults(encoder, words):
    grid = encoder.alternatives()
    assert [each for each, _ in grid] == words
    assert all(other is not encoder and not hasattr(other, "n_bits_") for _, other in grid)
    for text, other in grid:
        if text == "structhash:family=rbf":
            assert other.get_params() == StructHash(family="rbf", start=encoder.start).get_params()
            continue
        change = {} if text == "as set" else dict(part.split("=") for part in text.split(","))
        if "C" in change:
            change["C"] = float(change["C"])
        assert other.get_params() == {**encoder.get_params(), **change}


@pytest.mark.slow
@pytest.mark.parametrize(
    "encoder",
    [
        DistilHash(**SMALL),
        StructHash(**SMALL, **FEW),
        StructHash(**SMALL, **FEW, C="auto"),
        CGHash(**SMALL, **FEW),
    ],
    ids=repr,
)
def test_every_alternative_can_be_fitted(encoder):
    for _, other in encoder.alternatives():
        assert 0 < other.fit(X, Y).score(MORE, load_digits().target[200:300]) <= 1


def test_an_interrupted_store_leaves_the_old_state_or_the_new_one():
    class Interrupting:
        def keys(self):
            yield "n_bits_"
            raise KeyboardInterrupt

        def __getitem__(self, name):
            return 9

    encoder = DistilHash(2, random_state=0).fit(X, Y)
    before = dict(vars(encoder))
    with pytest.raises(KeyboardInterrupt):
        encoder._store({}, Interrupting())
    assert vars(encoder) == before
    encoder._store({"n_features_in_": 64}, {"n_bits_": 9})
    assert vars(encoder) == {**encoder.get_params(), "n_features_in_": 64, "n_bits_": 9}


@pytest.mark.parametrize("names", [["a"], "a" * 64, list(range(64)), None])
def test_names_that_do_not_fit_the_columns_are_refused_at_once(model, names):
    with pytest.raises((TypeError, ValueError), match=r"names=.*: give a"):
        model.name_columns(names)
    assert model.column_names_ is None

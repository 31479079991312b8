"""What every encoder shares: bits, codes, prefixes, kinds of input, score, one file."""

import itertools
import os
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from structhash import CGHash, HashEncoder, StructHash, load_model
from structhash.codes import unpack
from structhash.families.linear import Linear
from structhash.families.starts.spectral import Spectral
from structhash.io import container as files
from structhash.metrics import average_precision, tie_blocks
from structhash.objectives.rankings.ndcg import NDCG
from structhash.pieces import names

SMALL = {"n_bits": 10, "n_near": 5, "n_far": 5, "random_state": 0}
ENCODERS = {
    "structhash": StructHash(**SMALL),
    "structhash-corrective": StructHash(**SMALL, schedule="totally_corrective"),
    "cghash": CGHash(**SMALL),
    "cghash-stagewise": CGHash(**SMALL, schedule="stagewise"),
}
X, Y = (array[:120] for array in load_digits(return_X_y=True))
MORE = load_digits().data[200:300]


class Signs(HashEncoder):
    """Bit j of a row: its j-th number is above 0. Weights as given."""

    def __init__(self, weights=None):
        self.weights = weights

    def fit(self, X, y=None):
        X = self._check(X)
        self.n_bits_ = X.shape[1]
        self.weighted_ = self.weights is not None
        self.weights_ = np.ones(self.n_bits_) if self.weights is None else np.asarray(self.weights, float)
        self.history_ = []
        return self

    def _bits(self, X):
        return X > 0


@pytest.fixture(scope="module", params=list(ENCODERS))
def fitted(request):
    return clone(ENCODERS[request.param]).fit(X, Y)


@pytest.fixture(scope="module")
def model():
    return StructHash(**SMALL).fit(X, Y)


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
    ):
        with pytest.raises(NotFittedError):
            use()
    assert not (tmp_path / "model").exists()


def test_nothing_works_after_a_fit_that_failed_or_stopped_half_way():
    encoder = StructHash(**SMALL)
    with pytest.raises(ValueError, match="give at least 2 classes"):
        encoder.fit(X, np.zeros(len(X)))
    with pytest.raises(NotFittedError):
        encoder.transform(X)
    next(encoder.steps(X, Y))
    with pytest.raises(NotFittedError):
        encoder.transform(X)


# kinds of input


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int16", "int64", "bool"])
def test_every_number_type_fits_and_encodes(dtype):
    data = (X > 7).astype(dtype) if dtype == "bool" else X.astype(dtype)  # 0..16: exact in every type
    bits = StructHash(**SMALL).fit(data, Y).transform(data)
    assert bits.shape == (120, 10)
    assert 0 < bits.mean() < 1


@pytest.mark.parametrize("dtype", ["float16", "uint8", "int16"])
def test_small_numbers_give_the_bits_of_their_float32_copy(dtype):
    rng = np.random.default_rng(0)
    data = (X * 2 + rng.random(X.shape)).astype(dtype)
    copy = data.astype(np.float32)
    a, b = StructHash(**SMALL).fit(data, Y), StructHash(**SMALL).fit(copy, Y)
    np.testing.assert_array_equal(a.transform(data), b.transform(copy))
    np.testing.assert_array_equal(a.weights_, b.weights_)
    assert same(a.bits_, b.bits_)  # in float32 as well
    np.testing.assert_array_equal(b.transform(data), b.transform(copy))


def test_long_integers_give_the_bits_of_their_float64_copy(model):
    np.testing.assert_array_equal(model.transform(MORE.astype(np.int64)), model.transform(MORE))


def memory_map(array, folder):
    mapped = np.memmap(folder / "X.bin", array.dtype, "w+", shape=array.shape)
    mapped[:] = array
    return mapped


def read_only(array, _):
    array = array.copy()
    array.setflags(write=False)
    return array


LAYOUTS = {
    "lists": lambda array, _: array.tolist(),
    "read-only": read_only,
    "fortran": lambda array, _: np.asfortranarray(array),
    "strided": lambda array, _: np.repeat(array, 2, axis=1)[:, ::2],
    "big-endian": lambda array, _: array.astype(">f8"),
    "memory map": memory_map,
}


@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_the_layout_of_the_input_does_not_matter(model, layout, tmp_path):
    data = LAYOUTS[layout](X, tmp_path)
    np.testing.assert_array_equal(model.transform(data), model.transform(X))
    again = StructHash(**SMALL).fit(data, Y.tolist())
    assert (again.transform(X) != model.transform(X)).mean() < 0.01  # sums in another order


class Tensor:
    """An array of another library, as numpy sees it."""

    dtype = "tensor.float32"

    def __init__(self, array):
        self.array = array
        self.shape = array.shape

    def __len__(self):
        return len(self.array)

    def __array__(self, dtype=None, copy=None):
        return self.array.astype(dtype or self.array.dtype)


def test_arrays_of_other_libraries_will_do(model):
    np.testing.assert_array_equal(model.transform(Tensor(MORE)), model.transform(MORE))


def test_input_is_not_changed():
    data = X.copy()
    StructHash(**SMALL).fit(data, Y).encode(data)
    np.testing.assert_array_equal(data, X)


def test_a_frame_gives_the_bits_of_its_values_and_keeps_its_names(model):
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    again = StructHash(**SMALL).fit(frame, pd.Series(Y))
    assert again.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(again.transform(frame), model.transform(X))


def test_wrong_missing_or_moved_columns_are_refused():
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    model = StructHash(**SMALL).fit(frame, Y)
    with pytest.raises(ValueError, match="feature names"):
        model.encode(frame.rename(columns={"pixel3": "other"}))
    with pytest.raises(ValueError, match="feature names"):
        model.encode(frame.drop(columns="pixel3"))
    with pytest.raises(ValueError, match="feature names"):
        model.encode(frame[frame.columns[::-1]])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (X[:, :5], "5 features"),
        (X[0], "2D array"),
        (np.where(X > 15, np.nan, X), "NaN"),
        (np.where(X > 15, np.inf, X), "infinity"),
        (X[:0], "0 sample"),
    ],
)
def test_rows_that_do_not_fit_are_refused(model, data, message):
    with pytest.raises(ValueError, match=message):
        model.transform(data)


def wide_rows(dtype, n=6000):
    rng = np.random.default_rng(3)
    return (8 + 4 * rng.standard_normal((n, 64))).astype(dtype)


def peak_of(action):
    """Largest memory that numpy held at once, in bytes, beyond what it held before."""
    tracemalloc.start()
    action()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


@pytest.mark.slow
@pytest.mark.parametrize("family", names("families"))
@pytest.mark.parametrize("dtype", ["float16", "uint8", "float32", "float64"])
def test_encoding_reads_a_memory_map_some_rows_at_a_time(family, dtype, tmp_path, monkeypatch):
    monkeypatch.setattr("structhash.codes.encoding.BLOCK_ROWS", 100)
    model = StructHash(**SMALL, family="rbf:anchors=20" if family == "rbf" else family).fit(X, Y)
    rows = wide_rows(dtype)
    mapped = memory_map(rows, tmp_path)
    expected = model.encode(rows.astype(np.float32 if rows.itemsize < 8 else np.float64))  # and compiles
    assert peak_of(lambda: model.encode(mapped)) < 0.25 * 4 * rows.size  # a quarter of a copy in float32
    np.testing.assert_array_equal(model.encode(mapped), expected)


@pytest.mark.slow
@pytest.mark.parametrize("family", ["linear", "stump"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_what_is_not_finite_is_found_in_every_block(family, dtype, bad, monkeypatch):
    monkeypatch.setattr("structhash.codes.encoding.BLOCK_ROWS", 100)
    model = StructHash(**SMALL, family=family).fit(X, Y)
    for row in (0, 99, 100, 249):
        rows = wide_rows(dtype, 250)
        rows[row, 0] = bad  # the first pixel is 0 in all training rows
        with pytest.raises(ValueError, match="NaN" if np.isnan(bad) else "infinity"):
            model.encode(rows)
        with pytest.raises(ValueError, match="NaN" if np.isnan(bad) else "infinity"):
            StructHash(**SMALL, family=family).fit(rows, np.arange(250) % 3)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_fit_makes_one_matrix_of_features_and_no_copy_of_the_rows(dtype, tmp_path, monkeypatch):
    mapped = memory_map(wide_rows(dtype), tmp_path)
    seen = []

    def spy(family, rows, *rest):
        seen.append(rows)
        return prepare(family, rows, *rest)

    prepare = Linear.prepare
    monkeypatch.setattr(Linear, "prepare", spy)
    StructHash(**SMALL, ranking="sndcg").fit(mapped, np.arange(6000) // 3)
    assert np.shares_memory(seen[0], mapped)
    assert seen[0].dtype == dtype


def test_numbers_near_the_end_of_their_type_are_refused_wherever_they_stand():
    rows = wide_rows("float32")
    rows[5000, 3] = -1e33
    with pytest.raises(ValueError, match=r"X reaches 1e\+33, near the end of float32"):
        StructHash(**SMALL).fit(rows, np.arange(6000) % 3)


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
    found = StructHash(**SMALL).set_output(transform="pandas").fit(frame, Y).transform(frame)
    assert found.index.tolist() == frame.index.tolist()


def test_a_pipeline_encodes_what_its_scaler_gives():
    pipeline = make_pipeline(StandardScaler(), StructHash(**SMALL)).fit(X, Y)
    scaled = StandardScaler().fit(X).transform(X)
    alone = StructHash(**SMALL).fit(scaled, Y)
    np.testing.assert_array_equal(pipeline.transform(X), alone.transform(scaled))
    assert pipeline.score(X, Y) == alone.score(scaled, Y)
    assert pipeline.get_feature_names_out().tolist() == [f"structhash{j}" for j in range(10)]


def test_fit_transform_is_fit_then_transform(model):
    np.testing.assert_array_equal(StructHash(**SMALL).fit_transform(X, Y), model.transform(X))


# score


def expected_precision(distance, relevant):
    """Mean average precision over every order of a ranking that its distances allow."""
    values = []
    for order in itertools.permutations(range(len(distance))):
        if all(distance[a] <= distance[b] for a, b in itertools.pairwise(order)):
            hits = relevant[list(order)]
            ranks = np.flatnonzero(hits) + 1
            values.append(np.mean(np.arange(1, len(ranks) + 1) / ranks))
    return np.mean(values)


def precision_in_order(distance, relevant):
    """Average precision where no two distances are equal."""
    ranks = np.flatnonzero(relevant[np.argsort(distance)]) + 1
    return np.mean(np.arange(1, len(ranks) + 1) / ranks)


def leave_one_out(bits, y, weights, one, asked=None):
    asked, values = bits if asked is None else asked, []
    for i in range(len(bits)):
        others = np.arange(len(bits)) != i
        relevant = y[others] == y[i]
        if relevant.any():
            values.append(one((weights * (bits[others] != asked[i])).sum(axis=1), relevant))
    return np.mean(values)


@pytest.mark.parametrize("seed", range(5))
def test_score_is_the_expectation_over_all_orders_of_ties(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((7, 3)), np.array([0, 0, 1, 1, 1, 2, 0])  # class 2 has one row: left out
    encoder = Signs().fit(X)
    assert encoder.score(X, y) == pytest.approx(leave_one_out(X > 0, y, np.ones(3), expected_precision))


def test_score_of_a_weighted_model_uses_the_weights():
    rng = np.random.default_rng(0)
    X = np.unique(rng.choice([-1.0, 1.0], (60, 12)), axis=0)
    y, weights = rng.integers(0, 4, len(X)).astype(str), rng.random(12)
    apart = (weights * (X[:, None] != X[None])).sum(axis=2)
    assert np.diff(np.sort(apart, axis=1)).min() > 1e-5  # no ties
    found = Signs(weights).fit(X).score(X, y)
    expected = leave_one_out(X, y, weights, lambda d, relevant: average_precision_score(relevant, -d))
    assert found == pytest.approx(expected)
    assert found != pytest.approx(Signs().fit(X).score(X, y))


def test_score_over_several_blocks_is_the_mean_over_all_rows():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 24)), rng.integers(0, 3, 300)
    weights = rng.random(24)
    found = Signs(weights).fit(X).score(X, y)
    assert found == pytest.approx(
        leave_one_out(X > 0, y, weights, precision_in_order), rel=1e-5
    )  # distances tie within a millionth


def test_score_of_a_learned_model_is_the_mean_over_random_orders_of_ties(fitted):
    rng = np.random.default_rng(0)
    weights = np.ones(10) if fitted.search_weights_ is None else fitted.weights_
    bits, y = fitted.transform(MORE), load_digits().target[200:300]
    asked = unpack(fitted.encode_queries(MORE), 10)

    def one(distance, relevant):
        return precision_in_order(np.round(distance, 4) + 1e-6 * rng.random(len(distance)), relevant)

    draws = [leave_one_out(bits, y, weights, one, asked) for _ in range(30)]
    assert fitted.score(MORE, y) == pytest.approx(np.mean(draws), abs=5 * np.std(draws) / np.sqrt(30) + 1e-3)


def test_a_model_whose_weights_are_all_zero_is_scored_by_plain_distance():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 6)), rng.integers(0, 3, 30)
    zero = Signs(np.zeros(6)).fit(X)
    assert zero.search_weights_ is None
    assert zero.score(X, y) == Signs().fit(X).score(X, y)


def test_score_refuses_labels_that_do_not_fit(model):
    with pytest.raises(ValueError, match=r"labels have shape \(5,\); give one label for each of the 120 rows"):
        model.score(X, Y[:5])
    with pytest.raises(ValueError, match="at least one class needs 2 rows"):
        model.score(X, np.arange(120))
    with pytest.raises(ValueError, match=r"labels have shape \(5, 2\); give one label for each of the"):
        model.score(X, np.eye(2)[[0, 1, 0, 1, 0]])
    with pytest.raises(ValueError, match="no two of the 120 rows have a label in common; give labels that"):
        model.score(X, np.eye(120))


def test_score_by_indicators_is_that_by_labels_and_knows_several(model):
    assert model.score(X, np.eye(10)[Y]) == model.score(X, Y)
    several = np.column_stack([Y == 3, Y % 2])
    found, seen = model.score(X, several), []
    bits, asked = model.transform(X), unpack(model.encode_queries(X), 10)
    for i in np.flatnonzero(several.any(axis=1)):
        others = np.arange(120) != i
        apart = (bits[others] != asked[i]).sum(axis=1)
        relevant = (several[others] & several[i]).any(axis=1)
        seen.append(average_precision(tie_blocks(apart[None], relevant[None]))[0])
    assert found == pytest.approx(np.mean(seen))


# one file


def same(a, b):
    """Equal in type, dtype and value."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    return type(a) is type(b) and a == b


def fitted_state(model):
    return {key: value for key, value in vars(model).items() if key.endswith("_") and not key.startswith("_")}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", list(ENCODERS))
def test_a_loaded_model_is_the_saved_one_in_every_attribute(name, dtype, tmp_path):
    model = clone(ENCODERS[name]).fit(X.astype(dtype), Y)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert fitted_state(again).keys() == fitted_state(model).keys()
    for key, value in fitted_state(model).items():
        assert same(value, fitted_state(again)[key]), key
    np.testing.assert_array_equal(again.transform(MORE), model.transform(MORE))
    np.testing.assert_array_equal(again.weights_at(3), model.weights_at(3))
    assert again.score(X, Y) == model.score(X, Y)


@pytest.mark.parametrize("family", names("families"))
def test_a_model_of_every_family_is_saved_whole_and_has_prefixes(family, tmp_path):
    model = StructHash(**SMALL, family=family).fit(X, Y)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert same(fitted_state(again), fitted_state(model))
    np.testing.assert_array_equal(again.transform(MORE), model.transform(MORE))
    short = clone(model).set_params(n_bits=3).fit(X, Y)
    np.testing.assert_array_equal(model.encode(MORE, n_bits=3), short.encode(MORE))


def test_pieces_with_settings_come_back_as_words(tmp_path):
    model = StructHash(
        **SMALL, ranking=NDCG(k=7), family=Linear(steps=3), start=Spectral(ridge=2.5), C=np.float64(20)
    ).fit(X, Y)
    model.save(tmp_path / "model")
    again = load_model(str(tmp_path / "model"))
    found = again.get_params()
    assert (found["ranking"], found["family"], found["start"], found["C"]) == (
        "ndcg:k=7",
        "linear:steps=3",
        "spectral:ridge=2.5",
        20.0,
    )
    assert again.family_ == Linear(steps=3)
    np.testing.assert_array_equal(clone(again).fit(X, Y).transform(X), model.transform(X))


def test_a_model_fitted_on_a_frame_keeps_the_names_of_its_columns(tmp_path):
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    model = StructHash(**SMALL).fit(frame, Y)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert same(again.feature_names_in_, model.feature_names_in_)
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.transform(frame.rename(columns={"pixel3": "other"}))


@pytest.mark.parametrize("state", [np.random.default_rng(0), np.random.RandomState(0), None])
def test_a_generator_is_saved_as_no_seed(state, tmp_path):
    model = StructHash(**{**SMALL, "random_state": state}).fit(X, Y)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.random_state is None
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_saving_again_replaces_the_file(model, tmp_path):
    StructHash(**{**SMALL, "n_bits": 2}).fit(X, Y).save(tmp_path / "model")
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").n_bits_ == 10
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_folder_that_is_not_there_is_said(model, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .* does not exist"):
        model.save(tmp_path / "nowhere" / "model")


def test_a_folder_that_may_not_be_written_is_said(model, tmp_path, monkeypatch):
    def refuse(path, *_):
        raise PermissionError(13, "Permission denied", str(path))

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", refuse)
        with pytest.raises(PermissionError, match="Permission denied"):
            model.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match="nothing"):
        load_model(tmp_path / "nothing")


def damaged(model, path, change):
    """Save with arrays and header changed."""
    model.save(path)
    arrays, header = files.load(path, "model")
    change(arrays, header)
    files.save(path, arrays, header, "model")
    return path


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.9, 0.999])
def test_a_cut_file_is_refused_by_its_path(model, share, tmp_path):
    path = tmp_path / "model"
    model.save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ValueError, match=str(path)):
        load_model(path)


@pytest.mark.parametrize(
    "name", ["weights_", "step_weights_", "state_/mean", "state_/scale", "bits_/normal", "bits_/offset"]
)
def test_a_file_without_one_of_its_arrays_is_refused_by_its_path(model, name, tmp_path):
    path = damaged(model, tmp_path / "model", lambda arrays, _: arrays.pop(name))
    with pytest.raises(ValueError, match=f"{path}.*{name}"):
        load_model(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda arrays, header: header.update({"class": "CGHash"}),
        lambda arrays, header: header.update({"class": "Nobody"}),
        lambda arrays, header: header.pop("class"),
        lambda arrays, header: header.pop("params"),
        lambda arrays, header: header.pop("fitted"),
        lambda arrays, header: header.update(params=[]),
        lambda arrays, header: header.update(fitted=3),
        lambda arrays, header: header["params"].update(surprise=1),
        lambda arrays, header: header["fitted"].update(family_="nosuch"),
        lambda arrays, header: header["fitted"].update(family_=None),
        lambda arrays, header: header["fitted"].update(n_features_in_=63),
        lambda arrays, header: header["fitted"].update(n_features_in_="many"),
        lambda arrays, header: header["fitted"].update(n_features_in_=10**15),
        lambda arrays, header: header["fitted"].update(n_bits_=9),
        lambda arrays, header: header["fitted"].pop("n_bits_"),
        lambda arrays, header: arrays.update({"bits_/normal": arrays["bits_/normal"][:, :5]}),
        lambda arrays, header: arrays.update({"bits_/normal": arrays["bits_/normal"][:5]}),
        lambda arrays, header: arrays.update(weights_=arrays["weights_"][:5]),
        lambda arrays, header: arrays.update(extra_=np.zeros(3)),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused_by_its_path(model, change, tmp_path):
    path = damaged(model, tmp_path / "model", change)
    with pytest.raises(ValueError, match=str(path)):
        load_model(path)


def test_a_file_of_another_kind_is_refused_by_its_path(model, tmp_path):
    path = tmp_path / "index"
    files.save(path, {"codes": np.zeros(3, np.uint8)}, {}, "index.exact")
    with pytest.raises(ValueError, match=f"{path}: it holds 'index.exact', not 'model'"):
        load_model(path)
    path.write_text("no model at all")
    with pytest.raises(ValueError, match=str(path)):
        load_model(path)


@dataclass(frozen=True)
class OwnFamily(Linear):
    """A family of the user's own, in no folder of the package."""


class OwnPlain:
    """The same without being a dataclass."""

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(Linear(), name)


@pytest.mark.parametrize("own", [OwnFamily(), OwnPlain()])
def test_a_piece_without_a_name_works_but_cannot_be_saved(model, own, tmp_path):
    mine = StructHash(**SMALL, family=own).fit(X, Y)
    np.testing.assert_array_equal(mine.transform(X), model.transform(X))
    with pytest.raises(ValueError, match=r"family=.*Own.* cannot be saved: no name"):
        mine.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []

"""Kinds of input: number types, layouts, frames, memory maps, and what is refused."""

import functools
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits

from structhash import AdditiveHash, CGHash, DistilHash, Qrels, StructHash
from structhash.estimators._input import training_rows
from structhash.estimators.loading import load_model
from structhash.families.linear import Linear
from structhash.pieces import names

X, Y = (array[:120] for array in load_digits(return_X_y=True))
MORE = load_digits().data[200:300]
SMALL = {"n_bits": 10, "random_state": 0}
FEW = {"n_near": 5, "n_far": 5}


@pytest.fixture(scope="module")
def model():
    return DistilHash(**SMALL).fit(X, Y)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int8", "int16", "int64", "bool"])
def test_every_number_type_fits_and_encodes(dtype):
    data = (X > 7).astype(dtype) if dtype == "bool" else X.astype(dtype)  # 0..16: exact in every type
    bits = DistilHash(**SMALL).fit(data, Y).transform(data)
    assert bits.shape == (120, 10)
    assert 0 < bits.mean() < 1


@pytest.mark.parametrize("dtype", ["float16", "uint8", "int16"])
def test_small_numbers_give_the_bits_of_their_float32_copy(dtype):
    rng = np.random.default_rng(0)
    data = (X * 2 + rng.random(X.shape)).astype(dtype)
    copy = data.astype(np.float32)
    a, b = DistilHash(**SMALL).fit(data, Y), DistilHash(**SMALL).fit(copy, Y)
    np.testing.assert_array_equal(a.transform(data), b.transform(copy))
    np.testing.assert_array_equal(a.weights_, b.weights_)
    one, two = a.hash_function_.to_arrays()[0], b.hash_function_.to_arrays()[0]
    assert one.keys() == two.keys()
    for name in one:
        assert one[name].dtype == two[name].dtype  # in float32 as well
        np.testing.assert_array_equal(one[name], two[name])
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
    "frame": lambda array, _: pd.DataFrame(array),
    "series of vectors": lambda array, _: pd.Series(list(array)),
    "column of vectors": lambda array, _: pd.DataFrame({"vector": list(array)}),
}
NOISY = X + 0.3 * np.random.default_rng(0).standard_normal(X.shape)  # so that sums depend on their order
ENCODERS = {
    "posterior": DistilHash(**SMALL),
    "metric": DistilHash(**SMALL, embedding="metric"),
    "unlabeled": DistilHash(**SMALL, embedding="manifold"),
    "structhash": StructHash(**SMALL, **FEW),
    "cghash": CGHash(**SMALL, **FEW),
    "additivehash": AdditiveHash(**SMALL),
    "rbf": StructHash(**SMALL, **FEW, family="rbf:n_anchors=20"),
    "tree": StructHash(**SMALL, **FEW, family="tree"),
}


@functools.cache
def learned_from_noise(kind):
    """What a method learns from `NOISY`; its tests share it, so none of them changes it."""
    more = {"unlabeled": NOISY} if kind == "unlabeled" else {}
    return clone(ENCODERS[kind]).fit(NOISY, Y, **more)


def assert_same_codes(model, rows, other, plain):
    """Rows and queries have the codes that another model gives plain rows."""
    np.testing.assert_array_equal(model.encode(rows), other.encode(plain))
    if model.codes_are_bits:
        np.testing.assert_array_equal(model.encode_queries(rows), other.encode_queries(plain))


@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_the_layout_of_the_input_does_not_matter(model, layout, tmp_path):
    data = LAYOUTS[layout](X, tmp_path)
    np.testing.assert_array_equal(model.transform(data), model.transform(X))
    again = DistilHash(**SMALL).fit(data, Y.tolist())
    assert again.fingerprint() == model.fingerprint()


@pytest.mark.slow
@pytest.mark.parametrize("layout", list(LAYOUTS))
@pytest.mark.parametrize("kind", list(ENCODERS))
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_every_method_gives_the_codes_of_the_numbers(kind, layout, tmp_path):
    plain, data = learned_from_noise(kind), LAYOUTS[layout](NOISY, tmp_path)
    model = clone(ENCODERS[kind]).fit(data, Y, **({"unlabeled": data} if kind == "unlabeled" else {}))
    assert model.fingerprint() == plain.fingerprint()
    assert_same_codes(model, data, plain, NOISY)


@pytest.mark.slow
@pytest.mark.parametrize("kind", list(ENCODERS))
def test_rows_of_every_type_have_the_codes_of_their_numbers(kind):
    model = learned_from_noise(kind)
    for dtype in ("float16", "float32", "uint8", "int64"):
        assert_same_codes(model, MORE.astype(dtype), model, MORE)


@pytest.mark.parametrize("dtype", ["uint8", "int64"])
@pytest.mark.parametrize("frame", [pd.DataFrame, lambda array: pd.DataFrame(array).convert_dtypes()])
def test_a_frame_of_integers_is_learned_from_as_an_array_of_them(dtype, frame):
    learned = DistilHash(**SMALL).fit(frame(X.astype(dtype)), Y)
    assert learned.fingerprint() == DistilHash(**SMALL).fit(X.astype(dtype), Y).fingerprint()


def mixed_frame(array):
    """A frame whose columns are of several types."""
    types = ["int64", "float32", "uint8", "float64", "Int16"]
    return pd.DataFrame(array).astype({j: types[j % 5] for j in range(array.shape[1])})


STORED = {
    **{kind: lambda array, kind=kind: array.astype(kind) for kind in "bBhHiIlLqQefdg"},
    "big-endian": lambda array: array.astype(">f8"),
    "fortran": np.asfortranarray,
    "fortran of float32": lambda array: np.asfortranarray(array, np.float32),
    "lists of integers": lambda array: array.astype(int).tolist(),
    "mixed frame": mixed_frame,
}


@pytest.fixture(scope="module", params=list(ENCODERS))
def learned(request):
    """How a method is fitted, and what it learns from float32 rows."""

    def fitted(rows):
        more = {"unlabeled": rows} if request.param == "unlabeled" else {}
        return clone(ENCODERS[request.param]).fit(rows, Y, **more)

    return fitted, fitted(X.astype(np.float32))


@pytest.mark.slow
@pytest.mark.parametrize("stored", list(STORED))
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_equal_values_of_every_type_learn_the_same(learned, stored):
    fitted, single = learned
    other = fitted(STORED[stored](X))
    assert other.fingerprint() == single.fingerprint()
    assert_same_codes(other, STORED[stored](MORE), single, MORE)


@pytest.mark.slow
def test_truth_values_learn_what_their_numbers_do(learned):
    fitted, _ = learned
    rows = X > 7
    same = {fitted(rows.astype(dtype)).fingerprint() for dtype in (bool, "int8", "int64", "float32", "float64")}
    assert len(same) == 1


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "longdouble"])
def test_fractions_that_float16_holds_learn_the_same_in_every_type(dtype):
    rows = NOISY.astype(np.float16)
    single = DistilHash(**SMALL).fit(rows.astype(np.float32), Y)
    assert DistilHash(**SMALL).fit(rows.astype(dtype), Y).fingerprint() == single.fingerprint()


def test_one_number_that_float32_does_not_hold_keeps_all_in_float64():
    for place in ((0, 0), (119, 63)):
        rows = X.copy()
        rows[place] = 0.1
        assert DistilHash(**SMALL).fit(rows, Y).hash_function_.bits["normal"].dtype == np.float64
        assert training_rows(rows, keep=True) is rows
    assert DistilHash(**SMALL).fit(X, Y).hash_function_.bits["normal"].dtype == np.float32


@pytest.mark.parametrize("keep", [True, False])
def test_training_rows_have_the_type_of_their_values(keep):
    def type_of(rows):
        rows = training_rows(np.asarray(rows), keep)
        assert rows.flags.c_contiguous
        return rows.dtype

    kept = np.float16 if keep else np.float32
    assert type_of(np.float16([[0.5]])) == kept
    assert type_of(np.array([[0.5]], ">f2")) == kept
    assert type_of([[0.5, 2.0**24]]) == type_of([[2**24, -(2**31)]]) == np.float32
    assert type_of([[0.5, 2.0**24 + 1]]) == np.float64
    assert type_of([[1, 2**24 + 1]]) == (np.int64 if keep else np.float64)
    assert type_of([[2.0**100]]) == np.float32
    assert type_of([[2.0**110]]) == np.float64  # too near the end of float32
    assert type_of([[2.0**-160]]) == type_of([[1e300]]) == type_of([[np.nan]]) == np.float64
    assert type_of(np.zeros((5000, 2))) == np.float32
    assert type_of(np.where(np.arange(10000).reshape(5000, 2) < 9999, 0, 0.1)) == np.float64


def test_only_the_first_block_is_looked_at_where_it_decides():
    class Watched(np.ndarray):
        """Counts the rows that are asked for."""

        def __getitem__(self, key):
            asked.append(key)
            return super().__getitem__(key)

    asked = []
    rows = np.full((5000, 3), 0.1).view(Watched)
    assert training_rows(rows, keep=True).dtype == np.float64
    assert asked == [slice(0, 1024)]


@pytest.mark.parametrize("embedding", ["posterior", "metric", "manifold", "mixture"])
@pytest.mark.parametrize("inexact", ["X", "unlabeled", "neither"])
def test_unlabeled_rows_have_a_type_of_their_own(embedding, inexact):
    others, found = load_digits().data[300:500], set()
    for kinds in (("float32", "float64"), ("float64", "int16"), ("int8", "float16")):
        rows = NOISY if inexact == "X" else X.astype(kinds[0])
        more = others + 0.1 if inexact == "unlabeled" else others.astype(kinds[1])
        model = DistilHash(**SMALL, embedding=embedding).fit(rows, Y, unlabeled=more)
        found.add(model.fingerprint())
    assert len(found) == 1


def test_queries_of_judgements_and_documents_of_every_type_learn_the_same():
    judged = np.array([[q, d, int(Y[q] == Y[d])] for q in range(9) for d in range(20, 60)])
    for model in (DistilHash(**SMALL), StructHash(**SMALL, C=30.0)):
        found = {
            clone(model).fit(X.astype(kind), Qrels(judged, Q=X[:9].astype(of_queries))).fingerprint()
            for kind, of_queries in [("float32", "float64"), ("float64", "int8"), ("int64", "float16")]
        }
        assert len(found) == 1


def test_a_warm_start_goes_on_from_one_type_to_another():
    model = DistilHash(**SMALL, warm_start=True).fit(X, Y).set_params(n_bits=12)
    model.fit(X.astype(np.int64), Y)
    at_once = DistilHash(n_bits=12, random_state=0).fit(X.astype(np.float32), Y)
    np.testing.assert_array_equal(model.encode(X), at_once.encode(X))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_a_warm_start_goes_on_from_an_array_to_a_frame():
    model = DistilHash(**SMALL, warm_start=True).fit(NOISY, Y).set_params(n_bits=12)
    model.fit(pd.DataFrame(NOISY), Y)
    at_once = DistilHash(n_bits=12, random_state=0).fit(NOISY, Y)
    np.testing.assert_array_equal(model.encode(NOISY), at_once.encode(NOISY))


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            X[0],
            r"X has shape \(64,\); give a matrix \(n, d\). Reshape your data: X.reshape\(1, -1\) is one .*",
        ),
        (
            X.reshape(-1, 8, 8),
            r"X has shape \(120, 8, 8\); give a matrix .*X.reshape\(len\(X\), -1\) a row for .*",
        ),
        (pd.Series(X[:, 0]), r"X has shape \(120,\); give .*"),
        (X + 1j, "Complex data not supported: X is complex128; give real numbers, such as .*"),
        (pd.DataFrame(X + 1j), "Complex data not supported: X is complex128; .*"),
    ],
)
def test_what_is_no_real_matrix_is_refused_in_one_line(model, data, message):
    for call in (lambda: DistilHash(**SMALL).fit(data), lambda: model.encode(data)):
        with pytest.raises(ValueError, match=f"^{message}$") as found:
            call()
        assert "\n" not in str(found.value)


def test_vectors_of_several_lengths_are_refused(model):
    rows = [*map(list, X[:5]), [1.0]]
    for action in (lambda: model.encode(rows), lambda: DistilHash(4).fit(rows, Y[:6])):
        with pytest.raises(ValueError, match=r"X holds rows of several lengths: row 0 .* row 5"):
            action()


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
    DistilHash(**SMALL).fit(data, Y).encode(data)
    np.testing.assert_array_equal(data, X)


def test_a_frame_gives_the_bits_of_its_values_and_keeps_its_names(model):
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    again = DistilHash(**SMALL).fit(frame, pd.Series(Y))
    assert again.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(again.transform(frame), model.transform(X))


def test_wrong_missing_or_moved_columns_are_refused():
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    model = DistilHash(**SMALL).fit(frame, Y)
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
        (X[0], "Reshape your data"),
        (np.where(X > 15, np.nan, X), "NaN"),
        (np.where(X > 15, np.inf, X), "infinity"),
    ],
)
def test_rows_that_do_not_fit_are_refused(model, data, message):
    with pytest.raises(ValueError, match=message):
        model.transform(data)


def test_no_row_gives_no_code(model):
    assert model.encode(X[:0]).shape == model.encode_queries(X[:0]).shape == (0, -(-model.n_bits_ // 8))
    assert model.transform(X[:0]).shape == (0, model.n_bits_)


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


@pytest.mark.filterwarnings("ignore:most rows of X")  # uint8 has no negative numbers, so rows are long
@pytest.mark.slow
@pytest.mark.parametrize("family", names("families"))
@pytest.mark.parametrize("dtype", ["float16", "uint8", "float32", "float64"])
def test_encoding_reads_a_memory_map_some_rows_at_a_time(family, dtype, tmp_path, monkeypatch):
    monkeypatch.setattr("structhash.codes.encoding.BLOCK_ROWS", 100)
    model = StructHash(**SMALL, **FEW, family="rbf:n_anchors=20" if family == "rbf" else family).fit(X, Y)
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
    model = StructHash(**SMALL, **FEW, family=family).fit(X, Y)
    for row in (0, 99, 100, 249):
        rows = wide_rows(dtype, 250)
        rows[row, 0] = bad  # the first pixel is 0 in all training rows
        with pytest.raises(ValueError, match="NaN" if np.isnan(bad) else "infinity"):
            model.encode(rows)
        with pytest.raises(ValueError, match="NaN" if np.isnan(bad) else "infinity"):
            StructHash(**SMALL, **FEW, family=family).fit(rows, np.arange(250) % 3)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_fit_makes_one_matrix_of_features_and_no_copy_of_the_rows(dtype, tmp_path, monkeypatch):
    mapped = memory_map(wide_rows(dtype), tmp_path)
    seen = []

    def spy(family, rows, *rest):
        seen.append(rows)
        return prepare(family, rows, *rest)

    prepare = Linear.prepare
    monkeypatch.setattr(Linear, "prepare", spy)
    StructHash(**SMALL, **FEW).fit(mapped, np.arange(6000) // 3)
    assert np.shares_memory(seen[0], mapped)
    assert seen[0].dtype == dtype


def test_numbers_near_the_end_of_their_type_are_refused_wherever_they_stand():
    rows = wide_rows("float32")
    rows[5000, 3] = -1e33
    with pytest.raises(ValueError, match=r"X reaches 1e\+33, near the end of float32"):
        DistilHash(**SMALL).fit(rows, np.arange(6000) % 3)


@pytest.mark.parametrize(
    "column",
    [
        pd.date_range("2020", periods=120),
        pd.to_timedelta(np.arange(120), unit="D"),
        ["text"] * 120,
        pd.Categorical(["a", "b"] * 60),
    ],
)
def test_a_column_that_is_not_of_numbers_is_named(model, column):
    frame = pd.DataFrame(X).assign(when=column)
    for action in (lambda: DistilHash(4).fit(frame, Y), lambda: model.encode(frame)):
        with pytest.raises(ValueError, match=r"column 'when' of X is .*; give columns of numbers only"):
            action()
    with pytest.raises(ValueError, match="unlabeled: column 'when' of X"):
        DistilHash(4).fit(X, Y, unlabeled=frame)


def test_records_and_what_holds_no_rows_are_refused(model):
    with pytest.raises(TypeError, match=r"X has named fields \(a, b\)"):
        model.encode(np.ones(3, [("a", float), ("b", float)]))
    with pytest.raises(TypeError, match=r"unlabeled: X is 'rows.npy'; give a matrix"):
        DistilHash(4).fit(X, Y, unlabeled="rows.npy")


@pytest.mark.parametrize("cls", [DistilHash, StructHash])
def test_columns_of_queries_are_those_of_the_documents(cls):
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    judged = np.array([[q, d, int(Y[q] == Y[d])] for q in range(9) for d in range(20, 60)])
    plain = cls(4, random_state=0).fit(X, Qrels(judged, Q=X[:9]))
    framed = cls(4, random_state=0).fit(frame, Qrels(judged, Q=frame[:9].convert_dtypes()))
    np.testing.assert_array_equal(framed.encode(frame), plain.encode(X))
    with pytest.raises(ValueError, match="Q: The feature names should match"):
        cls(4).fit(frame, Qrels(judged, Q=frame[:9][frame.columns[::-1]]))


def test_a_missing_number_does_not_hide_that_columns_are_moved():
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    model, missing = DistilHash(**SMALL).fit(frame, Y), frame.convert_dtypes()
    missing.loc[3, "pixel1"] = pd.NA
    with pytest.raises(ValueError, match="feature names"):
        model.encode(missing[frame.columns[::-1]])
    with pytest.raises(ValueError, match="X holds NaN in row 3, column 1"):
        model.encode(missing)


@pytest.mark.parametrize(
    "columns",
    [
        range(64),
        range(5, 69),
        pd.date_range("2020", periods=64),
        [(j % 8, f"row{j // 8}") for j in range(64)],
        [f"pixel{j}" for j in range(64)],
    ],
    ids=["0..", "5..", "dates", "tuples", "text"],
)
@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_columns_with_names_of_any_type_may_not_move(columns, tmp_path):
    frame = pd.DataFrame(X, columns=pd.Index(columns))
    moved, renamed = frame[frame.columns[::-1]], frame.set_axis([*range(100, 163), 3], axis=1)
    fitted = DistilHash(**SMALL).fit(frame, Y)
    fitted.save(tmp_path / "m")
    for model in (fitted, load_model(tmp_path / "m")):
        assert len(model.encode(frame)) == len(X)
        for wrong in (moved, renamed):
            for action in (model.encode, model.encode_queries, lambda rows, m=model: m.score(rows, Y)):
                with pytest.raises(ValueError, match=r"feature names should match|the model was fitted on"):
                    action(wrong)
    with pytest.raises(ValueError, match=r"unlabeled: .*(should match|was fitted on)"):
        DistilHash(4).fit(frame, Y, unlabeled=moved)


def test_numbered_columns_in_order_are_an_array(model):
    frame = pd.DataFrame(X)
    again = DistilHash(**SMALL).fit(frame, Y)
    assert again.column_names_ is None
    for rows in (frame, X):
        np.testing.assert_array_equal(again.encode(rows), model.encode(X))
    np.testing.assert_array_equal(model.encode(frame), model.encode(X))
    message = (
        r"X has the columns 63, 62, .*; the model was fitted on 0, 1, .*, and column 0 is the first to differ"
    )
    with pytest.raises(ValueError, match=message):
        model.encode(frame[frame.columns[::-1]])


@pytest.mark.filterwarnings("ignore:X has feature names")
def test_names_given_later_hold_for_frames():
    model, names = DistilHash(**SMALL).fit(X, Y), [f"pixel{j}" for j in range(64)]
    model.name_columns(names)
    frame = pd.DataFrame(X, columns=names)
    np.testing.assert_array_equal(model.encode(frame), model.encode(X))
    with pytest.raises(ValueError, match=r"the model was fitted on pixel0"):
        model.encode(frame[names[::-1]])


def test_names_of_an_earlier_fit_do_not_hold():
    judged = np.array([[q, d, int(Y[q] == Y[d])] for q in range(9) for d in range(20, 60)])
    named, other = (pd.DataFrame(X, columns=[f"{word}{j}" for j in range(64)]) for word in ("pixel", "other"))
    model = DistilHash(4, random_state=0).fit(named, Y)
    model.fit(X, Y, unlabeled=pd.DataFrame(X))
    assert model.column_names_ is None
    assert model.fit(named, Y).fit(other, Qrels(judged, Q=other[:9])).column_names_[0] == "other0"


@pytest.mark.parametrize(
    ("rows", "error", "message"),
    [
        (
            pd.DataFrame(X, columns=[j % 63 for j in range(64)]),
            ValueError,
            "X has several columns named 0; give",
        ),
        (
            pd.DataFrame(X).astype(pd.SparseDtype(float, 0)),
            TypeError,
            r"X is a sparse frame; give X\.astype\(float",
        ),
        (
            pd.DataFrame(X).assign(a=[1, pd.NA] * 60)[["a"]],
            ValueError,
            "X lacks the number of row 1, column 'a'",
        ),
        ([[10**400, 1], [2, 3]], ValueError, "X holds a number beyond float64"),
    ],
    ids=["names", "sparse", "NA", "huge"],
)
def test_rows_of_odd_kinds_are_refused_with_a_remedy(rows, error, message):
    with pytest.raises(error, match=message):
        DistilHash(4).fit(rows, Y[: len(rows)])

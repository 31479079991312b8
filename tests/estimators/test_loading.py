"""A model in a file: a saved model loads unchanged, and a damaged file is refused with its path."""

import json
import os
import pickle
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import save_file
from sklearn.base import clone
from sklearn.datasets import load_digits

from structhash import CGHash, DistilHash, StructHash, load_model
from structhash.families.linear import Linear
from structhash.families.starts.spectral import Spectral
from structhash.io import container as files
from structhash.objectives.rankings.ndcg import NDCG
from structhash.pieces import load, names

X, Y = (array[:120] for array in load_digits(return_X_y=True))
MORE = load_digits().data[200:300]
SMALL = {"n_bits": 10, "random_state": 0}
FEW = {"n_near": 5, "n_far": 5}
NORMAL = "hash_function_/bits/normal"
ENCODERS = {
    "distilhash": DistilHash(**SMALL),
    "distilhash-metric": DistilHash(**SMALL, embedding="metric"),
    "distilhash-class_directions": DistilHash(**SMALL, embedding="class_directions"),
    "distilhash-manifold": DistilHash(**SMALL, embedding="manifold"),
    "distilhash-multilabel": DistilHash(**SMALL, embedding="multilabel"),
    "distilhash-rbf": DistilHash(**SMALL, family="rbf:n_anchors=5"),
    "structhash": StructHash(**SMALL, **FEW),
    "structhash-corrective": StructHash(**SMALL, **FEW, schedule="totally_corrective"),
    "cghash": CGHash(**SMALL, **FEW),
    "cghash-stagewise": CGHash(**SMALL, **FEW, schedule="stagewise"),
}


@pytest.fixture(scope="module")
def model():
    return DistilHash(**SMALL).fit(X, Y)


def same(a, b):
    """Equal in type, dtype and value."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if isinstance(a, np.ndarray):
        return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())
    return type(a) is type(b) and a == b


def assert_same_state(a, b):
    """Equal in every fitted attribute."""
    one, two = ({key: value for key, value in vars(each).items() if key.endswith("_")} for each in (a, b))
    one["hash_function_"], two["hash_function_"] = (each["hash_function_"].to_arrays() for each in (one, two))
    one["hash_function_"], two["hash_function_"] = (
        dict(zip("ab", each["hash_function_"])) for each in (one, two)
    )
    assert one.keys() == two.keys()
    for key, value in two.items():
        assert same(value, one[key]), key


@pytest.mark.slow
@pytest.mark.parametrize("name", list(ENCODERS))
def test_a_pickled_model_is_the_model(name):
    model = clone(ENCODERS[name]).fit(X, Y)
    again = pickle.loads(pickle.dumps(model))
    assert again.get_params() == model.get_params()
    assert_same_state(again, model)
    np.testing.assert_array_equal(again.encode(MORE), model.encode(MORE))
    np.testing.assert_array_equal(again.encode_queries(MORE), model.encode_queries(MORE))


def test_names_of_columns_and_the_fingerprint_are_kept(tmp_path):
    model = DistilHash(**SMALL).fit(X, Y)
    model.name_columns([f"pixel{j}" for j in range(64)])
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.column_names_ == model.column_names_
    assert again.fingerprint() == model.fingerprint()


def test_temperatures_of_queries_are_kept(model, tmp_path):
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert len(model.hash_function_.query_temperatures) == 4
    assert again.hash_function_.query_temperatures == model.hash_function_.query_temperatures
    for n_bits in range(1, 11):
        assert again.queries_differ(n_bits) == model.queries_differ(n_bits)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", list(ENCODERS))
def test_a_loaded_model_is_the_saved_one_in_every_attribute(name, dtype, tmp_path):
    model = clone(ENCODERS[name]).fit(X.astype(dtype), Y)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert_same_state(again, model)
    np.testing.assert_array_equal(again.transform(MORE), model.transform(MORE))
    np.testing.assert_array_equal(again.encode_queries(MORE, 3), model.encode_queries(MORE, 3))
    np.testing.assert_array_equal(again.weights_at(3), model.weights_at(3))
    assert again.score(X, Y) == model.score(X, Y)


@pytest.mark.parametrize("family", names("families"))
def test_a_model_of_every_family_is_saved_whole_and_has_prefixes(family, tmp_path):
    model = StructHash(**SMALL, **FEW, family=family).fit(X, Y)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_same_state(again, model)
    np.testing.assert_array_equal(again.transform(MORE), model.transform(MORE))
    short = clone(model).set_params(n_bits=3).fit(X, Y)
    np.testing.assert_array_equal(model.encode(MORE, n_bits=3), short.encode(MORE))


def test_pieces_with_settings_come_back_as_words(tmp_path):
    model = StructHash(
        **SMALL,
        **FEW,
        ranking=NDCG(k=7),
        family=Linear(max_iter=3),
        start=Spectral(ridge=2.5),
        C=np.float64(20),
    ).fit(X, Y)
    model.save(tmp_path / "model")
    again = load_model(str(tmp_path / "model"))
    found = again.get_params()
    assert (found["ranking"], found["family"], found["start"], found["C"]) == (
        "ndcg:k=7",
        "linear:max_iter=3",
        "spectral:ridge=2.5",
        20.0,
    )
    assert again.hash_function_.family == Linear(max_iter=3)
    np.testing.assert_array_equal(clone(again).fit(X, Y).transform(X), model.transform(X))


def test_a_model_fitted_on_a_frame_keeps_the_names_of_its_columns(tmp_path):
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    model = DistilHash(**SMALL).fit(frame, Y)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert_same_state(again, model)
    assert again.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(again.transform(frame), model.transform(frame))
    with pytest.raises(ValueError, match="feature names"):
        again.transform(frame.rename(columns={"pixel3": "other"}))


@pytest.mark.parametrize("state", [np.random.default_rng(0), np.random.RandomState(0), None])
def test_a_generator_is_saved_as_no_seed(state, tmp_path):
    model = DistilHash(**{**SMALL, "random_state": state}).fit(X, Y)
    model.save(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert again.random_state is None
    np.testing.assert_array_equal(again.transform(X), model.transform(X))


def test_saving_again_replaces_the_file(model, tmp_path):
    DistilHash(**{**SMALL, "n_bits": 2}).fit(X, Y).save(tmp_path / "model")
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
    "name",
    [
        "weights_",
        "prefix_weights_",
        "hash_function_/family_state/mean",
        "hash_function_/family_state/scale",
        "hash_function_/embedding_state/anchors",
        "hash_function_/bits/normal",
        "hash_function_/bits/offset",
    ],
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
        lambda arrays, header: header["fitted"]["hash_function_"].update(family="nosuch"),
        lambda arrays, header: header["fitted"]["hash_function_"].update(family=None),
        lambda arrays, header: header["fitted"].update(n_features_in_=63),
        lambda arrays, header: header["fitted"].update(n_features_in_="many"),
        lambda arrays, header: header["fitted"].update(n_features_in_=10**15),
        lambda arrays, header: header["fitted"].update(n_bits_=9),
        lambda arrays, header: header["fitted"].pop("n_bits_"),
        lambda arrays, header: header["fitted"].pop("hash_function_"),
        lambda arrays, header: header["fitted"].update(hash_function_=3),
        lambda arrays, header: header["fitted"]["hash_function_"].pop("embedding"),
        lambda arrays, header: header["fitted"]["hash_function_"].update(embedding="nosuch"),
        lambda arrays, header: header["fitted"]["hash_function_"].pop("row_temperature"),
        lambda arrays, header: header["fitted"]["hash_function_"].update(row_temperature="warm"),
        lambda arrays, header: arrays.update({NORMAL: arrays[NORMAL][:, :5]}),
        lambda arrays, header: arrays.update({NORMAL: arrays[NORMAL][:5]}),
        lambda arrays, header: arrays.update(weights_=arrays["weights_"][:5]),
        lambda arrays, header: arrays.update(extra_=np.zeros(3)),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused_by_its_path(model, change, tmp_path):
    path = damaged(model, tmp_path / "model", change)
    with pytest.raises(ValueError, match=str(path)):
        load_model(path)


def test_a_file_with_other_settings_than_the_class_is_refused_with_both(model, tmp_path):
    path = damaged(model, tmp_path / "model", lambda arrays, header: header["params"].pop("n_bits"))
    with pytest.raises(ValueError, match=r"settings \[.*\], not \[.*'n_bits'.*; fit and save it again"):
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


def test_a_piece_without_a_name_works_but_cannot_be_saved(model, tmp_path):
    mine = DistilHash(**SMALL, family=OwnFamily()).fit(X, Y)
    np.testing.assert_array_equal(mine.transform(X), model.transform(X))
    with pytest.raises(ValueError, match=r"family=.*Own.* cannot be saved: no name"):
        mine.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_a_setting_that_was_changed_later_hides_no_piece_without_a_name(tmp_path):
    mine = DistilHash(**SMALL, family=OwnFamily()).fit(X, Y).set_params(family="linear")
    with pytest.raises(
        ValueError, match=r"hash_function_ cannot be saved: it holds OwnFamily\(.*use pieces of"
    ):
        mine.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("changed", [{"n_bits": 0}, {"family": "nosuch"}])
def test_a_setting_that_was_changed_later_and_is_not_allowed_is_refused(changed, tmp_path):
    changed_later = DistilHash(**SMALL).fit(X, Y).set_params(**changed)
    with pytest.raises(ValueError, match=r"cannot write .*model: DistilHash could not be loaded again"):
        changed_later.save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


class OwnMethod(DistilHash):
    """A method of the user's own, in no folder of the package."""


def test_a_class_that_no_one_could_load_is_not_saved(tmp_path):
    with pytest.raises(ValueError, match="OwnMethod cannot be saved: `load_model` does not know the class"):
        OwnMethod(**SMALL).fit(X, Y).save(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["datetime64[D]", "datetime64[ns]", "timedelta64[s]", np.longdouble, bool])
def test_labels_of_any_kind_are_saved(dtype, tmp_path):
    labels = (Y % 2).astype(dtype)
    for name in ("one_hot:max_iter=1000", "ksh:random_state=0"):
        model = load("baselines", name).set_params(n_bits=4).fit(X, labels)
        model.save(tmp_path / "model")
        again = load_model(tmp_path / "model")
        np.testing.assert_array_equal(again.encode(X), model.encode(X))
        assert again.get_params() == model.get_params()
    plain = {"M": str, "m": str, "f": float, "b": bool}[np.dtype(dtype).kind]
    named = load("baselines", "one_hot:n_bits=4,max_iter=1000").fit(X, labels).classes_
    assert [type(each) for each in named] == [plain, plain]


def test_a_file_of_the_first_version_says_what_to_do(model, tmp_path):
    text = json.dumps({"format": "structhash", "version": 1, "kind": "model"})
    save_file({"weights_": np.zeros(2)}, tmp_path / "model", metadata={"structhash": text})
    with pytest.raises(
        ValueError, match="it has version 1, this structhash reads 2; make it again from the data"
    ):
        load_model(tmp_path / "model")

"""Files of models from strangers: what is not as the class declares is refused, and ends no process."""

import functools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils import get_tags

from structhash import AdditiveHash, CGHash, DistilHash, StructHash, load_model
from structhash.baselines import Baseline
from structhash.estimators._fitted import check_attributes
from structhash.pieces import classes, load, names

RNG = np.random.default_rng(0)
Y = np.repeat(np.arange(3), 20)
X = (RNG.normal(size=(3, 6))[Y] + 0.5 * RNG.normal(size=(60, 6))).astype(np.float32)
FEW = {"n_bits": 4, "random_state": 0, "n_near": 5, "n_far": 5}
VARIANTS = ["cosdish:function=trees", "tsh:function=trees", "tsh:function=svm", "one_hot:family=tree"]


def small(spec):
    """A baseline with few bits and trees."""
    encoder = load("baselines", spec).set_params(n_bits=4)
    own = encoder.get_params()
    return encoder.set_params(**{name: 3 for name in ("n_trees", "max_iter") if name in own})


def models():
    for spec in [*names("baselines"), *VARIANTS]:
        encoder = small(spec)
        yield spec, encoder.set_params(random_state=0) if "random_state" in encoder.get_params() else encoder
    for name in names("families"):
        yield f"structhash-{name}", StructHash(**FEW, family=name)
    for name in names("embeddings"):
        yield f"distilhash-{name}", DistilHash(4, random_state=0, embedding=name)
    yield "cghash", CGHash(**FEW)
    yield "additivehash", AdditiveHash(12)


MODELS = dict(models())


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A function from a name in MODELS to the file of that model, fitted."""
    folder = tmp_path_factory.mktemp("models")

    @functools.cache
    def save(name):
        encoder, path = MODELS[name], folder / name.replace(":", "-")
        needs_y = get_tags(encoder).target_tags.required or not isinstance(encoder, Baseline)
        encoder.fit(X, Y if needs_y else None).save(path)
        return path

    return save


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge", "ignore:.*ConvergenceWarning")
def test_hostile_content_is_refused_and_ends_no_process(saved):
    words = [sys.executable, Path(__file__).with_name("hostile.py"), *map(saved, MODELS)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr[-2000:]
    assert done.stderr.split().count("checked") == len(MODELS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge", "ignore:.*ConvergenceWarning")
@pytest.mark.parametrize("name", list(MODELS))
def test_a_loaded_model_gives_the_codes_of_the_fitted_one_on_ties_too(name, tmp_path):
    rows, labels = np.eye(40)[:, :20], np.arange(40) % 2  # many rows lie on planes: rounding would decide
    encoder = clone(MODELS[name]).set_params(n_bits=8).fit(rows, labels)
    arrays = encoder._to_arrays()[0]
    assert [key for key, array in arrays.items() if not array.flags.c_contiguous] == []
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").encode(rows), encoder.encode(rows))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:lbfgs failed to converge", "ignore:.*ConvergenceWarning")
@pytest.mark.parametrize("name", list(MODELS))
def test_random_damage_is_refused(saved, tmp_path, name):
    content, rng = np.fromfile(saved(name), np.uint8), np.random.default_rng(0)
    for n_changed in (1, 2, 10):
        for _ in range(30):
            changed = content.copy()
            places = rng.integers(min(len(content), 4000), size=n_changed)  # the header, and some numbers
            changed[places] ^= rng.integers(1, 256, n_changed, dtype=np.uint8)
            if np.array_equal(changed, content):
                continue
            changed.tofile(tmp_path / "damaged")
            with pytest.raises(ValueError, match="cannot read"):
                load_model(tmp_path / "damaged")


def test_every_flipped_bit_of_a_model_is_refused(tmp_path, assert_every_flipped_bit_is_refused):
    path = tmp_path / "model"
    small("lsh").set_params(random_state=0).fit(X).save(path)
    assert_every_flipped_bit_is_refused(path, load_model)


@pytest.mark.parametrize("kind", ["baselines", "families", "embeddings"])
def test_every_piece_declares_what_it_stores(kind):
    declared = {"baselines": ["fitted_fields"], "families": ["state_fields", "bit_fields"]}
    for piece in classes(kind).values():
        for name in declared.get(kind, ["state_fields"]):
            assert getattr(piece, name) is not None, piece


class Undeclared(Baseline):
    """A method without a declaration."""


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"n_bits_": 0}, "n_bits_=0: an integer of at least 1 is allowed"),
        ({"n_features_in_": 2.0}, "n_features_in_=2.0: an integer of at least 1 is allowed"),
        ({"weights_": np.ones(3)}, r"'weights_' has shape \(3,\)"),
        ({"weights_": np.array([1, np.inf])}, "'weights_' holds numbers from 1 to inf"),
        ({"history_": [1, 2]}, "'history_' is .*; only records is allowed"),
        ({"mine_": np.array([np.nan])}, "'mine_' holds NaN"),
        ({"encode": 1}, "it holds 'encode', which is no fitted attribute of Undeclared"),
        ({"search_weights_": 1}, "it holds 'search_weights_', which is no fitted attribute"),
        ({"_hidden_": 1}, "it holds '_hidden_', which is no fitted attribute"),
        ({"mine": 1}, "it holds 'mine', which is no fitted attribute"),
    ],
)
def test_a_class_without_a_declaration_has_what_all_have_and_numbers(changed, message):
    good = {"n_bits_": 2, "n_features_in_": 2, "weights_": np.ones(2), "history_": [], "mine_": np.zeros(1)}
    check_attributes(Undeclared, {**good, "weighted_": True})
    with pytest.raises(ValueError, match=message):
        check_attributes(Undeclared, {**good, **changed})

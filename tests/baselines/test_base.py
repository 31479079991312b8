"""The contract of a baseline: one dropped file is a baseline, and the helpers of its fitted state."""

import importlib
import sys

import numpy as np
import pytest
from sklearn.datasets import load_digits

import structhash.baselines
from structhash.baselines.base import MAX_SQUARABLE, equal_bits, planes_through, through_mean
from structhash.estimators.loading import load_model
from structhash.pieces import classes, load, names

TOY = """
from structhash._numerics.validation import check_positive
from structhash.baselines.base import SupervisedBaseline, planes_through, through_mean

__all__ = ["ToyMeans"]


class ToyMeans(SupervisedBaseline):
    \"\"\"Toy: planes through the mean, towards the mean of one class each, https://example.org/toy.\"\"\"

    variants = ("", ":scale=2")
    source = "Nobody 2020"
    settings_from = "ours"

    def __init__(self, n_bits=64, *, scale=1.0):
        self.n_bits = n_bits
        self.scale = scale

    def check_settings(self):
        super().check_settings()
        check_positive("scale", self.scale)

    def _learn(self, rows, rng):
        classes = [bit % len(rows.classes) for bit in range(self.n_bits)]
        means = [rows.X[rows.class_index == c].mean(axis=0) for c in classes]
        return planes_through(rows.mean, self.scale * (means - rows.mean), rows.X.dtype)

    def _planes(self):
        return through_mean(self.mean_, self.planes_)
"""


@pytest.fixture
def toy(tmp_path):
    """A file in the folder of baselines, as if it lay there."""
    (tmp_path / "toy_means.py").write_text(TOY)
    structhash.baselines.__path__.append(str(tmp_path))
    importlib.invalidate_caches()
    yield
    structhash.baselines.__path__.remove(str(tmp_path))
    sys.modules.pop("structhash.baselines.toy_means", None)
    vars(structhash.baselines).pop("toy_means", None)
    importlib.invalidate_caches()


def test_one_file_is_a_baseline(toy, tmp_path):
    X, y = load_digits(return_X_y=True)
    assert "toy_means" in names("baselines")
    encoder = load("baselines", "toy_means:n_bits=10,scale=2").fit(X, y)
    means = np.array([X[y == c].mean(axis=0) for c in range(10)])
    center = X.mean(axis=0)
    np.testing.assert_array_equal(encoder.transform(X), (X - center) @ (means - center).T > 0)
    encoder.save(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").encode(X), encoder.encode(X))
    with pytest.raises(ValueError, match="scale=0: give a finite number above 0"):
        load("baselines", "toy_means:scale=0").check_settings()


def test_one_file_tells_about_itself(toy):
    from structhash.cli.pieces import describe_piece

    found = classes("baselines")["toy_means"]
    assert found.specs() == ["toy_means", "toy_means:scale=2"]
    about = describe_piece(found)
    assert about["source"] == "https://example.org/toy"
    assert about["what"].startswith("Toy: planes through the mean")
    assert about["settings"] == {"n_bits": 64, "scale": 1.0}
    assert structhash.baselines.ToyMeans is found
    assert "ToyMeans" in dir(structhash.baselines)


def test_the_toy_is_gone_again():
    assert "toy_means" not in names("baselines")


def test_fitted_state_of_equal_bits():
    found = equal_bits(np.int64(3))
    assert (found["n_bits_"], type(found["n_bits_"]), found["history_"]) == (3, int, [])
    np.testing.assert_array_equal(found["weights_"], [1.0, 1.0, 1.0])
    assert equal_bits(1)["history_"] is not equal_bits(1)["history_"]


def test_planes_through_the_mean():
    mean, normals = np.array([1.0, 2.0]), np.array([[3.0, 0.0], [0.0, -2.0], [0.0, 0.0]])
    found = planes_through(mean, normals, np.dtype(np.float32))
    assert (found["mean_"].dtype, found["planes_"].dtype, found["n_bits_"]) == (np.float32, np.float32, 3)
    planes = through_mean(found["mean_"], found["planes_"])
    np.testing.assert_array_equal(planes.center, mean)
    np.testing.assert_array_equal(planes.normals, [[1, 0], [0, -1], [0, 0]])
    np.testing.assert_array_equal(planes.thresholds, 0)
    with pytest.raises(ValueError, match="learning diverged: give a smaller learning rate"):
        planes_through(mean, normals * np.nan, np.dtype(np.float64))


def test_the_largest_number_with_an_ordinary_square():
    for number in (MAX_SQUARABLE, 1 / MAX_SQUARABLE):
        assert np.finfo(float).tiny < number * number < np.finfo(float).max


def test_planes_that_their_type_cannot_hold_are_refused():
    with pytest.raises(ValueError, match="learning diverged"):
        planes_through(np.zeros(2), np.array([[1e60, 1.0]]), np.dtype(np.float32))

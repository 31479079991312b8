"""Models as steps: each step and each compound of steps against numpy and the functions of this package."""

from io import BytesIO

import numpy as np
import pytest
from scipy.special import expit, softmax

from structhash._numerics.blocks import normalize_rows
from structhash._numerics.gaussian import similarities_to
from structhash._numerics.program import OPERATIONS, Program
from structhash.export.encoder import Encoder
from structhash.export.model import Exported, npz_bytes


def run(program, name, X):
    """The value of a name, by the NumPy encoder."""
    steps, width = program.steps_to(name), 1000
    about = {"n_features": X.shape[1], "n_bits": width, "steps": {"values": steps}, "weights": None}
    return Encoder(BytesIO(npz_bytes(Exported(about, program.arrays)))).values(X)


@pytest.fixture
def X(rng):
    return rng.normal(size=(7, 5))


def test_simple_steps_are_those_of_numpy(X):
    other = np.arange(5.0) - 2
    for name, inputs, expected in (
        ("add", [other], X + other),
        ("subtract", [other], X - other),
        ("multiply", [2.0], X * 2),
        ("divide", [np.float32(3)], X / 3),
        ("minimum", [other], np.minimum(X, other)),
        ("maximum", [0.0], np.maximum(X, 0)),
        ("greater", [other], other < X),
        ("matmul", [np.eye(5)[:, ::2]], X[:, ::2]),
        ("exp", [], np.exp(X)),
        ("abs", [], np.abs(X)),
        ("row_sum", [], X.sum(axis=1, keepdims=True)),
        ("row_max", [], X.max(axis=1, keepdims=True)),
        ("kth_largest", [2], np.sort(X, axis=1)[:, [-2]]),
        ("columns", [[3, 0]], X[:, [3, 0]]),
        ("concatenate", ["X"], np.hstack([X, X])),
    ):
        program = Program()
        np.testing.assert_allclose(run(program, program.step(name, "X", *inputs), X), expected, err_msg=name)
    for name, expected in (("sqrt", np.sqrt(X**2)), ("log", np.log(X**2)), ("power", (X**2) ** 1.5)):
        program = Program()
        squares = program.step("multiply", "X", "X")
        more = [1.5] if name == "power" else []
        np.testing.assert_allclose(run(program, program.step(name, squares, *more), X), expected, err_msg=name)


def test_every_operation_is_tried_above():
    tried = "add subtract multiply divide minimum maximum greater matmul exp abs row_sum row_max kth_largest"
    assert set(OPERATIONS) == {*tried.split(), "columns", "concatenate", "sqrt", "log", "power"}


def test_compounds_are_the_functions_of_the_package(X, rng):
    X[2] = 0
    anchors, program = rng.normal(size=(4, 5)), Program()
    for name, expected in (
        (program.normalized("X"), normalize_rows(X)),
        (program.softmax("X"), softmax(X, axis=1)),
        (program.sharpened(program.softmax("X"), 3.0), softmax(3 * X, axis=1)),
        (program.similarities("X", anchors, 1.7), similarities_to(anchors, 1.7)(X)),
    ):
        np.testing.assert_allclose(run(program, name, X), expected, rtol=1e-12)


def test_interpolation_is_that_of_numpy():
    places, heights = np.array([-1.0, 0, 0, 2]), np.array([0.1, 0.4, 0.5, 0.9])
    x, program = np.array([-3, -1, -0.2, -1e-9, 1e-9, 1, 2, 9])[:, None], Program()
    found = run(program, program.interpolated("X", places, heights), x)
    np.testing.assert_allclose(found, np.interp(x, places, heights), rtol=1e-12)


def test_a_step_is_kept_once_and_only_what_leads_to_a_result_is_given():
    program = Program()
    first, second = (program.step("add", "X", np.ones(3)) for _ in range(2))
    other = program.step("exp", "X")
    assert first == second != other
    assert len(program.arrays) == 1
    assert program.steps_to(program.step("abs", first)) == [["add", "t0", "X", "c0"], ["abs", "t2", "t0"]]


def test_constants_are_copies_in_c_order_of_single_or_double_precision():
    program, given = Program(), np.arange(6, dtype=np.float32).reshape(2, 3).T
    program.step("matmul", "X", given)
    program.step("add", "X", [1, 2])
    given[:] = 9
    matrix, vector = program.arrays.values()
    assert (matrix.dtype, matrix.flags.c_contiguous, vector.dtype) == (np.float32, True, np.float64)
    np.testing.assert_array_equal(matrix, [[0, 3], [1, 4], [2, 5]])


@pytest.mark.parametrize("words", [("cube", "X"), ("exp", "X", "X"), ("add", "X")])
def test_an_unknown_step_is_refused(words):
    with pytest.raises(ValueError, match=r"no operation of . inputs; give one of"):
        Program().step(*words)


def test_the_logistic_function_is_that_of_scipy_and_does_not_overflow(X):
    program = Program()
    with np.errstate(all="raise", under="ignore"):
        found = run(program, program.logistic("X"), X * 3)
        np.testing.assert_allclose(found, expit(X * 3), rtol=1e-14)
        far = run(program, program.logistic("X"), np.array([[-1e300, -800, 0, 800, 1e300]]))
    np.testing.assert_allclose(far, [[0, 0, 0.5, 1, 1]], atol=1e-300)

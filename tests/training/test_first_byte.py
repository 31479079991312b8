"""A first byte of its own: what it leaves over, by the coder, and where it is refused."""

import numpy as np
import pytest

from structhash.codes.sums import FirstByteCoder, sums_of
from structhash.training.first_byte import learn_with_first_byte

RNG = np.random.default_rng(0)
N_CLASSES, N = 6, 1200
CLASS = RNG.integers(N_CLASSES, size=N)
SURE = np.exp(RNG.normal(0, 0.2, (N, N_CLASSES)) + 4 * np.eye(N_CLASSES)[CLASS])
ROWS = np.hstack([SURE / SURE.sum(axis=1, keepdims=True), RNG.normal(size=(N, 10))])
ROWS = (ROWS - ROWS.mean(axis=0)).astype(np.float32)


def learn(Y, sizes, n_first=N_CLASSES):
    return learn_with_first_byte(Y, n_first, np.array(sizes), 8, np.random.default_rng(0))


@pytest.mark.parametrize("sizes", [[256], [64, 256], [256, 256, 16]], ids=str)
def test_errors_are_what_the_codes_leave_over(sizes):
    tables, errors = learn(ROWS, sizes)
    codes = FirstByteCoder(tables, np.array(sizes), 8, N_CLASSES).code(ROWS)
    for n_bytes in (1, len(sizes)):  # in between, the vectors are fitted again
        sums = sums_of(codes[:, :n_bytes], tables[:n_bytes])
        left = ((ROWS - sums) ** 2).sum() / (ROWS**2).sum()
        assert errors[n_bytes - 1] == pytest.approx(left, rel=0.02)
    assert (np.diff(errors) < 0).all()


def test_the_other_bytes_do_not_touch_the_first_numbers():
    tables, _ = learn(ROWS, [256, 256])
    assert tables[0, :, :N_CLASSES].any()
    assert tables[1].any()
    assert not tables[1:, :, :N_CLASSES].any()
    codes = FirstByteCoder(tables, np.array([256, 256]), 8, N_CLASSES).code(ROWS)
    classes = sums_of(codes, tables)[:, :N_CLASSES]
    assert len(np.unique(classes, axis=0)) == len(np.unique(codes[:, 0]))
    np.testing.assert_array_equal(classes.argmax(axis=1), CLASS)


def test_more_classes_than_a_byte_has_values_share_all_bytes():
    few, many = (np.repeat(np.eye(n, dtype=np.float32) - np.float32(1 / n), 4, axis=0) for n in (100, 600))
    assert learn(few, [256, 256], 99) is not None
    assert learn(many, [256, 256], 599) is None
    assert learn(ROWS, [2, 256]) is None


def test_rows_that_differ_in_the_first_numbers_alone_need_no_other_byte():
    rows = np.repeat(np.eye(4, dtype=np.float32) - 0.25, 5, axis=0)
    rows = np.hstack([rows, np.zeros((20, 3), np.float32)])
    tables, errors = learn(rows, [256, 256], 4)
    assert not tables[1].any()
    np.testing.assert_allclose(errors, 0, atol=1e-6)


@pytest.mark.parametrize("n_classes", [20, 120])
def test_sure_classes_have_values_of_their_own(n_classes):
    rng = np.random.default_rng(0)
    numbers = rng.integers(n_classes, size=3000)
    sure = np.eye(n_classes)[numbers] + rng.normal(0, 1e-7, (3000, n_classes))
    rows = np.hstack([sure - sure.mean(axis=0), rng.normal(0, 0.1, (3000, 4))]).astype(np.float32)
    tables, _ = learn(rows, [256, 256], n_classes)
    first = FirstByteCoder(tables, np.array([256, 256]), 8, n_classes).code(rows)[:, 0]
    pairs = np.unique(np.column_stack([first, numbers]), axis=0)
    assert len(np.unique(first)) <= len(pairs) <= 1.1 * len(np.unique(first))  # few values have two classes


def test_a_class_part_that_is_nearly_nothing_is_not_worth_a_byte():
    rows = ROWS.copy()
    rows[:, :N_CLASSES] *= 0.1
    share = (rows[:, :N_CLASSES] ** 2).sum() / (rows**2).sum()
    assert share < 0.025
    assert learn(rows, [256, 256]) is None
    assert learn(ROWS, [256, 256]) is not None

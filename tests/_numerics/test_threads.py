"""One limit on BLAS threads, shared by all callers."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from structhash._numerics.threads import one_blas_thread


def n_blas_threads():
    """Largest number of threads of a BLAS library; that of faiss (OpenMP) has a number for each thread."""
    found = [each for each in threadpool_info() if each["user_api"] == "blas"]
    return max(each["num_threads"] for each in found if each["threading_layer"] != "openmp")


@pytest.fixture(autouse=True)
def two_threads():
    with threadpool_limits(2, user_api="blas"):
        yield


def test_the_limit_ends_with_the_block_also_after_an_error():
    with pytest.raises(ZeroDivisionError), one_blas_thread():
        1 / (n_blas_threads() - 1)
    assert n_blas_threads() == 2


def test_the_limit_holds_until_the_last_thread_leaves():
    """The first to enter is the first to leave."""
    second_is_inside, first_is_out = threading.Event(), threading.Event()
    seen = []

    def second():
        with one_blas_thread():
            second_is_inside.set()
            first_is_out.wait()
            seen.append(n_blas_threads())

    thread = threading.Thread(target=second)
    with one_blas_thread():
        thread.start()
        second_is_inside.wait()
    first_is_out.set()
    thread.join()
    assert seen == [1]
    assert n_blas_threads() == 2

"""One limit on BLAS threads, shared by all callers, and the number of threads of `n_jobs`."""

import threading

import numpy as np
import pytest
from joblib import cpu_count
from threadpoolctl import threadpool_info, threadpool_limits

from structhash._numerics.threads import n_threads, one_blas_thread


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


def test_the_number_of_threads_of_n_jobs():
    assert [n_threads(n_jobs) for n_jobs in (None, 1, 3, np.int64(2))] == [1, 1, 3, 2]
    assert n_threads(-1) == cpu_count()


@pytest.mark.parametrize("n_jobs", [0, 1.0, "2", np.nan])
def test_an_n_jobs_that_is_no_number_of_threads_is_refused(n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs=.*: give None for one thread, a number of threads, or -1"):
        n_threads(n_jobs)

"""Calls in several processes: results, warnings, errors, and a process that ends."""

import os
import signal
import subprocess
import sys
import time
import warnings

import pytest

from structhash.cli._jobs import results_of

pytestmark = pytest.mark.slow  # processes take a second to start


def square(number):
    warnings.warn(f"{number} is squared", stacklevel=1)
    return os.getpid(), number**2


def fail_at_two(number):
    if number == 2:
        raise ValueError("two is not allowed")
    return number


def end_at_two(number):
    if number == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(0.01)
    return number


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_and_warnings_come_from_all_calls(n_jobs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = list(results_of(square, [(number,) for number in range(5)], n_jobs))
    assert sorted(number for _, number in found) == [0, 1, 4, 9, 16]
    assert {process == os.getpid() for process, _ in found} == {n_jobs == 1}
    assert sorted(str(each.message) for each in caught) == [f"{number} is squared" for number in range(5)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_error_of_a_call_is_that_error(n_jobs):
    with pytest.raises(ValueError, match="two is not allowed"):
        list(results_of(fail_at_two, [(number,) for number in range(5)], n_jobs))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="a system without SIGKILL")
def test_a_process_that_ends_is_an_error():
    with pytest.raises(OSError, match=r"one of 2 processes ended, perhaps for lack of memory .* fewer --jobs"):
        list(results_of(end_at_two, [(number,) for number in range(5)], 2))


_FOREVER = """
import os, sys, time
from structhash.cli._jobs import results_of

def work(path):
    open(path, "w").write(str(os.getpid()))
    time.sleep(600)

list(results_of(work, [(path,) for path in sys.argv[1:]], 2))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a system that does not tell who started a process")
def test_processes_end_with_the_one_that_started_them(tmp_path):
    paths = [tmp_path / name for name in "ab"]
    first = subprocess.Popen([sys.executable, "-c", _FOREVER, *map(str, paths)], stderr=subprocess.DEVNULL)
    wait_until(lambda: all(path.exists() and path.read_text() for path in paths))
    first.kill()
    first.wait()
    for path in paths:
        wait_until(lambda path=path: not is_running(int(path.read_text())))


def wait_until(condition):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.1)
    raise AssertionError("a minute was not enough")


def is_running(process):
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True

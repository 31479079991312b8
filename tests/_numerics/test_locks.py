"""Locks and forks."""

import os
import threading

import pytest

from structhash._numerics.locks import fork_safe_lock


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_fork_waits_for_the_lock_and_no_child_inherits_it_locked():
    lock, held, go_on = fork_safe_lock(), threading.Event(), threading.Event()
    released = []

    def hold():
        with lock:
            held.set()
            go_on.wait()
            released.append(True)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    threading.Timer(0.05, go_on.set).start()
    child = os.fork()
    if child == 0:
        taken = []
        other = threading.Thread(target=lambda: taken.append(lock.acquire(blocking=False)))
        other.start()
        other.join()
        os._exit(0 if taken == [True] and released == [True] else 1)
    thread.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

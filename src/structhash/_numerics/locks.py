"""Locks that a forked process does not inherit locked."""

from __future__ import annotations

import os
import threading

__all__ = ["fork_safe_lock"]


def fork_safe_lock() -> threading.RLock:
    """Make a lock that a fork waits for. It lives as long as the process: make it once, in a module."""
    lock = threading.RLock()
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lock.acquire, after_in_parent=lock.release, after_in_child=lock.release)
    return lock

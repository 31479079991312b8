"""Import faiss when it is needed, since it is optional."""

from __future__ import annotations

import os
import sys
from typing import Any

from structhash._numerics.optional import not_installed

__all__ = ["import_faiss"]


def import_faiss(needed_by: str) -> Any:
    """The module; ImportError that names the class which needs it."""
    try:
        import faiss
    except ImportError as error:
        raise not_installed("faiss", needed_by, "faiss", error) from error
    return faiss


def _search_in_one_thread() -> None:
    """Let this thread search by itself: the threads of OpenMP do not live on in a forked process."""
    faiss = sys.modules.get("faiss")
    if faiss is not None:
        faiss.omp_set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_search_in_one_thread)

"""Tell an interrupt from an error, also where compiled code hides it."""

from __future__ import annotations

__all__ = ["interrupted"]


def interrupted(error: BaseException) -> bool:
    """Whether an interrupt led to an error: on Ctrl-C, compiled code raises errors of its own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return True
        cause = cause.__cause__ or cause.__context__
    return False

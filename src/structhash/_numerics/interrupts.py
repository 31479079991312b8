"""Tell an interrupt from an error, also where compiled code hides it."""

from __future__ import annotations

__all__ = ["interrupt_in"]


def interrupt_in(error: BaseException) -> KeyboardInterrupt | None:
    """The interrupt that led to an error, if one did: on Ctrl-C, compiled code raises errors of its own."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            return cause
        cause = cause.__cause__ or cause.__context__
    return None

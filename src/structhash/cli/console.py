"""How every command ends: exit statuses, errors and warnings."""

from __future__ import annotations

import contextlib
import logging
import os
import sys
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

from typer.core import TyperGroup

__all__ = ["Commands", "say"]

_BAD_INPUT, _INTERRUPTED, _READER_GONE = 2, 130, 1  # exit statuses


class Commands(TyperGroup):
    """All commands, and the one place where an exception becomes a line on standard error and an exit status.

    Status 0: done. 2: bad input, one line that begins with "error: ". 130: interrupted. 1: the reader of the
    output has gone, or the program has a defect; a defect leaves a traceback.
    """

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one command line and exit; show the help if there are no arguments.

        Parameters
        ----------
        args : sequence of str, optional
            The words; those of the process by default.
        prog_name, complete_var, standalone_mode, windows_expand_args, **extra
            As in typer. `standalone_mode` is always off here.

        Returns
        -------
        Never: it raises SystemExit, or the exception of a defect.
        """
        words = list(sys.argv[1:] if args is None else args) or ["--help"]
        try:
            with _spoken_warnings():
                status = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
            status = _READER_GONE
        except Exception as error:
            status = _status_of(error)
            if status is None:
                raise
        sys.exit(status)


def say(level: str, text: str) -> None:
    """Print one line on standard error, whatever line breaks the text has."""
    print(f"{level}:", " ".join(text.split()), file=sys.stderr)


def _status_of(error: Exception) -> int | None:
    """The exit status of what a command raised, after one line on standard error; None for a defect."""
    cause: BaseException | None = error
    while cause is not None:  # on Ctrl-C, compiled code raises errors of its own
        if isinstance(cause, KeyboardInterrupt):
            return _INTERRUPTED
        cause = cause.__cause__ or cause.__context__
    text = _message(error)
    if text is None:
        return None
    say("error", text)
    return _BAD_INPUT


def _message(error: Exception) -> str | None:
    """The message for bad input; None for a defect of the program."""
    if isinstance(error, OSError) and error.strerror:  # without the number that the system gives it
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, ValueError | TypeError | OSError | ImportError):
        return str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        return f"not enough memory for what was asked ({error}); ask for less, or give fewer rows"
    if hasattr(error, "format_message"):  # a usage error, whose class typer does not export
        context = getattr(error, "ctx", None)
        see = f" (see {context.command_path} --help)" if context else ""
        return f"{error.format_message().rstrip('.')}{see}"
    return None


class _WarningLines(logging.Handler):
    """Log records as lines on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        say("warning", record.getMessage())


@contextlib.contextmanager
def _spoken_warnings() -> Iterator[None]:
    """Print warnings of the library's log, and Python's, as "warning: ..." lines inside the block."""

    def showwarning(message: Warning | str, *rest: Any, **more: Any) -> None:
        say("warning", str(message))

    logger, handler = logging.getLogger("structhash"), _WarningLines(logging.WARNING)
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = showwarning
            yield
    finally:
        logger.removeHandler(handler)

"""How every command ends: exit statuses, errors, warnings, signals and streams."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import signal
import sys
import threading
import warnings
from _thread import interrupt_main
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from typer.core import TyperGroup

from structhash._numerics.interrupts import interrupted

__all__ = ["Commands", "Unfinished", "say", "say_if_interrupted"]

_UNFINISHED, _BAD_INPUT, _BY_SIGNAL = 1, 2, 128  # exit statuses; the last one plus the number of the signal
_LATER = 0.01  # seconds until a lost interrupt is sent once more
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # errors of a disk, whatever the input


class Unfinished(Exception):
    """The input was good, but not all the work could be done; the message says what is missing."""


class Commands(TyperGroup):
    """All commands, and the one place where an exception becomes a line on standard error and an exit status.

    Status 0: done. 2: bad input. 1: good input, but the disk is full, not all work could be done, the reader of
    the output has gone, or the program has a defect. 130, 143, 129: ended by Ctrl-C, SIGTERM, SIGHUP. Bad input
    and unfinished work leave one line that begins with "error: ", a signal a line that names it, a defect a
    traceback.
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
        _prepare_streams()
        received: list[int] = []
        try:
            with _spoken_warnings(), _signals(received), _no_lost_interrupts():
                _check_current_folder()
                status = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
        except (Exception, KeyboardInterrupt) as error:
            status = _status_of(error)
            if status is None:
                raise
        if received or status == _BY_SIGNAL + signal.SIGINT:  # typer, too, makes this status of Ctrl-C
            _print_error(f"ended by {signal.Signals(received[-1]).name}" if received else "interrupted")
        exec("")  # Python forgets an interrupt inside `exec`, which would replace the exit status
        sys.exit(_flush_output(_BY_SIGNAL + received[-1] if received else status))


def say(level: str, text: str) -> None:
    """Print one line on standard error, whatever line breaks the text has, and even if nothing reads it."""
    _print_error(f"{level}: {' '.join(text.split())}")


@contextlib.contextmanager
def say_if_interrupted(kept: Callable[[], str]) -> Iterator[None]:
    """Say where finished work is if the block is interrupted.

    Parameters
    ----------
    kept : callable
        Gives what is finished and where it is, or ``""`` where nothing is.
    """
    try:
        yield
    except BaseException as error:
        if interrupted(error) and (finished := kept()):
            say("note", f"{finished}; the same command goes on from there")
        raise


def _print_error(line: str) -> None:
    """Print a line on standard error, even if nothing reads it."""
    with contextlib.suppress(OSError):
        print(line, file=sys.stderr)


def _prepare_streams() -> None:
    """Make the standard streams take any text: closed ones drop it, others escape what they cannot encode."""
    if sys.stdout is None or sys.stderr is None:
        number = 0
        while number <= 2:  # so that no file that is opened later gets the number of a standard stream
            number = os.open(os.devnull, os.O_RDWR)
        os.close(number)
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115 - it stays open until the end
        elif isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def _check_current_folder() -> None:
    """Refuse to start in a folder that was deleted, in which libraries fail without a reason."""
    try:
        os.getcwd()
    except FileNotFoundError:
        raise FileNotFoundError("the current folder was deleted; change to another one") from None


def _flush_output(status: int | None) -> int | None:
    """Flush standard output, and return the exit status."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        if not status and not isinstance(error, BrokenPipeError):
            say("error", f"cannot write standard output: {error.strerror}")
        return status or _UNFINISHED
    return status


@contextlib.contextmanager
def _signals(received: list[int]) -> Iterator[None]:
    """Let signals that end the process end it as Ctrl-C does, so that nothing is left half-written.

    Their numbers are added to `received`.
    """

    def stop(number: int, frame: Any) -> None:
        received.append(number)
        raise KeyboardInterrupt

    caught = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    ours = threading.current_thread() is threading.main_thread()
    before = {each: signal.getsignal(each) for each in caught if ours}
    for each, handler in before.items():
        if handler == signal.SIG_DFL:  # nohup ignores SIGHUP
            signal.signal(each, stop)
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextlib.contextmanager
def _no_lost_interrupts() -> Iterator[None]:
    """Send an interrupt once more where Python drops it, because it came while an object was destroyed."""
    before = sys.unraisablehook
    sent: list[threading.Timer] = []

    def hook(dropped: Any) -> None:
        if not issubclass(dropped.exc_type, KeyboardInterrupt):
            before(dropped)
        else:  # from a thread, since an interrupt inside this function would be dropped, too
            sent.append(threading.Timer(_LATER, interrupt_main))
            sent[-1].start()

    sys.unraisablehook = hook
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in sent:
            timer.cancel()


def _status_of(error: BaseException) -> int | None:
    """The exit status of what a command raised, after a line for an error; None for a defect."""
    if interrupted(error):
        return _BY_SIGNAL + signal.SIGINT
    if isinstance(error, BrokenPipeError):
        return _UNFINISHED
    text = _message(error)
    if text is None:
        return None
    say("error", text)
    full = isinstance(error, OSError) and error.errno in _FULL
    return _UNFINISHED if full or isinstance(error, Unfinished) else _BAD_INPUT


def _message(error: BaseException) -> str | None:
    """The message for bad input; None for a defect of the program."""
    if isinstance(error, OSError) and error.strerror:  # without the number that the system gives it
        if error.filename:
            return f"{os.fsdecode(error.filename)}: {error.strerror}"
        printed = error.errno in _FULL and error.strerror == os.strerror(error.errno)
        return f"cannot write standard output: {error.strerror}" if printed else error.strerror
    if isinstance(error, ValueError | TypeError | OSError | ImportError | Unfinished):
        return str(error) or type(error).__name__
    if isinstance(error, MemoryError):
        return f"not enough memory for what was asked ({error}); ask for less, or give fewer rows"
    if hasattr(error, "format_message"):  # a usage error, whose class typer does not export
        context = getattr(error, "ctx", None)
        see = f" (see {context.command_path} --help)" if context else ""
        text = error.format_message().rstrip(".")
        several = context and _reads_data(context.command) and _ends_with_files(text)
        return f"{text}{'; give several files as a folder or a quoted pattern' if several else ''}{see}"
    return None


def _reads_data(command: Any) -> bool:
    """Whether a command has the options of `structhash.cli._options.reads_data`."""
    return any(each.name == "text_model" for each in command.params)


def _ends_with_files(text: str) -> bool:
    """Whether a message ends with names of existing files in brackets, as one of too many arguments may."""
    words = text.rpartition("(")[2].removesuffix(")").split(" ")
    return text.endswith(")") and all(map(os.path.isfile, words))


class _LogLines(logging.Handler):
    """Log records as lines on standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print one record."""
        say("warning" if record.levelno >= logging.WARNING else "note", record.getMessage())


@contextlib.contextmanager
def _spoken_warnings() -> Iterator[None]:
    """Print warnings of the library's log, and Python's, as "warning: ..." lines inside the block.

    Each of Python's is printed once, though every block of rows may give it. On a terminal, a line also says
    that code is being compiled.
    """

    said: set[str] = set()

    def showwarning(message: Warning | str, *rest: Any, **more: Any) -> None:
        if str(message) not in said:
            said.add(str(message))
            say("warning", str(message))

    logger, handler = logging.getLogger("structhash"), _LogLines(logging.WARNING)
    kernels, notes = logging.getLogger("structhash.kernels"), _LogLines(logging.INFO)
    notes.addFilter(lambda record: record.levelno < logging.WARNING)
    level = kernels.level
    logger.addHandler(handler)
    if sys.stderr.isatty():
        kernels.addHandler(notes)
        kernels.setLevel(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = showwarning
            yield
    finally:
        logger.removeHandler(handler)
        kernels.removeHandler(notes)
        kernels.setLevel(level)

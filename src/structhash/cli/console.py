"""The terminal side of every command: errors, warnings, progress, facts, tables and JSON."""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from typer.core import TyperGroup


class Commands(TyperGroup):
    """All commands, and the one place where what they raise becomes a line on stderr and an exit status.

    Status 0: done. 2: bad input, one line that begins with "error: ". 130: interrupted. 1: the reader of our
    output has gone, or, with a traceback, a defect of the program.
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
        """Run one command line and exit; without any word, show the help."""
        words = list(sys.argv[1:] if args is None else args) or ["--help"]
        try:
            with spoken_warnings():
                status = super().main(words, prog_name, complete_var, standalone_mode=False, **extra)
            sys.stdout.flush()
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
            status = 1
        except Exception as error:
            status = outcome(error)
            if status is None:
                raise
        sys.exit(status)


def outcome(error: Exception) -> int | None:
    """The exit status for what a command raised, after one line on stderr; None for a defect of the program."""
    cause: BaseException | None = error
    while cause is not None:  # numba and other compiled code raise errors of their own on Ctrl-C
        if isinstance(cause, KeyboardInterrupt):
            return 130
        cause = cause.__cause__ or cause.__context__
    if isinstance(error, ValueError | TypeError | OSError):
        return fail(describe(error))
    if isinstance(error, MemoryError):
        return fail(f"not enough memory for what was asked ({error}); ask for less, or give fewer rows")
    if not hasattr(error, "format_message"):  # no usage error of typer
        return None
    context = getattr(error, "ctx", None)
    see = f" (see {context.command_path} --help)" if context else ""
    return fail(error.format_message().rstrip(".") + see)


def describe(error: Exception) -> str:
    """The message of an error; the system's own ones without their number."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error) or type(error).__name__


def fail(text: str) -> int:
    """One line on stderr; the exit status of bad input."""
    say("error", text)
    return 2


def say(level: str, text: str) -> None:
    """One line on stderr, whatever line breaks the text has."""
    print(f"{level}:", " ".join(text.split()), file=sys.stderr)


class WarningLines(logging.Handler):
    """Log records as lines on stderr."""

    def emit(self, record: logging.LogRecord) -> None:
        say("warning", record.getMessage())


@contextlib.contextmanager
def spoken_warnings() -> Iterator[None]:
    """Warnings of the library's log, and Python's, as "warning: ..." lines while this lasts."""

    def showwarning(message: Warning | str, *rest: Any, **more: Any) -> None:
        say("warning", str(message))

    logger, handler = logging.getLogger("structhash"), WarningLines(logging.WARNING)
    logger.addHandler(handler)
    try:
        with warnings.catch_warnings():
            warnings.showwarning = showwarning
            yield
    finally:
        logger.removeHandler(handler)


@contextlib.contextmanager
def bar(what: str, total: int, unit: str) -> Iterator[Callable[[], None]]:
    """A progress bar on stderr where that is a terminal, else nothing; gives the function to call a step."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.completed:.0f} of {task.total:.0f} {task.fields[rate]}"),
        progress.TimeRemainingColumn(),
    )
    began = time.perf_counter()
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=total, rate=unit)

        def advance() -> None:
            done = shown.tasks[0].completed + 1
            rate = f"{unit}, {done / (time.perf_counter() - began):.2g} a second"
            shown.update(task, advance=1, rate=rate)

        yield advance


def show(facts: dict[str, Any], as_json: bool) -> None:
    """Facts as one JSON document, or a line each."""
    if as_json:
        print(to_json(facts))
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        print(f"{name:<{width}}  {cell(value)}")


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Columns of equal width, numbers to the right; the last one without blanks behind it."""
    text = [[cell(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *text, strict=True)]
    right = [bool(rows) and all(isinstance(row[c], int | float) for row in rows) for c in range(len(head))]
    for line in [list(head), *text]:
        cells = zip(line, widths, right, strict=True)
        print(
            "  ".join(x.rjust(width) if to_right else x.ljust(width) for x, width, to_right in cells).rstrip()
        )


def cell(value: Any) -> str:
    """A value for people: floats with 4 digits."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={cell(each)}" for key, each in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def to_json(document: Any) -> str:
    """JSON text of plain values, numpy scalars and arrays; NaN and infinity, which JSON lacks, become null."""
    return json.dumps(plain(document), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """What `json` takes."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def write_json(path: Path, document: Any) -> None:
    """Write a JSON file whole or not at all."""
    from structhash.io.container import atomic

    with atomic(path) as temporary:
        temporary.write_text(to_json(document) + "\n", encoding="utf-8")


def check_output(
    out: Path | None, *inputs: Path | None, suffix: str = "", refused: tuple[str, ...] = ()
) -> None:
    """Refuse before the work what could not, or should not, be written after it.

    Raises
    ------
    ValueError, OSError
        If `out` is a folder or a device, its folder is missing or closed to us, it is one of the inputs, or
        its name has another ending than `suffix`, or one of those `refused`. An ordinary file of that name
        is going to be replaced.
    """
    if out is None:
        return
    if suffix and out.suffix.lower() != suffix:
        raise ValueError(f"cannot write {out}: the name must end in {suffix}")
    if out.suffix.lower() in refused:
        raise ValueError(f"cannot write {out}: {out.suffix} files hold data; give another ending")
    if out.is_dir():
        raise ValueError(f"cannot write {out}: it is a folder; give the name of a file")
    if out.exists() and not out.is_file():
        raise ValueError(f"cannot write {out}: it is no ordinary file")
    if not out.parent.is_dir():
        raise FileNotFoundError(f"cannot write {out}: the folder {out.parent} does not exist; create it first")
    if not os.access(out.resolve().parent, os.W_OK):
        raise PermissionError(f"cannot write {out}: no permission to write in its folder")
    for path in inputs:
        if path is not None and path.exists() and out.exists() and out.samefile(path):
            raise ValueError(f"cannot write {out}: this command reads it; give another name")

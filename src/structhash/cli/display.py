"""Output for people on a terminal: facts, tables and progress bars."""

from __future__ import annotations

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from structhash.cli.documents import to_json

__all__ = ["bar", "print_facts", "print_table"]


def print_facts(facts: dict[str, Any], as_json: bool) -> None:
    """Print facts, a line each, or as one JSON document."""
    if as_json:
        print(to_json(facts))
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        print(f"{name:<{width}}  {_text(value)}")


def print_table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print columns of equal width: numbers to the right, and no blanks at the end of a line."""
    text = [[_text(value) for value in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(head, *text, strict=True)]
    right = [bool(rows) and all(isinstance(row[c], int | float) for row in rows) for c in range(len(head))]
    for line in [list(head), *text]:
        cells = zip(line, widths, right, strict=True)
        print(
            "  ".join(x.rjust(width) if to_right else x.ljust(width) for x, width, to_right in cells).rstrip()
        )


@contextlib.contextmanager
def bar(what: str, total: int | None, unit: str, at_once: int = 0) -> Iterator[Callable[..., None]]:
    """Show a progress bar on standard error inside the block; nothing where that is not a terminal.

    Parameters
    ----------
    what : str
        The name of the work, in one word.
    total : int or None
        Number of steps; None where it is not known.
    unit : str
        What a step is, in the plural.
    at_once : int
        Number of steps between two calls. Nothing is shown where no call would come before the last.

    Yields
    ------
    callable
        To be called after each step, or after several with their number. The bar also shows the stages that
        the library logs.
    """
    if not sys.stderr.isatty() or (total is not None and total <= at_once):
        yield lambda steps=1: None
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn("{task.fields[state]}"),
        progress.TimeRemainingColumn(),
    )
    began, done = time.perf_counter(), 0
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as shown:
        task = shown.add_task(what, total=None, state="")

        def advance(steps: int = 1) -> None:
            nonlocal done
            done += steps
            rate = done / (time.perf_counter() - began)
            end = "" if total is None else f" of {total}"
            shown.update(task, total=total, completed=done, state=f"{done}{end} {unit}, {rate:.2g} a second")

        with _stages(lambda stage: shown.update(task, description=f"{what}: {stage}")):
            yield advance


class _StageHandler(logging.Handler):
    """Passes the text of each log record on."""

    def __init__(self, show: Callable[[str], None]) -> None:
        super().__init__()
        self.show = show

    def emit(self, record: logging.LogRecord) -> None:
        """Pass one text on."""
        self.show(record.getMessage())


@contextlib.contextmanager
def _stages(show: Callable[[str], None]) -> Iterator[None]:
    """Show the name of each stage that begins inside the block."""
    logger, handler = logging.getLogger("structhash.stages"), _StageHandler(show)
    level = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


def _text(value: Any) -> str:
    """A value for people: floats with 4 digits."""
    if isinstance(value, dict):
        return ", ".join(f"{key}={_text(each)}" for key, each in value.items())
    return f"{value:.4g}" if isinstance(value, float) else str(value)

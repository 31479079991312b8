"""What a table says about itself: a text of JSON that the database keeps with it."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from structhash.stores.base import StoreInfo

__all__ = ["check_replaced", "header", "read_header"]

_MADE_BY = "structhash"


def header(about: StoreInfo) -> str:
    """The text that a new table gets."""
    return json.dumps({"made_by": _MADE_BY, **asdict(about)})


def read_header(text: str | None, table: str) -> StoreInfo:
    """What a table was made with; ValueError if its text is None (no such table) or of another program."""
    if text is None:
        raise ValueError(f"there is no table {table!r}; export codes first, or give another table (--table)")
    about = _ours(text)
    if about is None:
        raise ValueError(f"table {table!r} was not made by export; give another table (--table)")
    are_bits = about.get("codes_are_bits") is not False  # tables of earlier versions do not say
    return StoreInfo(about["n_bits"], about["ntotal"], about["id_kind"], about["source"], are_bits)


def check_replaced(text: str | None, table: str, replace: bool) -> bool:
    """Whether there is a table to drop; ValueError if it may not be replaced.

    Parameters
    ----------
    text : str or None
        What the table says; None if there is no such table.
    table : str
    replace : bool
        Whether that is asked for.

    Returns
    -------
    bool
    """
    if text is not None and _ours(text) is None:
        raise ValueError(f"table {table!r} is of another program; give another table (--table)")
    if text is not None and not replace:
        raise ValueError(
            f"table {table!r} is there already; give another table (--table), append (--append), or "
            "replace=True (--replace)"
        )
    return text is not None


def _ours(text: str) -> dict[str, Any] | None:
    """What a text says; None if it is not one of `header`."""
    try:
        about = json.loads(text)
    except ValueError:
        return None
    ours = isinstance(about, dict) and about.get("made_by") == _MADE_BY
    whole = (
        ours
        and about.keys() >= {"n_bits", "ntotal", "id_kind", "source"}
        and type(about["n_bits"]) is int
        and about["n_bits"] > 0
        and about["id_kind"] in ("numbers", "text")
        and isinstance(about["source"], str | None)
    )
    return about if whole else None

"""File formats of data sets, one file each."""

from __future__ import annotations

__all__: list[str] = []

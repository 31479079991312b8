"""Bits that are planes among the rows, as SQL."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from structhash.export.model import Exported

__all__ = ["duckdb_text", "postgresql_text"]


class _Planes(NamedTuple):
    """Bit j of a row x is 1 where x'normal_j > threshold_j."""

    normals: NDArray[np.float64]  # (n_bits, n_features)
    thresholds: NDArray[np.float64]  # (n_bits,)


_DUCKDB = """\
-- {heading}
-- structhash_code(x): the code of a list or an array x of {width} numbers, a BLOB in little bit order.
-- structhash_query_code(x): that of a query.
-- Hamming distance of codes a, b: bit_count(xor(a::BIT, b::BIT))
"""
_DUCKDB_MACRO = """\
CREATE OR REPLACE MACRO {name}(x) AS CASE
  WHEN x IS NULL THEN NULL
  WHEN len(x) <> {width}
    OR NOT list_bool_and(list_transform(x::DOUBLE[], lambda v: v IS NOT NULL AND isfinite(v)))
    THEN error('{name}: give a list of {width} finite numbers')
  ELSE unhex({bytes})
END;
"""
_POSTGRESQL = """\
-- {heading}
-- structhash_bits(x): the code of an array x of {width} numbers as bit({n_bits}); its first character is bit 0.
-- structhash_query_bits(x): that of a query.
-- Hamming distance of codes a, b: bit_count(a # b)
"""
_POSTGRESQL_FUNCTION = """\
CREATE OR REPLACE FUNCTION {name}(x double precision[]) RETURNS bit({n_bits})
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $structhash$
BEGIN
  IF cardinality(x) <> {width} OR EXISTS (
    SELECT FROM unnest(x) AS v WHERE v IS NULL OR v IN ('NaN', 'Infinity', '-Infinity')
  ) THEN
    RAISE EXCEPTION '{name}: give an array of {width} finite numbers';
  END IF;
  RETURN (
    SELECT string_agg(CASE WHEN (
      SELECT sum(a * b) FROM unnest(x, normal) AS pairs(a, b)
    ) > threshold THEN '1' ELSE '0' END, '' ORDER BY bit)::bit({n_bits})
    FROM (VALUES
{planes}
    ) AS planes(bit, threshold, normal)
  );
END
$structhash$;
"""


def duckdb_text(exported: Exported) -> str:
    """Two DuckDB macros from a list of numbers to the code as a BLOB, for rows and for queries.

    Raises
    ------
    ValueError
        If the bits are not planes among the rows.
    """
    text = _DUCKDB.format(heading=_heading(exported), width=exported.about["n_features"])
    for output, name in (("values", "structhash_code"), ("query_values", "structhash_query_code")):
        planes = _planes(exported, output)
        bits = [
            f"(list_dot_product(x::DOUBLE[], {_numbers(normal)}::DOUBLE[]) > {float(threshold)!r}::DOUBLE)::INT"
            for normal, threshold in zip(*planes, strict=True)
        ]
        whole = [bits[first : first + 8] for first in range(0, len(bits), 8)]
        parts = [" + ".join(f"{1 << place} * {bit}" for place, bit in enumerate(each)) for each in whole]
        joined = "\n    || ".join(f"printf('%02x', {part})" for part in parts)
        text += _DUCKDB_MACRO.format(name=name, width=exported.about["n_features"], bytes=joined)
    return text


def postgresql_text(exported: Exported) -> str:
    """Two PostgreSQL functions from an array of numbers to the code as a bit string, for rows and for queries.

    Raises
    ------
    ValueError
        If the bits are not planes among the rows.
    """
    sizes = {"width": exported.about["n_features"], "n_bits": exported.about["n_bits"]}
    text = _POSTGRESQL.format(heading=_heading(exported), **sizes)
    for output, name in (("values", "structhash_bits"), ("query_values", "structhash_query_bits")):
        rows = [
            f"      ({bit}, {float(threshold)!r}::float8, ARRAY{_numbers(normal)}::float8[])"
            for bit, (normal, threshold) in enumerate(zip(*_planes(exported, output), strict=True))
        ]
        text += _POSTGRESQL_FUNCTION.format(name=name, planes=",\n".join(rows), **sizes)
    return text


def _heading(exported: Exported) -> str:
    """What the file is of."""
    about = exported.about
    return f"{about['class']}, {about['n_bits']} bits, model {about['fingerprint']}"


def _numbers(vector: NDArray[np.float64]) -> str:
    """A list of numbers from which the same numbers are read."""
    return f"[{','.join(map(repr, vector.tolist()))}]"


def _planes(exported: Exported, output: str) -> _Planes:
    """The planes of an output; ValueError if its steps are not those of planes."""
    steps, arrays, n_bits = exported.about["steps"][output], exported.arrays, exported.about["n_bits"]
    if [operation for operation, *_ in steps] != ["subtract", "matmul", "subtract"]:
        raise ValueError(
            f"the bits of this {exported.about['class']} are not planes among the rows, so SQL cannot express "
            "them; export to onnx, npz or json"
        )
    center, normals, thresholds = (arrays[step[-1]].astype(np.float64) for step in steps)
    return _Planes(normals.T[:n_bits], (thresholds + center @ normals)[:n_bits])

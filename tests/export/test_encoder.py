"""The NumPy script: short, alone, and as strict as `encode`."""

import ast
import shutil
import subprocess
import sys
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from structhash.export import ENCODERS, export_model, write_export
from structhash.export.encoder import Encoder
from structhash.export.model import npz_bytes

SOURCE = Path(ENCODERS["npz"])


def test_it_has_fewer_than_60_lines_and_needs_numpy_only():
    code = SOURCE.read_text()
    assert len(code.splitlines()) < 60
    found = {
        ast.unparse(node) for node in ast.parse(code).body if isinstance(node, ast.Import | ast.ImportFrom)
    }
    assert found == {"import json", "import sys", "from typing import Any", "import numpy as np"}


def test_a_copy_runs_alone(model_of, rows, assert_same_codes, tmp_path):
    model = model_of("posterior")
    write_export(export_model(model), tmp_path / "m.npz", "npz")
    np.save(tmp_path / "rows.npy", rows[:700])
    shutil.copy(SOURCE, tmp_path / "encoder.py")
    words = [sys.executable, "-I", "encoder.py", "m.npz", "rows.npy", "codes.npy"]
    subprocess.run(words, cwd=tmp_path, check=True)
    assert_same_codes(model, np.load(tmp_path / "codes.npy"), rows[:700])


@pytest.mark.parametrize(
    "bad", [np.zeros((2, 5)), np.zeros(64), np.full((1, 64), np.nan), np.full((1, 64), np.inf)]
)
def test_bad_rows_are_refused(model_of, bad):
    encoder = Encoder(BytesIO(npz_bytes(export_model(model_of("centered")))))
    with pytest.raises(ValueError, match=r"X has shape .*: give finite numbers \(n, 64\)"):
        encoder.encode(bad)


def test_a_step_that_is_no_operation_is_not_run(model_of):
    exported = export_model(model_of("centered"))
    steps = [["fromfile", "t0", "X"]]
    hostile = exported._replace(about={**exported.about, "steps": {"values": steps}})
    with pytest.raises(KeyError, match="fromfile"):
        Encoder(BytesIO(npz_bytes(hostile))).encode(np.zeros((1, 64)))


def test_no_rows_have_no_codes(model_of):
    encoder = Encoder(BytesIO(npz_bytes(export_model(model_of("posterior")))))
    assert encoder.encode(np.zeros((0, 64))).shape == (0, 4)

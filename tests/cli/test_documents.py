"""JSON for machines."""

import json
import os

import numpy as np
import pytest

import structhash
from structhash.cli.documents import deliver, stamp, to_json, write_json


def test_numbers_that_json_lacks_are_null():
    document = {"a": np.float32(0.5), "b": np.array([1, 2]), "c": (np.nan, float("inf")), 3: True}
    assert json.loads(to_json(document)) == {"a": 0.5, "b": [1, 2], "c": [None, None], "3": True}


def test_a_file_is_written_whole_or_not_at_all(tmp_path):
    write_json(tmp_path / "d.json", {"a": 1})
    assert json.loads((tmp_path / "d.json").read_text()) == {"a": 1}
    with pytest.raises(TypeError):
        write_json(tmp_path / "e.json", {"a": object()})
    assert os.listdir(tmp_path) == ["d.json"]


@pytest.mark.parametrize("as_json", [True, False])
def test_a_document_is_delivered_where_it_is_wanted(tmp_path, capsys, as_json):
    deliver({"a": 1}, tmp_path / "d.json", as_json)
    assert json.loads((tmp_path / "d.json").read_text()) == {"a": 1}
    assert capsys.readouterr().out == ('{\n  "a": 1\n}\n' if as_json else "")
    deliver({"a": 1}, None, False)
    assert os.listdir(tmp_path) == ["d.json"]


def test_a_stamp_has_date_and_versions():
    found = stamp()
    assert set(found["versions"]) == {"structhash", "numpy", "scipy", "scikit-learn", "numba"}
    assert found["versions"]["structhash"] == structhash.__version__
    assert found["date"].startswith("20")
    assert found["date"].endswith("+00:00")

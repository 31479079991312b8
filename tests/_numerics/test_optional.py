"""The error where an optional library is missing, or is there and does not load."""

import pytest

from structhash._numerics.optional import not_installed


def import_error(text):
    with pytest.raises(ImportError) as caught:
        exec(text)
    return caught.value


def test_a_library_that_is_missing_is_told_from_one_that_does_not_load(tmp_path, monkeypatch):
    (tmp_path / "broken_library.py").write_text("import no_such_module")
    monkeypatch.syspath_prepend(tmp_path)
    missing = not_installed("no_such_module", "Thing", "more", import_error("import no_such_module"))
    assert str(missing) == "Thing needs no_such_module, which is not installed; pip install structhash[more]"
    broken = not_installed("broken_library", "Thing", "more", import_error("import broken_library"))
    assert str(broken) == (
        "Thing needs broken_library, which does not load (No module named 'no_such_module'); pip install "
        "structhash[more]"
    )

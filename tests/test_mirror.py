"""Each module has a test file of its name in the mirrored folder."""

from pathlib import Path

import structhash

ROOT = Path(structhash.__file__).parent
TESTS = Path(__file__).parent


def expected_test(module):
    """Path of the test file of a module, both relative; None for a contract, a private or a start file."""
    if module.stem == "base" or module.stem.startswith("_"):
        return None
    return module.with_name(f"test_{module.name}")


def test_every_module_has_a_test_file():
    expected = {expected_test(file.relative_to(ROOT)) for file in ROOT.rglob("*.py")} - {None}
    assert len(expected) > 50
    assert not sorted({path.as_posix() for path in expected if not (TESTS / path).is_file()})


def test_which_modules_need_a_test_file():
    assert expected_test(Path("metrics/ndcg.py")) == Path("metrics/test_ndcg.py")
    assert expected_test(Path("pieces.py")) == Path("test_pieces.py")
    assert expected_test(Path("_numerics/blocks.py")) == Path("_numerics/test_blocks.py")
    for exempt in ("__main__.py", "a/__init__.py", "a/base.py", "a/_kernel.py"):
        assert expected_test(Path(exempt)) is None

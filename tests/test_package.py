"""The package as a whole: public names, a light import, layers, sizes."""

import ast
import importlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

import structhash

ROOT = Path(structhash.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TERMINAL = ("cli", "__main__")  # these may print
LAYERS = [  # a module imports from its own layer and those above it in this list
    {"_numerics"},
    {"pieces"},
    {"codes", "metrics", "pair_weights", "io"},
    {"objectives", "supervision", "families", "embeddings", "search"},
    {"masters"},
    {"training", "estimators"},
    {"baselines"},
    {"evaluation"},
    set(TERMINAL),
]


def name(file):
    """Dotted name inside the package: ``masters.ranking``; "" for the package itself."""
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name(file): file for file in FILES}


def layer(module):
    """Number of the layer of a module; a module that no layer names is taken to be at the top."""
    root = module.partition(".")[0]
    return next((number for number, members in enumerate(LAYERS) if root in members), len(LAYERS))


def imports(code):
    """Modules of the package that this code imports, inside functions too, by dotted name."""
    found = set()
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            targets = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports by dots are not followed here"
            targets = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for target in targets:
            package, _, inner = target.partition(".")
            if package != "structhash":
                continue
            while inner and inner not in MODULES:
                inner = inner.rpartition(".")[0]
            found.add(inner or structhash._HOME.get(target.partition(".")[2], ""))
    return found - {""}


GRAPH = {module: imports(file.read_text()) - {module} for module, file in MODULES.items()}


def fresh(code):
    """Output of a new interpreter."""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout


# names


@pytest.mark.parametrize("public", structhash.__all__)
def test_every_public_name_imports_and_is_documented(public):
    scope = {}
    exec(f"from structhash import {public}", scope)
    assert scope[public] is getattr(structhash, public)
    assert scope[public].__doc__
    assert public in dir(structhash)


def test_public_names_are_sorted_and_each_has_a_home():
    assert sorted(structhash.__all__) == sorted(structhash._HOME)
    assert structhash.__all__ == sorted(structhash.__all__)
    assert {"StructHash", "CGHash", "Triplets", "load_model"} <= set(structhash.__all__)


def test_star_gives_the_public_names():
    scope = {}
    exec("from structhash import *", scope)
    assert set(structhash.__all__) <= set(scope)


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        AttributeError, match=r"module 'structhash' has no attribute 'Nothing'; it has .*StructHash"
    ):
        structhash.Nothing  # noqa: B018
    with pytest.raises(ImportError, match="Nothing"):
        exec("from structhash import Nothing", {})


def test_the_version_is_that_of_the_distribution():
    assert structhash.__version__ == version("structhash")


def test_the_import_is_light():
    heavy = ("numpy", "numba", "sklearn", "faiss", "scipy", "highspy", "safetensors", "typer")
    code = f"import sys, structhash; print([name for name in {heavy} if name in sys.modules])"
    assert fresh(code).strip() == "[]"


def test_the_help_is_light():
    heavy = ("numpy", "numba", "sklearn", "faiss", "scipy", "highspy", "safetensors")
    code = f"""
import sys
from structhash.cli.commands import app
try:
    app(["--help"])
except SystemExit:
    print([name for name in {heavy} if name in sys.modules])
"""
    found = fresh(code).splitlines()
    assert any("compare" in line for line in found)
    assert found[-1] == "[]"


def test_the_estimators_do_without_faiss_and_the_command_line():
    code = "import sys, structhash; structhash.StructHash; print({'faiss', 'typer'} & set(sys.modules))"
    assert fresh(code).strip() == "set()"


# layers


@pytest.mark.parametrize("module", [module for module in MODULES if module])
def test_a_module_imports_from_its_layer_or_lower_ones_only(module):
    wrong = {target for target in GRAPH[module] if layer(target) > layer(module)}
    assert not wrong, f"{module} is below {wrong}"


def test_the_package_itself_imports_nothing_of_its_own():
    assert GRAPH[""] == set()


def test_every_module_of_the_design_has_a_layer():
    roots = {module.partition(".")[0] for module in MODULES if module}
    assert set().union(*LAYERS[:-1]) <= roots


def test_modules_import_each_other_in_no_circle():
    done, path = set(), []

    def visit(module):
        assert module not in path, f"circle {[*path[path.index(module) :], module]}"
        if module in done:
            return
        path.append(module)
        for target in GRAPH[module]:
            visit(target)
        path.pop()
        done.add(module)

    for module in MODULES:
        visit(module)
    assert done == set(MODULES)


def test_families_know_no_rankings_and_rankings_no_families():
    """The seam: only signed pair weights cross."""
    words = {
        "families": ("objectives", "masters", "supervision"),
        "objectives": ("families",),
    }
    for root, strangers in words.items():
        for module in MODULES:
            if module.partition(".")[0] == root:
                assert not {target for target in GRAPH[module] if target.partition(".")[0] in strangers}, module


def test_a_broken_layer_would_be_seen():
    lines = [
        "from structhash import StructHash, pieces",
        "import structhash.evaluation.compare as e",
        "class A:",
        "    from structhash.masters.ranking import RankingMaster",
        "def f():",
        "    import structhash.evaluation.report",
    ]
    expected = {"estimators.both", "pieces", "evaluation.compare", "masters.ranking", "evaluation.report"}
    assert imports("\n".join(lines)) == expected
    assert layer("evaluation") > layer("codes") > layer("pieces") > layer("_numerics.blocks")
    assert layer("unheard_of") > layer("cli") == layer("__main__")


@pytest.mark.parametrize("module", [module for module in MODULES if module not in ("", "__main__")])
def test_every_module_imports_and_says_what_it_is(module):
    found = importlib.import_module(f"structhash.{module}")
    assert found.__doc__ or not MODULES[module].read_text()


# sizes and manners


@pytest.mark.parametrize("module", list(MODULES))
def test_no_module_is_longer_than_400_lines(module):
    assert len(MODULES[module].read_text().splitlines()) <= 400


@pytest.mark.parametrize("module", list(MODULES))
def test_the_library_does_not_print(module):
    calls = [
        node.lineno
        for node in ast.walk(ast.parse(MODULES[module].read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not calls or module.partition(".")[0] in TERMINAL, f"{module} prints in lines {calls}"


def test_types_are_marked():
    assert (ROOT / "py.typed").is_file()

"""The package as a whole: public names, a light import, layers, who may change an estimator."""

import ast
import importlib
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest

import structhash
from structhash.search import Exact

ROOT = Path(structhash.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TERMINAL = ("cli", "__main__")  # these may print
LAYERS = [  # a module imports from its own layer and those above it in this list
    {"_numerics"},
    {"pieces"},
    {"codes", "metrics", "pair_weights", "io"},
    {"objectives", "supervision", "families", "embeddings", "search", "stores"},
    {"masters"},
    {"training"},
    {"estimators"},
    {"baselines"},
    {"evaluation"},
    {"export", "plots", "report"},
    {"reproduce"},
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


@pytest.mark.slow
@pytest.mark.parametrize("name", ["x.npy", "i"])
def test_info_of_data_and_indexes_is_light(tmp_path, name):
    heavy = ("sklearn", "scipy.stats", "faiss", "pandas")
    np.save(tmp_path / "x.npy", np.zeros((3, 2)))
    Exact(8).save(tmp_path / "i")
    code = f"""
import sys
from structhash.cli.commands import app
try:
    app(["info", {str(tmp_path / name)!r}])
except SystemExit:
    print([name for name in {heavy} if name in sys.modules])
"""
    assert fresh(code).splitlines()[-1] == "[]"


@pytest.mark.slow
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
    assert imports("\n".join(lines)) == {
        "estimators.structhash",
        "pieces",
        "evaluation.compare",
        "masters.ranking",
        "evaluation.report",
    }
    order = ["_numerics.blocks", "pieces", "codes", "embeddings.base", "masters", "training.problem"]
    order += ["estimators", "baselines.itq", "evaluation", "cli", "unheard_of"]
    numbers = [layer(module) for module in order]
    assert numbers == sorted(set(numbers))
    assert layer("cli") == layer("__main__")


@pytest.mark.parametrize("module", [module for module in MODULES if module not in ("", "__main__")])
def test_every_module_imports_and_says_what_it_is(module):
    found = importlib.import_module(f"structhash.{module}")
    assert found.__doc__ or not MODULES[module].read_text()


# who may change an estimator


def changed_from_outside(code):
    """Lines that set an attribute of an object, except of itself, of a module and of one made right there."""
    tree = ast.parse(code)
    own = {"self", "cls"} | imported_names(tree) | made_here(tree)
    found = []
    for node in ast.walk(tree):
        targets = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = node.targets
        elif isinstance(node, ast.AugAssign | ast.AnnAssign | ast.For):
            targets = [node.target]
        elif isinstance(node, ast.With):
            targets = [item.optional_vars for item in node.items if item.optional_vars is not None]
        elif isinstance(node, ast.Call):
            found += [node.lineno] * changes_its_argument(node, own)
        found += [node.lineno for target in targets for each in parts(target) if is_foreign(each, own)]
    return found


def imported_names(tree):
    """Names of imported modules: to set an attribute of a module changes no estimator."""
    return {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }


def made_here(tree):
    """Names of new objects only: functions, ``cls(...)``, ``Class(...)``, ``known[name](...)``, ``a - b``."""
    made, others = set(), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            others.add(node.arg)
        elif isinstance(node, ast.FunctionDef):
            made.add(node.name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                names = {part.id for part in parts(target) if isinstance(part, ast.Name)}
                (made if makes_an_object(node.value) else others).update(names)
        elif isinstance(node, ast.For):
            others.update(part.id for part in parts(node.target) if isinstance(part, ast.Name))
    return made - others


def makes_an_object(value):
    if isinstance(value, ast.IfExp):
        return makes_an_object(value.body) and makes_an_object(value.orelse)
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.BinOp)
    if isinstance(value.func, ast.Name):
        return value.func.id == "cls" or value.func.id[0].isupper()
    if isinstance(value.func, ast.Attribute) and isinstance(value.func.value, ast.Call):
        return ast.unparse(value.func.value) == "super()"  # as the tags of scikit-learn are made
    return isinstance(value.func, ast.Subscript)


def parts(target):
    """The targets of an assignment to several."""
    if isinstance(target, ast.Tuple | ast.List):
        return [part for each in target.elts for part in parts(each)]
    return parts(target.value) if isinstance(target, ast.Starred) else [target]


def is_foreign(target, own):
    """``x.name``, or a place in ``x.__dict__`` or ``vars(x)``, of an x that is not the code's own."""
    if isinstance(target, ast.Subscript):
        return is_namespace(target.value, own)
    return isinstance(target, ast.Attribute) and not is_own(root(target), own)


def is_own(node, own):
    return isinstance(node, ast.Name) and node.id in own


def root(node):
    """The name at the beginning of ``name.a.b[c]``."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def is_namespace(node, own):
    """``vars(x)`` or ``x.__dict__`` of an x that is not the code's own."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "vars":
        return bool(node.args) and not is_own(node.args[0], own)
    return isinstance(node, ast.Attribute) and node.attr == "__dict__" and not is_own(node.value, own)


def changes_its_argument(call, own):
    """``setattr(x, ...)``, ``delattr(x, ...)``, ``object.__setattr__(x, ...)`` and ``vars(x).update(...)``."""
    if isinstance(call.func, ast.Name) and call.func.id in ("setattr", "delattr"):
        return not is_own(call.args[0], own)
    if not isinstance(call.func, ast.Attribute):
        return False
    if call.func.attr in ("__setattr__", "__delattr__"):
        return bool(call.args) and not is_own(call.args[0], own)
    return call.func.attr in ("update", "pop", "setdefault", "clear") and is_namespace(call.func.value, own)


@pytest.mark.parametrize("module", [m for m in MODULES if m.partition(".")[0] not in ("estimators",)])
def test_no_module_sets_an_attribute_of_an_object_that_it_was_given(module):
    lines = changed_from_outside(MODULES[module].read_text())
    assert not lines, f"{module} sets attributes of other objects in lines {lines}"


@pytest.mark.parametrize(
    "code",
    [
        "encoder.bits_ = 1",
        "encoder.state.x = 1",
        "a, (b, model.x) = 1, (2, 3)",
        "model.n += 1",
        "model.x: int = 3",
        "del encoder.x",
        "setattr(encoder, 'x', 1)",
        "object.__setattr__(encoder, 'x', 1)",
        "delattr(encoder, 'x')",
        "vars(encoder).update(x=1)",
        "vars(encoder)['x'] = 1",
        "encoder.__dict__['x'] = 1",
        "encoder.__dict__.pop('x')",
        "for model.x in y: pass",
        "with f() as model.x: pass",
        "def f():\n    g().x = 1",
        "encoder = method.fit(X)\nencoder.x = 1",
        "model = clone(encoder)\nmodel.x = 1",
        "def f(model):\n    model = Model()\n    model.x = 1",
        "model = Model() if a else other\nmodel.x = 1",
    ],
)
def test_a_change_from_outside_would_be_seen(code):
    assert changed_from_outside(code)


def test_an_object_may_change_itself_and_what_it_makes():
    code = "self.x = 1; self.a.b += 1; cls.y = 2; x[0] = 1; x = 1; setattr(self, 'x', 1); state['mean'] = 1"
    assert not changed_from_outside(code + "; encoder.state['x']; words.update(a=1); vars(self).update(x=1)")
    for made in ("cls(3)", "Exact(3)", "known[name](3)", "cls(3) if a else cls(4)", "a - b"):
        assert not changed_from_outside(f"index = {made}\nindex.source = 1")
    assert not changed_from_outside("def run(): pass\nrun.__signature__ = 1")
    assert not changed_from_outside("import warnings\nwarnings.showwarning = print")


# manners


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

"""Files, classes and functions stay short."""

import ast
from pathlib import Path

import structhash

ROOT = Path(structhash.__file__).parent
LIMITS = {"file": 400, "class": 250, "function": 60}  # lines
KINDS = {ast.ClassDef: "class", ast.FunctionDef: "function", ast.AsyncFunctionDef: "function"}


def definitions(node, prefix=""):
    """Kind, qualified name and number of lines of every class and function in a syntax tree."""
    for child in ast.iter_child_nodes(node):
        inner = prefix
        if type(child) in KINDS:
            yield KINDS[type(child)], prefix + child.name, child.end_lineno - child.lineno + 1
            inner = f"{prefix}{child.name}."
        yield from definitions(child, inner)


def too_long(file, code):
    """The file, its classes and its functions that exceed their limits: ``class a/b.py::Name``."""
    parts = [("file", file, len(code.splitlines()))]
    parts += [(kind, f"{file}::{name}", lines) for kind, name, lines in definitions(ast.parse(code))]
    return {f"{kind} {name}" for kind, name, lines in parts if lines > LIMITS[kind]}


def test_files_classes_and_functions_are_short():
    found = set()
    for file in ROOT.rglob("*.py"):
        found |= too_long(file.relative_to(ROOT).as_posix(), file.read_text())
    assert not sorted(found)


def function(lines, name="f", indent=""):
    """Source of a function of so many lines."""
    return f"{indent}def {name}():\n" + f"{indent}    pass\n" * (lines - 1)


def test_parts_at_the_limit_pass_and_longer_ones_are_found():
    assert too_long("a.py", function(60)) == set()
    assert too_long("a.py", function(61)) == {"function a.py::f"}
    assert too_long("a.py", "\n" * 400) == set()
    assert too_long("a.py", "\n" * 401) == {"file a.py"}
    methods = [function(50, name, "    ") for name in "abcde"]
    assert too_long("a.py", "class A:\n" + "".join(methods)[: -len("        pass\n")]) == set()
    assert too_long("a.py", "class A:\n" + "".join(methods)) == {"class a.py::A"}
    assert too_long("a.py", "class A:\n" + function(61, "m", "    ")) == {"function a.py::A.m"}

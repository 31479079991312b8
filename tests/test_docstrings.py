"""Public modules list their public names, and public functions document parameters and results."""

import ast
import importlib
import inspect
import re
from dataclasses import make_dataclass
from pathlib import Path

import structhash

ROOT = Path(structhash.__file__).parent
FEW = 2  # parameters, self not counted, that a docstring of one line may leave out


def is_empty(code):
    """Whether a file holds no more than a docstring, as the start file of many packages."""
    return all(isinstance(node, ast.Expr) for node in ast.parse(code).body)


def public_modules():
    """Dotted names of the modules that hold some code, none of whose parts starts with an underscore."""
    for file in sorted(ROOT.rglob("*.py")):
        if is_empty(file.read_text()):
            continue
        parts = ["structhash", *file.relative_to(ROOT).with_suffix("").parts]
        if parts[-1] == "__init__":
            parts.pop()
        if not any(part.startswith("_") for part in parts):
            yield ".".join(parts)


def sections(doc):
    """Sections of a numpydoc docstring: title to lines."""
    lines = inspect.cleandoc(doc or "").splitlines()
    starts = [i for i in range(1, len(lines)) if re.fullmatch("-{3,}", lines[i]) and lines[i - 1].strip()]
    return {
        lines[start - 1].strip(): lines[start + 1 : end - 1]
        for start, end in zip(starts, [*starts[1:], len(lines) + 1])
    }


def documented_names(doc):
    """Names in the Parameters section: those before the colon of each line that is not indented."""
    entries = [line.partition(" :")[0] for line in sections(doc).get("Parameters", ()) if line[:1].strip()]
    return {name.strip(" *:") for entry in entries for name in entry.split(",")}


def complaint(function, docs):
    """The section that all docstrings of a function with many parameters lack; None if there is none.

    Parameters
    ----------
    function : callable
    docs : list of str
        Its docstring, then those of the methods that it overrides; one with the section is enough.
    """
    signature = inspect.signature(function)
    names = {name for name in signature.parameters if name not in ("self", "cls")}
    if len(names) <= FEW:
        return None
    if not any(names <= documented_names(doc) for doc in docs):
        return "Parameters"
    silent = signature.return_annotation in (None, "None")
    if not silent and not any({"Returns", "Yields"} & set(sections(doc)) for doc in docs):
        return "Returns"
    return None


def has_docstring(thing):
    """Whether a class or function has a written docstring; constants and type aliases need none."""
    if not inspect.isclass(thing) and not inspect.isroutine(thing):
        return True
    doc = thing.__doc__ or ""
    return bool(doc.strip()) and not doc.startswith(
        f"{getattr(thing, '__name__', '')}("
    )  # as dataclass makes it


def methods(kind):
    """Name, function and docstrings (own first, then overridden) of the public methods that a class defines."""
    for name, member in vars(kind).items():
        function = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
        if not name.startswith("_") and inspect.isfunction(function):
            yield name, function, [vars(base)[name].__doc__ for base in kind.__mro__ if name in vars(base)]


def complaints(module):
    """The documentation that an imported public module lacks, as ``dotted.name: what``."""
    if not hasattr(module, "__all__"):
        yield f"{module.__name__}: __all__"
        return
    for name in module.__all__:
        path = f"{module.__name__}.{name}"
        if not hasattr(module, name):
            yield f"{path}: exists"
            continue
        thing = getattr(module, name)
        if not has_docstring(thing):
            yield f"{path}: docstring"
        if getattr(thing, "__module__", None) != module.__name__:
            continue
        found = []
        if inspect.isclass(thing):
            found = [(f"{path}.{method}", function, docs) for method, function, docs in methods(thing)]
        elif inspect.isroutine(thing):
            found = [(path, thing, [thing.__doc__])]
        for place, function, docs in found:
            if what := complaint(function, docs):
                yield f"{place}: {what}"


def test_public_things_are_documented():
    found = {
        line.removeprefix("structhash.")
        for module in public_modules()
        for line in complaints(importlib.import_module(module))
    }
    assert not sorted(found)


# the checks themselves


def test_a_file_of_a_docstring_is_empty():
    assert is_empty("")
    assert is_empty('"""Only words."""')
    assert not is_empty('"""Words."""\nfrom a import b')


def bare(a, b, c): ...


def listed(a, b, c, *rest) -> None:
    """List them.

    Parameters
    ----------
    a, b : int
        Two of them: one, the other.
    c
    *rest : int
    """


def partly_listed(a, b, c):
    """List two.

    Parameters
    ----------
    a, b : int
    """


def silent_about_results(a, b, c) -> int:
    """List them.

    Parameters
    ----------
    a, b, c : int
    """


def complete(a, b, c) -> int:
    """List all.

    Parameters
    ----------
    a, b, c : int

    Returns
    -------
    int
    """


class Contract:
    """A contract."""

    complete = complete


class Piece(Contract):
    """A piece."""

    def complete(self, a, b, c) -> int:
        """Only what is special here."""

    def alone(self, a, b, c) -> int:
        """Only what is special here."""

    def short(self, a, b): ...

    @property
    def value(self): ...


def test_missing_parameters_and_results_are_found():
    found = {
        f.__name__: complaint(f, [f.__doc__])
        for f in (bare, listed, partly_listed, silent_about_results, complete)
    }
    assert found == {
        "bare": "Parameters",
        "listed": None,
        "partly_listed": "Parameters",
        "silent_about_results": "Returns",
        "complete": None,
    }


def test_a_method_may_leave_its_parameters_to_the_contract():
    found = {name: complaint(function, docs) for name, function, docs in methods(Piece)}
    assert found == {"complete": None, "alone": "Parameters", "short": None}


def test_a_generated_docstring_is_none():
    assert not has_docstring(make_dataclass("Generated", ["a"]))
    assert has_docstring(Piece)
    assert not has_docstring(bare)
    assert has_docstring(3)
    assert has_docstring(dict[str, int])

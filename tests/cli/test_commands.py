"""Names, help and defaults of the commands."""

import inspect
import subprocess
import sys

import pytest

import structhash
from structhash.cli._options import USUAL_MEASURES
from structhash.cli.commands import app
from structhash.evaluation import MEASURES

COMMANDS = (
    "fit",
    "encode",
    "index",
    "merge",
    "search",
    "dedup",
    "evaluate",
    "compare",
    "recall",
    "drift",
    "export",
    "reproduce",
    "demo",
    "pieces",
    "info",
)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command(done, command):
    text = done(command, "--help")
    assert f"Example: structhash {command} " in text
    assert "--json" in text


def test_help_of_all(done):
    text = done("--help")
    assert all(f" {command} " in text for command in COMMANDS)
    assert done() == text


def test_version(done):
    assert done("--version") == f"structhash {structhash.__version__}\n"


def test_the_recommended_method_is_the_default(done):
    assert "[default: distilhash]" in done("fit", "--help")
    compare = next(each.callback for each in app.registered_commands if each.name == "compare")
    methods = inspect.signature(compare).parameters["methods"].default
    assert methods == "distilhash,structhash,cghash,one_hot,itq@database,lsh,float"


def test_commands_that_read_data_take_the_same_options():
    for command in ("fit", "encode", "search", "evaluate", "compare", "recall", "drift", "info"):
        callback = next(each.callback for each in app.registered_commands if each.name == command)
        *choices, as_json = [*inspect.signature(callback).parameters.values()][-9:]
        found = {each.name: each.default for each in (*choices, as_json)}
        expected = {"label": None, "header": False, "no_header": False, "ignore": None, "column": None}
        expected |= {"id": None, "text": None, "text_model": None, "as_json": False}
        assert found == expected, command


def test_a_seed_promises_one_model_on_one_kind_of_machine():
    for command in ("fit", "demo"):
        callback = next(each.callback for each in app.registered_commands if each.name == command)
        (option,) = inspect.get_annotations(callback, eval_str=True)["seed"].__metadata__
        assert option.help == "Seed of random draws: one model on one kind of machine."


def test_a_default_in_the_help_is_not_cut(done):
    for command in COMMANDS:
        assert "…" not in done(command, "--help"), command


def test_the_help_names_the_usual_measures():
    assert ",".join(MEASURES) == USUAL_MEASURES


def test_no_line_of_a_help_is_broken_in_two():
    for command in app.registered_commands:
        for paragraph in inspect.getdoc(command.callback).split("\n\n"):
            lines = paragraph.splitlines()  # typer keeps them
            assert len(lines) == 1 or max(map(len, lines)) <= 78, command.name


def test_the_help_loads_nothing_heavy():
    code = """
import sys, structhash.cli.commands
try:
    structhash.cli.commands.app(["fit", "--help"])
finally:
    print(*sys.modules, file=sys.stderr)
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "numba", "sklearn", "scipy", "faiss"} & set(ended.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("words", ["magic", "pieces --magic", "fit train.npz"])
def test_a_wrong_command_line_is_refused(assert_refused, words):
    assert_refused(words)

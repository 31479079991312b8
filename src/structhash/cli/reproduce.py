"""``structhash reproduce``: the paper's tables, figures and claims again."""

from __future__ import annotations

from pathlib import Path

from structhash.cli.console import say_if_interrupted
from structhash.cli.display import bar
from structhash.cli.documents import stamp, to_json, write_json
from structhash.cli.outputs import check_folder
from structhash.io.container import atomic
from structhash.reproduce.cache import Finished, finish_runs
from structhash.reproduce.document import as_document, make_reproduction
from structhash.reproduce.markdown import as_markdown
from structhash.reproduce.page import make_page
from structhash.reproduce.plan import Plan, make_plan
from structhash.reproduce.sets import check_data, load_set

__all__ = ["reproduce"]

_NAME = "reproduced"  # of the files, before the dot


def reproduce(data: Path | None, folder: Path, *, quick: bool, as_json: bool) -> None:
    """Run what is missing, and write the page, the text and the numbers.

    Parameters
    ----------
    data : path or None
        Folder of the data sets.
    folder : path
        Folder for the files; it is made where it is missing.
    quick : bool
        Whether to run the small plan.
    as_json : bool
        Whether to print the JSON document in place of the claims.
    """
    plan = make_plan(quick)
    if data is None:
        raise ValueError("there is no folder of data sets; give --data FOLDER, or set STRUCTHASH_DATA")
    check_data(data, plan.sets)
    check_folder(folder)
    runs = folder / "runs"
    runs.mkdir(parents=True, exist_ok=True)
    with say_if_interrupted(lambda: f"finished runs are in {runs}"):
        with bar("reproduce", len(plan.runs), "runs") as advance:
            finished = list(finish_runs(plan.runs, data, runs, lambda known: advance()))
        _write_all(plan, finished, data, folder, as_json)


def _write_all(plan: Plan, finished: list[Finished], data: Path, folder: Path, as_json: bool) -> None:
    """Write the page, the text and the numbers, and print the claims."""
    about = stamp()
    made = make_reproduction(plan, finished, about["versions"])
    document = as_document(made, quick=plan.quick, **about)
    pixels = {name: load_set(data, name).X for name in made.examples}
    _write(folder / f"{_NAME}.html", make_page(made, pixels))
    _write(folder / f"{_NAME}.md", as_markdown(made))
    write_json(folder / f"{_NAME}.json", document)
    if as_json:
        print(to_json(document))
        return
    for claim in made.claims:
        print(f"{claim.verdict:<14}  {claim.statement}")
    print(f"\n{made.summary[1]}\nSaved: {folder / _NAME}.html, .md and .json")


def _write(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    with atomic(path) as temporary:
        temporary.write_text(text, encoding="utf-8")

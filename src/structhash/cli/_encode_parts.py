"""``structhash encode`` of several files, each into a file of codes of its own, in one folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from structhash._numerics.validation import join_names
from structhash.cli._appending import alone_in
from structhash.cli._jobs import results_of
from structhash.cli.console import say_if_interrupted
from structhash.cli.display import bar
from structhash.cli.outputs import check_folder, check_output
from structhash.io import fetched
from structhash.io.manifest import MANIFEST, Part, hash_file, read_manifest, write_manifest

__all__ = ["encode_parts"]


def encode_parts(
    inputs: Sequence[Path],
    folder: Path,
    how: Mapping[str, Any],
    write: Callable[[Path, Path, bool], int],
    force: bool = False,
    n_jobs: int = 1,
) -> tuple[list[Part], int]:
    """Encode each file, unless its codes are in the folder already.

    A part is complete when the manifest names it, and is made again if its input, the model, a choice or its
    file has changed.

    Parameters
    ----------
    inputs : sequence of path
        Files of vectors.
    folder : path
        The folder to write into; it is made where it is missing.
    how : dict
        What codes depend on, apart from the vectors: JSON values.
    write : callable
        Encodes a file of vectors into a file of codes, which may be replaced even if it is damaged where the
        third argument says so, and returns the number of rows.

    force, n_jobs : bool, int
        Whether to replace files that hold no codes; number of processes.

    Returns
    -------
    parts : list of Part
    n_kept : int
        How many of them were complete before.

    Raises
    ------
    ValueError, OSError
        If two inputs have one name without its extension, or the folder is not one of these codes.
    """
    targets = _targets(inputs)
    check_folder(folder)
    folder.mkdir(exist_ok=True)
    with alone_in(folder):
        return _encode_missing(targets, folder, how, write, force, n_jobs)


def _encode_missing(
    targets: Mapping[str, Path],
    folder: Path,
    how: Mapping[str, Any],
    write: Callable[[Path, Path, bool], int],
    force: bool,
    n_jobs: int,
) -> tuple[list[Part], int]:
    """`encode_parts` into a folder that no other process writes into."""
    _refuse_others(folder, targets)
    how = json.loads(json.dumps(how))
    made, _, known = read_manifest(folder) if (folder / MANIFEST).exists() else (how, 0, [])
    done = [part for part in known if made == how and _is_complete(part, folder, targets)]
    n_kept, missing = len(done), sorted(targets.keys() - {part.file for part in done})
    for name in sorted(set(missing) - {part.file for part in known}):
        if (folder / name).exists():  # refused before the first part is written
            check_output(folder / name, makes="codes", force=force)
    write_manifest(folder, how, len(targets), done)
    ours = {part.file for part in known}
    calls = [(write, targets[name], folder / name, name in ours) for name in missing]

    def kept() -> str:
        return f"{len(done)} of {len(targets)} files of codes are complete in {folder}" if done else ""

    with say_if_interrupted(kept), bar("encode", len(calls) if n_jobs > 1 else 0, "files") as advance:
        for part in results_of(_make_part, calls, min(n_jobs, max(1, len(calls)))):
            done.append(part)
            write_manifest(folder, how, len(targets), done)
            advance()
    return done, n_kept


def _targets(inputs: Sequence[Path]) -> dict[str, Path]:
    """The file of vectors of each part; ValueError if two have one name."""
    targets = {f"{path.stem}.parquet": path for path in inputs}
    if len(targets) != len(inputs):
        names = join_names([path.name for path in inputs])
        raise ValueError(f"several files of {names} have one name; rename them")
    return targets


def _make_part(write: Callable[[Path, Path, bool], int], source: Path, target: Path, ours: bool) -> Part:
    """Encode one file."""
    source = fetched(source)
    hashed = hash_file(source)  # before it is read: if it changes meanwhile, the next run sees that
    rows = write(source, target, ours)
    return Part(target.name, hash_file(target), rows, source.name, hashed)


def _is_complete(part: Part, folder: Path, targets: Mapping[str, Path]) -> bool:
    """Whether a part is as it would be made again."""
    source, path = targets.get(part.file), folder / part.file
    if source is None or source.name != part.input or not path.is_file() or hash_file(path) != part.sha256:
        return False
    return hash_file(fetched(source)) == part.input_sha256


def _refuse_others(folder: Path, targets: Mapping[str, Path]) -> None:
    """ValueError if the folder has files that will not be parts of these codes, or is that of the vectors."""
    if any(path.resolve().parent == folder.resolve() for path in targets.values()):
        raise ValueError(f"cannot write into {folder}: this command reads it; give another folder")
    names = {each.name for each in folder.iterdir() if not each.name.startswith(".")}
    if others := sorted(names - targets.keys() - {MANIFEST}):
        raise ValueError(
            f"cannot write into {folder}: it holds {join_names(others)}, for which there is no file of "
            "vectors; delete them, or give another folder"
        )

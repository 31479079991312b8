"""``structhash encode`` of several files, each into a file of codes of its own, in one folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from structhash._numerics.validation import join_names
from structhash.cli.outputs import check_folder, check_output
from structhash.io.manifest import MANIFEST, Part, hash_file, read_manifest, write_manifest

__all__ = ["encode_parts"]


def encode_parts(
    inputs: Sequence[Path],
    folder: Path,
    how: Mapping[str, Any],
    write: Callable[[Path, Path, bool], int],
    force: bool = False,
) -> tuple[list[Part], int]:
    """Encode each file, unless its codes are in the folder already.

    A part is complete when the manifest names it. A process that is killed leaves complete parts, and the next
    run makes the others. A part is made again if its input, the model or a choice has changed, or its file has.

    Parameters
    ----------
    inputs : sequence of path
        Files of vectors.
    folder : path
        The folder to write into; it is made where it is missing.
    how : dict
        What codes depend on, apart from the vectors: JSON values.
    write : callable
        Encodes a file of vectors into a file of codes, and returns the number of rows. It also takes whether
        the file of codes is known to be ours, so that it may be replaced even if it is damaged.

    force : bool
        Whether to replace files that hold no codes.

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
    targets = {f"{path.stem}.parquet": path for path in inputs}
    if len(targets) != len(inputs):
        raise ValueError(
            f"several files of {join_names([path.name for path in inputs])} have one name; rename them"
        )
    check_folder(folder)
    folder.mkdir(exist_ok=True)
    _refuse_others(folder, targets)
    how = json.loads(json.dumps(how))
    made, _, known = read_manifest(folder) if (folder / MANIFEST).exists() else (how, 0, [])
    done = [part for part in known if made == how and _is_complete(part, folder, targets)]
    n_kept, missing = len(done), sorted(targets.keys() - {part.file for part in done})
    for name in sorted(set(missing) - {part.file for part in known}):
        if (folder / name).exists():  # refused before the first part is written
            check_output(folder / name, makes="codes", force=force)
    write_manifest(folder, how, len(targets), done)
    for name in missing:
        hashed = hash_file(targets[name])  # before it is read: if it changes meanwhile, the next run sees that
        rows = write(targets[name], folder / name, name in {part.file for part in known})
        done.append(Part(name, hash_file(folder / name), rows, targets[name].name, hashed))
        write_manifest(folder, how, len(targets), done)
    return done, n_kept


def _is_complete(part: Part, folder: Path, targets: Mapping[str, Path]) -> bool:
    """Whether a part is as it would be made again."""
    source, path = targets.get(part.file), folder / part.file
    same = source is not None and source.name == part.input and path.is_file()
    return same and hash_file(path) == part.sha256 and hash_file(targets[part.file]) == part.input_sha256


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

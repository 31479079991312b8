"""Docstrings, comments, messages and pages are in plain English."""

import re
from pathlib import Path

import structhash

ROOT = Path(__file__).parents[1]
SOURCES = Path(structhash.__file__).parent

BANNED = ("but for", "anew", "whence", "find more so", "such as they", "wherefore", "whoever")
PATTERN = re.compile(rf"\b({'|'.join(BANNED)})\b")


def banned_turns(text):
    """Banned turns in a text, also where a line, a comment or a string literal ends inside one."""
    return set(PATTERN.findall(re.sub(r"[\s#\"'`*>]+", " ", text).lower()))


def pages():
    """Relative name and file of everything that people read."""
    for file in sorted(SOURCES.rglob("*.py")):
        yield f"src/structhash/{file.relative_to(SOURCES).as_posix()}", file
    for file in [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *sorted(ROOT.glob("docs/*.md")),
        *sorted(ROOT.glob("benchmarks/*.py")),
        *sorted(ROOT.glob("examples/*")),
    ]:
        yield file.relative_to(ROOT).as_posix(), file


def test_no_banned_turn_is_used():
    found = {f"{name}: {turn}" for name, file in pages() for turn in banned_turns(file.read_text())}
    assert not sorted(found)


def test_a_banned_turn_is_found_across_line_ends():
    assert banned_turns("All but\n    for one.") == {"but for"}
    assert banned_turns("x = 1  # all but\n# for one") == {"but for"}
    assert banned_turns('raise ValueError(\n    "Save it "\n    "Anew"\n)') == {"anew"}
    assert banned_turns("A renewal, a newer one, butt fore.") == set()

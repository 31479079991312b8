"""The reproduction as Markdown."""

import re

from structhash.reproduce.document import make_reproduction
from structhash.reproduce.markdown import as_markdown
from structhash.reproduce.plan import Plan


def test_every_part_is_in_the_text_and_tables_are_even(finished):
    runs = [
        finished("cifar10_gist512", "StructH-N", 0.8, lengths=(16, 64)),
        finished("cifar10_gist512", "ITQ", 0.7),
    ]
    made = make_reproduction(Plan(True, [each.run for each in runs], []), runs, {})
    text = as_markdown(made)
    for claim in made.claims:
        assert f"### {claim.verdict.capitalize()}: {claim.statement}\n" in text
    assert "| CIFAR-10 | NDCG@100 | paper | 0.335 |" in text
    assert "| CIFAR-10 | NDCG@100 | ours\\* | **0.800** |" in text
    assert "| bits | 16 | 64 |" in text
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({line.count("|") - line.count("\\|") for line in block.splitlines()}) == 1

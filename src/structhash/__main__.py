"""``python -m structhash``."""

from structhash.cli import app

app(prog_name="structhash")

"""``python -m structhash``."""

from structhash.cli.commands import app

app(prog_name="structhash")

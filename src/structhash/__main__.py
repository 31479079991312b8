"""``python -m structhash``: the command line."""

from structhash.cli.commands import app

app(prog_name="structhash")

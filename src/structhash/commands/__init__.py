"""What the commands of `structhash.cli` do; imported when a command runs, so that ``--help`` stays quick."""

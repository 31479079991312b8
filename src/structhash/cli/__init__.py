"""The command line: `commands` says what each command takes, and one module a command does it.

`commands` imports a command's module only when that command runs, so that ``structhash --help`` is quick.
"""

"""The command line: `commands` declares the arguments, and one module a command does the work.

`commands` imports a command's module only when that command runs, so that ``structhash --help`` is quick.
"""

"""Which weights the master may move when a bit is added.

A schedule maps the columns of all bits so far to the few columns the master solves over, and the master's
answer back to one weight a bit.
"""

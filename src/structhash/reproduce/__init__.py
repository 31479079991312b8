"""The paper again: its tables, figures and claims from runs of our own, with its numbers beside ours."""

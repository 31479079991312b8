"""Schedules, one file each: which weights the master may move when a bit is added. `base` is the contract."""

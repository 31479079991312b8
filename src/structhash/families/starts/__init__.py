"""Starts, one file each: planes from which a family begins its search for a bit. `base` is the contract."""

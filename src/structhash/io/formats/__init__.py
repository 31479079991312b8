"""File formats of data sets, one file each."""

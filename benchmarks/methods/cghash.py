"""CGHash, this package's."""

SPECS = ["cghash"]
SOURCE = "Li et al. 2013; Lin et al. 2017"
ORIGINAL = None
SETTINGS = "defaults"

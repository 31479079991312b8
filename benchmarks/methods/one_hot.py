"""A classifier's answer as a code."""

SPECS = ["one_hot"]
SOURCE = "Sablayrolles et al. 2017"
ORIGINAL = None
SETTINGS = "logistic regression, C=10 by validation; the authors' classifier is a deep network"

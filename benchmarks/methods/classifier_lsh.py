"""Random planes of a classifier's answer."""

SPECS = ["classifier_lsh", "classifier_lsh:of=scores"]
SOURCE = "Sablayrolles et al. 2017"
ORIGINAL = None
SETTINGS = "the classifier of one_hot; of=probabilities for known classes, of=scores for others"

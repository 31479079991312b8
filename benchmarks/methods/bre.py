"""Binary reconstructive embeddings."""

SPECS = ["bre"]
SOURCE = "Kulis, Darrell 2009"
ORIGINAL = "ZJULearning/MatlabFunc"
SETTINGS = "authors': linear kernel, 50 anchors a bit, pairs with 5 percent of the rows; supervised targets"

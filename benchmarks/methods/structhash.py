"""StructHash, this package's."""

SPECS = [
    "structhash",
    "structhash:embedding=metric",
    "structhash:ranking=auc",
    "structhash:ranking=ndcg",
    "structhash:ranking=sndcg",
    "structhash:ranking=sndcg,family=rbf",
]
SOURCE = "Lin et al. 2017"
ORIGINAL = None
SETTINGS = "defaults"
